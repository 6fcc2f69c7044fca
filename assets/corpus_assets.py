"""Assets of the corpus: records → papers → snapshot → index, and the side tables. Each body is one call below."""

from datetime import date

import dagster as dg

from assets.locks import alone_with_corpus
from assets.metadata import columns, failing_clearly, outlines_version
from assets.partitions import month_key, months
from assets.resources import House, SourceDesk
from corpus.derivation import derive_papers
from corpus.harvest import changed_months, commit_records, record_harvest
from corpus.sidetables import store_edges, store_outlines
from corpus.snapshots import papers_in_parts, take_snapshot
from indexes.paper_index import PaperIndex
from ingestion.sidedata import read_edges, read_outlines

_GROUP = "corpus"
_INDEX_COLUMNS = ["paper_id", "title", "abstract", "submitted_latest", "is_withdrawn", "content_hash"]


def _months_of(context: dg.AssetExecutionContext) -> list[date]:
    return [date.fromisoformat(key) for key in context.partition_keys]


@dg.asset(
    partitions_def=months,
    group_name=_GROUP,
    kinds={"deltalake"},
    metadata=columns("arxiv_records"),
    backfill_policy=dg.BackfillPolicy.single_run(),
)
@failing_clearly
@alone_with_corpus
def arxiv_records(
    context: dg.AssetExecutionContext, house: dg.ResourceParam[House], desk: dg.ResourceParam[SourceDesk]
) -> None:
    """What each source said of each paper, by id month."""
    if desk.reading is None:
        context.log.info("The run names no source: what is held stays.")
        return
    # Works older than arXiv have no partition; they go with whatever run reads their source.
    unpartitioned = [
        m for m in changed_months(house.lake, desk.reading) if m < date.fromisoformat(months.get_first_partition_key())
    ]
    touched = commit_records(house.lake, desk.reading, [*_months_of(context), *unpartitioned], context.run_id)
    counts = dict(desk.reading.keys.group_by("id_month").len().iter_rows())
    keys = set(context.partition_keys)
    for month in touched:
        if (key := month_key(month)) in keys:
            told = {"records": counts.get(month, 0), "source": desk.reading.report.source}
            context.add_asset_metadata(told, partition_key=key)


@dg.asset(group_name=_GROUP, kinds={"deltalake"}, metadata=columns("citations"))
@failing_clearly
@alone_with_corpus
def citations(
    context: dg.AssetExecutionContext, house: dg.ResourceParam[House], desk: dg.ResourceParam[SourceDesk]
) -> dg.MaterializeResult:
    """Edges citing → cited, with the sources that know them."""
    path = getattr(desk.source, "citations", None)
    if path is None:
        return dg.MaterializeResult(metadata={"version": house.lake.version("citations") or 0})
    side = read_edges(path)
    change = store_edges(house.lake, desk.source.name, side.rows)
    _add_side(desk, path.name, side, change.is_committed)
    return dg.MaterializeResult(
        metadata={
            "added": change.added,
            "changed": change.changed,
            "removed": change.removed,
            "self_loops": side.self_loops,
        }
    )


@dg.asset(group_name=_GROUP, kinds={"deltalake"}, metadata=columns("human_outlines"))
@failing_clearly
@alone_with_corpus
def human_outlines(
    context: dg.AssetExecutionContext, house: dg.ResourceParam[House], desk: dg.ResourceParam[SourceDesk]
) -> dg.MaterializeResult:
    """Outlines of human-written surveys."""
    path = getattr(desk.source, "outlines", None)
    if path is None:
        version = house.lake.version("human_outlines") or 0
        return dg.MaterializeResult(metadata={"version": version}, data_version=outlines_version(house.lake))
    side = read_outlines(path)
    change = store_outlines(house.lake, desk.source.name, side.rows)
    _add_side(desk, path.name, side, change.is_committed)
    counts = {"added": change.added, "changed": change.changed, "removed": change.removed}
    return dg.MaterializeResult(metadata=counts, data_version=outlines_version(house.lake))


def _add_side(desk: SourceDesk, name: str, side, is_committed: bool) -> None:
    report = desk.reading.report
    report.read_files.add(name)
    report.refusals += side.refusals
    report.failures += side.failures
    report.commits += is_committed


@dg.asset(
    partitions_def=months,
    deps=[arxiv_records],
    group_name=_GROUP,
    kinds={"deltalake"},
    metadata=columns("papers"),
    backfill_policy=dg.BackfillPolicy.single_run(),
)
@failing_clearly
@alone_with_corpus
def papers(
    context: dg.AssetExecutionContext, house: dg.ResourceParam[House], desk: dg.ResourceParam[SourceDesk]
) -> None:
    """Papers, derived from the records by field precedence."""
    # Without a month list the whole table is compared; a run over chosen months looks at these only.
    change = derive_papers(house.lake, None if desk.reading else _months_of(context))
    context.log.info(f"{len(change.added)} added, {len(change.changed)} changed, {len(change.removed)} removed")
    if desk.reading:
        report = desk.reading.report
        report.added += change.added
        report.changed += change.changed
        report.removed += change.removed
        report.commits += change.commits
        report.covers = change.covers


@dg.asset(deps=[papers, citations, human_outlines], group_name=_GROUP)
@failing_clearly
@alone_with_corpus
def corpus_snapshot(
    context: dg.AssetExecutionContext, house: dg.ResourceParam[House], desk: dg.ResourceParam[SourceDesk]
) -> dg.MaterializeResult:
    """The corpus at this moment; its content hash is the data version. Closes the run's harvest."""
    if desk.reading:
        record_harvest(house.lake, desk.reading.report, context.run_id)
    snapshot = take_snapshot(house.lake)
    return dg.MaterializeResult(
        metadata={
            "papers": snapshot.paper_count,
            "version": snapshot.version or 0,
            "content_hash": snapshot.content_hash,
        },
        data_version=dg.DataVersion(snapshot.content_hash),
    )


@dg.asset(deps=[corpus_snapshot], group_name=_GROUP, kinds={"lancedb"})
@failing_clearly
@alone_with_corpus
def paper_index(context: dg.AssetExecutionContext, house: dg.ResourceParam[House]) -> dg.MaterializeResult:
    """Full text over all papers; vectors are made when a topic needs them."""
    snapshot = take_snapshot(house.lake)
    index = PaperIndex.open(house.path / "index", create=True)
    change = index.update(papers_in_parts(house.lake, _INDEX_COLUMNS, snapshot.version), snapshot=snapshot.content_hash)
    return dg.MaterializeResult(
        metadata={
            "added": change.added,
            "changed": change.changed,
            "removed": change.removed,
            "unchanged": change.unchanged,
            "versions": index.versions(),
        },
        data_version=dg.DataVersion(snapshot.content_hash),
    )
