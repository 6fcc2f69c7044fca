"""Harvests: the month of a source as the unit of truth, refusals, damaged files, versions that never go down."""

import gzip
import json
from datetime import date

import polars as pl
import pytest

from corpus.derivation import derive_papers, stale_months
from corpus.harvest import changed_months, commit_records, read_source, record_harvest
from corpus.snapshots import last_complete_cutoff, take_snapshot
from corpus.tables import Lake
from ingestion.mirror import open_mirror


def held(lake: Lake) -> list[str]:
    return sorted(lake.read("papers")["paper_id"])


def rejected(lake: Lake) -> dict[int, str]:
    rows = lake.read("rejected_records").sort("source_line")
    return dict(rows.select("source_line", "reason").iter_rows())


def versions(lake: Lake) -> dict[str, int]:
    return {name: v for name, v in lake.versions().items() if name != "harvests"}


def test_refused_records_are_rows_with_their_reason_and_leave_the_harvest_complete(
    lake, record, write_mirror, tmp_path, harvest
) -> None:
    lines = [
        record("2401.00001", day="2024-01-05"),
        "{broken",
        record("2401.00002", title=None),
        record("2401.00003", title="  "),
        {"title": "no id"},
        record("2401.00004", authors=["A", "B"]),
        record("0112019"),
        {**record("x"), "id": 2401.0005},
        "[1, 2]",
        record("2401.00006", versions="v1"),
        record("doi:10.1000/x"),
        "",
        record("2401.00007", day="2024-01-07", abstract="\ud800 lone"),
        record("2401.00008", day="2024-01-08"),
    ]
    done = harvest(lake, write_mirror(tmp_path / "m", lines))
    assert held(lake) == ["2401.00001", "2401.00008"]
    reasons = rejected(lake)
    assert set(reasons) == {2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13}
    for line, words in {
        2: "not valid JSON", 3: "no title", 4: "no title", 5: "no id", 6: "authors is list", 7: "archive",
        8: "id is float", 9: "not a JSON object", 10: "versions is not a list", 11: "needs a date",
        13: "not valid JSON",
    }.items():  # fmt: skip
        assert words in reasons[line], (line, reasons[line])
    rows = lake.read("rejected_records").sort("source_line").to_dicts()
    assert [r["raw_id"] for r in rows[:3]] == [None, "2401.00002", "2401.00003"]
    assert json.loads(rows[1]["raw"])["abstract"] == "We study 2401.00002."
    assert done.report.status == "complete"
    harvested = lake.read("harvests").to_dicts()[0]
    assert (harvested["have_count"], harvested["rejected_count"], harvested["added_count"]) == (2, 11, 2)


def test_an_unchanged_harvest_adds_its_row_and_commits_nothing_else(
    lake, record, write_mirror, tmp_path, harvest
) -> None:
    folder = write_mirror(
        tmp_path / "m",
        [record("2401.00001", day="2024-01-05"), "{broken"],
        citations_jsonl=['{"citing_id": "2401.00001"}'],
    )
    harvest(lake, folder)
    before = versions(lake)
    done = harvest(lake, folder)
    assert versions(lake) == before
    assert (done.months, done.report.commits) == ([], 0)
    rows = lake.read("harvests").sort("started_at").to_dicts()
    assert [(r["commit_count"], r["unchanged_count"], r["added_count"]) for r in rows][1] == (0, 1, 0)
    assert rows[0]["files"] == rows[1]["files"]
    assert {f["path"] for f in rows[0]["files"]} == {"metadata.jsonl", "citations.jsonl"}


def test_refusals_of_side_files_that_were_not_read_again_stay(lake, record, write_mirror, tmp_path) -> None:
    folder = write_mirror(tmp_path / "m", [record("2401.00001")], citations_jsonl=["{broken"])

    def refresh(has_side: bool) -> None:
        reading = read_source(open_mirror(folder), cutoff=None)
        commit_records(lake, reading)
        if has_side:
            from ingestion.sidedata import read_edges

            reading.report.refusals += read_edges(folder / "citations.jsonl").refusals
        record_harvest(lake, reading.report)

    refresh(has_side=True)
    assert lake.read("rejected_records")["source_file"].to_list() == ["citations.jsonl"]
    before = versions(lake)
    refresh(has_side=False)
    assert versions(lake) == before
    write_mirror(folder, [record("2401.00001")], citations_jsonl=[])
    refresh(has_side=True)
    assert lake.read("rejected_records").is_empty()


def test_a_side_file_mended_together_with_a_record_leaves_the_refusals(lake, record, write_mirror, tmp_path) -> None:
    from ingestion.sidedata import read_edges

    def refresh(title: str, edges: list[str]) -> None:
        folder = write_mirror(tmp_path / "m", [record("2401.00001", title=title)], citations_jsonl=edges)
        reading = read_source(open_mirror(folder), cutoff=None)
        commit_records(lake, reading)
        reading.report.refusals += read_edges(folder / "citations.jsonl").refusals
        record_harvest(lake, reading.report)

    refresh("One", ["{broken"])
    assert lake.read("rejected_records")["source_file"].to_list() == ["citations.jsonl"]
    refresh("Two", [])
    assert lake.read("rejected_records").is_empty()


def test_a_repaired_record_leaves_the_refusals(lake, record, write_mirror, tmp_path, harvest) -> None:
    harvest(lake, write_mirror(tmp_path / "m", [record("2401.00001", title=None), "{broken"]))
    first = lake.read("rejected_records", source_line=2)["rejected_at"].item()
    harvest(lake, write_mirror(tmp_path / "m", [record("2401.00001"), "{broken"]))
    assert list(rejected(lake)) == [2]
    assert lake.read("rejected_records")["rejected_at"].to_list() == [first]


def test_a_truncated_gz_is_partial_and_deletes_nothing(lake, record, write_mirror, tmp_path, harvest) -> None:
    records = [record(f"2401.{n:05d}", day="2024-01-05", abstract=str(hash(n)) * 40) for n in range(1, 400)]
    folder = write_mirror(tmp_path / "m", [], metadata_jsonl_gz=records)
    (folder / "metadata.jsonl").unlink()
    harvest(lake, folder)
    assert len(held(lake)) == 399
    whole = (folder / "metadata.jsonl.gz").read_bytes()
    (folder / "metadata.jsonl.gz").write_bytes(whole[: len(whole) // 2])
    done = harvest(lake, folder)
    assert done.report.status == "partial"
    assert 0 < len(done.report.seen) < 399
    assert len(held(lake)) == 399
    failures = lake.read("harvests").sort("started_at")["failures"].to_list()[-1]
    assert failures[0]["item"] == "metadata.jsonl.gz"
    assert "Fetch the file again" in failures[0]["reason"]
    assert last_complete_cutoff(lake) == date(2030, 12, 31)


@pytest.mark.parametrize("content", [b"", b"<html>504 Gateway Timeout</html>\n", b"\n\n"])
def test_a_source_that_gives_not_one_readable_record_is_partial_and_deletes_nothing(
    lake, record, write_mirror, tmp_path, harvest, content
) -> None:
    folder = write_mirror(tmp_path / "m", [record("2401.00001")])
    harvest(lake, folder)
    (folder / "metadata.jsonl").write_bytes(content)
    assert harvest(lake, folder).report.status == "partial"
    assert held(lake) == ["2401.00001"]


def test_a_record_that_is_refused_now_takes_nothing_away(lake, record, write_mirror, tmp_path, harvest) -> None:
    harvest(lake, write_mirror(tmp_path / "m", [record("2401.00001"), record("2401.00002"), record("2401.00003")]))
    harvest(lake, write_mirror(tmp_path / "m", [record("arXiv:2401.00001v2", title=""), record("2401.00003")]))
    assert held(lake) == ["2401.00001", "2401.00003"]


def test_a_paper_gone_from_its_only_source_goes_and_one_that_another_source_has_stays(
    lake, record, write_mirror, tmp_path, harvest
) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    harvest(lake, write_mirror(one, [record("2401.00001"), record("2401.00002"), record("2402.00003")]))
    harvest(lake, write_mirror(two, [record("2401.00002", title="as two says")]))
    done = harvest(lake, write_mirror(one, [record("2402.00003")]))
    assert held(lake) == ["2401.00002", "2402.00003"]
    assert done.change.removed == ("2401.00001",)
    assert done.months == [date(2024, 1, 1)]
    assert lake.read("papers", paper_id="2401.00002")["title"].to_list() == ["as two says"]
    assert lake.read("harvests").sort("started_at")["removed_count"].to_list() == [0, 0, 1]


def test_a_second_smaller_source_deletes_nothing_of_the_first(lake, record, write_mirror, tmp_path, harvest) -> None:
    harvest(lake, write_mirror(tmp_path / "big", [record(f"2401.{n:05d}") for n in range(1, 6)]))
    harvest(lake, write_mirror(tmp_path / "small", [record("2401.00003")]))
    assert len(held(lake)) == 5
    assert lake.read("arxiv_records").height == 6


def test_a_run_that_died_between_records_and_papers_is_completed_by_the_next(
    lake, record, write_mirror, tmp_path
) -> None:
    folder = write_mirror(tmp_path / "m", [record("2401.00001"), record("2402.00001")])
    commit_records(lake, read_source(open_mirror(folder), cutoff=None))
    assert stale_months(lake) == [date(2024, 1, 1), date(2024, 2, 1)]
    again = read_source(open_mirror(folder), cutoff=None)
    assert changed_months(lake, again) == []
    assert derive_papers(lake, [date(2024, 1, 1)]).added == ("2401.00001",)
    assert stale_months(lake) == [date(2024, 2, 1)]
    assert derive_papers(lake).added == ("2402.00001",)
    assert not derive_papers(lake).is_committed


def test_months_can_be_committed_in_parts(lake, record, write_mirror, tmp_path) -> None:
    folder = write_mirror(tmp_path / "m", [record("2401.00001"), record("2402.00001"), record("2403.00001")])
    reading = read_source(open_mirror(folder), cutoff=None)
    assert commit_records(lake, reading, [date(2024, 2, 1)], "run") == [date(2024, 2, 1)]
    assert lake.read("arxiv_records")["paper_id"].to_list() == ["2402.00001"]
    assert commit_records(lake, reading) == [date(2024, 1, 1), date(2024, 3, 1)]
    assert reading.report.commits == 2
    assert reading.report.changed_months == [date(2024, n, 1) for n in (1, 2, 3)]


def test_equal_corpora_have_equal_snapshots_however_they_came_to_be(tmp_path, record, write_mirror, harvest) -> None:
    one, two = Lake(tmp_path / "one"), Lake(tmp_path / "two")
    folder = write_mirror(tmp_path / "m", [record("2401.00001"), record("2402.00001")])
    harvest(one, folder)
    harvest(two, write_mirror(folder, [record("2401.00001", title="before")]))
    harvest(two, write_mirror(folder, [record("2402.00001"), record("2401.00001")]))
    assert take_snapshot(one).content_hash == take_snapshot(two).content_hash
    assert take_snapshot(two).paper_count == 2
    assert take_snapshot(Lake(tmp_path / "none")).paper_count == 0


@pytest.mark.run
def test_the_shared_mirror_is_harvested_whole_and_a_second_time_changes_nothing(lake, shared_data, harvest) -> None:
    done = harvest(lake, shared_data / "mirror", "2026-08-31")
    with gzip.open(shared_data / "mirror" / "metadata.jsonl.gz", "rb") as stream:
        lines = sum(1 for line in stream if line.strip())
    assert len(done.report.seen) + len(done.report.refusals) == lines
    papers = lake.read("papers")
    assert papers.height == len(done.report.seen) == 6186
    assert papers["submitted_latest"].null_count() == 0
    assert papers.filter(pl.col("title").is_in(["None", "null", ""])).is_empty()
    before = versions(lake)
    assert harvest(lake, shared_data / "mirror", "2026-08-31").report.commits == 0
    assert versions(lake) == before
