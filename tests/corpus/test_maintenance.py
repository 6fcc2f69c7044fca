"""Upkeep of the tables: what compaction joins, what removal spares, and a log that forgets nothing."""

import os
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, write_deltalake

import corpus.maintenance
from corpus.commits import newest_version, read_log
from corpus.contracts.registry import CONTRACTS
from corpus.maintenance import maintain, pinned_versions
from corpus.query import query
from corpus.tables import Lake, _read_snapshot
from ingestion.errors import NotFound

_NOW = datetime(2024, 6, 1, tzinfo=UTC)
_NO_GRACE = timedelta(0)


def citing(lake: Lake, version: int | None = None) -> list[str]:
    return sorted(lake.scan("citations", version).select("citing_id").collect().to_series())


def content(folder: Path) -> dict[str, bytes]:
    return {str(p): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def of(done: list, table: str):
    return next(found for found in done if found.table == table)


@pytest.fixture
def grown(lake: Lake, edges) -> Lake:
    """Six versions of `citations`: 1 to 3 appended to, 4 replaced whole, 5 and 6 appended to."""
    for name in ("a", "b", "c"):
        lake.append("citations", edges((name, "x")))
    lake.replace("citations", edges(("d", "x")), None)
    for name in ("e", "f"):
        lake.append("citations", edges((name, "x")))
    return lake


def test_small_files_of_each_partition_become_one_and_rows_stay(lake: Lake, sections) -> None:
    for topic in ("a", "b"):
        for number in range(3):
            frame = sections(topic, f"{topic}{number}").with_columns(number=pl.lit(str(number)))
            lake.append("survey_sections", frame)
    before = lake.read("survey_sections").sort("topic", "number")
    (done,) = maintain(lake)
    assert (done.joined, done.written, done.failure) == (6, 2, "")
    assert len(lake.file_uris("survey_sections")) == 2
    assert lake.read("survey_sections").sort("topic", "number").equals(before)
    codecs = {pq.ParquetFile(f).metadata.row_group(0).column(0).compression for f in lake.file_uris("survey_sections")}
    assert codecs == {"ZSTD"}
    versions = lake.versions()
    (again,) = maintain(lake)
    assert (again.joined, again.written, again.files_before - again.files_after) == (0, 0, 0)
    assert lake.versions() == versions, "nothing to do is no commit"


def test_removal_spares_pinned_versions_and_the_newest(grown: Lake, edition) -> None:
    grown.append("surveys", edition("e1", {"citations": 2, "index/paper_text": 7}, _NOW))
    grown.append("surveys", edition("e2", {"citations": 5}, _NOW))
    assert pinned_versions(grown) == {"citations": {2, 5}, "index/paper_text": {7}}
    done = of(maintain(grown, grace=_NO_GRACE), "citations")
    assert citing(grown) == ["d", "e", "f"]
    assert citing(grown, 2) == ["a", "b"]
    assert citing(grown, 5) == ["d", "e"]
    with pytest.raises(NotFound, match="no longer has version: 3") as gone:
        grown.scan("citations", 3)
    assert "maintain" in gone.value.advice
    with pytest.raises(NotFound, match="no longer has version"):
        query(grown, "SELECT * FROM citations", as_of={"citations": 3})
    assert done.versions_removed == 2  # 3, and the uncompacted 6
    assert (done.files_before - done.files_after, done.pins_lost) == (2 - 1, ())  # of c and f; the joined file came
    assert done.bytes_after < done.bytes_before + 2000
    rows = query(grown, "SELECT citing_id FROM citations ORDER BY 1", as_of={"citations": 2}).to_pylist()
    assert [row["citing_id"] for row in rows] == ["a", "b"]


def test_versions_overtaken_within_the_grace_stay_for_their_readers(grown: Lake) -> None:
    done = of(maintain(grown), "citations")
    assert done.versions_removed == 0
    assert [citing(grown, v) for v in (1, 3, 6)] == [["a"], ["a", "b", "c"], ["d", "e", "f"]]
    later = datetime.now(UTC) + timedelta(hours=25)
    assert of(maintain(grown, now=later), "citations").versions_removed > 0
    with pytest.raises(NotFound):
        citing(grown, 3)


def test_a_version_that_was_the_newest_when_the_grace_began_stays(grown: Lake, edges) -> None:
    """A reader may have opened it a minute before it was overtaken, however old it was by then."""
    at = {entry.version: entry.committed_at for entry in read_log(grown.folder("citations"))}
    kept = at[4] + (at[5] - at[4]) / 2 if at[5] > at[4] else at[4]
    done = of(maintain(grown, grace=timedelta(0), now=kept), "citations")
    assert not done.failure
    assert citing(grown, 4) == ["d"]
    with pytest.raises(NotFound):
        citing(grown, 3)


def test_a_file_of_a_writer_at_work_stays_and_a_dead_writers_goes_when_old(grown: Lake) -> None:
    folder = grown.folder("citations")
    young, old = folder / "young.parquet", folder / "old.parquet"
    for path in (young, old):
        pl.DataFrame({"citing_id": ["ghost"]}).write_parquet(path)
    long_ago = time.time() - 3 * 86400
    os.utime(old, (long_ago, long_ago))
    maintain(grown, grace=_NO_GRACE)
    assert young.exists()
    assert not old.exists()


def test_a_dry_run_says_what_would_be_done_and_changes_no_byte(grown: Lake) -> None:
    before = content(grown.home)
    would = of(maintain(grown, grace=_NO_GRACE, is_dry_run=True), "citations")
    assert content(grown.home) == before
    assert (would.joined, would.written) == (3, 1)
    assert would.files_before - would.files_after == 3  # a, b, c
    assert would.versions_removed == 3
    assert would.bytes_after < would.bytes_before


def test_a_pin_that_was_lost_before_is_told_and_the_rest_is_kept(grown: Lake, edition) -> None:
    maintain(grown, grace=_NO_GRACE)
    grown.append("surveys", edition("e1", {"citations": 3}, _NOW))
    done = of(maintain(grown, grace=_NO_GRACE), "citations")
    assert done.pins_lost == (3,)
    assert citing(grown) == ["d", "e", "f"]


def test_a_table_that_cannot_be_served_is_told_and_the_others_are_served(grown: Lake, sections) -> None:
    for topic in ("a", "a2"):
        grown.append("survey_sections", sections(topic, "one"))
    table = DeltaTable(str(grown.folder("citations")))
    table.alter.set_table_properties({"lithouse.contractVersion": "7"}, raise_if_not_exists=False)
    before = content(grown.folder("citations"))
    done = maintain(grown, grace=_NO_GRACE)
    assert "contract version 7" in of(done, "citations").failure
    assert content(grown.folder("citations")) == before
    assert not of(done, "survey_sections").failure


def test_others_who_keep_winning_leave_the_table_as_it_is_with_the_reason(grown: Lake, monkeypatch) -> None:
    from corpus.tables import LostRace

    def lose(self, name):
        raise LostRace("another writer kept winning the race for table citations", advice="Run it again.")

    monkeypatch.setattr(Lake, "compact", lose)
    done = of(maintain(grown, grace=_NO_GRACE), "citations")
    assert "kept winning" in done.failure
    assert citing(grown) == ["d", "e", "f"]
    assert done.versions_removed == 3, "what no one needs is removed all the same"


def _age(folder: Path, days: int) -> None:
    then = time.time() - days * 86400
    for path in (folder / "_delta_log").iterdir():
        os.utime(path, (then, then))


@pytest.mark.parametrize("made_by", ["us", "older code"])
def test_a_pinned_version_outlives_months_of_commits_and_checkpoints(lake: Lake, edges, edition, made_by) -> None:
    folder = lake.folder("citations")
    if made_by == "older code":  # without our properties: Delta's default is to forget after 30 days
        DeltaTable.create(
            str(folder),
            CONTRACTS["citations"].arrow_schema,
            configuration={"lithouse.contractVersion": "1", "delta.checkpointInterval": "10"},
            raise_if_key_not_exists=False,
        )
    first = lake.append("citations", edges(("a", "x"))).version
    lake.append("surveys", edition("e1", {"citations": first}, _NOW))
    for n in range(13):
        lake.replace("citations", edges((f"b{n}", "x")), None)
    _age(folder, 100)
    for n in range(13):
        lake.replace("citations", edges((f"c{n}", "x")), None)
    _age(folder, 100)
    assert citing(lake, first) == ["a"]
    done = of(maintain(lake, grace=_NO_GRACE), "citations")
    assert any(folder.glob("_delta_log/*.checkpoint.parquet"))
    assert not done.pins_lost
    _age(folder, 100)
    # Nor can another tool take it that cleans up as Delta does by default: the table says no itself.
    data = edges(("d", "x")).to_arrow().cast(CONTRACTS["citations"].arrow_schema)
    for _ in range(26):
        write_deltalake(str(folder), data, mode="append")
    DeltaTable(str(folder)).cleanup_metadata()
    _read_snapshot.cache_clear()
    assert citing(lake, first) == ["a"]
    assert [entry.version for entry in read_log(folder)] == list(range(newest_version(folder) + 1))


@pytest.mark.parametrize("field", ["a column", "a field of a struct"])
def test_files_older_than_it_are_joined_and_read_with_nulls(lake: Lake, edition, field) -> None:
    now = CONTRACTS["surveys"].arrow_schema
    rows = [edition(name, {"papers": 1}, _NOW).to_arrow().cast(now) for name in ("e1", "e2")]
    if field == "a column":
        old = now.remove(now.get_field_index("cards_hash"))
        rows = [row.select(old.names) for row in rows]
    else:
        at = now.get_field_index("notes")
        old = now.set(at, pa.field("notes", pa.list_(pa.struct([pa.field("item", pa.string())])), nullable=False))
        rows = [row.set_column(at, old.field(at), pa.array([[{"item": "x"}]], old.field(at).type)) for row in rows]
    folder = str(lake.folder("surveys"))
    DeltaTable.create(folder, old, partition_by=["topic"])
    for row in rows:
        write_deltalake(folder, row.cast(old), mode="append")
    lake.append("surveys", edition("e3", {}, _NOW))
    (done,) = maintain(lake, grace=_NO_GRACE)
    assert (done.joined, done.written, done.failure) == (3, 1, "")
    held = lake.read("surveys").sort("edition")
    if field == "a column":
        assert held["cards_hash"].to_list() == [None, None, ""]
    else:
        assert held["notes"].to_list() == [[{"item": "x", "reason": None}], [{"item": "x", "reason": None}], []]
    assert query(lake, "SELECT count(*) AS n FROM surveys").to_pylist() == [{"n": 3}]


def test_files_that_delta_cannot_join_stay_and_the_reason_is_told(lake: Lake, edges) -> None:
    arrow = CONTRACTS["citations"].arrow_schema
    old = arrow.remove(arrow.get_field_index("contexts"))  # a column that may not be null
    folder = str(lake.folder("citations"))
    DeltaTable.create(folder, old)
    for name in ("a", "b"):
        write_deltalake(folder, edges((name, "x")).drop("contexts").to_arrow().cast(old), mode="append")
    lake.append("citations", edges(("c", "x")))
    done = of(maintain(lake, grace=_NO_GRACE), "citations")
    assert "cannot be joined" in done.failure
    assert lake.read("citations").sort("citing_id")["contexts"].to_list() == [None, None, []]


def test_a_home_with_a_blank_and_topics_with_hyphens_loses_nothing(tmp_path, sections) -> None:
    lake = Lake(tmp_path / "my lake")
    for n in range(3):
        frame = sections("retrieval-augmented-generation-2024-03-31", "one").with_columns(number=pl.lit(str(n)))
        lake.append("survey_sections", frame)
    maintain(lake, grace=_NO_GRACE)
    assert lake.read("survey_sections").height == 3
    assert len(list(lake.folder("survey_sections").rglob("*.parquet"))) == 1 + 1  # the data and a checkpoint


def test_an_empty_lake_needs_nothing(lake: Lake) -> None:
    assert maintain(lake) == []
    assert not lake.home.exists()


def test_a_commit_made_while_files_are_removed_is_not_harmed(grown: Lake, edges, monkeypatch) -> None:
    """Files that appear after the log was read belong to no version we know, and are young."""
    real = corpus.maintenance._Log.read

    def read_then_commit(folder: Path):
        log = real(folder)
        if folder.name == "citations":
            grown.append("citations", edges(("late", "x")))
        return log

    monkeypatch.setattr(corpus.maintenance._Log, "read", read_then_commit)
    maintain(grown, grace=_NO_GRACE)
    assert citing(grown) == ["d", "e", "f", "late"]
