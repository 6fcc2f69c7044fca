import subprocess
import sys
from datetime import date
from pathlib import Path

import lancedb
import polars as pl
import pytest

from indexes.paper_index import PaperIndex
from ingestion.errors import BadInput, LithouseError, NotFound, PermanentFailure

pytestmark = pytest.mark.run

DAY = date(2024, 12, 31)
PAPERS = [
    ("2401.00001", "Zebra stripes", "About zebras."),
    ("2401.00002", "Lion manes", None),
    ("2401.00003", "Owls", ""),
]


def found(index: PaperIndex, query: str) -> list[str]:
    return [hit.paper_id for hit in index.full_text(query, 10, cutoff=DAY, with_withdrawn=True)]


def test_the_first_update_makes_the_index(build, frame):
    index = build(frame(PAPERS))
    assert found(index, "zebras") == ["2401.00001"]
    assert index.built_from.snapshot == "first"
    assert index.built_from.rows == 3
    assert index.built_from.versions == index.versions()
    index.require("first")


def test_an_absent_index_says_what_to_run(tmp_path):
    with pytest.raises(NotFound, match="lithouse refresh"):
        PaperIndex.open(tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_unchanged_papers_write_nothing(build, frame):
    index = build(frame(PAPERS))
    files = {path: path.stat().st_mtime_ns for path in index.folder.rglob("*")}
    result = index.update(frame(PAPERS[::-1]), snapshot="first")
    assert (result.unchanged, result.is_changed) == (3, False)
    assert {path: path.stat().st_mtime_ns for path in index.folder.rglob("*")} == files
    versions = index.versions()
    index.update(frame(PAPERS), snapshot="other")
    assert index.versions() == versions
    index.require("other")


def test_vx10_new_changed_and_removed_papers_are_found_right_after_an_update(build, frame):
    index = build(frame(PAPERS))
    papers = [PAPERS[0], ("2401.00002", "Tiger manes", None), ("2401.00009", "Walrus tusks", "Long.")]
    result = index.update(frame(papers), snapshot="second")
    assert (result.added, result.changed, result.removed, result.unchanged) == (1, 1, 1, 1)
    assert found(index, "walrus") == ["2401.00009"]
    assert found(index, "tiger") == ["2401.00002"]
    assert found(index, "lion") == found(index, "owls") == []
    assert found(PaperIndex.open(index.folder), "walrus") == ["2401.00009"]


def test_scores_do_not_depend_on_how_the_index_came_about(tmp_path, frame):
    papers = [(f"2401.{n:05}", f"Paper {n} on owls", "owls and mice " * (n % 7)) for n in range(200)]
    whole, grown = (PaperIndex.open(tmp_path / name, create=True) for name in ("whole", "grown"))
    whole.update(frame(papers), snapshot="s")
    grown.update(frame([*papers[:80], *[(f"old.{n}", "Gone owls", None) for n in range(50)]]), snapshot="r")
    grown.update(frame(papers), snapshot="s")
    assert whole.full_text("owls and mice", 50, cutoff=DAY) == grown.full_text("owls and mice", 50, cutoff=DAY)


def test_a_changed_day_or_withdrawal_is_taken_over_by_text_and_vector(build, frame, fake):
    index = build(frame(PAPERS))
    index.embed([paper[0] for paper in PAPERS])
    calls = len(fake.history)
    index.update(frame(PAPERS, day=date(2025, 6, 1), withdrawn=["2401.00001"]), snapshot="second")
    assert found(index, "zebra") == []
    assert index.dense("zebra stripes", 5, cutoff=DAY) == []
    later = [hit.paper_id for hit in index.dense("zebra stripes", 5, cutoff=date(2025, 6, 1))]
    assert sorted(later) == ["2401.00002", "2401.00003"]
    assert index.embed([paper[0] for paper in PAPERS]).reused == 3
    assert len(fake.history) == calls + 2  # the two queries


def test_a_changed_or_removed_paper_loses_its_stale_vector(build, frame):
    index = build(frame(PAPERS))
    index.embed([paper[0] for paper in PAPERS])
    result = index.update(frame([PAPERS[0], ("2401.00002", "Tiger manes", None)]), snapshot="second")
    assert result.stale_vectors == 2
    assert index.vectors([paper[0] for paper in PAPERS])[0] == ["2401.00001"]


def test_vx08_merge_optimise_and_merge_again_changes_the_rows(build, frame):
    index = build(frame(PAPERS))
    for word in ("badger", "otter", "heron"):
        papers = [(paper[0], f"{word} {n}", None) for n, paper in enumerate(PAPERS)]
        assert index.update(frame(papers), snapshot=word).changed == 3
        assert found(index, word) == [paper[0] for paper in PAPERS]
        assert index.built_from.rows == 3
    assert found(index, "badger") == []


def test_vx08_duplicates_left_by_two_updates_at_once_are_repaired(build, frame):
    index = build(frame(PAPERS))
    table = lancedb.connect(index.folder).open_table("paper_text")
    table.add(table.search().to_arrow().slice(0, 2))
    index = PaperIndex.open(index.folder)
    index.update(frame(PAPERS), snapshot="first")
    assert lancedb.connect(index.folder).open_table("paper_text").count_rows() == 3
    assert found(index, "zebra") == ["2401.00001"]


def test_papers_come_in_frames_of_any_size(build, frame):
    index = build([frame(PAPERS[:1]), frame([]), frame(PAPERS[1:])])
    assert index.built_from.rows == 3


def test_no_papers_make_an_empty_index(build, frame):
    index = build(frame([]))
    assert found(index, "zebra") == []
    index.update(frame(PAPERS), snapshot="second")
    assert found(index, "zebra") == ["2401.00001"]
    index.update(frame([]), snapshot="third")
    assert found(index, "zebra") == []


@pytest.mark.parametrize("together", [True, False])
def test_a_paper_that_comes_twice_is_refused(build, frame, together):
    twice = frame([PAPERS[0], PAPERS[0]])
    with pytest.raises(BadInput, match=r"twice.*2401\.00001"):
        build(twice if together else [twice[:1], twice[1:]])


@pytest.mark.parametrize(
    "change",
    [
        pl.col("title").cast(pl.Categorical),
        pl.col("submitted_latest").cast(pl.String),
        pl.lit(None, pl.String).alias("content_hash"),
        pl.lit(None, pl.Date).alias("submitted_latest"),
    ],
)
def test_frames_that_are_not_as_they_should_be_write_nothing(build, frame, change):
    index = build(frame(PAPERS))
    with pytest.raises(BadInput, match="papers to index"):
        index.update(frame(PAPERS).with_columns(change), snapshot="second")
    with pytest.raises(BadInput, match="abstract: missing"):
        index.update(frame(PAPERS).drop("abstract"), snapshot="second")
    index.require("first")


@pytest.mark.parametrize("snapshot", ["", "two words", "a/b"])
def test_a_snapshot_that_cannot_name_a_version_is_refused_before_writing(build, frame, snapshot):
    index = build(frame(PAPERS))
    with pytest.raises(BadInput, match="cannot be a tag"):
        index.update(frame(PAPERS[:1]), snapshot=snapshot)
    index.require("first")


def test_an_update_that_fails_midway_is_of_no_snapshot_until_repaired(build, frame, tmp_path):
    index = build(frame(PAPERS))

    def failing():
        yield frame([("2401.00009", "Walrus", None)])
        raise RuntimeError("the disk is full")

    with pytest.raises(RuntimeError, match="disk"):
        index.update(failing(), snapshot="second")
    with pytest.raises(NotFound, match="second was not finished"):
        index.require("first")
    index.update(frame(PAPERS), snapshot="first")
    index.require("first")
    assert found(index, "walrus") == []


def test_a_killed_update_is_repaired_by_the_next(frame, tmp_path):
    papers = frame([(f"2401.{n:05}", f"Zebra {n}", None) for n in range(40)])
    papers.write_parquet(tmp_path / "papers.parquet")
    script = f"""
import os, polars as pl
from pathlib import Path
from indexes.paper_index import PaperIndex
papers = pl.read_parquet({str(tmp_path / "papers.parquet")!r})
def dying():
    yield papers[:25]
    os._exit(9)
PaperIndex.open(Path({str(tmp_path / "index")!r}), create=True).update(dying(), snapshot="s")
"""
    root = Path(__file__).parents[2]
    killed = subprocess.run([sys.executable, "-c", script], cwd=root, check=False, capture_output=True, text=True)
    assert killed.returncode == 9, killed.stderr
    index = PaperIndex.open(tmp_path / "index")
    with pytest.raises(NotFound, match="not finished"):
        index.require("s")
    result = index.update(papers, snapshot="s")
    assert (result.added, result.unchanged) == (15, 25)
    assert len(index.full_text("zebra", 100, cutoff=DAY)) == 40
    index.require("s")


def test_a_damaged_index_says_how_to_rebuild_it(build, frame):
    index = build(frame(PAPERS))
    for path in (index.folder / "paper_text.lance" / "data").iterdir():
        path.unlink()
    with pytest.raises(LithouseError, match=r"cannot be (read|written).*paper_text"):
        PaperIndex.open(index.folder).update(frame(PAPERS[:1]), snapshot="second")
    for path in (index.folder / "paper_text.lance" / "_versions").iterdir():
        path.write_bytes(b"")
    with pytest.raises(PermanentFailure, match=r"cannot be read.*Remove the folder.*lithouse refresh"):
        PaperIndex.open(index.folder)


def test_an_open_index_sees_what_another_one_wrote_before_it_writes(build, frame):
    early = build(frame(PAPERS))
    PaperIndex.open(early.folder).update(frame([*PAPERS, ("2401.00009", "Walrus", None)]), snapshot="second")
    result = early.update(frame([*PAPERS, ("2401.00009", "Walrus", None)]), snapshot="second")
    assert (result.added, result.unchanged) == (0, 4)
