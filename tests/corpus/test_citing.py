"""Edges that reference lists give, beside those that sources give."""

from datetime import date

import polars as pl
import pytest

from corpus.citing import FROM_TEXT, TextEdges
from corpus.citing import store_text_edges as store
from corpus.contracts.registry import CONTRACTS
from corpus.sidetables import store_edges
from corpus.tables import Lake
from corpus.visibility import View
from ingestion.sidedata import Edge

A, B, C = "2401.00001", "2401.00002", "2401.00003"


def list_references(lake: Lake, paper_id: str, *cited: tuple[str | None, list[str]], sha256: str = "s") -> None:
    rows = [
        {
            "paper_id": paper_id, "sha256": sha256, "position": n, "id_month": date(2024, 1, 1), "label": str(n),
            "text": f"entry {n}", "authors": [], "cited_id": cited_id, "method": "title", "certainty": 1.0,
            "detail": "", "urls": [], "contexts": [{"text": t, "page": 1, "start": 0, "end": len(t)} for t in contexts],
        }
        for n, (cited_id, contexts) in enumerate(cited, start=1)
    ]  # fmt: skip
    schema = {k: v for k, v in CONTRACTS["bibliography"].polars_schema.items() if not rows or k in rows[0]}
    lake.replace("bibliography", pl.DataFrame(rows, schema=schema), {"paper_id": paper_id, "sha256": sha256})


def store_text_edges(lake: Lake, paper_ids: list[str]) -> TextEdges:
    return store(lake, paper_ids, lake.read("bibliography"))


def edges(lake: Lake) -> list[tuple]:
    return lake.read("citations").sort("citing_id", "cited_id").rows()


def test_edges_come_with_the_sentences_they_stand_in(lake) -> None:
    list_references(lake, A, (B, ["We follow B.", "B is fast."]), (None, ["Nobody."]), (C, []))
    result = store_text_edges(lake, [A])
    assert (result.edges, result.self_loops, result.is_committed) == (2, 0, True)
    assert edges(lake) == [(A, B, [FROM_TEXT], ["We follow B.", "B is fast."]), (A, C, [FROM_TEXT], [])]
    assert not store_text_edges(lake, [A]).is_committed


def test_ct03_a_paper_listed_twice_is_one_edge(lake) -> None:
    list_references(lake, A, (B, ["First."]), (B, ["First.", "Second."]))
    list_references(lake, A, (B, ["Third."]), sha256="t")
    assert store_text_edges(lake, [A]).edges == 1
    assert edges(lake) == [(A, B, [FROM_TEXT], ["First.", "Second.", "Third."])]


def test_ct12_a_self_loop_is_dropped_and_counted_and_a_two_cycle_kept(lake) -> None:
    list_references(lake, A, (A, []), (B, []))
    list_references(lake, B, (A, []))
    result = store_text_edges(lake, [A, B])
    assert (result.edges, result.self_loops) == (2, 1)
    assert [row[:2] for row in edges(lake)] == [(A, B), (B, A)]


def test_sources_and_texts_know_an_edge_independently(lake) -> None:
    store_edges(lake, "s", [Edge(A, B), Edge(C, B)])
    list_references(lake, A, (B, ["Here."]))
    store_text_edges(lake, [A])
    assert edges(lake) == [(A, B, [FROM_TEXT, "s"], ["Here."]), (C, B, ["s"], [])]
    store_edges(lake, "s", [Edge(C, B)])
    assert edges(lake) == [(A, B, [FROM_TEXT], ["Here."]), (C, B, ["s"], [])]
    list_references(lake, A, (None, []))
    store_text_edges(lake, [A])
    assert edges(lake) == [(C, B, ["s"], [])]


def test_no_papers_touch_nothing(lake) -> None:
    assert not store_text_edges(lake, []).is_committed
    assert lake.version("citations") is None


@pytest.mark.parametrize("with_texts", [True, False])
def test_a_pool_does_not_count_edges_that_only_texts_give(
    lake, record, write_mirror, tmp_path, harvest, with_texts
) -> None:
    harvest(lake, write_mirror(tmp_path / "m", [record(p, day="2024-01-05") for p in (A, B, C)]))
    store_edges(lake, "s", [Edge(A, B)])
    list_references(lake, A, (B, []), (C, []))
    store_text_edges(lake, [A])
    found = View(lake, date(2024, 2, 1)).edges(with_texts=with_texts).sort("cited_id").collect().rows()
    assert found == ([(A, B), (A, C)] if with_texts else [(A, B)])
