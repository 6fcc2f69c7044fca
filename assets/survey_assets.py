"""Assets of a survey: topic_pool by topic; outline → digests → survey by topic and method."""

import re
from datetime import UTC, datetime

import dagster as dg

from assets.metadata import columns, failing_clearly
from assets.partitions import topics, topics_and_methods
from assets.resources import House
from generation import editions, stages
from generation.topics import Topic, define_topic
from ingestion.errors import NotFound

_GROUP = "surveys"
_BY_TOPIC = dg.MultiToSingleDimensionPartitionMapping(partition_dimension_name="topic")


class WriterConfig(dg.Config):
    """Which writer a run asks."""

    writer: str = "extractive"


def _topic(house: House, key: str) -> Topic:
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


@dg.asset(
    partitions_def=topics,
    deps=["paper_index", "citations"],
    group_name=_GROUP,
    kinds={"deltalake"},
    metadata=columns("topic_pool"),
)
@failing_clearly
def topic_pool(context: dg.AssetExecutionContext, house: dg.ResourceParam[House]) -> dg.MaterializeResult:
    """Papers retrieved for a topic; its data version is the hash of their ids and contents."""
    topic = _topic(house, context.partition_key)
    pool, is_new = stages.make_pool(house.workshop(), topic)
    return dg.MaterializeResult(
        metadata={
            "papers": len(pool.rows),
            "admitted": pool.admitted_count,
            "embedded": pool.embedded,
            "not_embedded": [f"{p}: {reason}" for p, reason in pool.skipped],
            "is_changed": is_new,
            "content_hash": pool.content_hash,
        },
        data_version=dg.DataVersion(pool.content_hash),
    )


def _desk(context: dg.AssetExecutionContext, house: House, config: WriterConfig):
    keys = context.partition_key.keys_by_dimension
    workshop = house.workshop()
    return workshop, stages.open_desk(workshop, _topic(house, keys["topic"]), keys["method"], config.writer)


def _result(desk: stages.Desk, preview: str, **more) -> dg.MaterializeResult:
    metadata = {
        "edition": desk.edition.id,
        "manifest": desk.manifest,
        "pool_hash": desk.edition.pool_hash,
        "preview": dg.MetadataValue.md(preview),
        **more,
    }
    return dg.MaterializeResult(metadata=metadata)


@dg.asset(
    partitions_def=topics_and_methods,
    ins={"topic_pool": dg.AssetIn(partition_mapping=_BY_TOPIC, dagster_type=dg.Nothing)},
    deps=["human_outlines"],
    group_name=_GROUP,
    kinds={"deltalake"},
    metadata=columns("outlines"),
)
@failing_clearly
def outline(
    context: dg.AssetExecutionContext, config: WriterConfig, house: dg.ResourceParam[House]
) -> dg.MaterializeResult:
    """Headings of the survey, with sub-queries."""
    workshop, desk = _desk(context, house, config)
    stages.make_outline(workshop, desk)
    nodes = editions.load_outline(workshop.lake, desk.edition).nodes
    preview = "\n".join(f"{'  ' * (n.level - 1)}- {n.number} {n.title}" for n in nodes)
    return _result(desk, preview, nodes=len(nodes))


@dg.asset(
    partitions_def=topics_and_methods,
    ins={"outline": dg.AssetIn(dagster_type=dg.Nothing)},
    group_name=_GROUP,
    kinds={"deltalake"},
    metadata=columns("digests"),
)
@failing_clearly
def digests(
    context: dg.AssetExecutionContext, config: WriterConfig, house: dg.ResourceParam[House]
) -> dg.MaterializeResult:
    """What is retrieved for each heading, reranked by time and citations."""
    workshop, desk = _desk(context, house, config)
    stages.make_digests(workshop, desk)
    entries = editions.load_digests(workshop.lake, desk.edition).entries
    counts: dict[str, int] = {}
    for entry in entries:
        counts[entry.number] = counts.get(entry.number, 0) + 1
    preview = "| section | papers |\n|---|---|\n" + "\n".join(f"| {n} | {c} |" for n, c in counts.items())
    return _result(desk, preview, entries=len(entries))


@dg.asset(
    partitions_def=topics_and_methods,
    ins={"digests": dg.AssetIn(dagster_type=dg.Nothing)},
    group_name=_GROUP,
    kinds={"deltalake"},
    metadata=columns("surveys"),
)
@failing_clearly
def survey(
    context: dg.AssetExecutionContext, config: WriterConfig, house: dg.ResourceParam[House]
) -> dg.MaterializeResult:
    """The survey: sentences with their spans, Markdown, bibliography, page."""
    workshop, desk = _desk(context, house, config)
    row = stages.make_survey(workshop, desk, context.run_id)
    text = (house.path / row["paths"]["markdown"]).read_text(encoding="utf-8")
    return _result(
        desk,
        text[:6000],
        sections=row["section_count"],
        sentences=row["sentence_count"],
        references=row["cited_count"],
        status=row["status"],
        seconds=row["seconds"],
        tokens=row["input_tokens"] + row["output_tokens"],
        cost=row["cost"] if row["cost"] is not None else "unknown",
        page=dg.MetadataValue.path(str(house.path / row["paths"]["html"])),
    )
