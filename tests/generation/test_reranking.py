"""Temporal-aware reranking against the worked numbers."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation.reranking import UNKNOWN_WINDOW, Candidate, rerank, shares, window_of


@pytest.mark.parametrize(
    ("sizes", "total", "rounding", "expected"),
    [
        ((7, 13, 40, 90), 60, "largest_remainder", [3, 5, 16, 36]),
        ((7, 13, 40, 90), 60, "ceil", [3, 6, 16, 36]),
        ((5, 30, 65), 10, "largest_remainder", [1, 3, 6]),
        ((5, 30, 65), 10, "ceil", [1, 3, 7]),
    ],
)
def test_worked_numbers(sizes, total, rounding, expected):
    assert shares(sizes, total, rounding) == expected


def test_equal_remainders_go_to_the_earlier_window():
    assert shares((1, 1), 1) == [1, 0]
    assert shares((3, 3, 3), 5) == [2, 2, 1]


@given(st.lists(st.integers(0, 200), min_size=1, max_size=12), st.integers(0, 300))
def test_largest_remainder_gives_exactly_k_and_no_window_more_than_it_holds(sizes, total):
    given_ = shares(sizes, total)
    assert sum(given_) == min(total, sum(sizes))
    assert all(0 <= share <= size for share, size in zip(given_, sizes, strict=True))


@given(st.lists(st.integers(0, 200), min_size=1, max_size=12), st.integers(0, 300))
def test_ceiling_exceeds_k_by_less_than_the_number_of_windows(sizes, total):
    given_ = shares(sizes, total, "ceil")
    assert min(total, sum(sizes)) <= sum(given_) < min(total, sum(sizes)) + len(sizes)


def test_windows_of_two_years_are_inclusive_at_both_ends():
    assert window_of(date(2013, 12, 31)) == "2012–2013"
    assert window_of(date(2014, 1, 1)) == "2014–2015"
    assert window_of(date(2011, 12, 31)) == "2010–2011"
    assert window_of(date(2026, 1, 1)) == "2026–2027"
    assert window_of(date(2013, 1, 1), anchor_year=2013) == "2013–2014"
    assert window_of(None) == UNKNOWN_WINDOW


def test_undated_and_uncited_papers_are_kept_and_counted():
    """The public code drops papers outside its windows and crashes on a missing date or count."""
    candidates = [
        Candidate("old", date(1995, 1, 1), None),
        Candidate("none", None, 3),
        Candidate("new", date(2024, 1, 1), 0),
    ]
    kept = rerank(candidates, 3)
    assert [(r.paper_id, r.window) for r in kept] == [
        ("old", "1994–1995"),
        ("new", "2024–2025"),
        ("none", UNKNOWN_WINDOW),
    ]


def test_within_a_window_citations_decide_and_similarity_breaks_ties():
    candidates = [
        Candidate(name, date(2022, 5, 1), count) for name, count in [("a", 1), ("b", 9), ("c", 1), ("d", None)]
    ]
    assert [r.paper_id for r in rerank(candidates, 3)] == ["b", "a", "c"]


def test_k_larger_than_the_list_keeps_all_and_none_keeps_none():
    candidates = [Candidate("a", date(2022, 1, 1), 1)]
    assert len(rerank(candidates, 60)) == 1
    assert rerank([], 60) == []
    assert rerank(candidates, 0) == []
    with pytest.raises(ValueError, match="number of papers"):
        rerank(candidates, -1)
