"""The text of a leaf: which sentences it takes and how much of them.

Not here: the sections around the leaves (`framing`), scoring (`selection`), the order of sentences (`arranging`).
"""

from collections.abc import Collection, Sequence

import numpy as np

from generation.extractive.arranging import grouped, paragraphs
from generation.extractive.details import beyond_abstracts, choose_details
from generation.extractive.selection import (
    Embed,
    Option,
    choose_any,
    choose_findings,
    choose_main,
    options_of,
    weight,
)
from generation.values import Paragraph, SectionDraft, Span
from generation.writing import DraftRequest, Evidence

_LEAST_WORDS = 130
"""Words a leaf section should have where the evidence bears it."""

_LEAST_PAPERS = 3
_DETAILS = 2
"""Sentences of full texts that a leaf may hold besides its papers' own, or half as many as it cites papers."""

_SPARE = 6
"""Papers read for a leaf beyond those it may cite, for those whose sentences turn out not to stand alone."""


def body(request: DraftRequest, subject: np.ndarray, embed: Embed, avoid: Collection[Span]) -> SectionDraft:
    """A leaf: its home papers first, others of its evidence only where these do not fill it."""
    ranked = sorted(request.evidence, key=lambda e: (not e.is_home, -weight(e), e.paper.paper_id))
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


def _words(printed: Sequence[Paragraph]) -> int:
    return sum(len(s.text.split()) for p in printed for s in p)


def _cites(chosen: Sequence[Option], item: Evidence) -> bool:
    return any(o.paper.paper_id == item.paper.paper_id for o in chosen)
