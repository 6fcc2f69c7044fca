"""Verbs agree with a subject of one, and where it is unclear whose a verb is nobody guesses."""

import pytest

from generation.extractive.agreement import base_form, shared_verbs, third_person


@pytest.mark.parametrize(
    ("verb", "third"),
    [("propose", "proposes"), ("study", "studies"), ("employ", "employs"), ("address", "addresses"), ("have", "has"),
     ("fine-tune", "fine-tunes"), ("dunk", None)],
)  # fmt: skip
def test_third_persons_and_back(verb, third):
    assert third_person(verb) == third
    if third:
        assert base_form(third) == verb


@pytest.mark.parametrize(
    ("text", "verbs"),
    [
        ("We propose an index and show that it is small.", ["shows"]),
        ("We propose an index, evaluate it on two sets, and find that it is small.", ["evaluates", "finds"]),
        ("We propose an index, and also compare the two readers.", ["compares"]),
        ("We propose a reader to retrieve and combine the passages.", []),
        ("We propose an index and a reader.", []),
        ("We study the design and use of indexes.", []),
    ],
)
def test_verbs_of_the_same_subject(text, verbs):
    found = shared_verbs(text, text.index(" an") if " an " in text else text.index(" ", 3))
    assert [third for _, third in found] == verbs


@pytest.mark.parametrize(
    "text",
    [
        "We propose a reader that needs no labels and utilize the index.",  # of the reader, or of "we"?
        "We propose a reader to rank passages and show that it is fast.",
        "We propose a reader and thus defrost the index.",  # a verb that is not known
    ],
)
def test_what_is_unclear_is_told(text):
    assert shared_verbs(text, len("We propose")) is None
