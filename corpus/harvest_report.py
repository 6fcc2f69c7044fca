"""What is harvested, and what one harvest did.

Belongs here: the protocol of sources and the report. Not here: reading a source (`corpus.source_reading`), the
report's row (`corpus.harvest_rows`).
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Protocol

import polars as pl

from ingestion.records import Failure, RawBatch, Refusal, SourceFile

_NO_IDS = pl.Series("paper_id", [], dtype=pl.String)


class Source(Protocol):
    """Anything that consists of files of records: a mirror, a snapshot, a file to import.

    Attributes:
        record_files: names of the files with records, in reading order; among several records of equal version of a
            paper the last one read stands.
    """

    @property
    def name(self) -> str: ...
    @property
    def abstract_origin(self) -> str: ...
    @property
    def record_files(self) -> tuple[str, ...]: ...
    def files(self) -> list[SourceFile]: ...
    def read(self, name: str) -> Iterable[RawBatch]: ...


@dataclass
class HarvestReport:
    """What one harvest did; becomes its row in `harvests` once papers and edges are up to date too.

    Attributes:
        seen: ids of the papers kept, within the cutoff.
        all_ids: ids of the papers the source has, whatever their date.
        read_files: files whose records were read; the others are described in `files` only.
        as_of: newest day that any record names: what the source cannot know of is later.
        covers: (version of arxiv_records, version of papers, hash of the rules) between which nothing is left to
            derive; None where that was not looked at.
        side_count: rows of side data (edges, outlines) read and kept.
    """

    harvest_id: str
    source: str
    cutoff: date | None
    started_at: datetime
    files: list[SourceFile]
    months: list[date] = field(default_factory=list)
    changed_months: list[date] = field(default_factory=list)
    seen: pl.Series = field(default_factory=lambda: _NO_IDS)
    all_ids: pl.Series = field(default_factory=lambda: _NO_IDS)
    watermark: date | None = None
    as_of: date | None = None
    refusals: list[Refusal] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    commits: int = 0
    read_files: set[str] = field(default_factory=set)
    side_count: int = 0
    covers: tuple[int | None, int | None, str] | None = None

    @property
    def status(self) -> str:
        """`partial` if something the source says it has could not be read; refused records leave it complete."""
        return "partial" if self.failures else "complete"

    @property
    def unchanged_count(self) -> int:
        """Papers seen that were neither added nor changed."""
        touched = pl.Series([*self.added, *self.changed], dtype=pl.String)
        return int((~self.seen.is_in(touched.implode())).sum()) if len(touched) else len(self.seen)
