"""Entries in the styles that journals print; the fault ids are those of the public fault list."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingestion.comparison import author_key, title_key
from ingestion.documents.values import ReferenceText
from ingestion.references.fields import ReferenceFields, parse_entry
from ingestion.references.letters import repaired
from ingestion.references.names import read_authors, surname_of

ENGINE = "On the weaving of algebraic patterns"
STYLES = {
    "acl": f"Ada Lovelace, Alan M. Turing, and John von Neumann. 1843. {ENGINE}. In Proceedings of the First Meeting on Engines, pages 1–9.",
    "acm": f"Ada Lovelace, Alan M. Turing, and John von Neumann. 1843. {ENGINE}. Journal of Engines 3, 2 (1843), 1–9. https://doi.org/10.1000/182",
    "aaai": f"Lovelace, A.; Turing, A. M.; and von Neumann, J. 1843. {ENGINE}. Journal of Engines 3(2): 1–9.",
    "apa": f"Lovelace, A., Turing, A. M., & von Neumann, J. (1843). {ENGINE}. Journal of Engines, 3(2), 1–9.",
    "ieee": f"A. Lovelace, A. M. Turing, and J. von Neumann, “{ENGINE},” in Proc. Meeting on Engines, 1843, pp. 1–9.",
    "ieee in tex": f"A.~Lovelace, A.~M. Turing, and J.~von Neumann, ``{ENGINE},'' \n Proc. Meeting on Engines, vol.~3, 1843.",
    "plain": f"A. Lovelace, A. M. Turing, and J. von Neumann. {ENGINE}. Journal of Engines, 3(2):1–9, 1843.",
    "plain, whole names": f"Ada Lovelace, Alan M. Turing, and John von Neumann. {ENGINE}. arXiv preprint arXiv:1412.6980, 1843.",
    "plain, no venue": f"Ada Lovelace, Alan M. Turing, and John von Neumann. {ENGINE}, 1843. URL https://example.org/x.",
    "icml": f"Lovelace, A., Turing, A. M., and von Neumann, J. {ENGINE}. In Meeting on Engines, pp. 1–9, 1843.",
    "icml, whole names": f"Lovelace, Ada, Turing, Alan, and von Neumann, John. {ENGINE}. In Meeting on Engines, 1843.",
    "lncs": f"Lovelace, A., Turing, A.M., von Neumann, J.: {ENGINE}. In: Meeting on Engines. pp. 1–9. Springer (1843)",
    "amsplain": f"A. Lovelace, A. M. Turing, and J. von Neumann, {ENGINE}, J. Engines 3 (1843), no. 2, 1–9.",
    "physics with titles": f"A. Lovelace, A.M. Turing and J. von Neumann, {ENGINE}, J. Eng. B 303 (1843) 113 [hep-ph/9302240].",
    "vancouver": f"Lovelace A, Turing AM, von Neumann J. {ENGINE}. J Engines. 1843;3(2):1-9.",
    "siam": f"A. Lovelace, A. M. Turing, and J. von Neumann, {ENGINE}, 1843, https://arxiv.org/abs/1412.6980.",
}  # fmt: skip
UNTITLED = {
    "revtex": "A. Lovelace, A. M. Turing, and J. von Neumann, Phys. Rev. A 92, 053420 (1843).",
    "jhep": "A. Lovelace, A. M. Turing, and J. von Neumann, JHEP 09, 029 (1843), arXiv:1307.0007 [hep-ph] .",
    "mnras": "Lovelace A., Turing A. M., von Neumann J., 1843, A&A, 640, A77",
    "apj": "Lovelace, A., Turing, A. M., & von Neumann, J. 1843, ApJ, 754, 71",
    "apj, venue lost": "Lovelace, A., Turing, A. M., & von Neumann, J. 1843, , 754, 71, doi: 10.1000/182",
}


def parsed(text: str, *urls: str) -> ReferenceFields:
    return parse_entry(ReferenceText("", text, urls=urls))


@pytest.mark.parametrize("style", STYLES)
def test_authors_title_and_year_in_every_style(style):
    fields = parsed(STYLES[style])
    assert fields.title == ENGINE
    assert fields.year == 1843
    assert [author_key(n.surname.split()[-1]) for n in fields.authors] == ["lovelace", "turing", "neumann"]
    assert fields.is_reference


@pytest.mark.parametrize("style", UNTITLED)
def test_a_style_without_titles_gives_none(style):
    fields = parsed(UNTITLED[style])
    assert fields.title is None
    assert fields.year == 1843
    assert len(fields.authors) == 3
    assert fields.is_reference


@pytest.mark.parametrize(
    ("text", "venue"),
    [
        (STYLES["acl"], "Proceedings of the First Meeting on Engines, pages 1–9"),
        (STYLES["plain"], "Journal of Engines, 3(2):1–9"),
        (STYLES["lncs"], "Meeting on Engines. pp. 1–9. Springer"),
        (UNTITLED["revtex"], "Phys. Rev. A 92, 053420"),
        (STYLES["plain, no venue"], None),
        (STYLES["plain, whole names"], None),
    ],
)
def test_venue(text, venue):
    assert parsed(text).venue == venue


@pytest.mark.parametrize(
    "title",
    [
        "Can engines be too big?",
        "Is the engine robust? A strong baseline for weaving",
        "Engines: a survey of looms, cards, and mills",
        "Weaving 100,000+ patterns for engines",
        "Deep weaving via U.S. patents",
        "The engine",
    ],
)
@pytest.mark.parametrize("form", ["Ada Lovelace. 1843. {}. In Proceedings of the ACM.", "A. Lovelace, “{},” in Proc. X, 1843.", "A. Lovelace and A. Turing. {}. Journal of Engines, 3(2):1–9, 1843."])  # fmt: skip
def test_titles_with_stops_commas_and_digits(title, form):
    text = form.format(title).replace("?.", "?")
    assert title_key(parsed(text).title) == title_key(title)


def test_quotation_inside_a_title_is_part_of_it():
    text = 'Ada Lovelace and Alan Turing. Engines: weaving "without a loom" in practice, 1843.'
    assert parsed(text).title == 'Engines: weaving "without a loom" in practice'


@pytest.mark.parametrize(
    ("text", "year", "suffix"),
    [
        ("Ada Lovelace. 2018b. A note. In ACM 2019.", 2018, "b"),
        ("A. Lovelace. A note. arXiv:1907.11692, 2018.", 2018, ""),
        ("A. Lovelace. A note. In ACM 2017, pages 1801–1899, July 2018.", 2018, ""),
        ("A. Lovelace. A note. Journal of Engines 3, 2001:1–9 (2018).", 2018, ""),
        ("A. Lovelace. A note. https://example.org/2011/x.", None, ""),
    ],
)
def test_year_is_the_printed_one_and_no_page_or_address(text, year, suffix):
    fields = parsed(text)
    assert (fields.year, fields.year_suffix) == (year, suffix)


def test_ids_are_read_from_text_and_links_and_stay_out_of_title_and_venue():
    fields = parsed(
        "A. Lovelace. A note on mills. CoRR, abs/1412.6980, 2014. doi: 10.1000/ABC.",
        "https://arxiv.org/abs/1502.00001v2",
    )
    assert fields.arxiv_ids == ("1412.6980", "1502.00001")
    assert fields.dois == ("10.1000/abc",)
    assert (fields.title, fields.venue, fields.year) == ("A note on mills", None, 2014)


def test_bare_numbers_in_brackets_are_ids_as_physics_prints_them():
    assert parsed("A. Lovelace, A note on mills, Phys. Rev. D 83 (2011) 071501 [1009.2714].").arxiv_ids == (
        "1009.2714",
    )


def test_a_doi_broken_at_a_line_end_is_one():
    assert parsed("A. Lovelace. A note. 2020. doi: 10.18653/v1/2020. acl-main.7.").dois == (
        "10.18653/v1/2020.acl-main.7",
    )


def test_ct08_hyphens_of_line_breaks_go_and_true_ones_stay():
    fields = parsed("A. Lovelace. Detecting vulnera-bilities with soft- ware co-located tests. In ACM, 2020.")
    assert fields.title == "Detecting vulnera-bilities with software co-located tests"
    assert title_key(fields.title) == title_key("Detecting vulnerabilities with software co-located tests")


@pytest.mark.parametrize(
    ("printed", "mended"),
    [
        ("soft- ware", "software"),
        ("co- located", "co-located"),
        ("state-of- the-art", "state-of-the-art"),
        ("pre- and post-training", "pre- and post-training"),
        ("GPT- 4 and pages 12- 15", "GPT-4 and pages 12-15"),
        ("a dash - here", "a dash - here"),
        ("soft\u00adware", "software"),
        ("eﬃcient ﬁlters", "efficient filters"),
        ("Lo¨ıc Barrault", "Loïc Barrault"),
        ("Lo¨wner", "Löwner"),
        ("Petrovi´c", "Petrović"),
        ("Andre´ Martins, and¨ Oscar", "André Martins, and Oscar"),
        ("Universit´ e", "Université"),
    ],
)
def test_repairs(printed, mended):
    assert repaired(printed) == mended


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [("Al\u2010Khwarizmi", "Al-Khwarizmi"), ("M\u00fcller", "Mu\u0308ller"), ("\u00d8deg\u00e5rd", "Odegard")],
)
def test_ct09_names_in_two_spellings_are_one_author(ours, theirs):
    first, second = (
        parsed(f"A. {name} and B. Noether. A note on mills. In ACM, 1999.").authors[0] for name in (ours, theirs)
    )
    assert author_key(first.surname) == author_key(second.surname)


def test_ct09_other_surnames_still_differ():
    names = ["Müller", "Möller", "Miller", "Muller-Lyer"]
    assert len({author_key(read_authors(f"A. {n}, 1999").names[0].surname) for n in names}) == 4


@pytest.mark.parametrize(
    ("name", "surname"),
    [
        ("Aaron van den Oord", "van den Oord"),
        ("van den Oord, A.", "van den Oord"),
        ("Oord A", "Oord"),
        ("Sammy Davis Jr.", "Davis"),
        ("L. Fei-Fei", "Fei-Fei"),
        ("R Devon Hjelm", "Hjelm"),
    ],
)
def test_surnames(name, surname):
    assert surname_of(name) == surname


@pytest.mark.parametrize(
    ("text", "count", "has_more"),
    [
        ("A. Lovelace, A. Turing, et al. A note.", 2, True),
        ("Bo An, Kang An, and Jennifer Can. A note.", 3, False),
        ("OpenAI. 2023. A report.", 1, False),
        ("Ada H. Lovelace and Grace V. Le. 2018. A note.", 2, False),
        ("Y. Wang, K. Cho, and V. O. Li. A note.", 3, False),
        ("Yu. Manin, L.-J. Li, and W.-t. Yih. A note.", 3, False),
        ("Ada Lovelace, Xing W, Dingu Sagar V K, Grace Hopper, and Alan Turing. A note.", 5, False),
        (
            "Ada Lovelace, Alan Turing, Emmy Noether, Xianyu, Grace Hopper, Jean ang Bartik, Alan Church, and Mary Somerville. A note.",
            8,
            False,
        ),
        ("Z. Z. Ren, Ada Lovelace, Alan Turing, and Grace Hopper. A note.", 4, False),
        ("Engine Team, Ada Lovelace, and Alan Turing. A note.", 3, False),
        ("The Loom Collaboration, A note on mills, Phys. Lett. B 1 (2001) 2.", 1, False),
        ("A. Lovelace, The mill of the engine, Phys. Lett. B 1 (2001) 2.", 1, False),
        ("Weaving of patterns by engines. In ACM, 2001.", 0, False),
        ("In Proceedings of the ACM, 2001.", 0, False),
    ],
)
def test_where_an_author_list_ends(text, count, has_more):
    found = read_authors(text)
    assert (len(found.names), found.has_more) == (count, has_more)


@pytest.mark.parametrize(
    "text",
    [
        "You are a careful assistant. Read the passage below and answer with one of the options.",
        "A Further results",
        "Table 7: Results on the second task for all engines.",
        "Question: Which city is the capital? Answer with one word.",
    ],
)
def test_ct11_what_is_no_reference_is_marked(text):
    assert not parsed(text).is_reference


def test_long_author_lists_are_read_in_linear_time():
    names = ", ".join(f"A{chr(97 + i % 26)}a Lovelace" for i in range(3000))
    started = time.process_time()
    fields = parsed(f"{names}, and Alan Turing. 2020. A note on mills. In ACM.")
    assert len(fields.authors) == 3001
    assert time.process_time() - started < 1.5


@pytest.mark.parametrize(
    "piece", ["A ", "A. ", "Aa ", "a-", "(", "“", "https://a/ ", "10.1000/", "1999 ", "et al. ", "van ", "¨ "]
)
def test_repetition_does_not_hang(piece):
    started = time.process_time()
    parsed(piece * 3000)
    assert time.process_time() - started < 2


@settings(max_examples=150)
@given(st.text(max_size=200))
def test_any_text_is_read(text):
    fields = parsed(text)
    assert fields.title is None or fields.title.strip()
    assert fields.year is None or 1800 <= fields.year < 2100
