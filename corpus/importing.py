"""`lithouse import papers`: a file of further papers' metadata as a source of its own."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ingestion.errors import NotFound
from ingestion.records import RawBatch, SourceFile, describe_file, read_records
from ingestion.sidedata import to_snapshot_fields, unread_paper_fields


@dataclass(frozen=True)
class ImportedPapers:
    """A JSONL or Parquet file whose records are harvested like any source's."""

    path: Path
    abstract_origin: str = "source"
    unread_fields: set[str] = field(default_factory=set, compare=False)

    @property
    def name(self) -> str:
        return f"import:{self.path.resolve().as_posix()}"

    def files(self) -> list[SourceFile]:
        if not self.path.is_file():
            raise NotFound("there is no file to import", which=str(self.path))
        return [describe_file(self.path, self.path.parent)]

    def records(self) -> Iterator[RawBatch]:
        return read_records(self.path, self.path.name, self._normalised)

    def _normalised(self, row: dict) -> dict:
        self.unread_fields.update(unread_paper_fields([row]))
        return to_snapshot_fields(row)
