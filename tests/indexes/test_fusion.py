import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexes.fusion import reciprocal_rank_fusion
from ingestion.errors import BadInput

RANKINGS = st.lists(st.lists(st.sampled_from("abcdefgh"), unique=True), max_size=4)


def test_scores_are_sums_of_reciprocal_ranks():
    assert reciprocal_rank_fusion([["a", "b"], ["b", "c"]]) == [
        ("b", 1 / 62 + 1 / 61),
        ("a", 1 / 61),
        ("c", 1 / 62),
    ]


def test_ties_are_broken_by_id():
    assert [name for name, _ in reciprocal_rank_fusion([["z"], ["a"], ["m"]])] == ["a", "m", "z"]


def test_weights_and_the_constant_do_something():
    assert reciprocal_rank_fusion([["a"], ["b"]], k=0, weights=[1, 2]) == [("b", 2.0), ("a", 1.0)]


def test_a_repeated_id_counts_once_at_its_best_rank():
    assert reciprocal_rank_fusion([["a", "a", "b"]], k=0) == [("a", 1.0), ("b", 0.5)]


@pytest.mark.parametrize(("k", "weights"), [(60, [1.0]), (60, []), (-1, None)])
def test_unusable_settings_are_refused(k, weights):
    with pytest.raises(BadInput):
        reciprocal_rank_fusion([["a"], ["b"]], k=k, weights=weights)


@given(RANKINGS)
def test_every_id_comes_out_once_best_first_whatever_the_order_of_rankings(rankings):
    fused = reciprocal_rank_fusion(rankings)
    assert {name for name, _ in fused} == {name for ranking in rankings for name in ranking}
    assert len(fused) == len({name for name, _ in fused})
    assert [score for _, score in fused] == sorted((score for _, score in fused), reverse=True)
    assert {name for name, _ in reciprocal_rank_fusion(rankings[::-1])} == {name for name, _ in fused}
