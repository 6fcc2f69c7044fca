"""What goes from a sentence takes nothing from its claim; what would, stays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation.extractive.adaptation import adapt, rebuild, reverse
from generation.extractive.sentences import SourceSentence, move
from generation.extractive.shortening import article_before, without_praise
from generation.extractive.speakers import Manner
from generation.values import Span

BY_NAME = Manner(by_name=True)


def adapted(paper, text, manner=BY_NAME):
    return adapt(SourceSentence(Span(paper.paper_id, 0, len(text)), text, move(text), 0.6), paper, manner)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Experimental results show that TwinSeek improves recall by 6 points.", "TwinSeek improves recall by 6 points."),
        ("Extensive experiments demonstrate that our method halves the cost of search.",
         "The method of Reed et al. halves the cost of search."),
        ("We conduct experiments on three public benchmarks, and the results show that TwinSeek halves the cost of search.",
         "TwinSeek halves the cost of search."),
        ("Through comprehensive automatic and human evaluations, we find readers of long texts slow.",
         "Reed et al. find readers of long texts slow."),
        ("TwinSeek halves the cost of search for pairs of questions, demonstrating the effectiveness of our approach.",
         "TwinSeek halves the cost of search for pairs of questions."),
        ("We propose a novel approach for short questions.", "Reed et al. propose an approach for short questions."),
        ("We study open- domain questions with two readers.", "Reed et al. study open-domain questions with two readers."),
        ("We proposeExtensible towers for pairs of questions.",
         "Reed et al. propose Extensible towers for pairs of questions."),
        ("We study large readers (e.g., of 7B weights) on short questions.",
         "Reed et al. study large readers on short questions."),
    ],
)  # fmt: skip
def test_what_goes(paper_of, text, expected):
    paper = paper_of(title="TwinSeek: Two Questions", abstract=text)
    sentence = adapted(paper, text)
    assert sentence.text == expected
    assert reverse(sentence.text, sentence.edits) == text


@pytest.mark.parametrize(
    "text",
    [
        "Experiments on TwinBench show that TwinSeek improves recall by 6 points.",  # says where
        "Experimental results show that retrieval helps small readers most of all.",  # whose result would not be told
        "Reed et al. argue that retrieval helps small readers most.",
    ],
)
def test_what_stays(paper_of, text):
    assert adapted(paper_of(title="TwinSeek: Two Questions", abstract=text), text).text == text


def test_a_finding_whose_authors_no_source_names_is_told_as_a_fact(paper_of):
    text = "We find that retrieval helps small readers more than large ones."
    paper = paper_of(abstract=text, authors=None)
    assert adapted(paper, text).text == "Retrieval helps small readers more than large ones."
    argued = text.replace("find", "argue")
    assert adapted(paper, argued).text.startswith("“A Study of Things” argues that")


@pytest.mark.parametrize(
    ("word", "article"),
    [("approach", "an"), ("framework", "a"), ("unified model", "a"), ("unsupervised model", "an"), ("one-step index", "a"),
     ("hour", "an"), ("efficient index", "an"), ("user study", "a")],
)  # fmt: skip
def test_articles(word, article):
    assert article_before(word) == article
    assert without_praise(f"a novel {word}") == f"{article} {word}"


_PIECES = st.sampled_from(
    ["we propose ", "This paper introduces ", "Moreover, ", "In this work, ", "Experimental results show that ", "our method ",
     "TwinSeek", ", a novel ", "framework ", "called ", " (e.g., one)", " and show that ", "which ", "open- domain ", "we find that ",
     " improves recall by 6 points", ", demonstrating the effectiveness of it", "to ", "they ", "the authors ", "Our ", "We also ", " that "]
)  # fmt: skip


@given(st.lists(_PIECES, min_size=2, max_size=9), st.booleans(), st.booleans(), st.integers(0, 7), st.booleans())
def test_whatever_is_adapted_can_be_had_back(pieces, follows, by_name, turn, has_authors):
    from tests.generation.extractive.conftest import make_paper

    text = "".join(pieces) + "."
    paper = make_paper(
        title="TwinSeek: Two Questions", abstract=text, authors=("Ada Reed", "Bo Stone") if has_authors else None
    )
    sentence = adapted(paper, text, Manner(follows, turn, by_name))
    if sentence is not None:
        assert rebuild(text, sentence.edits) == sentence.text
        assert reverse(sentence.text, sentence.edits) == text
        assert (sentence.kind == "adapted") == bool(sentence.edits)
