"""Likeness to the topic and its first papers, and how orders are fused."""

import numpy as np
import pytest

from generation.pool_ranking import first_papers, fused, likeness_of, ordered

EAST, NORTH = np.eye(2, dtype=np.float32)
SLANTED = (EAST + NORTH) / np.sqrt(2)


def test_first_papers_are_those_both_orders_have_in_front():
    names, matrix = ["a", "b", "c"], np.stack([EAST, SLANTED, NORTH])
    assert first_papers(names, matrix, EAST, ["b", "a", "c"], 2, 0.0) == ["a", "b"]
    assert first_papers(names, matrix, EAST, ["c", "a", "b"], 1, 0.0) == ["a"]


def test_a_paper_off_the_topic_or_without_vector_is_no_first_paper():
    assert first_papers(["a", "b"], np.stack([EAST, NORTH]), EAST, ["x", "b", "a"], 3, 0.25) == ["a"]
    assert first_papers([], np.empty((0, 2), np.float32), EAST, ["x"], 3, 0.25) == []


def test_a_paper_near_a_first_paper_is_like_the_topic_though_its_name_is_far():
    found = likeness_of(["first", "near", "far"], np.stack([SLANTED, NORTH, -NORTH]), EAST, {"first"})
    assert found.similarity["near"] == pytest.approx(0)
    assert found.likeness["near"] == pytest.approx((0 + 2 * np.sqrt(0.5)) / 3)
    assert ordered(found.likeness) == ["first", "near", "far"]


def test_nearness_is_the_mean_of_the_nearest_three_so_that_a_part_of_a_topic_is_enough():
    names = ["n1", "n2", "n3", "e1", "x"]
    found = likeness_of(names, np.stack([NORTH, NORTH, NORTH, EAST, NORTH]), EAST, {"n1", "n2", "n3", "e1"})
    assert found.likeness["x"] == pytest.approx(2 / 3)


def test_likeness_without_first_papers_is_similarity_and_without_vectors_nothing():
    found = likeness_of(["a"], EAST[None], SLANTED, ())
    assert found.likeness == found.similarity == {"a": pytest.approx(np.sqrt(0.5))}
    assert likeness_of([], np.empty((0, 2), np.float32), EAST, ()).likeness == {}


def test_scores_equal_to_six_decimals_are_ordered_by_name():
    assert ordered({"b": 0.50000000001, "a": 0.5, "c": 0.6}) == ["c", "a", "b"]


def test_ranks_count_among_the_kept_only():
    scores = fused(["x", "a"], ["x", "b"], ["b", "a"], ["a", "b"])
    assert scores["a"] == pytest.approx(0.5 / 61 + 2 / 62)
    assert scores["b"] == pytest.approx(1 / 61 + 2 / 61)
    assert "x" not in scores
