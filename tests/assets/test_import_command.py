"""`lithouse import`: side data comes in once, says what it refused, and is replaced rather than doubled."""

import json

import pytest


def _write(path, rows):
    path.write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")
    return path


def _edges(run):
    rows = run("sql", "SELECT citing_id, cited_id, sources FROM citations", "--json").json
    return {(r["citing_id"], r["cited_id"]): r["sources"] for r in rows}


def test_citations_come_in_once_and_a_second_import_changes_nothing(held, run, tmp_path):
    before = _edges(run)
    path = _write(
        tmp_path / "edges.jsonl",
        [
            {"citing_id": "2005.11401v4", "cited_id": "arXiv:2004.04906", "note": "x"},
            {"citing_id": "2005.11401", "cited_id": "2005.11401"},
            {"citing_id": "no id", "cited_id": "2004.04906"},
        ],
    )
    first = run("import", "citations", path, "--json")
    assert first.code == 0, first.err
    assert (first.json["added"], first.json["self_loops"], first.json["status"]) == (1, 1, "complete")
    assert [r["line"] for r in first.json["rejected"]] == [3]
    assert first.json["unread_fields"] == ["note"]
    assert set(_edges(run)) - set(before) == {("2005.11401", "2004.04906")}
    versions = run("status", "--json").json["tables"]
    again = run("import", "citations", path, "--json").json
    assert (again["added"], again["changed"], again["removed"]) == (0, 0, 0)
    assert run("status", "--json").json["tables"]["citations"] == versions["citations"]


def test_an_import_takes_back_what_its_file_no_longer_says_and_nothing_else(held, run, tmp_path):
    before = _edges(run)
    path = _write(tmp_path / "edges.jsonl", [{"citing_id": "2005.11401", "cited_id": "2004.04906"}])
    run("import", "citations", path)
    _write(path, [{"citing_id": "2005.11401", "cited_id": "2002.08909"}])
    told = run("import", "citations", path, "--json").json
    assert (told["added"], told["removed"]) == (1, 1)
    assert set(_edges(run)) - set(before) == {("2005.11401", "2002.08909")}
    assert set(before) <= set(_edges(run))


def test_outlines_come_in_as_trees_and_as_numbered_lines(held, run, tmp_path):
    path = _write(
        tmp_path / "outlines.jsonl",
        [
            {"title": "A Survey of Trees", "outline": [{"title": "Roots", "children": [{"title": "Deep"}]}]},
            {"title": "A Survey of Lines", "outline": "1 First\n1.1 Second\n2 Third"},
            {"outline": []},
        ],
    )
    told = run("import", "outlines", path, "--json")
    assert told.code == 0, told.err
    assert told.json["added"] > 0
    assert len(told.json["rejected"]) == 1
    rows = run("sql", "SELECT title, heading, level FROM human_outlines ORDER BY title, position", "--json")
    assert rows.code == 0, rows.err
    told_rows = [(r["title"], r["heading"], r["level"]) for r in rows.json]
    assert ("A Survey of Trees", "Deep", 2) in told_rows
    assert ("A Survey of Lines", "Second", 2) in told_rows
    assert run("import", "outlines", path, "--json").json["added"] == 0


def test_a_damaged_side_file_is_partial_and_takes_nothing_away(held, run, tmp_path):
    before = _edges(run)
    path = tmp_path / "edges.jsonl.gz"
    path.write_bytes(b"\x1f\x8b\x08\x00 not a gzip stream")
    told = run("import", "citations", path, "--json")
    assert told.code == 3
    assert told.json["status"] == "partial"
    assert _edges(run) == before


@pytest.mark.run
def test_papers_from_elsewhere_become_papers_and_are_found(small, run, tmp_path):
    path = _write(
        tmp_path / "more.jsonl",
        [
            {
                "id": "2401.15884",
                "title": "Corrective Retrieval of Zebras",
                "abstract": "Zebras are retrieved. Correctly.",
                "authors": ["Ada Lovelace"],
                "published": "2024-01-29",
                "color": "striped",
            },
            {"title": "No id at all"},
        ],
    )
    told = run("import", "papers", path, "--json")
    assert told.code == 0, told.err
    assert (told.json["added"], told.json["status"]) == (1, "complete")
    assert told.json["unread_fields"] == ["color"]
    assert len(told.json["rejected"]) == 1
    found = run("paper", "2401.15884", "--json").json
    assert found["title"] == "Corrective Retrieval of Zebras"
    assert found["sources"] == [f"import:{path}"]
    assert run("search", "zebras", "--json").json[0]["paper_id"] == "2401.15884"
    again = run("import", "papers", path, "--json").json
    assert (again["added"], again["changed"]) == (0, 0)
    assert run("sql", "SELECT count(*) AS n FROM papers", "--json").json == [{"n": 11}]
