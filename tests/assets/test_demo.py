"""`lithouse demo`, its second run, a second topic, and the objects that `--json` prints."""

import re

import pytest

pytestmark = pytest.mark.run

_SURVEY_KEYS = {
    "topic", "slug", "method", "writer", "edition", "cutoff", "status", "paths", "sections", "sentences", "references",
    "consulted", "failures", "manifest", "tokens", "cost", "seconds",
}  # fmt: skip
_REFRESH_KEYS = {
    "source", "cutoff", "months", "rows_added", "rows_changed", "rows_unchanged", "rejected", "commits", "status",
    "seconds",
}  # fmt: skip
_TOKEN = re.compile(r"\[(@[^\]\s]+(?:; @[^\]\s]+)*)\]")


def _markdown(result):
    with open(result["paths"]["markdown"], encoding="utf-8") as file:
        return file.read()


def _cited(text):
    return [key.removeprefix("@") for group in _TOKEN.findall(text) for key in group.split("; ")]


def _assert_whole(result, run):
    """What holds of any finished survey: tokens, references and keys agree, nothing is said twice, nothing is late."""
    text = _markdown(result)
    with open(result["paths"]["bibtex"], encoding="utf-8") as file:
        keys = re.findall(r"^@\w+\{([^,]+),", file.read(), re.MULTILINE)
    cited = list(dict.fromkeys(_cited(text)))
    assert cited == result["references"]
    assert sorted(keys) == sorted(set(keys)) == sorted(result["references"])
    assert set(result["references"]) <= set(result["consulted"])
    headings = re.findall(r"^#{2,} (.+)$", text, re.MULTILINE)
    assert len(headings) == len({h.lower() for h in headings})
    assert len(re.findall(r"^## (?!References|Bibliography)", text, re.MULTILINE)) == result["sections"]
    edition = f"topic = '{result['slug']}' AND edition = '{result['edition']}'"
    rows = run("sql", f"SELECT text FROM survey_sentences WHERE {edition}", "--json").json
    sentences = [" ".join(r["text"].split()).lower() for r in rows]
    assert len(sentences) == len(set(sentences)) == result["sentences"]
    late = f"""SELECT paper_id FROM edition_papers JOIN papers USING (paper_id)
        WHERE {edition} AND submitted_latest > DATE '{result["cutoff"]}'"""
    assert run("sql", late, "--json").json == []
    assert not re.search(r"(?<!\\)@", _TOKEN.sub("", text)), "an @ that is no citation token"


def test_the_demo_makes_a_whole_survey(demo, tools):
    result = demo.result
    assert result["status"] == "complete"
    assert result["sections"] >= 6
    assert len(result["references"]) >= 25
    assert result["failures"] == []
    _assert_whole(result, lambda *a: tools.lithouse(demo.home, *a))


def test_the_page_of_the_demo_lists_every_reference_and_loads_nothing(demo):
    with open(demo.result["paths"]["html"], encoding="utf-8") as file:
        page = file.read()
    assert all(key in page for key in demo.result["references"])
    assert not re.search(r"""(?:src|href)=["'](?!#|https://(?:arxiv|doi)\.org/|data:)""", page)
    assert not re.search(r"<script[^>]*\ssrc|@import|url\((?!data:)", page), "scripts and styles are in the page itself"


def test_a_second_demo_computes_nothing_and_commits_only_its_harvest(demo, surveyed, run):
    before = run("status", "--json").json["tables"]
    again = run("demo", "--json")
    assert again.code == 0, again.err
    assert again.json["stages_run"] == []
    assert again.json["edition"] == demo.result["edition"]
    assert again.json["references"] == demo.result["references"]
    after = run("status", "--json").json["tables"]
    assert {name for name in after if after[name] != before[name]} == {"harvests"}
    assert after["harvests"]["rows"] == before["harvests"]["rows"] + 1


def test_a_second_topic_over_the_sample_has_sections_of_its_own(demo, surveyed, run):
    told = run("survey", "Dense retrieval for question answering", "--json")
    assert told.code == 0, told.err
    assert told.json["sections"] >= 4
    assert len(told.json["references"]) >= 10
    _assert_whole(told.json, run)
    state = {s["topic"]: s["state"] for s in run("status", "--json").json["surveys"]}
    assert state == {told.json["slug"]: "fresh", demo.result["slug"]: "fresh"}


def test_the_objects_have_the_keys_that_the_design_promises(demo, surveyed, run, tools):
    assert demo.result.keys() >= _SURVEY_KEYS
    assert demo.result["paths"].keys() == {"markdown", "html", "bibtex"}
    assert demo.result["tokens"].keys() == {"input", "output", "cached"}
    again = run("survey", tools.slug, "--json").json
    assert again.keys() >= _SURVEY_KEYS
    assert again["edition"] == demo.result["edition"], "a slug names its topic"
    refreshed = run("refresh", "--source", f"mirror:{tools.sample}", "--cutoff", "2024-12-31", "--json").json
    assert refreshed.keys() >= _REFRESH_KEYS
    assert (refreshed["rows_added"], refreshed["rows_changed"], refreshed["rows_unchanged"]) == (0, 0, 40)
    assert (refreshed["commits"], refreshed["status"], refreshed["rejected"]) == (0, "complete", [])
    hits = run("search", "dense passage retrieval", "-k", "5", "--json").json
    assert len(hits) == 5
    assert all(hit.keys() >= {"paper_id", "title", "submitted_latest", "score"} for hit in hits)
    early = run("search", "dense passage retrieval", "--cutoff", "2020-04", "--json").json
    assert early
    assert all(hit["submitted_latest"] <= "2020-04-30" for hit in early)
    tree = run("lineage", tools.slug, "--json").json
    assert tree.keys() == {"kind", "id", "label", "detail", "children"}
    status = run("status", "--json").json
    assert status.keys() >= {"tables", "months", "surveys"}
    assert all(table.keys() >= {"version", "rows"} for table in status["tables"].values())
    assert all(s.keys() >= {"topic", "method", "state", "cause"} for s in status["surveys"])


def test_lm06_a_topic_without_evidence_fails_and_leaves_no_survey(surveyed, run, tools):
    told = run("survey", "lattice quantum chromodynamics glueballs", "--json")
    assert told.code == 1
    assert told.json["error"]["kind"] == "NoEvidence"
    assert "lattice quantum chromodynamics glueballs" in told.err
    assert "refresh a source" in told.err.lower()
    for table in ("surveys", "survey_sentences", "survey_sections", "outlines", "edition_papers", "topic_pool"):
        where = f"SELECT count(*) AS n FROM {table} WHERE topic <> '{tools.slug}'"
        assert run("sql", where, "--json").json == [{"n": 0}], table
    assert [p.name for p in (surveyed / "exports").iterdir()] == [tools.slug]


def test_the_real_command_starts_and_answers(process, home):
    told = process("status")
    assert told.code == 0
    assert "Nothing yet" in told.out
    assert process("nosuch").code == 2
    refused = process("sql", "SET threads = 1", "--json")
    assert (refused.code, refused.json["error"]["kind"]) == (1, "QueryRefused")
