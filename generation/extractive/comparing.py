"""A table that sets the works of a section side by side: name, year, and a result each reports in its own words.

Belongs here: which results stand in a table, and the facts beside them. Not here: adapting a sentence (`adaptation`),
and where the table stands (`surveyforge`).
"""

import re
from collections.abc import Collection

from generation.captions import COMPARISON
from generation.extractive.adaptation import adapt
from generation.extractive.refusals import says_nothing
from generation.extractive.selection import FIGURE
from generation.extractive.sentences import whole_sentences
from generation.extractive.speakers import Manner
from generation.misprints import is_unclear, joined_words
from generation.stated_works import work_and_year
from generation.values import Paper, Paragraph, Sentence, Span, StatedRow
from generation.writing import CompareRequest

COLUMNS = ("Work", "Year", "Reported result")
_LEAST, _MOST = 3, 8
_COMPARES = re.compile(
    r"\b(?:outperform|improv|reduc|achiev|accura|speed|fast|than\b|compared|exceed|surpass|better|worse|gain|increas|decreas|"
    r"F1|BLEU|ROUGE|recall|precision|error|perplexity|MAP\b|MRR|nDCG|exact match|points)",
    re.IGNORECASE,
)
_LONGEST = 38
"""Words of a result; longer ones are no entry of a table."""


def comparison(request: CompareRequest) -> Paragraph:
    """Caption and rows, older works first; () where fewer than three works report a figure that is not told elsewhere."""
    ranked = sorted(request.evidence, key=lambda e: (-e.standing, e.paper.paper_id))
    found: list[tuple[Paper, Sentence]] = []
    for item in ranked:
        if len(found) < _MOST and (result := _result(item.paper, request.avoid)):
            found.append((item.paper, result))
    if len(found) < _LEAST:
        return ()
    section = StatedRow("section", request.number)
    caption = Sentence(
        "composed", COMPARISON.format(section=request.number), template=COMPARISON, place="caption",
        rows=(section, *(StatedRow("column", c) for c in COLUMNS)),
    )  # fmt: skip
    found.sort(key=lambda pair: (pair[0].submitted_latest, pair[0].paper_id))
    return (caption, *(_row(paper, result) for paper, result in found))


def _row(paper: Paper, result: Sentence) -> Sentence:
    return Sentence(
        result.kind,
        result.text,
        result.cited_ids,
        result.spans,
        result.edits,
        None,
        work_and_year(paper),
        place="table",
    )


def _result(paper: Paper, avoid: Collection[Span]) -> Sentence | None:
    """The first sentence of the abstract that reports a figure, stands alone and is not printed elsewhere."""
    unclear = joined_words([paper.abstract or ""], [paper.title])
    for source in whole_sentences(paper):
        is_result = FIGURE.search(source.text) and _COMPARES.search(source.text) and not says_nothing(source.text)
        is_result = is_result and not is_unclear(source.text, unclear)
        if source.move == "finding" and is_result and source.span not in avoid:
            sentence = adapt(source, paper, Manner(follows=True))
            if sentence is not None and len(sentence.text.split()) <= _LONGEST:
                return sentence
    return None
