"""The text of sections: from their own evidence, general before particular, in order of time."""

import asyncio
import itertools
from dataclasses import replace

import pytest

from generation.extractive.writer import ExtractiveWriter
from generation.values import StatedRow
from generation.writing import DraftRequest, Evidence, RefineRequest


def drafted(request, embedder):
    return asyncio.run(ExtractiveWriter(embedder).draft(request))


def request_of(papers, embedder, role="body", **more):
    vectors = embedder([f"{p.title}\n{p.abstract}" for p in papers])
    evidence = tuple(Evidence(p, v, True, p.similarity) for p, v in zip(papers, vectors, strict=True))
    return DraftRequest("Retrieval", "2", "Knowledge Graphs", "paths; triples", role, evidence, **more)


@pytest.fixture
def graphs(papers):
    return [p for p in papers if "Knowledge Graphs" in p.title]


def test_a_leaf_cites_each_paper_and_only_its_evidence(graphs, embedder):
    draft = drafted(request_of(graphs, embedder), embedder)
    assert set(draft.cited_ids) == {p.paper_id for p in graphs}
    assert draft.words >= 120
    assert all(s.kind in ("quoted", "adapted") for s in draft.sentences())


def test_paragraphs_are_short_and_say_nothing_twice(papers, embedder):
    draft = drafted(request_of(papers, embedder, most_papers=20), embedder)
    assert all(1 <= len(p) <= 7 for p in draft.paragraphs)
    texts = [s.text for s in draft.sentences()]
    assert len(texts) == len(set(texts))


def test_general_sentences_open_and_methods_follow_in_order_of_time(graphs, embedder):
    draft = drafted(request_of(graphs, embedder), embedder)
    days = {p.paper_id: p.submitted_latest for p in graphs}
    for paragraph in draft.paragraphs:
        proposals = [s for s in paragraph if "propose" in s.text]
        assert proposals == sorted(proposals, key=lambda s: days[s.cited_ids[0]])
        if any(s.text.startswith("Knowledge Graphs concerns") for s in paragraph):
            assert paragraph[0].text.startswith("Knowledge Graphs concerns")


def test_a_finding_stands_behind_what_its_paper_did(graphs, embedder):
    draft = drafted(request_of(graphs, embedder), embedder)
    pairs = [pair for paragraph in draft.paragraphs for pair in itertools.pairwise(paragraph)]
    findings = [(before, s) for before, s in pairs if "%" in s.text and "propose" not in s.text]
    assert findings
    assert all(before.cited_ids == s.cited_ids for before, s in findings)


def test_what_neighbours_say_is_not_said_again(graphs, embedder):
    request = request_of(graphs, embedder)
    draft = drafted(request, embedder)
    refined = asyncio.run(ExtractiveWriter(embedder).refine(RefineRequest(draft, (draft,), request)))
    assert not {s.spans for s in refined.sentences()} & {s.spans for s in draft.sentences()}


def test_a_draft_that_repeats_nothing_stays(graphs, papers, embedder):
    request = request_of(graphs[:3], embedder)
    draft = drafted(request, embedder)
    other = drafted(request_of([p for p in papers if "Captioning" in p.title][3:], embedder), embedder)
    assert asyncio.run(ExtractiveWriter(embedder).refine(RefineRequest(draft, (other,), request))) == draft


def test_fewer_than_five_open_problems_make_no_section(papers, embedder):
    assert drafted(request_of(papers[:4], embedder, "open_problems"), embedder).paragraphs == ()
    assert len(drafted(request_of(papers, embedder, "open_problems"), embedder).cited_ids) >= 5


def test_the_introduction_says_whose_words_it_prints_in_three_ways(papers, embedder):
    names = ("admitted_count", "pool_count", "cited_count", "own_words_count", "summaries_only_count", "own_count",
             "summary_count", "full_text_count", "cutoff", "topic_title")  # fmt: skip
    facts = tuple(StatedRow(name, "?") for name in names)
    draft = drafted(request_of(papers, embedder, "introduction", facts=facts), embedder)
    stated = {row.name for s in draft.sentences() if s.kind == "composed" for row in s.rows}
    assert stated >= {"own_words_count", "summaries_only_count", "own_count", "summary_count"}


def test_leads_of_neighbouring_sections_use_other_words(graphs, embedder):
    names = ("section_papers", "first_year", "last_year", "parts")
    facts = tuple(StatedRow(name, "5") for name in names)
    request = request_of(graphs, embedder, facts=facts, outline=(("2.1", "Paths", "body"), ("3.1", "Roots", "body")))
    templates = set()
    for number in ("2", "3", "4", "5"):
        draft = drafted(replace(request, number=number, outline=((f"{number}.1", "Paths", "body"),)), embedder)
        templates |= {s.template for s in draft.sentences() if s.kind == "composed"}
    assert len(templates) == 4


def test_no_evidence_no_text(embedder, paper_of):
    assert drafted(request_of([paper_of(abstract=None)], embedder), embedder).paragraphs == ()
