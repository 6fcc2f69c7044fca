"""`lithouse outline` and `survey --outline`: the outline a person edits is what the survey follows."""

import pytest

pytestmark = pytest.mark.run

POOL = ("--pool", "12")


def headings(run, edition: str) -> list[tuple[str, str, str]]:
    query = f"SELECT number, title, author FROM outlines WHERE edition = '{edition}' ORDER BY position"
    return [(r["number"], r["title"], r["author"]) for r in run("sql", query, "--json").json]


def test_an_edited_outline_is_followed_stored_with_its_author_and_another_edition(surveyed, run, demo, tmp_path):
    slug = demo.result["slug"]
    printed = run("outline", demo.result["topic"])
    assert printed.code == 0, printed.err
    before = run("outline", slug, "--json").json
    assert before["markdown"] == printed.out
    assert (before["author"], before["edition"]) == ("method", demo.result["edition"])
    body = [n for n in before["nodes"] if n["role"] == "body" and "." not in n["number"]]
    kept = body[-1]
    file = tmp_path / "mine.md"
    file.write_text(
        f"Some stray words.\n<!-- from {slug}/surveyforge@{demo.result['edition']} -->\n# What This Is\nrole: introduction\n"
        f"# {kept['title']}\n# Robustness to noise\nabout: irrelevant passages; attacks\n# {body[0]['title']}\n",
        encoding="utf-8",
    )
    told = run("survey", slug, "--outline", file, "--json")
    assert told.code == 0, told.err
    assert "mine.md: line 1 is not read: Some stray words." in told.err
    assert told.json["edition"] != demo.result["edition"]
    found = headings(run, told.json["edition"])
    assert {author for _, _, author in found} == {"person"}
    titles = [title for _, title, _ in found]
    assert titles[:4] == ["What This Is", kept["title"], "Robustness to noise", body[0]["title"]]
    assert titles[4:] == ["Open Problems", "Conclusion"]
    nodes = {n["title"]: n for n in run("outline", slug, "--json").json["nodes"]}
    assert nodes[kept["title"]]["papers"] == kept["papers"], "a kept heading keeps its papers"
    assert nodes["Robustness to noise"]["papers"] > 0
    assert nodes["Robustness to noise"]["queries"] == ["irrelevant passages", "attacks"]
    assert nodes["Robustness to noise"]["heading_origin"] == "person"
    printed = run("export", slug, "--to", tmp_path / "out", "--format", "md")
    assert printed.code == 0
    text = (tmp_path / "out" / f"{slug}.md").read_text(encoding="utf-8")
    assert "## 1. What This Is" in text

    again = run("survey", slug, "--outline", file, "--json").json
    assert (again["stages_run"], again["edition"]) == ([], told.json["edition"])
    assert headings(run, demo.result["edition"]), "the edition before is untouched"
    states = {s["edition"]: s["state"] for s in run("status", "--json").json["surveys"]}
    assert states == {told.json["edition"]: "fresh"}


def test_a_topic_without_a_survey_gets_its_outline_and_no_more(small, run):
    told = run("outline", "retrieval", *POOL, "--json")
    assert told.code == 0, told.err
    assert told.json["nodes"][0]["role"] == "introduction"
    assert run("sql", "SELECT count(*) AS n FROM surveys", "--json").json == [{"n": 0}]
    assert run("sql", "SELECT count(*) AS n FROM survey_sentences", "--json").json == [{"n": 0}]
    again = run("outline", "retrieval", *POOL, "--json").json
    assert (again["edition"], again["markdown"]) == (told.json["edition"], told.json["markdown"])
    named = run("outline", f"{told.json['slug']}/surveyforge", "--json").json
    assert (named["slug"], named["edition"]) == (told.json["slug"], told.json["edition"]), "a key, no title"
    done = run("survey", "retrieval", *POOL, "--json").json
    assert done["edition"] == told.json["edition"]
    assert "outline" not in done["stages_run"], "what is done is not done again"


def test_an_outline_that_cannot_be_used_stops_before_anything_is_done(small, run, tmp_path):
    file = tmp_path / "bad.md"
    file.write_text("# A\n## B\n### C\n# A\n", encoding="utf-8")
    told = run("survey", "retrieval", "--outline", file, "--json")
    assert (told.code, told.json["error"]["kind"]) == (1, "BadOutline")
    assert "line 3" in told.json["error"]["which"]
    assert "line 4" in told.json["error"]["which"]
    assert run("sql", "SELECT count(*) AS n FROM topic_pool", "--json").json == [{"n": 0}]
    assert run("survey", "retrieval", "--outline", tmp_path / "none.md").code == 2
    assert run("outline", "no-such/surveyforge@abc").code == 1
