"""Sentences end where their authors ended them, and no text falls between two of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.sentences import split


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        (
            "Reed et al. gain 2.5 points. Nobody else does, e.g. on BEIR.",
            ["Reed et al. gain 2.5 points.", "Nobody else does, e.g. on BEIR."],
        ),
        ("See Fig. 3 and Eq. 4. They agree.", ["See Fig. 3 and Eq. 4.", "They agree."]),
        ("One line\ngoes on. The next.\n\nA new paragraph", ["One line\ngoes on.", "The next.", "A new paragraph"]),
        ("Heading without a stop\n\nA paragraph.", ["Heading without a stop", "A paragraph."]),
        ("The set 𝒜 is open. So is 𝓑.", ["The set 𝒜 is open.", "So is 𝓑."]),
        ("A broken \ud800 letter. And more.", ["A broken \ud800 letter.", "And more."]),
        ("", []),
    ],
)
def test_sentences_of(text, sentences):
    assert [text[start:end] for start, end in split(text)] == sentences


@given(st.text(alphabet=st.sampled_from("aB1 .,!?\n-é中𝒜()")))
def test_every_character_but_blanks_is_in_exactly_one_sentence(text):
    spans = split(text)
    inside = [i for start, end in spans for i in range(start, end)]
    assert len(inside) == len(set(inside))
    assert {i for i, c in enumerate(text) if not c.isspace()} <= set(inside)
