"""The sections around the leaves: introduction, leads, open problems, conclusion.

Not here: the leaves (`prose`), scoring (`selection`), the order of sentences (`arranging`), templates (`composing`).
"""

from collections.abc import Collection

import numpy as np

from generation.extractive import composing
from generation.extractive.arranging import flowing, grouped, in_time
from generation.extractive.composing import compose, turn
from generation.extractive.concepts import special_roots
from generation.extractive.phrases import content_stems, root
from generation.extractive.selection import (
    Embed,
    choose_any,
    choose_definition,
    choose_general,
    options_of,
    roots,
    weight,
)
from generation.naming import listed
from generation.values import Paragraph, SectionDraft, Span, StatedRow
from generation.writing import DraftRequest

_READ = 24
"""Papers read for the sections around the leaves."""

_TOPIC_WORDS = 2
_OPEN_PROBLEM_PAPERS = 5
"""Fewer papers that state an open problem make no section."""


def lead(request: DraftRequest, subject: np.ndarray, embed: Embed, avoid: Collection[Span]) -> SectionDraft:
    """The opening of a section that has subsections: a general sentence or two, then what the section holds."""
    ranked = sorted(request.evidence, key=lambda e: (-weight(e), e.paper.paper_id))[:_READ]
    options = options_of(ranked, subject, embed, request.title, avoid, ("background", "problem"))
    title = {root(s) for s in content_stems(request.title)}
    options = [o for o in options if title & {root(s) for s in content_stems(o.sentence.text)}]
    first = choose_definition(options, title)
    general = [first, *choose_general(options, [first], 1)] if first else []
    facts = {f.name: f for f in request.facts}
    most = facts.pop("most_cited_id", None)
    stated = [compose(turn(composing.LEADS, request.number), facts)]
    if most and "most_citations" in facts:
        stated.append(compose(turn(composing.MOST_CITED, request.number), facts, [most.value]))
    printed: list[Paragraph] = [tuple(o.sentence for o in general)] if general else []
    return SectionDraft(request.number, request.title, (*printed, tuple(stated)))


def introduction(request: DraftRequest, subject: np.ndarray, embed: Embed, avoid: Collection[Span]) -> SectionDraft:
    """What the topic is and why it matters, in the words of its nearest papers; then scope and plan of the survey."""
    ranked = sorted(request.evidence, key=lambda e: (-weight(e), e.paper.paper_id))[:_READ]
    topic = {root(s) for s in content_stems(request.topic)}
    options = options_of(ranked, subject, embed, request.topic, avoid)
    # What opens a survey speaks of its topic, not of the world in which it is written.
    own = special_roots(request.topic)
    options = [
        o for o in options
        if len(topic & roots(o.sentence.text)) >= min(_TOPIC_WORDS, len(topic)) and own & roots(o.sentence.text)
    ]  # fmt: skip
    first = choose_definition(options, topic)
    opening = (
        [first, *choose_general([o for o in options if o.move == "background"], [first], 2, subject)] if first else []
    )
    problems = choose_general([o for o in options if o.move == "problem"], opening, 3, subject)
    facts = {f.name: f for f in request.facts}
    plan = [
        f"{title} (Section {number})" for number, title, role in request.outline if role == "body" and "." not in number
    ]
    said = (composing.SCOPE, composing.OWN_WORDS, composing.SUMMARIES, composing.MIXED, composing.FULL_TEXT)
    scope = [compose(template, facts) for template in said]
    if plan:
        scope.append(compose(composing.PLAN, {"plan": StatedRow("plan", listed(plan))}))
    printed = [tuple(o.sentence for o in group) for group in (opening, problems) if group]
    return SectionDraft(request.number, request.title, (*printed, tuple(scope)))


def open_problems(request: DraftRequest, subject: np.ndarray, embed: Embed, avoid: Collection[Span]) -> SectionDraft:
    """What papers say is unsolved, one sentence a paper; no paragraph where fewer than five papers say so."""
    ranked = sorted(request.evidence, key=lambda e: (-e.similarity, e.paper.paper_id))
    options = options_of(ranked, subject, embed, request.title, avoid, ("open",))
    chosen = choose_any(options, [], 10)
    if len(chosen) < _OPEN_PROBLEM_PAPERS:
        return SectionDraft(request.number, request.title, ())
    groups = grouped(chosen, {o.paper.paper_id: o.vector for o in chosen})
    return SectionDraft(request.number, request.title, tuple(flowing([o.sentence for o in g]) for g in groups))


def conclusion(request: DraftRequest, subject: np.ndarray, embed: Embed, avoid: Collection[Span]) -> SectionDraft:
    """What the survey holds, in figures, and what its newest papers report."""
    facts = {f.name: f for f in request.facts}
    newest = sorted(request.evidence, key=lambda e: (e.paper.submitted_latest, e.paper.paper_id), reverse=True)[:_READ]
    options = options_of(newest, subject, embed, request.topic, avoid, ("finding",))
    # What an abstract reports is what the paper is about; the text holds findings beside it.
    findings = in_time(choose_any([o for o in options if not o.is_of_text] or options, [], 3))
    most = facts.pop("most_cited_id", None)
    stated = [compose(composing.FIGURES, facts)]
    if most and "most_citations" in facts:
        stated.append(compose(composing.MOST_CITED_OF_ALL, facts, [most.value]))
    printed: list[Paragraph] = [tuple(stated)]
    if findings:
        printed.append((compose(composing.NEWEST, {}), *(o.sentence for o in findings)))
    return SectionDraft(request.number, request.title, tuple(printed))
