"""The headings of a document: numbered ones by their sequence, unnumbered ones by their words.

Here: turning blocks into headings and text. Not here: weighing single lines (`heading_candidates`), the title.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ingestion.documents.structure.heading_candidates import Candidate, bold_spans, candidates, is_title
from ingestion.documents.structure.heading_sequence import chosen
from ingestion.documents.structure.numbering import numberings
from ingestion.documents.structure.usual_titles import is_matter, is_reference_title, is_usual_title
from ingestion.documents.values import Block, Box, Destination, Run


@dataclass(frozen=True)
class Heading:
    """A heading and where it stands.

    Attributes:
        number: as printed without a final stop, None for unnumbered ones.
        level: 1 for sections.
    """

    number: str | None
    title: str
    level: int
    page: int | None = None
    box: Box | None = None


Element = Heading | Block

_DANGLING = re.compile(r"(?:[-–,:]|\b(?:and|or|of|for|with|to|in|on|the|a|an|from|by))$")
_BEFORE_TITLE = re.compile(r"[.?!:)\]]\s*\Z")
_APPENDIX = re.compile(r"(?:appendi|supplement)", re.IGNORECASE)


def with_headings(blocks: Sequence[Block], destinations: Sequence[Destination]) -> list[Element]:
    """Blocks with true headings in their places; what only looked like one is text again, nothing is lost."""
    blocks = _one_block_each(blocks)
    found = chosen(candidates(blocks, destinations))
    by_block: dict[int, list[Candidate]] = {}
    for candidate in found:
        by_block.setdefault(candidate.block, []).append(candidate)
    first = found[0].block if found else None
    is_numbered = len(found) >= 3
    elements: list[Element] = []
    level = 0
    for index, block in enumerate(blocks):
        if here := by_block.get(index):
            elements += _divided(block, here)
            level = here[-1].numbering.level
        elif block.kind not in ("heading", "title"):
            made = _with_usual_titles(block, is_numbered) if block.kind == "text" else [block]
            elements += made
            level = 0 if any(isinstance(element, Heading) for element in made) else level
        elif _is_unnumbered_heading(block, before_first=first is not None and index < first):
            heading = _unnumbered(block, level)
            elements.append(heading)
            level = 0 if heading.level == 1 else level
        elif any(c.isalpha() for c in block.text):
            elements.append(replace(block, kind="text"))
    return elements


def _one_block_each(blocks: Sequence[Block]) -> list[Block]:
    """Headings whose number and title, or whose lines, are blocks of their own, joined."""
    joined: list[Block] = []
    for block in blocks:
        before = joined[-1] if joined else None
        if before and before.kind == "heading" and _goes_on(before, block):
            joined[-1] = replace(before, runs=(*before.runs, Run(" "), *block.runs), box=_around(before.box, block.box))
        else:
            joined.append(block)
    return joined


def _goes_on(heading: Block, block: Block) -> bool:
    text = heading.text.strip()
    is_number = any(not title for _, title in numberings(text)) and not re.fullmatch(r"[A-Z]", text)
    if block.kind == "heading":
        if is_number:
            return True
        if any(n.level > 1 or n.style == "arabic" for n, _ in numberings(block.text)) or is_usual_title(block.text):
            return False
        return (
            bool(numberings(text))
            and _is_next_line(heading, block)
            and (block.text[:1].islower() or bool(_DANGLING.search(text)))
        )
    if block.kind == "text" and bold_spans(block.runs) == [(0, len(block.text))] and _is_next_line(heading, block):
        # The second line of a title that the parser broke.
        return bool(numberings(text)) and (block.text[:1].islower() or bool(_DANGLING.search(text)))
    return (
        block.kind == "text"
        and is_number
        and len(block.text.split()) <= 14
        and is_title(block.text)
        and not block.text.endswith(".")
    )


def _is_next_line(above: Block, below: Block) -> bool:
    if above.box is None or below.box is None or above.page != below.page:
        return above.box is None and below.box is None
    height = above.box[3] - above.box[1]
    return -0.5 * height <= below.box[1] - above.box[3] <= height and abs(above.box[0] - below.box[0]) < 0.1


def _around(one: Box | None, other: Box | None) -> Box | None:
    if one is None or other is None:
        return one or other
    return min(one[0], other[0]), min(one[1], other[1]), max(one[2], other[2]), max(one[3], other[3])


def _divided(block: Block, found: Sequence[Candidate]) -> list[Element]:
    """A block's text with the headings in it taken out; each ends at its own end or where the next begins."""
    elements: list[Element] = []
    at = 0
    for candidate, after in zip(found, [*found[1:], None], strict=True):
        end = min(candidate.end, after.start) if after else candidate.end
        if before := cut(block.runs, at, candidate.start):
            elements.append(replace(block, kind="text", runs=before))
        title = candidate.title
        if end < candidate.end:
            title = title[: len(title) - (candidate.end - end)].rstrip()
        number = candidate.numbering
        elements.append(Heading(number.text, title.strip(), number.level, block.page, block.box))
        at = end
    if rest := cut(block.runs, at, len(block.text)):
        elements.append(replace(block, kind="text", runs=rest, continues=False))
    return elements


def cut(runs: Sequence[Run], start: int, end: int) -> tuple[Run, ...]:
    """The characters [start, end) of `runs`, without blanks around them; () where nothing is left."""
    kept = []
    at = 0
    for run in runs:
        if at >= end:
            break
        piece = run.text[max(start - at, 0) : end - at]
        if piece:
            kept.append(replace(run, text=piece))
        at += len(run.text)
    filled = [place for place, run in enumerate(kept) if run.text.strip()]
    kept = kept[filled[0] : filled[-1] + 1] if filled else []
    if kept:
        kept[0] = replace(kept[0], text=kept[0].text.lstrip())
        kept[-1] = replace(kept[-1], text=kept[-1].text.rstrip())
    return tuple(kept)


def _with_usual_titles(block: Block, is_numbered: bool) -> list[Element]:
    """Words like "References" that head a part, alone in a block, or bold at a paragraph's start or end.

    Among numbered sections only front and back matter goes without a number; "Results" in bold is a run-in title or a
    cell there.
    """
    text = block.text
    is_usual = is_matter if is_numbered else is_usual_title
    bold = bold_spans(block.runs)
    alone = text.isupper() or bold == [(0, len(text))] or is_reference_title(text)
    if len(text) < 40 and alone and is_usual(text.rstrip(":. ")) and text[:1].isupper():
        return [_unnumbered(block, 0)]
    elements: list[Element] = []
    at = 0
    for start, end in bold:
        title = text[start:end].rstrip(":. —–-")
        at_edge = not text[at:start].strip() or _BEFORE_TITLE.search(text, max(0, start - 20), start)
        if at_edge and title[:1].isupper() and is_usual(title):
            if before := cut(block.runs, at, start):
                elements.append(replace(block, runs=before, continues=block.continues and at == 0))
            elements.append(Heading(None, title, 1, block.page, block.box))
            at = end
    if not elements:
        return [block]
    if after := cut(block.runs, at, len(text)):
        elements.append(replace(block, runs=after, continues=False))
    return elements


def _is_unnumbered_heading(block: Block, before_first: bool) -> bool:
    text = block.text.strip()
    if is_usual_title(text.rstrip(":. ")):
        return True
    if before_first:
        # Names and addresses under the title.
        return False
    words = text.split()
    return is_title(text) and len(words) <= 14 and not text.endswith((".", ",", ";")) and not text[:1].islower()


def _unnumbered(block: Block, level: int) -> Heading:
    title = block.text.strip().rstrip(":")
    return Heading(None, title, 1 if is_matter(title) or _APPENDIX.match(title) else level + 1, block.page, block.box)
