"""`lithouse import papers`: a file of further papers' metadata as a source of its own."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from ingestion.errors import NotFound
from ingestion.records import RawBatch, SourceFile, describe_file, read_records
from ingestion.sidedata import to_snapshot_fields, unread_paper_fields


@dataclass(frozen=True)
class ImportedPapers:
    """A JSONL or Parquet file whose records are harvested like any source's."""

    path: Path
    abstract_origin: str = "source"
    unread_fields: set[str] = field(default_factory=set, compare=False)

    keeps_keys: ClassVar[bool] = False  # what its fields are is told at every import, so it is read every time

    @property
    def name(self) -> str:
        return f"import:{self.path.resolve().as_posix()}"

    def files(self) -> list[SourceFile]:
        if not self.path.is_file():
            raise NotFound("there is no file to import", which=str(self.path))
        return [describe_file(self.path, self.path.parent)]

    @property
    def record_files(self) -> tuple[str, ...]:
        return (self.path.name,)

    def read(self, name: str) -> Iterator[RawBatch]:
        """The file's records in the snapshot's fields; `unread_fields` is filled on the way."""
        return read_records(self.path, name, self._normalised)

    def _normalised(self, row: dict) -> dict:
        self.unread_fields.update(unread_paper_fields([row]))
        return to_snapshot_fields(row)
