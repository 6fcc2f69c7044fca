"""What a refresh up to a cutoff keeps, and that cutoffs one after the other end where one would."""

from datetime import date

import pytest

from corpus.snapshots import admitted, last_complete_cutoff, take_snapshot
from corpus.tables import Lake
from corpus.visibility import View

pytestmark = pytest.mark.run


def held(lake: Lake) -> list[str]:
    return sorted(lake.read("papers")["paper_id"])


@pytest.fixture
def records(record) -> list[dict]:
    """Papers around the end of March 2024."""
    return [
        record("2402.00001", day="2024-02-10"),
        record("2403.00001", day="2024-03-31"),
        record("2403.00002", day="2024-03-10"),
        record("2403.00003"),  # no date of its own: March at the latest on the 31st
        record("2404.00001", day="2024-03-31"),  # sent on the last day of March, numbered in April
        record("2404.00002", day="2024-04-01"),
        record("2404.00003"),
        record("2405.00001", day="2024-05-02"),
    ]


def test_months_up_to_the_cutoffs_are_whole_and_later_ones_only_first_versions_within_it(
    lake, records, write_mirror, tmp_path, harvest
) -> None:
    done = harvest(lake, write_mirror(tmp_path / "m", records), "2024-03-15")
    assert held(lake) == ["2402.00001", "2403.00001", "2403.00002", "2403.00003"]
    assert len(done.report.all_ids) == 8
    done = harvest(lake, tmp_path / "m", "2024-03-31")
    assert held(lake) == ["2402.00001", "2403.00001", "2403.00002", "2403.00003", "2404.00001"]
    assert done.change.added == ("2404.00001",)
    assert done.report.watermark == date(2024, 4, 1)


def test_a_cutoff_admits_by_submitted_latest_inclusively_never_by_id(
    lake, records, write_mirror, tmp_path, harvest
) -> None:
    harvest(lake, write_mirror(tmp_path / "m", records), None)
    expected = {"2024-02-09": 0, "2024-02-10": 1, "2024-03-10": 2, "2024-03-30": 2, "2024-03-31": 5, "2024-04-01": 6}
    found = {day: admitted(lake, date.fromisoformat(day)).collect().height for day in expected}
    assert found == expected


def test_an_older_cutoff_afterwards_deletes_nothing_and_changes_no_table(
    lake, records, write_mirror, tmp_path, harvest
) -> None:
    folder = write_mirror(tmp_path / "m", [*records, records[5], "{broken"])
    harvest(lake, folder, "2024-05-31")
    before = {name: v for name, v in lake.versions().items() if name != "harvests"}
    done = harvest(lake, folder, "2024-02-15")
    assert {name: v for name, v in lake.versions().items() if name != "harvests"} == before
    assert done.report.commits == 0
    assert len(held(lake)) == 8
    assert last_complete_cutoff(lake) == date(2024, 2, 15)
    # A topic that follows the corpus has the older view of it now.
    seen = View(lake, last_complete_cutoff(lake)).papers().collect()
    assert seen["paper_id"].to_list() == ["2402.00001"]


def test_an_older_cutoff_afterwards_takes_corrections_but_no_deletions_of_later_months(
    lake, records, record, write_mirror, tmp_path, harvest
) -> None:
    folder = write_mirror(tmp_path / "m", records)
    harvest(lake, folder, "2024-05-31")
    fewer = [r for r in records if r["id"] not in ("2402.00001", "2405.00001")]
    fewer[3] = record("2404.00001", day="2024-03-31", title="corrected")
    done = harvest(lake, write_mirror(folder, fewer), "2024-03-31")
    assert done.change.removed == ("2402.00001",)
    assert done.change.changed == ("2404.00001",)
    assert "2405.00001" in held(lake)


def test_three_successive_cutoffs_equal_one_refresh_to_the_last(tmp_path, records, write_mirror, harvest) -> None:
    folder = write_mirror(tmp_path / "m", records)
    steps, once = Lake(tmp_path / "steps"), Lake(tmp_path / "once")
    for cutoff in ("2024-02-15", "2024-03-31", "2024-04-30"):
        harvest(steps, folder, cutoff)
    harvest(once, folder, "2024-04-30")
    drop = ["content_hash", "records_hash"]
    rows = [lake.read("papers").drop(drop).sort("paper_id") for lake in (steps, once)]
    assert rows[0].equals(rows[1])
    assert rows[0].height == 7
    assert take_snapshot(steps).content_hash == take_snapshot(once).content_hash


def test_md10_a_re_stamped_paper_is_updated_but_not_dated_by_its_stamp(
    lake, record, write_mirror, tmp_path, harvest
) -> None:
    old = record("0704.0001", update_date="2007-04-10", _date_kind="announced")
    harvest(lake, write_mirror(tmp_path / "m", [old]), "2019-01-01")
    for kind in ("updated", "announced", None):
        stamped = record("0704.0001", update_date="2019-05-06", _date_kind=kind, title=f"stamped {kind}")
        harvest(lake, write_mirror(tmp_path / "m", [stamped]), "2019-05-10")
        row = lake.read("papers").to_dicts()[0]
        assert row["title"] == f"stamped {kind}"
        assert (row["submitted_latest"], row["submitted_precision"]) == (date(2007, 4, 30), "month")
        assert row["submitted_on"] is None


def test_md12_refreshed_with_overlap_a_late_paper_is_picked_up_exactly_once(
    lake, record, write_mirror, tmp_path, harvest
) -> None:
    first, late = record("2401.00001", day="2024-01-09"), record("2401.00002", day="2024-01-09")
    harvest(lake, write_mirror(tmp_path / "m", [first]), "2024-01-09")
    added = [harvest(lake, write_mirror(tmp_path / "m", [first, late]), f"2024-01-{d}").change.added for d in (10, 11)]
    assert added == [("2401.00002",), ()]
    assert held(lake) == ["2401.00001", "2401.00002"]
