"""What a parser or a page broke is told from what the authors wrote."""

import pytest

from generation.cards import CardPassage
from generation.extractive.cards import extractive_card
from generation.misprints import is_misprinted, is_unclear, joined_words, unclear_words

TEXT = (
    "Recurrent networks are trained on sequencealigned states. The highlevel view of the decoder is plain. "
    "The decoder reads what a decoder wrote, and the decoderonly design has no encoder. "
    "Each sentenceand its neighbours are read. We use tokenization, pretraining and downsampling, and the network "
    "summarizes what it generalizes. Its bottlenecks are marginally smaller than those of feedback loops."
)


def test_words_that_lost_a_hyphen_are_found_and_others_are_not():
    assert joined_words([TEXT]) == {"sequencealigned", "highlevel", "decoderonly", "sentenceand"}


def test_what_title_or_abstract_or_the_paper_itself_often_writes_is_a_word():
    assert "highlevel" not in joined_words([TEXT], ["A highlevel language"])
    assert "sequencealigned" not in joined_words([TEXT] * 3)


def test_an_abbreviation_is_unclear_where_another_sentence_explains_it():
    texts = ["We use model parallelism (MP) on many machines.", "MP needs fast links, and two MPs need more."]
    assert unclear_words(texts) == {"MP"}
    assert unclear_words(texts, ["MP for large models"]) == frozenset()
    assert is_unclear("MP needs fast links.", {"MP"})
    assert is_unclear("Two MPs need fast links.", {"MP"})
    assert not is_unclear("We use model parallelism (MP) on many machines.", {"MP"})


@pytest.mark.parametrize(
    "text",
    [
        "The index holds many facts.1",
        "The models2 are trained on pairs of questions.",
        "We minimise \\alpha over all pairs.",
        "We minimise [equation] over all pairs.",
        "TAPASBASE is worse than the larger model.",
        "We keep pairs with a similarity of.95 or more.",
        "The re- trained model is better than before.",
        "The model , which is small, wins.",
        "We thank the \ufb01rst reader of the text.",
    ],
)
def test_what_is_left_of_page_and_parser_is_refused(text):
    assert is_misprinted(text)


@pytest.mark.parametrize(
    "text",
    [
        "GPT2 and BM25 gain 4.2 points, 1,024 times faster, on SQuAD 1.1.",
        "TwinSeek halves the index (by 50%) without loss; recall rises to .95 in the end.",
        "Pre- and post-training cost the same.",
    ],
)
def test_names_and_numbers_are_no_misprints(text):
    assert not is_misprinted(text)


@pytest.mark.parametrize(
    "text",
    [
        "We train TwinSeek on sequencealigned pairs of questions.",
        "As Table 3 shows, TwinSeek improves recall by 6 points.",
        "TwinSeek improves recall by 6 points (see Fig. 1).",
        "We introduce TwinBench, a collection of paired questions (§2.2).",
        "TwinSeek improves recall by 6 points.3",
        "We find that TwinSeek gains with such augmentation of all the questions.",
        "We find that TwinSeek is faster, and (2) TwinSeek improves recall by 6 points.",
    ],
)
def test_a_card_takes_no_sentence_that_is_broken_or_points_to_a_table(make_paper, text):
    def card(sentence: str):
        passage = CardPassage("2101.00001/1", ("Results",), "3", 2, sentence, 1)
        return list(extractive_card(make_paper(abstract=None), [passage]).items())

    assert card("We find that TwinSeek improves recall by 6 points on TwinBench.")
    assert card(text) == []
