"""A survey as pandoc Markdown. Citations stay tokens with the paper id as key; numbers exist only in rendered forms."""

import re

from generation.citations import escape, require_known, token
from generation.values import Sentence, Survey

_END = re.compile(r"[.?!]$")


def markdown(survey: Survey, *, with_anchors: bool = False) -> str:
    """The survey with a `##` heading a section and `###` a subsection, numbered in the heading.

    Args:
        survey: what to print.
        with_anchors: give every sentence a span `#s<number>` of its kind, for pages.

    Raises:
        UnknownCitation: a token would name a paper the survey does not reference.
    """
    lines = ["---", f"title: {_yaml(survey.title)}", "---", ""]
    number = 0
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
                text = printed_sentence(sentence)
                printed.append(f"[{text}]{{#s{number} .{sentence.kind}}}" if with_anchors else text)
            lines += [" ".join(printed), ""]
    text = "\n".join([*lines, "## References", "", "::: {#refs}", ":::", ""])
    require_known(text, set(survey.references))
    return text


def printed_sentence(sentence: Sentence) -> str:
    """A sentence with its token before the final stop; the authors' own words stand in quotation marks."""
    cited = token(sentence.cited_ids)
    text = escape(sentence.text)
    if sentence.kind == "quoted":
        return f"“{text}” {cited}".strip()
    if not cited:
        return text
    end = _END.search(text)
    return f"{text[: end.start()]} {cited}{end.group(0)}" if end else f"{text} {cited}"


def _yaml(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
