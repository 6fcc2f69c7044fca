"""A system stands first where the grammar allows, with what is said of it unchanged."""

import pytest

from generation.extractive.adaptation import adapt, rebuild, reverse
from generation.extractive.introducing import introduced_in, name_first
from generation.extractive.sentences import whole_sentences
from generation.extractive.speakers import Manner


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We introduce SwimSet, a collection of questions in 33 languages.",
         "SwimSet is a collection of questions in 33 languages."),
        ("In this paper, we propose Late Pair Search (LPS), a novel framework that reads pairs late.",
         "Late Pair Search (LPS) is a framework that reads pairs late."),
        ("This paper presents TwinSeek, an index for pairs of short questions.",
         "TwinSeek is an index for pairs of short questions."),
        ("We propose a novel framework called TwinSeek that reads two questions at once.",
         "TwinSeek is a framework that reads two questions at once."),
        ("We present a novel and efficient retrieval method named TwinSeek for pairs of short questions.",
         "TwinSeek is an efficient retrieval method for pairs of short questions."),
        ("We propose Late Pair Networks (LPNs), a class of networks that read pairs late.",
         "Late Pair Networks (LPNs) are a class of networks that read pairs late."),
        ("We propose Late Pair Search (LPS), which reads pairs of questions late.",
         "Late Pair Search (LPS) reads pairs of questions late."),
        ("We propose a two-tower retrieval model (TwinSeek) that reads two questions at once.",
         "TwinSeek is a two-tower retrieval model that reads two questions at once."),
        ("We propose TwinSeek, a search for pairs, to answer short questions.",
         "TwinSeek is a search for pairs to answer short questions."),
    ],
)  # fmt: skip
def test_the_name_becomes_the_subject(paper_of, text, expected):
    paper = paper_of(abstract=text)
    (source,) = whole_sentences(paper)
    sentence = adapt(source, paper, Manner(by_name=True))
    assert sentence.text == expected
    assert rebuild(source.text, sentence.edits) == expected
    assert reverse(expected, sentence.edits) == source.text


@pytest.mark.parametrize(
    "text",
    [
        "We propose a framework that reads two questions at once.",  # no name
        "We introduce TwinSeek, a search for pairs, and show that it is fast.",  # two things done
        "We introduce TwinSeek, a small index.",  # too little is said of it
        "We introduce TwinSeek, a search in which we read two questions.",
        "We evaluate TwinSeek, an index for pairs of short questions.",  # somebody else's perhaps
    ],
)
def test_other_sentences_keep_their_subject(text):
    assert name_first(text, 0) is None


@pytest.mark.parametrize(
    "text",
    [
        "TwinSeek is an index for pairs of questions.",
        "TwinSeek (Twin Questions) uses two towers for pairs.",
        "Reed et al. propose an index called TwinSeek.",
        "Reed et al. propose twin questions (TwinSeek) for search.",
    ],
)
def test_what_introduces_a_name(text):
    assert introduced_in(text, {"TwinSeek"}) == {"TwinSeek"}


@pytest.mark.parametrize(
    "text", ["TwinSeek improves recall by 6 points.", "With TwinSeek recall improves.", "It is fast."]
)
def test_what_only_uses_a_name(text):
    assert introduced_in(text, {"TwinSeek"}) == frozenset()
