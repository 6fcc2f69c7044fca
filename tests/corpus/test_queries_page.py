"""The queries of docs/queries.md run, and answer what they say."""

from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

from corpus.query import query
from corpus.tables import Lake


@pytest.fixture(scope="module")
def page() -> dict[str, str]:
    from benchmarks.sql import queries

    return queries()


@pytest.fixture
def asked(lake: Lake, record, write_mirror, tmp_path, harvest, edges, edition, page):
    """Answers over four papers: a cites b and c, b cites c and d, c cites d; the survey cites a and b."""
    ids = dict(zip("abcd", ("2308.07107", "2005.11401", "2001.00001", "1901.00001"), strict=True))
    records = [record(i, day=f"20{i[:2]}-{i[2:4]}-03", title=f"Paper {name}") for name, i in ids.items()]
    harvest(lake, write_mirror(tmp_path / "m", records))
    pairs = [(ids[x], ids[y]) for x, y in ("ab", "ac", "bc", "bd", "cd")]
    rows = edges(*pairs, ("9999.00001", ids["a"])).with_columns(
        pl.when(pl.col("cited_id") == ids["b"])
        .then(pl.lit(["It follows [2]."], dtype=pl.List(pl.String)))
        .otherwise("contexts")
        .alias("contexts")
    )
    lake.append("citations", rows)
    survey = edition("e1", {}, datetime(2024, 1, 1, tzinfo=UTC), topic="retrieval-augmented-generation")
    lake.append("surveys", survey.with_columns(pl.Series("reference_ids", [[ids["a"], ids["b"]]])))
    return lambda title: query(lake, page[title]).to_pylist()


def test_the_page_has_the_five_questions(page) -> None:
    assert list(page) == [
        "Most cited inside the corpus",
        "Two-step citation chains",
        "References a survey misses",
        "Papers per month and category",
        "Citation contexts of a paper",
    ]
    assert "[data dictionary](data_dictionary.md)" in (Path(__file__).parents[2] / "docs/queries.md").read_text()


def test_most_cited_counts_only_papers_that_are_held(asked) -> None:
    found = [(r["title"], r["citations"]) for r in asked("Most cited inside the corpus")]
    assert sorted(found) == [("Paper b", 1), ("Paper c", 2), ("Paper d", 2)]
    assert [n for _, n in found] == [2, 2, 1]


def test_chains_are_two_steps_long(asked) -> None:
    found = [(r["title"], r["ways"], r["through"]) for r in asked("Two-step citation chains")]
    assert found == [("Paper d", 2, ["2001.00001", "2005.11401"]), ("Paper c", 1, ["2005.11401"])]


def test_what_a_survey_misses_is_cited_by_its_papers_and_not_by_it(asked) -> None:
    found = [(r["title"], r["cited_by"]) for r in asked("References a survey misses")]
    assert found == [("Paper c", 2), ("Paper d", 1)]


def test_papers_count_in_their_month_and_each_category(asked) -> None:
    found = [(str(r["month"]), r["category"], r["papers"]) for r in asked("Papers per month and category")]
    assert found[:2] == [("2023-08-01", "cs.AI", 1), ("2023-08-01", "cs.CL", 1)]
    assert len(found) == 8


def test_contexts_are_the_sentences_that_cite(asked) -> None:
    assert asked("Citation contexts of a paper") == [
        {"citing_id": "2308.07107", "title": "Paper a", "sentence": "It follows [2]."}
    ]
