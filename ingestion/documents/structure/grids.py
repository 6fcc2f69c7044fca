"""Cells that a parser left as loose blocks of text → a table.

Here: finding rows of short blocks side by side within a column. Not here: tables that the parser recognised.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from ingestion.comparison import title_key
from ingestion.documents.structure.reading_order import gutter_of
from ingestion.documents.structure.tables import fenced, pipe_table
from ingestion.documents.values import Block, Box

_MOST_WORDS = 12
_MOST_WORDS_OF_A_SCRAP = 5
_LEAST_SCRAPS = 4
_LIST_ITEM = re.compile(r"\s*(?:[•●▪◦‣∙·■□–-]|\(?\w{1,3}[.)])\s")
_SAME_ROW = 0.5
_NEXT_ROW = 0.03


def with_grids(blocks: Sequence[Block]) -> list[Block]:
    """Blocks with each grid of at least two rows of two cells as one table, in the place of its first cell.

    Names and addresses under a title stand side by side as well: what precedes abstract or introduction is left alone.
    """
    pages: dict[int | None, list[int]] = {}
    whole: dict[int | None, list[Block]] = {}
    front = next((i for i, b in enumerate(blocks) if b.kind == "heading" and (b.page != 1 or _begins_text(b))), 0)
    for index, block in enumerate(blocks):
        whole.setdefault(block.page, []).append(block)
        if _could_be_cell(block) and index >= front:
            pages.setdefault(block.page, []).append(index)
    tables: dict[int, Block] = {}
    gone: set[int] = set()
    for number, indices in pages.items():
        if len(indices) < 4:
            continue
        gutter = gutter_of(whole[number])
        for grid in _grids(blocks, indices, gutter):
            members = sorted(index for row in grid for index in row)
            tables[members[0]] = _table(blocks, grid)
            gone.update(members)
    for run in _debris(blocks, gone, front):
        tables[run[0]] = _table(blocks, _rows(blocks, run, None))
        gone.update(run)
    return [tables.get(i, block) for i, block in enumerate(blocks) if i in tables or i not in gone]


def _debris(blocks: Sequence[Block], gone: set[int], front: int) -> list[list[int]]:
    """Runs of words that make no sentence, one block each: what is left of a table or an algorithm."""
    runs: list[list[int]] = [[]]
    for index, block in enumerate(blocks):
        words = block.text.split()
        is_scrap = (
            index >= front
            and index not in gone
            and _could_be_cell(block)
            and len(words) <= _MOST_WORDS_OF_A_SCRAP
            and not block.text.rstrip().endswith((".", ":", "?", "-"))
            and not _LIST_ITEM.match(block.text)
        )
        if is_scrap and (not runs[-1] or blocks[runs[-1][-1]].page == block.page):
            runs[-1].append(index)
        elif runs[-1]:
            runs.append([index] if is_scrap else [])
    return [run for run in runs if len(run) >= _LEAST_SCRAPS]


def _begins_text(heading: Block) -> bool:
    words = title_key(heading.text)
    return words.startswith(("abstract", "zusammenfassung")) or words.endswith(("introduction", "einleitung"))


def _could_be_cell(block: Block) -> bool:
    text = block.text.strip()
    return (
        block.kind == "text"
        and block.box is not None
        and len(text.split()) <= _MOST_WORDS
        and block.box[3] - block.box[1] < 0.035
        and not (len(text.split()) > 5 and text.endswith("."))
    )


def _grids(blocks: Sequence[Block], indices: Sequence[int], gutter: float | None) -> list[list[list[int]]]:
    rows = _rows(blocks, indices, gutter)
    grids: list[list[list[int]]] = []
    for row in rows:
        bottom = max((_box(blocks[i])[3] for i in grids[-1][-1]), default=0.0) if grids else 0.0
        below = grids and -0.01 < _box(blocks[row[0]])[1] - bottom < _NEXT_ROW
        same_side = grids and _side(_box(blocks[row[0]]), gutter) == _side(_box(blocks[grids[-1][-1][0]]), gutter)
        if below and same_side:
            grids[-1].append(row)
        else:
            grids.append([row])
    return [grid for grid in grids if sum(len(row) > 1 for row in grid) >= 2]


def _rows(blocks: Sequence[Block], indices: Sequence[int], gutter: float | None) -> list[list[int]]:
    rows: list[list[int]] = []
    for index in sorted(indices, key=lambda i: _box(blocks[i])[1]):
        row = next((r for r in rows[-4:] if _same_row(_box(blocks[r[0]]), _box(blocks[index]), gutter)), None)
        if row is None:
            rows.append([index])
        else:
            row.append(index)
    return rows


def _same_row(one: Box, other: Box, gutter: float | None) -> bool:
    shared = min(one[3], other[3]) - max(one[1], other[1])
    height = min(one[3] - one[1], other[3] - other[1])
    apart = other[0] >= one[2] - 0.01 or one[0] >= other[2] - 0.01
    return shared > _SAME_ROW * height and apart and _side(one, gutter) == _side(other, gutter)


def _side(box: Box, gutter: float | None) -> int:
    return 0 if gutter is None else 1 if box[2] <= gutter else 2 if box[0] >= gutter else 0


def _box(block: Block) -> Box:
    return block.box or (0.0, 0.0, 0.0, 0.0)


def _table(blocks: Sequence[Block], grid: Sequence[Sequence[int]]) -> Block:
    rows = [sorted(row, key=lambda i: _box(blocks[i])[0]) for row in grid]
    cells = [[blocks[i].text.strip() for i in row] for row in rows]
    boxes = [_box(blocks[i]) for row in rows for i in row]
    around = (min(b[0] for b in boxes), min(b[1] for b in boxes), max(b[2] for b in boxes), max(b[3] for b in boxes))
    # Rows of different length: which column a value belongs to is not known, so none is claimed.
    is_plain = len({len(row) for row in cells}) == 1
    text = pipe_table(cells) if is_plain else fenced("\n".join("   ".join(row) for row in cells))
    first = blocks[min(i for row in grid for i in row)]
    return replace(first, kind="table", runs=(), box=around, table=text, continues=False)
