"""The topic of a partition key."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from assets.locks import one_topic, using_corpus
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


@contextmanager
def topic_at_work(house: House, key: str) -> Iterator[Topic]:
    """The topic of a partition key, while this process has it for itself and the corpus stays as it is.

    Raises:
        As `topic_of`.
    """
    topic = topic_of(house, key)
    with using_corpus(house.path), one_topic(house.path, topic.key):
        yield topic
