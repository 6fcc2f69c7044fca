"""What stands on pages but belongs to no text: running titles, page numbers, stamps, fragments of figures.

Here: leaving it out. Not here: the characters of blocks, their order.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from ingestion.comparison import title_key
from ingestion.documents.values import Block

_MARGIN = 0.12
_REPEATS = 3
_STAMP = re.compile(
    r"\s*(?:arxiv:\s*\S+|\d{1,4}|page \d+(?: of \d+)?|preprint\b.{0,80}|under review\b.{0,80}"
    r"|published as a conference paper\b.{0,80}|proceedings of .{0,200}|workshop track.{0,60}"
    r"|(?:©|\(c\)|copyright).{0,120}|authorized licensed use.{0,200})\s*",
    re.IGNORECASE | re.DOTALL,
)


def without_furniture(blocks: Sequence[Block], title: str) -> list[Block]:
    """The blocks that are text. A heading that repeats the title, or stands on page after page, is none."""
    running = _running_lines(blocks)
    kept = []
    for block in blocks:
        if block.kind == "furniture":
            if _is_sentence(block.text) and not _STAMP.fullmatch(block.text) and title_key(block.text) not in running:
                kept.append(replace(block, kind="text"))
        elif block.kind in ("heading", "text", "title", "footnote"):
            key = title_key(block.text)
            repeats_title = key == title_key(title) and key != ""
            if (
                not repeats_title
                and not _is_running(block, running)
                and not _is_stamp(block)
                and _says_something(block)
            ):
                kept.append(block)
        else:
            kept.append(block)
    return kept


def _running_lines(blocks: Sequence[Block]) -> set[str]:
    """Keys of lines that stand at the same height of several pages; without pages: headings that come again and again."""
    places: dict[str, list[Block]] = defaultdict(list)
    for block in blocks:
        if block.kind in ("heading", "title", "text", "furniture") and len(block.text) < 200:
            places[title_key(re.sub(r"\d+", "", block.text))].append(block)
    running = set()
    for key, here in places.items():
        if not key:
            continue
        pages = {block.page for block in here}
        if None in pages:
            headings = [block for block in here if block.kind in ("heading", "title")]
            is_running = len(headings) >= _REPEATS and not any(re.match(r"\W*\d", b.text) for b in headings)
        else:
            at_edge = [b for b in here if b.kind == "furniture" or _is_in_margin(b)]
            is_running = len({b.page for b in at_edge}) >= _REPEATS
        if is_running:
            running.add(key)
    return running


def _is_running(block: Block, running: set[str]) -> bool:
    if title_key(re.sub(r"\d+", "", block.text)) not in running:
        return False
    return _is_in_margin(block) if block.box else block.kind in ("heading", "title")


def _is_in_margin(block: Block) -> bool:
    return block.box is not None and (block.box[3] <= _MARGIN or block.box[1] >= 1 - _MARGIN)


def _is_stamp(block: Block) -> bool:
    return (block.box is None or _is_in_margin(block)) and bool(_STAMP.fullmatch(block.text))


def _is_sentence(text: str) -> bool:
    return len(text.split()) >= 8 and text.rstrip().endswith((".", ":", ";", "?"))


def _says_something(block: Block) -> bool:
    """Digits and signs alone are cells, axis labels or broken formulas."""
    return any(c.isalpha() for c in block.text)
