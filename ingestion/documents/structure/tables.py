"""Table cells → Markdown tables.

Here: HTML tables and tables as preformatted text. Not here: captions, finding tables.
"""

import re
from html.parser import HTMLParser

_WIDEST = 60
"""Columns; what has more is a misread figure, and every row would be thousands of characters."""


def markdown_table(content: str) -> str:
    """A pipe table of HTML or preformatted text; "" without any letter or digit.

    A cell over several columns is written into the first and the others stay empty, so that no value is counted twice.
    Preformatted text whose rows do not all have the same columns stays preformatted, in a fence: only its layout
    tells which value belongs where.
    """
    if not any(c.isalnum() for c in content):
        return ""
    if re.search(r"<t[rdh][\s>]", content):
        reader = _Cells()
        reader.feed(content)
        reader.close()
        return pipe_table(reader.rows)
    rows = [re.split(r"\s{2,}|\t", line.strip()) for line in content.splitlines() if line.strip()]
    widths = {len(row) for row in rows}
    if len(rows) > 1 and len(widths) == 1 and 1 < max(widths) <= _WIDEST:
        return pipe_table(rows)
    return fenced(content)


def pipe_table(rows: list[list[str]]) -> str:
    """The first row becomes the head, as Markdown knows no table without. Empty rows and columns are dropped."""
    rows = [row for row in rows if any(cell.strip() for cell in row)]
    width = max((len(row) for row in rows), default=0)
    rows = [row + [""] * (width - len(row)) for row in rows]
    filled = [column for column in range(width) if any(row[column].strip() for row in rows)]
    if not rows or not filled:
        return ""
    lines = [f"| {' | '.join(_cell(row[column]) for column in filled)} |" for row in rows]
    lines.insert(1, f"|{'---|' * len(filled)}")
    return "\n".join(lines)


def fenced(text: str) -> str:
    """Text in a fence longer than any row of backticks in it."""
    longest = max((len(ticks) for ticks in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    lines = [line.rstrip() for line in text.strip("\n").splitlines()]
    return "\n".join([f"{fence}text", *lines, fence])


def _cell(text: str) -> str:
    return _apart(" ".join(text.split())).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")


def _apart(cell: str) -> str:
    """Numbers of several lines in one cell that ran together: "78.463.457.5" → "78.4 63.4 57.5".

    Only where one way of parting them gives all the same digits before and after the point; else the cell stays.
    """
    if not re.fullmatch(r"[\d.]+", cell) or cell.count(".") < 2:
        return cell
    ways = []
    for decimals in range(1, 5):
        found = re.findall(rf"\d*\.\d{{{decimals}}}", cell)
        if "".join(found) == cell and len({number.index(".") for number in found}) == 1:
            ways.append(" ".join(found))
    return ways[0] if len(ways) == 1 else cell


class _Cells(HTMLParser):
    """Rows of cell texts; columns that a cell from a row above reaches into stay empty."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.rows: list[list[str]] = []
        self._reaching: dict[int, int] = {}
        self._cell: list[str] | None = None
        self._spans = (1, 1)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "tr":
            self._close_cell()
            self.rows.append([])
            self._reaching = {column: rows - 1 for column, rows in self._reaching.items() if rows > 1}
        elif tag in ("td", "th"):
            self._close_cell()
            given = dict(attrs)
            self._spans = (_span(given.get("colspan")), _span(given.get("rowspan")))
            self._cell = []
        elif tag == "br" and self._cell is not None:
            self._cell.append(" ")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th", "tr", "table"):
            self._close_cell()

    def handle_data(self, data: str) -> None:
        if self._cell is not None:
            self._cell.append(data)

    def _close_cell(self) -> None:
        if self._cell is None:
            return
        if not self.rows:
            self.rows.append([])
        row = self.rows[-1]
        while self._reaching.get(len(row)):
            row.append("")
        columns, rows = self._spans
        for column in range(len(row), len(row) + columns):
            if rows > 1:
                # Counted down at the next row's start, which is the first it reaches into.
                self._reaching[column] = rows
        row += ["".join(self._cell)] + [""] * (columns - 1)
        self._cell = None


def _span(value: str | None) -> int:
    return min(int(value), _WIDEST) if value and value.isdecimal() and int(value) > 0 else 1
