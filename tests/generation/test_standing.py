"""The order of a pool by place and citations."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation.standing import by_standing
from tests.generation.extractive.conftest import make_paper


def ordered(*counts):
    """Places of a pool of these citation counts, in the order of standing."""
    papers = [make_paper(f"{i}", citation_count=n) for i, n in enumerate(counts)]
    return [int(p) for p in by_standing(papers)]


def test_without_citations_the_pool_keeps_its_order():
    assert ordered(0, 0, 0, 0) == [0, 1, 2, 3]


@pytest.mark.parametrize("count", [1, 5, 900])
def test_equally_many_citations_change_nothing(count):
    assert ordered(count, count, count) == [0, 1, 2]


def test_the_most_cited_last_of_a_hundred_passes_all_but_nine():
    """1/160 + 0.5/61 lies between 1/69 and 1/70."""
    assert ordered(*[0] * 99, 7).index(99) == 9


def test_papers_of_equal_counts_share_the_better_rank():
    """Both gain 0.5/61: as the first of the two does where it is alone, since none is cited more."""
    alone = ordered(*[0] * 40, 3, *[0] * 20)
    both = ordered(*[0] * 40, 3, *[0] * 19, 3)
    assert both.index(40) == alone.index(40)
    assert both.index(60) == both.index(40) + 1 + sum(alone.index(40) <= p for p in both[: both.index(60)] if p < 40)


def test_a_paper_that_nobody_cites_gains_nothing_where_few_are_cited():
    """Were no citation a rank like any other, the uncited would rise with each other."""
    order = ordered(0, 0, 1, 0)
    assert order[0] == 2
    assert order[1:] == [0, 1, 3]


@given(st.lists(st.integers(0, 30), min_size=1, max_size=40), st.data())
def test_a_further_citation_never_costs_a_place(counts, data):
    at = data.draw(st.integers(0, len(counts) - 1))
    more = [*counts[:at], counts[at] + data.draw(st.integers(1, 10)), *counts[at + 1 :]]
    assert ordered(*more).index(at) <= ordered(*counts).index(at)


@given(st.lists(st.integers(0, 5), max_size=40))
def test_every_paper_once_and_of_two_equally_cited_ones_the_earlier_first(counts):
    order = ordered(*counts)
    assert sorted(order) == list(range(len(counts)))
    for count in set(counts):
        same = [p for p in order if counts[p] == count]
        assert same == sorted(same)
