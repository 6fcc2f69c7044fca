"""The text of a leaf: which sentences it takes and how much of them.

Not here: the sections around the leaves (`framing`), scoring (`selection`), the order of sentences (`arranging`).
"""

from collections.abc import Collection, Sequence

import numpy as np

from generation.extractive.arranging import Setting, paragraphs, themed
from generation.extractive.connecting import names_sentence
from generation.extractive.details import beyond_abstracts, choose_details
from generation.extractive.selection import (
    Embed,
    Option,
    choose_findings,
    choose_main,
    options_of,
    weight,
)
from generation.extractive.sharing import count_query, shared_names
from generation.values import Paragraph, SectionDraft, Span
from generation.writing import DraftRequest, Evidence

_LEAST_WORDS = 130
"""Words a leaf section should have where the evidence bears it."""

_LEAST_PAPERS = 3
_DETAILS = 2
"""Sentences of full texts that a leaf may hold besides its papers' own, or half as many as it cites papers."""

_LONG = 6
"""Sentences from which a paragraph takes no further one."""

_OVERVIEW = 10
"""Papers from which it is worth telling what the section's papers name."""

_OFTEN = 5
"""Papers that must name a thing which is the only one told of."""

_MANY = 12
"""Papers from which a leaf is long."""

_SPARE = 6
"""Papers read for a leaf beyond those it may cite, for those whose sentences turn out not to stand alone."""


def body(request: DraftRequest, subject: np.ndarray, embed: Embed, avoid: Collection[Span]) -> SectionDraft:
    """A leaf: its home papers first, others of its evidence only where these do not fill it."""
    ranked = sorted(request.evidence, key=lambda e: (not e.is_home, -weight(e), e.paper.paper_id))
    home_count = sum(e.is_home for e in ranked)
    ranked = ranked[: min(request.most_papers + _SPARE, max(home_count, _LEAST_PAPERS + _SPARE))]
    about = f"{request.title} {request.description}"
    options = options_of(ranked, subject, embed, about, avoid, with_leaning=True)
    home = [e.paper.paper_id for e in ranked if e.is_home]
    chosen = choose_main(options, home, request.most_papers)
    if len(chosen) < _LEAST_PAPERS:
        more = [e.paper.paper_id for e in ranked if not e.is_home]
        rest = [o for o in options if not any(o.paper.paper_id == c.paper.paper_id for c in chosen)]
        chosen += choose_main(rest, more, _LEAST_PAPERS - len(chosen))
    vectors = {e.paper.paper_id: e.vector for e in request.evidence}
    setting = _setting(request)
    groups = themed(chosen, vectors, setting)
    findings = choose_findings(options, chosen, _findings_of(len(chosen)))
    options = beyond_abstracts(options, [*chosen, *findings])
    findings += choose_details(options, [*chosen, *findings], max(_DETAILS, round(0.5 * len(chosen))))
    printed = paragraphs(groups, findings, options, setting)
    while _words(printed) < _LEAST_WORDS:
        used = {s.spans[0] for p in printed for s in p if s.spans}
        left = [o for o in options if o.sentence.spans[0] not in used]
        more = choose_findings(left, [*chosen, *findings], 1) or choose_findings(
            left, [*chosen, *findings], 1, ("method",)
        )
        if more:
            findings += more
        elif extra := choose_main(left, [e.paper.paper_id for e in ranked if not _cites(chosen, e)], 1):
            chosen += extra
            groups = themed(chosen, vectors, setting)
        else:
            break
        printed = paragraphs(groups, findings, options, setting)
    cited = {p for paragraph in printed for s in paragraph for p in s.cited_ids}
    if left_out := [p for p in home[: request.most_papers] if p not in cited]:
        # Their sentences needed one before them that is not there; others of theirs may stand alone.
        alone = options_of([e for e in ranked if e.paper.paper_id in left_out], subject, embed, about, avoid)
        chosen = [o for o in chosen if o.paper.paper_id in cited] + choose_main(alone, left_out, len(left_out))
        findings = [f for f in findings if f.paper.paper_id in cited]
        printed = paragraphs(themed(chosen, vectors, setting), findings, options, setting)
    return SectionDraft(request.number, request.title, tuple(_with_names(printed, request, setting)))


def _findings_of(papers: int) -> int:
    """Findings beside the papers' own sentences: fewer in a leaf that is long without them."""
    return max(1, round(0.25 * papers) if papers <= _MANY else round(0.15 * papers))


def _setting(request: DraftRequest) -> Setting:
    numbers = [number for number, _, role in request.outline if role == "body"]
    turn = numbers.index(request.number) if request.number in numbers else 0
    headings = tuple(title for _, title, role in request.outline if role == "body")
    return Setting(turn, (request.title, request.topic), tuple(e.paper for e in request.evidence), headings)


def _with_names(printed: list[Paragraph], request: DraftRequest, setting: Setting) -> list[Paragraph]:
    """The paragraphs with a sentence on the data and models that the section's papers name, where three name one."""
    cited = {p for paragraph in printed for s in paragraph for p in s.cited_ids}
    papers = [e.paper for e in request.evidence if e.paper.paper_id in cited]
    names = shared_names(papers, [w for text in setting.taken for w in text.split()])
    if not names or not printed or len(papers) < _OVERVIEW or (len(names) == 1 and len(names[0].paper_ids) < _OFTEN):
        return printed
    told = names_sentence(names, len(papers), count_query(papers), setting.turn)
    held = set(names[0].paper_ids)
    # Where most of them stand, behind the sentence that opens the paragraph in nobody's name.
    room = [i for i, paragraph in enumerate(printed) if len(paragraph) < _LONG] or range(len(printed))
    place = max(room, key=lambda i: (len(held & {p for s in printed[i] for p in s.cited_ids}), -i))
    at = 1 if printed[place][0].kind in ("quoted", "composed") else 0
    printed[place] = (*printed[place][:at], told, *printed[place][at:])
    return printed


def _words(printed: Sequence[Paragraph]) -> int:
    return sum(len(s.text.split()) for p in printed for s in p)


def _cites(chosen: Sequence[Option], item: Evidence) -> bool:
    return any(o.paper.paper_id == item.paper.paper_id for o in chosen)
