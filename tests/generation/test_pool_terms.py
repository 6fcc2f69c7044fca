"""Key terms: what tells first papers from others, and the sample that others are counted in."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation.pool_terms import key_terms, sample_of


def papers(*texts: str | tuple[str, str | None]) -> pl.DataFrame:
    rows = [(text, "") if isinstance(text, str) else text for text in texts]
    return pl.DataFrame(rows, schema={"title": pl.String, "abstract": pl.String}, orient="row")


def test_terms_are_the_words_that_first_papers_use_more_than_others():
    first = papers("Graph attention of nodes", "Graph convolution of nodes", "A graph protein")
    others = papers("Colour of soup", "Heat of nodes", "Mice", "Men")
    assert key_terms(first, others, 10) == ["graph", "nodes"]


def test_terms_are_cut_at_the_count_and_equal_ones_come_by_name():
    first = papers("beta alpha gamma", "gamma alpha beta")
    assert key_terms(first, papers("delta"), 2) == ["alpha", "beta"]


def test_a_word_that_one_first_paper_repeats_is_no_term():
    first = papers(("Graph", "Zebra zebra zebra."), ("Graphs", None), ("Graph", ""))
    assert key_terms(first, papers("soup", "fire"), 10) == ["graph"]


@pytest.mark.parametrize(
    ("title", "terms"),
    [
        ("Self-attention", ["attention", "self"]),
        ("LLM 2023 GPT4", ["gpt4", "llm"]),
        ("Größe", ["größe"]),
        ("A 1 = ?", []),
        ("That which is from here", ["here"]),
    ],
    ids=["hyphen", "numbers", "umlaut", "nothing", "stop words"],
)
def test_words_are_split_as_full_text_search_splits_them(title, terms):
    assert sorted(key_terms(papers(title, title), papers("soup"), 10)) == terms


@pytest.mark.parametrize("others", [[], ["soup"]], ids=["no others", "others"])
def test_without_first_papers_there_are_no_terms(others):
    assert key_terms(papers(), papers(*others), 10) == []


@given(st.sets(st.text("0123456789./", min_size=1, max_size=8), max_size=40), st.integers(1, 12))
def test_a_sample_changes_by_one_paper_at_most_where_a_paper_goes(ids, size):
    names = sorted(ids)
    sample = sample_of(pl.Series(names, dtype=pl.String), size)
    assert len(sample) == min(size, len(names))
    assert sample == sample_of(pl.Series(names[::-1], dtype=pl.String), size)
    for gone in names:
        without = sample_of(pl.Series([n for n in names if n != gone], dtype=pl.String), size)
        assert set(sample) - set(without) <= {gone}
        assert len(set(without) - set(sample)) <= (gone in sample)
