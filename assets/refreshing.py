"""Bringing corpus and index up to what a source says: what is due, and Dagster runs of exactly that.

Belongs here: comparing the corpus with its source. Not here: surveys (`assets.runs`).
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from assets.home import harvests_folder
from assets.locks import changing_corpus
from assets.running import Progress, run
from corpus.derivation import covered_now, stale_months
from corpus.harvest import HarvestReport, Reading, Source, changed_months, read_source, record_harvest
from corpus.snapshots import last_complete_cutoff, take_snapshot
from corpus.tables import Lake
from indexes import built_from
from ingestion.errors import NotFound, PermanentFailure

_GAP_MONTHS = 96
"""Unchanged months between changed ones that cost less in one run than a second run does (.004 s a month, .5 s a run)."""

CORPUS = ("arxiv_records", "citations", "human_outlines", "papers", "corpus_snapshot", "paper_index")


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
    workspace = harvests_folder(home)
    reading = read_source(source, cutoff=cutoff, workspace=workspace)
    try:
        with changing_corpus(home):
            # Whoever had to wait looks again: another refresh may have brought what the source said later.
            if source.files() != reading.report.files:
                reading.close()
                reading = read_source(source, cutoff=cutoff, workspace=workspace)
            runs = _refresh(home, lake, source, reading, progress)
    finally:
        reading.close()
    return Outcome(reading.report, time.monotonic() - started, tuple(runs))


def _refresh(home: Path, lake: Lake, source: Source, reading: Reading, progress: Progress | None) -> list[str]:
    """Dagster runs of what is due; their ids."""
    report = reading.report
    covers = covered_now(lake)
    due = sorted({*changed_months(lake, reading), *stale_months(lake)})
    if not (due or _side_files_changed(lake, report) or not index_is_current(home, lake)):
        report.covers = covers
        seen_from = last_complete_cutoff(lake)
        record_harvest(lake, report)
        if last_complete_cutoff(lake) == seen_from or not lake.row_count("surveys"):
            return []
        # Topics that follow the corpus are seen from another day now: the index's checks compare them for Dagster.
        return [run(home, ("paper_index",), progress)]
    runs: list[str] = []
    ranges = _ranges(due)
    for first, last in ranges[:-1]:
        names = ("arxiv_records", "papers")
        runs.append(run(home, names, progress, months=(first, last), source=source, reading=reading))
    runs.append(run(home, CORPUS, progress, months=ranges[-1] if ranges else None, source=source, reading=reading))
    return runs


def _side_files_changed(lake: Lake, report: HarvestReport) -> bool:
    """Whether the source's files differ from those of its last complete harvest; records are compared by content."""
    last = lake.read("harvests", source=report.source, status="complete").sort("finished_at").tail(1).to_dicts()
    before = {(f["path"], f["sha256"]) for row in last for f in row["files"]}
    return {(f.path, f.sha256) for f in report.files} != before


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


def index_is_current(home: Path, lake: Lake) -> bool:
    """Whether the index was built, to its end, from the corpus as it is now."""
    try:
        built_from.require(home / "index", take_snapshot(lake).content_hash)
    except (NotFound, PermanentFailure):
        return False
    return True
