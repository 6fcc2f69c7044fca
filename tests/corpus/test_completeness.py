"""Which months are complete, by source: seven days after their end, and seen whole."""

from datetime import date

import pytest

from corpus.completeness import months_by_source


def complete(lake) -> dict[str, bool]:
    return {f"{m:%Y-%m}": done for _, m, _, done in months_by_source(lake).iter_rows()}


@pytest.mark.parametrize(
    ("newest_day", "is_march_complete"), [("2024-04-06", False), ("2024-04-07", True), ("2024-05-30", True)]
)
def test_a_month_is_complete_seven_days_after_its_end(
    lake, record, write_mirror, tmp_path, harvest, newest_day, is_march_complete
) -> None:
    papers = [record("2402.00001", day="2024-02-05"), record("2403.00001", day="2024-03-05")]
    harvest(lake, write_mirror(tmp_path / "m", [*papers, record("2404.00001", day=newest_day)]), "2024-12-31")
    found = complete(lake)
    assert (found["2024-02"], found["2024-03"]) == (True, is_march_complete)
    assert found["2024-04"] == (newest_day >= "2024-05-07")


def test_a_month_after_the_cutoffs_was_not_seen_whole(lake, record, write_mirror, tmp_path, harvest) -> None:
    papers = [
        record("2402.00001", day="2024-02-05"),
        record("2403.00001", day="2024-02-29"),
        record("2409.00001", day="2024-09-01"),
    ]
    harvest(lake, write_mirror(tmp_path / "m", papers), "2024-02-29")
    assert complete(lake) == {"2024-02": True, "2024-03": False}
    harvest(lake, tmp_path / "m", "2024-03-31")
    assert complete(lake) == {"2024-02": True, "2024-03": True}


def test_a_harvest_that_could_not_read_all_completes_nothing(lake, record, write_mirror, tmp_path, harvest) -> None:
    papers = [record(f"2402.{n:05d}", day="2024-02-05", abstract=f"{n * 7919} " * 50) for n in range(1, 200)]
    folder = write_mirror(tmp_path / "m", [], metadata_jsonl_gz=[record("2409.00001", day="2024-09-01"), *papers])
    (folder / "metadata.jsonl").unlink()
    whole = (folder / "metadata.jsonl.gz").read_bytes()
    (folder / "metadata.jsonl.gz").write_bytes(whole[: len(whole) // 2])
    assert harvest(lake, folder, "2024-12-31").report.status == "partial"
    assert set(complete(lake).values()) == {False}


def test_sources_are_judged_each_for_itself(lake, record, write_mirror, tmp_path, harvest) -> None:
    new = write_mirror(
        tmp_path / "new", [record("2402.00001", day="2024-02-05"), record("2405.00001", day="2024-05-01")]
    )
    old = write_mirror(tmp_path / "old", [record("2402.00002", day="2024-02-20")])
    harvest(lake, new, "2024-12-31")
    harvest(lake, old, "2024-12-31")
    found = {(s.rsplit("/", 1)[1], m): (n, done) for s, m, n, done in months_by_source(lake).iter_rows()}
    assert found[("new", date(2024, 2, 1))] == (1, True)
    assert found[("old", date(2024, 2, 1))] == (1, False)


def test_a_day_to_come_completes_nothing(lake, record, write_mirror, tmp_path, harvest) -> None:
    papers = [record("2402.00001", day="2024-02-05"), record("2402.00002", update_date="2042-01-01")]
    done = harvest(lake, write_mirror(tmp_path / "m", papers), "2030-12-31")
    assert done.report.as_of == done.report.started_at.date()
