"""The sample's two PDFs: ours and saying so, made from the sources beside them, citing only what the papers cite."""

import importlib.util
import json
import re
from pathlib import Path

import polars as pl
import pypdfium2
import pytest

from ingestion.comparison import title_key
from ingestion.mirror import open_mirror

SAMPLE = Path(__file__).resolve().parents[2] / "ingestion" / "sample"
NAMES = ["2005.11401v1", "2310.11511v1"]
CITED = {
    # What the reference lists of these papers hold, of the sample's forty.
    "2005.11401v1": {"1906.00300", "2002.08909", "2004.04906"},
    "2310.11511v1": {
        "2002.08909", "2005.11401", "2112.09118", "2208.03299", "2305.06983", "2310.01558", "2310.04408",
    },
}  # fmt: skip


def text_of(pdf: bytes | Path) -> str:
    document = pypdfium2.PdfDocument(pdf)
    return "\n".join(page.get_textpage().get_text_bounded() for page in document)


def joined(text: str) -> str:
    return " ".join(text.split())


@pytest.fixture(scope="module")
def papers() -> dict[str, dict]:
    lines = (SAMPLE / "metadata.jsonl").read_text(encoding="utf-8").splitlines()
    return {paper["id"]: paper for paper in map(json.loads, lines)}


@pytest.fixture(scope="module", params=NAMES)
def name(request) -> str:
    return request.param


@pytest.fixture(scope="module")
def text(name) -> str:
    return text_of(SAMPLE / "pdf" / f"{name}.pdf")


def test_the_mirror_finds_both_files():
    assert open_mirror(SAMPLE).papers_with_files() == {n.partition("v")[0]: [f"pdf/{n}.pdf"] for n in NAMES}


def test_each_file_has_its_source_and_is_small():
    assert sorted(p.stem for p in (SAMPLE / "typeset").glob("*.typ")) == NAMES
    assert all((SAMPLE / "pdf" / f"{n}.pdf").stat().st_size < 200_000 for n in NAMES)


def test_it_says_at_the_top_that_it_is_a_summary(name, text, papers):
    top = joined(text[:1200])
    assert "written by the Lithouse project for its sample corpus. It is not the paper itself" in top
    paper = papers[name.partition("v")[0]]
    assert title_key(paper["title"]) in title_key(top)
    assert [a for a in paper["authors"].split(", ") if title_key(a) not in title_key(top)] == []


def test_it_is_what_its_source_gives(name, text):
    spec = importlib.util.spec_from_file_location("sample_typeset", SAMPLE / "typeset" / "typeset.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    made = script.typeset(SAMPLE / "typeset" / f"{name}.typ")
    assert made == script.typeset(SAMPLE / "typeset" / f"{name}.typ")
    # Another release of typst may set other bytes, but no other words.
    assert joined(text_of(made)) == joined(text)


def test_references_are_the_papers_they_name(name, text, papers):
    """Title, year of the first version and every author's family name, for each reference within the sample."""
    entries = title_key(re.split(r"\n(?:References|REFERENCES)\s", text)[1])
    found = {p for p, paper in papers.items() if title_key(paper["title"]) in entries}
    assert found == CITED[name]
    for paper in (papers[p] for p in found):
        families = [title_key(author.split()[-1]) for author in paper["authors"].split(", ")]
        at = entries.index(title_key(paper["title"]))
        before, after = entries[max(0, at - 250) : at], entries[at : at + 250]
        assert [family for family in families if family not in before] == []
        assert paper["versions"][0]["created"].split()[3] in before[-4:] + after


def test_no_eight_words_in_a_row_are_the_authors_own(name, text, shared_data):
    files = [shared_data / "arxiv_metadata" / f"papers_{years}.parquet" for years in ("until_2022", "2023_2024")]
    paper_id = name.partition("v")[0]
    frame = pl.concat([pl.scan_parquet(f).filter(pl.col("id") == paper_id).select("abstract") for f in files])
    (abstract,) = frame.collect()["abstract"]

    def runs(words: list[str]) -> set[tuple[str, ...]]:
        return {tuple(words[i : i + 8]) for i in range(len(words) - 7)}

    assert runs(re.findall(r"\w+", text.lower())) & runs(re.findall(r"\w+", abstract.lower())) == set()
