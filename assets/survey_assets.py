"""Assets of a survey: topic_pool by topic; outline → digests → survey by topic and method."""

import dagster as dg

from assets.metadata import columns, failing_clearly
from assets.partitions import topics, topics_and_methods
from assets.resources import House
from assets.topic_of import topic_of
from generation import editions, stages

_GROUP = "surveys"
_BY_TOPIC = dg.MultiToSingleDimensionPartitionMapping(partition_dimension_name="topic")


class WriterConfig(dg.Config):
    """Which writer a run asks."""

    writer: str = "extractive"


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
    topic = topic_of(house, context.partition_key)
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
    return workshop, stages.open_desk(workshop, topic_of(house, keys["topic"]), keys["method"], config.writer)


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
    ins={
        name: dg.AssetIn(partition_mapping=_BY_TOPIC, dagster_type=dg.Nothing) for name in ("topic_pool", "paper_cards")
    },
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
