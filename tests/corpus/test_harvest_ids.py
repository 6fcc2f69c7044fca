"""Harvests and the names of papers: ids in odd forms, papers given twice, versions that never go down."""

from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from corpus.derivation import stale_months
from corpus.lookup import PaperNotFound, look_up
from corpus.query import query
from corpus.tables import Lake


def held(lake: Lake) -> list[str]:
    return sorted(lake.read("papers")["paper_id"])


def rejected(lake: Lake) -> dict[int, str]:
    rows = lake.read("rejected_records").sort("source_line")
    return dict(rows.select("source_line", "reason").iter_rows())


def versions(lake: Lake) -> dict[str, int]:
    return {name: v for name, v in lake.versions().items() if name != "harvests"}


def test_a_paper_given_twice_stands_in_its_newest_version(lake, record, write_mirror, tmp_path, harvest) -> None:
    folder = write_mirror(
        tmp_path / "m",
        [
            record("2401.00001v3", title="third"),
            record("2401.00001v2", title="second"),
            record("2401.00001", title="bare"),
            record("2401.00002", title="first line"),
            record("arXiv:2401.00002", title="last line"),
            record("2401.00003v1", title="says four", versions=[{"version": f"v{n}", "created": None} for n in (1, 4)]),
            record("2401.00003v2", title="says two"),
        ],
    )
    harvest(lake, folder)
    titles = dict(lake.read("papers").sort("paper_id").select("paper_id", "title").iter_rows())
    assert titles == {"2401.00001": "third", "2401.00002": "last line", "2401.00003": "says four"}
    reasons = rejected(lake)
    assert set(reasons) == {2, 3, 4, 7}
    assert "given again" in reasons[2]
    assert "metadata.jsonl, line 1" in reasons[2]


MONTHS = st.dates(date(2007, 4, 1), date(2024, 12, 31)).map("{:%y%m}".format)
NEW_FORM = st.tuples(MONTHS, st.integers(1, 9999)).map(lambda t: f"{t[0]}.{t[1]:0{4 if t[0] < '1501' else 5}d}")
OLD_FORM = st.tuples(
    st.sampled_from(["hep-th", "cs", "math", "cond-mat"]),
    st.dates(date(1993, 1, 1), date(2007, 3, 31)).map("{:%y%m}".format),
    st.integers(1, 999),
).map(lambda t: f"{t[0]}/{t[1]}{t[2]:03d}")


@given(ids=st.lists(NEW_FORM | OLD_FORM, min_size=20, max_size=60, unique=True))
@settings(max_examples=2, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_id12_any_ids_go_through_tables_and_sql_without_loss_or_collision(record, write_mirror, harvest, ids) -> None:
    with TemporaryDirectory() as folder:
        lake = Lake(Path(folder) / "home")
        harvest(lake, write_mirror(Path(folder) / "m", [record(paper_id) for paper_id in ids]))
        assert held(lake) == sorted(ids)
        rows = query(lake, "SELECT paper_id, strftime(id_month, '%y%m') AS month FROM papers").to_pylist()
        assert {row["paper_id"] for row in rows} == set(ids)
        assert all(row["paper_id"].rpartition("/")[2].startswith(row["month"]) for row in rows)


def test_id05_ids_in_odd_forms_become_one_key_and_stay_as_written(
    lake, record, write_mirror, tmp_path, harvest
) -> None:
    written = {
        "arXiv:2005.11401v2": "2005.11401",
        "https://arxiv.org/abs/2005.11402": "2005.11402",
        "http://arxiv.org/pdf/2005.11403v4.pdf": "2005.11403",
        "10.48550/arXiv.2005.11404": "2005.11404",
        " 2005.11405 ": "2005.11405",
    }
    harvest(lake, write_mirror(tmp_path / "m", [record(text) for text in written]))
    rows = lake.read("arxiv_records")
    assert dict(rows.select("source_id", "paper_id").iter_rows()) == written
    assert rows["id_month"].unique().to_list() == [date(2020, 5, 1)]


def test_id02_a_subject_class_is_no_part_of_the_key(lake, record, write_mirror, tmp_path, harvest) -> None:
    harvest(lake, write_mirror(tmp_path / "m", [record("cs.CL/0501001v1"), record("cs/0501001v2")]))
    assert held(lake) == ["cs/0501001"]
    assert lake.read("papers")["id_month"].to_list() == [date(2005, 1, 1)]


def test_id06_two_archives_with_one_number_are_two_papers(lake, record, write_mirror, tmp_path, harvest) -> None:
    harvest(lake, write_mirror(tmp_path / "m", [record("hep-th/9901001"), record("hep-ph/9901001")]))
    assert held(lake) == ["hep-ph/9901001", "hep-th/9901001"]


@pytest.mark.parametrize("is_other_source", [False, True])
def test_id09_a_paper_ingested_with_and_without_version_is_one_row_that_keeps_its_version(
    lake, record, write_mirror, tmp_path, harvest, is_other_source
) -> None:
    harvest(lake, write_mirror(tmp_path / "m", [record("1706.03762v7")]))
    second = tmp_path / ("other" if is_other_source else "m")
    harvest(lake, write_mirror(second, [record("1706.03762", title="Attention")]))
    rows = lake.read("papers").to_dicts()
    assert [(r["paper_id"], r["latest_version"]) for r in rows] == [("1706.03762", 7)]
    assert look_up(lake, "1706.03762")["latest_version"] == 7
    assert look_up(lake, "arXiv:1706.03762v7")["paper_id"] == "1706.03762"
    with pytest.raises(PaperNotFound, match="Versions held: v7") as missing:
        look_up(lake, "1706.03762v3")
    assert "version 3 of 1706.03762" in missing.value.message
    before = versions(lake)
    harvest(lake, second)
    assert versions(lake) == before


def test_versions_never_go_down_within_a_source_and_the_older_record_is_told(
    lake, record, write_mirror, tmp_path, harvest
) -> None:
    harvest(lake, write_mirror(tmp_path / "m", [record("2401.00001v3", title="third")]))
    done = harvest(lake, write_mirror(tmp_path / "m", [record("2401.00001v2", title="second")]))
    assert lake.read("papers").select("title", "latest_version").rows() == [("third", 3)]
    assert "version 2 is older than version 3" in rejected(lake)[1]
    assert done.report.status == "complete"
    before = versions(lake)
    harvest(lake, tmp_path / "m")
    assert versions(lake) == before
    harvest(lake, write_mirror(tmp_path / "m", [record("2401.00001v4", title="fourth")]))
    assert lake.read("papers").select("title", "latest_version").rows() == [("fourth", 4)]
    assert rejected(lake) == {}


def test_a_work_from_elsewhere_stays_in_the_month_it_was_first_given(
    lake, record, write_mirror, tmp_path, harvest
) -> None:
    def source(name: str, day: str) -> None:
        harvest(lake, write_mirror(tmp_path / name, [record("10.1000/xyz", update_date=day, versions=None)]))

    source("one", "2020-05-17")
    source("one", "2021-08-01")
    source("two", "2019-01-01")
    rows = lake.read("arxiv_records")
    assert rows.height == 2
    assert rows["id_month"].unique().to_list() == [date(2020, 5, 1)]
    assert lake.read("papers").select("paper_id", "id_month").rows() == [("doi:10.1000/xyz", date(2020, 5, 1))]
    assert stale_months(lake) == []
