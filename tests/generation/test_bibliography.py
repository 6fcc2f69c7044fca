"""BibTeX from rows: keys are ids, characters escaped once, nobody invented."""

import json
from datetime import date

import pypandoc
import pytest

from generation.bibliography import bibtex, tex


def entries(text: str) -> dict[str, dict]:
    """What a real reader of BibTeX (pandoc) makes of it: CSL items by id."""
    return {item["id"]: item for item in json.loads(pypandoc.convert_text(text, "csljson", format="biblatex"))}


def test_ex02_keys_are_the_ids_in_any_scheme(make_paper):
    ids = ["hep-th/9901001", "2005.11401", "doi:10.1000/x_y"]
    read = entries(bibtex([make_paper(i) for i in ids]))
    assert set(read) == set(ids)


def test_ex02_two_papers_of_one_author_and_year_keep_their_own_keys(make_paper):
    papers = [make_paper("2005.00001", authors=("A. Lee",)), make_paper("2005.00002", authors=("A. Lee",))]
    assert set(entries(bibtex(papers))) == {"2005.00001", "2005.00002"}
    assert bibtex(papers) == bibtex(papers)


def test_ex02_author_and_title_characters_are_escaped_once(make_paper):
    paper = make_paper(authors=("Conan O'Neil", "Søn & Co_x"), title="R&D of 50% x_1 #2 $k$-NN {braces} ~ ^")
    read = entries(bibtex([paper]))["2005.11401"]
    assert read["author"][0] == {"family": "O’Neil", "given": "Conan"}
    assert "Søn" in json.dumps(read["author"], ensure_ascii=False)
    for part in ("R&D of 50% x_1 #2", "-NN {braces} ~ ^"):
        assert part in read["title"]


def test_md07_a_group_is_one_braced_name(make_paper):
    paper = make_paper(authors=("A. One", "B. Two"), collaborations=("The Example Collaboration",))
    text = bibtex([paper])
    assert "{The Example Collaboration}" in text
    authors = entries(text)["2005.11401"]["author"]
    assert {"literal": "The Example Collaboration"} in authors or {"family": "The Example Collaboration"} in authors
    assert [a["family"] for a in authors if "given" in a] == ["One", "Two"]


def test_a_paper_without_authors_gets_none(make_paper):
    text = bibtex([make_paper(authors=None, collaborations=None)])
    assert "author" not in text
    assert "author" not in entries(text)["2005.11401"]


@pytest.mark.parametrize(
    ("precision", "expected"), [("day", "2020-05-22"), ("announced", "2020-05-22"), ("month", "2020-05")]
)
def test_a_date_says_no_more_than_is_known(make_paper, precision, expected):
    assert f"date = {{{expected}}}" in bibtex(
        [make_paper(submitted_precision=precision, submitted_latest=date(2020, 5, 22))]
    )


def test_the_published_version_and_the_arxiv_id_both_stand(make_paper):
    read = bibtex([make_paper(doi="10.1000/ABC_1", journal_ref="J. Ex. 1 (2021)", primary_category="cs.CL")])
    for line in (
        "@article{2005.11401",
        "doi = {10.1000/ABC_1}",
        "journal = {J. Ex. 1 (2021)}",
        "eprint = {2005.11401}",
        "primaryclass = {cs.CL}",
    ):
        assert line in read


def test_summaries_by_the_project_are_marked(make_paper):
    assert "summary by the project" in bibtex([make_paper(abstract_origin="summary by the project")])
    assert "summary" not in bibtex([make_paper()])


def test_tex_escapes_each_special_character_and_keeps_math():
    assert tex(r"a_b $x_1^2$ 5%") == r"a\_b $x_1^2$ 5\%"
    assert tex("costs $5 and $6") == r"costs \$5 and \$6"
