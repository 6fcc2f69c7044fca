"""Harvests: what a source says, brought into `arxiv_records`, month by month.

Belongs here: the unit of truth, a month of one source. Not here: reading a source (`corpus.source_reading`), the
harvest's own row (`corpus.harvest_rows`), papers (`corpus.derivation`), edges and outlines (`corpus.sidetables`).

Within one source a month is the unit of truth: what the source no longer says disappears from that source's
month. A month is never replaced by a fetch that saw less of it: months after the cutoff's, and every month of a
harvest that could not read all its files, only gain and change records. A record that is refused now takes nothing
away, a month once given to a work from outside arXiv stays, and versions never go down. One source never deletes what
another said.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date

import polars as pl

from corpus.harvest_report import HarvestReport, Source
from corpus.harvest_rows import open_harvest, record_harvest, record_refusals
from corpus.keeping import in_keeping, with_given_versions
from corpus.keyed import NEWEST, is_arxiv, readable_ids, refusal
from corpus.months import groups
from corpus.source_reading import Reading, read_source
from corpus.tables import Lake, recomputed

__all__ = [
    "HarvestReport",
    "Reading",
    "Source",
    "changed_months",
    "commit_records",
    "read_source",
    "record_harvest",
    "record_refusals",
]

_MONTH_KEYS = ("paper_id", "id_month", "content_hash")


@dataclass(frozen=True)
class _Difference:
    """Keys of what the source newly says, and (paper_id, id_month, content_hash) of what it says no longer."""

    news: pl.DataFrame
    gone: pl.DataFrame

    @property
    def months(self) -> list[date]:
        return sorted(set(self.news["id_month"]) | set(self.gone["id_month"]))


def changed_months(lake: Lake, reading: Reading) -> list[date]:
    """Id months in which what the source says differs from what is held of it."""
    return _difference(lake, reading, None, lake.version("arxiv_records")).months


def commit_records(
    lake: Lake, reading: Reading, months: Collection[date] | None = None, run_id: str = ""
) -> list[date]:
    """Write the changed months to `arxiv_records`, in as few commits as memory allows; give them back.

    Each commit holds whole months, so a run that dies leaves every month as it was or as it is to be.

    Args:
        months: id months to touch, None for all.
        run_id: the run, noted in the commits.
    """
    difference = _difference(lake, reading, months, lake.version("arxiv_records"))
    if not difference.months:
        return []
    open_harvest(lake, reading.report, run_id)
    sizes = _sizes(lake, reading.report.source, difference)
    touched = sorted({m for group in groups(sizes) for m in _commit_months(lake, reading, group, run_id)})
    reading.report.changed_months = sorted({*reading.report.changed_months, *touched})
    return touched


@recomputed
def _commit_months(lake: Lake, reading: Reading, months: list[date], run_id: str) -> list[date]:
    report = reading.report
    version = lake.version("arxiv_records")
    difference = _difference(lake, reading, months, version)
    touched = difference.months
    if not touched:
        return []
    settled = [*difference.gone["paper_id"], *difference.news["paper_id"]]
    kept = (
        lake.scan("arxiv_records", version)
        .filter(pl.col("source") == report.source, pl.col("id_month").is_in(touched))
        .filter(~pl.col("paper_id").is_in(settled))
        .collect()
    )
    news = with_given_versions(reading.records(difference.news), difference.news)
    rows = pl.concat([kept, news]).sort("id_month", "paper_id")
    part = {"source": report.source, "id_month": touched}
    note = {"lithouse.harvest": report.harvest_id, "lithouse.run": run_id}
    lake.replace("arxiv_records", rows, part, note=note, on_top_of=version or 0)
    report.commits += 1
    return touched


def _sizes(lake: Lake, source: str, difference: _Difference) -> dict[date, int]:
    """Month → rows to write in it."""
    held = lake.scan("arxiv_records").filter(pl.col("source") == source)
    held = held.filter(pl.col("id_month").is_in(difference.months)).select("paper_id", "id_month").collect()
    both = pl.concat([held, difference.news.select("paper_id", "id_month")]).unique()
    counted = both.group_by("id_month").len()
    return {**dict.fromkeys(difference.months, 0), **dict(counted.iter_rows())}


def _difference(lake: Lake, reading: Reading, months: Collection[date] | None, version: int | None) -> _Difference:
    """What the source newly says, and what it no longer says of months that it was read whole for."""
    report = reading.report
    records = lake.scan("arxiv_records", version)
    of_source = records.filter(pl.col("source") == report.source)
    keys = reading.keys
    if months is not None:
        of_source = of_source.filter(pl.col("id_month").is_in(list(months)))
        keys = keys.filter(pl.col("id_month").is_in(list(months)) | ~is_arxiv())  # works from elsewhere may move
    fresh, older = in_keeping(reading, keys, records, of_source)
    _refuse(reading, older)
    if months is not None:
        fresh = fresh.filter(pl.col("id_month").is_in(list(months)))
    held = of_source.select(*_MONTH_KEYS).collect()
    last_whole = report.cutoff.replace(day=1) if report.cutoff else date.max
    is_whole = pl.lit(report.status == "complete") & (pl.col("id_month") <= last_whole)
    refused = pl.Series("paper_id", sorted(readable_ids(report.refusals)), dtype=pl.String)
    still_said = pl.concat([reading.keys["paper_id"], refused]).to_frame()
    return _Difference(
        news=fresh.join(held, on=list(_MONTH_KEYS), how="anti"),
        gone=held.filter(is_whole).join(still_said, on="paper_id", how="anti"),
    )


def _refuse(reading: Reading, older: pl.DataFrame) -> None:
    told = set(reading.report.refusals)
    reasons = [
        refusal(row, f"version {row[NEWEST]} is older than version {row['_held']}, which this source gave before")
        for row in reading.told(older)
    ]
    reading.report.refusals += [r for r in reasons if r not in told]
