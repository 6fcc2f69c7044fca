"""`lithouse refresh`: snapshots, what is told, and that nothing is done again."""

import json


def write(path, records) -> None:
    path.write_text("".join(json.dumps(r) + "\n" for r in records), encoding="utf-8")


def test_a_snapshot_is_refreshed_and_its_other_files_are_named(run, home, sample_records, tmp_path) -> None:
    write(tmp_path / "papers.jsonl", sample_records)
    write(tmp_path / "labels.jsonl", [{"id": "2310.06825", "label": "x"}])
    told = run("refresh", "--source", f"snapshot:{tmp_path}", "--cutoff", "2026-12-31", "--json")
    assert told.code == 0
    assert told.json["rows_added"] == 40
    assert told.json["skipped_files"] == [{"file": "labels.jsonl", "reason": "holds no title"}]
    assert told.json["source"] == f"snapshot:{tmp_path}"
    again = run("refresh", "--source", f"snapshot:{tmp_path}", "--cutoff", "2026-12-31")
    assert "0 added, 0 changed, 40 unchanged" in again.out
    assert "0 commits" in again.out
    assert "skipped labels.jsonl: holds no title" in again.out


def test_a_refresh_that_changes_nothing_starts_no_run_and_adds_its_row(run, home, small_mirror) -> None:
    arguments = ("refresh", "--source", f"mirror:{small_mirror}", "--cutoff", "2023-12-31", "--json")
    first, again = run(*arguments).json, run(*arguments).json
    assert len(first["runs"]) == 1
    assert (again["runs"], again["commits"], again["months_changed"]) == ([], 0, [])
    assert again["months"] == first["months"]
    rows = run("sql", "SELECT commit_count, as_of, records_version FROM harvests ORDER BY started_at", "--json").json
    assert [r["commit_count"] > 0 for r in rows] == [True, False]
    assert rows[0]["records_version"] == rows[1]["records_version"]
    assert rows[0]["as_of"] is not None


def test_an_unknown_form_of_source_says_which_there_are(run, home) -> None:
    told = run("refresh", "--source", "ftp:somewhere", "--cutoff", "2026-12-31")
    assert told.code == 1
    assert "mirror:PATH, snapshot:PATH or import:PATH" in told.err
