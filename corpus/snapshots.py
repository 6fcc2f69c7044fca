"""The corpus at one moment: its content hash, its size, and what a cutoff admits of it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date

import polars as pl

from corpus.hashing import set_hash
from corpus.months import groups
from corpus.tables import Lake

PART_ROWS = 20_000
"""Papers in one part: about 30 MB of titles and abstracts."""


@dataclass(frozen=True)
class CorpusSnapshot:
    """Content hash of all papers, their number, and the version of `papers` it was taken from."""

    content_hash: str
    paper_count: int
    version: int | None


def take_snapshot(lake: Lake) -> CorpusSnapshot:
    """Hash ids and contents of all papers: equal corpora have equal hashes, however they came to be."""
    version = lake.version("papers")
    rows = lake.scan("papers", version).select(pl.concat_str("paper_id", "content_hash", separator=" ")).collect()
    return CorpusSnapshot(set_hash(rows.to_series()), len(rows), version)


def last_complete_cutoff(lake: Lake) -> date | None:
    """Cutoff of the last complete refresh; None where there was none."""
    rows = lake.scan("harvests").filter(pl.col("status") == "complete", pl.col("cutoff").is_not_null())
    newest = rows.sort("finished_at").select("cutoff").tail(1).collect()
    return newest.item() if len(newest) else None


def admitted(lake: Lake, cutoff: date, version: int | None = None) -> pl.LazyFrame:
    """Papers within the cutoff (inclusive UTC day, compared with `submitted_latest`)."""
    return lake.scan("papers", version).filter(pl.col("submitted_latest") <= cutoff)


def papers_in_parts(lake: Lake, columns: Sequence[str], version: int | None = None) -> Iterator[pl.DataFrame]:
    """All papers, a few months at a time: frames of these columns, in memory that does not grow with the corpus."""
    papers = lake.scan("papers", version)
    sizes = dict(papers.group_by("id_month").agg(pl.len()).collect().iter_rows())
    for months in groups(sizes, PART_ROWS):
        yield papers.filter(pl.col("id_month").is_in(months)).select(list(columns)).collect()
