"""Citation marks in running text, and the entries they point to.

Here: numbers and labels in brackets, authors with years; the sentence around a mark. Not here: the reference list, and
superscript numbers, which plain text does not tell from exponents and footnotes. A mark that could mean two entries is
found but not linked; "(?)" and "[?]" are no marks.
"""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from ingestion.comparison import author_key
from ingestion.references.fields import ReferenceFields
from ingestion.references.letters import LOWER, UPPER
from ingestion.sentences import split

MarkStyle = Literal["number", "label", "author_year"]

_LONGEST_RANGE = 40
_RESERVED = re.compile(
    r"```.*?```|~~~.*?~~~|`[^`\n]+`|\$\$.*?\$\$|\$(?!\s)[^$\n]{1,300}?(?<!\s)\$|\\\[.{0,2000}?\\\]|\\\(.{0,300}?\\\)"
    r"|!?\[[^\[\]\n]*\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:\s+\"[^\"\n]*\")?\)|<https?://[^>\s]+>|https?://\S+",
    re.S,
)
_DASH = "\\-\u2010\u2011\u2012\u2013\u2014"
_GAP = r"\s{0,4}"
_NUMBERS = re.compile(
    rf"\[{_GAP}(\d{{1,4}}(?:{_GAP}(?:[,;{_DASH}]|,?{_GAP}and){_GAP}\d{{1,4}})*){_GAP}(?:,{_GAP}[A-Za-z§][^\[\]]{{0,60}})?\]"
)
_LABELS = re.compile(rf"\[\s*([{UPPER}][^\[\]]{{1,160}}?)\s*\]")
# An interval or an index, not a citation: "in [0, 1]", "x ∈ [1, 2]", "a[3]", "the range [2, 5]".
_MATH_BEFORE = re.compile(
    r"(?:[∈=<>≤≥×⊂⊆∪±+*/^_∼≈→|]|\b(?:interval|intervals|range|between|values? in|lies in|domain))\s*\Z"
)
_GLUED = re.compile(r"[\w)}\]]\Z")

_YEAR = r"(?:1[89]|20)\d\d"
_YEARS = rf"{_YEAR}(?:\s?[a-z](?![a-z]))?(?:\s*,\s*(?:{_YEAR}\s?[a-z]?(?![a-z])|[a-z](?![a-z])))*"
_PARTICLE = r"(?:(?:van|von|de|der|den|del|della|di|da|du|la|le|el|al|ten|ter|Van|Von|De|Den|Der|Le|La)\s+){0,4}"
_SURNAME = rf"{_PARTICLE}(?:[{LOWER}]['’])?[{UPPER}][{UPPER}{LOWER}'’\-\u2010\u2011]*(?:\s[{UPPER}][{UPPER}{LOWER}'’\-\u2010\u2011]+){{0,2}}?"
_AUTHORS = rf"(?P<first>{_SURNAME})(?:(?P<more>,?\s+et\s+al\.?)|(?:,\s+{_SURNAME}){{0,8}},?\s+(?:and|&)\s+(?P<second>{_SURNAME}))?"
_IN_TEXT = re.compile(
    rf"(?<![{UPPER}{LOWER}\d-]){_AUTHORS}(?:[’']s)?,?\s*[(\[]\s*(?P<years>{_YEARS})(?:\s*,\s*[^()\[\];]{{1,40}})?\s*[)\]]"
)
_PARENTHESIS = re.compile(r"[(\[]([^()\[\]]{4,2000})[)\]]")
_HAS_YEAR = re.compile(rf"\b{_YEAR}")
_PART = re.compile(rf"(?:^|[\s,(]){_AUTHORS}(?:[’']s)?\s*,?\s*[(]?(?P<years>{_YEARS})")


@dataclass(frozen=True)
class Mark:
    """A citation mark.

    Attributes:
        start, end: characters [start, end) of the text.
        entries: positions in the list of entries, in the order the mark names them; () where it could not be linked.
    """

    start: int
    end: int
    entries: tuple[int, ...]
    style: MarkStyle


@dataclass(frozen=True)
class Context:
    """The sentence around a mark.

    Attributes:
        start, end: characters [start, end) of the text.
        entries: what the sentence's marks point to, each once.
    """

    start: int
    end: int
    text: str
    entries: tuple[int, ...]


def find_marks(text: str, entries: Sequence[ReferenceFields], excluded: Sequence[tuple[int, int]] = ()) -> list[Mark]:
    """The citation marks of a text, in order.

    Args:
        text: plain text or Markdown; math, code and links in it are passed over.
        entries: the document's reference list, in order.
        excluded: character ranges that hold no marks: the reference list itself, whose labels look like them.

    Numbers count only where every one of them is a label of the list: "[0, 1]" is an interval. An author-year mark that
    fits several entries, or none, has no entries. In a list without numbers, numbers are no marks.
    """
    reserved = _merged([*(m.span() for m in _RESERVED.finditer(text)), *excluded])
    starts = [start for start, _ in reserved]
    index = _Index(entries)
    found: list[Mark] = []
    if index.has_numbers:
        found += _number_marks(text, index)
    if index.has_labels:
        found += _label_marks(text, index)
    found += _author_year_marks(text, index)
    # Merged ranges rise in start and end: only the last that begins before a mark's end can reach into it.
    before = ((mark, bisect_left(starts, mark.end)) for mark in found)
    return _without_overlaps([mark for mark, count in before if not count or reserved[count - 1][1] <= mark.start])


def _merged(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The same characters in spans that rise and do not overlap; empty spans go."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        elif start < end:
            merged.append((start, end))
    return merged


def contexts(text: str, marks: Sequence[Mark]) -> list[Context]:
    """The sentences that hold linked marks, in order, each once; of a table, the row."""
    found: dict[tuple[int, int], list[int]] = {}
    spans = split(text) if any(m.entries for m in marks) else []
    starts = [start for start, _ in spans]
    for mark in sorted(marks, key=lambda m: m.start):
        place = bisect_right(starts, mark.start) - 1
        if not mark.entries or place < 0 or spans[place][1] <= mark.start:
            continue
        found.setdefault(_row(text, mark, spans[place]), []).extend(mark.entries)
    return [Context(a, b, text[a:b], tuple(dict.fromkeys(entries))) for (a, b), entries in found.items()]


def _row(text: str, mark: Mark, span: tuple[int, int]) -> tuple[int, int]:
    start = text.rfind("\n", 0, mark.start) + 1
    if not text.startswith("|", start):
        return span
    end = text.find("\n", mark.end)
    return start, len(text) if end < 0 else end


class _Index:
    """Entries by label, and by first surname and year."""

    def __init__(self, entries: Sequence[ReferenceFields]) -> None:
        self.entries = entries
        self.by_label: dict[str, list[int]] = defaultdict(list)
        self.by_author: dict[tuple[str, int], list[int]] = defaultdict(list)
        for position, entry in enumerate(entries):
            if entry.label:
                self.by_label[_label_key(entry.label)].append(position)
            if entry.authors and entry.year is not None:
                surname = entry.authors[0].surname
                for key in {author_key(surname), author_key(surname.split()[-1])}:
                    self.by_author[key, entry.year].append(position)
        self.has_numbers = any(label.isdigit() for label in self.by_label)
        self.has_labels = any(not label.isdigit() for label in self.by_label)

    def labelled(self, label: str) -> int | None:
        positions = self.by_label.get(_label_key(label), ())
        return positions[0] if len(positions) == 1 else None

    def named(self, first: str, second: str | None, has_more: bool, year: int, suffix: str) -> int | None:
        """The one entry by these authors of this year; None where there are several or none."""
        found = self.by_author.get((author_key(first), year)) or self.by_author.get(
            (author_key(first.split()[-1]), year), []
        )
        if suffix and (exact := [p for p in found if self.entries[p].year_suffix == suffix]):
            found = exact
        if len(found) > 1:
            if has_more:  # "et al." stands for two or more, so a list of two is the second choice
                found = [
                    p for p in found if len(self.entries[p].authors) > 2 or self.entries[p].has_more_authors
                ] or found
            found = [p for p in found if self._fits(p, second, has_more)]
        elif found and second and not self._fits(found[0], second, has_more):
            return None
        return found[0] if len(found) == 1 else None

    def _fits(self, position: int, second: str | None, has_more: bool) -> bool:
        authors = self.entries[position].authors
        others = {author_key(a.surname) for a in authors[1:]} | {author_key(a.surname.split()[-1]) for a in authors[1:]}
        if second:
            return author_key(second) in others or author_key(second.split()[-1]) in others
        return len(authors) > 1 or self.entries[position].has_more_authors if has_more else len(authors) == 1


def _number_marks(text: str, index: _Index) -> list[Mark]:
    found = []
    for match in _NUMBERS.finditer(text):
        positions = _expanded(match[1], index.labelled)
        if positions and not _MATH_BEFORE.search(text[max(0, match.start() - 24) : match.start()]):
            found.append(Mark(match.start(), match.end(), positions, "number"))
    # "model[12]" is a citation only in texts that never set it off; elsewhere it is an index.
    spaced = [m for m in found if not _GLUED.search(text[max(0, m.start - 1) : m.start]) or text[m.start - 1] == "]"]
    return spaced if spaced else found


def _expanded(numbers: str, entry_of: Callable[[str], int | None]) -> tuple[int, ...]:
    """The entries of "3, 5–7"; () if one number is no label."""
    positions: list[int] = []
    for part in re.split(r"\s*(?:[,;]|\band\b)\s*", numbers):
        if not part:
            continue
        ends = [int(n) for n in re.split(rf"\s*[{_DASH}]\s*", part)]
        if any(b <= a or b - a > _LONGEST_RANGE for a, b in pairwise(ends)):
            return ()
        for number in range(ends[0], ends[-1] + 1):
            if (position := entry_of(str(number))) is None:
                return ()
            positions.append(position)
    return tuple(dict.fromkeys(positions))


def _label_marks(text: str, index: _Index) -> list[Mark]:
    found = []
    for match in _LABELS.finditer(text):
        labels = [part for part in re.split(r"\s*[,;]\s*", match[1]) if part]
        positions = [index.labelled(label) for label in labels]
        if (whole := index.labelled(match[1])) is not None:
            positions = [whole]
        if positions and all(p is not None for p in positions):
            found.append(
                Mark(match.start(), match.end(), tuple(dict.fromkeys(p for p in positions if p is not None)), "label")
            )
    return found


def _author_year_marks(text: str, index: _Index) -> list[Mark]:
    if not index.by_author:
        return []
    found = [
        Mark(m.start(), m.end(), _named(index, m), "author_year")
        for m in _IN_TEXT.finditer(text)
        if _is_known(index, m)
    ]
    for match in _PARENTHESIS.finditer(text):
        if not _HAS_YEAR.search(match[1]):
            continue
        named = [known for part in match[1].split(";") if (known := _named_in(index, part)) is not None]
        if named:
            positions = tuple(dict.fromkeys(position for part in named for position in part))
            found.append(Mark(match.start(), match.end(), positions, "author_year"))
    return found


def _named_in(index: _Index, part: str) -> tuple[int, ...] | None:
    """The entries that a part of a parenthesis names; None where it names no authors."""
    known = None
    # "(Long Short-Term Memory, Hochreiter and Schmidhuber, 1997)": the names may begin after a comma.
    for start in (0, *(m.end() - 1 for m in re.finditer(r",\s", part[:200]))):
        if (match := _PART.search(part, start)) and _is_known(index, match):
            known = _named(index, match)
            if known:
                return known
    return known


def _is_known(index: _Index, match: re.Match[str]) -> bool:
    """Written like a citation: several authors, or a surname of the list ("in May 2019" is none)."""
    if match["more"] or match["second"]:
        return True
    years = [int(y) for y in re.findall(_YEAR, match["years"])]
    first = _bare(match["first"])
    return any((author_key(name), year) in index.by_author for name in (first, first.split()[-1]) for year in years)


def _named(index: _Index, match: re.Match[str]) -> tuple[int, ...]:
    positions: list[int] = []
    year = 0
    for number, suffix, alone in re.findall(rf"({_YEAR})\s?([a-z])?(?![a-z])|\b([a-z])\b", match["years"]):
        year = int(number) if number else year
        position = index.named(_bare(match["first"]), match["second"], bool(match["more"]), year, suffix or alone)
        if position is not None:
            positions.append(position)
    return tuple(dict.fromkeys(positions))


def _bare(surname: str) -> str:
    return re.sub(r"[’']s\Z", "", surname)  # "Noether's (1918) theorem"


def _without_overlaps(marks: list[Mark]) -> list[Mark]:
    """In order; of two that overlap, the one that is linked, else the longer."""
    kept: list[Mark] = []
    for mark in sorted(marks, key=lambda m: (m.start, -len(m.entries), m.start - m.end)):
        if kept and mark.start < kept[-1].end:
            if mark.entries and not kept[-1].entries:
                kept[-1] = mark
            continue
        kept.append(mark)
    return kept


def _label_key(label: str) -> str:
    return re.sub(r"[\s.]+", "", label).casefold()
