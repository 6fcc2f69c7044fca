"""A mark of citation goes only where nothing is taken from anybody, and the sentence can be had back."""

import pytest

from generation.cards import CardPassage
from generation.extractive.adaptation import adapt, rebuild, reverse
from generation.extractive.fulltext import sentences_in_full
from generation.extractive.marks import are_droppable, without_marks
from generation.writing import EvidencePassage

OWN = frozenset({"TwinSeek"})


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        (
            "TwinSeek improves recall on TwinBench (Reed et al., 2019) by 6 points.",
            "TwinSeek improves recall on TwinBench by 6 points.",
        ),
        (
            "Training with TwinSeek improves recall on MIMIC-III [47] and ECtHR [6, 7] collections.",
            "Training with TwinSeek improves recall on MIMIC-III and ECtHR collections.",
        ),
        (
            "Our evaluation shows that TwinSeek matches older retrievers on Natural Questions (Stone and Lake, 2019).",
            "Our evaluation shows that TwinSeek matches older retrievers on Natural Questions.",
        ),
    ],
)
def test_a_mark_behind_the_name_of_a_thing_is_dropped(text, bare):
    assert are_droppable(text, OWN)
    assert without_marks(text) == bare


@pytest.mark.parametrize(
    "text",
    [
        "HashSeek improves recall by 4 points (Reed et al., 2019).",  # another's finding
        "We note that HashSeek [3] improves recall by 4 points.",
        "TwinSeek builds on HashSeek [3], which improves recall by 4 points.",
        "TwinSeek improves recall by 6 points [3].",  # whose points?
        "TwinSeek follows HashSeek [3] and its index.",
        "TwinSeek is trained by HashSeek [3] on pairs.",
        "TwinSeek was shown to be faster on TwinBench [3] and others.",
        "Reed et al. (2019) show that TwinSeek improves recall on TwinBench.",
        "TwinSeek answers on TwinBench (SemEval 2019 only) with ease.",
        "TwinSeek is in the interval TwinBench [0, 1] in each case.",
        "TwinSeek improves recall on TwinBench [1], HashBench [2] and BigBench [3].",
        "TwinSeek improves recall on TwinBench by 6 points.",  # no mark at all
    ],
)
def test_a_mark_that_may_stand_for_what_is_said_stays(text):
    assert not are_droppable(text, OWN)


def test_the_edit_is_named_and_can_be_undone(make_paper):
    paper = make_paper("2101.00001", title="TwinSeek: Two Questions", abstract="We study search.")
    text = "Moreover, we find that TwinSeek improves recall on TwinBench (Reed et al., 2019) by 6 points."
    shown = EvidencePassage(CardPassage("2101.00001/1", ("Results",), "3", 5, f"It is fast. {text}", 1), "results")
    (source,) = sentences_in_full(paper, None, [shown])
    assert source.text == text
    assert (source.span.start, source.span.page, source.span.passage_id) == (12, 5, "2101.00001/1")
    sentence = adapt(source, paper)
    assert sentence.text == "TwinSeek improves recall on TwinBench by 6 points."
    assert ("drop citation mark", " (Reed et al., 2019)") in {(e.name, e.before) for e in sentence.edits}
    assert reverse(sentence.text, sentence.edits) == text
    assert rebuild(text, sentence.edits) == sentence.text


def test_a_finding_of_others_is_not_offered(make_paper):
    paper = make_paper("2101.00001", title="TwinSeek: Two Questions", abstract="We study search.")
    text = "We find that HashSeek improves recall by 4 points (Reed et al., 2019)."
    passage = CardPassage("2101.00001/1", ("Results",), "3", 5, text, 1)
    assert sentences_in_full(paper, None, [EvidencePassage(passage, "results")]) == []
