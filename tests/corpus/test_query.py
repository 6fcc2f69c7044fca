"""Answers of SQL: types by contract, versions by manifest, limits and failures with their reason."""

import threading
import time
from datetime import UTC, datetime, timedelta

import polars as pl
import pyarrow as pa
import pytest

import corpus.query
from corpus.contracts.registry import CONTRACTS
from corpus.query import Limits, QueryFailed, QueryRefused, open_query, query
from corpus.tables import Lake
from ingestion.errors import BadInput, LithouseError, NotFound


@pytest.mark.parametrize("name", ["papers", "surveys", "citations"])
def test_absent_tables_are_empty_and_typed(lake: Lake, name) -> None:
    found = query(lake, f"SELECT * FROM {name}")
    assert found.num_rows == 0
    assert found.schema.names == list(CONTRACTS[name].polars_schema)
    assert found.schema.types == CONTRACTS[name].arrow_schema.types
    assert not lake.home.exists()


def test_every_table_of_the_contracts_can_be_asked(lake: Lake) -> None:
    found = query(lake, "SELECT table_name FROM information_schema.tables").to_pylist()
    assert {row["table_name"] for row in found} == set(CONTRACTS)


def test_a_topic_of_digits_stays_text_and_id_month_is_a_date(
    lake, sections, record, write_mirror, tmp_path, harvest
) -> None:
    lake.replace("survey_sections", sections("007", "one"), {"topic": "007"})
    assert query(lake, "SELECT topic, typeof(topic) AS t FROM survey_sections").to_pylist() == [
        {"topic": "007", "t": "VARCHAR"}
    ]
    harvest(lake, write_mirror(tmp_path / "m", [record("2412.00010", day="2024-12-02")]))
    month = query(lake, "SELECT typeof(id_month) AS t, id_month + INTERVAL 1 MONTH AS next FROM papers").to_pylist()
    assert (month[0]["t"], str(month[0]["next"].date())) == ("DATE", "2025-01-01")


def test_id12_ids_with_zeros_stay_text_through_parquet_and_sql(lake, record, write_mirror, tmp_path, harvest) -> None:
    ids = ["0704.0001", "1501.00001", "2412.00010", "2412.00011", "hep-th/9901001"]
    harvest(lake, write_mirror(tmp_path / "m", [record(i) for i in ids]))
    rows = query(lake, "SELECT paper_id, typeof(paper_id) AS t FROM papers ORDER BY paper_id").to_pylist()
    assert [row["paper_id"] for row in rows] == ids
    assert {row["t"] for row in rows} == {"VARCHAR"}
    assert query(lake, "SELECT title FROM papers WHERE paper_id = '2412.00010'").to_pylist() == [
        {"title": "Paper 2412.00010"}
    ]


def test_as_of_reads_the_pinned_versions_and_the_rest_at_their_newest(lake: Lake, edges, sections) -> None:
    first = lake.append("citations", edges(("a", "b"))).version
    lake.append("citations", edges(("c", "d")))
    lake.replace("survey_sections", sections("rag", "one"), {"topic": "rag"})
    sql = "SELECT (SELECT count(*) FROM citations) AS edges, (SELECT count(*) FROM survey_sections) AS sections"
    assert query(lake, sql).to_pylist() == [{"edges": 2, "sections": 1}]
    assert query(lake, sql, as_of={"citations": first}).to_pylist() == [{"edges": 1, "sections": 1}]
    with pytest.raises(NotFound, match="99"):
        query(lake, sql, as_of={"citations": 99})
    with pytest.raises(BadInput, match="nothing"):
        query(lake, sql, as_of={"nothing": 1})


def test_an_unknown_table_or_column_is_named_with_advice(lake: Lake) -> None:
    with pytest.raises(QueryFailed, match="lithouse tables") as failed:
        query(lake, "SELECT * FROM paper")
    assert "papers" in failed.value.message
    with pytest.raises(QueryFailed, match="titel"):
        query(lake, "SELECT titel FROM papers")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*) FROM range(1000000000000)",
        "WITH RECURSIVE t AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM t) SELECT count(*) FROM t",
        "SELECT * FROM range(1000000000000)",
    ],
)
def test_a_query_is_stopped_when_its_time_is_up(lake: Lake, sql) -> None:
    started = time.monotonic()
    with (
        pytest.raises(QueryFailed, match=r"longer than 0\.3 seconds"),
        open_query(lake, sql, limits=Limits(seconds=0.3, threads=1)) as running,
    ):
        for _ in running.reader:
            pass
    assert time.monotonic() - started < 5


def test_time_that_is_up_before_the_query_begins_stops_it_all_the_same(lake: Lake) -> None:
    with pytest.raises(QueryFailed, match="longer than 0 seconds"):
        query(lake, "SELECT count(*) FROM range(1000000000000)", limits=Limits(seconds=0, threads=1))


def test_memory_is_bounded_and_what_does_not_fit_on_disk_either_fails_clearly(lake: Lake) -> None:
    small = Limits(memory="60MB", temp="10MB", threads=1)
    with pytest.raises(QueryFailed, match="more than 60MB of memory"):
        query(lake, "SELECT list(range) AS l FROM range(30000000)", limits=small)


def test_what_does_not_fit_in_memory_spills_to_a_private_folder_that_is_removed(lake, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    limits = Limits(memory="60MB", temp="1GB", threads=1)
    sql = "SELECT * FROM range(1500000) AS t(x) ORDER BY hash(x), repeat('x', 20)"
    with open_query(lake, sql, limits=limits) as running:
        assert sum(batch.num_rows for batch in running.reader) == 1_500_000
    assert list(tmp_path.glob("lithouse-sql-*")) == []


@pytest.mark.parametrize("late", ["error('late')", "CAST('x' || range AS INTEGER)"])
def test_a_result_that_fails_in_mid_stream_says_why(lake: Lake, late) -> None:
    sql = f"SELECT CASE WHEN range = 900000 THEN {late} ELSE 1 END AS x FROM range(1000000)"
    with pytest.raises(QueryFailed, match=r"late|Conversion Error"), open_query(lake, sql) as running:
        for _ in running.reader:
            pass
    with pytest.raises(QueryFailed):
        query(lake, sql)


def test_errors_of_the_reader_of_a_result_are_not_taken_for_the_querys(lake: Lake) -> None:
    def write(batches: pa.RecordBatchReader) -> None:
        batches.read_all()
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"), open_query(lake, "SELECT 1") as running:
        write(running.reader)


def test_a_result_streams_in_batches_and_may_be_left_early(lake: Lake) -> None:
    with open_query(lake, "SELECT * FROM range(100000000)", limits=Limits(threads=1)) as running:
        assert isinstance(running.reader, pa.RecordBatchReader)
        assert 0 < next(iter(running.reader)).num_rows < 1_000_000
    assert not [t for t in threading.enumerate() if t.name.startswith("lithouse-sql")]


def test_no_progress_is_drawn_on_standard_output(lake: Lake) -> None:
    """DuckDB draws it there after two seconds, in the middle of `--json`."""
    sql = "SELECT value FROM duckdb_settings() WHERE name = 'enable_progress_bar'"
    assert query(lake, sql).to_pylist() == [{"value": "false"}]


def test_times_are_utc_and_lists_and_structs_arrive_whole(lake, record, write_mirror, tmp_path, harvest) -> None:
    harvest(lake, write_mirror(tmp_path / "m", [record("2401.00001", day="2024-01-05")]))
    row = query(lake, "SELECT versions, authors, submitted_on FROM papers").to_pylist()[0]
    assert row["authors"] == ["Ada Lovelace", "Alan Turing"]
    assert [v["number"] for v in row["versions"]] == [1]
    assert row["versions"][0]["created_at"].isoformat() == "2024-01-05T00:00:00+00:00"
    assert row["submitted_on"].isoformat() == "2024-01-05"


def test_all_refusals_and_failures_are_errors_the_command_line_can_tell() -> None:
    assert issubclass(corpus.query.QueryRefused, LithouseError)
    assert issubclass(QueryFailed, LithouseError)


_NAMING = [
    "SELECT count(*) AS n FROM citations",
    "SELECT count(*) AS n FROM CITATIONS",
    'SELECT count(*) AS n FROM main."citations"',
    "WITH x AS (FROM citations) SELECT count(*) AS n FROM x",
    "SELECT (SELECT count(*) FROM citations) AS n",
    "SELECT count(*) AS n FROM query_table('citations')",
    "SELECT count(*) AS n FROM query_table(['citations'])",
    "SELECT count(*) AS n FROM query('FROM cita' || 'tions')",
    "SELECT count(*) AS n FROM query /* x */ ('FROM citations')",
    "SELECT n FROM (SUMMARIZE citations) JOIN (SELECT count(*) AS n FROM citations) ON true LIMIT 1",
    "SELECT count(*) AS n FROM papers RIGHT JOIN citations ON citing_id = paper_id",
]


@pytest.mark.parametrize("sql", _NAMING)
def test_a_table_is_read_however_the_statement_names_it(lake: Lake, edges, sql) -> None:
    lake.append("citations", edges(("a", "b"), ("c", "d")))
    assert query(lake, sql).to_pylist() == [{"n": 2}]


def test_tables_that_a_statement_does_not_name_are_not_opened(lake: Lake, edges, sections, monkeypatch) -> None:
    lake.append("citations", edges(("a", "b")))
    lake.append("survey_sections", sections("rag", "one"))
    opened, real = [], Lake.file_uris

    def noted(self, name, version=None):
        opened.append(name)
        return real(self, name, version)

    monkeypatch.setattr(Lake, "file_uris", noted)
    query(lake, "SELECT count(*) FROM citations")
    assert opened == ["citations"]
    opened.clear()
    found = query(lake, "SELECT table_name FROM information_schema.tables").to_pylist()
    assert (opened, {row["table_name"] for row in found}) == ([], set(CONTRACTS))


def test_as_of_a_moment_tables_the_manifest_lacks_are_empty_refused_or_cut(
    lake: Lake, edges, sections, edition
) -> None:
    lake.append("citations", edges(("a", "b")))
    lake.append("survey_sections", sections("rag", "one"))
    moment = datetime.now(UTC)
    lake.append("surveys", edition("before", {}, moment))
    lake.append("surveys", edition("after", {}, moment + timedelta(seconds=1)))
    lake.append("harvests", _harvest())
    then = {"as_of": {"citations": 1}, "until": moment}
    assert query(lake, "SELECT count(*) AS n FROM citations", **then).to_pylist() == [{"n": 1}]
    assert query(lake, "SELECT count(*) AS n FROM papers", **then).to_pylist() == [{"n": 0}]  # never written
    assert query(lake, "SELECT count(*) AS n FROM harvests", **then).to_pylist() == [{"n": 0}]  # written later
    assert query(lake, "SELECT edition FROM surveys", **then).to_pylist() == [{"edition": "before"}]
    with pytest.raises(QueryRefused, match="does not name table survey_sections") as refused:
        query(lake, "SELECT count(*) FROM survey_sections", **then)
    assert "citations" in refused.value.advice


def _harvest() -> pl.DataFrame:
    schema = CONTRACTS["harvests"].polars_schema
    row = dict.fromkeys(schema) | {"harvest_id": "h", "source": "s", "status": "complete"}
    row |= {name: 0 for name, kind in schema.items() if kind == pl.Int64 and name != "expected_count"}
    row |= {name: [] for name, kind in schema.items() if isinstance(kind, pl.List)}
    row |= {"started_at": datetime.now(UTC), "finished_at": datetime.now(UTC)}
    return pl.DataFrame([row], schema=schema)
