"""Where a quotation stands: exactly, nearly, or nowhere."""

import random
import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generation.support import NOWHERE, SourceText, locate

ABSTRACT = (
    "Retrieval-augmented models look things up before they answer. We introduce a reader that is trained on passages "
    "which do not hold the answer, so that it learns to abstain.\nOn four sets of questions it reaches 85.2% accuracy, "
    "4.1 points above the same reader without them. Its “confidence” is well calibrated, and the naïve baseline's is "
    "not. Training took 12 hours on one machine - less than half of what the base-\nline needs."
)
WORDS = "retrieval passage reader question answer index vector corpus learns holds finds trains compares long dense sparse of the in a with for".split()  # noqa: SIM905


def at(text: str, found) -> str:
    return " … ".join(text[s.start : s.end] for s in found.spans)


@pytest.mark.parametrize(
    ("quote", "there"),
    [
        ("We introduce a reader that is trained", "We introduce a reader that is trained"),
        ("we introduce a reader", "We introduce a reader"),
        ("retrieval augmented\nmodels look things up", None),
        ("Retrieval-  augmented models look", "Retrieval-augmented models look"),
        ("so that it learns to abstain. On four sets", "so that it learns to abstain.\nOn four sets"),
        ('Its "confidence" is well calibrated', "Its “confidence” is well calibrated"),
        ("“so that it learns to abstain”", "so that it learns to abstain"),
        ("the nai\u0308ve baseline’s is not", "the naïve baseline's is not"),
        ("what the baseline needs", "what the base-\nline needs"),
        ("on one machine – less than half", "on one machine - less than half"),
    ],
)
def test_how_it_is_set_does_not_matter(quote, there):
    found = locate(quote, [SourceText(ABSTRACT, "p")])
    assert found.support == ("exact" if there else "fuzzy")
    if there:
        assert (at(ABSTRACT, found), found.score) == (there, 1.0)


def test_a_place_is_told_as_spans_are():
    texts = [
        SourceText("Nothing of it.", "p"),
        SourceText("Before it. We count words twice.", "p", "passage", "p:3", 7),
    ]
    [span] = locate("We count words twice.", texts).spans
    assert (span.paper_id, span.source, span.passage_id, span.page) == ("p", "passage", "p:3", 7)
    assert (span.start, span.end) == (11, 32)


@pytest.mark.parametrize(
    "quote",
    [
        "On four sets of questions it reaches 95.2% accuracy",  # another figure
        "On four sets of questions it reaches 85.2% accuracy, 41 points above",
        "a reader that is trained on passages which do hold the answer",  # the opposite
        "reader the",
        "it",
        "",
        " “” ",
        "A method for the control of traffic lights by fuzzy logic in small towns",
    ],
)
def test_what_the_text_does_not_say_is_unsupported(quote):
    found = locate(quote, [SourceText(ABSTRACT, "p")])
    assert found == NOWHERE or at(ABSTRACT, found).lower() == quote.strip()


def test_short_words_stand_whole():
    assert locate("hold", [SourceText("A household is no hold.", "p")]).spans[0].start == 18
    assert locate("house", [SourceText("A household.", "p")]) == NOWHERE


def test_parts_around_an_ellipsis_are_located_each():
    text = [SourceText(ABSTRACT, "p")]
    found = locate("We introduce a reader … so that it learns to abstain.", text)
    assert (found.support, at(ABSTRACT, found)) == ("exact", "We introduce a reader … so that it learns to abstain.")
    assert locate("so that it learns to abstain [...] We introduce a reader", text) == NOWHERE  # not in this order
    assert locate("We introduce a reader … that sings in the rain at night", text) == NOWHERE


def test_a_text_shorter_than_the_quotation_does_not_bear_it():
    assert locate("We count the words of each passage twice before they are ranked", [SourceText("We count the words", "p")]) == NOWHERE  # fmt: skip


def test_no_texts_bear_nothing():
    assert locate("We count words.", []) == NOWHERE


def tokens(text: str) -> list[tuple[int, int]]:
    return [m.span() for m in re.finditer(r"\S+", text)]


TEXT = st.lists(st.sampled_from([*WORDS, "re-ranking", "0.85", "(2019)", "“so”", "naïve", "e.g.", "state-of-the-art", "x2"]), min_size=12, max_size=60).map(" ".join)  # fmt: skip


@given(st.one_of(TEXT, st.text(st.sampled_from("ab c-d.é“\n5"), min_size=40, max_size=200)), st.data())
def test_any_five_words_of_a_text_are_found_exactly(text, data):
    words = tokens(text)
    if len(words) < 5:
        return
    i = data.draw(st.integers(0, len(words) - 5))
    j = data.draw(st.integers(i + 4, len(words) - 1))
    quote = text[words[i][0] : words[j][1]]
    if not any(c.isalnum() for c in quote):
        return
    found = locate(quote, [SourceText(text, "p")])
    assert found.support == "exact"
    # Its words may stand there several times, and marks around it are not part of it.
    letters = [c for c in quote if c.isalnum()]
    assert [c for c in at(text, found) if c.isalnum()] == letters
    if text.count(quote) == 1 and quote[0].isalnum() and quote[-1].isalnum() and len(letters) > 25:
        assert found.spans[0].start == words[i][0] or text.lower().count(quote.lower()) > 1


@settings(deadline=None)
@given(
    st.lists(st.sampled_from(WORDS), min_size=60, max_size=90), st.integers(0, 20), st.integers(10, 25), st.randoms()
)
def test_noise_of_one_letter_in_thirty_is_found_as_fuzzy(words, start, length, rng):
    text = " ".join(words)
    quote = list(" ".join(words[start : start + length]))
    places = [p for block in range(10, len(quote), 30) for p in range(block, min(block + 5, len(quote))) if quote[p].isalpha()]  # fmt: skip
    chosen = [p for i, p in enumerate(places) if not i or p - places[i - 1] > 5]
    for place in chosen:
        quote[place] = "q" if quote[place] != "q" else "z"
    found = locate("".join(quote), [SourceText(text, "p")])
    assert found.support == "fuzzy"
    assert 0.9 <= found.score < 1


@given(
    st.lists(
        st.sampled_from(["umbra", "tonic", "glyph", "fjord", "waltz", "brick", "jumpy", "vexed", "quick", "nymph"]),
        min_size=6,
        max_size=30,
    )
)
def test_other_words_are_unsupported(words):
    assert locate(" ".join(words), [SourceText(ABSTRACT, "p")]) == NOWHERE


def test_a_paper_of_a_hundred_passages_is_searched_at_once():
    rng = random.Random(1)
    texts = [SourceText(" ".join(rng.choices(WORDS, k=200)), "p", "passage", str(i), i) for i in range(100)]
    noisy = texts[77].text[100:250].strip().replace("answer", "answar")
    locate(noisy, texts)  # folding is done once a text
    started = time.process_time()
    found = locate(noisy, texts)
    assert time.process_time() - started < 0.5
    assert {s.passage_id for s in found.spans} == {"77"}
