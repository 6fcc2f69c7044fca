"""Where papers are at home: at the node whose papers they are nearest to, once each, the best ones in any case."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generation.homes import settled_homes, starting_homes
from generation.values import DigestEntry


def entry(number, paper_id, similarity):
    return DigestEntry(number, paper_id, 1, "q", similarity, "2020–2021", 0, False)


def angles(**degrees):
    """Names and unit vectors in the plane, by their angle."""
    names = list(degrees)
    radians = np.radians([degrees[n] for n in names])
    return names, np.stack([np.cos(radians), np.sin(radians)], axis=1)


@pytest.mark.parametrize(
    ("memories", "home"),
    [
        ({"2.1": {"p"}}, "2.1"),  # the heading was made from it, though another query found it nearer
        ({"2": {"p"}}, "2.1"),  # its section was
        ({"2": {"p"}, "3.1": {"p"}}, "3.1"),
        ({}, "3.1"),
    ],
)
def test_a_paper_starts_where_its_heading_was_made_from_it(memories, home):
    entries = [entry("2.1", "p", 0.3), entry("3.1", "p", 0.6), entry("3.2", "p", 0.5)]
    assert starting_homes(entries, {n: frozenset(p) for n, p in memories.items()}) == {"p": home}


def test_a_paper_that_made_no_heading_starts_at_home_only_where_it_fits():
    entries = [entry("2.1", "near", 0.5), entry("2.1", "far", 0.49)]
    assert starting_homes(entries, {}) == {"near": "2.1"}


AXES = {"2": frozenset("abc"), "3": frozenset("xyz")}
ON_AXES = {"a": 0, "b": 4, "c": 8, "x": 90, "y": 86, "z": 82}
STARTED = {**dict.fromkeys("abc", "2"), **dict.fromkeys("xyz", "3")}


def test_a_paper_settles_at_the_node_whose_papers_it_is_nearest_to():
    names, matrix = angles(**ON_AXES, p=60, q=30)
    homes = settled_homes({**STARTED, "p": "2", "q": "3"}, names, matrix, AXES, 1.0)
    assert homes == {**STARTED, "p": "3", "q": "2"}


def test_what_joins_does_not_move_the_centre_of_a_heading():
    """Thirty papers that start under node 2 lie at 60 degrees; its centre stays at 4, so all of them leave."""
    crowd = {f"n{i:02d}": 60 for i in range(30)}
    names, matrix = angles(**ON_AXES, **crowd, q=40)
    homes = settled_homes({**STARTED, **dict.fromkeys(crowd, "2"), "q": "3"}, names, matrix, AXES, 1.0)
    assert {homes[n] for n in crowd} == {"3"}
    assert homes["q"] == "2"


@pytest.mark.parametrize(("degrees", "home"), [(48, "2"), (51, "2"), (56, "3")])
def test_that_a_heading_was_made_from_a_paper_outweighs_a_little_nearness(degrees, home):
    """The centre of node 2 lies at 15 degrees then, that of node 3 at 86: at 51 the paper is a little nearer to 3."""
    names, matrix = angles(**ON_AXES, p=degrees)
    memories = {**AXES, "2": frozenset("abcp")}
    assert settled_homes({**STARTED, "p": "2"}, names, matrix, memories, 1.0)["p"] == home


def test_the_papers_that_made_a_heading_are_at_home_under_it_though_one_lies_far_from_the_others():
    names, matrix = angles(**ON_AXES, p=30, q=30)
    homes = settled_homes({**STARTED, "p": "2"}, names, matrix, {**AXES, "2": frozenset("abcp")}, 0.0)
    assert homes["p"] == "2"
    assert "q" not in homes, "beside it, but no heading was made from it"


def test_papers_near_nothing_have_no_home_unless_they_are_among_the_best():
    names, matrix = angles(best=200, **ON_AXES, last=200)
    homes = settled_homes(STARTED, names, matrix, AXES, 1 / 8)
    assert "last" not in homes
    assert homes["best"] in ("2", "3")
    assert {p: homes[p] for p in STARTED} == STARTED


def test_a_paper_that_is_farther_than_most_of_those_a_heading_was_made_from_does_not_join():
    names, matrix = angles(**ON_AXES, within=7, outside=14)
    homes = settled_homes(STARTED, names, matrix, AXES, 0.0)
    assert homes.get("within") == "2"
    assert "outside" not in homes


def test_a_node_of_fewer_than_three_papers_is_dissolved_into_the_next_nearest():
    names, matrix = angles(**ON_AXES, p=135, q=137)
    memories = {**AXES, "4": frozenset("pq")}
    homes = settled_homes({**STARTED, "p": "4", "q": "4"}, names, matrix, memories, 1.0)
    assert homes == {**STARTED, "p": "3", "q": "3"}


def test_papers_without_a_vector_stay_where_they_were():
    names, matrix = angles(**ON_AXES)
    homes = settled_homes({**STARTED, "unseen": "2"}, names, matrix, AXES, 1.0)
    assert homes == {**STARTED, "unseen": "2"}
    assert settled_homes({"unseen": "2", "other": "3"}, [], np.zeros((0, 2)), {}, 1.0) == {"unseen": "2", "other": "3"}


def test_the_best_papers_are_at_home_where_there_is_one_node_only():
    names, matrix = angles(a=0, b=4, c=8, best=50)
    homes = settled_homes(dict.fromkeys("abc", "2"), names, matrix, {"2": frozenset("abc")}, 1.0)
    assert homes == dict.fromkeys(["a", "b", "c", "best"], "2")


def test_without_any_node_nothing_is_at_home():
    assert settled_homes({}, *angles(a=0), {}, 1.0) == {}


@st.composite
def settings_of_homes(draw):
    count = draw(st.integers(1, 24))
    names = [f"p{i:02d}" for i in range(count)]
    degrees = draw(st.lists(st.integers(0, 359), min_size=count, max_size=count))
    nodes = draw(st.lists(st.sampled_from(["2", "3.1", "3.2", "4"]), min_size=1, unique=True))
    homes = draw(st.dictionaries(st.sampled_from(names), st.sampled_from(nodes)))
    memories = {n: frozenset(draw(st.sets(st.sampled_from(names), max_size=8))) for n in nodes}
    return homes, *angles(**dict(zip(names, degrees, strict=True))), memories, draw(st.floats(0, 1))


@settings(max_examples=60, deadline=None)
@given(settings_of_homes())
def test_whatever_the_papers_each_has_one_home_and_the_best_have_one(given_):
    homes, names, matrix, memories, share = given_
    settled = settled_homes(homes, names, matrix, memories, share)
    assert settled == settled_homes(dict(reversed(homes.items())), names, matrix, memories, share)
    assert set(settled.values()) <= set(homes.values())
    assert set(settled) <= set(names)
    if homes:
        assert {p for i, p in enumerate(names) if i < share * len(names)} <= set(settled)
    sizes = [list(settled.values()).count(n) for n in set(settled.values())]
    assert all(size >= 3 for size in sizes) or all(size < 3 for size in sizes)
