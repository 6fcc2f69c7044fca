"""The text of each kind of section: which sentences it takes and how much of them.

Belongs here: the recipe of a leaf, a lead, the introduction, the open problems, the conclusion. Not here: scoring
(`selection`), the order of sentences (`arranging`), templates (`composing`).
"""

from collections.abc import Collection, Sequence

import numpy as np

from generation.extractive import composing
from generation.extractive.arranging import flowing, grouped, in_time, paragraphs
from generation.extractive.composing import compose, turn
from generation.extractive.details import beyond_abstracts, choose_details
from generation.extractive.phrases import content_stems, root
from generation.extractive.selection import (
    Embed,
    Option,
    choose_any,
    choose_definition,
    choose_findings,
    choose_general,
    choose_main,
    options_of,
)
from generation.naming import listed
from generation.values import Paragraph, SectionDraft, Span, StatedRow
from generation.writing import DraftRequest, Evidence

_LEAST_WORDS = 130
"""Words a leaf section should have where the evidence bears it."""

_LEAST_PAPERS = 3
_DETAILS = 2
"""Sentences of full texts that a leaf may hold besides its papers' own, or half as many as it cites papers."""

_SPARE = 6
"""Papers read for a leaf beyond those it may cite, for those whose sentences turn out not to stand alone."""

_READ = 24
"""Papers read for the sections around the leaves."""

_OPEN_PROBLEM_PAPERS = 5
"""Fewer papers that state an open problem make no section."""


def body(request: DraftRequest, subject: np.ndarray, embed: Embed, avoid: Collection[Span]) -> SectionDraft:
    """A leaf: its home papers first, others of its evidence only where these do not fill it."""
    ranked = sorted(request.evidence, key=lambda e: (not e.is_home, -_weight(e), e.paper.paper_id))
    home_count = sum(e.is_home for e in ranked)
    ranked = ranked[: min(request.most_papers + _SPARE, max(home_count, _LEAST_PAPERS + _SPARE))]
    about = f"{request.title} {request.description}"
    options = options_of(ranked, subject, embed, about, avoid)
    home = [e.paper.paper_id for e in ranked if e.is_home]
    chosen = choose_main(options, home, request.most_papers)
    if len(chosen) < _LEAST_PAPERS:
        more = [e.paper.paper_id for e in ranked if not e.is_home]
        rest = [o for o in options if not any(o.paper.paper_id == c.paper.paper_id for c in chosen)]
        chosen += choose_main(rest, more, _LEAST_PAPERS - len(chosen))
    vectors = {e.paper.paper_id: e.vector for e in request.evidence}
    groups = grouped(chosen, vectors)
    findings = choose_findings(options, chosen, max(1, round(0.3 * len(chosen))))
    options = beyond_abstracts(options, [*chosen, *findings])
    findings += choose_details(options, [*chosen, *findings], max(_DETAILS, round(0.5 * len(chosen))))
    printed = paragraphs(groups, findings, options)
    while _words(printed) < _LEAST_WORDS:
        used = {s.spans[0] for p in printed for s in p}
        left = [o for o in options if o.sentence.spans[0] not in used]
        own = [o for o in left if any(o.paper.paper_id == c.paper.paper_id for c in chosen)]
        more = choose_findings(own, [*chosen, *findings], 1) or [
            o for o in choose_any(own, chosen, 1) if not o.is_general
        ]
        if more:
            findings += more
        elif extra := choose_main(left, [e.paper.paper_id for e in ranked if not _cites(chosen, e)], 1):
            chosen += extra
            groups = grouped(chosen, vectors)
        else:
            break
        printed = paragraphs(groups, findings, options)
    return SectionDraft(request.number, request.title, tuple(printed))


def lead(request: DraftRequest, subject: np.ndarray, embed: Embed, avoid: Collection[Span]) -> SectionDraft:
    """The opening of a section that has subsections: a general sentence or two, then what the section holds."""
    ranked = sorted(request.evidence, key=lambda e: (-_weight(e), e.paper.paper_id))[:_READ]
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
    ranked = sorted(request.evidence, key=lambda e: (-_weight(e), e.paper.paper_id))[:_READ]
    options = options_of(ranked, subject, embed, request.title, avoid)
    first = choose_definition(options, {root(s) for s in content_stems(request.topic)})
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


def _weight(item: Evidence) -> float:
    """Nearness, and a little for papers others build on and for surveys."""
    survey = 0.08 if any(w in item.paper.title.lower() for w in ("survey", "review")) else 0.0
    return item.similarity + 0.06 * float(np.log1p(item.paper.citation_count)) + survey


def _words(printed: Sequence[Paragraph]) -> int:
    return sum(len(s.text.split()) for p in printed for s in p)


def _cites(chosen: Sequence[Option], item: Evidence) -> bool:
    return any(o.paper.paper_id == item.paper.paper_id for o in chosen)
