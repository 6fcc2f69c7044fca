"""A survey as pandoc Markdown. Citations stay tokens with the paper id as key; numbers exist only in rendered forms.

Belongs here: how paragraphs, lists, pictures and tables are written as Markdown. Not here: what they hold
(`captions`), drawing the pictures, and every other format (`exporting`, `page`).
"""

import re
from collections.abc import Iterable, Iterator
from itertools import groupby, takewhile

from generation.captions import cells, columns, picture_name
from generation.citations import escape, require_known, token
from generation.values import Paper, Paragraph, Sentence, Survey
from ingestion.errors import PermanentFailure

PICTURES_FOLDER = "pictures"
"""Where the Markdown looks for the pictures, beside itself."""

UNSOURCED = "unsourced"
"""What is printed, raised, behind a sentence that a model wrote and that no paper bears."""

_END = re.compile(r"[.?!]$")
_LEAST_SHARE, _MOST_SHARE = 8, 60
"""Dashes of a column: pandoc shares the width of a wide table among the columns by them."""


_REFERENCES = ["## References", "", "::: {#refs}", ":::", ""]


def markdown(
    survey: Survey,
    papers: Iterable[Paper],
    *,
    with_anchors: bool = False,
    is_plain: bool = False,
    pictures: str = f"{PICTURES_FOLDER}/",
    bibliography: str = "",
) -> str:
    """The survey with a `##` heading a section and `###` a subsection, numbered in the heading.

    A picture is an image `pictures/NAME.svg` on its own line, a table a pipe table below which its caption stands.

    Args:
        survey: what to print.
        papers: its references. Words quoted from a summary by the project are not the authors', so they stand
            without quotation marks.
        with_anchors: give every sentence, also captions and rows, a span `#s<number>` of its kind, for pages.
        is_plain: without numbers in headings and without a place for the references, for formats that make both.
        pictures: what the names of picture files begin with.
        bibliography: file with the references, named in the head for those who render the Markdown themselves.

    Raises:
        UnknownCitation: a token would name a paper the survey does not reference.
        PermanentFailure: a table's row does not fit its columns.
    """
    head = [f"title: {_yaml(survey.title)}", *([f"bibliography: {_yaml(bibliography)}"] if bibliography else [])]
    lines = ["---", *head, "---", ""]
    printer = _Printer({p.paper_id for p in papers if p.abstract_origin != "source"}, with_anchors, pictures)
    for section in survey.sections:
        number = "" if is_plain else section.number
        anchor = f"#sec-{section.number.replace('.', '-')}"
        lines += [f"{'#' * (section.level + 1)} {_heading(number, section.title)} {{{anchor}}}", ""]
        for place, paragraph in enumerate(section.paragraphs, start=1):
            lines += [*printer.paragraph(paragraph, f"{section.number.replace('.', '-')}-{place}"), ""]
    text = "\n".join(lines if is_plain else [*lines, *_REFERENCES])
    require_known(text, set(survey.references))
    return text


def _heading(number: str, title: str) -> str:
    stop = "" if "." in number else "."
    return f"{number}{stop} {escape(title)}" if number else escape(title)


class _Printer:
    """Sentences as Markdown, numbered as they are stored: all sentences in order."""

    def __init__(self, summarised: set[str], with_anchors: bool, pictures: str) -> None:
        self._summarised = summarised
        self._pictures = pictures
        self._with_anchors = with_anchors
        self._number = 0

    def paragraph(self, paragraph: Paragraph, place: str) -> list[str]:
        """Lines of a paragraph: a picture, a table, or text in which lists are lists.

        Args:
            place: names a table: section and paragraph, `2-1-3`.
        """
        if paragraph and paragraph[0].place == "caption":
            caption, *below = paragraph
            rows = list(takewhile(lambda s: s.place == "table", below))
            name = picture_name(paragraph)
            lines = self._picture(caption, name) if name else self._table(caption, rows, place)
            rest = below if name else below[len(rows) :]
            return [*lines, *(["", *self._text(rest)] if rest else [])]
        return self._text(paragraph)

    def _text(self, sentences: Iterable[Sentence]) -> list[str]:
        lines: list[str] = []
        for is_list, group in groupby(sentences, key=lambda s: s.place == "list"):
            printed = [self._anchored(s, self._printed(s)) for s in group]
            lines += [""] if lines else []
            lines += [f"- {text}" for text in printed] if is_list else [" ".join(printed)]
        return lines

    def _picture(self, caption: Sentence, name: str) -> list[str]:
        text = self._anchored(caption, self._printed(caption))
        return [f"![{text}]({self._pictures}{name}.svg){{#fig-{name}}}"]

    def _table(self, caption: Sentence, below: Iterable[Sentence], place: str) -> list[str]:
        names = columns(caption)
        if not names:
            raise PermanentFailure("a caption belongs to no picture and names no column", which=caption.text)
        told = self._anchored(caption, self._printed(caption))
        rows = [list(self._cells(row, len(names))) for row in below]
        widths = [max(len(r[i]) for r in [*rows, list(names)]) for i in range(len(names))]
        rule = ["-" * min(max(w, _LEAST_SHARE), _MOST_SHARE) for w in widths]
        body = [[escape(name) for name in names], rule, *rows]
        return [*(f"| {' | '.join(row)} |" for row in body), "", f": {told} {{#tbl-{place}}}"]

    def _cells(self, row: Sentence, count: int) -> Iterator[str]:
        """The values, the first with the citation, then the sentence's own text, which bears the row's number."""
        values = cells(row)
        if len(values) != count:
            raise PermanentFailure(
                f"a row of a table has {len(values)} cells under {count} headings", which=" | ".join(values)
            )
        *stated, text = values
        cited = token(row.cited_ids)
        own = self._anchored(row, _marked(row, _in_marks(row, escape(text), self._is_authors_own(row))) if text else "")
        yield from (escape(value) + (f" {cited}" if cited and not i else "") for i, value in enumerate(stated))
        yield own if stated or not cited else f"{own} {cited}"

    def _anchored(self, sentence: Sentence, printed: str) -> str:
        self._number += 1
        unborne = " .unborne" if sentence.is_unborne else ""
        return f"[{printed}]{{#s{self._number} .{sentence.kind}{unborne}}}" if self._with_anchors else printed

    def _printed(self, sentence: Sentence) -> str:
        return printed_sentence(sentence, is_authors_own=self._is_authors_own(sentence))

    def _is_authors_own(self, sentence: Sentence) -> bool:
        return not self._summarised.intersection(sentence.cited_ids)


def printed_sentence(sentence: Sentence, *, is_authors_own: bool = True) -> str:
    """A sentence with its token before the final stop; the authors' own words stand in quotation marks.

    A written sentence whose citations were removed, since no paper bears it, is marked so.
    """
    cited = token(sentence.cited_ids)
    text = _in_marks(sentence, escape(sentence.text), is_authors_own)
    if not cited:
        return _marked(sentence, text)
    end = _END.search(text)  # none behind a quotation mark
    return f"{text[: end.start()]} {cited}{end.group(0)}" if end else f"{text} {cited}"


def _marked(sentence: Sentence, text: str) -> str:
    return f"{text}^{UNSOURCED}^" if sentence.is_unborne else text


def _in_marks(sentence: Sentence, text: str, is_authors_own: bool) -> str:
    return f"“{text}”" if sentence.kind == "quoted" and is_authors_own else text


def _yaml(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
