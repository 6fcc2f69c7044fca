"""Passages that a topic may be shown: of its papers' chosen documents, nearest to the queries, each paper its share."""

from datetime import UTC, date, datetime

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from corpus.contracts.registry import CONTRACTS
from corpus.visibility import View
from generation.card_store import card_keys
from generation.library import open_library
from generation.topics import define_topic
from indexes.piece_index import PieceIndex
from ingestion.errors import NotFound
from tests.generation.conftest import WordEmbedder

A, B, C, OUTSIDE = "2301.00001", "2301.00002", "2301.00003", "2301.00009"
MONTH = date(2023, 1, 1)
TEXTS = {
    (A, "v1"): [
        ("Method", "1", "Trees are grown from hashes of words."),
        ("Related Work", "2", "Trees and hashes and trees of trees were grown by others."),
        ("Results", "3", "Trees answer questions about graphs."),
        ("Results", "3", "Vectors are slow to compare with tables."),
    ],
    (A, "v2"): [("Method", "1", "Trees trees trees are what the later version grows.")],
    (B, "v1"): [("Method", "1", "Graphs of tables are read.")],
    (OUTSIDE, "v1"): [("Method", "1", "Trees are what a paper outside of the pool is about.")],
}


def _store(view: View, index_folder, *, indexed: bool = True) -> View:
    documents, passages, pieces = [], [], []
    for (paper_id, sha256), texts in TEXTS.items():
        version = int(sha256[1])
        documents.append({
            "paper_id": paper_id, "sha256": sha256, "id_month": MONTH, "version": version,
            "version_on": date(2023 + 2 * (version - 1), 1, 15), "file": "pdf/x.pdf", "status": "parsed",
            "is_retryable": False, "advice": "", "notes": [], "derivation": "d", "section_count": 1,
            "passage_count": len(texts), "content_hash": f"c{paper_id}{sha256}", "seconds": 1.0,
            "parsed_at": datetime(2024, 5, 1, tzinfo=UTC),
        })  # fmt: skip
        for position, (title, number, text) in enumerate(texts, start=1):
            name = f"{paper_id}/{sha256}{position:014x}"
            passages.append({
                "paper_id": paper_id, "sha256": sha256, "id_month": MONTH, "passage_id": name, "position": position,
                "section": 1, "section_number": number, "section_path": [title], "kind": "prose", "label": "",
                "page": 2, "start_char": 0, "end_char": len(text), "text": text,
            })  # fmt: skip
            pieces.append({
                "piece_id": name, "paper_id": paper_id, "source_hash": f"c{paper_id}{sha256}",
                "submitted_latest": date(2023, 1, 15), "is_withdrawn": False, "text": text,
            })  # fmt: skip
    for table, rows in (("documents", documents), ("passages", passages)):
        schema = {k: v for k, v in CONTRACTS[table].polars_schema.items() if k in rows[0]}
        view.lake.replace(table, pl.DataFrame(rows, schema=schema), None)
    if indexed:
        PieceIndex(index_folder, "passages", WordEmbedder()).update([pl.DataFrame(pieces)])
    return View(view.lake, view.cutoff)


def _open(library_of, *, indexed: bool = True):
    rows = [{"paper_id": p, "title": f"Title {p}", "abstract": "We read."} for p in (A, B, C, OUTSIDE)]
    view, index = library_of(rows)
    view = _store(view, index.folder, indexed=indexed)
    pool = pl.DataFrame({"paper_id": [A, B, C], "rank": [1, 2, 3], "citation_count": [0] * 3, "similarity": [0.5] * 3})
    library = open_library(view, index, define_topic("Trees"), pool)
    library.card_keys = card_keys(view, library.papers(library.pool), "extractive", "1")
    return library


@pytest.fixture
def library(library_of):
    return _open(library_of)


def _texts(shown) -> list[str]:
    return [s.passage.text for s in shown]


def test_passages_are_those_of_the_chosen_document_in_reading_order(library) -> None:
    assert _texts(library.passages(A)) == [text for _, _, text in TEXTS[A, "v1"]]
    assert [s.zone for s in library.passages(A)] == ["method", "others", "results", "results"]
    assert library.passages(C) == ()
    with pytest.raises(NotFound, match="not in the topic's pool"):
        library.passages(OUTSIDE)


def test_search_gives_each_paper_its_nearest_passages_and_none_on_others(library) -> None:
    found = library.search_passages(["trees of hashes", "questions about graphs"], [A, B, C], per_paper=2)
    assert {p: _texts(shown) for p, shown in found.items()} == {
        A: ["Trees answer questions about graphs.", "Trees are grown from hashes of words."],
        B: ["Graphs of tables are read."],
    }
    scores = [s.similarity for s in found[A]]
    assert scores == sorted(scores, reverse=True)
    assert found[A][0].passage.page == 2


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sets(st.sampled_from([A, B, C])), st.integers(0, 5), st.sampled_from(["trees", "tables are read", "?"]))
def test_search_never_leaves_papers_documents_and_bounds(library, within, per_paper, query) -> None:
    found = library.search_passages([query], within, per_paper)
    assert set(found) <= within
    for paper_id, shown in found.items():
        assert 1 <= len(shown) <= per_paper
        held = {s.passage.passage_id for s in library.passages(paper_id) if s.zone != "others"}
        assert {s.passage.passage_id for s in shown} <= held


def test_without_vectors_nothing_is_found_and_texts_are_still_there(library_of) -> None:
    library = _open(library_of, indexed=False)
    assert library.search_passages(["trees"], [A, B]) == {}
    assert len(library.passages(A)) == 4


def test_search_for_nothing_or_among_nothing_finds_nothing(library) -> None:
    assert library.search_passages([], [A]) == library.search_passages(["trees"], []) == {}


def test_a_paper_outside_of_the_pool_is_refused(library) -> None:
    with pytest.raises(NotFound, match=OUTSIDE):
        library.search_passages(["trees"], [OUTSIDE])
