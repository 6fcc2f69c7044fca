"""A snapshot of arXiv's metadata: one file, or the `papers_*.parquet` and `*.jsonl[.gz]` of a folder.

Belongs here: which files of it hold records. Not here: reading them (`ingestion.records`), what they mean (`corpus`).
The fields are those of the Kaggle arXiv snapshot (https://www.kaggle.com/datasets/Cornell-University/arxiv).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from ingestion.errors import BadInput, NotFound
from ingestion.records import Failure, RawBatch, SourceFile, describe_file, lines, read_records

_PATTERNS = ("papers_*.parquet", "*.jsonl", "*.jsonl.gz")
_LOOKED_AT = 100
"""Lines of a JSONL file in which a record is looked for: a damaged first line does not make it another data set."""


@dataclass(frozen=True)
class Snapshot:
    """A snapshot, opened and looked at once.

    Attributes:
        path: absolute path of the file or folder.
        record_files: names of the files that hold records, relative to the folder, in reading order.
        skipped_files: (name, reason) of the files that are no records.
    """

    path: Path
    record_files: tuple[str, ...]
    skipped_files: tuple[tuple[str, str], ...] = ()
    abstract_origin: str = "source"

    @property
    def name(self) -> str:
        return f"snapshot:{self.path.as_posix()}"

    @property
    def folder(self) -> Path:
        return self.path if self.path.is_dir() else self.path.parent

    def files(self) -> list[SourceFile]:
        """Every file that is read, with its SHA-256."""
        return [describe_file(self.folder / name, self.folder) for name in self.record_files]

    def read(self, name: str) -> Iterator[RawBatch]:
        """The records of one of `record_files`, in file order."""
        return read_records(self.folder / name, name)


def open_snapshot(path: Path) -> Snapshot:
    """Look at a snapshot; files of a folder that hold no `id` and `title` are named as skipped.

    Raises:
        NotFound: there is no such file or folder, or no file with records in it.
        BadInput: a single file is no JSONL, JSONL.gz or Parquet, or holds no `id` and `title`.
    """
    path = path.expanduser().resolve()
    if path.is_file():
        if not path.name.endswith((".jsonl", ".jsonl.gz", ".parquet")):
            raise BadInput(
                "a snapshot is a .jsonl, .jsonl.gz or .parquet file, or a folder of them",
                which=str(path),
                advice="The arXiv metadata snapshot is JSON lines: give it the ending .jsonl.",
            )
        if reason := _why_no_records(path):
            raise BadInput(f"the file is no snapshot: {reason}", which=str(path))
        return Snapshot(path, (path.name,))
    if not path.is_dir():
        raise NotFound("there is no snapshot", which=str(path), advice="Give snapshot:PATH of a file or a folder.")
    found = sorted({p for pattern in _PATTERNS for p in path.glob(pattern) if p.is_file()})
    reasons = {p.name: _why_no_records(p) for p in found}
    kept = tuple(name for name, reason in reasons.items() if not reason)
    skipped = tuple((name, reason) for name, reason in reasons.items() if reason)
    if not kept:
        told = "; ".join(f"{name}: {reason}" for name, reason in skipped) or "none is there"
        raise NotFound(
            "the folder has no papers_*.parquet, *.jsonl or *.jsonl.gz with `id` and `title`",
            which=f"{path} ({told})",
        )
    return Snapshot(path, kept, skipped)


def _why_no_records(path: Path) -> str:
    """Why a file is another data set than records of papers, or "". What cannot be opened is read, and then told."""
    if path.name.endswith(".parquet"):
        try:
            names = pq.read_schema(path).names
        except (OSError, pa.ArrowException):
            return ""
        return _missing(names)
    keys: set[str] = set()
    for item in islice(lines(path, path.name), _LOOKED_AT):
        if isinstance(item, Failure):
            return ""
        try:
            found = orjson.loads(item[1])
        except orjson.JSONDecodeError:
            continue
        if isinstance(found, dict):
            keys |= found.keys()
            if not _missing(keys):
                return ""
    return _missing(keys) if keys else "" if path.stat().st_size == 0 else "no line of it is a JSON object"


def _missing(names) -> str:
    lacking = [name for name in ("id", "title") if name not in names]
    return f"holds no {' and no '.join(lacking)}" if lacking else ""
