"""Id months in groups that are written at once: as few commits as a bounded memory allows."""

from collections.abc import Mapping
from datetime import date

ROWS_AT_ONCE = 100_000
"""Rows of `arxiv_records` or `papers` in one commit: about 0.7 GB while they are written."""


def groups(sizes: Mapping[date, int], most: int | None = None) -> list[list[date]]:
    """Months in ascending order, divided so that a group has at most `most` rows, or is one month.

    Args:
        sizes: month → rows.
        most: `ROWS_AT_ONCE` unless given.
    """
    most = ROWS_AT_ONCE if most is None else most
    found: list[list[date]] = []
    rows = 0
    for month in sorted(sizes):
        if not found or rows + sizes[month] > most:
            found.append([])
            rows = 0
        found[-1].append(month)
        rows += sizes[month]
    return found
