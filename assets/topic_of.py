"""The topic of a partition key."""

import re
from datetime import UTC, datetime

from assets.resources import House
from generation import editions
from generation.topics import Topic, define_topic
from ingestion.errors import NotFound


def topic_of(house: House, key: str) -> Topic:
    """The topic of a partition key; a key that is the slug of its own words is a topic by that title.

    So a topic added on Dagster's page as `graph-neural-networks` and one named on the command line "Graph neural
    networks" are one and the same.
    """
    try:
        return editions.load_topic(house.lake, key)
    except NotFound:
        if re.fullmatch(r"[a-z0-9-]+", key) and (topic := define_topic(key.replace("-", " "))).key == key:
            editions.store_topic(house.lake, topic, datetime.now(UTC))
            return topic
        raise NotFound(
            "the partition is no topic that was named",
            which=key,
            advice='Name it with `lithouse survey "TITLE"` or the job name_topic, which give it a safe key.',
        ) from None
