"""The reference list of a document: where it begins and ends, and its entries.

Here: finding the list, and pieces of it by places on the page and link destinations. Not here: telling entries apart
by their text (see `ingestion.references.splitting`), what an entry says.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from statistics import median

from ingestion.documents.structure.headings import Element, Heading
from ingestion.documents.structure.paragraphs import plain
from ingestion.documents.structure.usual_titles import is_reference_title
from ingestion.documents.values import Block, Destination, ReferencesStatus, ReferenceText, Run
from ingestion.references.splitting import split_entries

_KINDS = ("text", "list", "reference")
_LABEL = re.compile(r"\s*(?:\[[^\[\]\s]{1,20}\]|\(?\d{1,3}[.)](?=\s))")
_FIRST_LABEL = re.compile(r"\s*\[1\]\s")
_CITE = re.compile(r"(?:cite|bib|ref)\.(?:[^@]*@)?(?P<key>.+)|(?P<acm>bib\d+|BIB\w+)")
_ENDS = re.compile(r"[.!?][\"”’)\]]*\s*$|https?://\S+$|\d{4}[a-z]?\)?\s*$")
_YEAR = re.compile(r"\b(?:1[89]|20)\d\d[a-z]?\b")
_LEAST_RUN = 5
_TAIL = 300  # characters at the end of a block that tell how it ends
_INDENT = (0.006, 0.07)
_ABOVE_LINE = 0.03


@dataclass(frozen=True)
class ReferenceList:
    """Entries, and the document's elements with each entry as one block of kind `reference`."""

    elements: list[Element]
    entries: tuple[ReferenceText, ...]
    status: ReferencesStatus


@dataclass(frozen=True)
class _Piece:
    """Blocks that belong to one entry, or to a few that only their text can tell apart."""

    text: str
    page: int | None
    urls: tuple[tuple[str, str], ...]
    keys: tuple[str, ...]
    block: Block


def with_references(elements: Sequence[Element], destinations: Sequence[Destination]) -> ReferenceList:
    """The document with its reference list divided into entries, `missing` without one."""
    cites = [(d, m["key"] or m["acm"]) for d in destinations if (m := _CITE.fullmatch(d.name)) and d.y is not None]
    keys = _keys_by_block(elements, cites)
    start, end = _extent(elements, keys)
    if start == end:
        return ReferenceList(list(elements), (), "missing")
    inside = list(elements[start:end])
    pieces = _pieces([e for e in inside if isinstance(e, Block) and e.kind in _KINDS], keys)
    others = [e for e in inside if isinstance(e, Heading) or e.kind not in _KINDS]
    entries, origins, status = _entries(pieces)
    if status != "parsed":
        return ReferenceList(list(elements), (), status)
    blocks = [
        replace(
            piece.block, kind="reference", runs=(Run(f"[{entry.label}] {entry.text}" if entry.label else entry.text),)
        )
        for entry, piece in zip(entries, origins, strict=True)
    ]
    return ReferenceList([*elements[:start], *blocks, *others, *elements[end:]], tuple(entries), "parsed")


def is_reference_heading(element: Element) -> bool:
    return isinstance(element, Heading) and is_reference_title(element.title)


def _keys_by_block(
    elements: Sequence[Element], cites: Sequence[tuple[Destination, str]]
) -> dict[int, list[tuple[float, str]]]:
    """Citation keys by the block (its id) in or at whose top they lie, with how far down."""
    by_page: dict[int | None, list[Block]] = {}
    for element in elements:
        if isinstance(element, Block) and element.box and element.kind in _KINDS:
            by_page.setdefault(element.page, []).append(element)
    found: dict[int, list[tuple[float, str]]] = {}
    for place, key in cites:
        y = place.y or 0.0
        around = [
            b for b in by_page.get(place.page, [])
            if b.box and (place.x is None or b.box[0] - 0.09 <= place.x <= b.box[2]) and b.box[1] - _ABOVE_LINE <= y <= b.box[3]
        ]  # fmt: skip
        # A destination lies just above its line: in the gap between two blocks it belongs to the lower.
        block = min(around, key=lambda b: (b.box[3] - 0.006 < y, abs(b.box[1] - y)), default=None)  # type: ignore[index]
        if block is not None:
            found.setdefault(id(block), []).append((y, key))
    return {block: sorted(places) for block, places in found.items()}


def _extent(elements: Sequence[Element], keys: dict[int, list[tuple[float, str]]]) -> tuple[int, int]:
    """[start, end) of the list without its heading; (0, 0) where there is none."""
    best = (0, 0)
    starts = [i + 1 for i, element in enumerate(elements) if is_reference_heading(element)] or _unheaded(elements, keys)
    for start in starts:
        end = next((i for i in range(start, len(elements)) if _ends_list(elements, i, keys)), len(elements))
        end = _without_what_follows(elements, start, end, keys)
        if end - start >= best[1] - best[0]:
            best = (start, end)
    return best


def _unheaded(elements: Sequence[Element], keys: dict[int, list[tuple[float, str]]]) -> list[int]:
    """Where a list begins that no heading announces: citation destinations, or blocks [1], [2], [3] … in a row."""
    cited = [i for i, e in enumerate(elements) if id(e) in keys]
    if len(cited) >= _LEAST_RUN:
        return [cited[0]]
    found = []
    for index, element in enumerate(elements):
        if isinstance(element, Block) and element.kind in _KINDS and _FIRST_LABEL.match(element.text):
            after = (e for e in islice(elements, index, None) if isinstance(e, Block) and e.kind in _KINDS)
            labels = (m for m in (re.match(r"\s*\[(\d{1,4})\]", block.text) for block in after) if m)
            if [int(m[1]) for m in islice(labels, _LEAST_RUN)] == list(range(1, _LEAST_RUN + 1)):
                found.append(index)
    return found


def _ends_list(elements: Sequence[Element], index: int, keys: dict[int, list[tuple[float, str]]]) -> bool:
    """A heading ends the list, unless entries go on below it: then it is a bold line, or a list in groups."""
    element = elements[index]
    if not isinstance(element, Heading):
        return False
    after = next((e for e in elements[index + 1 :] if not isinstance(e, Block) or e.kind in _KINDS), None)
    goes_on = isinstance(after, Block) and (id(after) in keys or bool(re.match(r"\s*\[\d{1,3}\]", after.text)))
    return element.number is not None or not goes_on


def _without_what_follows(
    elements: Sequence[Element], start: int, end: int, keys: dict[int, list[tuple[float, str]]]
) -> int:
    """Labels and destinations say which block is the last entry's first; what follows goes on with it or is none."""
    blocks = [i for i in range(start, end) if isinstance(elements[i], Block) and elements[i].kind in _KINDS]  # type: ignore[union-attr]
    marked = [i for i in blocks if id(elements[i]) in keys] or [i for i in blocks if _LABEL.match(elements[i].text)]  # type: ignore[union-attr]
    if len(marked) < 3 or len(marked) < 0.5 * len([i for i in blocks if i <= marked[-1]]):
        return end
    last = marked[-1]
    for index in range(last + 1, end):
        element = elements[index]
        if not isinstance(element, Block) or element.kind not in _KINDS:
            continue
        before = elements[last]
        if not isinstance(before, Block) or not _goes_on(before, element, None):
            return last + 1
        last = index
    return end


def _pieces(blocks: Sequence[Block], keys: dict[int, list[tuple[float, str]]]) -> list[_Piece]:
    by_destinations = sum(id(b) in keys for b in blocks) >= 0.6 * len(blocks)
    by_labels = sum(bool(_LABEL.match(b.text)) for b in blocks) >= 0.6 * len(blocks)
    margins = _margins(blocks)
    pieces: list[_Piece] = []
    last: Block | None = None
    for block in blocks:
        text = plain(block.runs)
        urls = tuple((run.text, run.url) for run in block.runs if run.url)
        here = tuple(key for _, key in keys.get(id(block), ()))
        if by_destinations and last is not None:
            # Not every destination file is complete: a label, or a fresh start after a whole entry, is one as well.
            goes_on = not here and (
                _goes_on(last, block, margins) or not (_LABEL.match(text) or _is_fresh(last, block))
            )
        elif by_labels:
            goes_on = not _LABEL.match(text)
        else:
            goes_on = last is not None and not _LABEL.match(text) and _goes_on(last, block, margins)
        if goes_on and pieces:
            before = pieces[-1]
            pieces[-1] = replace(
                before, text=_joined(before.text, text), urls=before.urls + urls, keys=before.keys + here
            )
        else:
            pieces.append(_Piece(text, block.page, urls, here, block))
        last = block
    return pieces


def _is_fresh(last: Block, block: Block) -> bool:
    return bool(_ENDS.search(last.text[-_TAIL:])) and block.text[:1].isupper() and bool(_YEAR.search(block.text))


def _goes_on(last: Block, block: Block, margins: dict[tuple[int | None, int], float] | None) -> bool:
    """`block` is the rest of the entry that `last` begins."""
    text, before = block.text.strip(), last.text.strip()
    if _LABEL.match(text):
        return False
    if margins and _is_indented(block, margins):
        return True
    tail = before[-_TAIL:]
    is_whole = bool(_ENDS.search(tail)) and not re.search(r"\b(?:In|and|of|the|pp?\.|vol\.|pages|et al\.)$", tail)
    if not is_whole or text[:1] in ",.;:/&)":
        return True
    if text[:1].isdigit():
        return True
    # Names and a year alone are no entry in lists that put the year first.
    return (
        bool(re.search(r"\W(?:1[89]|20)\d\d[a-z]?\)?\.?$", before))
        and len(before) < 160
        and not _YEAR.search(text[:80])
    )


def _margins(blocks: Sequence[Block]) -> dict[tuple[int | None, int], float]:
    """Left edge of entries by page and column (half of the page)."""
    lefts: dict[tuple[int | None, int], list[float]] = {}
    for block in blocks:
        if block.box:
            lefts.setdefault(_column(block), []).append(block.box[0])
    return {column: median(values) for column, values in lefts.items() if len(values) >= 3}


def _column(block: Block) -> tuple[int | None, int]:
    return block.page, int(block.box is not None and block.box[0] >= 0.45)


def _is_indented(block: Block, margins: dict[tuple[int | None, int], float]) -> bool:
    margin = margins.get(_column(block))
    return margin is not None and block.box is not None and _INDENT[0] < block.box[0] - margin < _INDENT[1]


def _joined(before: str, after: str) -> str:
    if re.search(r"[^\W\d_]-$", before[-2:]) and after[:1].islower():
        return before[:-1] + after
    if before.endswith("/") or after.startswith("/"):
        return before + after
    return f"{before} {after}"


def _entries(pieces: Sequence[_Piece]) -> tuple[list[ReferenceText], list[_Piece], ReferencesStatus]:
    split = split_entries([piece.text for piece in pieces])
    entries, origins = [], []
    begun = [entry.paragraph for entry in split.entries]
    shares = Counter(begun)
    place = 0
    for index, entry in enumerate(split.entries):
        piece = pieces[entry.paragraph]
        # Pieces up to the next entry's belong to this one; entries of one piece share its links by their words.
        until = begun[index + 1] if index + 1 < len(begun) else len(pieces)
        urls = [u for p in pieces[entry.paragraph : max(until, entry.paragraph + 1)] for u in p.urls]
        shared = shares[entry.paragraph] > 1
        links = tuple(dict.fromkeys(url for text, url in urls if not shared or text.strip() in entry.reference.text))
        place = place + 1 if index and begun[index - 1] == entry.paragraph else 0
        key = piece.keys[place] if place < len(piece.keys) else ""
        entries.append(replace(entry.reference, page=piece.page, urls=links, key=key))
        origins.append(piece)
    return entries, origins, split.status
