"""Sentences of full texts stand behind a paper's own, say more than its abstract, and do not take a section over."""

import numpy as np
import pytest

from generation.cards import CardItem, CardPassage, PaperCard
from generation.extractive import prose
from generation.extractive.details import beyond_abstracts, choose_details
from generation.extractive.fulltext import sentences_in_full
from generation.extractive.selection import choose_main, options_of
from generation.values import Span
from generation.writing import DraftRequest, Evidence, EvidencePassage
from tests.generation.extractive.conftest import embed

ABSTRACT = "We propose a sparse memory for readers of long texts. Experiments show that recall rises by 12.5 points."
MECHANISM = "We train the memory on pairs of distant paragraphs that mention one person."
FIGURE = "We find that doubling the slots costs 3.1 points of speed on laptops."
LIMIT = "Our experiments are limited to novels in English."
KNOWN = "We find that recall rises by 12.5 points with a sparse memory."


@pytest.fixture
def paper(make_paper):
    return make_paper("2101.00001", title="Sparse Memory", abstract=ABSTRACT, authors=("Ann Reed", "Bo Stone"))


def shown(*texts: str, title: str = "Results", paper_id: str = "2101.00001") -> tuple[EvidencePassage, ...]:
    zone = {"Results": "results", "Method": "method", "Limitations": "limitations"}.get(title, "others")
    return tuple(
        EvidencePassage(CardPassage(f"{paper_id}/{title}{i}", (title,), "3", 2, text, i), zone)
        for i, text in enumerate(texts, start=1)
    )


def evidence_of(paper, *passages) -> Evidence:
    return Evidence(paper, embed([paper.abstract])[0], passages=tuple(p for group in passages for p in group))


def options(*evidence: Evidence):
    return options_of(evidence, embed(["sparse memory"])[0], embed, "sparse memory")


def details(*evidence: Evidence, most: int = 10) -> list[str]:
    offered = options(*evidence)
    chosen = choose_main(offered, [e.paper.paper_id for e in evidence], len(evidence))
    return [o.sentence.text for o in choose_details(beyond_abstracts(offered, chosen), chosen, most)]


def test_a_paper_gives_two_details_that_do_different_things(paper):
    found = details(evidence_of(paper, shown(FIGURE, FIGURE.replace("3.1", "3.3")), shown(MECHANISM, title="Method")))
    assert len(found) == 2
    assert {"memory" in text and "pairs" in text for text in found} == {True, False}


def test_what_the_abstract_says_is_no_detail(paper):
    assert details(evidence_of(paper, shown(KNOWN))) == []


def test_each_paper_gives_one_before_any_gives_a_second(paper, make_paper):
    other = make_paper("2101.00002", title="Dense Memory", abstract=ABSTRACT.replace("sparse", "dense"))
    far = "We observe that speakers forget 40% of names heard at parties."
    found = details(
        evidence_of(paper, shown(FIGURE), shown(MECHANISM, title="Method")),
        evidence_of(other, shown(far, paper_id="2101.00002")),
        most=2,
    )
    assert sum("40%" in text for text in found) == 1
    assert len(found) == 2


def test_sections_on_others_and_sentences_about_nobody_give_nothing(paper):
    assert sentences_in_full(paper, None, shown(MECHANISM, title="Related Work")) == []
    assert sentences_in_full(paper, None, shown("Doubling the slots improves recall by 3.1 points on laptops.")) == []
    assert (
        sentences_in_full(paper, None, shown("Implementations may not be fast on laptops.", title="Limitations")) == []
    )
    assert [s.move for s in sentences_in_full(paper, None, shown(LIMIT, title="Limitations"))] == ["open"]


def test_a_sentence_of_card_and_passage_is_offered_once(paper):
    (passage,) = shown(MECHANISM, title="Method")
    span = Span(paper.paper_id, 0, len(MECHANISM), "passage", passage.passage.passage_id, 2)
    card = PaperCard(paper.paper_id, "extractive", "1", (), (CardItem(MECHANISM, (span,)),), (), ())
    (found,) = sentences_in_full(paper, card, (passage,))
    assert found.span == span


def test_a_leaf_prints_details_behind_their_papers_and_leads_with_the_abstract(paper, papers):
    graphs = [p for p in papers if "Graphs" in p.title]
    evidence = [Evidence(p, embed([p.abstract])[0]) for p in graphs]
    full = evidence_of(paper, shown(FIGURE), shown(MECHANISM, title="Method"), shown(LIMIT, title="Limitations"))
    request = DraftRequest("Memory", "2.1", "Sparse Memory", "", "body", (full, *evidence))
    draft = prose.body(request, embed(["Sparse Memory"])[0], embed, ())
    own = [s for s in draft.sentences() if s.cited_ids == (paper.paper_id,)]
    assert own[0].spans[0].source == "abstract"
    assert 1 <= sum(s.spans[0].source == "passage" for s in own) <= 2
    places = [i for i, s in enumerate(draft.sentences()) if s in own]
    assert places == list(range(places[0], places[0] + len(own)))
    assert set(draft.cited_ids) == {e.paper.paper_id for e in (full, *evidence)}


def test_without_full_texts_a_leaf_is_what_it_was(papers):
    evidence = tuple(Evidence(p, embed([p.abstract])[0]) for p in papers)
    offered = options(*evidence)
    chosen = choose_main(offered, [p.paper_id for p in papers], 5)
    kept = beyond_abstracts(offered, chosen)
    assert len(kept) == len(offered)
    assert np.array_equal([o.relevance for o in kept], [o.relevance for o in offered])
    assert choose_details(kept, chosen, 5) == []
