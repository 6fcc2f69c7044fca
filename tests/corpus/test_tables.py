"""The table module: what fits a contract, what a write replaces, and what a refused frame leaves behind."""

import shutil
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import polars as pl
import pytest
from deltalake import DeltaTable, write_deltalake

from corpus.contracts.registry import CONTRACTS
from corpus.query import query
from corpus.tables import ContractBreach, Lake
from ingestion.errors import BadInput, NotFound, PermanentFailure


def refused(started_at: object) -> pl.DataFrame:
    """A row of rejected_records with the given time."""
    return pl.DataFrame(
        {
            "source": ["s"],
            "source_file": ["f"],
            "source_line": [1],
            "raw_id": [None],
            "reason": ["r"],
            "raw": ["x"],
            "rejected_at": pl.Series(started_at if isinstance(started_at, pl.Series) else [started_at]),
        },
        schema_overrides={"raw_id": pl.String},
    )


def test_tb01_a_column_of_nulls_has_its_declared_type_and_the_next_batch_lands(lake: Lake) -> None:
    first = refused(datetime(2024, 1, 1, tzinfo=UTC)).with_columns(raw_id=pl.lit(None))
    assert first.schema["raw_id"] == pl.Null
    lake.append("rejected_records", first)
    second = refused(datetime(2024, 1, 2, tzinfo=UTC)).with_columns(
        raw_id=pl.lit("2401.1"), source_line=pl.lit(2).cast(pl.Int64)
    )
    lake.append("rejected_records", second)
    rows = lake.read("rejected_records").sort("source_line")
    assert rows.schema["raw_id"] == pl.String
    assert rows["raw_id"].to_list() == [None, "2401.1"]


def test_tb02_empty_lists_everywhere_keep_the_declared_list_type(lake: Lake, edges) -> None:
    untyped = edges(("a", "b")).with_columns(contexts=pl.Series([[]]))
    assert untyped.schema["contexts"] == pl.List(pl.Null)
    lake.append("citations", untyped)
    lake.append("citations", edges(("c", "d")).with_columns(contexts=pl.Series([["words"]])))
    rows = lake.read("citations").sort("citing_id")
    assert rows["contexts"].to_list() == [[], ["words"]]
    assert rows.schema["contexts"] == pl.List(pl.String)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_tb05_sql_over_untyped_and_typed_batches_answers_the_same_in_both_orders(lake: Lake, edges, order) -> None:
    batches = [
        edges(("a", "b")).with_columns(contexts=pl.Series([[]])),
        edges(("c", "d")).with_columns(contexts=pl.Series([["words"]])),
    ]
    for n in order:
        lake.append("citations", batches[n])
    table = query(lake, "SELECT citing_id, contexts, typeof(contexts) AS type FROM citations ORDER BY citing_id")
    assert table.to_pylist() == [
        {"citing_id": "a", "contexts": [], "type": "VARCHAR[]"},
        {"citing_id": "c", "contexts": ["words"], "type": "VARCHAR[]"},
    ]


@pytest.mark.parametrize("first", ["naive", "utc"])
def test_tb06_naive_times_are_refused_whichever_batch_comes_first(lake: Lake, first) -> None:
    naive, utc = refused(datetime(2024, 1, 1, 12)), refused(datetime(2024, 1, 1, 12, tzinfo=UTC))
    if first == "utc":
        lake.append("rejected_records", utc)
    with pytest.raises(ContractBreach, match=r"rejected_at is Datetime.*not Datetime"):
        lake.append("rejected_records", naive)
    if first == "naive":
        lake.append("rejected_records", utc)
    assert lake.read("rejected_records")["rejected_at"].to_list() == [datetime(2024, 1, 1, 12, tzinfo=UTC)]


def test_tb07_times_of_another_zone_are_refused_and_as_utc_round_trip_to_the_same_instant(lake: Lake) -> None:
    chicago = datetime(2024, 1, 1, 6, tzinfo=ZoneInfo("America/Chicago"))
    frame = refused(pl.Series([chicago], dtype=pl.Datetime("us", "America/Chicago")))
    with pytest.raises(ContractBreach, match="America/Chicago"):
        lake.append("rejected_records", frame)
    assert lake.version("rejected_records") is None
    lake.append("rejected_records", frame.with_columns(pl.col("rejected_at").dt.convert_time_zone("UTC")))
    assert lake.read("rejected_records")["rejected_at"].to_list() == [chicago]
    at = query(lake, "SELECT rejected_at = TIMESTAMPTZ '2024-01-01 12:00:00+00' AS same FROM rejected_records")
    assert at.to_pylist() == [{"same": True}]


@pytest.mark.parametrize("unit", ["ms", "ns"])
def test_tb06_another_time_unit_is_refused_not_cast(lake: Lake, unit) -> None:
    frame = refused(pl.Series([datetime(2024, 1, 1)], dtype=pl.Datetime(unit, "UTC")))
    with pytest.raises(ContractBreach, match="wrong types"):
        lake.append("rejected_records", frame)


def test_tb08_replacing_a_topic_again_leaves_the_other_topics_alone(lake: Lake, sections) -> None:
    def put(topic: str, *titles: str) -> None:
        lake.replace("survey_sections", sections(topic, *titles), {"topic": topic})

    put("a", "one", "two", "three")
    put("b", "other")
    put("a", "uno", "due")
    rows = lake.read("survey_sections").sort("topic", "number")
    assert rows.select("topic", "title").rows() == [("a", "uno"), ("a", "due"), ("b", "other")]
    put("a", "uno", "due")
    assert lake.read("survey_sections").sort("topic", "number").equals(rows)


def test_tb10_a_table_older_than_a_column_is_read_with_nulls_and_takes_new_rows(lake: Lake, edges) -> None:
    arrow = CONTRACTS["citations"].arrow_schema
    old = arrow.remove(arrow.get_field_index("contexts"))
    folder = str(lake.folder("citations"))
    DeltaTable.create(folder, old)
    write_deltalake(folder, edges(("a", "b")).drop("contexts").to_arrow().cast(old), mode="append")
    sql = "SELECT citing_id, contexts FROM citations ORDER BY citing_id"
    assert lake.read("citations")["contexts"].to_list() == [None]
    assert query(lake, sql).to_pylist() == [{"citing_id": "a", "contexts": None}]

    lake.append("citations", edges(("c", "d")))
    lake.replace("citations", edges(("e", "f")), {"citing_id": "e"})
    assert lake.read("citations").sort("citing_id")["contexts"].to_list() == [None, [], []]
    assert [row["contexts"] for row in query(lake, sql).to_pylist()] == [None, [], []]


def test_tb10_a_struct_that_gained_a_field_is_read_with_nulls(
    lake: Lake, record, write_mirror, tmp_path, harvest
) -> None:
    import pyarrow as pa

    harvest(lake, write_mirror(tmp_path / "m", [record("2401.00001", day="2024-01-05")]))
    row = lake.read("papers").to_arrow().cast(CONTRACTS["papers"].arrow_schema)
    old_type = pa.list_(pa.struct([pa.field("number", pa.int32())]))
    at = row.schema.get_field_index("versions")
    old = row.set_column(at, pa.field("versions", old_type), pa.array([[{"number": 1}]], old_type))
    other = Lake(tmp_path / "old")
    DeltaTable.create(str(other.folder("papers")), old.schema, partition_by=["id_month"])
    write_deltalake(str(other.folder("papers")), old, mode="append")
    assert other.read("papers")["versions"].to_list() == [[{"number": 1, "created_at": None}]]
    other.append("papers", lake.read("papers").with_columns(paper_id=pl.lit("2401.00002")))
    created = {r["paper_id"]: r["versions"][0]["created_at"] for r in other.read("papers").to_dicts()}
    assert created == {"2401.00001": None, "2401.00002": datetime(2024, 1, 5, tzinfo=UTC)}
    assert query(other, "SELECT count(versions[1].created_at) AS n FROM papers").to_pylist() == [{"n": 1}]


def test_tb10_the_contract_version_is_recorded_and_another_one_is_refused(lake: Lake, edges) -> None:
    lake.append("citations", edges(("a", "b")))
    table = DeltaTable(str(lake.folder("citations")))
    assert table.metadata().configuration["lithouse.contractVersion"] == "1"
    table.alter.set_table_properties({"lithouse.contractVersion": "7"}, raise_if_not_exists=False)
    with pytest.raises(PermanentFailure, match="contract version 7, this Lithouse knows version 1"):
        lake.read("citations")
    with pytest.raises(PermanentFailure, match="contract version 7"):
        lake.append("citations", edges(("c", "d")))


BREACHES = {
    "extra column": lambda f: f.with_columns(note=pl.lit("x")),
    "missing column": lambda f: f.drop("cited_id"),
    "wrong type": lambda f: f.with_columns(cited_id=pl.lit(2401.0001)),
    "null in a key": lambda f: f.with_columns(cited_id=pl.lit(None, dtype=pl.String)),
    "null in a list": lambda f: f.with_columns(sources=pl.Series([[None]], dtype=pl.List(pl.String))),
    "conflicting duplicates": lambda f: pl.concat([f, f.with_columns(sources=pl.Series([["other"]]))]),
    "a list of numbers": lambda f: f.with_columns(sources=pl.Series([[1]])),
}


@pytest.mark.parametrize("breach", BREACHES)
@pytest.mark.parametrize("write", ["append", "replace"])
def test_a_breach_writes_nothing_and_an_absent_table_stays_absent(lake: Lake, edges, breach, write) -> None:
    frame = BREACHES[breach](edges(("a", "b")))
    arguments = ("citations", frame) if write == "append" else ("citations", frame, None)
    with pytest.raises(ContractBreach, match="citations"):
        getattr(lake, write)(*arguments)
    assert lake.version("citations") is None
    assert not lake.folder("citations").exists()
    lake.append("citations", edges(("x", "y")))
    with pytest.raises(ContractBreach):
        getattr(lake, write)(*arguments)
    assert lake.version("citations") == 1
    assert lake.read("citations")["citing_id"].to_list() == ["x"]


def test_identical_rows_collapse_to_one(lake: Lake, edges) -> None:
    frame = edges(("a", "b"), ("c", "d"), ("a", "b"))
    assert lake.append("citations", frame).rows == 2
    assert lake.row_count("citations") == 2


def test_rows_outside_the_replaced_part_are_refused(lake: Lake, sections) -> None:
    lake.replace("survey_sections", sections("a", "one"), {"topic": "a"})
    with pytest.raises(ContractBreach, match=r"1 rows .* outside the replaced part"):
        lake.replace("survey_sections", sections("b", "one"), {"topic": "a"})
    assert lake.read("survey_sections")["topic"].to_list() == ["a"]


def test_rows_with_null_where_a_value_is_replaced_are_outside(lake: Lake) -> None:
    frame = refused(datetime(2024, 1, 1, tzinfo=UTC))
    with pytest.raises(ContractBreach, match="outside"):
        lake.replace("rejected_records", frame, {"raw_id": "2401.00001"})


@pytest.mark.parametrize("where", [{}, {"topic": []}, {"nothing": "x"}, {"topic = 'a' OR 1": 1}])
def test_a_part_that_selects_everything_or_nothing_is_refused(lake: Lake, sections, where) -> None:
    lake.replace("survey_sections", sections("a", "one"), {"topic": "a"})
    with pytest.raises(BadInput):
        lake.replace("survey_sections", sections("a", "x").clear(), where)
    assert lake.read("survey_sections")["title"].to_list() == ["one"]


def test_an_empty_partition_value_is_refused_since_delta_stores_it_as_null(lake: Lake, sections) -> None:
    with pytest.raises(ContractBreach, match=r"empty value in a partition column .*: topic"):
        lake.append("survey_sections", sections("", "one"))


def test_a_part_emptied_leaves_an_empty_table_of_the_declared_type(lake: Lake, edges) -> None:
    lake.append("citations", edges(("a", "b")))
    lake.replace("citations", edges().clear(), None)
    assert lake.file_uris("citations") == []
    assert lake.read("citations").schema == CONTRACTS["citations"].polars_schema
    assert query(lake, "SELECT count(*) AS n, typeof(any_value(sources)) AS t FROM citations").to_pylist()[0]["n"] == 0


def test_old_versions_stay_readable_and_unknown_ones_are_not_found(lake: Lake, edges) -> None:
    first = lake.append("citations", edges(("a", "b"))).version
    lake.replace("citations", edges(("c", "d")), None)
    assert lake.scan("citations", first).collect()["citing_id"].to_list() == ["a"]
    for version in (99, -1):
        with pytest.raises(NotFound):
            lake.scan("citations", version).collect()
    with pytest.raises(NotFound, match="never written"):
        lake.scan("papers", 0)
    with pytest.raises(NotFound, match="Tables: "):
        lake.scan("nothing")


@pytest.mark.parametrize("name", ["my lake", "Übung", "日本", "100%", "a#b", "o'neil", 'say "x"', "a*b?", "a+b&c=d"])
def test_a_home_with_blanks_accents_or_signs_works(tmp_path, edges, sections, name) -> None:
    lake = Lake(tmp_path / name)
    lake.append("citations", edges(("a", "b")))
    lake.replace("survey_sections", sections("rag", "one"), {"topic": "rag"})
    lake.replace("survey_sections", sections("rag", "two"), {"topic": "rag"})
    assert lake.read("citations").height == 1
    assert query(lake, "SELECT topic, title FROM survey_sections").to_pylist() == [{"topic": "rag", "title": "two"}]


@pytest.mark.parametrize("name", ["a[b]", "a|b", "a^b", "a\\b", "a%20b"])
def test_a_home_that_delta_cannot_use_is_refused_before_anything_is_written(tmp_path, edges, name) -> None:
    lake = Lake(tmp_path / name)
    with pytest.raises(BadInput, match="LITHOUSE_HOME"):
        lake.append("citations", edges(("a", "b")))
    assert not lake.home.exists()


def test_files_are_zstd_and_carry_comments_and_nullability(lake: Lake, edges) -> None:
    import pyarrow.parquet as pq

    lake.append("citations", edges(("a", "b")))
    (file,) = lake.file_uris("citations")
    assert pq.ParquetFile(file).metadata.row_group(0).column(0).compression == "ZSTD"
    fields = {f.name: f for f in DeltaTable(str(lake.folder("citations"))).schema().fields}
    assert fields["citing_id"].nullable is False
    assert fields["citing_id"].metadata["comment"] == "Paper that cites."


def test_only_the_files_of_the_replaced_months_are_rewritten(
    lake: Lake, record, write_mirror, tmp_path, harvest
) -> None:
    records = [record("2401.00001", day="2024-01-05"), record("2402.00001", day="2024-02-05")]
    harvest(lake, write_mirror(tmp_path / "m", records))
    before = set(lake.file_uris("arxiv_records"))
    records[1]["title"] = "Another title"
    touched = harvest(lake, write_mirror(tmp_path / "m", records)).months
    after = set(lake.file_uris("arxiv_records"))
    assert touched == [date(2024, 2, 1)]
    assert {f for f in before if "2024-01" in f} == {f for f in after if "2024-01" in f}
    assert len(before - after) == len(after - before) == 1


def test_tb09_a_hundred_thousand_rows_are_replaced_by_themselves(lake: Lake) -> None:
    ids = [f"2401.{n:06d}" for n in range(100_000)]
    frame = pl.DataFrame({"citing_id": ids, "cited_id": ids[::-1], "sources": [["s"]] * len(ids)})
    frame = frame.with_columns(contexts=pl.lit([], dtype=pl.List(pl.String)))
    lake.replace("citations", frame, None)
    again = lake.read("citations")
    lake.replace("citations", again, None)
    assert lake.read("citations").sort("citing_id").equals(frame)
    assert lake.row_count("citations") == 100_000


@pytest.mark.parametrize("second", ["same", "other"])
def test_a_key_given_twice_far_apart_is_seen_although_rows_are_checked_in_parts(
    lake: Lake, edges, monkeypatch, second
) -> None:
    monkeypatch.setattr("corpus.contracts.conformity._SLICE", 3)
    frame = edges(*((f"p{n}", "x") for n in range(10)))
    again = frame.head(1) if second == "same" else frame.head(1).with_columns(sources=pl.Series([["other"]]))
    if second == "same":
        assert lake.append("citations", pl.concat([frame, again])).rows == 10
    else:
        with pytest.raises(ContractBreach):
            lake.append("citations", pl.concat([frame, again]))


@pytest.mark.parametrize("at", [0, 4, 9])
def test_a_broken_rule_is_seen_in_whichever_part_it_stands(lake: Lake, edges, monkeypatch, at) -> None:
    monkeypatch.setattr("corpus.contracts.conformity._SLICE", 3)
    sources = [["test"] if n != at else [None] for n in range(10)]
    frame = edges(*((f"p{n}", "x") for n in range(10))).with_columns(
        sources=pl.Series(sources, dtype=pl.List(pl.String))
    )
    with pytest.raises(ContractBreach, match="sources"):
        lake.append("citations", frame)
    assert lake.version("citations") is None


def test_a_version_is_opened_once_and_a_table_made_anew_is_not_taken_for_the_old_one(
    lake: Lake, edges, monkeypatch
) -> None:
    lake.append("citations", edges(("a", "b")))
    opened, real = [], DeltaTable.__init__

    def noted(self, *arguments, **options):
        opened.append(arguments)
        real(self, *arguments, **options)

    monkeypatch.setattr(DeltaTable, "__init__", noted)
    for _ in range(3):
        assert lake.read("citations")["citing_id"].to_list() == ["a"]
        assert (lake.version("citations"), lake.row_count("citations"), len(lake.file_uris("citations"))) == (1, 1, 1)
    assert len(opened) == 1
    monkeypatch.undo()
    shutil.rmtree(lake.home)
    assert lake.version("citations") is None
    assert lake.read("citations").height == 0
    lake.append("citations", edges(("c", "d"), ("e", "f")))
    assert sorted(lake.read("citations")["citing_id"]) == ["c", "e"]
    assert lake.row_count("citations") == 2


def test_a_table_says_when_it_was_made(lake: Lake, edges) -> None:
    assert lake.created_at("citations") is None
    before = datetime.now(UTC)
    lake.append("citations", edges(("a", "b")))
    made = lake.created_at("citations")
    lake.append("citations", edges(("c", "d")))
    assert before - timedelta(seconds=1) <= made <= datetime.now(UTC)
    assert lake.created_at("citations") == made
