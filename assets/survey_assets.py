"""Assets of a survey: topic_pool by topic; outline → digests → survey by topic and method."""

from collections.abc import Iterator
from contextlib import contextmanager

import dagster as dg

from assets.automation import inputs_changed, pool_changed
from assets.metadata import columns, failing_clearly
from assets.partitions import topics, topics_and_methods
from assets.resources import House
from assets.topic_evidence import BY_TOPIC, pool_tags, topic_evidence
from assets.topic_of import topic_at_work
from assets.writer_config import WriterConfig
from generation import editions, stages
from generation.outline_plans import from_json
from generation.workshop import Workshop

_GROUP = "surveys"


def _upstream(stage: str | None, *by_topic: str) -> dict[str, dg.AssetIn]:
    """The stage before, and assets of the topic; all are read from the lake, so nothing is handed over."""
    named = {stage: dg.AssetIn(dagster_type=dg.Nothing)} if stage else {}
    return named | {name: dg.AssetIn(partition_mapping=BY_TOPIC, dagster_type=dg.Nothing) for name in by_topic}


class SurveyConfig(WriterConfig):
    """Which writer a run asks, and the outline that a person gave (`outline_plans.as_json`), "" for the method's own."""

    outline: str = ""


@dg.asset(
    partitions_def=topics,
    deps=[topic_evidence],
    group_name=_GROUP,
    kinds={"deltalake"},
    metadata=columns("topic_pool"),
    automation_condition=pool_changed,
)
@failing_clearly
def topic_pool(context: dg.AssetExecutionContext, house: dg.ResourceParam[House]) -> dg.MaterializeResult:
    """Papers retrieved for a topic; its data version is the hash of their ids and contents."""
    with topic_at_work(house, context.partition_key) as topic:
        pool, is_new = stages.make_pool(house.workshop(), topic)
        tags = pool_tags(context.instance, topic.key, pool.content_hash, len(pool.rows))
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
        tags=tags,
    )


@contextmanager
def _desk(
    context: dg.AssetExecutionContext, house: House, config: SurveyConfig
) -> Iterator[tuple[Workshop, stages.Desk]]:
    keys = context.partition_key.keys_by_dimension
    asset = context.asset_key.to_user_string()
    with topic_at_work(house, keys["topic"]) as topic:
        workshop = house.workshop(config.access())
        plan = from_json(config.outline) if config.outline else None
        with stages.working_desk(
            workshop, topic, keys["method"], config.writer, asset, plan=plan, run_id=context.run_id
        ) as desk:
            yield workshop, desk


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
    ins=_upstream(None, "topic_evidence", "topic_pool", "paper_cards"),
    deps=["human_outlines"],
    group_name=_GROUP,
    kinds={"deltalake"},
    metadata=columns("outlines"),
    automation_condition=inputs_changed,
)
@failing_clearly
def outline(
    context: dg.AssetExecutionContext, config: SurveyConfig, house: dg.ResourceParam[House]
) -> dg.MaterializeResult:
    """Headings of the survey, with sub-queries."""
    with _desk(context, house, config) as (workshop, desk):
        stages.make_outline(workshop, desk)
        nodes = editions.load_outline(workshop.lake, desk.edition).nodes
    preview = "\n".join(f"{'  ' * (n.level - 1)}- {n.number} {n.title}" for n in nodes)
    return _result(desk, preview, nodes=len(nodes))


@dg.asset(
    partitions_def=topics_and_methods,
    ins=_upstream("outline", "topic_evidence"),
    group_name=_GROUP,
    kinds={"deltalake"},
    metadata=columns("digests"),
    automation_condition=inputs_changed,
)
@failing_clearly
def digests(
    context: dg.AssetExecutionContext, config: SurveyConfig, house: dg.ResourceParam[House]
) -> dg.MaterializeResult:
    """What is retrieved for each heading, reranked by time and citations."""
    with _desk(context, house, config) as (workshop, desk):
        stages.make_digests(workshop, desk)
        entries = editions.load_digests(workshop.lake, desk.edition).entries
    counts: dict[str, int] = {}
    for entry in entries:
        counts[entry.number] = counts.get(entry.number, 0) + 1
    preview = "| section | papers |\n|---|---|\n" + "\n".join(f"| {n} | {c} |" for n, c in counts.items())
    return _result(desk, preview, entries=len(entries))


@dg.asset(
    partitions_def=topics_and_methods,
    ins=_upstream("digests", "topic_evidence"),
    group_name=_GROUP,
    kinds={"deltalake"},
    metadata=columns("surveys"),
    automation_condition=inputs_changed,
)
@failing_clearly
def survey(
    context: dg.AssetExecutionContext, config: SurveyConfig, house: dg.ResourceParam[House]
) -> dg.MaterializeResult:
    """The survey: sentences with their spans, Markdown, bibliography, page."""
    with _desk(context, house, config) as (workshop, desk):
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
