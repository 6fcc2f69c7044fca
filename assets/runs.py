"""The one module that walks the graph: what is due, and Dagster runs of exactly that.

Dagster's `materialize` never skips by itself, its staleness is not transitive, and an edge from months to an
unpartitioned asset is never checked. So: the corpus is compared with what its source says, the pool is rebuilt and
compared, and a stage runs only if its result is not in the lake for the edition that would come out now.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

from assets.instance import open_instance, process_tags, quiet
from corpus.derivation import stale_months
from corpus.harvest import HarvestReport, Source, changed_months, read_source, record_harvest
from corpus.reading import Reader, reader_named
from corpus.snapshots import take_snapshot
from corpus.tables import Lake
from generation import editions, stages, texts
from generation.editions import Edition
from generation.pools import build_pool
from generation.topics import Topic
from generation.workshop import Workshop, cutoff_of, view_of
from indexes.paper_index import PaperIndex
from ingestion.documents.parsing.parsers import DEFAULT_PARSER
from ingestion.errors import LithouseError, NotFound, PermanentFailure

Progress = Callable[[str, int, int], None]

_GAP_MONTHS = 16
"""Unchanged months between changed ones that cost less in one run than a second run does (measured: 0.03 s a month)."""

CORPUS = ("arxiv_records", "citations", "human_outlines", "papers", "corpus_snapshot", "paper_index")
BY_TOPIC = ("topic_pool", "topic_documents", "paper_cards")
STAGES = ("outline", "digests", "survey")


@dataclass(frozen=True)
class Outcome:
    """A refresh: its report, how long it took, and the runs it needed."""

    report: HarvestReport
    seconds: float
    run_ids: tuple[str, ...]


def refresh(home: Path, source: Source, cutoff: date | None, progress: Progress | None = None) -> Outcome:
    """Bring corpus and index up to what the source says; runs only what changed.

    Raises:
        LithouseError: with the reason; what was committed before stays.
    """
    started = time.monotonic()
    lake = Lake(home)
    reading = read_source(source, cutoff=cutoff)
    report = reading.report
    due = sorted({*changed_months(lake, reading), *stale_months(lake)})
    runs: list[str] = []
    if due or _side_files_changed(lake, report) or not _index_is_current(home, lake):
        ranges = _ranges(due)
        for first, last in ranges[:-1]:
            runs.append(
                _run(home, ("arxiv_records", "papers"), progress, months=(first, last), source=source, reading=reading)
            )
        runs.append(_run(home, CORPUS, progress, months=ranges[-1] if ranges else None, source=source, reading=reading))
    else:
        record_harvest(lake, report)
    return Outcome(report, time.monotonic() - started, tuple(runs))


def _side_files_changed(lake: Lake, report: HarvestReport) -> bool:
    """Whether the source's files differ from those of its last complete harvest; records are compared by content."""
    last = lake.read("harvests", source=report.source, status="complete").sort("finished_at").tail(1).to_dicts()
    before = {(f["path"], f["sha256"]) for row in last for f in row["files"]}
    return {(f.path, f.sha256) for f in report.files} != before


def _index_is_current(home: Path, lake: Lake) -> bool:
    try:
        PaperIndex.open(home / "index").require(take_snapshot(lake).content_hash)
    except (NotFound, PermanentFailure):
        return False
    return True


def _ranges(months: Sequence[date]) -> list[tuple[date, date]]:
    """Changed months as ranges for runs; a short gap is cheaper to include than another run."""
    ranges: list[tuple[date, date]] = []
    for month in months:
        if ranges and _distance(ranges[-1][1], month) <= _GAP_MONTHS:
            ranges[-1] = (ranges[-1][0], month)
        else:
            ranges.append((month, month))
    return ranges


def _distance(a: date, b: date) -> int:
    return (b.year - a.year) * 12 + b.month - a.month


@dataclass(frozen=True)
class Written:
    """A survey as asked for: its row, whether anything had to be computed, and what ran."""

    row: dict
    edition: Edition
    stages_run: tuple[str, ...]


def survey(
    home: Path,
    topic: Topic,
    method: str,
    writer: str,
    *,
    parser: str = DEFAULT_PARSER,
    most_files: int | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> Written:
    """Materialize a topic's survey; what is done for the edition that would come out now is not done again.

    Args:
        parser: reads files that were not read yet, or that another parser could not read.
        most_files: read now, those of the best papers first; None for all.
        force: compute every stage again, and read files again whose last status may change.

    Raises:
        LithouseError: with the reason; finished stages stay.
    """
    reader = reader_named(parser, most_files)  # refused before anything is done
    lake = Lake(home)
    cutoff_of(lake, topic)
    editions.store_topic(lake, topic, datetime.now(UTC))
    topic = editions.load_topic(lake, topic.key)  # "rag" is the topic first named "RAG", and keeps that title
    if not _index_is_current(home, lake):
        _run(home, ("corpus_snapshot", "paper_index"), progress)
    workshop = Workshop(home, progress)
    if force or _pool_is_due(workshop, topic):
        done = [*BY_TOPIC]
    else:
        done = [name for name, is_due in _texts_due(workshop, topic, writer, reader) if is_due]
    if done:
        reading = {"topic_documents": {"parser": parser, "retry": force, "most_files": most_files}}
        _run(home, done, progress, partition=topic.key, config={n: c for n, c in reading.items() if n in done})
    desk = stages.open_desk(workshop, topic, method, writer)
    due = STAGES if force else _due(lake, desk.edition)
    if due:
        _run(home, due, progress, partition=(topic.key, method), config={name: {"writer": writer} for name in due})
    row = editions.finished(lake, desk.edition)
    if row is None:
        raise PermanentFailure(
            "the survey's row is missing after its run", which=desk.edition.id, advice="Run again with --force."
        )
    return Written(row, desk.edition, (*done, *due))


def _pool_is_due(workshop: Workshop, topic: Topic) -> bool:
    held = workshop.lake.read("topic_pool", topic=topic.key)
    if not len(held):
        return True
    fresh = build_pool(view_of(workshop.lake, topic), workshop.index, topic, progress=workshop.tell("embedding papers"))
    return fresh.content_hash != stages.pool_hash(held)


def _texts_due(workshop: Workshop, topic: Topic, writer: str, reader: Reader) -> Iterator[tuple[str, bool]]:
    """topic_documents and paper_cards, and whether they are due; new documents may make cards due."""
    documents = texts.documents_due(workshop, topic, reader)
    yield "topic_documents", documents
    yield "paper_cards", documents or texts.cards_due(workshop, topic, writer)


def _due(lake: Lake, edition: Edition) -> tuple[str, ...]:
    """Stages whose result is not in the lake, and all after the first of them."""
    if editions.finished(lake, edition):
        return ()
    if editions.load_outline(lake, edition) is None:
        return STAGES
    return STAGES[1:] if editions.load_digests(lake, edition) is None else STAGES[2:]


def _run(
    home: Path,
    names: Sequence[str],
    progress: Progress | None,
    *,
    months: tuple[date, date] | None = None,
    partition: str | tuple[str, str] | None = None,
    config: Mapping[str, Mapping] | None = None,
    source: Source | None = None,
    reading=None,
) -> str:
    """One Dagster run of the named assets with their checks; its id.

    Args:
        config: asset → its configuration.

    Raises:
        LithouseError: the one that failed the run, or a failure with Dagster's message.
    """
    quiet()
    from assets.definitions import build_definitions
    from assets.partitions import FIRST_MONTH, month_key, survey_key, topics
    from assets.resources import House, SourceDesk

    desk = SourceDesk(source, reading)
    definitions = build_definitions(house=House(home, progress), desk=desk)
    job = definitions.resolve_implicit_global_asset_job_def()
    tags, key = process_tags(), None
    if isinstance(partition, tuple):
        key = survey_key(*partition)
    elif partition:
        key = partition
    elif months or "arxiv_records" in names:
        first, last = months or (FIRST_MONTH, FIRST_MONTH)
        tags |= {
            "dagster/asset_partition_range_start": month_key(max(first, FIRST_MONTH)),
            "dagster/asset_partition_range_end": month_key(max(last, FIRST_MONTH)),
        }
    run_config: dict = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
    if config:
        run_config["ops"] = {name: {"config": dict(values)} for name, values in config.items()}
    with open_instance(home) as instance:
        if partition:
            topic = partition[0] if isinstance(partition, tuple) else partition
            instance.add_dynamic_partitions(topics.name, [topic])
        import dagster as dg

        result = job.execute_in_process(
            instance=instance,
            partition_key=key,
            tags=tags,
            asset_selection=[dg.AssetKey(name) for name in names],
            run_config=run_config,
            raise_on_error=False,
        )
        if not result.success:
            raise _reason(result)
        return result.run_id


def _reason(result) -> LithouseError:
    """The error behind a failed run, in our own words where it was ours."""
    from assets.metadata import error_behind

    for event in result.all_events:
        if not event.is_step_failure:
            continue
        data = event.step_failure_data
        if data.user_failure_data and (told := error_behind(data.user_failure_data.metadata)):
            return told
        error = data.error
        while error and error.cause:
            error = error.cause
        text = " ".join((error.message if error else "unknown").split())
        return PermanentFailure(
            f"asset {event.step_key} failed", which=text[:600], advice=f"Run {result.run_id} in `lithouse ui`."
        )
    return PermanentFailure("the run failed before any asset", which=result.run_id, advice="See `lithouse ui`.")
