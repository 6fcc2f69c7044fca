"""Pools: what enters, what never does, and what is said where nothing is found."""

from datetime import date

import pytest

from generation.pools import NoEvidence, PoolOptions, build_pool, pool_hash
from generation.topics import define_topic
from ingestion.errors import NotFound

PAPERS = [
    {"paper_id": f"2301.0000{i}", "title": f"Retrieval of passages {w}", "abstract": f"Passages are retrieved by {w}."}
    for i, w in enumerate(["trees", "graphs", "hashes", "words", "vectors"], start=1)
] + [{"paper_id": "2301.00009", "title": "Cooking with fire", "abstract": "Soup."}]


def test_the_pool_holds_matching_papers_in_rank_order(library_of):
    view, index = library_of(PAPERS)
    pool = build_pool(view, index, define_topic("Retrieval of passages"))
    assert set(pool.rows["paper_id"]) == {p["paper_id"] for p in PAPERS[:5]}
    assert pool.rows["rank"].to_list() == [1, 2, 3, 4, 5]
    assert pool.admitted_count == 6


def test_lm06_a_topic_without_papers_is_no_evidence_and_says_what_to_do(library_of):
    view, index = library_of(PAPERS)
    with pytest.raises(NoEvidence, match=r"no paper admitted up to 2024-12-31 .*glueballs.*refresh a source"):
        build_pool(view, index, define_topic("Lattice glueballs"))


def test_papers_after_the_cutoff_never_enter(library_of):
    late = {**PAPERS[0], "paper_id": "2402.00001", "submitted_latest": date(2024, 2, 1)}
    on_the_day = {**PAPERS[0], "paper_id": "2401.00002", "submitted_latest": date(2024, 1, 31)}
    view, index = library_of([*PAPERS, late, on_the_day], cutoff=date(2024, 1, 31))
    ids = set(build_pool(view, index, define_topic("Retrieval of passages")).rows["paper_id"])
    assert "2402.00001" not in ids
    assert "2401.00002" in ids


def test_excluded_papers_are_hidden_by_id_and_by_title(library_of):
    twin = {**PAPERS[0], "paper_id": "doi:10.1000/twin", "title": "RETRIEVAL of passages: trees!"}
    view, index = library_of([*PAPERS, twin], exclusions=["2301.00001"])
    ids = set(
        build_pool(view, index, define_topic("Retrieval of passages", exclusions=["2301.00001"])).rows["paper_id"]
    )
    assert not ids & {"2301.00001", "doi:10.1000/twin"}
    assert len(ids) == 4


def test_a_neighbour_with_several_links_is_a_candidate(library_of):
    neighbour = {"paper_id": "2302.00001", "title": "Passages found", "abstract": "Soup of passages retrieval."}
    stranger = {"paper_id": "2302.00002", "title": "Fire", "abstract": "Fire."}
    edges = [("2301.00001", "2302.00001"), ("2301.00002", "2302.00001"), ("2301.00001", "2302.00002")]
    view, index = library_of([*PAPERS, neighbour, stranger], edges)
    options = PoolOptions(candidates_per_place=0.002, min_similarity=0.0)  # three candidates by full text
    pool = build_pool(view, index, define_topic("Retrieval"), options=options)
    reasons = dict(pool.rows.select("paper_id", "reason").iter_rows())
    assert reasons.get("2302.00001") == "citation neighbourhood"
    assert "2302.00002" not in reasons


def test_citations_count_only_from_papers_the_topic_may_see(library_of):
    late = {"paper_id": "2402.00001", "title": "Late retrieval", "abstract": "x", "submitted_latest": date(2024, 2, 1)}
    edges = [("2301.00002", "2301.00001"), ("2402.00001", "2301.00001"), ("2301.00003", "2301.00001")]
    view, index = library_of([*PAPERS, late], edges, cutoff=date(2024, 1, 31), exclusions=["2301.00003"])
    rows = build_pool(view, index, define_topic("Retrieval of passages", exclusions=["2301.00003"])).rows
    assert rows.filter(rows["paper_id"] == "2301.00001")["citation_count"].item() == 1


def test_asked_for_papers_come_first_however_far_from_the_topic(library_of):
    view, index = library_of(PAPERS)
    rows = build_pool(view, index, define_topic("Retrieval of passages", inclusions=["2301.00009"], pool_size=2)).rows
    assert rows["paper_id"].to_list()[0] == "2301.00009"
    assert len(rows) == 2
    assert rows["reason"].to_list()[0] == "asked for by the user"


def test_an_asked_for_paper_that_cannot_be_seen_is_an_error(library_of):
    view, index = library_of(PAPERS)
    with pytest.raises(NotFound, match=r"2412\.00001"):
        build_pool(view, index, define_topic("Retrieval", inclusions=["2412.00001"]))


def test_the_pool_hash_tells_content_not_order(library_of):
    view, index = library_of(PAPERS)
    rows = build_pool(view, index, define_topic("Retrieval of passages")).rows
    assert pool_hash(rows) == pool_hash(rows.reverse())
    assert pool_hash(rows) != pool_hash(rows.head(4))
