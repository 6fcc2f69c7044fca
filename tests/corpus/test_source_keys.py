"""Keys of a source's files, kept from one harvest to the next; a harvest by them equals one by reading."""

import json
import os
import time
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from corpus import months
from corpus.derivation import derive_papers
from corpus.harvest import commit_records, read_source, record_harvest
from corpus.snapshots import take_snapshot
from corpus.tables import Lake
from ingestion.errors import TransientFailure
from ingestion.snapshot import Snapshot, open_snapshot


@dataclass
class Counted:
    """A snapshot that notes which of its files are read."""

    inner: Snapshot
    read_names: list[str] = field(default_factory=list)

    def __getattr__(self, name: str):
        return getattr(self.inner, name)

    def read(self, name: str):
        self.read_names.append(name)
        return self.inner.read(name)


def write(folder: Path, **files: list[dict]) -> Counted:
    folder.mkdir(exist_ok=True)
    for name, records in files.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records))
    return Counted(open_snapshot(folder))


def harvest(lake: Lake, source, cutoff: str | None = None, *, workspace: bool = True):
    folder = lake.home / "raw" / "harvests" if workspace else None
    reading = read_source(source, cutoff=date.fromisoformat(cutoff) if cutoff else None, workspace=folder)
    commit_records(lake, reading)
    change = derive_papers(lake)
    reading.report.added, reading.report.changed = list(change.added), list(change.changed)
    record_harvest(lake, reading.report)
    reading.close()
    return reading.report


def test_a_file_that_is_as_it_was_is_not_read_again_and_a_changed_one_alone_is(lake, tmp_path, record) -> None:
    first = write(tmp_path / "s", a=[record("2401.00001")], b=[record("2402.00001"), {"title": "no id"}])
    told = harvest(lake, first)
    assert first.read_names == ["a.jsonl", "b.jsonl"]
    again = write(tmp_path / "s")
    same = harvest(lake, again)
    assert again.read_names == []
    assert (same.unchanged_count, same.refusals, same.months) == (2, told.refusals, told.months)
    changed = write(tmp_path / "s", b=[record("2402.00001", title="Other"), record("2402.00002")])
    report = harvest(lake, changed)
    assert changed.read_names == ["b.jsonl"]
    assert (report.added, report.changed) == (["2402.00002"], ["2402.00001"])


def test_another_cutoff_reads_only_the_files_it_takes_records_from(lake, tmp_path, record) -> None:
    write(tmp_path / "s", a=[record("2401.00001", day="2024-01-05")], b=[record("2402.00001", day="2024-02-03")])
    harvest(lake, write(tmp_path / "s"), "2024-01-31")
    later = write(tmp_path / "s")
    assert harvest(lake, later, "2024-02-28").added == ["2402.00001"]
    assert later.read_names == ["b.jsonl"]


def test_a_file_that_could_not_be_read_whole_is_read_every_time(lake, tmp_path, record) -> None:
    folder = tmp_path / "s"
    write(folder, a=[record("2401.00001")])
    (folder / "papers_cut.parquet").write_bytes(b"PAR1 cut")
    assert harvest(lake, write(folder)).status == "partial"
    again = write(folder)
    assert harvest(lake, again).status == "partial"
    assert again.read_names == ["papers_cut.parquet"]


@pytest.mark.parametrize("damage", ["cut", "gone", "other"])
def test_kept_keys_that_cannot_be_read_are_made_again(lake, tmp_path, record, damage) -> None:
    harvest(lake, write(tmp_path / "s", a=[record("2401.00001")]))
    [kept] = (lake.home / "raw" / "harvests").rglob("*.parquet")
    if damage == "cut":
        kept.write_bytes(kept.read_bytes()[:30])
    elif damage == "gone":
        kept.unlink()
    else:
        kept.with_suffix(".json").write_text("[]")
    again = write(tmp_path / "s")
    assert harvest(lake, again).unchanged_count == 1
    assert again.read_names == ["a.jsonl"]


def test_nothing_spooled_stays_and_what_a_killed_harvest_left_is_swept(lake, tmp_path, record) -> None:
    source = write(tmp_path / "s", a=[record("2401.00001")])
    harvest(lake, source)
    [folder] = (lake.home / "raw" / "harvests").iterdir()
    assert sorted(p.suffix for p in folder.iterdir()) == [".json", ".parquet"]
    dead = folder / f"spool-{2**22 + 7}-x"
    mine = folder / f"spool-{os.getpid()}-x"
    old, new = folder / "old.parquet", folder / "new.parquet"
    for path in (dead, mine):
        path.mkdir()
    for path in (old, new):
        path.write_bytes(b"")
    os.utime(old, (time.time() - 90_000,) * 2)
    harvest(lake, write(tmp_path / "s"))
    assert [p.exists() for p in (dead, mine, old, new)] == [False, True, False, True]
    assert len(list(folder.glob("*.json"))) == 1


def test_a_file_that_changes_between_keys_and_records_is_told_and_writes_nothing(lake, tmp_path, record) -> None:
    harvest(lake, write(tmp_path / "s", a=[record("2401.00001")]), "2023-12-31")
    source = write(tmp_path / "s")
    reading = read_source(source, cutoff=None, workspace=lake.home / "raw" / "harvests")
    write(tmp_path / "s", a=[record("2401.00009")])
    with pytest.raises(TransientFailure, match="run this again"):
        commit_records(lake, reading)
    assert lake.read("arxiv_records").is_empty()


def test_a_file_that_changes_while_it_is_read_is_told_and_its_keys_are_not_kept(lake, tmp_path, record) -> None:
    source = write(tmp_path / "s", a=[record("2401.00001")])
    read = source.inner.read

    class Changing(Counted):
        def read(self, name: str):
            write(tmp_path / "s", a=[record("2401.00009")])
            return read(name)

    with pytest.raises(TransientFailure, match="changed while it was read"):
        read_source(Changing(source.inner), cutoff=None, workspace=lake.home / "raw" / "harvests")
    assert not list((lake.home / "raw" / "harvests").rglob("*.json"))
    write(tmp_path / "s", a=[record("2401.00001")])
    again = write(tmp_path / "s")
    assert harvest(lake, again).added == ["2401.00001"]
    assert again.read_names == ["a.jsonl"]


def test_the_result_does_not_depend_on_how_many_rows_go_into_a_commit(tmp_path, record, monkeypatch) -> None:
    records = [record(f"24{m:02d}.0000{n}", day=f"2024-{m:02d}-05") for m in (1, 2, 3, 4) for n in (1, 2, 3)]
    one, many = Lake(tmp_path / "one"), Lake(tmp_path / "many")
    harvest(one, write(tmp_path / "s", a=records))
    monkeypatch.setattr(months, "ROWS_AT_ONCE", 7)
    harvest(many, write(tmp_path / "s"))
    assert (one.version("papers"), many.version("papers")) == (1, 2)
    assert take_snapshot(one).content_hash == take_snapshot(many).content_hash
    assert one.read("arxiv_records").height == many.read("arxiv_records").height == 12


_PAPER = st.tuples(
    st.integers(1, 4),
    st.sampled_from(["", "v1", "v2", "v3"]),
    st.sampled_from([None, "2024-01-31", "2024-02-29", "2024-03-05"]),
    st.sampled_from(["One", "Two"]),
)
_STATE = st.tuples(
    st.lists(_PAPER, max_size=4), st.lists(_PAPER, max_size=4), st.sampled_from([None, "2024-01-31", "2024-02-15"])
)


@pytest.mark.run
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(states=st.lists(_STATE, min_size=2, max_size=3))
def test_harvests_by_kept_keys_equal_harvests_that_read_everything(tmp_path_factory, record, states) -> None:
    root = tmp_path_factory.mktemp("harvests")
    kept, fresh = Lake(root / "kept"), Lake(root / "fresh")
    for a, b, cutoff in states:
        made = [[record(f"240{n}.00001{v}", day=day, title=title) for n, v, day, title in part] for part in (a, b)]
        source = write(root / "s", a=made[0], b=made[1])
        told, expected = harvest(kept, source, cutoff), harvest(fresh, source, cutoff, workspace=False)
        assert set(told.refusals) == set(expected.refusals)
        assert (told.status, told.months, told.as_of) == (expected.status, expected.months, expected.as_of)
        columns = ["paper_id", "content_hash", "version", "id_month", "source_line"]
        rows = [lake.read("arxiv_records").select(columns).sort("paper_id") for lake in (kept, fresh)]
        assert rows[0].equals(rows[1])
        assert take_snapshot(kept).content_hash == take_snapshot(fresh).content_hash
