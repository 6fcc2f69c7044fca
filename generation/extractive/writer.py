"""The extractive writer: every operation answered by selecting and arranging what the papers say."""

import math
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from generation.cards import PaperCard
from generation.extractive import cards, framing, prose
from generation.extractive.comparing import comparison
from generation.extractive.concepts import special_roots
from generation.extractive.further import further
from generation.extractive.grouping import Group, divide
from generation.extractive.phrases import root
from generation.extractive.selection import TOO_ALIKE
from generation.values import Failure, Paper, Paragraph, Pattern, SectionDraft, Span
from generation.writing import (
    CardRequest,
    CompareRequest,
    DraftRequest,
    Evidence,
    GroundRequest,
    MergeRequest,
    OutlineRequest,
    RefineRequest,
    SectionPlan,
    SubsectionsRequest,
)

_SMALLEST = 3
"""Papers a heading needs."""

_PART = 7
"""Papers shown for each part of a section; fewer make a section without parts."""

_MINOR = 0.06
"""Share of the papers below which a section is a side matter."""

_LATE = re.compile(
    r"\b(?:evaluat|benchmark|metric|applicat|domain|medical|clinical|legal|secur|attack|privacy|safety|trust|robust|"
    r"hallucinat)",
    re.IGNORECASE,
)


class ExtractiveWriter:
    """No model, no network, the same text from the same evidence.

    Args:
        embed: texts → unit vectors (n, d); the embedder of the index, so that papers and sentences compare.
    """

    name: ClassVar[str] = "extractive"
    version: ClassVar[str] = "1"
    asks_a_model: ClassVar[bool] = False

    def __init__(self, embed: Callable[[Sequence[str]], np.ndarray]) -> None:
        self._embed = embed

    @property
    def card_version(self) -> str:
        return cards.version()

    async def card(self, request: CardRequest) -> PaperCard:
        """The card in the paper's own words."""
        return cards.extractive_card(request.paper, request.passages)

    def told(self) -> tuple[Failure, ...]:
        """Nothing: it fails at nothing by itself."""
        return ()

    def portions(self, evidence: Sequence[Evidence], most: int) -> list[list[Evidence]]:
        """Parts of equal size, as few as hold all."""
        count = max(1, math.ceil(len(evidence) / most))
        return [list(evidence[i * len(evidence) // count : (i + 1) * len(evidence) // count]) for i in range(count)]

    async def outline(self, request: OutlineRequest) -> tuple[SectionPlan, ...]:
        """Groups of one chunk of papers under concepts of the chunk; what no concept holds goes without one."""
        items = [e for e in request.evidence if e.vector is not None]
        groups = self._divided(items, request.section_count, request.topic, request.patterns, headings=request.headings)
        grouped = {p.paper_id for group in groups for p in group.papers}
        rest = tuple(e.paper.paper_id for e in items if e.paper.paper_id not in grouped)
        examples = tuple(p.outline_id for p in request.patterns)
        plans = [replace(_plan(group), patterns=examples) for group in groups]
        return tuple(plans) if not rest else (*plans, SectionPlan("", "", (), rest, examples))

    async def merge(self, request: MergeRequest) -> tuple[SectionPlan, ...]:
        """Groups over all papers, under concepts that the rough outlines had votes on.

        What the topic's own words name comes first, then foundations, small sections after large ones, and what is measured with, attacked or applied last.
        """
        rough = [plan for plans in request.rough for plan in plans]
        items = [request.evidence[p] for p in dict.fromkeys(p for plan in rough for p in plan.paper_ids)]
        votes = [plan.title for plan in rough if plan.title]
        groups = self._divided(
            items,
            request.section_count,
            request.topic,
            request.patterns,
            taken=request.taken,
            votes=votes,
            headings=request.headings,
        )
        if not groups and items:
            # Too few papers, or none that share a concept: one section of all.
            return (_whole([e.paper for e in items]),)
        minor = _MINOR * sum(len(group.papers) for group in groups)
        basic = _foundations(groups)
        own = special_roots(request.topic)

        def place(group: Group) -> tuple:
            shared = len(own & {root(s) for s in group.concept.stems})
            late = bool(_LATE.search(group.concept.text))
            return not shared and late, not shared and len(group.papers) < minor, -shared, basic[group.concept.text]

        ordered = sorted(groups, key=place)
        return tuple(_plan(group) for group in ordered)

    async def subsections(self, request: SubsectionsRequest) -> tuple[SectionPlan, ...]:
        """Groups of the memory shown, under concepts that narrow the section's; none where it is too small."""
        items = [e for e in request.memory if e.vector is not None]
        count = min(request.most, len(items) // _PART)
        if count < 2:
            return ()
        groups = self._divided(
            items,
            count,
            request.topic,
            request.patterns,
            taken=request.taken,
            above=request.section.title,
            headings=request.headings,
        )
        return tuple(_plan(group) for group in sorted(groups, key=_median_day)) if groups else ()

    async def draft(self, request: DraftRequest) -> SectionDraft:
        """The text of a node by its role; nothing is cited that is not in the evidence."""
        return self._write(request, ())

    async def refine(self, request: RefineRequest) -> SectionDraft:
        """The draft again without what its neighbours already say, or as it was where nothing is said twice."""
        own = [s for s in request.draft.sentences() if s.spans]
        others = [s for n in request.neighbours for s in n.sentences() if s.spans]
        if not own or not others:
            return request.draft
        alike = (self._embed([s.text for s in own]) @ self._embed([s.text for s in others]).T).max(axis=1)
        said = {s.spans[0] for s in others}
        repeated = {s.spans[0] for s, score in zip(own, alike, strict=True) if score >= TOO_ALIKE or s.spans[0] in said}
        return self._write(request.request, repeated | said) if repeated else request.draft

    async def ground(self, request: GroundRequest) -> SectionDraft:
        """The draft as it is: each of its sentences is its source's."""
        return request.draft

    async def compare(self, request: CompareRequest) -> Paragraph:
        """Works side by side with a result each reports; nothing where fewer than three report one."""
        return comparison(request)

    def _write(self, request: DraftRequest, avoid: Collection[Span]) -> SectionDraft:
        subject = self._embed([f"{request.title}. {request.description}" if request.description else request.title])[0]
        has_parts = any(number.startswith(request.number + ".") for number, _, _ in request.outline)
        form = {
            "introduction": framing.introduction,
            "open_problems": framing.open_problems,
            "conclusion": framing.conclusion,
            "body": framing.lead if has_parts else prose.body,
        }[request.role]
        draft = form(request, subject, self._embed, avoid)
        named = further(request.evidence, draft.cited_ids, request.number, request.most_named)
        return replace(draft, paragraphs=(*draft.paragraphs, named)) if named else draft

    def _divided(
        self, items: Sequence[Evidence], count: int, topic: str, patterns: Sequence[Pattern], **more
    ) -> list[Group]:
        """Groups of at least three papers, where there are any papers to divide."""
        items = [e for e in items if e.vector is not None]
        if not items:
            return []
        matrix = np.stack([e.vector for e in items])
        papers = [e.paper for e in items]
        return divide(papers, matrix, count, topic, smallest=_SMALLEST, embed=self._embed, patterns=patterns, **more)


def _plan(group: Group) -> SectionPlan:
    return SectionPlan(
        title=group.concept.text,
        description="; ".join(group.queries),
        queries=group.queries or (group.concept.text,),
        paper_ids=tuple(p.paper_id for p in group.papers),
        patterns=(group.concept.pattern,) if group.concept.pattern else (),
        origin=group.origin,
    )


def _whole(papers: Sequence[Paper]) -> SectionPlan:
    return SectionPlan("Approaches", "", ("Approaches",), tuple(p.paper_id for p in papers), origin="method")


def _foundations(groups: Sequence[Group]) -> dict[str, float]:
    """Heading → place, small for what others build on: older, and spoken of in the papers of other sections."""
    days = np.array([_median_day(g) for g in groups])
    papers = {p.paper_id for g in groups for p in g.papers}
    spread = []
    for group in groups:
        others = papers - {p.paper_id for p in group.papers}
        spread.append(len(group.concept.spoken & others) / max(len(others), 1))
    places = days.argsort().argsort() - np.array(spread).argsort(kind="stable").argsort()
    return {g.concept.text: float(place) for g, place in zip(groups, places, strict=True)}


def _median_day(group: Group) -> float:
    return float(np.median([p.submitted_latest.toordinal() for p in group.papers]))
