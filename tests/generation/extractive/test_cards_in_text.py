"""Sentences of the full text in a survey: they come from cards, with passage and page."""

import numpy as np
import pytest

from generation.cards import CardItem, PaperCard
from generation.extractive.selection import options_of
from generation.values import Span
from generation.writing import Evidence

TEXT = "We propose a sparse memory whose slots are found by hashing the query."
ADMITTED = "The memory cannot grow while the model reads, which remains a challenge for long texts."


def embed(texts):
    return np.ones((len(texts), 4), dtype=np.float32) / 2


def options(paper, card):
    return options_of([Evidence(paper, None, card=card)], np.ones(4, dtype=np.float32) / 2, embed, "sparse memory")


@pytest.fixture
def paper(make_paper):
    return make_paper(abstract="We study how machines read long texts with little memory of what they read before.")


def card_of(paper, **fields) -> PaperCard:
    values = {"contributions": (), "methods": (), "findings": (), "limitations": (), **fields}
    return PaperCard(paper.paper_id, "extractive", "1", **values)


def item(paper, text: str, page: int = 4) -> CardItem:
    return CardItem(text, (Span(paper.paper_id, 10, 10 + len(text), "passage", f"{paper.paper_id}/ab", page),))


def test_a_card_offers_sentences_with_passage_and_page(paper) -> None:
    found = options(paper, card_of(paper, contributions=(item(paper, TEXT),), limitations=(item(paper, ADMITTED),)))
    by_source = {o.sentence.spans[0].source: o for o in found if o.move == "method"}
    assert set(by_source) == {"abstract", "passage"}
    span = by_source["passage"].sentence.spans[0]
    assert (span.page, span.passage_id, span.start) == (4, f"{paper.paper_id}/ab", 10)
    assert by_source["passage"].sentence.text.startswith("Lovelace proposes a sparse memory")
    assert [o.sentence.text for o in found if o.move == "open"] == [ADMITTED]


def test_what_a_card_took_from_the_abstract_is_not_offered_twice(paper) -> None:
    span = Span(paper.paper_id, 0, len(paper.abstract))
    found = options(paper, card_of(paper, contributions=(CardItem(paper.abstract, (span,)),)))
    assert len(found) == len(options(paper, None)) == 1


def test_a_paper_without_a_card_offers_its_abstract(paper) -> None:
    assert [o.sentence.spans[0].source for o in options(paper, None)] == ["abstract"]
