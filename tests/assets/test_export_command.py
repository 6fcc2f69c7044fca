"""`lithouse export`: from any folder into a new one, as the edition was written, what cannot be made is told."""

import json
import os
from pathlib import Path

import polars as pl
import pytest

from generation import exporting
from generation.exporting import FORMATS
from generation.rendering import RenderingFailed

pytestmark = pytest.mark.run


def test_ex03_every_format_from_another_working_folder_into_one_not_there_yet(
    surveyed, run, demo, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    told = run("export", demo.result["topic"], "--to", "new/folder", "--json")
    assert told.code == 0, told.err
    result = told.json
    assert [f["format"] for f in result["files"] if f["format"] != "picture"] == list(FORMATS)
    assert (result["edition"], result["status"], result["not_made"]) == (demo.result["edition"], "complete", [])
    for file in result["files"]:
        path = Path(file["path"])
        assert path.is_relative_to(tmp_path / "new" / "folder")
        assert path.stat().st_size == file["bytes"] > 100
        assert path.name.startswith(demo.result["slug"])
    bib = (tmp_path / "new" / "folder" / f"{demo.result['slug']}.bib").read_text(encoding="utf-8")
    assert bib == Path(demo.result["paths"]["bibtex"]).read_text(encoding="utf-8")
    page = (tmp_path / "new" / "folder" / f"{demo.result['slug']}.html").read_text(encoding="utf-8")
    assert page.count("</html>") == 1


def test_ex04_a_second_export_replaces_and_adds_nothing(surveyed, run, demo, tmp_path):
    arguments = ("export", f"{demo.result['slug']}/surveyforge", "--to", tmp_path / "out", "--format", "md,bib")
    assert run(*arguments).code == 0
    before = {p: p.read_bytes() for p in (tmp_path / "out").rglob("*") if p.is_file()}
    again = run(*arguments)
    assert again.code == 0
    assert {p: p.read_bytes() for p in (tmp_path / "out").rglob("*") if p.is_file()} == before
    assert before
    assert "md " in again.out


def test_an_edition_is_exported_as_it_was_written_though_the_corpus_has_changed(surveyed, run, demo, tmp_path):
    from corpus.tables import Lake

    lake = Lake(surveyed)
    cited = demo.result["references"][0]
    papers = lake.scan("papers").collect()
    changed = pl.when(pl.col("paper_id") == cited).then(pl.lit("Another Title")).otherwise(pl.col("title"))
    lake.replace("papers", papers.with_columns(changed.alias("title")), None)
    name = f"{demo.result['slug']}/surveyforge@{demo.result['edition']}"
    assert run("export", name, "--to", tmp_path, "--format", "bib,csl").code == 0
    text = (tmp_path / f"{demo.result['slug']}.bib").read_text(encoding="utf-8")
    assert "Another Title" not in text
    assert cited in {i["id"] for i in json.loads((tmp_path / f"{demo.result['slug']}.csl.json").read_text("utf-8"))}


def test_ex03_a_missing_tool_is_told_with_advice_and_the_rest_is_made(surveyed, run, demo, tmp_path, monkeypatch):
    def missing(*_arguments, **_options):
        raise RenderingFailed(
            "typst, which sets the pages, is not installed", advice="Install it with `pip install typst`."
        )

    monkeypatch.setattr(exporting, "typeset", missing)
    told = run("export", demo.result["slug"], "--to", tmp_path, "--format", "pdf,bib,md", "--json")
    assert told.code == 3
    assert told.json["status"] == "partial"
    assert "pdf" in {n["format"] for n in told.json["not_made"]}
    assert "bib" in {f["format"] for f in told.json["files"]}
    assert all(n["reason"] and n["advice"] for n in told.json["not_made"])
    assert "pip install typst" in told.err


@pytest.mark.parametrize("formats", ["md,odt", "", ","])
def test_an_unknown_format_is_wrong_usage_and_names_those_there_are(run, tmp_path, formats):
    told = run("export", "anything", "--to", tmp_path / "x", "--format", formats)
    assert told.code == 2
    assert "md,html,tex,pdf,docx,bib,csl,ris" in told.err
    assert not (tmp_path / "x").exists()


def test_a_survey_there_is_none_of_and_a_place_that_is_no_folder_are_refused(surveyed, run, demo, tmp_path):
    told = run("export", "no such survey", "--to", tmp_path / "x", "--json")
    assert (told.code, told.json["error"]["kind"]) == (1, "NotFound")
    assert not (tmp_path / "x").exists()
    told = run("export", demo.result["slug"], "--to", surveyed / "tables" / "x")
    assert told.code == 1
    assert not os.path.exists(surveyed / "tables" / "x")
    (tmp_path / "file").write_text("x", encoding="utf-8")
    assert run("export", demo.result["slug"], "--to", tmp_path / "file").code == 2
