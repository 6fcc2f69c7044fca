"""Harvests: what a source says, brought into `arxiv_records`, month by month.

Belongs here: raw records → keyed records, the unit of truth (a month of one source), the harvest's own row.
Not here: reading files (`ingestion`), papers (`corpus.derivation`), edges and outlines (`corpus.sidetables`).

Within one source a month is the unit of truth: what the source no longer says disappears from that source's
month. A month is never replaced by a fetch that saw less of it: months after the cutoff's, and every month of a
harvest that could not read all its files, only gain and change records. One source never deletes what another said.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Protocol
from uuid import uuid4

import polars as pl

from corpus.contracts.sources import ARXIV_RECORDS, HARVESTS, REJECTED_RECORDS
from corpus.hashing import row_hashes
from corpus.tables import Lake
from ingestion.dates import first_version_date, parse_version_date
from ingestion.identity import UnreadableId, id_month, parse_paper_id
from ingestion.records import RAW_SCHEMA, Failure, RawBatch, Refusal, SourceFile

_SAID = (
    "version", "title", "abstract", "authors", "categories", "comments", "journal_ref", "doi", "license",
    "versions", "update_date", "date_kind", "abstract_origin",
)  # fmt: skip
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
    frames = [_within(keyed_records(_no_rows())[0], cutoff)]
    for batch in source.records():
        report.failures += batch.failures
        report.refusals += batch.refusals
        frame, refused = keyed_records(batch.frame)
        report.refusals += refused
        report.all_ids.update(frame["paper_id"])
        frames.append(_within(frame, cutoff))
    fresh, doubled = _one_per_paper(pl.concat(frames))
    report.refusals += doubled
    fresh = fresh.with_columns(
        pl.lit(source.name).alias("source"),
        pl.lit(source.abstract_origin).alias("abstract_origin"),
        pl.lit(report.harvest_id).alias("harvest_id"),
        pl.lit(started).cast(pl.Datetime("us", "UTC")).alias("harvested_at"),
    )
    fresh = fresh.with_columns(row_hashes(fresh, _SAID).alias("content_hash"))
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
    return _difference(lake, reading, None).months


def commit_records(
    lake: Lake, reading: Reading, months: Collection[date] | None = None, run_id: str = ""
) -> list[date]:
    """Write the changed months to `arxiv_records` in one commit; give them back.

    Args:
        months: id months to touch, None for all.
        run_id: the run, noted in the commit.
    """
    report = reading.report
    difference = _difference(lake, reading, months)
    touched = difference.months
    report.changed_months = sorted({*report.changed_months, *touched})
    if not touched:
        return []
    settled = [*difference.gone["paper_id"], *difference.news["paper_id"]]
    kept = (
        lake.scan("arxiv_records")
        .filter(pl.col("source") == report.source, pl.col("id_month").is_in(touched))
        .filter(~pl.col("paper_id").is_in(settled))
        .collect()
    )
    rows = pl.concat([kept, difference.news]).sort("id_month", "paper_id")
    note = {"lithouse.harvest": report.harvest_id, "lithouse.run": run_id}
    lake.replace("arxiv_records", rows, {"source": report.source, "id_month": touched}, note=note)
    report.commits += 1
    return touched


def _difference(lake: Lake, reading: Reading, months: Collection[date] | None) -> _Difference:
    """What the source newly says, and what it no longer says of months that it was read whole for."""
    report, fresh = reading.report, reading.frame
    of_source = lake.scan("arxiv_records").filter(pl.col("source") == report.source)
    if months is not None:
        of_source = of_source.filter(pl.col("id_month").is_in(list(months)))
        fresh = fresh.filter(pl.col("id_month").is_in(list(months)))
    held = of_source.select(*_MONTH_KEYS).collect()
    last_whole = report.cutoff.replace(day=1) if report.cutoff else None
    is_whole = pl.lit(report.status == "complete") & (
        pl.lit(True) if last_whole is None else pl.col("id_month") <= last_whole
    )
    return _Difference(
        news=fresh.join(held, on=list(_MONTH_KEYS), how="anti"),
        gone=held.filter(is_whole).join(fresh, on="paper_id", how="anti"),
    )


def record_harvest(lake: Lake, report: HarvestReport, run_id: str | None = None) -> None:
    """Write the refusals of the source and the harvest's row; the row comes last and says that all is in place."""
    record_refusals(lake, report)
    added, changed = set(report.added), set(report.changed)
    row = {
        "harvest_id": report.harvest_id,
        "source": report.source,
        "cutoff": report.cutoff,
        "started_at": report.started_at,
        "finished_at": datetime.now(UTC),
        "months": report.months,
        "watermark": report.watermark,
        "have_count": len(report.seen),
        "expected_count": None,
        "added_count": len(added),
        "changed_count": len(changed),
        "unchanged_count": len(report.seen - added - changed),
        "removed_count": len(report.removed),
        "rejected_count": len(report.refusals),
        "commit_count": report.commits,
        "status": report.status,
        "failures": [{"item": f.item, "reason": f.reason} for f in report.failures],
        "files": [{"path": f.path, "sha256": f.sha256, "size_bytes": f.size_bytes} for f in report.files],
        "run_id": run_id,
    }
    lake.append("harvests", pl.DataFrame([row], schema=HARVESTS.polars_schema))


def record_refusals(lake: Lake, report: HarvestReport) -> None:
    """Make `rejected_records` hold exactly what this source's last complete reading refused."""
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
    frame = pl.DataFrame(rows, schema=REJECTED_RECORDS.polars_schema).sort("source_file", "source_line")
    frame = frame.unique(["source", "source_file", "source_line"], keep="first", maintain_order=True)
    held = lake.read("rejected_records", source=report.source).sort("source_file", "source_line")
    if frame.drop("rejected_at").equals(held.drop("rejected_at")):
        return
    lake.replace("rejected_records", frame, {"source": report.source})
    report.commits += 1


def keyed_records(raw: pl.DataFrame) -> tuple[pl.DataFrame, list[Refusal]]:
    """Add `paper_id`, `version` and `id_month`; refuse records whose id or month cannot be known."""
    ids, versions, months, refusals = [], [], [], []
    for row in raw.iter_rows(named=True):
        key, version, month, reason = _key(row)
        ids.append(key)
        versions.append(version)
        months.append(month)
        if reason:
            text = f"{row['source_id']} | {row['title']}"[:2000]
            refusals.append(Refusal(row["source_file"], row["source_line"], row["source_id"], reason, text))
    keyed = raw.with_columns(
        pl.Series("paper_id", ids, dtype=pl.String),
        pl.Series("version", versions, dtype=pl.Int32),
        pl.Series("id_month", months, dtype=pl.Date),
    )
    return keyed.filter(pl.col("id_month").is_not_null()), refusals


def _key(row: dict) -> tuple[str | None, int | None, date | None, str]:
    try:
        paper = parse_paper_id(row["source_id"])
    except UnreadableId as error:
        return None, None, None, error.message
    month = id_month(paper.value)
    if month is None:
        day = first_version_date(row["versions"]) or _day(row["update_date"])
        if day is None:
            return paper.value, paper.version, None, "a work from outside arXiv needs a date and has none"
        month = day.replace(day=1)
    return paper.value, paper.version, month, ""


def _day(text: str | None) -> date | None:
    found = parse_version_date(text)
    return found.date() if found else None


def _within(frame: pl.DataFrame, cutoff: date | None) -> pl.DataFrame:
    if cutoff is None:
        return frame
    early = pl.col("id_month") <= cutoff.replace(day=1)
    later = frame.filter(~early)
    first = [first_version_date(versions) for versions in later["versions"].to_list()]
    within = later.filter(pl.Series([day is not None and day <= cutoff for day in first], dtype=pl.Boolean))
    return pl.concat([frame.filter(early), within])


def _one_per_paper(frame: pl.DataFrame) -> tuple[pl.DataFrame, list[Refusal]]:
    """Of several records of one paper the one with the newest version stands, else the last; the others are told."""
    order = frame.with_columns(
        pl.coalesce(pl.col("version"), pl.col("versions").list.len().cast(pl.Int32)).fill_null(0).alias("_newest"),
        pl.int_range(pl.len()).alias("_order"),
    ).sort("paper_id", "_newest", "_order")
    best = order.unique("paper_id", keep="last", maintain_order=True)
    doubled = order.join(best.select("_order"), on="_order", how="anti").join(
        best.select("paper_id", pl.col("source_line").alias("_line"), pl.col("source_file").alias("_file")),
        on="paper_id",
    )
    refusals = [
        Refusal(
            row["source_file"],
            row["source_line"],
            row["source_id"],
            f"paper {row['paper_id']} is given again in {row['_file']}, line {row['_line']}, which is newer or later",
            f"{row['source_id']} | {row['title']}"[:2000],
        )
        for row in doubled.iter_rows(named=True)
    ]
    return best.drop("_newest", "_order"), refusals


def _no_rows() -> pl.DataFrame:
    return pl.DataFrame(schema=RAW_SCHEMA)
