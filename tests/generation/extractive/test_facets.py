"""Facets divide papers by words of their titles: none that the topic speaks of, none under every section."""

import pytest

from generation.extractive.facets import facets_named
from generation.extractive.grouping import divide
from tests.generation.extractive.conftest import embed, make_paper

EVALUATION = "Evaluation and Benchmarks"
TITLES = {
    "a": "A Benchmark for Retrieval",
    "b": "Evaluating Readers",
    "c": "Poisoning Attacks on Retrieval",
    "d": "Backdoors in Readers",
    "e": "Faster Readers",
    "f": "Efficient Retrieval",
    "g": "Lightweight Indexes",
    "h": "The Law of Large Numbers",
}


def test_a_facet_holds_the_papers_whose_titles_speak_of_it():
    assert facets_named(TITLES, "Retrieval", is_whole=True) == {
        EVALUATION: frozenset("ab"),
        "Security and Privacy": frozenset("cd"),
    }


def test_the_parts_of_a_section_have_further_facets_of_three_papers_at_least():
    assert facets_named(TITLES, "Retrieval", is_whole=False) == {"Efficiency": frozenset("efg")}


@pytest.mark.parametrize(
    ("topic", "gone"),
    [
        ("Evaluation of Language Models", EVALUATION),
        ("Benchmarks for Reading", EVALUATION),
        ("Adversarial Attacks", "Security and Privacy"),
    ],
)
def test_a_facet_that_the_topic_speaks_of_divides_nothing(topic, gone):
    left = facets_named(TITLES, topic, is_whole=True)
    assert gone not in left
    assert len(left) == 1


def test_words_are_whole_words():
    assert facets_named({"a": "Flawless Outlaws", "b": "Lawns and Laws"}, "Retrieval", is_whole=True) == {}


THINGS = ("Cities", "Films", "Genes", "Ships", "Songs", "Towns")


def parts(taken):
    """Headings of the parts of a section on knowledge graphs, half of whose papers evaluate."""
    papers = [
        make_paper(f"2101.0{i}{j}", f"{form} Knowledge Graphs of {thing}", f"{said} {thing} graphs.")
        for i, (form, said) in enumerate(
            [("Evaluating", "Benchmarks compare metrics of"), ("Temporal", "Time orders facts in temporal")]
        )
        for j, thing in enumerate(THINGS)
    ]
    matrix = embed([f"{p.title}\n{p.abstract}" for p in papers])
    groups = divide(papers, matrix, 4, "Retrieval", smallest=3, embed=embed, taken=taken, above="Knowledge Graphs")
    return [g.concept.text for g in groups]


def test_a_facet_comes_again_under_another_section_and_says_under_which():
    assert EVALUATION in parts(())
    assert f"{EVALUATION} in Knowledge Graphs" in parts((EVALUATION,))
    assert f"{EVALUATION} in Knowledge Graphs" in parts((EVALUATION, f"{EVALUATION} in Dense Retrieval"))


def test_a_facet_does_not_come_under_every_section():
    taken = (EVALUATION, *(f"{EVALUATION} in {t}" for t in ("Dense Retrieval", "Readers")))
    assert not any(EVALUATION in h for h in parts(taken))
