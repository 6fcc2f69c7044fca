"""What an outline is where the model gave none: key phrases of the portion, or one of the rough outlines it should merge.

Not here: asking the model and telling that this was used (`writer`), and how papers are grouped (`extractive.grouping`).
"""

from collections.abc import Callable, Collection, Iterable, Sequence

import numpy as np

from generation.extractive.grouping import divide
from generation.language_models.calls import EmptyReply, Refused, Truncated, Unfit
from generation.outline_plans import heading_key
from generation.writing import OutlineRequest, SectionPlan

FALLEN_BACK = (Unfit, Refused, Truncated, EmptyReply)
"""Failures of one reply, after all repairs; an outline goes on without it."""

ORIGIN = "key phrases"
_SMALLEST = 3
"""Papers that a heading needs."""


def planned_without_model(
    request: OutlineRequest, embed: Callable[[Sequence[str]], np.ndarray], taken: Collection[str]
) -> tuple[SectionPlan, ...]:
    """Key phrases that the papers of a portion share, as headings without papers; () where they share none."""
    items = [e for e in request.evidence if e.vector is not None]
    if not items:
        return ()
    groups = divide(
        [e.paper for e in items], np.stack([e.vector for e in items]), request.section_count, request.topic,
        smallest=_SMALLEST, embed=embed, patterns=request.patterns, headings=request.headings,
    )  # fmt: skip
    plans = (
        SectionPlan(
            g.concept.text, "; ".join(g.queries), g.queries or (g.concept.text,), (),
            tuple(p.outline_id for p in request.patterns), ORIGIN,
        )
        for g in groups
    )  # fmt: skip
    return _usable(plans, request.section_count, taken)


def fullest(rough: Sequence[Sequence[SectionPlan]], most: int, taken: Collection[str]) -> tuple[SectionPlan, ...]:
    """The rough outline with the most headings that are not taken, the first of several; as many as asked for at most."""
    return max((_usable(plans, most, taken) for plans in rough), key=len, default=())


def _usable(plans: Iterable[SectionPlan], most: int, taken: Collection[str]) -> tuple[SectionPlan, ...]:
    seen = {heading_key(title) for title in taken}
    found = []
    for plan in plans:
        key = heading_key(plan.title)
        if key and key not in seen:
            seen.add(key)
            found.append(plan)
    return tuple(found[:most])
