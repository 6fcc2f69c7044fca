"""Headings of human outlines by their plain form, and how many outlines have each."""

from datetime import date

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generation.patterns import heading_counts, plain_heading


def outlines(*headings):
    return pl.DataFrame(
        {
            "outline_id": [f"o{i}" for i in range(len(headings))],
            "title": ["T"] * len(headings),
            "headings": [list(h) for h in headings],
            "levels": [[1] * len(h) for h in headings],
            "submitted_latest": [date(2020, 1, 1)] * len(headings),
        },
        schema_overrides={"headings": pl.List(pl.String), "levels": pl.List(pl.Int64)},
    )


@pytest.mark.parametrize(
    ("heading", "plain"),
    [
        ("Graph-based Methods", "graph based method"),
        ("3.1  Dense Retrieval:", "3 1 dense retrieval"),
        ("Benchmarks & Metrics", "benchmark metric"),
        ("Loss Functions", "loss function"),  # a word in -ss is no plural
        ("Data Analysis", "data analysis"),  # nor one in -is
        ("Consensus", "consensus"),  # nor one in -us
        ("LLMs as Judges", "llm as judge"),
        ("—", ""),
    ],
)
def test_a_plain_heading_has_neither_case_nor_punctuation_nor_plurals(heading, plain):
    assert plain_heading(heading) == plain


def test_an_outline_counts_once_however_often_and_however_spelled_it_has_a_heading():
    counts = heading_counts(
        outlines(["Diffusion Models", "diffusion model", "Outlook"], ["DIFFUSION-MODELS"], ["Diffusion"])
    )
    assert counts == {"diffusion model": 2, "outlook": 1, "diffusion": 1}


def test_headings_of_more_than_five_words_and_empty_ones_name_no_concept():
    counts = heading_counts(outlines(["one two three four five", "one two three four five six", "…", ""]))
    assert counts == {"one two three four five": 1}


def test_no_outlines_no_headings():
    assert heading_counts(outlines()) == {}


@given(st.text())
def test_the_plain_form_of_a_plain_form_is_itself(text):
    assert plain_heading(plain_heading(text)) == plain_heading(text)


WORDS = st.text(alphabet="absuiemNS -&.1_éİ", max_size=12)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(WORDS, min_size=1, max_size=4), min_size=1, max_size=4))
def test_counting_and_looking_up_take_the_same_form(headings):
    """The one is Rust's regular expressions over a table, the other Python's over one heading."""
    plain = [{plain_heading(h) for h in own} for own in headings]
    expected = {h for own in plain for h in own if h and len(h.split(" ")) <= 5}
    assert heading_counts(outlines(*headings)) == {h: sum(h in own for own in plain) for h in expected}
