"""Headings and paragraphs → one Markdown text with the ranges of its sections and parts.

Here: writing, and the escapes that keep text from being read as Markdown. Not here: any repair.

Paragraphs hold no markup: their range of the text is plain prose, to be embedded and quoted as it stands. A formula
that the parser gives only as a picture leaves the line `[equation]`: without it the sentence around it would read as
if nothing were missing; as a part of its own it can be left out of passages.
"""

import re
from collections.abc import Sequence

from ingestion.documents.structure.headings import Heading
from ingestion.documents.structure.paragraphs import Paragraph
from ingestion.documents.structure.tables import fenced
from ingestion.documents.values import Part, Section

EQUATION = "[equation]"

_AT_START = re.compile(r"(?:#{1,6}(?=\s|$)|>|[-+*](?=\s|$)|=+\s*$|-+\s*$|~~~|\||\[[^\]]*\]:)")
_WITHIN = re.compile(r"<(?=[A-Za-z/!?])|`|\\(?=[!-/:-@\[-`{-~])|&(?=#|[A-Za-z][A-Za-z0-9]*;)|(?<=\])\((?=\S)|!(?=\[)")
_EMPHASIS = re.compile(r"(?<![\w*])([*_]+)(?=[^\s*_])|(?<=[^\s*_])([*_]+)(?![\w*])|\*+(?=\S)|(?<=\S)\*+")


def rendered(title: str, elements: Sequence[Heading | Paragraph]) -> tuple[str, tuple[Section, ...], tuple[Part, ...]]:
    """Markdown, sections and parts. What stands before the first heading is a section without title."""
    pieces: list[str] = []
    at = 0

    def write(text: str) -> tuple[int, int]:
        nonlocal at
        start = at + (2 if pieces else 0)
        pieces.append(text)
        at = start + len(text)
        return start, at

    sections: list[Section] = []
    parts: list[Part] = []
    heading: Heading | None = None
    start = first_part = 0
    if title:
        write(f"# {escaped(title)}")
        start = at

    def close() -> None:
        inside = parts[first_part:]
        if heading is None and not inside:
            return
        first, last = (inside[0].start, inside[-1].end) if inside else (start, start)
        if heading is None:
            sections.append(Section(None, "", 1, inside[0].page, first, last))
        else:
            sections.append(Section(heading.number, heading.title, heading.level, heading.page, first, last))

    for element in elements:
        if isinstance(element, Heading):
            close()
            heading = element
            hashes = "#" * min(element.level + 1, 6)
            words = f"{element.number or ''} {element.title}".strip()
            write(f"{hashes} {escaped(words)}")
            start, first_part = at, len(parts)
        elif text := _written(element):
            shift = 2 if element.kind == "list" else 0
            first, last = write(text)
            parts.append(Part(element.kind, first + shift, last, element.page, element.label))
    close()
    return "\n\n".join(pieces) + ("\n" if pieces else ""), tuple(sections), tuple(parts)


def _written(paragraph: Paragraph) -> str:
    match paragraph.kind:
        case "table":
            return paragraph.text
        case "code":
            return fenced(paragraph.text)
        case "equation":
            return escaped(paragraph.text) or EQUATION
        case "list":
            return f"- {escaped(paragraph.text)}" if paragraph.text else ""
        case _:
            return escaped(paragraph.text)


def escaped(text: str) -> str:
    """One line that Markdown renders as exactly these characters; backslashes only where it would not."""
    text = " ".join(text.split())
    text = _WITHIN.sub(lambda m: f"\\{m[0]}", text)
    text = _EMPHASIS.sub(lambda m: "".join(f"\\{c}" for c in m[0]), text)
    return f"\\{text}" if _AT_START.match(text) else text
