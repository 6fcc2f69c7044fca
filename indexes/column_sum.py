"""The best by a weighted sum of scores from several rankings, each read only as far as the best need it.

Fagin, Lotem and Naor, "Optimal aggregation algorithms for middleware" (PODS 2001): the threshold algorithm. Knows
ids and scores only: no index, no query.
"""

from collections.abc import Callable, Sequence

Scores = dict[str, float]
_LEAST = 1000
"""Read of each ranking at least. For a top 76 of 254,515 papers 1,000 took 37 ms, 400 took 50 (more scores had to be
asked for), 200 took 41 with some queries at 115 (they had to read on)."""
_PER_RESULT = 4
_GROWTH = 4


def weighted_sum(
    best: Callable[[int], Sequence[Scores]],
    scores: Callable[[Sequence[Sequence[str]]], Sequence[Scores]],
    weights: Sequence[float],
    count: int,
) -> list[tuple[str, float]]:
    """The `count` ids with the highest weighted sums of their scores, exactly.

    Args:
        best: (limit) → of each ranking its `limit` best ids with their scores, fewer where it has no more. An id
            that a ranking does not have scores 0 there; scores are positive.
        scores: (ids for each ranking) → of each ranking the scores of these ids, without those it does not have.
        weights: of the rankings, positive.

    Returns:
        Ids with sums, best first, equal sums by id. All that no id left out could beat or equal, so it may be that
        of several ids with the last sum only some are here.
    """
    limit = max(_LEAST, _PER_RESULT * count)
    while True:
        read = best(limit)
        # What an id that a ranking has not shown yet can at most score there.
        rest = [
            weight * min(found.values()) if len(found) >= limit else 0.0
            for found, weight in zip(read, weights, strict=True)
        ]
        ids = set().union(*read)
        sums = {
            name: sum(weight * found.get(name, 0.0) for found, weight in zip(read, weights, strict=True))
            for name in ids
        }
        least = _last(sums, count)
        asked = [
            sorted(
                name for name in ids if place and name not in found and sums[name] + _missing(name, read, rest) >= least
            )
            for found, place in zip(read, rest, strict=True)
        ]
        if any(asked):
            for names, found, weight in zip(asked, scores(asked), weights, strict=True):
                for name in names:
                    sums[name] += weight * found.get(name, 0.0)
        if not any(rest) or (len(sums) >= count and _last(sums, count) > sum(rest)):
            return sorted(sums.items(), key=lambda pair: (-pair[1], pair[0]))[:count]
        limit *= _GROWTH


def _missing(name: str, read: Sequence[Scores], rest: Sequence[float]) -> float:
    return sum(place for found, place in zip(read, rest, strict=True) if name not in found)


def _last(sums: Scores, count: int) -> float:
    """The sum at place `count`; 0 where there are fewer."""
    return sorted(sums.values(), reverse=True)[count - 1] if len(sums) >= count else 0.0
