"""Retrievable passages of a document: exact spans of its text, sized for the embedder.

Belongs here: cutting the text of a `Document` and naming the pieces. Not here: how the text was made
(`ingestion.documents`), and how passages are embedded and searched (`indexes`).
"""

import hashlib
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from ingestion.documents.values import Document, Part, Section
from ingestion.sentences import LIST_MARKER, split

PassageKind = Literal["prose", "caption", "table", "fragment"]
"""`fragment`: prose with too little in it to be found or quoted ("where", "(3)", the authors' names above the first
heading); kept, so that no text of a paper is missing from its passages, but neither embedded nor shown to a writer."""

LIMIT = 126
"""Word pieces: the embedder cuts at 128, its first and last mark included."""

SHORTEST = 5
"""Words with a letter that prose needs; before the first heading, where names and addresses stand, in a sentence."""

_PROSE = ("paragraph", "list")
_KINDS: dict[str, PassageKind] = {"paragraph": "prose", "list": "prose", "caption": "caption", "table": "table"}
_WORD = re.compile(r"[\u3040-\u9fff]|\S*[^\W\d_]\S*")  # Chinese and Japanese set no blanks between words
_LETTER = re.compile(r"[^\W\d_]")
# Where a sentence may be cut, best first; the last is between any two words.
_CLAUSES = (
    re.compile(r"(?<=[;:])\s+|(?<=[。；：！？])"),
    re.compile(r"(?<=,)\s+|\s+(?=[(–—])|(?<=[，、])"),
    re.compile(r"\s+"),
)
Span = tuple[int, int]


@dataclass(frozen=True)
class Passage:
    """A passage of a document.

    Attributes:
        position: from 1, in reading order over all kinds.
        section: index into `Document.sections`; None where the part lies in none.
        section_number: as printed, None for unnumbered headings.
        section_path: headings from the outermost section to its own.
        page: where it begins, from 1; None where unknown.
        start, end: characters [start, end) of `Document.markdown`.
        text: those characters; begins and ends with no blank.
    """

    position: int
    section: int | None
    section_number: str | None
    section_path: tuple[str, ...]
    kind: PassageKind
    page: int | None
    start: int
    end: int
    text: str


def passages_of(document: Document, count_tokens: Callable[[str], int], limit: int = LIMIT) -> list[Passage]:
    """The passages of a document, in reading order.

    Paragraphs and lists are cut at the ends of sentences; a sentence longer than the limit at clauses, else between
    words, never within one. Short paragraphs that follow each other in a section are joined. Every character of them
    but blanks at the ends is in exactly one passage, of kind `prose` or `fragment`. Each caption and each table is a
    passage: a caption is cut like prose, a table is not, since rows without their header say nothing. References,
    equations, code, footnotes and figures are in no passage.

    Args:
        count_tokens: word pieces of a text, without marks; texts joined by a blank have the sum of theirs.
        limit: most word pieces of a passage; a single word that has more is a passage all the same.
    """
    text = document.markdown
    paths = _paths(document.sections)
    found: list[Passage] = []
    for section, parts in _runs(document):
        kind = _KINDS[parts[0].kind]
        begins = [_start(text, part) for part in parts]
        if kind == "table":
            spans: list[Span] = [_trimmed(text, parts[0].start, parts[0].end)]
        else:
            units = [_units(text, part, count_tokens, limit) for part in parts]
            spans = _grouped(text, units, count_tokens, limit)
        for start, end in spans:
            if start == end:
                continue
            page = parts[bisect_right(begins, start) - 1].page
            is_front = section is not None and not document.sections[section].title
            is_fragment = kind == "prose" and not _says_something(text[start:end], is_front)
            found.append(
                Passage(
                    position=len(found) + 1,
                    section=section,
                    section_number=None if section is None else document.sections[section].number,
                    section_path=() if section is None else paths[section],
                    kind="fragment" if is_fragment else kind,
                    page=page,
                    start=start,
                    end=end,
                    text=text[start:end],
                )
            )
    return found


def passage_ids(paper_id: str, sha256: str, passages: Sequence[Passage]) -> list[str]:
    """An id for each passage of a paper's document, in order: `2005.11401/4be0643f1d98573b`.

    The id is made of the file's sha256, the kind and the text, not of the place: a parser that repairs one page moves
    every later span, and editions that quote the other pages must still find what they quoted. Whoever holds an id has
    the very text it was given to, so spans within a passage stay true. Passages of equal text in a document are told
    apart by their order among themselves. 64 bits of hash per paper: no two meet by chance.

    Args:
        sha256: of the document's file; another version of the paper has other passages, also where words are equal.
    """
    seen: Counter[tuple[str, str]] = Counter()
    ids = []
    for passage in passages:
        content = (passage.kind, passage.text)
        seen[content] += 1
        key = "\x1e".join((sha256, *content, str(seen[content])))
        digest = hashlib.blake2b(key.encode(errors="surrogatepass"), digest_size=8).hexdigest()
        ids.append(f"{paper_id}/{digest}")
    return ids


def _says_something(text: str, is_front: bool) -> bool:
    texts = [text[a:b] for a, b in split(text) if text[a:b].endswith((".", "!", "?"))] if is_front else [text]
    return any(len(_WORD.findall(t)) >= SHORTEST for t in texts)


def _paths(sections: Sequence[Section]) -> list[tuple[str, ...]]:
    """The headings above each section and its own."""
    paths: list[tuple[str, ...]] = []
    above: list[tuple[int, str]] = []
    for section in sections:
        above = [(level, title) for level, title in above if level < section.level]
        above.append((section.level, section.title))
        paths.append(tuple(title for _, title in above))
    return paths


def _runs(document: Document) -> Iterator[tuple[int | None, list[Part]]]:
    """Parts that may share passages: prose of one section with nothing but blanks between; others stand alone."""
    starts = [section.start for section in document.sections]
    run: list[Part] = []
    place: int | None = None
    for part in document.parts:
        if part.kind not in _KINDS:
            continue
        at = bisect_right(starts, part.start) - 1
        section = at if at >= 0 and part.end <= document.sections[at].end else None
        is_joined = (
            bool(run)
            and part.kind in _PROSE
            and run[-1].kind in _PROSE
            and section == place
            and not document.markdown[run[-1].end : _start(document.markdown, part)].strip()
        )
        if not is_joined:
            if run:
                yield place, run
            run, place = [], section
        run.append(part)
    if run:
        yield place, run


def _start(text: str, part: Part) -> int:
    """Where a part begins; the marker of a list's item ("- ") belongs to it, also where the part begins behind it."""
    if part.kind != "list":
        return part.start
    line = text.rfind("\n", 0, part.start) + 1
    marker = LIST_MARKER.match(text, line)
    return line if marker and marker.end() == part.start else part.start


def _units(text: str, part: Part, count_tokens: Callable[[str], int], limit: int) -> list[Span]:
    """What is not cut further: sentences, and pieces of those that are too long; together all of the part."""
    offset = _start(text, part)
    body = text[offset : part.end]
    cuts = {start for start, _ in split(body)}
    if part.kind == "list":
        items = list(LIST_MARKER.finditer(body))
        # A marker's stop ends no sentence, so that nothing begins right behind it.
        cuts = {c for c in cuts if not any(i.start() < c <= i.end() for i in items)} | {i.start() for i in items}
    borders = [0, *sorted(c for c in cuts if 0 < c < len(body)), len(body)]
    spans = [_trimmed(text, offset + a, offset + b) for a, b in pairwise(borders)]
    whole: list[Span] = []
    for start, end in spans:
        if start == end:
            continue
        if whole and not (_LETTER.search(text, start, end) and _LETTER.search(text, *whole[-1])):
            whole[-1] = (whole[-1][0], end)  # "1." or "(3)" is no sentence
        else:
            whole.append((start, end))
    return [piece for span in whole for piece in _pieces(text, span, count_tokens, limit)]


def _pieces(text: str, span: Span, count_tokens: Callable[[str], int], limit: int) -> Iterator[Span]:
    """The span, or its two sides cut at the best border near the middle, and so on until they fit."""
    start, end = span
    if count_tokens(text[start:end]) > limit:
        middle, reach = (start + end) / 2, (end - start) / 4
        for level, pattern in enumerate(_CLAUSES, start=1):
            cuts = [m for m in pattern.finditer(text, start, end) if start < m.end() < end and m.start() > start]
            if level < len(_CLAUSES):
                cuts = [m for m in cuts if abs(m.end() - middle) <= reach]
            if cuts:
                cut = min(cuts, key=lambda m: abs(m.end() - middle))
                for side in ((start, cut.start()), (cut.end(), end)):
                    yield from _pieces(text, _trimmed(text, *side), count_tokens, limit)
                return
    yield span


_EACH, _JOIN = 0.2, 0.85  # costs of a passage and of a border of paragraphs within one; see `_grouped`


def _grouped(text: str, parts: Sequence[Sequence[Span]], count_tokens: Callable[[str], int], limit: int) -> list[Span]:
    """Units put together to passages of least cost, by dynamic programming over the run.

    A passage costs its emptiness squared, a little for being one, and something for each border of paragraphs in it.
    So a long paragraph gives passages of like size, and a paragraph is joined to its neighbour only where one of them
    is short: two of 60 word pieces stay apart, two of 30 do not.
    """
    units = [(span, i == 0) for part in parts for i, span in enumerate(part)]
    sizes = [count_tokens(text[start:end]) for (start, end), _ in units]
    best: list[tuple[float, int]] = [(0.0, 0)]
    for stop in range(1, len(units) + 1):
        options = []
        size = borders = 0
        for first in range(stop - 1, -1, -1):
            size += sizes[first]
            if size > limit and first < stop - 1:
                break
            slack = max(0.0, 1 - size / limit)
            options.append((best[first][0] + _EACH + slack**2 + _JOIN * borders, first))
            borders += units[first][1]
        best.append(min(options))
    spans: list[Span] = []
    stop = len(units)
    while stop:
        first = best[stop][1]
        spans.append((units[first][0][0], units[stop - 1][0][1]))
        stop = first
    return spans[::-1]


def _trimmed(text: str, start: int, end: int) -> Span:
    """The span without blanks at its ends."""
    inner = text[start:end]
    start += len(inner) - len(inner.lstrip())
    return start, start + len(inner.strip())
