"""Imported metadata of further papers: gaps stay gaps, partial dates are no days, fields nobody reads are named."""

import gzip
import json
from datetime import date
from pathlib import Path

import polars as pl
import pytest

from corpus.importing import ImportedPapers
from corpus.tables import Lake
from ingestion.errors import NotFound

S2 = [
    {"externalIds": {"ArXiv": "2501.00001"}, "title": "Gaps", "abstract": None, "publicationDate": None, "year": 2025},
    {"arxiv_id": "1512.00002", "title": "Month only", "published": "2015-12", "authors": ["A. One", "B. Two"]},
    {"arxiv_id": "2103.00003", "title": "1", "published": "2021-02-26T19:04:58-05:00", "published_kind": "arxiv-v1"},
    {"arxiv_id": "2103.00004", "title": "Published", "published": "2021-03-04", "published_kind": "s2", "citations": 5},
    {"doi": "10.1000/X", "title": "Elsewhere", "year": 2019, "venue": "Journal", "authors": [{"name": "C. Three"}]},
    {"doi": "10.1000/y", "title": "Elsewhere without a date"},
    {"externalIds": ["odd"], "title": "No id at all", "year": 2020},
    {"externalIds": {"ArXiv": 2501.00010}, "title": "A number for an id"},
]  # fmt: skip


@pytest.fixture
def imported(tmp_path: Path) -> ImportedPapers:
    path = tmp_path / "papers.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in S2), encoding="utf-8")
    return ImportedPapers(path)


def papers(lake: Lake) -> dict[str, dict]:
    return {row["paper_id"]: row for row in lake.read("papers").to_dicts()}


def test_md14_a_record_with_a_year_only_is_kept_with_nulls(lake, imported, harvest) -> None:
    harvest(lake, imported, None)
    row = papers(lake)["2501.00001"]
    assert (row["abstract"], row["authors"], row["submitted_on"]) == (None, None, None)
    assert (row["submitted_latest"], row["submitted_precision"]) == (date(2025, 1, 31), "month")


def test_md14_arxivs_own_abstract_and_date_fill_the_gaps(
    lake, imported, record, write_mirror, tmp_path, harvest
) -> None:
    harvest(lake, imported, None)
    harvest(lake, write_mirror(tmp_path / "m", [record("2501.00001", day="2025-01-03")]))
    row = papers(lake)["2501.00001"]
    assert (row["abstract"], row["submitted_on"]) == ("We study 2501.00001.", date(2025, 1, 3))


def test_md08_partial_dates_are_no_days_and_known_first_versions_are_utc_days(lake, imported, harvest) -> None:
    harvest(lake, imported, None)
    rows = papers(lake)
    dates = {i: (r["submitted_on"], r["submitted_latest"], r["submitted_precision"]) for i, r in rows.items()}
    assert dates == {
        "2501.00001": (None, date(2025, 1, 31), "month"),
        "1512.00002": (None, date(2015, 12, 31), "month"),
        "2103.00003": (date(2021, 2, 27), date(2021, 2, 27), "day"),
        "2103.00004": (None, date(2021, 3, 4), "announced"),
        "doi:10.1000/x": (None, date(2019, 12, 31), "announced"),
    }
    assert rows["1512.00002"]["authors"] == ["A. One", "B. Two"]
    assert rows["doi:10.1000/x"]["authors"] == ["C. Three"]
    assert rows["doi:10.1000/x"]["journal_ref"] == "Journal"


def test_what_cannot_be_kept_is_told_and_unread_fields_are_named(lake, imported, harvest) -> None:
    done = harvest(lake, imported, None)
    reasons = {r.source_line: r.reason for r in done.report.refusals}
    assert reasons == {
        6: "a work from outside arXiv needs a date and has none",
        7: "no id",
        8: "field id is float, not text",
    }
    assert imported.unread_fields == {"citations"}


def test_an_import_and_a_mirror_are_two_sources(lake, imported, record, write_mirror, tmp_path, harvest) -> None:
    harvest(lake, write_mirror(tmp_path / "m", [record("2103.00004", title="Mirrored")]))
    harvest(lake, imported, None)
    row = papers(lake)["2103.00004"]
    assert row["title"] == "Mirrored"
    assert row["submitted_latest"] == date(2021, 3, 4)
    assert len(papers(lake)) == 5


def test_a_parquet_file_is_imported_in_the_same_shapes(lake, tmp_path, harvest) -> None:
    path = tmp_path / "papers.parquet"
    pl.DataFrame(
        {"arxiv_id": ["2103.00003", None], "title": ["One", "Two"], "authors": [["A. One"], []]}
    ).write_parquet(path)
    done = harvest(lake, ImportedPapers(path), None)
    assert papers(lake)["2103.00003"]["authors"] == ["A. One"]
    assert [(r.source_line, r.reason) for r in done.report.refusals] == [(2, "no id")]


def test_nothing_to_import_is_not_found(tmp_path) -> None:
    with pytest.raises(NotFound, match=r"none\.jsonl"):
        ImportedPapers(tmp_path / "none.jsonl").files()


def test_md14_the_real_reference_lists_come_whole_with_gaps_as_gaps(lake, shared_data, harvest) -> None:
    path = shared_data / "surveybench" / "Graph_Neural_Networks" / "references_with_abstracts.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        given = {row["arxiv_id"]: row for row in map(json.loads, stream)}
    source = ImportedPapers(path)
    done = harvest(lake, source, None)
    assert (done.report.status, done.report.refusals) == ("complete", [])
    assert "published" not in source.unread_fields
    assert {"citations", "tags"} <= source.unread_fields
    rows = papers(lake)
    assert set(rows) == set(given)
    nulls = {i for i, row in given.items() if row["abstract"] is None}
    assert nulls == {i for i, row in rows.items() if row["abstract"] is None} != set()
    for paper_id, row in given.items():
        precision = "day" if row["published_kind"] == "arxiv-v1" else "month"
        assert rows[paper_id]["submitted_precision"] == precision
        assert (rows[paper_id]["submitted_on"] is not None) == (precision == "day")
    names = [name for row in rows.values() for name in row["authors"] or []]
    assert not any(mark in name for name in names for mark in "[]")
    assert "Ashish Vaswani" in names
