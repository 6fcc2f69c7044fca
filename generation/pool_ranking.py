"""In what order candidates enter a topic's pool: likeness to the topic and to its first papers, fused with full text.

Knows ids and vectors only; where candidates come from is decided in `pool_candidates`.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from indexes.fusion import reciprocal_rank_fusion

_NEAREST = 3  # first papers a candidate is compared with: a topic has several parts, and a paper belongs to one
_NEARNESS = 2.0  # weight of nearness to them, the similarity to the topic's name having 1
_WEIGHTS = (0.5, 1.0, 2.0)  # full text, key terms, likeness


@dataclass(frozen=True)
class Likeness:
    """Of candidates with a vector: cosine to the topic, and likeness, its mean with that to the first papers (1 : 2)."""

    similarity: dict[str, float]
    likeness: dict[str, float]


def first_papers(
    names: Sequence[str], matrix: np.ndarray, query: np.ndarray, text: Sequence[str], count: int, least: float
) -> list[str]:
    """The papers best by full text and similarity together, taken to be on the topic (pseudo-relevance feedback).

    Args:
        names, matrix: full text hits with a vector, and float32 (m, d), rows of length 1.
        query: float32 (d,), length 1.
        text: the hits in full text order.
        least: cosine to the topic below which a paper is none of them.
    """
    similarity = dict(zip(names, map(float, matrix @ query), strict=True))
    fused = reciprocal_rank_fusion([text, ordered(similarity)])
    return [name for name, _ in fused[:count] if similarity.get(name, -1.0) >= least]


def likeness_of(names: Sequence[str], matrix: np.ndarray, query: np.ndarray, first: Collection[str]) -> Likeness:
    """How like the topic, and its first papers, each candidate is.

    Args:
        names, matrix: candidates with a vector, and float32 (m, d), rows of length 1.
        query: float32 (d,), length 1.
        first: those of the names that are first papers; without any, likeness is similarity.
    """
    if not names:
        return Likeness({}, {})
    similarity = likeness = matrix @ query
    if rows := [row for row, name in enumerate(names) if name in first]:
        nearest = np.sort(matrix @ matrix[rows].T, axis=1)[:, -_NEAREST:].mean(axis=1)
        likeness = (similarity + _NEARNESS * nearest) / (1 + _NEARNESS)
    pairs = (dict(zip(names, map(float, scores), strict=True)) for scores in (similarity, likeness))
    return Likeness(*pairs)


def ordered(scores: dict[str, float]) -> list[str]:
    """Names by score, best first; scores equal to six decimals by name, so that no last bit decides."""
    return sorted(scores, key=lambda name: (-round(scores[name], 6), name))


def fused(text: Sequence[str], terms: Sequence[str], like: Sequence[str], kept: Collection[str]) -> dict[str, float]:
    """Score of each kept paper by its ranks among those kept in the three orders."""
    kept = set(kept)
    orders = [[name for name in order if name in kept] for order in (text, terms, like)]
    return dict(reciprocal_rank_fusion(orders, weights=_WEIGHTS))
