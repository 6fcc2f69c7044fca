"""Captions of pictures and tables: templates of ours, and what their rows mean to those who draw.

A picture has no storage of its own: its caption is a composed sentence (place `caption`) whose rows are the data, each
with the query that gives it, so that a picture leads back to the lake like any sentence and is drawn when it is
printed. A table is a caption followed by sentences of place `table`, one a row. Not here: drawing (`pictures`),
printing (`markdown`, `page`), and where the values come from (`illustrating`).
"""

from generation.values import Paragraph, Sentence

FLOW = "How the papers of this survey were chosen."
"""Rows, in this order: identified, admitted, pool, consulted, cited; each a count of papers."""

TIMELINE = "Papers retrieved for the topic and papers cited, by year of submission, since {since}."
"""Rows: `since`, a year, then "pool 2019" and "cited 2019" for each year; a count each."""

TAXONOMY = "The sections of this survey and the number of papers each cites."
"""Rows: "2 Dense Retrieval" or "2.1 Query Expansion" in reading order; a count each."""

COMPARISON = "Works of Section {section} side by side."
"""Rows: `section`, then one named `column` for each heading of the table, in order."""

PICTURES = {FLOW: "flow", TIMELINE: "timeline", TAXONOMY: "taxonomy"}
"""Template of a caption → name of the picture."""


def picture_name(paragraph: Paragraph) -> str | None:
    """The name of the picture that a paragraph is, None where it is text or a table."""
    first = paragraph[0] if paragraph else None
    return PICTURES.get(first.template or "") if first and first.place == "caption" else None


def columns(caption: Sentence) -> tuple[str, ...]:
    """Headings of the table below a caption, () where it is a picture's."""
    return tuple(row.value for row in caption.rows if row.name == "column")


def cells(row: Sentence) -> tuple[str, ...]:
    """Cells of a table's row in order: the values it states, then its text, which is what the paper itself says."""
    return (*(stated.value for stated in row.rows), row.text)
