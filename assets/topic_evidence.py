"""What the corpus as it is would give each topic: the asset through which Dagster sees whose pool has changed.

Every refresh gives the corpus a new version, and by that alone every survey would be stale. Between the index and the
topics therefore stands `topic_evidence`, whose data version is the hash of the pool that the topic would get now. A
refresh compares all topics and reports them here without a run each (`compare_topics`); Dagster's own staleness of
everything downstream follows from it, and its metadata name the papers that entered, left or changed.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import dagster as dg
from dagster._core.definitions.data_version import (
    DATA_VERSION_TAG,
    extract_data_version_from_entry,
    get_input_data_version_tag,
    get_input_event_pointer_tag,
)

from assets.metadata import failing_clearly
from assets.partitions import topics
from assets.resources import House
from assets.status import newest_editions, pool_of
from assets.topic_of import topic_at_work
from corpus.snapshots import take_snapshot
from generation import editions, staleness
from generation.staleness import Difference, Newer
from generation.topics import Topic
from generation.workshop import Workshop
from ingestion.errors import LithouseError

KEY = dg.AssetKey("topic_evidence")
BY_TOPIC = dg.MultiToSingleDimensionPartitionMapping(partition_dimension_name="topic")
_LISTED = 100


@dg.asset(key=KEY, partitions_def=topics, deps=["paper_index", "citations"], group_name="surveys")
@failing_clearly
def topic_evidence(context: dg.AssetExecutionContext, house: dg.ResourceParam[House]) -> dg.MaterializeResult:
    """The pool that a topic would get from the corpus as it is now; its hash is the data version."""
    with topic_at_work(house, context.partition_key) as topic:
        found = compare_topic(house.workshop(), topic, allowance=lambda _count: True)
    return dg.MaterializeResult(metadata=found.metadata(), data_version=dg.DataVersion(found.difference.content_hash))


@dataclass(frozen=True)
class Compared:
    """A topic's pool as it would be now against the one its newest edition was written from.

    Attributes:
        error: why it could not be compared, "" where it could.
    """

    topic: str
    difference: Difference
    newer: Newer | None = None
    error: str = ""

    @property
    def state(self) -> str:
        """`fresh`, `stale` or `unknown`."""
        if self.difference.causes():
            return "stale"
        return "unknown" if self.error or self.difference.unknown else "fresh"

    @property
    def cause(self) -> str:
        return "; ".join([*self.difference.causes(), *filter(None, (self.difference.unknown, self.error))])

    def metadata(self) -> dict[str, object]:
        """For Dagster's pages."""
        lists = {name: list(getattr(self.difference, name)[:_LISTED]) for name in ("entered", "left", "changed")}
        newer = {"newer_papers": len(self.newer.papers)} if self.newer else {}
        return {"state": self.state, "cause": self.cause or "nothing changed", **lists, **newer}


def compare_topic(workshop: Workshop, topic: Topic, allowance=staleness.never) -> Compared:
    """Compare one topic; see `compare_topics`.

    Raises:
        LithouseError: it has no pool, or the corpus or the index cannot be used.
    """
    lake = workshop.lake
    rows = [row for row in newest_editions(lake) if row["topic"] == topic.key]
    kept = (
        pool_of(lake, max(rows, key=lambda row: row["created_at"]))
        if rows
        else lake.read("topic_pool", topic=topic.key)
    )
    found = staleness.compare(workshop, topic, kept, allowance)
    return Compared(topic.key, found, staleness.newer_papers(workshop, topic))


def compare_topics(instance: dg.DagsterInstance, house: House, most_embedded: int) -> list[Compared]:
    """Compare every topic that has a pool, and report each to Dagster as `topic_evidence` of that topic.

    Args:
        most_embedded: papers that may be embedded for it, over all topics.
    """
    left = most_embedded

    def allowance(count: int) -> bool:
        nonlocal left
        if count > left:
            return False
        left -= count
        return True

    return list(_compared(instance, house, allowance))


def _compared(instance: dg.DagsterInstance, house: House, allowance) -> Iterator[Compared]:
    lake, workshop = house.lake, house.workshop()
    snapshot = take_snapshot(lake).content_hash
    for key in sorted(lake.scan("topic_pool").select("topic").unique().collect()["topic"]):
        try:
            found = compare_topic(workshop, editions.load_topic(lake, key), allowance)
        except LithouseError as error:
            found = Compared(key, Difference(), error=error.message)
        # What cannot be told is no fresh survey: Dagster shows it as stale and says what is unknown.
        version = found.difference.content_hash or f"unknown at {snapshot}"
        report(instance, key, version, found.metadata())
        yield found


def report(instance: dg.DagsterInstance, topic: str, content_hash: str, metadata: dict[str, object]) -> None:
    """Tell Dagster what a topic would get now, without a run."""
    instance.add_dynamic_partitions(topics.name, [topic])
    tags = {DATA_VERSION_TAG: content_hash}
    instance.report_runless_asset_event(dg.AssetMaterialization(KEY, partition=topic, metadata=metadata, tags=tags))


def pool_tags(instance: dg.DagsterInstance, topic: str, content_hash: str, papers: int) -> dict[str, str]:
    """Make a pool just built the topic's evidence, and give the tags by which its materialization builds on that.

    A pool that is materialized alone, from Dagster's page or for the first time, has no evidence before it; Dagster
    would then never see a change of it.
    """
    record = instance.get_latest_data_version_record(KEY, is_source=False, partition_key=topic)
    held = extract_data_version_from_entry(record.event_log_entry) if record else None
    if held is None or held.value != content_hash:
        report(instance, topic, content_hash, {"state": "fresh", "cause": "the pool was built", "papers": papers})
        record = instance.get_latest_data_version_record(KEY, is_source=False, partition_key=topic)
    return {get_input_data_version_tag(KEY): content_hash, get_input_event_pointer_tag(KEY): str(record.storage_id)}
