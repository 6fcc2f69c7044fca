"""Assets of the papers' texts, by topic: topic_documents → paper_cards. What one topic made serves all."""

import dagster as dg

from assets.automation import pool_changed
from assets.metadata import columns, failing_clearly
from assets.partitions import topics
from assets.resources import House
from assets.topic_of import topic_at_work
from assets.writer_config import WriterConfig
from corpus.reading import reader_named
from generation.texts import make_cards, make_documents
from ingestion.documents.parsing.parsers import DEFAULT_PARSER

_GROUP = "texts"


class ReaderConfig(dg.Config):
    """How files are read.

    Attributes:
        parser: docvortex, mineru-kit[:basic|:standard] or magic-pdf.
        retry: read files again whose last status may change with time or other limits.
        most_files: read in this run, those of the best papers first; none given for all.
    """

    parser: str = DEFAULT_PARSER
    retry: bool = False
    most_files: int | None = None


@dg.asset(
    partitions_def=topics,
    deps=["topic_evidence", "topic_pool"],
    group_name=_GROUP,
    kinds={"deltalake", "lancedb"},
    metadata=columns("documents"),
    automation_condition=pool_changed,
)
@failing_clearly
def topic_documents(
    context: dg.AssetExecutionContext, config: ReaderConfig, house: dg.ResourceParam[House]
) -> dg.MaterializeResult:
    """Texts of the pool's papers: documents, sections, passages, bibliographies, and the edges these give."""
    reader = reader_named(config.parser, config.most_files)
    with topic_at_work(house, context.partition_key) as topic:
        made = make_documents(house.workshop(), topic, reader, retry=config.retry)
    return dg.MaterializeResult(
        metadata={
            "papers_by_status": made.by_status,
            "files_read": sum(made.reading.by_status.values()),
            "failures": [f"{paper}: {status}. {advice}" for paper, status, advice in made.reading.failures],
            "unreachable_sources": [f"{u.source}: {u.reason}" for u in made.reading.unreachable],
            "references": made.references.entries,
            "references_resolved": made.references.resolved,
            "citation_edges": made.references.edges,
            "self_citations_dropped": made.references.self_loops,
            "passages_indexed": made.pieces.embedded,
            "passages_without_vector": [f"{p}: {reason}" for p, reason in made.pieces.skipped],
        },
        data_version=dg.DataVersion(made.content_hash),
    )


@dg.asset(
    partitions_def=topics,
    deps=["topic_evidence", topic_documents],
    group_name=_GROUP,
    kinds={"deltalake", "lancedb"},
    metadata=columns("paper_cards"),
    automation_condition=pool_changed,
)
@failing_clearly
def paper_cards(
    context: dg.AssetExecutionContext, config: WriterConfig, house: dg.ResourceParam[House]
) -> dg.MaterializeResult:
    """What each paper of the pool contributes, how, what it found and where it ends, with the places that say so."""
    with topic_at_work(house, context.partition_key) as topic:
        made = make_cards(house.workshop(config.access()), topic, config.writer, context.run_id)
    return dg.MaterializeResult(
        metadata={
            "cards_written": made.written,
            "cards_reused": made.reused,
            "from_full_text": made.from_full_text,
            "cards_indexed": made.pieces.embedded,
        },
        data_version=dg.DataVersion(made.content_hash),
    )
