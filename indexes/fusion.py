"""Fusion of rankings. Knows ids and orders only: no index, no paper, no query."""

from collections.abc import Sequence

from ingestion.errors import BadInput

RANK_CONSTANT = 60
"""The constant of Cormack, Clarke and Buettcher (SIGIR 2009), who found results flat around it."""


def reciprocal_rank_fusion(
    rankings: Sequence[Sequence[str]], *, k: int = RANK_CONSTANT, weights: Sequence[float] | None = None
) -> list[tuple[str, float]]:
    """Fuse rankings by the sum of ``weight / (k + rank)``, rank counted from 1.

    Args:
        rankings: each a sequence of ids, best first. An id repeated in one ranking counts once, at its best.
        k: what damps the lead of the first ranks; not the number of results.
        weights: one factor a ranking, 1 each by default.

    Returns:
        Every id with its fused score, best first, equal scores by id.

    Raises:
        BadInput: as many weights as rankings are needed, and k must not be negative.
    """
    if weights is not None and len(weights) != len(rankings):
        raise BadInput(
            "rankings and weights differ in number",
            which=f"{len(rankings)} and {len(weights)}",
            advice="Give one weight for each ranking.",
        )
    if k < 0:
        raise BadInput("the rank constant is negative", which=str(k), advice="Give 0 or more, usually 60.")
    scores: dict[str, float] = {}
    for ranking, weight in zip(rankings, weights or [1.0] * len(rankings), strict=True):
        for rank, name in enumerate(dict.fromkeys(ranking), start=1):
            scores[name] = scores.get(name, 0.0) + weight / (k + rank)
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))
