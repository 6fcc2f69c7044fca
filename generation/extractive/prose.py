"""The text of each kind of section: from chosen sentences to paragraphs in a readable order.

A paragraph moves from the general to the particular: what the matter is, then what was done about it in order of
time, with findings behind the papers they belong to.
"""

from collections.abc import Sequence

import numpy as np

from generation.extractive.clustering import ward
from generation.extractive.composing import compose
from generation.extractive.selection import Embed, Option, choose_main, choose_more, options_of
from generation.naming import listed
from generation.values import Paragraph, SectionDraft, Sentence, StatedRow
from generation.writing import DraftRequest, Evidence

MIN_WORDS = 135
"""Words a leaf section should have where the evidence bears it."""

_PAPERS_PER_PARAGRAPH = 4
_LONGEST_PARAGRAPH = 6
"""Sentences."""

_READ = 26
"""Papers whose sentences are weighed for one section."""

_OPEN_PROBLEM_PAPERS = 5
"""Fewer papers that state an open problem make no section."""


def body(request: DraftRequest, subject: np.ndarray, embed: Embed, avoid: Sequence[str]) -> SectionDraft:
    """A leaf: its home papers first, others of its evidence only where these do not fill it."""
    ranked = _ranked(request.evidence)[:_READ]
    options = options_of(ranked, subject, embed, avoid)
    home = [e.paper.paper_id for e in ranked if e.is_home]
    more = [e.paper.paper_id for e in ranked if not e.is_home]
    chosen = choose_main(options, home, request.most_papers)
    if len(chosen) < 3:
        chosen += choose_main([o for o in options if o not in chosen], more, 3 - len(chosen))
    general = choose_more(_about(options, home), chosen, ("background", "problem"), _paragraph_count(len(chosen)))
    findings = choose_more(
        _about(options, [o.paper.paper_id for o in chosen]), [*chosen, *general], ("finding",), len(chosen) // 4
    )
    while sum(o.words for o in [*chosen, *general, *findings]) < MIN_WORDS:
        extra = choose_more(
            options, [*chosen, *general, *findings], ("finding", "background", "problem", "method", "open"), 1
        )
        if not extra:
            break
        findings += extra
    return SectionDraft(request.number, request.title, tuple(_paragraphs(chosen, general, findings, request.evidence)))


def lead(request: DraftRequest, subject: np.ndarray, embed: Embed, avoid: Sequence[str]) -> SectionDraft:
    """The opening of a section that has subsections: a general sentence or two, then what the section holds."""
    options = options_of(_ranked(request.evidence)[:_READ], subject, embed, avoid)
    general = choose_more(options, [], ("background", "problem"), 2)
    facts = {f.name: f for f in request.facts}
    most = facts.pop("most_cited_id", None)
    paragraphs: list[Paragraph] = []
    if general:
        paragraphs.append(tuple(o.sentence for o in general))
    stated = [
        compose(
            "{section_papers} papers of the pool fall under this heading, submitted between {first_year} and {last_year}; the subsections take up {parts} in turn.",
            facts,
        )
    ]
    if most and "most_citations" in facts:
        stated.append(
            compose(
                "The most cited of them within the corpus is “{most_title}”, with {most_citations} citing papers.",
                facts,
                [most.value],
            )
        )
    paragraphs.append(tuple(stated))
    return SectionDraft(request.number, request.title, tuple(paragraphs))


def introduction(request: DraftRequest, subject: np.ndarray, embed: Embed, avoid: Sequence[str]) -> SectionDraft:
    """Why the topic matters, in the words of its most cited papers and surveys; then scope and plan of the survey."""
    ranked = sorted(request.evidence, key=lambda e: (-_weight(e), e.paper.paper_id))[:_READ]
    options = options_of(ranked, subject, embed, avoid)
    background = choose_more(options, [], ("background", "problem"), 4)
    problems = choose_more(options, background, ("problem", "open"), 3)
    facts = {f.name: f for f in request.facts}
    paragraphs = [tuple(o.sentence for o in group) for group in (background, problems) if group]
    scope = [
        compose(
            "This survey maps the literature on “{topic_title}” as the lake held it up to {cutoff}: {admitted_count} papers are "
            "admitted by that day, {pool_count} of them were retrieved for the topic, and {cited_count} are cited.", facts),
        compose(
            "Its sentences are the papers' own: those in quotation marks stand in an abstract word for word, the others were "
            "changed only in how the authors are named.", facts),
    ]  # fmt: skip
    if "summary_count" in facts:
        scope.append(  # dropped later where no summary is cited
            compose(
                "For {summary_count} of the cited papers the text quoted is a summary by the project, not the authors' abstract.",
                facts,
            )
        )
    paragraphs.append(tuple(scope))
    plan = [
        f"Section {number} ({title})" for number, title, role in request.outline if role == "body" and "." not in number
    ]
    if plan:
        facts["plan"] = StatedRow("plan", listed(plan))
        paragraphs.append((compose("The body of the survey runs through {plan}.", facts),))
    return SectionDraft(request.number, request.title, tuple(paragraphs))


def open_problems(request: DraftRequest, subject: np.ndarray, embed: Embed, avoid: Sequence[str]) -> SectionDraft:
    """What papers say is unsolved, one sentence a paper; no paragraph where fewer than five papers say so."""
    ranked = sorted(request.evidence, key=lambda e: (-e.similarity, e.paper.paper_id))
    options = options_of(ranked, subject, embed, avoid, ("open",))
    chosen = choose_more(options, [], ("open",), 10)
    if len(chosen) < _OPEN_PROBLEM_PAPERS:
        return SectionDraft(request.number, request.title, ())
    groups = _grouped(chosen)
    return SectionDraft(request.number, request.title, tuple(tuple(o.sentence for o in g) for g in groups))


def conclusion(request: DraftRequest, subject: np.ndarray, embed: Embed, avoid: Sequence[str]) -> SectionDraft:
    """What the survey holds, in figures, and what its newest papers report."""
    facts = {f.name: f for f in request.facts}
    newest = sorted(request.evidence, key=lambda e: (e.paper.submitted_latest, e.paper.paper_id), reverse=True)[:_READ]
    findings = choose_more(options_of(newest, subject, embed, avoid), [], ("finding",), 3)
    most = facts.pop("most_cited_id", None)
    stated = [
        compose(
            "Across {body_count} sections the survey cites {cited_count} papers submitted between {first_year} and {last_year}; "
            "the largest section is “{largest_section}”, with {largest_count} of them.", facts),
    ]  # fmt: skip
    if most and "most_citations" in facts:
        stated.append(
            compose(
                "Within the corpus the paper cited most often is “{most_title}”, by {most_citations} others.",
                facts,
                [most.value],
            )
        )
    paragraphs: list[Paragraph] = [tuple(stated)]
    if findings:
        paragraphs.append(
            tuple(o.sentence for o in sorted(findings, key=lambda o: (o.paper.submitted_latest, o.paper.paper_id)))
        )
    return SectionDraft(request.number, request.title, tuple(paragraphs))


def _weight(item: Evidence) -> float:
    """Nearness, and a little for papers others build on and for surveys."""
    survey = 0.08 if any(w in item.paper.title.lower() for w in ("survey", "review")) else 0.0
    return item.similarity + 0.06 * float(np.log1p(item.paper.citation_count)) + survey


def _ranked(evidence: Sequence[Evidence]) -> list[Evidence]:
    return sorted(evidence, key=lambda e: (not e.is_home, -_weight(e), e.paper.paper_id))


def _about(options: Sequence[Option], paper_ids: Sequence[str]) -> list[Option]:
    wanted = set(paper_ids)
    return [o for o in options if o.paper.paper_id in wanted]


def _paragraph_count(papers: int) -> int:
    return max(1, round(papers / _PAPERS_PER_PARAGRAPH))


def _paragraphs(
    chosen: Sequence[Option], general: Sequence[Option], findings: Sequence[Option], evidence: Sequence[Evidence]
) -> list[Paragraph]:
    """Neighbouring papers share a paragraph; a general sentence opens it, time orders it, findings follow their paper."""
    if not chosen:
        return [tuple(o.sentence for o in [*general, *findings])] if general or findings else []
    vectors = {e.paper.paper_id: e.vector for e in evidence}
    groups = _grouped(chosen, vectors)
    centres = [np.mean([_of_paper(o, vectors) for o in group], axis=0) for group in groups]
    openers: list[list[Option]] = [[] for _ in groups]
    followers: dict[str, list[Option]] = {}
    for option in general:
        nearest = [i for i in np.argsort([-float(option.vector @ c) for c in centres]) if not openers[i]]
        openers[nearest[0] if nearest else 0].append(option)
    for option in findings:
        followers.setdefault(option.paper.paper_id, []).append(option)
    printed: list[Paragraph] = []
    for group, opener in zip(groups, openers, strict=True):
        sentences: list[Sentence] = [o.sentence for o in opener]
        for option in group:
            sentences.append(option.sentence)
            sentences += [o.sentence for o in followers.pop(option.paper.paper_id, [])]
        printed.append(tuple(sentences))
    rest = [o.sentence for group in followers.values() for o in group]
    if rest:
        printed[-1] = (*printed[-1], *rest)
    return [part for paragraph in printed for part in _cut(paragraph)]


def _cut(paragraph: Paragraph) -> list[Paragraph]:
    """A long paragraph in equal parts, never between two sentences of one paper."""
    count = -(-len(paragraph) // _LONGEST_PARAGRAPH)
    parts: list[Paragraph] = []
    rest = paragraph
    for left in range(count, 1, -1):
        at = round(len(rest) / left)
        while at < len(rest) and rest[at].cited_ids == rest[at - 1].cited_ids:
            at += 1
        parts.append(rest[:at])
        rest = rest[at:]
    return [p for p in (*parts, rest) if p]


def _grouped(chosen: Sequence[Option], vectors: dict | None = None) -> list[list[Option]]:
    """Groups of neighbours, older groups first, each in order of time."""
    count = _paragraph_count(len(chosen))
    matrix = np.stack([_of_paper(o, vectors or {}) for o in chosen])
    labels = ward(matrix, count)
    groups = [
        sorted(
            (o for o, label in zip(chosen, labels, strict=True) if label == g),
            key=lambda o: (o.paper.submitted_latest, o.paper.paper_id),
        )
        for g in range(labels.max() + 1)
    ]
    return sorted(
        groups,
        key=lambda group: (np.median([o.paper.submitted_latest.toordinal() for o in group]), group[0].paper.paper_id),
    )


def _of_paper(option: Option, vectors: dict) -> np.ndarray:
    found = vectors.get(option.paper.paper_id)
    return option.vector if found is None else found
