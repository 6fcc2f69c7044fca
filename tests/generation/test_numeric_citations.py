"""Numeric marks of foreign surveys, and those that our own page prints."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation.numeric_citations import marks, resolved


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("a [3-5].", (3, 4, 5)),
        ("an en dash [3–5].", (3, 4, 5)),
        ("a list [1, 3; 5].", (1, 3, 5)),
        ("twice [2][2].", (2,)),
        ("blanks [ 7 ].", (7,)),
        ("mixed [1, 4-6].", (1, 4, 5, 6)),
        ("behind a word[8].", (8,)),
    ],
)
def test_lm10_marks_are_expanded(text, numbers):
    assert [m.numbers for m in marks(text)] == [numbers]


@pytest.mark.parametrize(
    "text",
    [
        "a link [5](page)",
        "code `x[3]`",
        "math $x[3]$",
        "the interval [0, 1]",
        "a token [MASK]",
        "[a3]",
        "a range [9-2]",
    ],
)
def test_lm10_other_brackets_are_no_marks(text):
    assert marks(text) == ()


def test_lm10_parts_out_of_range_are_told_and_the_others_stay():
    found = resolved("All agree [1, 9]. Some do [2-4].", ["a", "b", "c"])
    assert found.text == "All agree [1]. Some do [2, 3]."
    assert [(u.number, u.sentence) for u in found.unresolved] == [(9, "All agree [1, 9]."), (4, "Some do [2-4].")]


def test_lm07_every_mark_resolves_and_numbers_are_dense_and_in_order():
    text = "First [3]. Then [1, 7]. Wrong [8]. Also wrong [9] here. Again [3] and [2-6]."
    found = resolved(text, [f"entry {n}" for n in range(1, 8)])
    assert found.text == "First [1]. Then [2, 3]. Wrong. Also wrong here. Again [1] and [1, 4, 5, 6, 7]."
    assert found.entries == (2, 0, 6, 1, 3, 4, 5)
    assert [(u.number, u.sentence) for u in found.unresolved] == [(8, "Wrong [8]."), (9, "Also wrong [9] here.")]


def test_lm07_an_entry_that_nothing_cites_is_left_out():
    found = resolved("Only the second [2].", ["a", "b"])
    assert (found.text, found.entries) == ("Only the second [1].", (1,))


def test_years_in_brackets_are_no_marks_beside_a_short_list():
    assert resolved("As told [2019], it works [1].", ["a"]).unresolved == ()


@given(st.lists(st.lists(st.integers(1, 12), min_size=1, max_size=4), min_size=1, max_size=8), st.integers(1, 9))
def test_after_resolving_all_marks_are_dense_in_order_and_resolve(groups, count):
    text = " ".join(f"Claim {chr(97 + i)} [{', '.join(map(str, g))}]." for i, g in enumerate(groups))
    found = resolved(text, list(range(count)))
    cited = [n for m in marks(found.text) for n in m.numbers]
    assert set(cited) == set(range(1, len(found.entries) + 1))
    firsts = list(dict.fromkeys(cited))
    assert firsts == sorted(firsts)
    assert {u.number for u in found.unresolved} == {n for g in groups for n in g if n > count}
    assert resolved(found.text, found.entries).text == found.text
