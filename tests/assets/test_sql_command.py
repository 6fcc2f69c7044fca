"""`lithouse sql`: one SELECT and nothing else, its forms, and reading the lake as an edition read it."""

import csv
import io
import json

import polars as pl
import pytest

_COUNT = "SELECT count(*) AS n FROM papers"


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("COPY papers TO '{folder}/out.csv'", "COPY"),
        ("COPY (SELECT 1) TO '{folder}/out.csv'", "COPY"),
        ("ATTACH '{folder}/out.db' AS other", "ATTACH"),
        ("INSTALL httpfs", "LOAD"),
        ("LOAD httpfs", "LOAD"),
        ("SET enable_external_access = true", "SET"),
        ("PRAGMA database_list", ""),
        ("SELECT 1; SELECT 2", "2 were given"),
        ("SELECT 1; COPY papers TO '{folder}/out.csv'", "2 were given"),
        ("EXPLAIN SELECT 1", "EXPLAIN"),
        ("EXPLAIN ANALYZE COPY papers TO '{folder}/out.csv'", "EXPLAIN"),
        ("CREATE TABLE mine AS SELECT 1", "CREATE"),
        ("INSERT INTO papers SELECT * FROM papers", "INSERT"),
        ("DELETE FROM papers", "DELETE"),
        ("DROP VIEW papers", "DROP"),
        ("EXPORT DATABASE '{folder}/out'", "EXPORT"),
        ("SELEC 1", "parsed"),
        ("", "no statement"),
        ("/* nothing */", "no statement"),
    ],
)
def test_anything_but_one_select_is_refused_and_writes_nothing(held, run, tmp_path, query, told):
    folder = tmp_path / "out"
    folder.mkdir()
    refused = run("sql", query.format(folder=folder), "--json")
    assert refused.code == 1
    assert refused.json["error"]["kind"] == "QueryRefused"
    assert told.lower() in refused.err.lower()
    assert not list(folder.iterdir())
    assert run("sql", _COUNT, "--json").json == [{"n": 10}]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM read_csv('{secret}')",
        "SELECT * FROM read_text('{secret}')",
        "SELECT * FROM '{secret}'",
        "SELECT * FROM glob('{folder}/*')",
        "SELECT * FROM read_parquet('{home}/tables/papers/**/*.parquet')",
        "SELECT * FROM read_text('/etc/passwd')",
        "SELECT * FROM delta_scan('{home}/tables/papers')",
    ],
)
def test_a_select_cannot_read_any_other_file(held, run, tmp_path, query):
    secret = tmp_path / "secret.csv"
    secret.write_text("word\nxyzzy\n", encoding="utf-8")
    told = run("sql", query.format(secret=secret, folder=tmp_path, home=held), "--json")
    assert told.code == 1
    assert told.json["error"]["kind"] == "QueryFailed"
    assert told.json["error"]["what"]
    assert "xyzzy" not in told.out + told.err
    assert "root:" not in told.out + told.err


@pytest.mark.parametrize("query", ["SELECT nosuch FROM papers", "SELECT * FROM nosuch", "SELECT 1/'x'"])
def test_a_query_that_fails_says_why_in_one_line(held, run, query):
    told = run("sql", query)
    assert told.code == 1
    assert told.err.startswith("Error: ")
    assert len(told.err.splitlines()) == 1


def test_every_column_of_the_dictionary_can_be_queried_without_quotes(held, run):
    from corpus.contracts.registry import CONTRACTS

    for name, contract in CONTRACTS.items():
        rows = run("sql", f"SELECT {', '.join(contract.polars_schema)} FROM {name}", "--json")
        assert rows.code == 0, rows.err
        assert all(list(r) == list(contract.polars_schema) for r in rows.json)


def test_json_gives_row_objects_with_names_dates_and_lists(held, run):
    rows = run("sql", "SELECT paper_id, submitted_latest, authors FROM papers ORDER BY paper_id", "--json").json
    assert len(rows) == 10
    assert rows[0]["submitted_latest"][:4] == "2023"
    assert isinstance(rows[0]["authors"], list)
    assert run("sql", "SELECT paper_id FROM papers WHERE false", "--json").json == []


def test_csv_keeps_ids_as_text_and_lists_as_json(held, run, tmp_path):
    query = "SELECT paper_id, authors, title FROM papers ORDER BY paper_id"
    printed = run("sql", query, "--format", "csv")
    assert printed.code == 0
    rows = list(csv.DictReader(io.StringIO(printed.out)))
    assert len(rows) == 10
    assert [r["paper_id"] for r in rows] == [r["paper_id"] for r in run("sql", query, "--json").json]
    assert json.loads(rows[0]["authors"]) == run("sql", query, "--json").json[0]["authors"]
    target = tmp_path / "papers.csv"
    assert run("sql", query, "--format", "csv", "--output", target).out == ""
    assert target.read_text(encoding="utf-8") == printed.out


def test_id12_ids_stay_text_through_csv_and_parquet(run, home, tmp_path):
    ids = "SELECT unnest(['2412.00010', '2412.00011', '0704.0001', '1501.00001']) AS paper_id ORDER BY 1"
    target = tmp_path / "ids.parquet"
    assert run("sql", ids, "--format", "parquet", "--output", target).code == 0
    frame = pl.read_parquet(target)
    assert frame.schema == {"paper_id": pl.String}
    assert frame["paper_id"].to_list() == ["0704.0001", "1501.00001", "2412.00010", "2412.00011"]
    printed = list(csv.DictReader(io.StringIO(run("sql", ids, "--format", "csv").out)))
    assert [r["paper_id"] for r in printed] == frame["paper_id"].to_list()


def test_parquet_holds_rows_and_types(held, run, tmp_path):
    target = tmp_path / "papers.parquet"
    query = "SELECT paper_id, submitted_latest, authors, latest_version FROM papers ORDER BY paper_id"
    assert run("sql", query, "--format", "parquet", "--output", target).code == 0
    frame = pl.read_parquet(target)
    assert frame.schema["submitted_latest"] == pl.Date
    assert frame.schema["authors"] == pl.List(pl.String)
    assert frame["paper_id"].to_list() == [r["paper_id"] for r in run("sql", query, "--json").json]


def test_a_table_says_how_many_rows_and_can_go_to_a_file(held, run, tmp_path):
    printed = run("sql", "SELECT paper_id FROM papers")
    assert "10 rows" in printed.out
    target = tmp_path / "out.txt"
    assert run("sql", "SELECT paper_id FROM papers", "--output", target).code == 0
    assert target.read_text(encoding="utf-8") == printed.out


@pytest.mark.parametrize("form", ["csv", "parquet", "table"])
def test_an_output_that_cannot_be_written_is_one_line_not_a_traceback(held, run, tmp_path, form):
    told = run("sql", _COUNT, "--format", form, "--output", tmp_path / "nosuch" / "out")
    assert told.code == 1
    assert "nosuch" in told.err
    assert len(told.err.splitlines()) == 1


@pytest.mark.parametrize("form", ["csv", "parquet", "table"])
def test_an_output_is_never_written_into_the_lake_itself(held, run, form):
    victim = next((held / "tables" / "papers").rglob("*.parquet"))
    before = victim.read_bytes()
    told = run("sql", _COUNT, "--format", form, "--output", victim)
    assert told.code == 1
    assert victim.read_bytes() == before
    assert run("sql", _COUNT, "--json").json == [{"n": 10}]


def test_a_query_that_dies_on_the_way_leaves_the_old_output(held, run, tmp_path):
    target = tmp_path / "out.csv"
    target.write_text("old", encoding="utf-8")
    dies = "SELECT CASE WHEN range < 300000 THEN range ELSE CAST('x' || range AS INT) END AS n FROM range(400000)"
    told = run("sql", dies, "--format", "csv", "--output", target)
    assert told.code == 1
    assert len(told.err.splitlines()) == 1
    assert target.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.glob("*out.csv*")) == [target]


@pytest.mark.parametrize(
    "query",
    [
        "-- papers\nSELECT count(*) AS n FROM papers",
        "--papers\nSELECT count(*) AS n FROM papers",
        "-- a = b, --json\nSELECT count(*) AS n FROM papers",
        "- 1\nSELECT 1",
    ],
)
@pytest.mark.parametrize("place", ["first", "last"])
def test_sql_that_begins_with_a_comment_is_no_option(held, run, query, place):
    told = run(*(("sql", query, "--json") if place == "first" else ("sql", "--json", query)))
    if query.startswith("--"):
        assert told.json == [{"n": 10}], told.err
    else:
        assert told.json["error"]["kind"] == "QueryRefused"
    assert run("sql", "--json", "--", query).out == told.out


def test_a_misspelt_option_is_still_one(held, run):
    assert run("sql", _COUNT, "--fromat", "csv").code == 2
    assert run("sql", _COUNT, "--fromat=csv").code == 2


@pytest.mark.run
def test_as_of_reads_the_versions_an_edition_was_made_from(demo, surveyed, run, tools):
    from corpus.tables import Lake

    lake = Lake(surveyed)
    lake.replace("papers", lake.scan("papers").filter(pl.lit(False)).collect(), None)
    name = f"{tools.slug}/surveyforge@{demo.result['edition']}"
    assert run("sql", _COUNT, "--json").json == [{"n": 0}]
    for edition in (name, tools.slug, f"{tools.slug}/surveyforge", tools.topic):
        assert run("sql", _COUNT, "--as-of", edition, "--json").json == [{"n": 40}]
    refused = run("sql", _COUNT, "--as-of", "nosuch", "--json")
    assert (refused.code, refused.json["error"]["kind"]) == (1, "NotFound")
