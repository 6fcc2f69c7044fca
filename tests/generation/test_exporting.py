"""Every format from one survey, read back by a program that is not ours."""

import json
import re
import shutil
import subprocess
from dataclasses import replace
from datetime import UTC, datetime

import pypandoc
import pypdfium2
import pytest

from generation import captions, exporting, rendering
from generation.exporting import FORMATS, export, formats_named
from generation.page import PageFacts
from generation.rendering import RenderingFailed
from generation.reprinting import Reprint
from generation.values import SectionDraft, Sentence, StatedRow, Survey
from ingestion.errors import BadInput

SLUG = "rag"
FACTS = PageFacts(SLUG, "e1", "surveyforge", "extractive", "2024-03-31", 10, 5, 3, False, ())
HARD = "R&D of 50% x_1 #2 $k$-NN"
FLOW = Sentence(
    "composed", captions.FLOW, template=captions.FLOW, place="caption",
    rows=tuple(StatedRow(n, str(9 - i)) for i, n in enumerate(["identified", "admitted", "pool", "consulted", "cited"])),
)  # fmt: skip
TABLE = Sentence(
    "composed", "Works of Section 1 side by side.", template=captions.COMPARISON, place="caption",
    rows=(StatedRow("section", "1"), StatedRow("column", "Work"), StatedRow("column", "Year"), StatedRow("column", "Aim")),
)  # fmt: skip
ROW = Sentence(
    "composed", "a | b of 5% @home", ("2005.00002",), rows=(StatedRow("work", "Lee_2 | Co"), StatedRow("year", "2020")),
    place="table",
)  # fmt: skip


@pytest.fixture
def edition(make_paper):
    """An edition of three papers whose fields hold all that formats stumble over."""
    papers = (
        make_paper("2005.00001", title=HARD, authors=("Conan O'Neil", "Søn & Co_x"), journal_ref="A &amp; B 7 (2021)",
                   doi="10.1000/ABC_1%2F"),
        make_paper("2005.00002", authors=("A. Lee",), title="Costs $5 and $6"),
        make_paper("hep-th/9901001", authors=None, collaborations=("The Example Collaboration",)),
    )  # fmt: skip
    first = Sentence("composed", f"It is about {HARD} & e@mail.org [0,1].", ("2005.00001",))
    sections = (
        SectionDraft("1", "Introduction", ((first,), (FLOW,), (TABLE, ROW))),
        SectionDraft(
            "1.1", "Parts & wholes", ((Sentence("composed", "All of it.", ("hep-th/9901001", "2005.00001")),),)
        ),
    )
    survey = Survey("A “title” & more", sections)
    return Reprint(survey, papers, FACTS, {}, (), datetime(2026, 1, 1, tzinfo=UTC))


def exported(edition, folder, *formats):
    done = export(edition, folder, formats or tuple(FORMATS))
    assert not done.not_made
    return {m.format: m.path for m in done.made}


def plain(path, source):
    return pypandoc.convert_file(str(path), "plain", format=source, extra_args=["--wrap=none"])


def pdf_text(path):
    with pypdfium2.PdfDocument(path) as pdf:
        return " ".join(" ".join(page.get_textpage().get_text_range() for page in pdf).split())


def test_ex03_one_command_makes_every_format_in_a_folder_not_there_yet(edition, tmp_path):
    folder = tmp_path / "a" / "b"
    made = exported(edition, folder)
    assert set(made) == {*FORMATS, "picture"}
    assert {p.name for p in folder.iterdir()} == {f"{SLUG}{end}" for end in FORMATS.values()} | {"pictures"}
    assert {p.name for p in (folder / "pictures").iterdir()} == {"rag-flow.svg", "rag-flow.pdf"}
    assert all(p.stat().st_size > 100 for p in made.values())


@pytest.mark.run
def test_ex04_a_second_export_replaces_the_first_and_leaves_nothing_beside(edition, tmp_path):
    exported(edition, tmp_path)
    before = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    exported(edition, tmp_path)
    after = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    assert before.keys() == after.keys()
    assert all(before[p] == after[p] for p in before if p.suffix != ".docx")  # Word's files bear the time


@pytest.mark.parametrize(("form", "source"), [("md", "markdown"), ("tex", "latex"), ("docx", "docx")])
def test_ex01_special_characters_and_math_come_through(edition, tmp_path, form, source):
    text = plain(exported(edition, tmp_path, form)[form], source)
    text = text.replace("a b of", "a | b of").replace("Lee_2 Co", "Lee_2 | Co")  # pandoc's reader knows no \textbar
    for part in ("R&D of 50% x_1 #2", "-NN & e@mail.org [0,1]", "a | b of 5% @home", "Lee_2 | Co", "Parts & wholes"):
        assert part in text
    assert "$k$" not in text, "math is math"


def test_ex01_the_pdf_shows_what_the_rows_say(edition, tmp_path):
    text = pdf_text(exported(edition, tmp_path, "pdf")["pdf"])
    for part in ("R&D of 50% x_1 #2", "e@mail.org", "A & B 7 (2021)", "Costs $5 and $6", "O’Neil",
                 "https://doi.org/10.1000/ABC_1%2F", "https://arxiv.org/abs/2005.00001", "[1]", "All of it"):  # fmt: skip
        assert part.replace(" ", "") in text.replace(" ", ""), part
    assert "&amp;" not in text


def test_ex01_the_bibliography_is_escaped_once_with_raw_links(edition, tmp_path):
    made = exported(edition, tmp_path, "bib", "csl", "ris")
    bib = made["bib"].read_text(encoding="utf-8")
    assert r"{R\&D of 50\% x\_1 \#2 $k$-NN}" in bib
    assert "doi = {10.1000/ABC_1%2F}" in bib
    assert r"journal = {A \& B 7 (2021)}" in bib
    items = {i["id"]: i for i in json.loads(made["csl"].read_text(encoding="utf-8"))}
    assert items["2005.00001"]["title"] == HARD
    assert items["2005.00001"]["container-title"] == "A & B 7 (2021)"
    assert items["2005.00001"]["issued"] == {"date-parts": [[2021]]}, "the year of the version of record"
    assert items["2005.00001"]["URL"] == "https://arxiv.org/abs/2005.00001"
    assert items["2005.00002"]["type"] == "article"
    again = json.loads(pypandoc.convert_file(str(made["ris"]), "csljson", format="ris"))
    read = {i["id"]: i for i in again}
    assert read.keys() == items.keys()
    assert read["2005.00001"]["DOI"] == "10.1000/ABC_1%2F"
    assert read["2005.00001"]["author"][0] == {"family": "O’Neil", "given": "Conan"}
    assert "author" in read["hep-th/9901001"]


def test_ex02_keys_are_the_ids_in_every_export(edition, tmp_path):
    made = exported(edition, tmp_path, "md", "tex", "bib", "csl", "ris")
    text = {name: path.read_text(encoding="utf-8") for name, path in made.items() if name != "picture"}
    ids = {"2005.00001", "2005.00002", "hep-th/9901001"}
    assert set(re.findall(r"@([\w./-]+\w)", text["md"].replace(r"\@", ""))) == ids
    assert {k for m in re.findall(r"\\(?:auto)?cite[a-z]*\{([^}]+)\}", text["tex"]) for k in m.split(",")} == ids
    assert set(re.findall(r"^@\w+\{([^,]+),", text["bib"], re.MULTILINE)) == ids
    assert {i["id"] for i in json.loads(text["csl"])} == ids
    assert set(re.findall(r"^ID  - (.+)$", text["ris"], re.MULTILINE)) == ids


def test_latex_numbers_itself_and_names_its_bib_and_pictures(edition, tmp_path):
    text = exported(edition, tmp_path, "tex")["tex"].read_text(encoding="utf-8")
    assert r"\section{Introduction}\label{sec-1}" in text
    assert r"\subsection{Parts \& wholes}" in text
    assert r"\addbibresource{rag.bib}" in text
    assert r"{pictures/rag-flow.pdf}" in text
    assert r"\printbibliography" in text
    assert "References" not in text
    assert (tmp_path / "rag.bib").is_file(), "a .tex without its references is of no use"
    assert text.count("{") - text.count(r"\{") == text.count("}") - text.count(r"\}")


@pytest.mark.run
@pytest.mark.parametrize("engine", ["pdflatex", "lualatex"])
def test_ex01_tex_sets_the_document_without_an_error(edition, tmp_path, engine):
    if not (shutil.which(engine) and shutil.which("biber")):
        pytest.skip(f"{engine} or biber is not installed")
    exported(edition, tmp_path, "tex")
    for program in (engine, "biber", engine, engine):
        options = ["-interaction=nonstopmode", "-halt-on-error"] if program == engine else []
        done = subprocess.run(
            [program, *options, SLUG], cwd=tmp_path, capture_output=True, text=True, timeout=300, errors="replace"
        )
        assert done.returncode == 0, done.stdout[-2000:]
        assert not re.search(r"^(?:!|WARN|ERROR)", done.stdout, re.MULTILINE), done.stdout[-2000:]
    assert "undefined" not in done.stdout
    text = pdf_text(tmp_path / f"{SLUG}.pdf")
    for part in ("R&D of 50% x_1 #2", "A & B 7 (2021)", "10.1000/ABC_1%2F", "The Example Collaboration"):
        assert part.replace(" ", "") in text.replace(" ", ""), part  # a line may end anywhere in a DOI


def test_signs_that_tex_lacks_are_declared(edition, tmp_path):
    sentence = Sentence("composed", "Gains ≥ 5 → α of 李.", ("2005.00001",))
    other = replace(
        edition, survey=Survey("T", (SectionDraft("1", "First", ((sentence,),)),)), papers=edition.papers[:1]
    )
    text = exported(other, tmp_path, "tex")["tex"].read_text(encoding="utf-8")
    assert r"\newunicodechar{≥}{\ensuremath{\geq}}" in text
    assert r"\newunicodechar{α}" in text
    assert "{李}" not in text


def test_ex03_a_missing_tool_gives_advice_and_the_rest(edition, tmp_path, monkeypatch):
    def missing(*_arguments, **_options):
        raise RenderingFailed(
            "typst, which sets the pages, is not installed", advice="Install it with `pip install typst`."
        )

    monkeypatch.setattr(exporting, "typeset", missing)
    done = export(edition, tmp_path)
    assert {m.format for m in done.made} == {*FORMATS, "picture"} - {"pdf"}
    advice = {n.format: n.advice for n in done.not_made}
    assert advice.keys() == {"pdf", "picture rag-flow.pdf", "picture rag-flow.png"}
    assert (
        advice["pdf"] == "Install it with `pip install typst`. The .tex gives one too: lualatex, biber, lualatex twice."
    )
    assert not (tmp_path / "rag.pdf").exists()
    assert "{pictures/rag-flow.svg}" in (tmp_path / "rag.tex").read_text(encoding="utf-8")
    assert (tmp_path / "pictures" / "rag-flow.svg").is_file()


def test_a_picture_that_cannot_be_drawn_is_told_and_the_rest_is_there(edition, tmp_path):
    broken = replace(FLOW, rows=(StatedRow("identified", "many"),))
    first = replace(edition.survey.sections[0], paragraphs=(edition.survey.sections[0].paragraphs[0], (broken,)))
    survey = replace(edition.survey, sections=(first, edition.survey.sections[1]))
    done = export(replace(edition, survey=survey, papers=edition.papers[::2]), tmp_path, ("md", "pdf", "docx"))
    assert {m.format for m in done.made} == {"md", "pdf", "docx"}
    assert [n.format for n in done.not_made] == ["picture flow"]
    assert "rag-flow" not in (tmp_path / "rag.md").read_text(encoding="utf-8")


def test_pandoc_missing_is_said_with_what_to_install(monkeypatch):
    def gone(*_arguments, **_options):
        raise OSError("No pandoc was found")

    monkeypatch.setattr(pypandoc, "convert_text", gone)
    with pytest.raises(RenderingFailed, match="pip install pypandoc-binary"):
        rendering.pandoc("x", "html5")


def test_formats_are_named_in_any_order_and_unknown_ones_refused():
    assert formats_named("bib, .MD,bib") == ("md", "bib")
    with pytest.raises(BadInput, match=r"odt\. Formats: md,html"):
        formats_named("md,odt")
    with pytest.raises(BadInput, match="Formats"):
        formats_named(" , ")
