"""Retrieval inside the topic's memory, and human outlines as patterns."""

from datetime import date

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from corpus.sidetables import store_outlines
from generation.library import open_library
from generation.patterns import nearest_patterns
from generation.pools import build_pool
from generation.topics import define_topic
from ingestion.errors import NotFound
from ingestion.sidedata import Heading, HumanOutlineRecord

WORDS = ["trees", "graphs", "hashes", "words", "vectors", "tables"]
PAPERS = [
    {"paper_id": f"2301.0000{i}", "title": f"Retrieval of {w}", "abstract": f"Passages about {w} are retrieved."}
    for i, w in enumerate(WORDS, start=1)
]


@pytest.fixture
def library(library_of):
    view, index = library_of(PAPERS, [("2301.00001", "2301.00002")])
    topic = define_topic("Retrieval")
    return open_library(view, index, topic, build_pool(view, index, topic).rows)


def test_mr_search_is_the_exact_top_k_inside_the_memory(library):
    """SurveyForge's MR: results lie in M and equal exact search over M."""
    memory = ["2301.00002", "2301.00004", "2301.00005"]
    hits = library.search("retrieval of words", 2, within=memory)
    names, matrix = library.vectors(memory)
    scores = dict(zip(names, matrix @ library.embed(["retrieval of words"])[0], strict=True))
    expected = sorted(names, key=lambda n: -scores[n])[:2]
    assert [h.paper_id for h in hits] == expected
    assert expected[0] == "2301.00004"


# Searching changes nothing, so the library may serve all examples.
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_mr_never_leaves_the_memory(library, data):
    memory = data.draw(st.sets(st.sampled_from([p["paper_id"] for p in PAPERS])))
    k = data.draw(st.integers(0, 10))
    hits = library.search("retrieval of trees and tables", k, within=memory)
    assert {h.paper_id for h in hits} <= memory
    assert len(hits) == min(k, len(memory))
    assert [h.similarity for h in hits] == sorted((h.similarity for h in hits), reverse=True)


def test_consultations_keep_every_operation_and_the_first_reason(library):
    library.consult("outline", ["2301.00001"], "retrieved")
    library.consult("draft", ["2301.00001", "2301.00002"], "evidence")
    assert list(library.consulted["2301.00001"].operations) == ["outline", "draft"]
    assert library.consulted["2301.00001"].reason == "retrieved"
    assert library.consulted["2301.00002"].reason == "evidence"


def test_the_best_papers_are_ranked_by_place_and_citations(library_of):
    papers = [{"paper_id": f"2301.{i:05d}", "title": f"Retrieval {i}", "abstract": "Retrieval."} for i in range(1, 31)]
    last = "2301.00030"
    view, index = library_of(papers, [(f"2301.{i:05d}", last) for i in range(1, 6)])
    rows = build_pool(view, index, define_topic("Retrieval")).rows
    rows = rows.sort(pl.col("paper_id") == last, "rank").with_columns(rank=pl.int_range(1, 31, dtype=pl.Int32))
    library = open_library(view, index, define_topic("Retrieval"), rows)
    assert library.pool[-1] == last
    assert library.best(1) == (last,), "five cite it, nobody cites the others"
    assert library.best(30)[1:] == library.pool[:-1]
    assert library.best(99) == library.best(30)
    assert [library.standing(p) for p in library.best(3)] == pytest.approx([1, 29 / 30, 28 / 30])
    assert library.standing(library.best(30)[-1]) > 0


def test_what_is_held_is_more_than_what_is_admitted(library_of):
    late = {**PAPERS[0], "paper_id": "2412.00001", "submitted_latest": date(2024, 12, 1)}
    view, index = library_of([*PAPERS, late], cutoff=date(2023, 12, 31), exclusions=["2301.00002"])
    topic = define_topic("Retrieval")
    library = open_library(view, index, topic, build_pool(view, index, topic).rows)
    assert (library.held_count, library.admitted_count) == (7, 5)


def test_headings_are_counted_over_the_outlines_that_the_topic_may_see(library_of):
    view, index = library_of(PAPERS, cutoff=date(2023, 1, 31), exclusions=["2301.00002"])
    store_outlines(
        view.lake,
        "test",
        [
            outline(1, "Retrieval of trees", "Dense Retrieval", "Other", "C"),
            outline(2, "Held", "dense-retrieval", "B", "C", paper_id="2301.00003"),
            outline(3, "Later", "Dense Retrieval", "B", "C", paper_id="2302.00001"),
            outline(4, "Excluded", "Dense Retrieval", "B", "C", paper_id="2301.00002"),
        ],
    )
    topic = define_topic("Retrieval")
    library = open_library(view, index, topic, build_pool(view, index, topic).rows)
    assert library.heading_counts == {"dense retrieval": 2, "c": 2, "other": 1, "b": 1}


def test_papers_outside_the_pool_are_not_given(library):
    with pytest.raises(NotFound, match=r"2412\.00001"):
        library.paper("2412.00001")


def test_references_are_visible_edges(library):
    assert library.references("2301.00001") == ["2301.00002"]
    assert library.references("2301.00002") == []


def outline(number: int, title: str | None, *headings: str, paper_id: str | None = None) -> HumanOutlineRecord:
    return HumanOutlineRecord(
        paper_id or f"outline:{number}", paper_id, title, tuple(Heading(1, h) for h in headings), number
    )


def test_outlines_are_seen_only_up_to_the_cutoff_and_never_of_excluded_papers(library_of):
    view, _ = library_of(PAPERS, cutoff=date(2023, 1, 31), exclusions=["2301.00002"])
    store_outlines(
        view.lake,
        "test",
        [
            outline(1, "Retrieval of trees", "A", "B", "C"),  # no id, but the title of a visible paper
            outline(2, "A survey nobody holds", "A", "B", "C"),
            outline(3, "Held", "A", "B", "C", paper_id="2301.00003"),
            outline(4, "Later", "A", "B", "C", paper_id="2302.00001"),
            outline(5, "Excluded", "A", "B", "C", paper_id="2301.00002"),
            outline(6, "Retrieval of GRAPHS!", "A", "B", "C"),  # the excluded paper's title
        ],
    )
    assert set(view.outlines()["outline_id"]) == {"outline:1", "2301.00003"}


def frame(outlines: list[tuple[str, str | None, list[str]]]) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "outline_id": [o[0] for o in outlines],
            "title": [o[1] for o in outlines],
            "headings": [o[2] for o in outlines],
            "levels": [[1] * len(o[2]) for o in outlines],
            "submitted_latest": [date(2020, 1, 1)] * len(outlines),
        },
        schema_overrides={"title": pl.String},
    )


def words(texts):
    keys = sorted({w for t in texts for w in t.lower().replace(".", "").split()})
    return np.array([[float(k in t.lower()) + 1e-6 for k in keys] for t in texts])


def test_the_nearest_outlines_come_first_and_shapeless_ones_not_at_all():
    found = nearest_patterns(
        frame(
            [
                ("c", "Cooking soup", ["Water", "Fire", "Salt"]),
                ("b", "Graph retrieval", ["Graphs", "Retrieval", "Outlook"]),
                ("a", None, ["Dense retrieval", "Graphs", "More"]),
                ("d", "Graph retrieval", ["One", "Two"]),
            ]
        ),
        "graph retrieval",
        5,
        embed=lambda texts: np.array(
            [[float("retrieval" in t.lower()), float("graph r" in t.lower()), 0.1] for t in texts]
        ),
    )
    assert [p.outline_id for p in found] == ["b", "a"]
    assert found[0].sections == ("Graphs", "Retrieval", "Outlook")


def test_no_outlines_no_patterns():
    assert nearest_patterns(frame([]), "x", 5, words) == []
