"""Edits are named and reversible, and nobody is given words that are not theirs."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from generation.extractive.adaptation import adapt, rebuild, reverse, with_pronoun
from generation.extractive.sentences import whole_sentences
from generation.values import Edit

_ONE, _TWO, _MANY = ("Ada Reed",), ("Ada Reed", "Bo Stone"), ("Ada Reed", "Bo Stone", "Cy Lake")


def adapted(paper):
    (source,) = whole_sentences(paper)
    return source, adapt(source, paper)


_WE = "We propose a search that needs no labels."
_PAPER = "This paper compares nine methods on one set."
_CUTS = "halves the cost of any search."


@pytest.mark.parametrize(
    ("authors", "group", "title", "abstract", "expected"),
    [
        (_MANY, None, "T", _WE, "Reed et al. propose a search that needs no labels."),
        (_TWO, None, "T", _WE, "Reed and Stone propose a search that needs no labels."),
        (_ONE, None, "T", _WE, "Reed proposes a search that needs no labels."),
        (None, ("The Big Workshop",), "T", _WE, "The Big Workshop proposes a search that needs no labels."),
        (None, None, "T", _WE, "A 2021 paper proposes a search that needs no labels."),
        (None, None, "A Search: For Libraries", _WE, "“A Search: For Libraries” proposes a search that needs no labels."),
        (None, None, "A Search: For All the Many Small Libraries That Have None", _WE,
         "“A Search” proposes a search that needs no labels."),
        (_MANY, None, "T", _PAPER, "Reed et al. compare nine methods on one set."),
        (_MANY, None, "T", _PAPER.replace("paper", "survey paper"),
         "A 2021 survey paper by Reed et al. compares nine methods on one set."),
        (None, None, "T", _PAPER, "A 2021 paper compares nine methods on one set."),
        (_MANY, None, "T", f"Our method {_CUTS}", f"The method of Reed et al. {_CUTS}"),
        (_MANY, None, "T", f"The proposed method {_CUTS}", f"The method of Reed et al. {_CUTS}"),
        (_MANY, None, "T", f"Experiments show that our method {_CUTS}", f"The method of Reed et al. {_CUTS}"),
        (_MANY, None, "T", "According to the survey, the field lacks shared benchmarks.",
         "According to the survey by Reed et al., the field lacks shared benchmarks."),
        (_MANY, None, "T", "On five benchmarks, the authors find that retrieval hurts.",
         "On five benchmarks, Reed et al. find that retrieval hurts."),
        (_MANY, None, "T", f"To address these limitations, {_WE[0].lower()}{_WE[1:]}",
         "Reed et al. propose a search that needs no labels."),
        (_MANY, None, "T", "However, dense retrievers transfer poorly to new domains.",
         "Dense retrievers transfer poorly to new domains."),
        (_MANY, None, "T", "We also measure all ten systems on BEIR.", "Reed et al. measure all ten systems on BEIR."),
        (_MANY, None, "T", "Larger indexes also help readers that are small.",
         "Larger indexes help readers that are small."),
    ],
)  # fmt: skip
def test_whoever_speaks_is_named(paper_of, authors, group, title, abstract, expected):
    source, sentence = adapted(paper_of(title=title, abstract=abstract, authors=authors, collaborations=group))
    assert sentence.text == expected
    assert sentence.kind == "adapted"
    assert rebuild(source.text, sentence.edits) == sentence.text
    assert reverse(sentence.text, sentence.edits) == source.text


@pytest.mark.parametrize(
    ("authors", "abstract"),
    [
        (None, "Our method halves the cost of dense search."),  # nobody to own it
        (_ONE, "We propose our own index because we need one."),  # one author is no "they"
        (_ONE, "We dunk the index into several smaller shards."),  # a verb whose third person is not known
        (_MANY, "Unlike our earlier index, we keep all the passages."),  # "our" before anybody is named
    ],
)
def test_what_cannot_be_named_is_refused(paper_of, authors, abstract):
    assert adapted(paper_of(abstract=abstract, authors=authors))[1] is None


def test_a_quoted_sentence_equals_its_span(paper_of):
    paper = paper_of(
        abstract="Dense retrievers transfer poorly. Sparse retrieval by terms needs no training data at all."
    )
    for source in whole_sentences(paper):
        sentence = adapt(source, paper)
        assert sentence.kind == "quoted"
        assert sentence.edits == ()
        (span,) = sentence.spans
        assert paper.abstract[span.start : span.end] == sentence.text


def test_a_second_sentence_of_the_same_authors_says_they_and_still_reverses(paper_of):
    source, sentence = adapted(paper_of(abstract="In this paper, we show that our index fits into memory."))
    again = with_pronoun(sentence)
    assert again.text == "They show that their index fits into memory."
    assert reverse(again.text, again.edits) == source.text


def test_one_author_never_becomes_they(paper_of):
    _, sentence = adapted(paper_of(abstract="We propose a search that needs no labels.", authors=_ONE))
    assert with_pronoun(sentence) == sentence


@st.composite
def edited(draw):
    """A text with edits that do not overlap, in order."""
    text = draw(st.text(min_size=1, max_size=60))
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=8)))
    pairs = list(zip(cuts[::2], cuts[1::2], strict=False))
    return text, tuple(Edit("any", a, text[a:b], draw(st.text(max_size=8))) for a, b in pairs)


@given(edited())
def test_any_edits_undo_each_other(case):
    text, edits = case
    assert reverse(rebuild(text, edits), edits) == text


@given(st.text(max_size=40), st.integers(0, 40))
def test_an_edit_that_does_not_fit_is_told(text, at):
    before = text[at : at + 3] + "§"
    assume(not text.startswith(before, at))
    edit = Edit("name the authors", at, before, "x")
    with pytest.raises(ValueError, match="does not fit"):
        rebuild(text, (edit,))


def test_every_sentence_of_every_abstract_reverses(papers):
    kinds = set()
    for paper in papers:
        for source in whole_sentences(paper):
            sentence = adapt(source, paper)
            assert rebuild(source.text, sentence.edits) == sentence.text
            assert reverse(sentence.text, sentence.edits) == source.text
            kinds.add(sentence.kind)
    assert kinds == {"quoted", "adapted"}
