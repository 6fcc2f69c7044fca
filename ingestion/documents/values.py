"""The values of a document on its way from file to text. No behaviour beyond views.

A parser gives a `RawDocument`: blocks as they lie on the pages. `structure` makes a `Document` of it: one Markdown
text, with sections, captions and the reference list as character ranges of that text.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

BlockKind = Literal[
    "title", "heading", "text", "list", "reference", "table", "figure", "equation", "code", "footnote", "furniture"
]
Box = tuple[float, float, float, float]
"""Left, top, right, bottom as fractions of the page, from its upper left corner."""


@dataclass(frozen=True)
class Run:
    """Characters of one style.

    Attributes:
        styles: any of bold, italic, superscript, subscript, …; () for plain text.
        url: where it links to, None where it is no link.
    """

    text: str
    styles: tuple[str, ...] = ()
    url: str | None = None


@dataclass(frozen=True)
class Block:
    """A block of a page.

    Attributes:
        page: from 1; None where the parser does not tell pages.
        box: None where the parser does not tell places.
        caption: of a table or figure; () elsewhere.
        table: a table's cells as a Markdown table; "" elsewhere.
        continues: goes on with the text of the block before.
    """

    kind: BlockKind
    runs: tuple[Run, ...]
    page: int | None = None
    box: Box | None = None
    caption: tuple[Run, ...] = ()
    table: str = ""
    continues: bool = False

    @cached_property
    def text(self) -> str:
        return "".join(run.text for run in self.runs)


@dataclass(frozen=True)
class Destination:
    """A link destination of the PDF, e.g. `section.3`, `subsection.3.1`, `cite.vaswani2017`.

    Attributes:
        page: from 1.
        x, y: fractions of the page, from its upper left corner; None where the PDF leaves them open.
    """

    name: str
    page: int
    x: float | None = None
    y: float | None = None


@dataclass(frozen=True)
class RawDocument:
    """What a parser says of a file, before any repair.

    Attributes:
        page_count: pages of the file.
        blocks: in the parser's reading order.
        destinations: link destinations, () where the file has none.
        title: of the file's own metadata, "" where it has none.
    """

    page_count: int
    blocks: tuple[Block, ...]
    destinations: tuple[Destination, ...] = ()
    title: str = ""


@dataclass(frozen=True)
class Section:
    """A section: its own text, without that of its subsections.

    Attributes:
        number: as printed without a final stop ("3.1", "A.2"); None for unnumbered headings.
        title: heading without its number; "" for what stands before the first heading.
        level: 1 for sections.
        page: of the heading, from 1; None where unknown.
        start, end: characters [start, end) of `Document.markdown`: the text below the heading.
    """

    number: str | None
    title: str
    level: int
    page: int | None
    start: int
    end: int


PartKind = Literal["paragraph", "list", "table", "figure", "equation", "code", "footnote", "caption", "reference"]


@dataclass(frozen=True)
class Part:
    """A paragraph, table, caption, … of the text, in reading order.

    Attributes:
        start, end: characters [start, end) of `Document.markdown`.
        label: "Figure 2", "Table 1" for captions, else "".
    """

    kind: PartKind
    start: int
    end: int
    page: int | None
    label: str = ""


ReferencesStatus = Literal["parsed", "missing", "unparsed"]
"""`missing`: the document has no reference list. `unparsed`: it has one that could not be split into entries."""


@dataclass(frozen=True)
class ReferenceText:
    """An entry of the reference list as printed, on one line, without its label.

    Attributes:
        label: "12" for "[12] …", "Lew20" for "[Lew20] …", "" for lists without labels.
        page: of its first line.
        urls: link targets in the entry.
        key: the citation key of the PDF's link destination ("vaswani2017"), "" where there is none.
    """

    label: str
    text: str
    page: int | None = None
    urls: tuple[str, ...] = ()
    key: str = ""


@dataclass(frozen=True)
class Document:
    """A document's text and structure.

    Attributes:
        title: as printed.
        markdown: the whole text; tables as Markdown tables, headings with their true level, one title.
        sections: in reading order; their ranges do not overlap.
        parts: in reading order; their ranges do not overlap and lie within sections.
        references: entries in the printed order.
        notes: what was repaired or could not be, for people, e.g. "7 control characters removed".
    """

    title: str
    markdown: str
    sections: tuple[Section, ...]
    parts: tuple[Part, ...]
    references: tuple[ReferenceText, ...]
    references_status: ReferencesStatus
    page_count: int
    notes: tuple[str, ...] = field(default=())
