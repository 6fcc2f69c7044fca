"""A reference list into its entries, from text alone.

Here: where each entry begins, in lists with labels ("[1]", "1.", "[Lew20]") and without, on one line, in paragraphs
that hold half an entry or two. Not here: finding the list in a document, and what an entry says (`fields`). What cannot
be split is reported as such; it never counts as a list without entries.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from ingestion.documents.values import ReferencesStatus, ReferenceText
from ingestion.references.boundaries import (
    begins_entry,
    continues_entry,
    is_complete,
    is_furniture,
    is_open,
    unlabelled_starts,
)
from ingestion.references.labels import Label, find_labels
from ingestion.references.letters import repaired

_BULLET = re.compile(r"^\s*(?:[-*+•◦▪–]\s+|\\item\s+)")
_HEADING = re.compile(r"^[#*\s\d.]*(?:references?|bibliography|works cited|literature cited|literature)[*\s.:]*$", re.I)
_YEAR = re.compile(r"\b(?:1[89]|20)\d\d[a-z]?\b")
_SEAM = 100  # characters; no word is longer
_LONG = 1000  # characters; longer entries are author lists, which hold one year or two


@dataclass(frozen=True)
class SplitEntry:
    """An entry and where it was found.

    Attributes:
        paragraph: index of the input paragraph (or line) it starts in.
    """

    reference: ReferenceText
    paragraph: int


@dataclass(frozen=True)
class SplitList:
    """A reference list in entries; none unless `status` is `parsed`."""

    entries: tuple[SplitEntry, ...]
    status: ReferencesStatus

    @property
    def references(self) -> tuple[ReferenceText, ...]:
        return tuple(entry.reference for entry in self.entries)


@dataclass(frozen=True)
class _Piece:
    label: str
    text: str
    paragraph: int


def split_entries(lines: Sequence[str] | str) -> SplitList:
    """The entries of a reference list.

    Args:
        lines: the list's paragraphs in reading order, or its text. In a text every line is a paragraph, but where blank
            lines stand, they part the paragraphs. Paragraphs need not be entries: one may hold several, or a part.

    Returns:
        Entries in order. `missing` where there is no text (a heading alone is none); `unparsed` where the text cannot
        be told into entries. A sentence or heading among the entries becomes an entry of its own, which `fields`
        then marks as no reference; page numbers and running lines are left out.
    """
    paragraphs = _paragraphs(lines)
    texts = [(i, _BULLET.sub("", p)) for i, p in enumerate(paragraphs)]
    texts = [(i, repaired(t)) for i, t in texts if t.strip() and not _HEADING.match(t) and not is_furniture(t)]
    if not texts:
        return SplitList((), "missing")
    pieces = _labelled(texts) or _unlabelled(texts)
    pieces = [p for p in pieces if any(c.isalnum() for c in p.text)]
    if not _is_plausible(pieces):
        return SplitList((), "unparsed")
    return SplitList(tuple(SplitEntry(ReferenceText(p.label, p.text), p.paragraph) for p in pieces), "parsed")


def _paragraphs(lines: Sequence[str] | str) -> list[str]:
    if not isinstance(lines, str):
        return list(lines)
    if re.search(r"\S\s*\n\s*\n\s*\S", lines):
        return [" ".join(block.split("\n")) for block in re.split(r"\n\s*\n", lines)]
    return lines.split("\n")


def _labelled(texts: list[tuple[int, str]]) -> list[_Piece]:
    """Pieces of a list with labels; [] where it has none."""
    labels = find_labels([text for _, text in texts])
    if not labels:
        return []
    by_paragraph: dict[int, list[Label]] = defaultdict(list)
    for label in labels:
        by_paragraph[label.paragraph].append(label)
    pieces: list[_Piece] = []
    for number, (index, text) in enumerate(texts):
        here = by_paragraph[number]
        head = text[: here[0].start].strip() if here else text
        if head:
            _add_head(pieces, head, index)
        ends = [label.start for label in here[1:]] + [len(text)]
        for label, end in zip(here, ends[: len(here)], strict=True):
            pieces.append(_Piece(label.label, text[label.end : end].strip(), index))
    return pieces


def _add_head(pieces: list[_Piece], head: str, index: int) -> None:
    """What stands before a paragraph's first label: mostly the rest of the entry before."""
    last = pieces[-1] if pieces else None
    if last is None or (is_complete(last.text) and not continues_entry(head)):
        pieces.append(_Piece("", head, index))
    else:
        pieces[-1] = _Piece(last.label, _continued(last.text, head), last.paragraph)


def _continued(text: str, rest: str) -> str:
    """Both in one, repaired where they meet; each for itself has been."""
    seam = text.rfind(" ", 0, max(0, len(text) - _SEAM)) + 1
    return text[:seam] + repaired(f"{text[seam:]} {rest}")


def _unlabelled(texts: list[tuple[int, str]]) -> list[_Piece]:
    pieces: list[_Piece] = []
    for index, text in texts:
        starts = unlabelled_starts(text)
        for number, (start, end) in enumerate(zip(starts, [*starts[1:], len(text)], strict=True)):
            part = text[start:end].strip()
            last = pieces[-1] if pieces else None
            is_rest = (
                number == 0
                and last is not None
                and (continues_entry(part) or is_open(last.text) or not (begins_entry(part) or is_complete(last.text)))
            )
            if is_rest:
                pieces[-1] = _Piece("", _continued(last.text, part), last.paragraph)
            else:
                pieces.append(_Piece("", part, index))
    return pieces


def _is_plausible(pieces: list[_Piece]) -> bool:
    """Whether this looks like entries: most with a year or an author list, and little text that holds many at once."""
    if not pieces:
        return False
    years = [len(_YEAR.findall(p.text)) for p in pieces]
    unsplit = sum(len(p.text) for p, n in zip(pieces, years, strict=True) if len(p.text) > _LONG and n >= 6)
    entry_like = sum(n > 0 or begins_entry(p.text) for p, n in zip(pieces, years, strict=True))
    return entry_like * 2 >= len(pieces) and unsplit * 4 <= sum(len(p.text) for p in pieces)
