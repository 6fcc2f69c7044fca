"""Groups of papers under headings: the concepts that divide a set of papers best, and who belongs to which.

A group is made for its heading, so that no group is left for which a name must be found: concepts are chosen such
that every paper, weighed by its relevance, is near to one of them (facility location, greedy, then exchanges).
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType

import numpy as np

from generation.extractive.concepts import GENERIC, Concept, concepts, key_queries
from generation.extractive.phrases import content_stems, root
from generation.values import Paper, Pattern

_NAMED, _SPOKEN = 0.22, 0.08
"""What a mention in the title, or in the abstract only, adds to the cosine of paper and concept."""

_QUALITY = 0.35
_VOTE = 0.02
_MOST_CANDIDATES = 200
_EXCHANGES = 4
_LARGE_GROUP = 20
_MANY_PAPERS = 30
_FEW_PAPERS, _FEW_PAPERS_OF_PART = 60, 15
_NAMED_SHARE = 0.008
_STRAY_SHARE, _STRAY_SHARE_OF_PART = 0.15, 0.3
_QUERIES = 3
_ADD_NOTHING = frozenset({"text", "document", "model", "language", "large", "neural", "system", "method", "task"})
_NEAR_SHARE = 0.1
_FACET_SHARE, _FACET_USES = 0.4, 3
_TRUE_SHARE, _TRUE_SHARE_OF_PART, _LAX_SHARE, _LAX_SHARE_OF_PART = 0.2, 0.3, 0.12, 0.2
"""Least share of a group's papers that speak of its heading; a part has its section's heading to say the rest, and a
set of papers that would not be divided at all is divided by headings that fewer speak of."""


@dataclass(frozen=True)
class Group:
    """Papers under a heading, nearest first, and what to search for under it."""

    concept: Concept
    papers: tuple[Paper, ...]
    queries: tuple[str, ...]

    @property
    def origin(self) -> str:
        return f"human outline {self.concept.pattern}" if self.concept.pattern else "key phrases"


def divide(
    papers: Sequence[Paper],
    matrix: np.ndarray,
    count: int,
    topic: str,
    *,
    smallest: int,
    embed: Callable[[Sequence[str]], np.ndarray],
    patterns: Sequence[Pattern] = (),
    taken: Sequence[str] = (),
    above: str = "",
    votes: Collection[str] = (),
    headings: Mapping[str, int] = MappingProxyType({}),
) -> list[Group]:
    """At most `count` groups; fewer where not enough concepts are borne out by `smallest` papers each.

    Args:
        matrix: unit vectors of the papers (n, d).
        taken: headings that stand elsewhere.
        above: the heading of the section that is divided; its parts may narrow it, not repeat it.
        votes: headings that rough outlines proposed.
        headings: in how many human outlines each heading stands (`patterns.heading_counts`).
    """
    known = _candidates(papers, topic, patterns, taken, above, headings)
    if not known or len(papers) < smallest:
        return []
    affinity = _affinity(papers, matrix, known, embed)
    weights = _weights(papers)
    voted = [content_stems(v) for v in votes]
    bonus = np.array([_bonus(c, papers, voted) for c in known]) * weights.sum() / max(count, 1)
    choose = partial(_choose, affinity, weights, bonus, known, count)
    bear_out = partial(_borne_out, choose, papers, affinity, weights, known, smallest, is_part=bool(above))
    groups = bear_out(_TRUE_SHARE_OF_PART if above else _TRUE_SHARE)
    if len(groups) < 2:
        # One section of everything says less than several whose headings fewer papers speak of.
        groups = max(groups, bear_out(_LAX_SHARE_OF_PART if above else _LAX_SHARE), key=len)
    return groups


def _borne_out(
    choose: Callable[[set[int]], list[int]],
    papers: Sequence[Paper],
    affinity: np.ndarray,
    weights: np.ndarray,
    known: Sequence[Concept],
    smallest: int,
    share: float,
    *,
    is_part: bool,
) -> list[Group]:
    """Groups of the chosen concepts, chosen again without those that too small a share of their papers speaks of."""
    stray = _STRAY_SHARE_OF_PART if is_part else _STRAY_SHARE
    barred: set[int] = set()
    while chosen := choose(barred):
        labels = np.argmax(affinity[:, chosen], axis=1)
        labels[affinity[:, chosen].max(axis=1) < _floor(affinity[:, chosen], weights, stray)] = -1
        if is_part and len(papers) >= _MANY_PAPERS:
            _drop_far(labels, chosen, papers, affinity, known)
        failing = _not_borne_out(chosen, labels, known, papers, smallest, share)
        if not failing:
            return _groups(chosen, labels, known, papers, affinity)
        barred.update(failing[: -(-len(failing) // 2)])
    return []


def _drop_far(
    labels: np.ndarray, chosen: list[int], papers: Sequence[Paper], affinity: np.ndarray, known: Sequence[Concept]
) -> None:
    """Take from each part what neither speaks of its heading nor is as near as most that do: a section keeps these."""
    for place, index in enumerate(chosen):
        speaks = np.array([p.paper_id in known[index].spoken for p in papers])
        own = labels == place
        if (own & speaks).any():
            floor = np.quantile(affinity[own & speaks, index], _NEAR_SHARE)
            labels[own & ~speaks & (affinity[:, index] < floor)] = -1


def support_needed(size: int) -> int:
    """Papers of a group that must speak of its heading."""
    return 2 if size < _LARGE_GROUP else max(3, round(0.03 * size))


def _candidates(
    papers: Sequence[Paper],
    topic: str,
    patterns: Sequence[Pattern],
    taken: Sequence[str],
    above: str,
    headings: Mapping[str, int],
) -> list[Concept]:
    """Concepts that some but not nearly all papers speak of, none alike to a heading that is taken."""
    used = [content_stems(t) for t in taken if t != above]
    broad = content_stems(above)
    least = 2 if len(papers) < 60 else 3
    offered = concepts(papers, topic, patterns, headings, above=above)
    if above:  # a facet may come again under another section, but not under all
        uses = Counter(t.partition(" in ")[0] for t in taken)
        offered = [c for c in offered if not (c.is_facet and uses[c.text] >= _FACET_USES)]
        offered = [replace(c, text=f"{c.text} in {above}") if c.is_facet and c.text in taken else c for c in offered]
    found = [
        c
        for c in offered
        if len(c.spoken) >= least and _is_named(c, len(papers), above) and len(c.named) <= 0.5 * len(papers)
        and (c.text not in taken if c.is_facet else not any(alike(c.stems, u) for u in used)
             and (_narrows(c.stems, broad) or not alike(c.stems, broad)))
    ]  # fmt: skip
    return sorted(found, key=lambda c: (-(2 * len(c.named) + len(c.spoken)) * c.shape, c.text))[:_MOST_CANDIDATES]


def _is_named(concept: Concept, papers: int, above: str) -> bool:
    """Whether titles name it, not abstracts alone: many speak of ground truth, and no field is called that.

    In the part of a section one title is enough for what a human outline has as a heading.
    """
    if papers < (_FEW_PAPERS_OF_PART if above else _FEW_PAPERS):
        return True
    if not above:
        return len(concept.named) >= max(3, round(_NAMED_SHARE * papers))
    if (
        " " not in concept.text or concept.named == concept.spoken
    ):  # a single word says little below a section's heading
        return len(concept.named) >= 3
    return len(concept.named) >= 2 or (concept.human_count > 1 and len(concept.spoken) > 2)


def _narrows(stems: frozenset[str], broad: frozenset[str]) -> bool:
    """Whether a heading says more than the one above: "Dense Text Retrieval" is dense retrieval again."""
    return bool(broad) and broad < stems and not stems - broad <= _ADD_NOTHING


def alike(a: frozenset[str], b: frozenset[str]) -> bool:
    """Whether two headings share more than half of the words of the shorter one, or all that are not generic; endings do not count."""
    short, other = {root(s) for s in a}, {root(s) for s in b}
    telling = [{root(s) for s in stems if s not in GENERIC} for stems in (a, b)]
    if telling[0] and telling[0] == telling[1]:  # "Transformer Models" and "Transformer Architecture"
        return True
    return bool(short and other) and len(short & other) / min(len(short), len(other)) > 0.5


def _affinity(papers: Sequence[Paper], matrix: np.ndarray, known: Sequence[Concept], embed) -> np.ndarray:
    """How near each paper is to each concept (n, concepts): to its words, to the papers that name it, by mention."""
    row = {p.paper_id: i for i, p in enumerate(papers)}
    named = np.zeros((len(papers), len(known)))
    spoken = np.zeros_like(named)
    for j, concept in enumerate(known):
        named[[row[p] for p in concept.named], j] = 1.0
        spoken[[row[p] for p in concept.spoken], j] = 1.0
    # Papers that name a concept in the title speak louder for what it is than those that mention it.
    centres = (named + 0.2 * spoken).T @ matrix
    centres /= np.maximum(np.linalg.norm(centres, axis=1, keepdims=True), 1e-12)
    words = embed([c.text for c in known])
    blend = centres + 0.6 * words
    blend /= np.maximum(np.linalg.norm(blend, axis=1, keepdims=True), 1e-12)
    return np.round(matrix @ blend.T + _SPOKEN * spoken + (_NAMED - _SPOKEN) * named, 6)


def _weights(papers: Sequence[Paper]) -> np.ndarray:
    """By relevance: the far tail of a pool shall join sections, not make them."""
    similarity = np.array([p.similarity for p in papers])
    low, high = np.quantile(similarity, [0.25, 0.75])
    return np.clip((similarity - low) / max(high - low, 1e-9), 0.25, 1.2)


def _bonus(concept: Concept, papers: Sequence[Paper], voted: Sequence[frozenset[str]]) -> float:
    share = (len(concept.named) + 0.3 * len(concept.spoken)) / len(papers)
    return _QUALITY * (concept.shape * min(share, 0.15)) + _VOTE * sum(concept.stems == v for v in voted)


def _choose(
    affinity: np.ndarray, weights: np.ndarray, bonus: np.ndarray, known: Sequence[Concept], count: int, barred: set[int]
) -> list[int]:
    """Indexes of the concepts, greedy first, then exchanged while that gains."""
    free = [i for i in range(len(known)) if i not in barred]
    chosen: list[int] = []

    def gain(others: list[int]) -> np.ndarray:
        best = affinity[:, others].max(axis=1) if others else np.zeros(len(affinity))
        return weights @ np.maximum(affinity - best[:, None], 0.0) + bonus

    def best_addition(others: list[int]) -> int | None:
        values = gain(others)
        fitting = [
            i for i in free if i not in others and not any(alike(known[i].stems, known[o].stems) for o in others)
        ]
        return max(fitting, key=lambda i: (round(float(values[i]), 6), -i), default=None)

    while len(chosen) < count and (found := best_addition(chosen)) is not None:
        chosen.append(found)
    for _ in range(_EXCHANGES):
        before = list(chosen)
        for place in range(len(chosen)):
            others = chosen[:place] + chosen[place + 1 :]
            found = best_addition(others)
            if found is not None:
                chosen[place] = found
        if chosen == before:
            break
    return chosen


def _floor(affinity: np.ndarray, weights: np.ndarray, stray: float) -> float:
    """Affinity below which a paper of many is about none of the concepts.

    Args:
        stray: share of the better half of the papers that lies below.
    """
    if len(affinity) < _MANY_PAPERS:
        return -1.0
    return float(np.quantile(affinity.max(axis=1)[weights >= np.median(weights)], stray))


def _not_borne_out(
    chosen: list[int],
    labels: np.ndarray,
    known: Sequence[Concept],
    papers: Sequence[Paper],
    smallest: int,
    share: float,
) -> list[int]:
    """The concepts that too few of their group speak of, worst first."""
    failing = []
    for place, index in enumerate(chosen):
        members = [p.paper_id for p, label in zip(papers, labels, strict=True) if label == place]
        support = sum(p in known[index].spoken for p in members)
        needed = max(support_needed(len(members)), (_FACET_SHARE if known[index].is_facet else share) * len(members))
        if len(members) < smallest or support < needed:
            failing.append((support / max(len(members), 1) if len(members) >= smallest else -1.0, len(members), index))
    return [index for _, _, index in sorted(failing)]


def _groups(
    chosen: list[int], labels: np.ndarray, known: Sequence[Concept], papers: Sequence[Paper], affinity: np.ndarray
) -> list[Group]:
    made = []
    for place, index in enumerate(chosen):
        rows = sorted(np.flatnonzero(labels == place), key=lambda i: (-affinity[i, index], papers[i].paper_id))
        members = tuple(papers[i] for i in rows)
        own = [p.paper_id for p in members]
        others = [p.paper_id for p, label in zip(papers, labels, strict=True) if label != place]
        queries = [q for q in key_queries(own, known, _QUERIES + 1, others) if q != known[index].text]
        made.append(Group(known[index], members, tuple(queries[:_QUERIES])))
    return made
