"""Topics and their keys: two definitions never share one, one definition never has two."""

import re
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation.topics import BadTopic, define_topic

TITLES = st.text(min_size=1, max_size=120).filter(lambda t: any(c.isalnum() for c in t))


def test_a_plain_title_is_its_slug_and_a_cutoff_freezes_it():
    assert define_topic("Graph neural networks").key == "graph-neural-networks"
    assert define_topic("RAG", cutoff=date(2024, 3, 31)).key == "rag-2024-03-31"


@pytest.mark.parametrize("title", ["RAG", "rag ", "  Rag"])
def test_or04_case_and_blanks_make_one_topic(title):
    assert define_topic(title).key == "rag"


def test_or04_a_long_title_is_shortened_with_a_hash_and_stays_itself():
    one, other = define_topic("x" * 300), define_topic("x" * 299)
    assert len(one.key) <= 60
    assert one.key != other.key
    assert one.title == "x" * 300


@pytest.mark.parametrize("title", ["", "   ", "\n", "???", "—"])
def test_or04_a_title_that_names_nothing_is_refused(title):
    with pytest.raises(BadTopic, match="at least one letter or digit"):
        define_topic(title)


def test_or03_marks_in_a_title_never_reach_the_key():
    topic = define_topic("LLM | RAG, [survey] a...b")
    assert re.fullmatch(r"llm-rag-survey-a-b-[0-9a-f]{8}", topic.key)
    assert topic.title == "LLM | RAG, [survey] a...b"
    assert define_topic("LLM RAG survey a b").key != topic.key


@pytest.mark.parametrize("title", ["hep-th/9901001", "../../x", "/etc/x", "C:\\x", "a|b", "a\x00b"])
def test_or01_path_like_titles_become_flat_keys(title):
    assert re.fullmatch(r"[a-z0-9-]+", define_topic(title).key)


def test_or02_numbers_that_look_alike_keep_their_own_keys():
    keys = {define_topic(t).key for t in ("0.94-to-0.95", "0.9 to 0.95", "2412.00001", "2412.00002", "241200001")}
    assert len(keys) == 5


def test_a_title_that_looks_like_another_kind_of_key_carries_a_hash():
    assert define_topic("RAG 2024-03-31").key != define_topic("RAG", cutoff=date(2024, 3, 31)).key
    described = define_topic("rag", description="only for code")
    assert define_topic(described.key.replace("-", " ")).key != described.key


@given(TITLES)
def test_keys_hold_letters_digits_and_hyphens_only(title):
    assert re.fullmatch(r"[a-z0-9-]+", define_topic(title).key)


@given(TITLES, TITLES)
def test_two_titles_share_a_key_only_if_they_differ_in_case_blanks_or_hyphens(one, other):
    def plain(text):
        return " ".join(text.casefold().replace("-", " ").split())

    assert (define_topic(one).key == define_topic(other).key) == (plain(one) == plain(other))


@given(st.lists(st.sampled_from(["2005.11401", "2312.10997v5", "hep-th/9901001"]), unique=True))
def test_order_and_spelling_of_exclusions_do_not_matter(ids):
    assert (
        define_topic("RAG", exclusions=ids).key
        == define_topic("RAG", exclusions=[f"arXiv:{i}" for i in reversed(ids)]).key
    )


def test_every_part_of_a_definition_makes_a_key_of_its_own():
    keys = {
        define_topic("RAG").key,
        define_topic("RAG", description="x").key,
        define_topic("RAG", cutoff=date(2024, 3, 31)).key,
        define_topic("RAG", inclusions=["2005.11401"]).key,
        define_topic("RAG", exclusions=["2005.11401"]).key,
        define_topic("RAG", pool_size=10).key,
        define_topic("RAG", has_withdrawn=True).key,
    }
    assert len(keys) == 7


def test_contradictions_are_refused():
    with pytest.raises(BadTopic, match=r"both included and excluded: 2005\.11401"):
        define_topic("RAG", inclusions=["2005.11401v1"], exclusions=["arXiv:2005.11401"])
    with pytest.raises(BadTopic, match="at least one paper"):
        define_topic("RAG", pool_size=0)
