"""Bringing the `papers` table up to date with `arxiv_records`, rewriting only the months in which something changed.

Belongs here: which papers are stale, and writing them. Not here: one paper from its records (`corpus.precedence`),
reading sources.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import date

import polars as pl

from corpus.contracts.papers import PAPERS
from corpus.hashing import sources_hash, text_hash
from corpus.months import groups
from corpus.precedence import derived_papers
from corpus.processes import in_processes
from corpus.tables import Lake, recomputed

DERIVATION = sources_hash(
    ("corpus/precedence.py", "ingestion/cleanup.py", "ingestion/cleaning.py", "ingestion/authors.py", "ingestion/tex.py",
     "ingestion/dates.py")
)  # fmt: skip
"""The rules by which a paper is derived: when they change every paper is derived again."""

_AT_ONCE = 5_000  # records held as Python objects at a time
_WORTH_PROCESSES = 20_000  # records: 5 s of one core, where starting processes costs 1 s
_TOLD = {"paper_id": pl.String, "content_hash": pl.String, "before": pl.String}


@dataclass(frozen=True)
class DerivedChange:
    """What bringing `papers` up to date did.

    Attributes:
        covers: as in `HarvestReport`; None where only some months were looked at.
    """

    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]
    months: tuple[date, ...]
    version: int | None
    commits: int
    covers: tuple[int | None, int | None, str] | None

    @property
    def is_committed(self) -> bool:
        return self.commits > 0


def derive_papers(lake: Lake, months: Collection[date] | None = None) -> DerivedChange:
    """Bring `papers` up to date with `arxiv_records`, in as few commits as memory allows.

    Args:
        lake: the lake.
        months: id months to look at, None for all.
    """
    records_version = lake.version("arxiv_records")
    done = [_derive_months(lake, group) for group in groups(_sizes(lake, months))]
    papers_version = lake.version("papers")
    is_all = months is None and lake.version("arxiv_records") == records_version
    told = pl.concat([pl.DataFrame(schema=_TOLD), *(d.told for d in done)])
    is_new = pl.col("before").is_null()
    return DerivedChange(
        added=tuple(told.filter(is_new)["paper_id"]),
        changed=tuple(told.filter(~is_new & (pl.col("before") != pl.col("content_hash")))["paper_id"]),
        removed=tuple(p for d in done for p in d.removed),
        months=tuple(sorted({m for d in done for m in d.months})),
        version=papers_version,
        commits=sum(d.is_committed for d in done),
        covers=(records_version, papers_version, DERIVATION) if is_all else None,
    )


@dataclass(frozen=True)
class _Derived:
    """One commit: derived papers (paper_id, content_hash, before: the hash held, null if none), and what went."""

    told: pl.DataFrame
    removed: list[str]
    months: list[date]

    @property
    def is_committed(self) -> bool:
        return bool(self.months)


@recomputed
def _derive_months(lake: Lake, months: list[date]) -> _Derived:
    version = lake.version("papers")
    records, papers = _records_and_papers(lake, months, version)
    stale, gone, held = _differences(records, papers)
    touched = _months(stale, gone, held)
    if not touched:
        return _Derived(pl.DataFrame(schema=_TOLD), [], [])
    # Only stale papers are derived; the other rows of a touched month are kept as they are.
    kept = (
        papers.filter(pl.col("id_month").is_in(touched))
        .join(stale.lazy(), on="paper_id", how="anti")
        .join(gone.lazy(), on="paper_id", how="anti")
        .collect()
    )
    source_rows = records.join(stale.lazy().select("paper_id"), on="paper_id", how="semi").collect()
    fresh = _derive(source_rows, dict(zip(stale["paper_id"], stale["records_hash"], strict=True)))
    rows = pl.concat([kept, fresh]).sort("id_month", "paper_id")
    lake.replace("papers", rows, {"id_month": touched}, on_top_of=version or 0)
    before = held.select("paper_id", pl.col("content_hash").alias("before"))
    told = fresh.select("paper_id", "content_hash").join(before, on="paper_id", how="left")
    return _Derived(told, gone["paper_id"].to_list(), touched)


def _sizes(lake: Lake, months: Collection[date] | None) -> dict[date, int]:
    """Stale month → rows that it has or is to have. A paper that changes its month has both in one group."""
    records, papers = _records_and_papers(lake, months, lake.version("papers"))
    stale, gone, held = _differences(records, papers)
    touched = _months(stale, gone, held)
    rows = pl.concat([records.select("paper_id", "id_month"), papers.select("paper_id", "id_month")])
    rows = rows.filter(pl.col("id_month").is_in(touched)).unique()
    return {**dict.fromkeys(touched, 0), **dict(rows.group_by("id_month").agg(pl.len()).collect().iter_rows())}


def covered_now(lake: Lake) -> tuple[int | None, int | None, str]:
    """Versions and rules of now, for a report to vouch for once nothing is stale between them."""
    return lake.version("arxiv_records"), lake.version("papers"), DERIVATION


def stale_months(lake: Lake) -> list[date]:
    """Id months in which `papers` is behind `arxiv_records`, as after a run that died between the two.

    Nothing is compared where the newest harvest's row vouches for the versions and rules of now.
    """
    newest = lake.scan("harvests").filter(pl.col("status") != "open").sort("finished_at").tail(1).collect().to_dicts()
    now = dict(zip(("records_version", "papers_version", "derivation"), covered_now(lake), strict=True))
    if any(row.items() >= now.items() for row in newest):
        return []
    return _months(*_differences(*_records_and_papers(lake, None, None)))


def _months(stale: pl.DataFrame, gone: pl.DataFrame, held: pl.DataFrame) -> list[date]:
    """Months to rewrite: also those in which a stale paper is held now."""
    before = held.join(stale, on="paper_id", how="semi")
    return sorted({*stale["id_month"], *gone["id_month"], *before["id_month"]})


def _records_and_papers(
    lake: Lake, months: Collection[date] | None, version: int | None
) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    tables = lake.scan("arxiv_records"), lake.scan("papers", version)
    if months is None:
        return tables
    return tuple(t.filter(pl.col("id_month").is_in(list(months))) for t in tables)


def _differences(records: pl.LazyFrame, papers: pl.LazyFrame) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Papers to derive anew, papers without records, and the hashes held."""
    wanted = _records_hashes(records)
    held = papers.select("paper_id", "id_month", "records_hash", "content_hash").collect()
    stale = wanted.join(held, on=["paper_id", "id_month", "records_hash"], how="anti")
    return stale, held.join(wanted, on="paper_id", how="anti"), held


def _records_hashes(records: pl.LazyFrame) -> pl.DataFrame:
    grouped = (
        records.select("paper_id", "id_month", "source", "content_hash")
        .sort("paper_id", "source")
        .group_by("paper_id", maintain_order=True)
        .agg(
            pl.col("id_month").min(),
            pl.concat_str("source", "content_hash", separator=" ").str.join(" ").alias("joined"),
        )
        .collect()
    )
    hashes = [text_hash(f"{DERIVATION} {joined}") for joined in grouped["joined"]]
    return grouped.drop("joined").with_columns(pl.Series("records_hash", hashes, dtype=pl.String))


def _derive(rows: pl.DataFrame, records_hashes: Mapping[str, str]) -> pl.DataFrame:
    """Rows of `papers` from rows of `arxiv_records`; many of them on all cores."""
    hashes = pl.DataFrame({"paper_id": list(records_hashes), "records_hash": list(records_hashes.values())})
    parts = [part.join(hashes, on="paper_id", how="left") for part in _whole_papers(rows.sort("paper_id"), _AT_ONCE)]
    is_much = rows.height >= _WORTH_PROCESSES
    frames = in_processes(derived_papers, parts) if is_much else map(derived_papers, parts)
    return pl.concat([pl.DataFrame(schema=PAPERS.polars_schema), *frames])


def _whole_papers(rows: pl.DataFrame, size: int) -> Iterator[pl.DataFrame]:
    """Slices of rows in order of paper_id of about this size, none of which ends within a paper."""
    begins = rows["paper_id"].rle_id()
    start = 0
    while start < rows.height:
        last = begins[min(start + size, rows.height) - 1]
        stop = start + int((begins[start:] <= last).sum())
        yield rows[start:stop]
        start = stop
