"""Sentences that point at something outside themselves are refused, whole ones are kept."""

import pytest

from generation.extractive.openings import opening_end
from generation.extractive.sentences import is_whole, move, own_name
from generation.extractive.standing import stands_alone


@pytest.mark.parametrize(
    "text",
    [
        "This improves the accuracy of the reader considerably.",
        "These passages are then handed to the reader.",
        "It outperforms all baselines on four benchmarks.",
        "The proposed index fits into memory.",
        "The study shows that retrieval helps small models.",
        "The competition ran for six months in the last year.",
        "One of them is the lack of multilingual benchmarks.",
        "Providing provenance for their decisions remains an open problem.",
        "Reed et al. evaluate its properties on two corpora.",
        "Reed et al. answer these questions with two models.",
        "The re-ranker scores the passages with a cross encoder.",
        "Dense retrievers fail in this setting more often than others.",
        "Code is available at https://example.org for everybody.",
        "One paper presents a model trained using this randomized strategy.",
    ],
)
def test_dangling_sentences_are_refused(text):
    assert not stands_alone(text)


@pytest.mark.parametrize(
    "text",
    [
        "Dense retrievers transfer poorly to new domains.",
        "The method of Reed et al. halves the cost of search.",
        "The method of the BigScience Workshop halves the cost of search.",
        "The authors propose a retriever that needs no labels.",
        "One paper compares nine retrievers on one corpus.",
        "Reed et al. show that their index fits into memory.",
        "The goal of query expansion is to add words a user left out.",
        "HyDE has a model write a document and searches with its vector.",
    ],
)
def test_sentences_that_say_what_they_speak_of_stay(text):
    assert stands_alone(text)


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("However, retrieval fails.", "retrieval fails."),
        ("In this paper, we ask why.", "we ask why."),
        ("To tackle this problem, we ask why.", "we ask why."),
        ("Moreover, in this work we ask why.", "we ask why."),
        ("Recently proposed methods fail.", "Recently proposed methods fail."),
        ("To reduce cost, we ask why.", "To reduce cost, we ask why."),
        ("Inspired by this observation, retrieval grew.", "Inspired by this observation, retrieval grew."),
    ],
)
def test_only_openings_that_say_nothing_go(text, rest):
    assert text[opening_end(text) :] == rest


@pytest.mark.parametrize(
    "text",
    ["Too short.", "an unopened sentence that has words enough to count.",
     "A sentence (that never closes its bracket at all.",
     "A sentence that has no stop at its end whatsoever", "The loss $x$ is minimal for all seven values of it.",
     "Purpose: to find out whether retrieval helps clinicians at all."],
)  # fmt: skip
def test_what_is_no_whole_sentence_is_none(text):
    assert not is_whole(text)


@pytest.mark.parametrize(
    ("text", "position", "expected"),
    [
        ("Large language models achieve remarkable results.", 0.0, "background"),
        ("Language models hallucinate and lack recent facts.", 0.0, "problem"),
        ("We propose an index that improves accuracy.", 0.3, "method"),
        ("HyDE has a model write a document.", 0.3, "method"),
        ("Experiments show that it improves accuracy by 3%.", 0.7, "finding"),
        ("Recently, many models have been proposed.", 0.5, "background"),
        ("How to measure faithfulness remains an open problem.", 0.9, "open"),
    ],
)
def test_moves(text, position, expected):
    assert move(text, position=position) == expected


@pytest.mark.parametrize(
    ("title", "name"), [("RAPTOR: Trees", "RAPTOR"), ("Self-RAG: Learning", "Self-RAG"), ("LLM: A Survey", None),
                        ("Lost in the Middle: Contexts", None), ("Attention", None)],
)  # fmt: skip
def test_a_contribution_goes_by_what_stands_before_the_colon(paper_of, title, name):
    assert own_name(paper_of(title=title)) == name
