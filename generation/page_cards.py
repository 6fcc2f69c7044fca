"""What the cards of the page show of each sentence: its spans as they stand in the source, its edits, what it states,
and of a sentence that a model wrote how its citations were checked.

The data go into the page once, as JSON that the page's script reads; a paper's own values stand in its entry of the
bibliography. Not here: how a card looks (`templates/page.js`, `templates/page.css`).
"""

import json
from collections.abc import Mapping, Sequence

from generation.rendering import RenderingFailed
from generation.values import Paper, Sentence, Span, Survey


def card_data(
    survey: Survey, papers: Sequence[Paper], passage_texts: Mapping[str, str], edition: str
) -> dict[str, dict[str, list]]:
    """Sentence number → what its card shows; empty lists are left out.

    `spans`: [paper id, where it stands, text]; `edits`: [name, before, after]; `rows`: [name, value, query or ""];
    `checks`: [paper id, verdict, similarity, reason, action, judge].

    Args:
        passage_texts: passage id → text, of all passages that spans lie in.
        edition: stands for `$edition` in queries.

    Raises:
        RenderingFailed: a span lies in a text that is not given.
    """
    by_id = {paper.paper_id: paper for paper in papers}
    data, number = {}, 0
    for section in survey.sections:
        for sentence in section.sentences():
            number += 1
            if card := _card(sentence, by_id, passage_texts, edition):
                data[str(number)] = card
    return data


def as_json(data: Mapping) -> str:
    """JSON that can stand in a script element: no character that HTML reads."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    # U+2028 and U+2029 end a line for old readers of JavaScript.
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def span_text(span: Span, papers: Mapping[str, Paper], passage_texts: Mapping[str, str]) -> str:
    """The characters a span names.

    Raises:
        RenderingFailed: its abstract or passage is not given, or is shorter.
    """
    if span.source == "passage":
        text = passage_texts.get(span.passage_id or "")
    else:
        text = papers[span.paper_id].abstract if span.paper_id in papers else None
    if text is None or not 0 <= span.start < span.end <= len(text):
        which = f"{span.source} of {span.paper_id}, characters {span.start} to {span.end}"
        raise RenderingFailed("the text of a span is not there", which=which)
    return text[span.start : span.end]


def _card(
    sentence: Sentence, papers: Mapping[str, Paper], passage_texts: Mapping[str, str], edition: str
) -> dict[str, list]:
    spans = [[s.paper_id, _place(s, papers), span_text(s, papers, passage_texts)] for s in sentence.spans]
    edits = [[edit.name, edit.before, edit.after] for edit in sentence.edits]
    rows = [[row.name, row.value, (row.query or "").replace("$edition", edition)] for row in sentence.rows]
    checks = [[c.paper_id, c.verdict, round(c.similarity, 2), c.reason, c.action, c.judge] for c in sentence.checks]
    held = {"spans": spans, "edits": edits, "rows": rows, "checks": checks}
    return {name: values for name, values in held.items() if values}


def _place(span: Span, papers: Mapping[str, Paper]) -> str:
    if span.source == "passage":
        return f"the full text, page {span.page}" if span.page else "the full text"
    paper = papers.get(span.paper_id)
    return "a summary by the project" if paper and paper.abstract_origin != "source" else "the abstract"
