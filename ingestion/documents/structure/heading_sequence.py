"""Which numbered candidates are headings: those whose numbers make a document's sequence.

Here: the choice among candidates. Not here: finding them (see `heading_candidates`).

A number alone proves little: cells, list items and equations have numbers too. But headings count up through a whole
document, so the chain of candidates with the greatest weight, less what its gaps cost, is taken, and the rest is text.
"""

from bisect import insort
from collections.abc import Sequence
from dataclasses import replace

from ingestion.documents.structure.heading_candidates import Candidate
from ingestion.documents.structure.numbering import missing_between

_COST_OF_A_GAP = 0.8
_WIDEST_GAP = 6
# An excerpt may begin anywhere.
_COST_OF_THE_START = 0.25
_MOST_CANDIDATES = 600
"""The search is quadratic; papers have dozens, books hundreds."""


def chosen(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates that are headings, in order. Letters under roman numbers get the roman as first component."""
    strongest = sorted(candidates, key=lambda c: c.weight, reverse=True)[:_MOST_CANDIDATES]
    ordered = sorted(strongest, key=lambda c: (c.block, c.start))
    return _chain(_nested_under_romans(ordered))


def _chain(ordered: Sequence[Candidate]) -> list[Candidate]:
    best: list[float] = []
    before: list[int | None] = []
    for index, candidate in enumerate(ordered):
        missing = missing_between((), candidate.numbering.key) or 0
        value, origin = -_COST_OF_THE_START * missing, None
        for earlier in range(index):
            other = ordered[earlier]
            if (other.block, other.start) >= (candidate.block, candidate.start) or best[earlier] <= value:
                continue
            missing = missing_between(other.numbering.key, candidate.numbering.key)
            if missing is None or missing > _WIDEST_GAP:
                continue
            if best[earlier] - _COST_OF_A_GAP * missing > value:
                value, origin = best[earlier] - _COST_OF_A_GAP * missing, earlier
        best.append(value + candidate.weight)
        before.append(origin)
    if not best or max(best) <= 0:
        return []
    chain = []
    at: int | None = best.index(max(best))
    while at is not None:
        chain.append(ordered[at])
        at = before[at]
    chain.reverse()
    return chain


def _nested_under_romans(ordered: Sequence[Candidate]) -> list[Candidate]:
    """Where roman numbers head the sections, single letters head their subsections: II, A, B, III, A."""
    romans = _chain([c for c in ordered if c.numbering.style == "roman"])
    arabic = _chain([c for c in ordered if c.numbering.style == "arabic"])
    if len(romans) < 3 or sum(c.weight for c in romans) <= sum(c.weight for c in arabic if c.numbering.level == 1):
        return [c for c in ordered if c.numbering.style != "roman"]
    kept: list[Candidate] = []
    places = [(c.block, c.start) for c in romans]
    for candidate in ordered:
        numbering = candidate.numbering
        if numbering.style == "roman":
            insort(kept, candidate, key=lambda c: (c.block, c.start))
        elif numbering.style == "letter" and numbering.level == 1 and not numbering.named:
            above = sum(place < (candidate.block, candidate.start) for place in places)
            if above:
                first = romans[above - 1].numbering.components[0]
                nested = replace(numbering, style="roman", components=(first, *numbering.components))
                kept.append(replace(candidate, numbering=nested))
            kept.append(candidate)
        elif numbering.style == "letter":
            kept.append(candidate)
    return kept
