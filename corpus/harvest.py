"""Harvests: what a source says, brought into `arxiv_records`, month by month.

Belongs here: the unit of truth (a month of one source) and the harvest's own row. Not here: what a single record
says (`corpus.keyed`), papers (`corpus.derivation`), edges and outlines (`corpus.sidetables`).

Within one source a month is the unit of truth: what the source no longer says disappears from that source's
month. A month is never replaced by a fetch that saw less of it: months after the cutoff's, and every month of a
harvest that could not read all its files, only gain and change records. A record that is refused now takes nothing
away, a month once given to a work from outside arXiv stays, and versions never go down. One source never deletes what
another said.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Protocol
from uuid import uuid4

import polars as pl

from corpus.contracts.sources import ARXIV_RECORDS, HARVESTS, REJECTED_RECORDS
from corpus.keeping import in_keeping
from corpus.keyed import hashed, keyed_records, no_keyed_records, one_per_paper, readable_ids, within
from corpus.tables import Lake, recomputed
from ingestion.records import Failure, RawBatch, Refusal, SourceFile

_MONTH_KEYS = ("paper_id", "id_month", "content_hash")


class Source(Protocol):
    """Anything that can be harvested as a whole: a mirror, a snapshot, a file to import."""

    @property
    def name(self) -> str: ...
    @property
    def abstract_origin(self) -> str: ...
    def files(self) -> list[SourceFile]: ...
    def records(self) -> Iterable[RawBatch]: ...


@dataclass
class HarvestReport:
    """What one harvest did; becomes its row in `harvests` once papers and edges are up to date too.

    Attributes:
        seen: papers kept, within the cutoff.
        all_ids: papers the source has, whatever their date.
        read_files: files whose records were read; the others are described in `files` only.
        side_count: rows of side data (edges, outlines) read and kept.
    """

    harvest_id: str
    source: str
    cutoff: date | None
    started_at: datetime
    files: list[SourceFile]
    months: list[date] = field(default_factory=list)
    changed_months: list[date] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    all_ids: set[str] = field(default_factory=set)
    watermark: date | None = None
    refusals: list[Refusal] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    commits: int = 0
    read_files: set[str] = field(default_factory=set)
    side_count: int = 0

    @property
    def status(self) -> str:
        """`partial` if something the source says it has could not be read; refused records leave it complete."""
        return "partial" if self.failures else "complete"


@dataclass
class Reading:
    """A source read once: its keyed records, and the report that the harvest fills."""

    frame: pl.DataFrame
    report: HarvestReport


def read_source(source: Source, *, cutoff: date | None, now: datetime | None = None) -> Reading:
    """Read everything a source says, once. Nothing is written.

    Args:
        source: what to read.
        cutoff: inclusive UTC day. Id months up to its month are kept whole; of later months only records whose
            first version is within it. None keeps everything.
        now: time of the harvest, for tests.
    """
    started = now or datetime.now(UTC)
    report = HarvestReport(uuid4().hex, source.name, cutoff, started, source.files())
    frames = [no_keyed_records()]
    for batch in source.records():
        frame, refused = keyed_records(batch.frame)
        report.failures += batch.failures
        report.refusals += [*batch.refusals, *refused]
        report.read_files.update(batch.frame["source_file"], (r.source_file for r in batch.refusals))
        frames.append(frame)
    fresh, doubled = one_per_paper(pl.concat(frames))
    report.refusals += doubled
    report.all_ids = set(fresh["paper_id"])
    if not (report.all_ids or report.failures):
        report.failures.append(Failure(source.name, "gives not one readable record. See rejected_records."))
    fresh = within(fresh, cutoff)
    fresh = fresh.with_columns(
        pl.lit(source.name).alias("source"),
        pl.lit(source.abstract_origin).alias("abstract_origin"),
        pl.lit(report.harvest_id).alias("harvest_id"),
        pl.lit(started).cast(pl.Datetime("us", "UTC")).alias("harvested_at"),
    )
    fresh = hashed(fresh)
    report.seen = set(fresh["paper_id"])
    report.months = sorted(fresh["id_month"].unique())
    report.watermark = report.months[-1] if report.months else None
    return Reading(fresh.select(list(ARXIV_RECORDS.polars_schema)), report)


@dataclass(frozen=True)
class _Difference:
    news: pl.DataFrame
    gone: pl.DataFrame

    @property
    def months(self) -> list[date]:
        return sorted(set(self.news["id_month"]) | set(self.gone["id_month"]))


def changed_months(lake: Lake, reading: Reading) -> list[date]:
    """Id months in which what the source says differs from what is held of it."""
    return _difference(lake, reading, None, lake.version("arxiv_records")).months


@recomputed
def commit_records(
    lake: Lake, reading: Reading, months: Collection[date] | None = None, run_id: str = ""
) -> list[date]:
    """Write the changed months to `arxiv_records` in one commit; give them back.

    Args:
        months: id months to touch, None for all.
        run_id: the run, noted in the commit.
    """
    report = reading.report
    version = lake.version("arxiv_records")
    difference = _difference(lake, reading, months, version)
    touched = difference.months
    if touched:
        _open(lake, report, run_id)
        settled = [*difference.gone["paper_id"], *difference.news["paper_id"]]
        kept = (
            lake.scan("arxiv_records", version)
            .filter(pl.col("source") == report.source, pl.col("id_month").is_in(touched))
            .filter(~pl.col("paper_id").is_in(settled))
            .collect()
        )
        rows = pl.concat([kept, difference.news]).sort("id_month", "paper_id")
        part = {"source": report.source, "id_month": touched}
        note = {"lithouse.harvest": report.harvest_id, "lithouse.run": run_id}
        lake.replace("arxiv_records", rows, part, note=note, on_top_of=version or 0)
        report.commits += 1
    report.changed_months = sorted({*report.changed_months, *touched})
    return touched


def _difference(lake: Lake, reading: Reading, months: Collection[date] | None, version: int | None) -> _Difference:
    """What the source newly says, and what it no longer says of months that it was read whole for."""
    report = reading.report
    records = lake.scan("arxiv_records", version)
    of_source = records.filter(pl.col("source") == report.source)
    fresh, older = in_keeping(reading.frame, records, of_source)
    told = set(report.refusals)
    report.refusals += [r for r in older if r not in told]
    if months is not None:
        of_source = of_source.filter(pl.col("id_month").is_in(list(months)))
        fresh = fresh.filter(pl.col("id_month").is_in(list(months)))
    held = of_source.select(*_MONTH_KEYS).collect()
    last_whole = report.cutoff.replace(day=1) if report.cutoff else date.max
    is_whole = pl.lit(report.status == "complete") & (pl.col("id_month") <= last_whole)
    still_said = [*reading.frame["paper_id"], *readable_ids(report.refusals)]
    return _Difference(
        news=fresh.join(held, on=list(_MONTH_KEYS), how="anti"),
        gone=held.filter(is_whole).filter(~pl.col("paper_id").is_in(still_said)),
    )


def _open(lake: Lake, report: HarvestReport, run_id: str) -> None:
    """Write the harvest's row as `open` before its records: these then have a harvest even if the run dies."""
    _write_row(lake, report, "open", run_id or None)


def record_harvest(lake: Lake, report: HarvestReport, run_id: str | None = None) -> None:
    """Write the refusals of the source and the harvest's row; the row comes last and says that all is in place."""
    record_refusals(lake, report)
    _write_row(lake, report, report.status, run_id)


def _write_row(lake: Lake, report: HarvestReport, status: str, run_id: str | None) -> None:
    added, changed = set(report.added), set(report.changed)
    row = {
        "harvest_id": report.harvest_id,
        "source": report.source,
        "cutoff": report.cutoff,
        "started_at": report.started_at,
        "finished_at": datetime.now(UTC),
        "months": report.months,
        "watermark": report.watermark,
        "have_count": len(report.seen) + report.side_count,
        "expected_count": None,
        "added_count": len(added),
        "changed_count": len(changed),
        "unchanged_count": len(report.seen - added - changed),
        "removed_count": len(report.removed),
        "rejected_count": len(report.refusals),
        "commit_count": report.commits,
        "status": status,
        "failures": [{"item": f.item, "reason": f.reason} for f in report.failures],
        "files": [{"path": f.path, "sha256": f.sha256, "size_bytes": f.size_bytes} for f in report.files],
        "run_id": run_id,
    }
    frame = pl.DataFrame([row], schema=HARVESTS.polars_schema)
    lake.replace("harvests", frame, {"harvest_id": report.harvest_id})


def record_refusals(lake: Lake, report: HarvestReport) -> None:
    """Make `rejected_records` hold what this source's files hold that was refused.

    Refusals of files that were not read now, since they are as they were, stay; so do those of damaged files.
    """
    schema = REJECTED_RECORDS.polars_schema
    rows = [
        {
            "source": report.source,
            "source_file": r.source_file,
            "source_line": r.source_line,
            "raw_id": r.raw_id,
            "reason": r.reason,
            "raw": r.raw,
            "rejected_at": report.started_at,
        }
        for r in report.refusals
    ]
    keys = ["source_file", "source_line"]
    held = lake.read("rejected_records", source=report.source)
    same = [c for c in schema if c != "rejected_at"]
    fresh = (
        pl.DataFrame(rows, schema=schema)
        .unique(keys, keep="first", maintain_order=True)
        .join(held.rename({"rejected_at": "_before"}), on=same, how="left", nulls_equal=True)
        .with_columns(pl.coalesce("_before", "rejected_at").alias("rejected_at"))
        .drop("_before")
    )
    staying = [*_unchanged_files(lake, report) - report.read_files, *(f.item for f in report.failures)]
    stayed = held.filter(pl.col("source_file").is_in(staying)).join(fresh, on=keys, how="anti")
    frame = pl.concat([fresh, stayed.select(fresh.columns)]).sort(keys)
    if frame.equals(held.select(frame.columns).sort(keys)):
        return
    lake.replace("rejected_records", frame, {"source": report.source})
    report.commits += 1


def _unchanged_files(lake: Lake, report: HarvestReport) -> set[str]:
    """Files that are byte for byte what they were at the source's last harvest."""
    last = lake.scan("harvests").filter(pl.col("source") == report.source).sort("finished_at").tail(1).collect()
    before = {(f["path"], f["sha256"]) for files in last["files"] for f in files}
    return {f.path for f in report.files if (f.path, f.sha256) in before}
