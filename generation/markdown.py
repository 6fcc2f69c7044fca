"""A survey as pandoc Markdown. Citations stay tokens with the paper id as key; numbers exist only in rendered forms."""

import re
from collections.abc import Iterable

from generation.citations import escape, require_known, token
from generation.values import Paper, Sentence, Survey

_END = re.compile(r"[.?!]$")


def markdown(survey: Survey, papers: Iterable[Paper], *, with_anchors: bool = False) -> str:
    """The survey with a `##` heading a section and `###` a subsection, numbered in the heading.

    Args:
        survey: what to print.
        papers: its references. Words quoted from a summary by the project are not the authors', so they stand
            without quotation marks.
        with_anchors: give every sentence a span `#s<number>` of its kind, for pages.

    Raises:
        UnknownCitation: a token would name a paper the survey does not reference.
    """
    lines = ["---", f"title: {_yaml(survey.title)}", "---", ""]
    number = 0
    summarised = {p.paper_id for p in papers if p.abstract_origin != "source"}
    for section in survey.sections:
        mark = "#" * (section.level + 1)
        lines += [
            f"{mark} {section.number}{'.' if section.level == 1 else ''} {escape(section.title)} {{#sec-{section.number.replace('.', '-')}}}",
            "",
        ]
        for paragraph in section.paragraphs:
            printed = []
            for sentence in paragraph:
                number += 1
                text = printed_sentence(sentence, is_authors_own=not summarised.intersection(sentence.cited_ids))
                printed.append(f"[{text}]{{#s{number} .{sentence.kind}}}" if with_anchors else text)
            lines += [" ".join(printed), ""]
    text = "\n".join([*lines, "## References", "", "::: {#refs}", ":::", ""])
    require_known(text, set(survey.references))
    return text


def printed_sentence(sentence: Sentence, *, is_authors_own: bool = True) -> str:
    """A sentence with its token before the final stop; the authors' own words stand in quotation marks."""
    cited = token(sentence.cited_ids)
    text = escape(sentence.text)
    if sentence.kind == "quoted" and is_authors_own:
        return f"“{text}” {cited}".strip()
    if not cited:
        return text
    end = _END.search(text)
    return f"{text[: end.start()]} {cited}{end.group(0)}" if end else f"{text} {cited}"


def _yaml(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
