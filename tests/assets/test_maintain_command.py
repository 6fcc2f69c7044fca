"""`lithouse maintain`, and the lake as it was: SQL as of an edition after refreshes, new surveys and upkeep."""

import json
import shutil
from datetime import UTC, datetime, timedelta

import polars as pl
import pytest

from corpus.contracts.registry import CONTRACTS
from corpus.tables import Lake


def _rows(run, *options: str) -> dict[str, list[dict]]:
    """Every table's rows as SQL gives them."""
    found = {}
    for name in CONTRACTS:
        told = run("sql", f"SELECT * FROM {name}", "--json", *options)
        assert told.code == 0, f"{name}: {told.err}"
        found[name] = sorted(told.json, key=lambda row: json.dumps(row, sort_keys=True))
    return found


def _named(result: dict, table: str) -> dict:
    return next(row for row in result["tables"] if row["table"] == table)


def test_json_says_files_bytes_versions_and_seconds_of_each_table(held, run):
    told = run("maintain", "--json")
    assert told.code == 0, told.err
    assert told.json["status"] == "complete"
    assert {row["table"] for row in told.json["tables"]} == set(Lake(held).versions())
    for row in told.json["tables"]:
        assert {"files_before", "files_after", "bytes_before", "bytes_after", "versions_kept", "versions_removed"} <= {
            *row
        }
        assert row["seconds"] >= 0
        assert row["failure"] == ""
    assert run("sql", "SELECT count(*) AS n FROM papers", "--json").json == [{"n": 10}]


def test_a_dry_run_changes_nothing_and_says_what_would_be(held, run):
    lake = Lake(held)
    for _ in range(3):
        lake.replace("papers", lake.read("papers"), None)
    before = {str(p): p.read_bytes() for p in held.rglob("*") if p.is_file()}
    would = run("maintain", "--dry-run", "--grace", "0", "--json").json
    assert {str(p): p.read_bytes() for p in held.rglob("*") if p.is_file()} == before
    row = _named(would, "papers")
    assert row["versions_removed"] == 3
    assert "would be freed" in run("maintain", "--dry-run", "--grace", "0").out
    done = run("maintain", "--grace", "0", "--json").json
    assert _named(done, "papers")["bytes_after"] == row["bytes_after"] < row["bytes_before"]
    assert _named(done, "papers")["versions_removed"] == 3


def test_within_the_grace_nothing_is_removed(held, run):
    lake = Lake(held)
    for _ in range(3):
        lake.replace("papers", lake.read("papers"), None)
    assert _named(run("maintain", "--json").json, "papers")["versions_removed"] == 0
    assert _named(run("maintain", "--grace", "0", "--json").json, "papers")["versions_removed"] == 3
    assert run("maintain", "--grace", "-1").code == 2


def test_what_is_left_undone_is_listed_and_exit_is_3(held, run, monkeypatch):
    from corpus.tables import LostRace

    def lose(self, name):
        raise LostRace("another writer kept winning the race for table " + name)

    monkeypatch.setattr(Lake, "compact", lose)
    told = run("maintain", "--json")
    assert told.code == 3
    assert told.json["status"] == "partial"
    assert {f["item"] for f in told.json["failures"]} == set(Lake(held).versions())
    assert "Left undone: papers: another writer kept winning" in told.err


def test_an_empty_home_is_left_alone(home, run):
    told = run("maintain", "--json")
    assert (told.code, told.json["tables"], told.json["index"]) == (0, [], [])
    assert not home.exists()


@pytest.mark.run
def test_as_of_gives_the_rows_of_the_day_after_refreshes_surveys_and_maintenance(
    demo, surveyed, run, tools, sample_records, tmp_path
):
    edition = f"{tools.slug}/surveyforge@{demo.result['edition']}"
    on_the_day = _rows(run)
    assert _rows(run, "--as-of", edition) == on_the_day
    lineage = run("lineage", edition, "--sentence", "1", "--json").json

    # The corpus changes twice, other surveys are made, and upkeep removes what it may in between.
    for n, kept in enumerate((sample_records[:-3], [r for r in sample_records if r["id"][:4] != "2310"])):
        changed = [{**r, "title": f"{r['title']} ({n})"} if i % 3 == 0 else r for i, r in enumerate(kept)]
        mirror = tools.write_mirror(tmp_path / "mirror", changed)
        done = run("refresh", "--source", f"mirror:{mirror}", "--cutoff", "2024-12-31", "--json")
        assert done.code == 0, done.err
        if n == 0:
            done = run("survey", "Dense Retrieval", "--pool", "5", "--json")
            assert done.code == 0, done.err
        done = run("maintain", "--grace", "0", "--json")
        assert done.code == 0, done.err
        assert _rows(run, "--as-of", edition) == on_the_day
    assert any(row["versions_removed"] for row in done.json["tables"])
    assert _rows(run) != on_the_day
    assert run("lineage", edition, "--sentence", "1", "--json").json == lineage
    (other,) = run("sql", "SELECT topic FROM surveys WHERE title = 'Dense Retrieval'", "--json").json
    newer = run("sql", "SELECT title FROM topics", "--as-of", other["topic"], "--json").json
    assert {row["title"] for row in newer} == {"Dense Retrieval", tools.topic}


@pytest.mark.run
def test_maintenance_makes_nothing_stale(demo, surveyed, run, tools):
    before = run("sql", "SELECT * FROM papers ORDER BY paper_id", "--json").json
    assert run("maintain", "--grace", "0").code == 0
    again = run("survey", tools.topic, "--json")
    assert again.code == 0, again.err
    assert (again.json["edition"], again.json["stages_run"]) == (demo.result["edition"], [])
    assert run("sql", "SELECT * FROM papers ORDER BY paper_id", "--json").json == before
    refreshed = run("refresh", "--source", f"mirror:{tools.sample}", "--cutoff", "2025-12-31", "--json")
    assert refreshed.code == 0, refreshed.err
    assert (refreshed.json["rows_changed"], refreshed.json["commits"]) == (0, 0)
    assert len(run("search", "retrieval", "--json").json) >= 5


@pytest.mark.run
def test_a_table_that_an_older_manifest_does_not_name_is_refused_not_guessed(demo, surveyed, run, tools):
    lake = Lake(surveyed)
    row = lake.read("surveys")
    older = row.with_columns(
        pl.col("manifest").list.eval(pl.element().filter(pl.element().struct.field("table") != "arxiv_records"))
    )
    lake.replace("surveys", older, {"topic": tools.slug})
    refused = run("sql", "SELECT count(*) FROM arxiv_records", "--as-of", tools.slug, "--json")
    assert (refused.code, refused.json["error"]["kind"]) == (1, "QueryRefused")
    assert "arxiv_records" in refused.err
    assert run("sql", "SELECT count(*) AS n FROM papers", "--as-of", tools.slug, "--json").json == [{"n": 40}]


@pytest.mark.run
def test_a_table_made_after_the_edition_is_empty_as_of_it_and_editions_are_those_of_then(demo, surveyed, run, tools):
    lake = Lake(surveyed)
    shutil.rmtree(lake.folder("rejected_records"), ignore_errors=True)
    row = lake.read("surveys")
    manifest = [m for m in row["manifest"].item().to_list() if m["table"] != "rejected_records"]
    kept = row.with_columns(pl.Series("manifest", [manifest], row.schema["manifest"]))
    later = kept.with_columns(pl.col("created_at") + timedelta(days=1), edition=pl.lit("later"))
    lake.replace("surveys", pl.concat([kept, later]), {"topic": tools.slug})
    lake.append("rejected_records", _refused())
    edition = f"{tools.slug}/surveyforge@{demo.result['edition']}"
    for table, now, then in (("rejected_records", 1, 0), ("surveys", 2, 1)):
        query = f"SELECT count(*) AS n FROM {table}"
        assert run("sql", query, "--json").json == [{"n": now}]
        assert run("sql", query, "--as-of", edition, "--json").json == [{"n": then}]


def _refused():
    row = {"source": "s", "source_file": "f", "source_line": 1, "raw_id": None, "reason": "r", "raw": "x"}
    row["rejected_at"] = datetime.now(UTC)
    return pl.DataFrame([row], schema=CONTRACTS["rejected_records"].polars_schema)


def test_a_person_reads_what_was_done_and_what_was_not(held, run):
    lake = Lake(held)
    edge = lake.read("citations").head(1)
    for name in ("x", "y"):
        lake.append("citations", edge.with_columns(citing_id=pl.lit(name)))
    first = run("maintain")
    assert "citations  3 files joined into 1" in first.out
    assert "other tables: nothing to do" in first.out
    assert "24 hours ago" in first.out
    second = run("maintain", "--grace", "0")
    assert "versions: " in second.out
    assert "freed" in second.out
    third = run("maintain", "--grace", "0").out
    assert third.splitlines()[0].endswith("tables: nothing to do")
