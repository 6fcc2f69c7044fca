"""Side data: edges, outlines as trees and as numbered lines, metadata in other shapes."""

import json
from pathlib import Path

import pytest

from ingestion.errors import NotFound
from ingestion.sidedata import Edge, read_edges, read_outlines, to_snapshot_fields, unread_paper_fields


@pytest.fixture
def write(tmp_path: Path):
    def put(*rows: object) -> Path:
        path = tmp_path / "side.jsonl"
        path.write_text("".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in rows), encoding="utf-8")
        return path

    return put


def test_ct03_ct12_edges_in_any_form_are_one_and_self_loops_are_dropped(write) -> None:
    found = read_edges(
        write(
            {"citing_id": "2401.00001v2", "cited_id": "arXiv:1706.03762"},
            {"citing_arxiv_id": "2401.00001", "cited_arxiv_id": "https://arxiv.org/abs/1706.03762v7", "source": "x"},
            {"citing_id": "2401.00001v1", "cited_id": "2401.00001v2"},
            {"citing_id": "hep-th/9901001", "cited_id": "10.1000/X"},
        )
    )
    assert found.rows == [Edge("2401.00001", "1706.03762"), Edge("hep-th/9901001", "doi:10.1000/x")]
    assert (found.self_loops, found.unread_fields, found.refusals) == (1, {"source"}, [])


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"citing_id": "2401.00001"}, "needs citing_id and cited_id"),
        ({"citing_id": "2401.00001", "cited_id": ""}, "needs citing_id and cited_id"),
        ({"citing_id": "2401.00001", "cited_id": "see 12/2019"}, "see 12/2019"),
        ({"citing_id": "0112019", "cited_id": "1706.03762"}, "archive"),
        ({"citing_id": 2412.0001, "cited_id": "1706.03762"}, "must be text"),
        ({"citing_id": ["2401.00001"], "cited_id": "1706.03762"}, "must be text"),
        ("[]", "not a JSON object"),
        ("{", "not valid JSON"),
    ],
)
def test_an_edge_that_cannot_be_read_is_refused_with_its_line(write, row, reason) -> None:
    found = read_edges(write({"citing_id": "2401.00001", "cited_id": "1706.03762"}, row))
    assert len(found.rows) == 1
    assert [(r.source_line, reason in r.reason) for r in found.refusals] == [(2, True)], found.refusals


def levels(write, outline: object) -> list[tuple[int, str]]:
    found = read_outlines(write({"title": "A survey", "outline": outline}))
    return [(h.level, h.title) for row in found.rows for h in row.headings]


def test_a_tree_gives_levels_by_depth_and_headings_without_numbers(write) -> None:
    tree = [
        {"title": "1 Introduction", "level": 7, "children": []},
        {"title": "2. Methods", "children": [{"title": "2.1 Data ", "children": [{"title": "Sources"}]}, "2.2 Models"]},
        {"title": "  "},
        {"heading": "no title", "children": [{"title": "kept"}]},
        {"title": "I have a dream", "children": None},
        None,
    ]
    assert levels(write, tree) == [
        (1, "Introduction"),
        (1, "Methods"),
        (2, "Data"),
        (3, "Sources"),
        (2, "Models"),
        (2, "kept"),
        (1, "I have a dream"),
    ]


def test_numbered_lines_give_levels_by_their_numbers(write) -> None:
    lines = "1. Introduction\n2 Methods\n2.1 Data\n2.1.3. Sources\n\n3) Results\n## 4: Outlook\nReferences\n"
    assert levels(write, lines) == [
        (1, "Introduction"),
        (1, "Methods"),
        (2, "Data"),
        (3, "Sources"),
        (1, "Results"),
        (1, "Outlook"),
        (1, "References"),
    ]


def test_letters_and_plain_digits_stand_below_roman_numerals(write) -> None:
    lines = "I. INTRODUCTION\nA. Scope\n1) Limits\nB. Plan\nII. METHODS\nC. elegans\nV. END\nSection VI: Thanks"
    assert levels(write, lines) == [
        (1, "INTRODUCTION"),
        (2, "Scope"),
        (3, "Limits"),
        (2, "Plan"),
        (1, "METHODS"),
        (2, "elegans"),
        (1, "END"),
        (1, "Thanks"),
    ]


@pytest.mark.parametrize(
    ("line", "heading"),
    [
        ("1. Introduction", (1, "Introduction")),
        ("2.1 Data", (2, "Data")),
        ("IV. Results", (1, "Results")),
        ("A. Proofs", (1, "Proofs")),
        ("Section 3: X", (1, "X")),
        ("section 3.2 Y", (2, "Y")),
        ("Chapter IV Z", (1, "Z")),
        ("III.1 Non-zero temperature", (2, "Non-zero temperature")),
        ("3.A. Canonical singularities", (2, "Canonical singularities")),
        ("Open problems", (1, "Open problems")),
        ("I have a dream", (1, "I have a dream")),
        ("A survey of surveys", (1, "A survey of surveys")),
        ("V formation in flight", (1, "V formation in flight")),
        ("In 2020", (1, "In 2020")),
        ("2020 in retrospect", (1, "2020 in retrospect")),
        ("3D Gaussian Splatting", (1, "3D Gaussian Splatting")),
        ("i.e. an example", (1, "i.e. an example")),
        ("Section 3", (1, "Section 3")),
        ("1.", (1, "1.")),
        ("X-ray sources", (1, "X-ray sources")),
    ],
)
def test_a_heading_keeps_its_words_and_loses_only_its_number(write, line, heading) -> None:
    assert levels(write, line) == [heading]


def test_an_outline_needs_headings_and_a_title_or_an_id(write) -> None:
    found = read_outlines(
        write(
            {"title": "No outline"},
            {"title": "Empty", "outline": []},
            {"title": "Blank", "outline": " \n "},
            {"outline": "1. Introduction"},
            {"id": "0112019", "outline": "1. Introduction"},
            {"id": 2412.0001, "outline": "1. Introduction"},
            {"title": "Good", "outline": "1. Introduction", "n": 1},
        )
    )
    assert [(r.source_line, r.reason[:24]) for r in found.refusals] == [
        (1, "an outline needs heading"),
        (2, "an outline needs heading"),
        (3, "an outline needs heading"),
        (4, "an outline needs a title"),
        (5, "the id is ambiguous, its"),
        (6, "an id must be text, numb"),
    ]
    assert [row.title for row in found.rows] == ["Good"]
    assert found.unread_fields == {"n"}


def test_the_same_outline_twice_counts_once_and_of_one_survey_the_last_stands(write) -> None:
    plain = {"title": "A survey", "outline": "1. Introduction"}
    found = read_outlines(
        write(
            plain,
            plain,
            {"arxiv_id": "2401.00001", "outline": "1. Old"},
            {"paper_id": "arXiv:2401.00001v2", "title": "T", "outline": "1. New"},
        )
    )
    assert [(row.paper_id, row.headings[0].title) for row in found.rows] == [
        (None, "Introduction"),
        ("2401.00001", "New"),
    ]
    assert found.rows[0].outline_id.startswith("outline:")
    assert found.rows[1].outline_id == "2401.00001"


def test_no_file_is_not_found_and_an_empty_one_is_empty(write, tmp_path) -> None:
    with pytest.raises(NotFound):
        read_edges(tmp_path / "none.jsonl")
    assert read_edges(write()).rows == []
    assert read_outlines(write()).rows == []


def test_md14_gaps_of_a_citation_service_stay_gaps() -> None:
    row = {
        "externalIds": {"ArXiv": "2501.00001"},
        "title": "T",
        "abstract": None,
        "publicationDate": None,
        "year": 2025,
    }
    fields = to_snapshot_fields(row)
    assert (fields["id"], fields["abstract"], fields["update_date"], fields["_date_kind"]) == (
        "2501.00001",
        None,
        None,
        None,
    )
    assert fields["versions"] == []
    assert "None" not in [v for v in fields.values() if isinstance(v, str)]


@pytest.mark.parametrize(
    ("given", "day", "kind", "created"),
    [
        ({"published": "2021-03-04", "published_kind": "arxiv-v1"}, "2021-03-04", "published", "2021-03-04"),
        ({"published": "2021-03-04"}, "2021-03-04", "s2-publication", None),
        ({"publicationDate": "2021-03-04"}, "2021-03-04", "s2-publication", None),
        ({"published": "Thu, 4 Mar 2021 23:30:00 -0500"}, "2021-03-05", "s2-publication", None),
        ({"published": "2021-03", "published_kind": "arxiv-v1"}, None, None, None),
        ({"published": "sometime in 2021"}, None, None, None),
        ({"update_date": "2021-03-04", "_date_kind": "updated"}, "2021-03-04", "updated", None),
    ],
)  # fmt: skip
def test_md08_only_whole_days_are_dates_of_arxiv_papers(given, day, kind, created) -> None:
    fields = to_snapshot_fields({"arxiv_id": "2103.00001", "title": "T", **given})
    assert (fields["update_date"], fields["_date_kind"]) == (day, kind)
    assert [v["created"] for v in fields["versions"]] == ([created] if created else [])


@pytest.mark.parametrize(
    ("given", "day"),
    [
        ({"year": 2018}, "2018-12-31"),
        ({"published": "2018-02"}, "2018-02-28"),
        ({"published": "2018-02", "year": 2018}, "2018-02-28"),
        ({}, None),
    ],
)
def test_md08_works_from_elsewhere_take_the_latest_day_of_their_finest_date(given, day) -> None:
    assert to_snapshot_fields({"doi": "10.1000/x", "title": "T", **given})["update_date"] == day


def test_fields_that_are_not_read_are_named_once() -> None:
    rows = [{"id": "a", "tldr": 1}, {"id": "b", "tldr": 2, "embedding": []}]
    assert unread_paper_fields(rows) == {"tldr", "embedding"}
