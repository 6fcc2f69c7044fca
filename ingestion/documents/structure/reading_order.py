"""The order in which a page is read.

Here: pages of one or two columns whose blocks are visibly out of order. Not here: more columns (the parser's order is
kept), pages of more than `_MOST_BLOCKS` blocks, joining what a page break divides.
"""

from collections.abc import Sequence

from ingestion.documents.values import Block, Box

_COLUMN_KINDS = ("title", "heading", "text", "list", "reference", "equation")
_SHARE_IN_COLUMN = 0.5
_SLACK = 0.005
_MOST_BLOCKS = 500
"""Of a page that is put in order: the search is quadratic, and pages of text have dozens."""


def in_reading_order(blocks: Sequence[Block]) -> list[Block]:
    """The blocks, page by page; a page is put in order only where the parser's order goes back up a column or
    returns to the left one. Pages with a block without a place stay as they are."""
    pages: dict[int | None, list[Block]] = {}
    for block in blocks:
        pages.setdefault(block.page, []).append(block)
    ordered = []
    for number, page in pages.items():
        if number is None or any(block.box is None for block in page):
            ordered += page
            continue
        gutter = gutter_of(page)
        ordered += _by_columns(page, gutter) if _is_disordered(page, gutter) else page
    return ordered


def _is_disordered(page: Sequence[Block], gutter: float | None) -> bool:
    body = [block.box for block in page if block.kind in _COLUMN_KINDS and block.box]
    if len(body) > _MOST_BLOCKS:
        return False
    for index, box in enumerate(body):
        for later in body[index + 1 :]:
            if _overlap(box, later) > _SHARE_IN_COLUMN and later[3] <= box[1] + _SLACK:
                return True
    if gutter is None:
        return False
    in_right: Box | None = None
    for box in body:
        if box[0] >= gutter - _SLACK:
            in_right = box
        elif box[2] > gutter + _SLACK:
            in_right = None
        elif in_right is not None and not _spans_between(body, gutter, in_right, box):
            return True
    return False


def _spans_between(body: Sequence[Box], gutter: float, right: Box, left: Box) -> bool:
    """A block across both columns ends the upper pair of columns between the two."""
    return any(box[0] < gutter - _SLACK and box[2] > gutter + _SLACK and right[1] <= box[1] <= left[1] for box in body)


def gutter_of(page: Sequence[Block]) -> float | None:
    """Where the two columns part, None for a single column."""
    boxes = [block.box for block in page if block.kind in _COLUMN_KINDS and block.box]
    best, fewest = None, 1.0
    for step in range(70, 131):
        x = step / 200
        left = sum(box[3] - box[1] for box in boxes if box[2] <= x)
        right = sum(box[3] - box[1] for box in boxes if box[0] >= x)
        crossing = sum(box[3] - box[1] for box in boxes if box[0] < x < box[2])
        if min(left, right) < 0.05 or crossing > min(left, right):
            continue
        share = crossing / (left + right + crossing) + abs(x - 0.5) / 10
        if share < fewest:
            best, fewest = x, share
    return best


def _by_columns(page: Sequence[Block], gutter: float | None) -> list[Block]:
    """Blocks across the gutter divide the page into bands; in each the left column is read before the right."""

    def down(block: Block) -> tuple[float, float]:
        return (block.box[1], block.box[0]) if block.box else (0.0, 0.0)

    blocks = sorted(page, key=down)
    if gutter is None:
        return blocks
    ordered: list[Block] = []
    left: list[Block] = []
    right: list[Block] = []
    for block in blocks:
        box = block.box or (0.0, 0.0, 1.0, 1.0)
        if box[2] <= gutter + _SLACK:
            left.append(block)
        elif box[0] >= gutter - _SLACK:
            right.append(block)
        else:
            ordered += [*left, *right, block]
            left, right = [], []
    return [*ordered, *left, *right]


def _overlap(one: Box, other: Box) -> float:
    """Shared width as a share of the narrower."""
    shared = min(one[2], other[2]) - max(one[0], other[0])
    return shared / max(min(one[2] - one[0], other[2] - other[0]), 1e-6)
