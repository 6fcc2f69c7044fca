"""The definitions: one function makes them for production and for tests."""

from datetime import UTC, datetime

import dagster as dg
from pydantic import Field

from assets import corpus_assets, survey_assets, text_assets
from assets.automation import rebuild_stale_surveys
from assets.checks import all_checks
from assets.resources import House, house, source_desk
from assets.topic_evidence import topic_evidence
from generation import editions
from generation.topics import define_topic
from ingestion.dates import parse_cutoff

ASSETS = [
    corpus_assets.arxiv_records,
    corpus_assets.citations,
    corpus_assets.human_outlines,
    corpus_assets.papers,
    corpus_assets.corpus_snapshot,
    corpus_assets.paper_index,
    topic_evidence,
    survey_assets.topic_pool,
    text_assets.topic_documents,
    text_assets.paper_cards,
    survey_assets.outline,
    survey_assets.digests,
    survey_assets.survey,
]


class TopicConfig(dg.Config):
    """A topic as the command line takes it."""

    title: str
    description: str = ""
    cutoff: str = ""
    inclusions: list[str] = Field(default_factory=list)
    exclusions: list[str] = Field(default_factory=list)


@dg.op
def register_topic(context: dg.OpExecutionContext, config: TopicConfig, house: dg.ResourceParam[House]) -> str:
    """Give a topic its key: the row in `topics` and the partition, as `lithouse survey` does."""
    topic = define_topic(
        config.title,
        description=config.description,
        cutoff=parse_cutoff(config.cutoff) if config.cutoff else None,
        inclusions=config.inclusions,
        exclusions=config.exclusions,
    )
    editions.store_topic(house.lake, topic, datetime.now(UTC))
    context.instance.add_dynamic_partitions("topics", [topic.key])
    context.log.info(f"Topic “{topic.title}” has the key {topic.key}")
    return topic.key


@dg.job(description="Name a topic on Dagster's page; gives it its safe key.")
def name_topic() -> None:
    register_topic()


refresh_job = dg.define_asset_job(
    "refresh",
    selection=dg.AssetSelection.groups("corpus"),
    description="Harvest a source, derive papers, bring the index up to date.",
)


def build_definitions(**overrides) -> dg.Definitions:
    """All assets, checks, jobs, resources, and automation that is off.

    Args:
        overrides: resources by name that replace the production ones.
    """
    return dg.Definitions(
        assets=ASSETS,
        asset_checks=all_checks,
        jobs=[name_topic, refresh_job],
        sensors=[rebuild_stale_surveys],
        resources={"house": house, "desk": source_desk, **overrides},
        executor=dg.in_process_executor,
    )


defs = build_definitions()
