"""The extractive writer: every operation answered by selecting and arranging what the papers say."""

import re
from collections.abc import Callable, Sequence
from typing import ClassVar

import numpy as np

from generation.extractive import prose
from generation.extractive.clustering import centroids, settle, ward
from generation.extractive.headings import key_queries, name_groups
from generation.extractive.selection import TOO_ALIKE
from generation.values import Paper, Pattern, SectionDraft
from generation.writing import (
    DraftRequest,
    Evidence,
    MergeRequest,
    OutlineRequest,
    RefineRequest,
    SectionPlan,
    SubsectionsRequest,
)

_SMALLEST_SECTION = 4
_SMALLEST_SUBSECTION = 4
_QUERIES = 3
_LATE = re.compile(
    r"\b(?:evaluat|benchmark|metric|applicat|domain|medical|clinical|legal|secur|attack|privacy|safety|trust|robust)",
    re.IGNORECASE,
)


class ExtractiveWriter:
    """No model, no network, the same text from the same evidence.

    Args:
        embed: texts → unit vectors (n, d); the embedder of the index, so that papers and sentences compare.
    """

    name: ClassVar[str] = "extractive"
    version: ClassVar[str] = "1"

    def __init__(self, embed: Callable[[Sequence[str]], np.ndarray]) -> None:
        self._embed = embed

    async def outline(self, request: OutlineRequest) -> tuple[SectionPlan, ...]:
        """Groups of one chunk of papers, each under its commonest key phrase."""
        items = [e for e in request.evidence if e.vector is not None]
        if not items:
            return ()
        matrix = np.stack([e.vector for e in items])
        labels = ward(matrix, request.section_count)
        plans = []
        for group in range(labels.max() + 1):
            papers = [e.paper for e, label in zip(items, labels, strict=True) if label == group]
            queries = key_queries(papers, request.topic, _QUERIES) or [papers[0].title]
            plans.append(
                SectionPlan(
                    queries[0], "", tuple(queries), tuple(p.paper_id for p in papers),
                    tuple(p.outline_id for p in request.patterns),
                )
            )  # fmt: skip
        return tuple(plans)

    async def merge(self, request: MergeRequest) -> tuple[SectionPlan, ...]:
        """Groups of the rough groups, settled over all papers, named together, in reading order."""
        rough = [plan for plans in request.rough for plan in plans]
        ids = list(dict.fromkeys(p for plan in rough for p in plan.paper_ids))
        if not ids:
            return ()
        matrix = np.stack([request.evidence[p].vector for p in ids])
        row = {p: i for i, p in enumerate(ids)}
        middles = np.stack([matrix[[row[p] for p in plan.paper_ids]].mean(axis=0) for plan in rough])
        middles /= np.maximum(np.linalg.norm(middles, axis=1, keepdims=True), 1e-12)
        start = centroids(middles, ward(middles, request.section_count))
        labels = settle(matrix, start, smallest=min(_SMALLEST_SECTION, len(ids)))
        papers = [request.evidence[p].paper for p in ids]
        return self._plans(papers, matrix, labels, request.topic, request.patterns, request.taken, _in_reading_order)

    async def subsections(self, request: SubsectionsRequest) -> tuple[SectionPlan, ...]:
        """Groups of the memory shown, with sub-queries from its titles; none where it is too small to divide."""
        items = [e for e in request.memory if e.vector is not None]
        count = min(request.most, len(items) // (2 * _SMALLEST_SUBSECTION))
        if count < 2:
            return ()
        matrix = np.stack([e.vector for e in items])
        labels = settle(matrix, centroids(matrix, ward(matrix, count)), smallest=_SMALLEST_SUBSECTION)
        if labels.max() == 0:
            return ()
        papers = [e.paper for e in items]
        taken = (*request.taken, request.section.title)
        return self._plans(papers, matrix, labels, request.topic, request.patterns, taken, _oldest_first)

    async def draft(self, request: DraftRequest) -> SectionDraft:
        """The text of a node by its role; nothing is cited that is not in the evidence."""
        return self._write(request, ())

    async def refine(self, request: RefineRequest) -> SectionDraft:
        """The draft again without what its neighbours already say, or as it was where nothing is said twice."""
        own = [s.text for s in request.draft.sentences() if s.kind != "composed"]
        others = [s.text for n in request.neighbours for s in n.sentences() if s.kind != "composed"]
        if not own or not others:
            return request.draft
        alike = (self._embed(own) @ self._embed(others).T).max(axis=1)
        repeated = [text for text, score in zip(own, alike, strict=True) if score >= TOO_ALIKE or text in set(others)]
        return self._write(request.request, repeated) if repeated else request.draft

    def _write(self, request: DraftRequest, avoid: Sequence[str]) -> SectionDraft:
        subject = self._embed([f"{request.title}. {request.description}" if request.description else request.title])[0]
        has_parts = any(number.startswith(request.number + ".") for number, _, _ in request.outline)
        form = {
            "introduction": prose.introduction,
            "open_problems": prose.open_problems,
            "conclusion": prose.conclusion,
            "body": prose.lead if has_parts else prose.body,
        }[request.role]
        return form(request, subject, self._embed, tuple(avoid))

    def _plans(
        self,
        papers: list[Paper],
        matrix: np.ndarray,
        labels: np.ndarray,
        topic: str,
        patterns: Sequence[Pattern],
        taken: Sequence[str],
        order: Callable[[list["tuple[str, list[Paper]]"]], list[int]],
    ) -> tuple[SectionPlan, ...]:
        groups = [[p for p, label in zip(papers, labels, strict=True) if label == g] for g in range(labels.max() + 1)]
        headings = name_groups(groups, centroids(matrix, labels), topic, patterns, self._embed, taken)
        plans = []
        for group, heading in zip(groups, headings, strict=True):
            others = [p for other in groups if other is not group for p in other]
            queries = [q for q in key_queries(group, topic, _QUERIES, others) if q.lower() != heading.text.lower()]
            plans.append(
                SectionPlan(
                    title=heading.text,
                    description="; ".join(queries),
                    queries=tuple(queries) or (heading.text,),
                    paper_ids=tuple(p.paper_id for p in group),
                    patterns=(heading.pattern,) if heading.pattern else (),
                    origin=heading.origin,
                )
            )
        keyed = [(plan.title, group) for plan, group in zip(plans, groups, strict=True)]
        return tuple(plans[i] for i in order(keyed))


def _median_day(papers: Sequence[Paper]) -> float:
    return float(np.median([p.submitted_latest.toordinal() for p in papers]))


def _in_reading_order(groups: list[tuple[str, list[Paper]]]) -> list[int]:
    """Foundations first, by time; what is measured with, attacked or applied comes after what it is about."""
    return sorted(range(len(groups)), key=lambda i: (bool(_LATE.search(groups[i][0])), _median_day(groups[i][1]), i))


def _oldest_first(groups: list[tuple[str, list[Paper]]]) -> list[int]:
    return sorted(range(len(groups)), key=lambda i: (_median_day(groups[i][1]), i))
