"""Numeric citation marks of finished surveys: `[3]`, `[1, 3; 5]`, `[3–5]`, and the numbered list they point at.

For surveys that others wrote, and for numbers as our own pages print them; in our drafts only `[@key]` is a citation
(`citations`). Reading only: pure functions of text. Not here: which paper an entry is (`corpus.resolution`).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ingestion.sentences import split

_PART = r"\d{1,4}(?:\s*[-–—−]\s*\d{1,4})?"
_MARK = re.compile(rf"(?<![!\\])\[\s*({_PART}(?:\s*[,;]\s*{_PART})*)\s*\](?!\()")
_CODE = re.compile(r"(`+)(?:.|\n)*?\1|\$[^$\n]+\$")
_LONGEST_RANGE = 100


@dataclass(frozen=True)
class Mark:
    """Marks that stand together, such as `[2][2]`: characters [start, end) of the text, numbers in order, each once."""

    start: int
    end: int
    numbers: tuple[int, ...]


@dataclass(frozen=True)
class Unresolved:
    """A number that points at no entry, with the sentence that cites it."""

    number: int
    sentence: str


@dataclass(frozen=True)
class Resolved:
    """A text whose marks all resolve.

    Attributes:
        text: with marks numbered from 1 without gaps, in order of first citation.
        entries: position (from 0) in the list given of each entry that is cited; the others are left out.
        unresolved: numbers that were taken out.
    """

    text: str
    entries: tuple[int, ...]
    unresolved: tuple[Unresolved, ...] = ()


def marks(text: str, most: int | None = None) -> tuple[Mark, ...]:
    """All numeric marks in order; what stands in code, math or link text is none.

    A range counts as its numbers: `[3-5]` is 3, 4, 5. Years in brackets are marks only where the list is that long.

    Args:
        most: entries of the list, so that `[0, 1]` beside two entries, or a year, is no mark; None where it is unknown.
    """
    covered = [match.span() for match in _CODE.finditer(text)]
    found: list[Mark] = []
    for match in _MARK.finditer(text):
        if any(start < match.end() and match.start() < end for start, end in covered):
            continue
        numbers = _numbers(match.group(1))
        if not numbers or 0 in numbers or (most is not None and min(numbers) > max(most, 1) * 2 and min(numbers) > 999):
            continue
        if found and not text[found[-1].end : match.start()].strip():
            last = found.pop()
            found.append(Mark(last.start, match.end(), tuple(dict.fromkeys([*last.numbers, *numbers]))))
        else:
            found.append(Mark(match.start(), match.end(), numbers))
    return tuple(found)


def resolved(text: str, entries: Sequence[object]) -> Resolved:
    """The text with every mark resolved against a numbered list.

    Numbers without an entry are taken out and told with their sentence; entries that nothing cites are left out.

    Args:
        entries: the list, number 1 first.
    """
    order: dict[int, int] = {}
    gone: list[Unresolved] = []
    sentences = split(text)
    parts, at = [], 0
    for mark in marks(text, len(entries)):
        known = [n for n in mark.numbers if 1 <= n <= len(entries)]
        told = next((text[s:e].strip() for s, e in sentences if s <= mark.start < e), text.strip())
        gone += [Unresolved(n, told) for n in mark.numbers if n not in known]
        new = sorted(order.setdefault(n, len(order) + 1) for n in known)
        before = text[at : mark.start]
        parts += [before if new else before.rstrip(" "), f"[{', '.join(map(str, new))}]" if new else ""]
        at = mark.end
    return Resolved("".join([*parts, text[at:]]), tuple(n - 1 for n in order), tuple(gone))


def _numbers(inside: str) -> tuple[int, ...]:
    found: dict[int, None] = {}
    for part in re.split(r"[,;]", inside):
        first, *last = (int(n) for n in re.findall(r"\d+", part))
        end = last[0] if last else first
        if not first <= end <= first + _LONGEST_RANGE:
            return ()
        found |= dict.fromkeys(range(first, end + 1))
    return tuple(found)
