"""A ranked paper or piece of one, and how a ranking is cut at k so that it is the same every time.

Which engine ranks, and by what, is not known here.
"""

from collections.abc import Callable
from dataclasses import dataclass

from ingestion.errors import BadInput

_MARGIN = 16
_GROWTH = 4


@dataclass(frozen=True, slots=True)
class Hit:
    """A ranked paper, or piece of one. Scores compare within one ranking only; higher is better.

    Attributes:
        paper_id: in a ranking of pieces the id of the piece.
    """

    paper_id: str
    score: float


def top(fetch: Callable[[int], list[Hit]], k: int) -> list[Hit]:
    """The k best of what ``fetch(limit)`` finds, equal scores by id.

    An engine breaks ties as it likes, also at the cut, so we ask for a few more than k and, while the
    ties at place k may go on beyond what we were given, for more.

    Raises:
        BadInput: k is not at least 1.
    """
    require_count(k)
    limit = k + _MARGIN
    while True:
        hits = sorted(fetch(limit), key=lambda hit: (-hit.score, hit.paper_id))
        if len(hits) < limit or hits[-1].score < hits[k - 1].score:
            return hits[:k]
        limit *= _GROWTH


def require_count(k: int) -> None:
    """Refuse to look for less than one result.

    Raises:
        BadInput: k is not at least 1.
    """
    if k < 1:
        raise BadInput("the number of results is less than 1", which=str(k), advice="Ask for at least one.")
