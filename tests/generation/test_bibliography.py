"""BibTeX from rows: keys are ids, characters escaped once, nobody invented."""

import json
from datetime import date

import pypandoc
import pytest

from generation.bibliography import bibtex, tex
from generation.citations import bib_key, paper_of_key


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


def test_ex01_entities_are_decoded_before_escaping(make_paper):
    read = bibtex([make_paper(title="Q&amp;A for R&D", journal_ref="A &amp; B 2 (2021)", authors=("S&oslash;n Lee",))])
    assert r"title = {{Q\&A for R\&D}}" in read
    assert r"journal = {A \& B 2 (2021)}" in read
    assert "author = {Søn Lee}" in read
    assert "amp;" not in read


def test_ex01_links_stand_raw_and_never_end_their_field(make_paper):
    read = entries(bibtex([make_paper("doi:10.1000/a_b%20c", doi=None), make_paper(doi="10.1000/a_b%20{c}")]))
    assert read["doi:10.1000/a_b+2520c"]["DOI"] == "10.1000/a_b%20c"
    assert "URL" not in read["doi:10.1000/a_b+2520c"], "a DOI is no URL twice"
    assert read["2005.11401"]["DOI"] == "10.1000/a_b%20%7Bc%7D"


@pytest.mark.parametrize(
    ("journal", "expected"),
    [
        ("Phys. Rev. D 76 (2021) 013009", "2021"),
        ("Volume 18 2021 Pages 2297-2316", "2021"),
        ("Proc. of X 2020, printed 2021", "2020"),  # two years: the paper's own
        ("J. 1999, 5", "2020"),  # before the paper was there
        ("Nature 2019-2021", "2020"),
        (None, "2020"),
    ],
)
def test_the_year_is_that_of_the_version_of_record_where_it_names_one(make_paper, journal, expected):
    assert f"year = {{{expected}}}" in bibtex([make_paper(journal_ref=journal)])


def test_a_suffix_is_no_surname_and_an_ampersand_no_person(make_paper):
    people = ("Hal Daumé III", "Antonio Laverghetta Jr.", "Laurens van der Maaten", "Søn & Co", "Madonna")
    read = entries(bibtex([make_paper(authors=people)]))["2005.11401"]["author"]
    assert read[0] == {"family": "Daumé", "given": "Hal", "suffix": "III"}
    assert read[1] == {"family": "Laverghetta", "given": "Antonio", "suffix": "Jr."}
    assert read[2]["family"] == "Maaten"
    assert read[2]["dropping-particle"] == "van der"
    assert "Søn & Co" in json.dumps(read[3], ensure_ascii=False)
    assert "Madonna" in json.dumps(read[4])


def test_ex02_a_doi_that_biber_stops_at_is_a_key_all_the_same(make_paper):
    ids = [
        "doi:10.1016/s0005-1098(97)00109-3",
        "doi:10.1002/(sici)17:15/16<1661::aid>3.0.co;2-2",
        "doi:10.1000/a,b'c%d#e=f",
    ]
    read = entries(bibtex([make_paper(i) for i in ids]))
    assert set(read) == {bib_key(i) for i in ids}
    assert {paper_of_key(key) for key in read} == set(ids)
    assert {item["DOI"] for item in read.values()} == {i.removeprefix("doi:") for i in ids}
    assert not any(c in key for key in read for c in "\"#'(),={}%~\\<>;")
