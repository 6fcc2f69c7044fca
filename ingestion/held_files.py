"""The files that sources hold of papers: which versions, where, how large. Nothing is opened.

Belongs here: finding files by the papers they are of. Not here: what is in them (`ingestion.documents`), and which of
several is read (`corpus.documents`).
"""

import os
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from ingestion.identity import UnreadableId, paper_id_from_file_name, parse_paper_id

_STEM = re.compile(r"^(?P<stem>.+?)(?:v[1-9]\d{0,3})?\.pdf$", re.IGNORECASE)


@dataclass(frozen=True)
class HeldFile:
    """A file of a paper.

    Attributes:
        version: of the paper, from the file's name; None where it names none.
        source: e.g. `mirror:PATH`.
        path: where it lies now.
        file: its name relative to the source.
        size_bytes, modified_at: as the file system gives them; they tell whether it must be looked at again.
    """

    paper_id: str
    version: int | None
    source: str
    path: Path
    file: str
    size_bytes: int
    modified_at: datetime


@dataclass(frozen=True)
class Unreachable:
    """A source whose files cannot be listed, with the reason."""

    source: str
    reason: str


def held_files(
    sources: Iterable[str], paper_ids: Collection[str]
) -> tuple[dict[str, list[HeldFile]], list[Unreachable]]:
    """Paper id → its files in these sources, in no order; and the sources that cannot be looked at.

    One listing of a source's folder serves all papers: 700,000 names take about a second, a look-up by pattern for
    each paper would take that long for each.

    Args:
        sources: names as in `harvests`; only mirrors hold files.
        paper_ids: canonical ids.
    """
    wanted = {stem: paper_id for paper_id in paper_ids for stem in _stems(paper_id)}
    found: dict[str, list[HeldFile]] = {}
    unreachable: list[Unreachable] = []
    for source in sorted(set(sources)):
        kind, _, place = source.partition(":")
        if kind != "mirror":
            continue
        folder = Path(place)
        if not folder.is_dir():
            unreachable.append(Unreachable(source, "the folder is not there"))
            continue
        try:
            for held in _in_folder(source, folder, wanted):
                found.setdefault(held.paper_id, []).append(held)
        except OSError as error:
            unreachable.append(Unreachable(source, str(error)))
    return found, unreachable


def _in_folder(source: str, folder: Path, wanted: dict[str, str]) -> Iterable[HeldFile]:
    pdf = folder / "pdf"
    if not pdf.is_dir():
        return
    with os.scandir(pdf) as entries:
        for entry in entries:
            match = _STEM.match(entry.name)
            if not match or match["stem"] not in wanted:
                continue
            try:
                paper = paper_id_from_file_name(entry.name)
            except UnreadableId:
                continue
            if paper.value != wanted[match["stem"]]:
                continue
            try:
                if not entry.is_file():
                    continue
                facts = entry.stat()
                changed = datetime.fromtimestamp(facts.st_mtime, UTC)
            except (OSError, ValueError, OverflowError):
                continue  # gone since it was listed, a link in a circle, a time no calendar has: none is a file to read
            path = Path(entry.path)
            yield HeldFile(paper.value, paper.version, source, path, f"pdf/{entry.name}", facts.st_size, changed)


def _stems(paper_id: str) -> tuple[str, ...]:
    """File stems of a paper without version: ours, and arXiv's own of old ids ("hep-th9901001")."""
    own = parse_paper_id(paper_id).file_stem
    return (own, own.replace("_", "")) if re.fullmatch(r"[a-z-]+_\d{7}", own) else (own,)
