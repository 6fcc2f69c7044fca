"""How much of which papers is shown, so that prompt and reply fit the window.

All papers are shown in less before any is left out: first fewer passages, then shorter abstracts. Those left out are
the last in the order given. Not here: the form of what is shown (`prompting.fencing`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from generation.language_models.calls import Message
from generation.prompting.fencing import ShownPaper, ShownPassage, cut_to, paper_blocks, shown_paper
from generation.writing import Evidence

Count = Callable[[Sequence[Message], Mapping | None], int]
"""Messages and schema → tokens, with a margin."""

_LEVELS = (
    (5000, 4, 1400), (3000, 3, 900), (2200, 2, 700), (2200, 1, 500), (1800, 0, 0), (1200, 0, 0), (800, 0, 0),
    (500, 0, 0), (320, 0, 0),
)  # fmt: skip
"""Characters of an abstract, passages, characters of a passage: most first."""

ABSTRACTS = tuple(dict.fromkeys(characters for characters, _, _ in _LEVELS))
"""Characters of an abstract, most first."""

_FENCE = "0" * 16
_ID_TOKENS = 26
"""Tokens of a paper's id where it may be cited, in the schema and in the list of ids, each digit one; and of a blank line."""

_LEAST_PORTION = 12
"""Papers that a portion should hold before abstracts are shortened for it."""


@dataclass(frozen=True)
class Shown:
    """Papers as they are shown, in order, and those that had no room."""

    papers: tuple[ShownPaper, ...]
    left_out: tuple[str, ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(p.paper_id for p in self.papers)

    @property
    def flagged(self) -> tuple[str, ...]:
        return tuple(p.paper_id for p in self.papers if p.flags)


def by_nearness(evidence: Sequence[Evidence]) -> list[Evidence]:
    """Papers whose best place is here first, the nearest first."""
    return sorted(evidence, key=lambda e: (not e.is_home, -round(e.similarity, 6), -e.standing, e.paper.paper_id))


def shown(item: Evidence) -> ShownPaper:
    """A paper with its passages, the nearest first, whole."""
    paper = item.paper
    day = paper.submitted_on or paper.submitted_latest
    ordered = sorted(item.passages, key=lambda p: (-p.similarity, p.passage.position))
    passages = tuple(
        ShownPassage(p.passage.position, p.passage.page, " › ".join(p.passage.section_path), p.passage.text)
        for p in ordered
    )
    return _shown(paper.paper_id, paper.title, f"{day:%Y-%m}", paper.abstract, passages, _notes(item))


@lru_cache(maxsize=4096)
def _shown(
    paper_id: str,
    title: str,
    month: str,
    abstract: str | None,
    passages: tuple[ShownPassage, ...],
    notes: tuple[str, ...],
) -> ShownPaper:
    return shown_paper(paper_id, title, month, abstract, passages, notes)


def _notes(item: Evidence) -> tuple[str, ...]:
    """What the card says that the full text bears: an abstract's own items would only repeat it."""
    borne = {span for _, span in item.quotes}
    found = ((field, one) for field, one in (item.card.items() if item.card else ()) if borne & set(one.spans))
    return tuple(
        f"{field}{f', page {one.spans[0].page}' if one.spans[0].page else ''}: {one.text}" for field, one in found
    )


def fitting(papers: Sequence[ShownPaper], room: int, count: Count) -> Shown:
    """As many of the papers as fit the room, in order, at the fullest level at which all do.

    Args:
        room: tokens.
    """
    for level in _LEVELS:
        cut, costs, used = [], [], 0
        for paper in papers:
            cut.append(_at(paper, level))
            costs.append(paper_tokens(cut[-1], count))
            used += costs[-1]
            if used > room and level != _LEVELS[-1]:
                break
        if used <= room:
            return Shown(tuple(cut))
    kept, used = [], 0
    for paper, cost in zip(cut, costs, strict=True):
        if used + cost <= room:
            kept.append(paper)
            used += cost
    ids = {p.paper_id for p in kept}
    return Shown(tuple(kept), tuple(p.paper_id for p in papers if p.paper_id not in ids))


def portioned(papers: Sequence[ShownPaper], room: int, most: int, count: Count) -> list[list[ShownPaper]]:
    """All papers in order, in portions that fit the room with whole abstracts where the window bears a dozen.

    Args:
        room: tokens of a portion.
        most: papers of a portion.
    """
    level = next(
        (lv for lv in _LEVELS if not lv[1] and lv[0] <= room * 3 // _LEAST_PORTION), _LEVELS[-1]
    )  # fmt: skip
    portions: list[list[ShownPaper]] = [[]]
    used = 0
    for paper in papers:
        cost = paper_tokens(_at(paper, level), count)
        if portions[-1] and (used + cost > room or len(portions[-1]) >= most):
            portions.append([])
            used = 0
        portions[-1].append(paper)
        used += cost
    return portions if portions[-1] else []


def _at(paper: ShownPaper, level: tuple[int, int, int]) -> ShownPaper:
    abstract, passages, passage = level
    return cut_to(paper, abstract=abstract, passages=passages, passage=passage)


def paper_tokens(paper: ShownPaper, count: Count) -> int:
    """Tokens that a paper's block, and its id among those that may be cited, add to a message."""
    block = paper_blocks([paper], _FENCE)
    return count([Message("user", block)], None) - count([Message("user", "")], None) + _ID_TOKENS
