"""`lithouse survey`: topics by odd names, forced and repeated runs, what is included and excluded."""

import html
import json
import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.run

POOL = ("--pool", "12")
"""A pool this small is surveyed in a few seconds."""


def _files(home):
    return sorted(p for p in (home / "exports").rglob("*") if p.is_file())


def test_ex04_a_slash_makes_no_folder_and_a_second_run_is_never_glued_on(small, run):
    first = run("survey", "RAG/agents", "--json")
    assert first.code == 0, first.err
    slug = first.json["slug"]
    assert re.fullmatch(r"[a-z0-9-]+", slug)
    assert [p.name for p in (small / "exports").iterdir()] == [slug]
    path = Path(first.json["paths"]["markdown"])
    text, files = path.read_text(encoding="utf-8"), _files(small)
    names = ["flow.svg", "index.html", "references.bib", "survey.md", "taxonomy.svg", "timeline.svg"]
    assert sorted(p.name for p in files) == names

    again = run("survey", "RAG/agents", "--json").json
    assert again["stages_run"] == []
    forced = run("survey", "RAG/agents", "--force", "--json").json
    assert forced["stages_run"] == ["topic_pool", "topic_documents", "paper_cards", "outline", "digests", "survey"]
    assert again["edition"] == forced["edition"] == first.json["edition"]
    assert run("survey", "RAG/agents", "--force=False", "--json").json["stages_run"] == []
    assert path.read_text(encoding="utf-8") == text
    assert _files(small) == files
    counts = "SELECT count(*) AS n, count(DISTINCT number) AS d FROM survey_sentences"
    assert run("sql", counts, "--json").json == [{"n": first.json["sentences"], "d": first.json["sentences"]}]
    assert run("sql", "SELECT count(*) AS n FROM surveys", "--json").json == [{"n": 1}]

    other = run("survey", "RAG agents", "--json").json
    assert other["slug"] != slug, "two titles, two keys"


def test_or04_case_and_blanks_are_one_topic_which_keeps_its_first_title(small, run):
    first = run("survey", "Retrieval Augmented LLM", "--json")
    assert first.code == 0, first.err
    for variant in ("retrieval augmented llm", "  Retrieval   augmented LLM ", "Retrieval-Augmented LLM"):
        told = run("survey", variant, "--json")
        assert told.code == 0, told.err
        assert told.json["stages_run"] == []
        assert told.json["edition"] == first.json["edition"]
        assert told.json["topic"] == "Retrieval Augmented LLM"
    assert run("sql", "SELECT count(*) AS n FROM topics", "--json").json == [{"n": 1}]


def test_or04_a_title_of_300_characters_gives_a_short_key_and_a_survey(small, run):
    title = ("retrieval augmented generation for language models " * 6)[:300].strip("x") + "x"
    told = run("survey", title, *POOL, "--json")
    assert told.code == 0, told.err
    assert len(told.json["slug"]) <= 80
    assert told.json["topic"] == " ".join(title.split())
    assert run("lineage", told.json["slug"], "--json").json["label"] == " ".join(title.split())


def test_a_frozen_topic_sees_nothing_after_its_day_and_a_followed_one_is_another_topic(surveyed, run, demo):
    told = run("survey", demo.result["topic"], "--cutoff", "2023-10", "--json")
    assert told.code == 0, told.err
    assert told.json["slug"] == f"{demo.result['slug']}-2023-10-31"
    assert told.json["cutoff"] == "2023-10-31"
    late = f"""SELECT e.paper_id FROM edition_papers e JOIN papers p USING (paper_id)
        WHERE e.topic = '{told.json["slug"]}' AND p.submitted_latest > DATE '2023-10-31'"""
    assert run("sql", late, "--json").json == []
    assert told.json["references"]
    assert run("survey", told.json["slug"], "--json").json["stages_run"] == []


def test_id08_a_paper_to_include_that_is_not_held_is_a_typed_error(small, run):
    told = run("survey", "retrieval", "--include", "9999.99999", "--json")
    assert told.code == 1
    assert told.json["error"]["kind"] in ("NotFound", "ImpossibleId")
    assert "9999.99999" in told.err
    told = run("survey", "retrieval", "--include", "2101.00001", "--json")
    assert (told.code, told.json["error"]["kind"]) == (1, "NotFound")
    assert "2101.00001" in told.err
    assert run("sql", "SELECT count(*) AS n FROM surveys", "--json").json == [{"n": 0}]


def test_papers_to_include_come_from_a_bib_file_and_reach_the_pool(small, run, tmp_path, small_mirror, tools):
    wanted = [r["id"] for r in tools.read_lines(small_mirror / "metadata.jsonl")][:2]
    bib = tmp_path / "mine.bib"
    bib.write_text("".join(f"@article{{k{i}, eprint = {{{i}}}}}\n" for i in wanted), encoding="utf-8")
    told = run("survey", "retrieval augmented generation", "--include", bib, "--json")
    assert told.code == 0, told.err
    rows = run("sql", "SELECT paper_id FROM topic_pool WHERE reason = 'asked for by the user'", "--json").json
    assert sorted(r["paper_id"] for r in rows) == sorted(wanted)


def test_papers_to_exclude_come_from_a_file_and_the_pool_holds_no_more_than_asked_for(
    small, run, tmp_path, small_mirror, tools
):
    hidden = [r["id"] for r in tools.read_lines(small_mirror / "metadata.jsonl")][:2]
    bib = tmp_path / "not.bib"
    bib.write_text(
        "".join(f"@misc{{{i},\n  url = {{https://arxiv.org/abs/{i}v2}}\n}}\n" for i in hidden), encoding="utf-8"
    )
    told = run("survey", "retrieval augmented generation", "--exclude", bib, "--pool", "5", "--json")
    assert told.code == 0, told.err
    pool = [r["paper_id"] for r in run("sql", "SELECT paper_id FROM topic_pool", "--json").json]
    assert len(pool) == 5
    assert not set(pool) & set(hidden)
    missing = run("survey", "retrieval", "--exclude", tmp_path / "none.bib", "--json")
    assert missing.code == 1
    assert "there is no file" in missing.err


def test_an_excluded_paper_is_hidden_by_id_and_by_title_twin_everywhere(home, run, tools, tmp_path, sample_records):
    paper = next(r for r in sample_records if r["id"] == "2005.11401")
    versions = [{"version": "v1", "created": "Mon, 3 Jun 2024 10:00:00 GMT"}]
    twin = {**paper, "id": "2406.09999", "title": paper["title"].upper().replace(" ", "  "), "versions": versions}
    edges = tools.read_lines(tools.sample / "citations.jsonl")
    edges += [{"citing_id": "2406.09999", "cited_id": e["cited_id"]} for e in edges if e["citing_id"] == "2005.11401"]
    mirror = tools.write_mirror(tmp_path / "mirror", [*sample_records, twin], edges)
    assert run("refresh", "--source", f"mirror:{mirror}", "--cutoff", "2024-12-31").code == 0
    told = run("survey", tools.topic, "--exclude", "arXiv:2005.11401v4", "--json")
    assert told.code == 0, told.err
    hidden = ("2005.11401", "2406.09999")
    assert not set(hidden) & {*told.json["references"], *told.json["consulted"]}
    edition = f"topic = '{told.json['slug']}'"
    for table, column in (("edition_papers", "paper_id"), ("topic_pool", "paper_id"), ("digests", "paper_id")):
        found = run("sql", f"SELECT DISTINCT {column} AS p FROM {table} WHERE {edition}", "--json").json
        assert found, table
        assert not set(hidden) & {r["p"] for r in found}, table
    title = " ".join(paper["title"].lower().split())
    for path in told.json["paths"].values():
        text = " ".join(Path(path).read_text(encoding="utf-8").lower().split())
        # The query behind the number of admitted papers says which ones it leaves out; nothing else may name them.
        text = re.sub(r"and paper_id not in \([^)]*\)", "", html.unescape(text))
        assert not any(i in text for i in hidden), path
        assert title not in text, path
    rows = run("sql", f"SELECT * FROM survey_sentences WHERE {edition}", "--json").json
    spans = [span["paper_id"] for row in rows for span in row["spans"]]
    assert spans
    assert not set(hidden) & set(spans)
    # Edges of what is hidden count for nobody.
    visible = [e for e in edges if not {e["citing_id"], e["cited_id"]} & set(hidden)]
    counts = run("sql", f"SELECT paper_id, citation_count AS n FROM topic_pool WHERE {edition}", "--json").json
    pairs = {(e["citing_id"], e["cited_id"]) for e in visible}
    assert {r["paper_id"]: r["n"] for r in counts} == {
        r["paper_id"]: sum(cited == r["paper_id"] for _, cited in pairs) for r in counts
    }
    both = run("survey", tools.topic, "--exclude", "2005.11401", "--include", "2005.11401", "--json")
    assert (both.code, json.loads(both.out)["error"]["kind"]) == (1, "BadTopic")


def test_a_topic_that_few_headings_fit_is_divided_all_the_same(surveyed, run):
    told = run("survey", "Open-domain question answering", "--json")
    assert told.code == 0, told.err
    assert told.json["sections"] >= 4  # two of the body between introduction and conclusion
