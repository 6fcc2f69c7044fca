"""Extractive cards: each statement in its field, whole, verbatim, the paper's own, and none twice."""

import pytest

from generation.cards import CARD_FIELDS, CardPassage
from generation.extractive.cards import MOST, WRITER, extractive_card, version
from generation.zones import zone_of

SECTIONS = [
    ("Abstract", None, [
        "Searching twice is slow. We propose TwinSeek, a retriever that answers two questions with one search. "
        "TwinSeek encodes both questions by one network and adds their vectors. "
        "TwinSeek outperforms single search by 4.2 points on three collections.",
    ]),
    ("Introduction", "1", [
        "Existing retrievers achieve high accuracy when they search for each question on its own. "
        "Reed et al. propose an index that fits into memory. They also propose a cache. "
        "Our contributions are as follows:\n\n- We introduce TwinBench, a collection of paired questions.\n"
        "- A pruning rule that halves the index without loss of recall.\n- We describe how pairs of questions are found in logs.",
        "The rest of the paper is organised as follows. We present experiments in the last section of all.",
    ]),
    ("Related Work", "2", [
        "We propose nothing here, but our method outperforms the earlier ones by 50% in every respect.",
    ]),
    ("Method", "3", [
        "We train the network on pairs of questions that share an answer. "
        "We use Adam with a learning rate that decays over ten epochs. "
        "We minimise the loss L = a + b over all the pairs of questions.",
    ]),
    ("Experiments", "4", [
        "We compare TwinSeek with four baselines on all three of the collections. "
        "We find that pruning costs no accuracy on short questions. "
        "On TwinBench, our retriever improves recall by 6% over BM25. "
        "On TwinBench, our retriever is 20% faster than the one of the year before [12]. "
        "Large retrievers [7, 8] achieve 90% accuracy on the same collection of questions. "
        "As it is cheap, it outperforms them by 3 points on each of the collections.",
    ]),
    ("Limitations", None, [
        "TwinSeek cannot answer three questions with one search. It also fails on tables. "
        "Our experiments are limited to questions in English. We hope that others will extend the work to speech soon.",
    ]),
    ("Conclusion", "5", [
        "We present TwinSeek, a retriever that answers two questions with one search. "
        "We leave the pairing of questions from different users to future work.",
    ]),
    ("A Further results", "A", ["We find that TwinSeek is 30% faster on large machines with many cores."]),
]  # fmt: skip


def passages(sections=SECTIONS) -> list[CardPassage]:
    found = []
    for title, number, texts in sections:
        for text in texts:
            place = len(found) + 1
            found.append(CardPassage(f"2101.00001/{place:016x}", (title,), number, place, text, place))
    return found


@pytest.fixture
def paper(make_paper):
    return make_paper("2101.00001", title="TwinSeek: Two Questions, One Search", abstract="An abstract of the record.")


@pytest.fixture
def card(paper):
    return extractive_card(paper, passages())


def texts(card, field: str) -> list[str]:
    return [item.text for item in getattr(card, field)]


def test_contributions_are_what_the_paper_gives(card):
    assert set(texts(card, "contributions")) == {
        "We propose TwinSeek, a retriever that answers two questions with one search.",
        "We introduce TwinBench, a collection of paired questions.",
        "A pruning rule that halves the index without loss of recall.",
        "We describe how pairs of questions are found in logs.",
    }


def test_methods_are_how_it_works_without_trivia_and_formulas(card):
    assert set(texts(card, "methods")) == {
        "TwinSeek encodes both questions by one network and adds their vectors.",
        "We train the network on pairs of questions that share an answer.",
    }


def test_findings_are_the_papers_own_and_keep_their_numbers(card):
    assert set(texts(card, "findings")) == {
        "TwinSeek outperforms single search by 4.2 points on three collections.",
        "We find that pruning costs no accuracy on short questions.",
        "On TwinBench, our retriever improves recall by 6% over BM25.",
    }


def test_limitations_are_admissions_and_no_plans(card):
    assert set(texts(card, "limitations")) == {
        "TwinSeek cannot answer three questions with one search.",
        "Our experiments are limited to questions in English.",
        "We leave the pairing of questions from different users to future work.",
    }


def test_every_item_is_verbatim_at_its_span(card):
    held = {p.passage_id: p for p in passages()}
    for _, item in card.items():
        (span,) = item.spans
        passage = held[span.passage_id]
        assert (span.source, span.paper_id, span.page) == ("passage", "2101.00001", passage.page)
        assert passage.text[span.start : span.end] == item.text


def test_nothing_is_said_twice_and_fields_are_bounded(paper):
    many = [("Experiments", "4", [f"We find that TwinSeek gains {i} points on the {w} collection." for i, w in
             enumerate(("first", "legal", "medical", "physics", "news", "travel", "music", "sports", "law"))])]  # fmt: skip
    card = extractive_card(paper, passages(SECTIONS + many + SECTIONS))
    said = [item.text for _, item in card.items()]
    assert len(said) == len(set(said))
    assert {field: len(getattr(card, field)) for field in CARD_FIELDS}.items() <= {
        (field, n) for field, most in MOST.items() for n in range(most + 1)
    }


def test_without_full_text_the_abstract_of_the_record_is_read(make_paper):
    abstract = (
        "Searching twice is slow. We propose TwinSeek, a retriever that answers two questions with one search. "
        "It outperforms single search. TwinSeek outperforms single search by 4.2 points on three collections."
    )
    card = extractive_card(make_paper("2101.00001", title="TwinSeek: One Search", abstract=abstract), ())
    assert texts(card, "contributions") == [
        "We propose TwinSeek, a retriever that answers two questions with one search."
    ]
    (item,) = card.findings
    (span,) = item.spans
    assert (span.source, span.passage_id, span.page) == ("abstract", None, None)
    assert abstract[span.start : span.end] == item.text
    assert card.limitations == ()


def test_the_records_abstract_stands_in_for_one_that_the_text_lacks(make_paper):
    paper = make_paper(abstract="We propose TwinSeek, a retriever that answers two questions with one search.")
    with_own = extractive_card(paper, passages(SECTIONS[:1]))
    without = extractive_card(paper, passages(SECTIONS[3:4]))
    assert {s.source for _, i in with_own.items() for s in i.spans} == {"passage"}
    assert [i.spans[0].source for i in without.contributions] == ["abstract"]


def test_a_paper_without_any_text_has_an_empty_card(make_paper):
    card = extractive_card(make_paper(abstract=None), ())
    assert list(card.items()) == []
    assert card.writer == WRITER


def test_the_card_is_the_same_every_time_and_follows_what_it_is_made_from(paper):
    held = passages()
    first = extractive_card(paper, held)
    assert first == extractive_card(paper, held)
    assert first.version == version()
    assert first != extractive_card(paper, ())


@pytest.mark.parametrize(
    ("path", "number", "zone"),
    [
        (("Abstract",), None, "abstract"),
        (("INTRODUCTION",), "1", "introduction"),
        (("Related Work",), "2", "others"),
        (("Method", "Background: Transformers"), "3.1", "others"),
        (("Our Approach", "Encoder"), "3.2", "method"),
        (("Experiments", "Model Size"), "4.3", "results"),
        (("Experiments", "Datasets"), "4.1", "setup"),
        (("Results", "Limitations of the model"), "5.7", "limitations"),
        (("Discussion and Limitations",), "6", "limitations"),
        (("Advantages and disadvantages",), "6", "discussion"),
        (("Conclusions and Future Work",), "7", "conclusion"),
        (("More Experiments",), "B.2", "others"),
        (("Acknowledgements",), None, "others"),
        (("The Literature Graph",), "2", "body"),
        ((), None, "body"),
    ],
)
def test_zones_of_headings(path, number, zone):
    assert zone_of(path, number) == zone


def test_behind_an_appendix_headings_without_numbers_are_of_it(paper):
    behind = [("Results", None, ["We find that TwinSeek gains 9 points on every other collection."])]
    card = extractive_card(paper, passages(SECTIONS + behind))
    assert "We find that TwinSeek gains 9 points on every other collection." not in texts(card, "findings")
