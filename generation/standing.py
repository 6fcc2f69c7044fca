"""How good a paper of its topic each paper of a pool is: by its place in the pool, and by who cites it.

Not here: how the pool is found and ordered (`pools`), and at which section a paper is at home (`homes`).
"""

from bisect import bisect_right
from collections.abc import Sequence

from generation.values import Paper

_CONSTANT = 60
_CITATION_WEIGHT = 0.5
"""Of the rank by citations, the place in the pool having 1, in their reciprocal rank fusion."""


def by_standing(pool: Sequence[Paper]) -> list[str]:
    """Ids of the papers, best first.

    Papers with equally many citations share a rank; one that nobody is known to cite gains nothing by it.

    Args:
        pool: in the pool's order, best first.
    """
    counts = sorted(p.citation_count for p in pool)

    def score(place: int, paper: Paper) -> float:
        more = len(counts) - bisect_right(counts, paper.citation_count)
        cited = _CITATION_WEIGHT / (_CONSTANT + 1 + more) if paper.citation_count else 0.0
        return 1 / (_CONSTANT + place) + cited

    scores = {paper.paper_id: score(place, paper) for place, paper in enumerate(pool, start=1)}
    return sorted(scores, key=lambda p: -scores[p])  # stable: equal scores in the pool's order
