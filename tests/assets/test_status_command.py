"""`lithouse status`: what is fresh, what is stale, and because of which papers."""

import pytest

pytestmark = pytest.mark.run


def _surveys(run):
    return {s["topic"]: s for s in run("status", "--json").json["surveys"]}


def _summary(run, sample_records, tools, tmp_path, paper_id, abstract):
    """A refresh from another mirror, harvested later, in which one paper has another abstract."""
    record = next(r for r in sample_records if r["id"] == paper_id)
    mirror = tools.write_mirror(tmp_path / "news", [{**record, "abstract": abstract}])
    return run("refresh", "--source", f"mirror:{mirror}", "--cutoff", "2024-12-31", "--json")


def test_or09_a_changed_paper_makes_stale_the_survey_whose_pool_holds_it_and_says_which(
    surveyed, run, tools, tmp_path, sample_records, demo
):
    assert _surveys(run)[tools.slug]["state"] == "fresh"
    held = {row["month"]: row["papers"] for row in run("status", "--json").json["months"]}
    assert sum(held.values()) == 40
    frozen = run("survey", "Retrieval evaluation", "--cutoff", "2023-12-31", "--pool", "10", "--json")
    assert frozen.code == 0, frozen.err
    papers = run("sql", f"SELECT paper_id FROM topic_pool WHERE topic = '{tools.slug}'", "--json").json
    # Later than the other topic's cutoff: a paper that it sees may change its pool without being in it.
    wanted = min(r["paper_id"] for r in papers if r["paper_id"] >= "2401")

    abstract = "Retrieval-augmented generation is reconsidered. We show that passages matter. Results improve by 9%."
    told = _summary(run, sample_records, tools, tmp_path, wanted, abstract)
    assert told.code == 0, told.err
    assert (told.json["rows_added"], told.json["rows_changed"]) == (0, 1)

    after = _surveys(run)
    assert after[tools.slug]["state"] == "stale"
    assert after[tools.slug]["cause"] == f"1 changed: {wanted}"
    other = after[frozen.json["slug"]]
    assert (other["state"], other["cause"]) == ("fresh", "")
    assert f"stale: 1 changed: {wanted}" in run("status").out

    again = run("survey", tools.slug, "--json")
    assert again.code == 0, again.err
    assert again.json["edition"] != demo.result["edition"]
    assert _surveys(run)[tools.slug]["state"] == "fresh"
    # The edition before is still there, and still reads what it read.
    old = f"{tools.slug}/surveyforge@{demo.result['edition']}"
    assert run("lineage", old, "--json").json["id"] == old
    query = f"SELECT abstract FROM papers WHERE paper_id = '{wanted}'"
    before = run("sql", query, "--as-of", old, "--json").json[0]["abstract"]
    assert before != run("sql", query, "--json").json[0]["abstract"] == abstract


def test_a_paper_that_enters_the_pool_is_named_and_one_off_the_topic_changes_nothing(
    small, run, tools, tmp_path, sample_records
):
    done = run("survey", "Retrieval-augmented generation", "--json")
    assert done.code == 0, done.err
    far = {
        "id": "2312.00001",
        "title": "Glueballs on the lattice",
        "abstract": "Gluonic spectra are computed on anisotropic lattices. Masses of glueballs are given in MeV.",
        "authors": "Ada Lovelace",
        "versions": [{"version": "v1", "created": "Fri, 1 Dec 2023 10:00:00 GMT"}],
    }
    mirror = tools.write_mirror(tmp_path / "far", [far])
    assert run("refresh", "--source", f"mirror:{mirror}", "--cutoff", "2024-12-31").code == 0
    assert _surveys(run)[done.json["slug"]]["state"] == "fresh"
    assert run("survey", "Retrieval-augmented generation", "--json").json["stages_run"] == []

    near = next(r for r in sample_records if r["id"] == "2401.15884")
    mirror = tools.write_mirror(tmp_path / "near", [near])
    assert run("refresh", "--source", f"mirror:{mirror}", "--cutoff", "2024-12-31").code == 0
    state = _surveys(run)[done.json["slug"]]
    assert (state["state"], state["cause"]) == ("stale", "1 entered: 2401.15884")


def test_a_paper_that_the_source_takes_back_leaves_pool_and_next_survey(home, run, tools, tmp_path, sample_records):
    records = [r for r in sample_records if r["id"][:4] in ("2309", "2310", "2311")]
    mirror = tools.write_mirror(tmp_path / "mirror", records)
    source = ("refresh", "--source", f"mirror:{mirror}", "--cutoff", "2024-12-31", "--json")
    assert run(*source).code == 0
    assert run("survey", "Retrieval-augmented generation", "--json").code == 0
    gone = records[3]["id"]
    tools.write_mirror(mirror, [r for r in records if r["id"] != gone])
    assert run(*source).json["rows_removed"] == 1
    assert run("paper", gone, "--json").json["error"]["kind"] == "PaperNotFound"
    [state] = _surveys(run).values()
    assert (state["state"], state["cause"]) == ("stale", f"1 left: {gone}")
    told = run("survey", "Retrieval-augmented generation", "--json")
    assert told.code == 0, told.err
    assert gone not in {*told.json["references"], *told.json["consulted"]}
