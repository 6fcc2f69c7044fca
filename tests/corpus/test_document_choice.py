"""Which file of a paper is read, and which papers still need theirs read."""

from datetime import UTC, date, datetime
from pathlib import Path

import polars as pl
import pytest

from corpus.contracts.registry import CONTRACTS
from corpus.document_choice import NO_FILE, in_order, is_possibly_later, to_do, version_day
from corpus.tables import Lake
from ingestion.held_files import HeldFile, held_files

DAY = date(2024, 3, 31)


def held(version: int | None, source: str = "mirror:/a") -> HeldFile:
    name = f"pdf/2401.00001{'' if version is None else f'v{version}'}.pdf"
    return HeldFile("2401.00001", version, source, Path(name), name, 10, datetime(2024, 5, 1, tzinfo=UTC))


def paper(**versions: str) -> dict:
    known = [{"number": int(n[1:]), "created_at": datetime.fromisoformat(d).replace(tzinfo=UTC)}
             for n, d in versions.items()]  # fmt: skip
    return {
        "versions": known,
        "submitted_on": date(2024, 1, 5),
        "updated_on": None,
        "latest_version": len(known) or None,
    }


def order(files: list[HeldFile], row: dict, cutoff: date | None = DAY) -> list[int | None]:
    return [f.version for f in in_order(files, row, cutoff)]


def test_the_newest_version_known_to_be_within_the_cutoff_comes_first() -> None:
    row = paper(v1="2024-01-05", v2="2024-03-31", v3="2024-04-01")
    files = [held(1), held(2), held(3)]
    assert order(files, row) == [2, 1, 3]
    assert order(files, row, None) == [3, 2, 1]
    assert order(files, row, date(2024, 1, 1)) == [1, 2, 3]


def test_a_version_nobody_dates_is_read_last_and_is_possibly_later() -> None:
    row = paper(v1="2024-01-05")
    assert order([held(None), held(4), held(1)], row) == [1, None, 4]
    assert version_day(row, 4) is None
    assert is_possibly_later(None, DAY)
    assert is_possibly_later(date(2024, 4, 1), DAY)
    assert not is_possibly_later(DAY, DAY)


def test_a_first_version_has_the_day_of_submission_and_the_newest_that_of_the_update() -> None:
    row = {"versions": None, "submitted_on": date(2024, 1, 5), "updated_on": date(2024, 2, 9), "latest_version": 3}
    assert [version_day(row, n) for n in (1, 2, 3)] == [date(2024, 1, 5), None, date(2024, 2, 9)]


def test_equal_versions_go_by_source() -> None:
    files = [held(1, "mirror:/b"), held(1, "mirror:/a")]
    assert [f.source for f in in_order(files, paper(v1="2024-01-05"), DAY)] == ["mirror:/a", "mirror:/b"]


@pytest.fixture
def mirror(lake, record, write_mirror, tmp_path, harvest) -> Path:
    folder = write_mirror(
        tmp_path / "m",
        [
            record("2401.00001", day="2024-01-05"),
            record("2401.00002", day="2024-01-06"),
            record("2401.00003", day="2024-01-07", comments="This paper has been withdrawn by the authors."),
            record("hep-th/9901001", day="1999-01-04"),
        ],
    )
    (folder / "pdf").mkdir()
    for name in ("2401.00001v1.pdf", "2401.00003v1.pdf", "hep-th9901001v2.pdf", "2401.000011v1.pdf", "notes.txt"):
        (folder / "pdf" / name).write_bytes(b"%PDF-1.5")
    harvest(lake, folder)
    return folder


ALL = ["2401.00001", "2401.00002", "2401.00003", "hep-th/9901001", "2401.99999"]


def test_files_without_a_row_are_to_be_read_and_papers_without_a_file_get_theirs(lake, mirror) -> None:
    found = to_do(lake, ALL, DAY, "d1", "p1")
    assert [t.held.file for t in found.tasks] == ["pdf/2401.00001v1.pdf", "pdf/hep-th9901001v2.pdf"]
    assert [(f.paper_id, f.status) for f in found.fileless] == [
        ("2401.00002", "abstract_only"),
        ("2401.00003", "withdrawn"),
    ]
    assert found.unreachable == ()
    asked_for = to_do(lake, ["2401.00003"], DAY, "d1", "p1", with_withdrawn=True)
    assert [t.held.file for t in asked_for.tasks] == ["pdf/2401.00003v1.pdf"]


def store(lake: Lake, **values: object) -> None:
    found = held_files([r["source"] for r in lake.read("harvests").to_dicts()], ["2401.00001"])[0]["2401.00001"][0]
    row = {
        "paper_id": "2401.00001", "sha256": "ab", "id_month": date(2024, 1, 1), "source": found.source,
        "file": found.file, "size_bytes": found.size_bytes, "modified_at": found.modified_at, "status": "parsed",
        "is_retryable": False, "parser": "p1", "advice": "", "notes": [], "derivation": "d1", "section_count": 0, "passage_count": 0,
        "content_hash": "h", "seconds": 0.0, "parsed_at": datetime(2024, 5, 1, tzinfo=UTC), **values,
    }  # fmt: skip
    schema = {k: v for k, v in CONTRACTS["documents"].polars_schema.items() if k in row}
    lake.replace("documents", pl.DataFrame([row], schema=schema), {"paper_id": "2401.00001"})


def pending(lake: Lake, **options: object) -> list[str]:
    return [t.paper_id for t in to_do(lake, ["2401.00001"], DAY, "d1", "p1", **options).tasks]


def test_what_is_parsed_is_not_read_again_until_file_or_code_change(lake, mirror) -> None:
    store(lake)
    assert pending(lake) == []
    store(lake, derivation="d0")
    assert pending(lake) == ["2401.00001"]
    store(lake, size_bytes=9)
    assert pending(lake) == ["2401.00001"]


def test_pd04_a_failure_stands_and_is_tried_again_only_where_asked_and_where_it_can_help(lake, mirror) -> None:
    store(lake, status="timeout", is_retryable=True)
    assert pending(lake) == []
    assert pending(lake, retry=True) == ["2401.00001"]
    store(lake, status="encrypted", is_retryable=False)
    assert pending(lake, retry=True) == []


def test_what_one_parser_could_not_read_is_tried_with_another(lake, mirror) -> None:
    store(lake, status="no_text_layer")
    assert pending(lake) == []
    store(lake, status="no_text_layer", parser="p0")
    assert pending(lake) == ["2401.00001"]
    store(lake, parser="p0")
    assert pending(lake) == []


def test_a_file_that_cannot_be_read_gives_way_to_the_next(lake, mirror) -> None:
    store(lake, status="corrupt")
    (mirror / "pdf" / "2401.00001v2.pdf").write_bytes(b"%PDF-1.5")
    assert [t.held.version for t in to_do(lake, ["2401.00001"], DAY, "d1", "p1").tasks] == [2]


def test_a_mirror_that_is_gone_is_told_and_nothing_is_said_of_its_papers(lake, mirror, tmp_path) -> None:
    mirror.rename(tmp_path / "elsewhere")
    found = to_do(lake, ["2401.00001", "2401.00002"], DAY, "d1", "p1")
    assert found.is_empty
    assert [u.reason for u in found.unreachable] == ["the folder is not there"]


def test_a_file_that_comes_later_is_read_though_the_paper_had_none(lake, mirror) -> None:
    store(lake, sha256=NO_FILE, status="abstract_only", source=None, file=None, size_bytes=None, modified_at=None)
    assert pending(lake) == ["2401.00001"]
