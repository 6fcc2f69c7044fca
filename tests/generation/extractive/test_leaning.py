"""A sentence that leans on another is not the first that is said of its paper."""

import pytest

from generation.extractive.selection import _offers


def needs(paper):
    return {source.text: leaning for source, _, leaning in _offers(paper, None, ())}


def test_a_name_is_introduced_before_it_is_used(paper_of):
    first = "We propose TwinSeek, an index for pairs of short questions."
    second = "TwinSeek improves recall by 6 points on two collections."
    found = needs(paper_of(abstract=f"{first} {second}"))
    assert found[first].introduces == {"TwinSeek"}
    assert found[first].is_free
    assert found[second].uses == {"TwinSeek"}
    assert not found[second].is_free


@pytest.mark.parametrize(
    "sentence",
    [
        "The embeddings of both towers are joined by a small gate.",
        "During training the gate is closed for one question in ten.",
        "A gate is added between two towers of the index.",
        "Experiments on short questions show gains of 6 points in recall.",
        "HashSeek improves recall by 6 points on two collections.",  # whose is it?
    ],
)
def test_what_was_told_before_must_stand_there(paper_of, sentence):
    found = needs(
        paper_of(abstract=f"We propose an index for pairs of short questions, built from two towers. {sentence}")
    )
    assert not found[sentence].is_free


@pytest.mark.parametrize(
    "sentence",
    [
        "We find that retrieval helps small readers more than large ones.",
        "Evaluation beyond English remains an open problem.",
        "We study why small readers ignore what they retrieve.",
    ],
)
def test_what_stands_alone_is_free(paper_of, sentence):
    found = needs(
        paper_of(abstract=f"We propose an index for pairs of short questions, built from two towers. {sentence}")
    )
    assert found[sentence].is_free


def test_what_a_system_of_the_title_does_introduces_it(paper_of):
    text = "TwinSeek attends over pairs of questions to keep the index small."
    assert needs(paper_of(title="TwinSeek: Two Questions", abstract=text))[text].introduces == {"TwinSeek"}


@pytest.mark.parametrize(
    "sentence",
    [
        "We conduct extensive experiments on four datasets.",
        "We hope that our work inspires others to read more.",
        "Our system won the second place in the shared task on short questions.",
        "The authors conclude by discussing open problems of the field.",
        "Code is publicly available for everybody who wants it.",
        "Recent models discussvarious ways of reading short questions.",
    ],
)
def test_what_says_nothing_of_the_matter_is_not_offered(paper_of, sentence):
    assert sentence not in needs(paper_of(abstract=f"We propose an index for pairs of short questions. {sentence}"))
