"""The `mirror:` source: a folder with metadata, PDFs and, optionally, citations and outlines.

Layout: `metadata.jsonl[.gz]` or `metadata*.parquet`; `pdf/<id with _ for />v<n>.pdf`; optionally
`citations.jsonl[.gz]`, `outlines.jsonl[.gz]`, `mirror.json` (`name`, `abstract_origin`). The mirror is read,
never written.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ingestion.errors import BadInput, NotFound
from ingestion.identity import UnreadableId, paper_id_from_file_name
from ingestion.records import RawBatch, SourceFile, describe_file, read_records

ABSTRACT_ORIGINS = ("source", "summary by the project")


@dataclass(frozen=True)
class Mirror:
    """A local mirror, opened and looked at once.

    Attributes:
        folder: absolute path of the mirror.
        abstract_origin: whose words the abstracts are.
        metadata: metadata files.
        citations, outlines: side data files, where present.
    """

    folder: Path
    abstract_origin: str
    metadata: tuple[Path, ...]
    citations: Path | None
    outlines: Path | None

    @property
    def name(self) -> str:
        """Two mirrors are two sources even if they call themselves alike, so the folder names the source."""
        return f"mirror:{self.folder.as_posix()}"

    def files(self) -> list[SourceFile]:
        """Every file that is read, with its SHA-256."""
        present = [*self.metadata, *(p for p in (self.citations, self.outlines) if p)]
        return [describe_file(path, self.folder) for path in present]

    def papers_with_files(self) -> dict[str, list[str]]:
        """Paper id → names of its PDFs, and under "" the files whose name is no paper id."""
        found: dict[str, list[str]] = {}
        for path in sorted((self.folder / "pdf").glob("*.pdf")):
            try:
                key = paper_id_from_file_name(path.name).value
            except UnreadableId:
                key = ""
            found.setdefault(key, []).append(f"pdf/{path.name}")
        return found

    @property
    def record_files(self) -> tuple[str, ...]:
        """Names of the metadata files, in reading order."""
        return tuple(path.relative_to(self.folder).as_posix() for path in self.metadata)

    def read(self, name: str) -> Iterator[RawBatch]:
        """The records of one of `record_files`, in file order."""
        return read_records(self.folder / name, name)


def open_mirror(folder: Path) -> Mirror:
    """Look at a mirror folder.

    Raises:
        NotFound: no such folder, or no metadata in it.
        BadInput: `mirror.json` cannot be read, or names an unknown `abstract_origin`.
    """
    folder = folder.expanduser().resolve()
    if not folder.is_dir():
        raise NotFound("there is no mirror folder", which=str(folder), advice="Give mirror:PATH of an existing folder.")
    lines = [p for n in ("metadata.jsonl", "metadata.jsonl.gz") if (p := folder / n).is_file()]
    tables = sorted(p for p in folder.glob("metadata*.parquet") if p.is_file())
    if len(lines) + bool(tables) > 1:
        raise BadInput(
            "a mirror has its metadata twice",
            which=", ".join(p.name for p in (*lines, *tables)),
            advice=f"Keep one of them in {folder}.",
        )
    metadata = lines or tables
    if not metadata:
        raise NotFound("a mirror needs metadata.jsonl, metadata.jsonl.gz or metadata*.parquet", which=str(folder))
    return Mirror(
        folder, _abstract_origin(folder), tuple(metadata), _side(folder, "citations"), _side(folder, "outlines")
    )


def _abstract_origin(folder: Path) -> str:
    path = folder / "mirror.json"
    if not path.is_file():
        return "source"
    try:
        origin = json.loads(path.read_text(encoding="utf-8")).get("abstract_origin", "source")
    except (ValueError, AttributeError) as error:
        raise BadInput("mirror.json is not a JSON object", which=str(path), advice=str(error)) from error
    if origin not in ABSTRACT_ORIGINS:
        raise BadInput(
            "mirror.json names an unknown abstract_origin", which=str(origin), advice=f"Use one of {ABSTRACT_ORIGINS}."
        )
    return origin


def _side(folder: Path, stem: str) -> Path | None:
    return next((p for n in (f"{stem}.jsonl", f"{stem}.jsonl.gz") if (p := folder / n).is_file()), None)
