"""Places in the blocks that could be numbered headings, each with a weight.

Here: what a single line says for and against being a heading. Not here: whether its number fits among the others (see
`heading_sequence`).
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ingestion.documents.structure.numbering import Numbering, numberings
from ingestion.documents.structure.usual_titles import is_usual_title
from ingestion.documents.values import Block, Destination, Run

# Weights, in headings: how many missing numbers a candidate may cost before it is dropped.
_SEEN_BY_PARSER = 3.0
_BOLD_LINE = 1.5
_BOLD_START = 1.2
_BOLD_INSIDE = 0.8
_INSIDE_HEADING = 1.0
# A line that only its number speaks for: "3.2 Analysis" is taken where it fits, "3 Analysis" only where it fills a gap.
_PLAIN_LINE = -0.5
_PLAIN_DEEPER_LINE = 0.4
_USUAL_TITLE = 2.0
_DESTINATION_THERE = 3.0
_DESTINATION_ELSEWHERE = -3.0

_MOST_WORDS = 25
_MOST_WORDS_PLAIN = 14
_NO_TITLE = re.compile(
    r"[∑∏∫√≤≥≈∈→←∀∃@{}\\]|>>>|://|\bwww\.|\.{4}|(?:\. ){4}|^[^\w(“\"'‘$*]|^\d+(?:[.,]\d+)*%?\s|^(?:and|or|of|to)\s"
)
# Two headings in one line: "3 Method 3.1 Setup".
_INNER_NUMBER = re.compile(r"(?<=\s)(?:\d{1,2}|[A-Z])(?:\.\d{1,2}){1,4}\.?\s+(?=[A-Z])")
_END = re.compile(r"[.:?!)\d]\s*\Z")
_SECTION_NAMES = re.compile(r"(?:sub)*(?:section|appendix|chapter)\.(?P<number>(?:[A-Z]|[IVX]+|\d+)(?:\.\d+)*)")


@dataclass(frozen=True)
class Candidate:
    """A numbered line within a block.

    Attributes:
        block: index of its block.
        start, end: characters of the block's text.
        weight: how much speaks for it, in missing headings.
    """

    block: int
    start: int
    end: int
    numbering: Numbering
    title: str
    weight: float


def candidates(blocks: Sequence[Block], destinations: Sequence[Destination]) -> list[Candidate]:
    """All candidates in reading order; a place that can be read as several numbers gives several."""
    named = section_destinations(destinations)
    found = []
    for index, block in enumerate(blocks):
        if block.kind not in ("heading", "title", "text", "list"):
            continue
        for start, end, weight in _places(block):
            for numbering, title in numberings(block.text[start:end]):
                if not is_title(title) and not (numbering.named and not title):
                    continue
                is_deeper = weight == _PLAIN_LINE and numbering.level > 1 and title[:1].isupper()
                own = _PLAIN_DEEPER_LINE if is_deeper else weight
                usual = _USUAL_TITLE if is_usual_title(title) else 0.0
                support = _support(block, numbering, named)
                found.append(Candidate(index, start, end, numbering, title, own + usual + support))
    return found


def is_title(text: str) -> bool:
    """Words that can be a heading: letters above all, no formula, address, list item or cell of numbers."""
    words = text.split()
    letters = sum(c.isalpha() for c in text)
    return (
        0 < len(words) <= _MOST_WORDS
        and bool(re.search(r"[^\W\d_]{2}", text))
        and letters >= 0.5 * len(text.replace(" ", ""))
        and not _NO_TITLE.search(text)
        and not (len(words) > 12 and text.endswith("."))
        # "Optimality of p = q" has words before its formula, a formula has none.
        and ("=" not in text or bool(re.match(r"(?:[^\W\d_]{2,} ){2}", text)))
    )


def section_destinations(destinations: Sequence[Destination]) -> dict[str, list[Destination]]:
    """Numbers as hyperref writes them ("3.1", "A") with their places."""
    named = defaultdict(list)
    for destination in destinations:
        if match := _SECTION_NAMES.fullmatch(destination.name):
            named[match["number"]].append(destination)
    return named


def is_at(destination: Destination, block: Block) -> bool:
    """The destination lies at the block's upper edge (hyperref puts it up to a line above)."""
    if destination.page != block.page or block.box is None or destination.y is None:
        return False
    left, top, right, bottom = block.box
    if destination.x is not None and not left - 0.1 <= destination.x <= right:
        return False
    return top - 0.04 <= destination.y <= bottom + 0.005


def _places(block: Block) -> Iterator[tuple[int, int, float]]:
    text = block.text
    words = len(text.split())
    if block.kind in ("heading", "title"):
        yield 0, len(text), _SEEN_BY_PARSER
        for match in _INNER_NUMBER.finditer(text):
            yield match.start(), len(text), _INSIDE_HEADING
        return
    spans = bold_spans(block.runs)
    for start, end in spans:
        for match in _INNER_NUMBER.finditer(text, start + 1, end):
            yield match.start(), end, _BOLD_INSIDE
        if start == 0 and end == len(text):
            yield start, end, _BOLD_LINE
        elif start == 0:
            yield start, end, _BOLD_START
        elif _END.search(text, max(0, start - 20), start):
            yield start, end, _BOLD_INSIDE
    is_short = words <= _MOST_WORDS_PLAIN and block.kind == "text"
    if is_short and (0, len(text)) not in spans and not text.rstrip().endswith((".", ",", ";", ":")):
        yield 0, len(text), _PLAIN_LINE


def bold_spans(runs: Sequence[Run]) -> list[tuple[int, int]]:
    """[start, end) of bold stretches; blanks between two bold runs belong to the stretch."""
    spans: list[tuple[int, int]] = []
    at = 0
    joins = False
    for run in runs:
        end = at + len(run.text)
        if "bold" in run.styles and run.text.strip():
            start = at + len(run.text) - len(run.text.lstrip())
            stop = at + len(run.text.rstrip())
            if joins:
                spans[-1] = (spans[-1][0], stop)
            else:
                spans.append((start, stop))
            joins = True
        elif run.text.strip():
            joins = False
        at = end
    return spans


def _support(block: Block, numbering: Numbering, named: dict[str, list[Destination]]) -> float:
    places = named.get(numbering.text) or named.get(".".join(map(str, numbering.components)))
    if not places:
        return 0.0
    if any(is_at(place, block) for place in places):
        return _DESTINATION_THERE
    # A heading at a page's head may have its destination at the foot of the page before.
    if block.page is not None and all(place.page not in (block.page - 1, block.page) for place in places):
        return _DESTINATION_ELSEWHERE
    return 0.0
