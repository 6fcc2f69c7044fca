"""`lithouse lineage`: from a survey, a section and a sentence down to characters, lines of files, versions and runs."""

import hashlib
import unicodedata

import pytest

pytestmark = pytest.mark.run


def _nodes(tree, kind):
    found = [tree] if tree["kind"] == kind else []
    return found + [n for child in tree["children"] for n in _nodes(child, kind)]


@pytest.fixture(scope="module")
def ask(demo, tools):
    return lambda *arguments: tools.lithouse(demo.home, "lineage", tools.slug, *arguments, "--json")


@pytest.fixture(scope="module")
def sentences(demo):
    from corpus.tables import Lake

    rows = Lake(demo.home).read("survey_sentences", topic=demo.result["slug"], edition=demo.result["edition"])
    return rows.sort("number").to_dicts()


def test_a_survey_leads_to_its_sections_tables_and_run(demo, ask, sentences):
    from assets.instance import open_instance

    tree = ask().json
    assert tree["id"] == f"{demo.result['slug']}/surveyforge@{demo.result['edition']}"
    assert len([n for n in _nodes(tree, "section") if "." not in n["id"]]) == demo.result["sections"]
    assert sum(n["detail"]["sentences"] for n in _nodes(tree, "section")) == len(sentences)
    versions = {n["id"]: n["detail"]["version"] for n in _nodes(tree, "table")}
    assert versions == demo.result["manifest"]
    [run] = _nodes(tree, "run")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("LITHOUSE_HOME", "LITHOUSE_DAGSTER_STORAGE", "DAGSTER_HOME"):
            patch.setenv(name, "")
        with open_instance(demo.home) as instance:
            held = instance.get_run_by_id(run["id"])
            assert held.is_success


def test_every_section_can_be_asked_for_by_its_printed_number(ask, sentences):
    told = 0
    for number in dict.fromkeys(s["section"] for s in sentences):
        tree = ask("--section", number).json
        assert (tree["kind"], tree["id"]) == ("section", number)
        told += len(_nodes(tree, "sentence"))
    assert told == len(sentences)
    refused = ask("--section", "99")
    assert (refused.code, refused.json["error"]["kind"]) == (1, "NotFound")
    assert "Sections: 1, " in refused.err


def test_a_sentence_that_is_not_there_says_how_many_there_are(ask, sentences):
    refused = ask("--sentence", str(len(sentences) + 1))
    assert (refused.code, refused.json["error"]["kind"]) == (1, "NotFound")
    assert str(len(sentences)) in refused.err
    assert ask("--sentence", "0").json["error"]["kind"] == "BadInput"


def test_every_sentence_from_a_paper_is_rebuilt_from_the_stored_characters(demo, sentences):
    from corpus.tables import Lake
    from generation.extractive.adaptation import rebuild
    from generation.values import Edit

    lake, manifest = Lake(demo.home), demo.result["manifest"]
    abstracts = dict(lake.read("papers", version=manifest["papers"]).select("paper_id", "abstract").iter_rows())
    passages = dict(lake.read("passages", version=manifest["passages"]).select("passage_id", "text").iter_rows())
    taken = [s for s in sentences if s["kind"] in ("quoted", "adapted")]
    assert len(taken) > len(sentences) / 2
    for sentence in taken:
        [span] = sentence["spans"]
        whole = passages[span["passage_id"]] if span["source"] == "passage" else abstracts[span["paper_id"]]
        text = whole[span["start"] : span["end"]]
        assert rebuild(text, [Edit(**e) for e in sentence["edits"]]) == sentence["text"]
        assert span["paper_id"] in sentence["cited_ids"]
        if sentence["kind"] == "quoted":
            assert text == sentence["text"]


def test_a_sentence_leads_down_to_the_line_of_the_file_that_holds_its_paper(
    demo, ask, sentences, tools, sample_records
):
    whole = hashlib.sha256((tools.sample / "metadata.jsonl").read_bytes()).hexdigest()
    taken = [s for s in sentences if s["kind"] in ("quoted", "adapted") and s["spans"][0]["source"] == "abstract"]
    for sentence in taken[:: max(1, len(taken) // 6)]:
        tree = ask("--sentence", str(sentence["number"])).json
        assert tree["label"] == sentence["text"]
        [span] = _nodes(tree, "span")
        [paper] = _nodes(tree, "paper")
        [record] = _nodes(tree, "record")
        [file] = _nodes(tree, "source file")
        [harvest] = _nodes(tree, "harvest")
        assert paper["id"] == sentence["spans"][0]["paper_id"]
        assert span["detail"]["characters"] == [sentence["spans"][0]["start"], sentence["spans"][0]["end"]]
        raw = sample_records[file["detail"]["line"] - 1]
        assert raw["id"] == paper["id"]
        assert file["id"] == "metadata.jsonl"
        assert file["detail"]["sha256"] == whole
        assert span["detail"]["text"] in " ".join(raw["abstract"].split())
        assert record["detail"]["gave_the_abstract"] is True
        assert span["detail"]["abstract_origin"] == "summary by the project"
        assert harvest["detail"]["cutoff"] == "2024-12-31"
        assert _nodes(tree, "run")[0]["id"] == _nodes(ask().json, "run")[0]["id"]


def test_a_sentence_of_the_full_text_leads_down_to_the_page_and_the_file(demo, ask, sentences, tools):
    import pypdfium2

    taken = [s for s in sentences if s["spans"] and s["spans"][0]["source"] == "passage"]
    assert len({s["spans"][0]["paper_id"] for s in taken}) == 2
    for sentence in taken:
        tree = ask("--sentence", str(sentence["number"])).json
        [span] = _nodes(tree, "span")
        [document] = _nodes(tree, "document")
        [paper] = _nodes(tree, "paper")
        path = tools.sample / document["detail"]["file"]
        assert document["id"] == hashlib.sha256(path.read_bytes()).hexdigest()
        assert document["detail"]["parser"].startswith("docvortex ")
        assert path.name == f"{paper['id']}v{document['detail']['version']}.pdf"
        # The words stand on the page that the lineage names, or run over to the next one.
        pages = [page.get_textpage().get_text_bounded() for page in pypdfium2.PdfDocument(path)]
        here = "".join(pages[span["detail"]["page"] - 1 : span["detail"]["page"] + 1])
        assert _letters(span["detail"]["text"]) in _letters(here)
        assert span["detail"]["section"]


def _letters(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKC", text) if c.isalnum())


def test_every_sentence_is_of_a_kind_with_its_evidence(sentences):
    for sentence in sentences:
        assert sentence["kind"] in ("quoted", "adapted", "composed")
        assert bool(sentence["spans"]) == (sentence["kind"] != "composed")
        assert bool(sentence["template"]) == (sentence["kind"] == "composed")
        assert bool(sentence["edits"]) == (sentence["kind"] == "adapted")
