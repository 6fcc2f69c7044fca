"""What the SQL gate and the lock keep out: everything but one SELECT over the pinned files."""

from pathlib import Path

import pytest

from corpus.query import Limits, QueryFailed, QueryRefused, gate, query
from corpus.tables import Lake

REFUSED = [
    "COPY citations TO '/tmp/lithouse-out.csv'",
    "COPY (SELECT 1) TO '/tmp/lithouse-out.csv' (USE_TMP_FILE false)",
    "EXPORT DATABASE '/tmp/lithouse-out'",
    "IMPORT DATABASE '/tmp/lithouse-out'",
    "ATTACH '/tmp/lithouse-out.db' AS other",
    "DETACH memory",
    "USE memory",
    "INSTALL httpfs",
    "LOAD httpfs",
    "FORCE INSTALL httpfs FROM 'http://127.0.0.1/'",
    "UPDATE EXTENSIONS",
    "SET threads = 1",
    "SET VARIABLE x = 1",
    "SET allowed_paths = ['/etc/passwd']",
    "RESET enable_external_access",
    "PRAGMA database_list",
    "PRAGMA enable_profiling",
    "CALL pragma_version()",
    "CHECKPOINT",
    "VACUUM",
    "ANALYZE",
    "EXPLAIN SELECT 1",
    "EXPLAIN ANALYZE SELECT 1",
    "EXPLAIN ANALYZE COPY (SELECT 1) TO '/tmp/lithouse-out.csv'",
    "CREATE TABLE t AS SELECT 1",
    "CREATE VIEW v AS SELECT 1",
    "CREATE MACRO m() AS 1",
    "CREATE SECRET s (TYPE http)",
    "DROP VIEW citations",
    "ALTER TABLE citations RENAME TO c",
    "COMMENT ON TABLE citations IS 'x'",
    "INSERT INTO citations VALUES ('a', 'b', [], [])",
    "INSERT INTO citations SELECT * FROM citations",
    "UPDATE citations SET cited_id = 'x'",
    "DELETE FROM citations",
    "TRUNCATE citations",
    "MERGE INTO citations USING citations AS s ON true WHEN MATCHED THEN DELETE",
    "WITH x AS (SELECT 1) INSERT INTO citations SELECT * FROM x",
    "WITH x AS (SELECT 1) DELETE FROM citations",
    "PREPARE p AS SELECT 1",
    "EXECUTE p",
    "BEGIN",
    "COMMIT",
    "SELECT 1; SELECT 2",
    "SELECT 1; DROP VIEW citations",
    "SELECT 1;/**/COPY citations TO '/tmp/lithouse-out.csv'",
    "/* SELECT 1 */ COPY citations TO '/tmp/lithouse-out.csv'",
    "-- SELECT 1\nCOPY citations TO '/tmp/lithouse-out.csv'",
    "/* /* */ SELECT 1 */ DELETE FROM citations",
    "COPY citations TO '/tmp/lithouse-out.csv' -- SELECT",
    "SELECT * FROM (COPY citations TO '/tmp/lithouse-out.csv')",
    "SELECT * FROM (DELETE FROM citations RETURNING *)",
    "SELECT 1 /* open",
    "SELECT 'open",
    "SELEKT 1",
    "",
    "   \n\t",
    ";",
    "-- only a comment",
    "/* only a comment */",
    "SELECT \ud800",
    "SELECT 1\x00; DELETE FROM citations",
    "SELECT " + "(" * 5000 + "1" + ")" * 5000,
]


@pytest.mark.parametrize("sql", REFUSED, ids=range(len(REFUSED)))
def test_anything_but_one_select_is_refused(sql) -> None:
    with pytest.raises(QueryRefused):
        gate(sql)


SELECTS = [
    "SELECT 1",
    "select 1;",
    "SELECT 1;;",
    "  /* why */ SELECT 1 -- because",
    "FROM citations",
    "VALUES (1)",
    "TABLE citations",
    "(SELECT 1)",
    "WITH a AS (SELECT 1 AS x), b AS (SELECT x FROM a) SELECT * FROM b",
    "WITH RECURSIVE t AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM t WHERE x < 3) SELECT * FROM t",
    "SELECT 1 UNION SELECT 2",
    "SELECT 'COPY citations TO ''x''; DROP TABLE papers'",
    'SELECT 1 AS "DELETE FROM citations"',
    "SELECT $$; DELETE FROM citations;$$",
    "SELECT 'ünï' AS \"日本\"",
    "\ufeffSELECT 1",
    "SELECT\u00a01",
    "DESCRIBE citations",
    "SUMMARIZE citations",
    "SHOW TABLES",
    "SELECT * FROM query('SELECT 1')",
]


@pytest.mark.parametrize("sql", SELECTS, ids=range(len(SELECTS)))
def test_one_select_in_any_dress_passes(sql) -> None:
    assert gate(sql) is None


def test_one_select_with_comments_and_quoted_statements_runs(lake: Lake) -> None:
    sql = "/* COPY */ WITH a AS (SELECT '; DELETE FROM papers' AS \"日本\") SELECT * FROM a; -- SET x = 1"
    assert query(lake, sql).to_pylist() == [{"日本": "; DELETE FROM papers"}]


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    path = tmp_path / "secret.csv"
    path.write_text("key\nhunter2\n", encoding="utf-8")
    return path


OUTSIDE = [
    "SELECT * FROM read_csv('{file}')",
    "SELECT * FROM read_text('{file}')",
    "SELECT * FROM read_json('{file}')",
    "SELECT * FROM read_parquet('{file}')",
    "SELECT * FROM sniff_csv('{file}')",
    "SELECT * FROM parquet_metadata('{file}')",
    "SELECT * FROM read_duckdb('{file}')",
    "SELECT * FROM '{file}'",
    'SELECT * FROM "{file}"',
    "SELECT * FROM query_table('{file}')",
    "SELECT * FROM query('SELECT * FROM read_text(''{file}'')')",
    "SELECT * FROM query('COPY (SELECT 1) TO ''{file}''')",
    "SELECT * FROM json_execute_serialized_sql(json_serialize_sql('SELECT * FROM read_text(''{file}'')'))",
    "WITH x AS (SELECT * FROM read_text('{file}')) SELECT * FROM x",
    "SELECT * FROM glob('{folder}/*')",
    "SELECT * FROM read_text('{folder}/*.csv')",
    "SELECT * FROM read_text('{folder}/x/../secret.csv')",
    "SELECT * FROM read_text('file://{file}')",
    "SELECT * FROM '/etc/passwd'",
    "SELECT * FROM read_csv('/etc/passwd', sep = ':')",
    "SELECT * FROM read_text('/proc/self/environ')",
    "SELECT * FROM read_text('http://127.0.0.1:9/x')",
    "SELECT * FROM read_parquet('s3://bucket/x.parquet')",
    "SELECT getenv('HOME')",
    "SELECT * FROM duckdb_secrets()",
    "SELECT * FROM which_secret('s3://x', 's3')",
    "SELECT * FROM enable_logging(storage := 'file', storage_path := '{folder}/log')",
    "SELECT * FROM enable_profiling(save_location := '{folder}/profile')",
    "SELECT * FROM sqlite_scan('{file}', 't')",
    "SELECT * FROM limits",
    "SELECT * FROM uris",
    "WITH x AS (INSERT INTO citations VALUES ('a') RETURNING *) SELECT * FROM x",
]


@pytest.mark.parametrize("sql", OUTSIDE, ids=range(len(OUTSIDE)))
def test_nothing_outside_the_lake_can_be_read_or_written(lake: Lake, edges, secret, sql) -> None:
    lake.append("citations", edges(("a", "b")))
    before = sorted(secret.parent.rglob("*"))
    with pytest.raises(QueryFailed) as failed:
        query(lake, sql.format(file=secret, folder=secret.parent), limits=Limits(seconds=10, threads=1))
    assert "hunter2" not in failed.value.message
    assert sorted(secret.parent.rglob("*")) == before


def test_files_of_another_lake_and_unpinned_versions_cannot_be_read(tmp_path: Path, edges) -> None:
    ours, other = Lake(tmp_path / "ours"), Lake(tmp_path / "other")
    other.append("citations", edges(("x", "y")))
    first = ours.append("citations", edges(("a", "b"))).version
    (old,) = ours.file_uris("citations")
    ours.replace("citations", edges(("c", "d")), None)
    (now,) = ours.file_uris("citations")
    sql = "SELECT citing_id FROM read_parquet('{}')"
    for file in (old, *other.file_uris("citations"), now.replace(Path(now).name, "*.parquet")):
        with pytest.raises(QueryFailed, match="nothing else"):
            query(ours, sql.format(file))
    assert query(ours, sql.format(now)).to_pylist() == [{"citing_id": "c"}]
    assert query(ours, sql.format(old), as_of={"citations": first}).to_pylist() == [{"citing_id": "a"}]
    with pytest.raises(QueryFailed, match="nothing else"):
        query(ours, sql.format(now), as_of={"citations": first})


def test_the_lake_is_byte_for_byte_the_same_after_queries_that_try_to_write(lake: Lake, edges) -> None:
    lake.append("citations", edges(("a", "b")))

    def content() -> dict[str, bytes]:
        return {str(p): p.read_bytes() for p in lake.home.rglob("*") if p.is_file()}

    before = content()
    (file,) = lake.file_uris("citations")
    for sql in (
        f"COPY citations TO '{file}' (FORMAT parquet, USE_TMP_FILE false)",
        f"EXPLAIN ANALYZE COPY citations TO '{file}' (FORMAT parquet, USE_TMP_FILE false)",
        f"SELECT 'COPY citations TO ''{file}'''",
        f"SELECT * FROM query('COPY citations TO ''{file}''')",
        f"ATTACH '{file}' AS x",
    ):
        try:
            query(lake, sql)
        except (QueryRefused, QueryFailed):
            continue
        assert sql.startswith("SELECT 'COPY")
    assert content() == before


def test_settings_are_locked_and_show_no_secret(lake: Lake, monkeypatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-hunter2")
    rows = query(lake, "SELECT name, CAST(value AS VARCHAR) AS value FROM duckdb_settings()").to_pylist()
    values = {row["name"]: row["value"] for row in rows}
    assert values["enable_external_access"] == "false"
    assert values["lock_configuration"] == "true"
    assert "hunter2" not in str(values)
