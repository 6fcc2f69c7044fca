"""Numbers, names and words in forms in which two ways of writing one thing are equal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation.grounding_terms import Wording, missing_numbers, missing_terms, numbers, roots, terms


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("It takes 1,000 steps.", [1000]),
        ("It reaches 85.2% and 85.2 %, or .852.", [85.2, 85.2, 0.852]),
        ("Models of 7B, 7 billion and 1.5M parameters, 32k tokens.", [7e9, 7e9, 1.5e6, 32000]),
        ("From 7-13B parameters.", [7e9, 13e9]),
        ("Three parts are 10× faster, 2.5x cheaper.", [3, 10, 2.5]),
        ("GPT-4, T5, 3D scenes, F1, top-k, BM25 and the 2nd of them.", []),
        ("As Section 3.2, Table 4 and Fig. 5 show, (1) words, (2) vectors.", []),
        ("In 2019 it took 12 hours.", [2019, 12]),
        ("4.2 Dense retrieval is older.", []),
        ("1. Dense retrieval is older.", []),
        ("4.2 points were won.", [4.2]),
        ("12 Papers of 13.", [12, 13]),
    ],
)
def test_the_numbers_of_a_sentence(text, values):
    assert [n.value for n in numbers(text)] == values


@pytest.mark.parametrize(
    ("said", "written"),
    [
        ("1,000 questions", "1000 questions"),
        ("85.2% of them", "85.2 % of them"),
        ("85.2% of them", "a share of .852"),
        ("three parts", "3 parts"),
        ("3 parts", "three parts"),
        ("7B weights", "7 billion weights"),
        ("about 85% of them", "84.9% of them"),
        ("in 2021", "no year at all"),  # of the paper itself
        ("10x faster", "10× faster"),
        ("half of them, twice", "none of them"),
    ],
)
def test_a_number_is_found_however_it_is_written(said, written):
    hard = [n for n in missing_numbers(said, [Wording(written, frozenset({2021}))]) if n.is_exact]
    assert hard == []


@pytest.mark.parametrize(
    ("said", "written"),
    [
        ("85.2% of them", "58.2% of them"),
        ("7B weights", "7 tasks"),
        ("in 2019", "of 2020"),
        ("1,000", "100"),
        ("85", "84.2"),
    ],
)
def test_another_number_is_missing(said, written):
    assert [n.printed for n in missing_numbers(said, [Wording(written)])] == [numbers(said)[0].printed]


def test_any_of_several_texts_may_have_a_number():
    assert missing_numbers("12 and 13.5", [Wording("12 of them"), Wording("13.5 of them")]) == []


@given(st.integers(20, 10**7))
def test_thousands_are_grouped_or_not(n):
    assert missing_numbers(f"{n:,} rows", [Wording(f"{n} rows")]) == []
    assert missing_numbers(f"{n} rows", [Wording(f"{n:,} rows")]) == []
    assert missing_numbers(f"{n + 1} rows", [Wording(f"{n} rows")]) != [] or n + 1 in range(1900, 2101)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("ColBERT and BERTs beat GPT-4 on iPhones.", ["ColBERT", "BERT", "GPT-4", "iPhone"]),
        ("The Self is state-of-the-art in 3D.", []),
        ("KV-cache and T5 help RAG’s readers.", ["KV-cache", "T5", "RAG"]),
        ("A model I know.", []),
    ],
)
def test_the_names_of_a_sentence(text, names):
    assert terms(text) == names


@pytest.mark.parametrize(
    ("said", "written"),
    [
        ("GPT4 is asked", "we ask GPT-4"),
        ("RAG helps", "retrieval-augmented generation helps"),
        ("LLMs", "an LLM"),
        ("BERT-based readers", "a reader on top of BERT"),
        ("FusionInDecoder", "fusion in decoder"),
    ],
)
def test_a_name_is_found_however_it_is_written(said, written):
    assert missing_terms(said, [Wording(written)]) == []


def test_a_name_that_stands_nowhere_is_missing():
    assert missing_terms("HyDE and BERT", [Wording("we train BERT"), Wording("hide and seek")]) == ["HyDE"]


def test_words_lose_what_says_nothing():
    assert roots("The readers reading is trained") == roots("readers trained and the reading")
    assert "the" not in roots("The readers")
