"""Temporal-aware reranking (TRE), SurveyForge section 3.2.

Retrieved papers fall into windows of two years; window g gives its k_g most cited papers, k_g = |n_g| / |L| · K.
The paper leaves the rounding open; the public code takes the ceiling, so that more than K can come out. Default
here: largest remainder, which gives exactly K. Papers without a date keep a group of their own and are counted;
the public code drops or crashes on them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

UNKNOWN_WINDOW = "unknown"
Rounding = Literal["largest_remainder", "ceil"]


@dataclass(frozen=True)
class Candidate:
    """A retrieved paper: its day (None if undated) and citations (None if nobody counted, which ranks as 0)."""

    paper_id: str
    day: date | None
    citation_count: int | None


@dataclass(frozen=True)
class Reranked:
    """A paper that stayed, with the window it stayed in."""

    paper_id: str
    window: str


def window_of(day: date | None, *, anchor_year: int = 2012, years: int = 2) -> str:
    """The window a day falls in, as "2012–2013"; days before the anchor get windows too.

    2013-12-31 lies in "2012–2013", 2014-01-01 in "2014–2015".
    """
    if day is None:
        return UNKNOWN_WINDOW
    first = anchor_year + (day.year - anchor_year) // years * years
    return f"{first}–{first + years - 1}"


def shares(sizes: Sequence[int], total: int, rounding: Rounding = "largest_remainder") -> list[int]:
    """k_g for windows of the given sizes, in the windows' order.

    Sizes (7, 13, 40, 90) and K = 60 give 3, 5, 16, 36 by largest remainder and 3, 6, 16, 36 by ceiling; equal
    remainders go to the earlier window. K above the number of papers is cut to it.
    """
    count = sum(sizes)
    total = min(total, count)
    if count == 0:
        return [0 for _ in sizes]
    if rounding == "ceil":
        # Integers throughout: 0.1 + 0.2 style noise must not decide a ceiling.
        return [-(-size * total // count) for size in sizes]
    floors = [size * total // count for size in sizes]
    remainders = [size * total % count for size in sizes]
    order = sorted(range(len(sizes)), key=lambda i: (-remainders[i], i))
    for i in order[: total - sum(floors)]:
        floors[i] += 1
    return floors


def rerank(
    candidates: Sequence[Candidate], total: int, *, rounding: Rounding = "largest_remainder", anchor_year: int = 2012
) -> list[Reranked]:
    """The K papers that stay, window by window (undated last), most cited first inside a window.

    Args:
        candidates: in order of similarity, which breaks ties of equal citation counts.
        total: K.
    """
    if total < 0:
        raise ValueError(f"K is a number of papers, not {total}")
    groups: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        groups.setdefault(window_of(candidate.day, anchor_year=anchor_year), []).append(candidate)
    names = sorted(groups, key=lambda name: (name == UNKNOWN_WINDOW, _first_year(name)))
    counts = shares([len(groups[name]) for name in names], total, rounding)
    return [
        Reranked(candidate.paper_id, name)
        for name, count in zip(names, counts, strict=True)
        for candidate in sorted(groups[name], key=lambda c: -(c.citation_count or 0))[:count]
    ]


def _first_year(name: str) -> float:
    return math.inf if name == UNKNOWN_WINDOW else int(name.split("–")[0])
