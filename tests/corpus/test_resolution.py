"""Bibliography entries resolved to papers; the fault ids are those of the public fault list."""

from datetime import date

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.resolution import Resolution, resolve_entries
from ingestion.documents.values import ReferenceText
from ingestion.references.fields import parse_entry

LOOMS, MILLS = "1907.00001", "1907.00002"
TITLE = "On the weaving of algebraic patterns by engines"


def papers(*rows: tuple) -> pl.LazyFrame:
    """Rows of id, title, authors (a list or None), year, and a DOI where there is one."""
    columns = {"paper_id": pl.String, "title": pl.String, "authors": pl.List(pl.String), "doi": pl.String}
    columns |= {"submitted_on": pl.Date, "submitted_latest": pl.Date}
    data = [
        (paper_id, title, authors, doi[0] if doi else None, None, date(year, 7, 1))
        for paper_id, title, authors, year, *doi in rows
    ]
    return pl.LazyFrame(data, schema=columns, orient="row")


def resolve(text: str, *rows: tuple, urls: tuple[str, ...] = ()) -> Resolution:
    (found,) = resolve_entries([parse_entry(ReferenceText("", text, urls=urls))], papers(*rows))
    return found


LOVELACE = ["Ada Lovelace", "Alan M. Turing"]
HELD = (LOOMS, TITLE, LOVELACE, 2019)


@pytest.mark.parametrize(
    "text",
    [
        f"Ada Lovelace and Alan M. Turing. 2019. {TITLE}. In ACM.",
        f"Lovelace, A., Turing, A.: {TITLE}. In: ACM (2019)",
        f"A. Lovelace et al., “{TITLE.upper()},” in Proc. ACM, 2020.",
        f"A. Lovelace, A. Turing, {TITLE}, J. Eng. 3 (2021), 1–9.",
    ],
)
def test_title_with_author_and_year(text):
    found = resolve(text, HELD, (MILLS, "Something else", LOVELACE, 2019))
    assert (found.cited_id, found.method, found.certainty, found.is_held) == (LOOMS, "title", 0.98, True)


def test_ct05_same_title_other_authors_other_time_is_no_link():
    text = "Grace Hopper. The education of engines. Scientific Monthly, 254(3):86–93, 1986."
    found = resolve(text, (LOOMS, "The Education of Engines", ["Mary Somerville"], 2007))
    assert found.cited_id is None
    assert found.candidates == (LOOMS,)
    assert "authors differ" in found.detail
    assert "years" in found.detail


def test_same_title_and_year_by_other_authors_is_no_link():
    found = resolve(f"G. Hopper. {TITLE}. In ACM, 2019.", HELD)
    assert (found.cited_id, found.method) == (None, "none")


def test_a_title_whose_author_agrees_may_be_printed_late():
    found = resolve(f"A. Lovelace. {TITLE}. Collected Works, 2031.", HELD)
    assert found.cited_id == LOOMS
    assert found.certainty < 0.9
    assert found.detail == "printed year 2031, first version 2019"


@pytest.mark.parametrize(
    ("year", "is_linked"), [(2018, True), (2019, True), (2023, True), (2017, False), (2024, False)]
)
def test_without_known_authors_the_year_must_agree(year, is_linked):
    found = resolve(f"A. Lovelace. {TITLE}. In ACM, {year}.", (LOOMS, TITLE, None, 2019))
    assert (found.cited_id == LOOMS) == is_linked


def test_without_known_authors_and_printed_year_nothing_is_linked():
    assert resolve(f"A. Lovelace. {TITLE}. In ACM.", (LOOMS, TITLE, None, 2019)).cited_id is None


@pytest.mark.parametrize(
    ("printed", "held"),
    [
        ("Weaving with engines", "Weaving with engines: a survey of looms"),
        ("Weaving with engines: a survey", "Weaving with engines"),
    ],
)
def test_ct06_a_title_that_begins_another_is_no_match(printed, held):
    found = resolve(f"Ada Lovelace and Alan M. Turing. 2019. {printed}. In ACM.", (LOOMS, held, LOVELACE, 2019))
    assert found.cited_id is None


def test_ct06_of_two_titles_the_whole_one_is_taken():
    longer = (MILLS, "Weaving with engines: a survey of looms", LOVELACE, 2019)
    found = resolve(
        "A. Lovelace. Weaving with engines. In ACM, 2019.", longer, (LOOMS, "Weaving with Engines", LOVELACE, 2019)
    )
    assert found.cited_id == LOOMS
    found = resolve(
        "A. Lovelace. Weaving with engines: a survey of looms. In ACM, 2019.",
        longer,
        (LOOMS, "Weaving with Engines", LOVELACE, 2019),
    )
    assert found.cited_id == MILLS


def test_ct08_line_break_hyphens_go_and_true_ones_stay():
    title = "Detecting vulnerabilities with software co-located tests"
    text = "A. Lovelace. Detecting vulnera-bilities with soft- ware co-located tests. In ACM, 2020."
    assert resolve(text, (LOOMS, title, LOVELACE, 2019)).method == "title"


@pytest.mark.parametrize(
    ("printed", "held"),
    [
        ("Al\u2010Khwarizmi", "Al-Khwarizmi"),
        ("M\u00fcller", "Mu\u0308ller"),
        ("\u00d8deg\u00e5rd", "Odegard"),
        ("van der Waerden", "Waerden"),
        ("Lo¨wner", "Löwner"),
    ],
)
def test_ct09_the_same_author_in_two_spellings(printed, held):
    found = resolve(f"B. {printed} and E. Noether. {TITLE}. In ACM, 1999.", (LOOMS, TITLE, [f"Bartel {held}"], 2019))
    assert found.cited_id == LOOMS


def test_ct09_other_surnames_still_differ():
    found = resolve(
        f"B. Müller and E. Noether. {TITLE}. In ACM, 2019.", (LOOMS, TITLE, ["Bartel Miller", "Ada Lovelace"], 2019)
    )
    assert found.cited_id is None


LONG = "A careful study of the weaving of algebraic patterns by analytical engines with punched cards"


def test_ct10_a_near_match_is_told_with_its_difference():
    printed = LONG.replace("algebraic ", "").replace("punched ", "")
    found = resolve(f"A. Lovelace and A. Turing. {printed}. In ACM, 2019.", (LOOMS, LONG, LOVELACE, 2019))
    assert (found.cited_id, found.method) == (LOOMS, "near_title")
    assert found.certainty < 0.8
    assert "'algebraic punched'" in found.detail


@pytest.mark.parametrize(
    ("printed", "held"),
    [
        ("Weaving with looms", "Weaving with mills"),
        ("Engines that weave, version 3, for the mill", "Engines that weave, version 4, for the mill"),
        ("On the weaving of patterns by engines, part I", "On the weaving of patterns by engines, part II"),
        ("Engines can weave the patterns of algebra", "Engines can not weave the patterns of algebra"),
        ("Visual looms: weaving patterns for engines", "Visual mills: weaving patterns for engines"),
    ],
)
def test_ct10_a_telling_word_is_no_match_however_alike_the_titles(printed, held):
    found = resolve(f"A. Lovelace and A. Turing. {printed}. In ACM, 2019.", (LOOMS, held, LOVELACE, 2019))
    assert found.cited_id is None


def test_ct10_a_near_title_by_others_is_told_and_not_linked():
    printed = LONG.replace("algebraic ", "")
    found = resolve(f"G. Hopper and J. Bartik. {printed}. In ACM, 2019.", (LOOMS, LONG, LOVELACE, 2019))
    assert (found.cited_id, found.method, found.candidates) == (None, "near_title", (LOOMS,))
    assert "only near matches" in found.detail


def test_ct11_what_is_no_reference_is_never_linked():
    prompt = "You are a careful assistant. On the weaving of algebraic patterns by engines. Answer in one word."
    found = resolve(prompt, HELD, (MILLS, prompt, None, 2019))
    assert (found.cited_id, found.method) == (None, "none")


def test_ct12_a_paper_keeps_its_own_fields_whatever_a_list_says_of_it():
    held = papers((*HELD, "10.1000/own"))
    before = held.collect()
    text = f"A. Lovelace. {TITLE.upper()}. In Other Venue, 2020. doi:10.1000/other."
    (found,) = resolve_entries([parse_entry(ReferenceText("", text))], held)
    assert (found.cited_id, found.method) == (LOOMS, "title")
    assert "doi:10.1000/other" in found.detail
    assert held.collect().equals(before)


def test_md15_an_id_whose_title_and_authors_disagree_is_unverified():
    other = (MILLS, "A treatise on the differential calculus", ["Mary Somerville"], 2019)
    text = f"A. Lovelace and A. Turing. {TITLE}. arXiv:{MILLS}, 2019."
    found = resolve(text, other)
    assert (found.cited_id, found.method, found.candidates) == (None, "unverified_id", (MILLS,))
    found = resolve(text, other, HELD)
    assert (found.cited_id, found.method) == (LOOMS, "title")
    assert MILLS in found.detail


def test_md15_an_id_and_a_title_that_lead_to_two_papers_without_authors_are_ambiguous():
    other = (MILLS, "A treatise on the differential calculus", None, 2019)
    found = resolve(f"A. Lovelace. {TITLE}. arXiv:{MILLS}, 2019.", other, (LOOMS, TITLE, None, 2019))
    assert (found.cited_id, found.method, found.candidates) == (None, "ambiguous", (MILLS, LOOMS))


def test_md15_a_renamed_paper_without_known_authors_keeps_its_id_where_the_titles_are_related():
    renamed = (LOOMS, "Engines that weave: algebraic patterns and beyond", None, 2019)
    found = resolve(f"A. Lovelace. {TITLE}. arXiv:{LOOMS}, 2019.", renamed)
    assert (found.cited_id, found.method) == (LOOMS, "arxiv_id")
    assert found.certainty < 0.95


@pytest.mark.parametrize(
    "text",
    [
        f"A. Lovelace. A first title that was changed later. arXiv:{LOOMS}, 2019.",
        f"Unknown Person and Other Person. {TITLE}. arXiv:{LOOMS}, 2019.",
        f"A. Lovelace, J. Eng. 3, 12 (2019), arXiv:{LOOMS} [cs.CL].",
        f"[arXiv:{LOOMS}]",
    ],
)
def test_md15_an_id_wins_where_title_or_author_agree_or_nothing_speaks_against_it(text):
    found = resolve(text, HELD)
    assert (found.cited_id, found.method) == (LOOMS, "arxiv_id")


def test_md15_a_doi_is_taken_only_where_title_or_author_agree():
    row = (LOOMS, TITLE, LOVELACE, 2019, "10.1000/ABC")
    assert resolve(f"A. Lovelace. {TITLE}. In X, 2019. doi:10.1000/abc.", row).method == "doi"
    found = resolve("E. Noether. Invariants of forms. In X, 1918. doi:10.1000/abc.", row)
    assert (found.cited_id, found.method, found.candidates) == (None, "unverified_id", (LOOMS,))


def test_ids_of_papers_not_held_are_kept_and_said_to_be_so():
    found = resolve("A. Lovelace. Unknown work on looms. arXiv:1912.99999, 2019.", HELD)
    assert (found.cited_id, found.is_held) == ("1912.99999", False)
    found = resolve("A. Lovelace. Unknown work on looms. In X, 2019. doi:10.1000/Q.", HELD)
    assert (found.cited_id, found.method, found.is_held) == ("doi:10.1000/q", "doi", False)


def test_an_id_only_in_a_link_counts():
    found = resolve(f"A. Lovelace. {TITLE}. 2019.", HELD, urls=(f"https://arxiv.org/abs/{LOOMS}v2",))
    assert found.method == "arxiv_id"


def test_alike_candidates_stay_unresolved_with_the_reason():
    found = resolve(f"A. Lovelace. {TITLE}. In ACM, 2020.", HELD, (MILLS, TITLE, LOVELACE, 2019))
    assert (found.cited_id, found.method, found.candidates) == (None, "ambiguous", (LOOMS, MILLS))
    assert found.detail


def test_the_year_decides_between_versions_of_one_title():
    found = resolve(f"A. Lovelace. {TITLE}. In ACM, 2020.", HELD, (MILLS, TITLE, LOVELACE, 2020))
    assert (found.cited_id, found.candidates) == (MILLS, (LOOMS,))


def test_a_short_title_needs_author_and_year():
    row = (LOOMS, "Deep weaving", LOVELACE, 2019)
    assert resolve("A. Lovelace. Deep weaving. In ACM, 2019.", row).cited_id == LOOMS
    assert resolve("A. Lovelace. Deep weaving. In ACM, 1999.", row).cited_id is None
    assert resolve("A. Lovelace. Deep weaving. In ACM, 2019.", (LOOMS, "Deep weaving", None, 2019)).cited_id is None


def test_a_title_is_recognised_where_the_parser_saw_another():
    text = f"A. Lovelace et al. with many friends. {TITLE}. In ACM, 2019."
    found = resolve(text, HELD)
    assert (found.cited_id, found.method) == (LOOMS, "recognised_title")


def test_a_title_inside_another_title_is_not_recognised():
    text = f"A. Lovelace. Remarks on the essay: {TITLE} and other machines. In ACM, 2019."
    assert resolve(text, HELD).cited_id is None


def test_no_papers_and_no_entries():
    assert resolve_entries([], papers(HELD)) == []
    assert resolve(f"A. Lovelace. {TITLE}. 2019.").cited_id is None


@given(st.permutations(range(6)))
def test_each_entry_gets_its_own_answer_in_any_order(order):
    words = ["looms", "mills", "cards", "wheels", "gears", "drums"]
    rows = [(f"1907.0000{i + 1}", f"On the weaving of patterns by {w}", LOVELACE, 2019) for i, w in enumerate(words)]
    texts = [f"A. Lovelace. On the weaving of patterns by {words[i]}. In ACM, 2019." for i in order]
    found = resolve_entries([parse_entry(ReferenceText("", text)) for text in texts], papers(*rows))
    assert [r.cited_id for r in found] == [f"1907.0000{i + 1}" for i in order]
