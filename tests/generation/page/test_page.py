"""The page: all in one file, links that lead somewhere, cards that equal the spans, and nothing a paper could bring."""

import base64
import hashlib
import json
import re
from dataclasses import replace
from itertools import pairwise

import lxml.html
import pytest

from generation.page import page
from generation.page_cards import as_json, span_text
from generation.rendering import RenderingFailed
from generation.values import SectionDraft, Sentence, Span, Survey


def tree(html: str) -> lxml.html.HtmlElement:
    return lxml.html.document_fromstring(html)


def cards(root: lxml.html.HtmlElement) -> dict:
    return json.loads(root.get_element_by_id("sources").text)


def numbered(survey: Survey) -> list[tuple[int, Sentence]]:
    return list(enumerate((s for d in survey.sections for s in d.sentences()), start=1))


def test_every_sentence_has_its_id_and_kind(sample, sample_page):
    root = tree(sample_page)
    for number, sentence in numbered(sample.survey):
        (found,) = root.xpath(f'//*[@id="s{number}"]')
        assert sentence.kind in found.get("class").split()


def test_every_link_inside_the_page_leads_to_one_element(sample_page):
    root = tree(sample_page)
    ids = [e.get("id") for e in root.iter() if e.get("id")]
    assert len(ids) == len(set(ids))
    targets = {a.get("href")[1:] for a in root.iter("a") if a.get("href").startswith("#")}
    assert targets <= set(ids)
    assert {"ref-2005.11401", "ref-hep-th/9901001", "sec-2-1", "main"} <= targets


def test_links_that_leave_go_to_arxiv_and_doi_only(sample_page):
    outside = {h for a in tree(sample_page).iter("a") if not (h := a.get("href")).startswith("#")}
    assert outside == {
        "https://arxiv.org/abs/2005.11401", "https://arxiv.org/abs/1911.00001", "https://arxiv.org/abs/hep-th/9901001",
        "https://arxiv.org/abs/2312.10997", "https://doi.org/10.1000/abc%3Cd%3E.1",
    }  # fmt: skip


def test_citations_are_numbered_in_order_and_each_paper_is_a_link(sample, sample_page):
    root = tree(sample_page)
    numbers = {p: str(i) for i, p in enumerate(sample.survey.references, start=1)}
    links = root.xpath('//a[@class="cite"]')
    assert all(a.text == numbers[a.get("href").removeprefix("#ref-")] for a in links)
    said = [len(s.cited_ids) for _, s in numbered(sample.survey)]
    assert len(links) == sum(said)
    assert "[1, 2, 3]" in root.xpath('string(//*[@class="citation"][a[3]])')


def test_the_cards_data_equal_the_spans_edits_and_rows(sample, sample_page):
    held = cards(tree(sample_page))
    papers = {p.paper_id: p for p in sample.papers}
    for number, sentence in numbered(sample.survey):
        card = held.get(str(number), {})
        texts = [text for _, _, text in card.get("spans", [])]
        assert texts == [span_text(s, papers, sample.passage_texts) for s in sentence.spans]
        assert card.get("edits", []) == [[e.name, e.before, e.after] for e in sentence.edits]
        assert [r[:2] for r in card.get("rows", [])] == [[r.name, r.value] for r in sentence.rows]
    assert held["1"]["spans"] == [["2005.11401", "the abstract", "Retrieval by vectors finds paraphrases."]]
    assert ["1911.00001", "the full text, page 7", "counting beats vectors on rare names."] in [
        span for card in held.values() for span in card.get("spans", ())
    ]
    assert any("a summary by the project" in span for card in held.values() for span in card.get("spans", ()))
    assert held["3"]["rows"][0][2].endswith("edition = 'e1f2'")


def test_a_reference_says_what_is_known_and_nothing_else(sample_page):
    root = tree(sample_page)

    def said(paper_id):
        return " ".join(root.get_element_by_id(f"ref-{paper_id}").text_content().split())

    assert "Ada Lovelace, Grace Hopper Journal of Retrieval 12 (2021) 3-14 · 2020" in said("2005.11401")
    assert "CC BY 4.0" in said("2005.11401")
    assert said("1911.00001").startswith("Counting Words 2019 arXiv:1911.00001 Cited in")
    assert "The Bag Collaboration" in said("hep-th/9901001")
    assert "a summary by the project" in said("2312.10997")
    assert root.get_element_by_id("ref-2005.11401").find(".//math") is not None
    assert root.get_element_by_id("ref-2005.11401").find(".//annotation") is None


def test_formulas_are_mathml_said_once(sample_page):
    root = tree(sample_page)
    (sentence,) = [
        e for e in root.xpath('//*[@id="main"]//*[starts-with(@id, "s")]') if "Training takes" in e.text_content()
    ]
    assert sentence.find(".//math") is not None
    assert r"\log" not in sentence.text_content()


def test_pictures_stand_inline_and_tables_in_a_frame_that_scrolls(sample_page):
    root = tree(sample_page)
    assert root.xpath('//figure/*[local-name()="svg"]/@class') == [
        "picture flow",
        "picture timeline",
        "picture taxonomy",
    ]
    assert not list(root.iter("img"))
    (frame,) = root.xpath('//figure[@class="table"]')
    assert [e.tag for e in frame] == ["figcaption", "div"]
    assert frame[1].get("tabindex") == "0"
    assert root.get_element_by_id(frame[1].get("aria-labelledby")).text_content() == "Works of Section 2 side by side."
    assert [e.get("scope") for e in frame.iter("th")] == ["col", "col"]


def test_headings_have_one_order_and_numbers_of_their_own(sample, sample_page):
    root = tree(sample_page)
    levels = [int(e.tag[1]) for e in root.iter("h1", "h2", "h3", "h4")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))
    for section in sample.survey.sections:
        heading = root.get_element_by_id(f"sec-{section.number.replace('.', '-')}")
        assert heading.tag == f"h{section.level + 1}"
        assert heading.find("span").text == section.number
        assert " ".join(heading.text_content().split()) == f"{section.number} {section.title}"
    assert root.get("lang") == "en"


def test_only_our_script_and_style_may_run_and_nothing_may_load(sample_page):
    root = tree(sample_page)
    policy = root.xpath('//meta[@http-equiv="Content-Security-Policy"]/@content')[0]
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    allowed = re.findall(r"'sha256-([^']+)'", policy)
    for element, expected in zip(("style", "script"), allowed, strict=True):
        (inside,) = re.findall(rf"<{element}>(.*?)</{element}>", sample_page, re.DOTALL)
        assert base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode() == expected
    assert not re.search(r"\ssrc=|@import|url\(|\sstyle=|\son\w+=", re.sub(r"(?s)<script.*?</script>", "", sample_page))
    assert not re.search(r"localStorage|sessionStorage|cookie|fetch|XMLHttp|innerHTML|\beval\(", sample_page)


def test_no_text_of_a_paper_becomes_markup(evil_page, sample_page):
    root, good = tree(evil_page), tree(sample_page)

    def elements(page_root):
        return {e.tag for e in page_root.iter() if isinstance(e.tag, str)}

    # Formulas may bring elements of formulas.
    assert elements(root) - elements(good) <= {"mtext", "mrow", "mstyle", "mi", "mo", "code"}
    assert len(list(root.iter("script"))) == 2
    assert not [k for e in root.iter() for k in e.attrib if k.startswith("on")]
    outside = {h for a in root.iter("a") if not (h := a.get("href") or "").startswith("#")}
    assert all(re.match(r"https://(arxiv\.org/abs|doi\.org)/[^\s<>\"']+$", h) for h in outside)
    assert not list(root.iter("img"))
    assert len(root.xpath('//*[@id="main"]')) == 1
    more_dois = 3
    assert sum(1 for _ in root.iter("a")) == sum(1 for _ in good.iter("a")) + more_dois
    (first,) = root.xpath('//*[@id="s1"]')
    assert "<script>alert(1)</script>" in first.text_content()


def test_data_cannot_end_its_script_element():
    text = as_json({"1": {"spans": [["a", "b", "</script><!-- & \u2028"]]}})
    assert not re.search("[<>&\u2028]", text)
    assert json.loads(text)["1"]["spans"][0][2] == "</script><!-- & \u2028"


@pytest.mark.parametrize(
    "span",
    [Span("2005.11401", 0, 10_000), Span("0000.0000", 0, 1), Span("2005.11401", 0, 4, "passage", "other"), Span("2005.11401", 4, 4)],
    ids=["too-long", "other-paper", "passage-not-given", "empty"],
)  # fmt: skip
def test_a_span_that_leads_nowhere_is_an_error(sample, span):
    broken = Survey("t", (SectionDraft("1", "One", ((Sentence("quoted", "x", ("2005.11401",), (span,)),),)),))
    with pytest.raises(RenderingFailed, match="span"):
        page(broken, sample.papers, sample.facts)


def test_the_same_values_give_the_same_page(sample, sample_page):
    assert sample.page() == sample_page


def test_without_reasons_notes_and_pictures_the_page_has_none_of_their_places(make_paper, sample):
    paper = make_paper(abstract="Words as they stand.")
    survey = Survey("A topic", (SectionDraft("1", "One", ((Sentence("quoted", "Words as they stand.", (paper.paper_id,), (Span(paper.paper_id, 0, 20),)),),)),))  # fmt: skip
    root = tree(page(survey, [paper], replace(sample.facts, notes=(), manifest=(), consulted=None)))
    assert not root.xpath('//*[@id="why" or @id="notes"]')
    assert not root.xpath("//figure")
    assert "consulted" not in root.get_element_by_id("about").getparent().text_content()


def test_a_reader_finds_edition_method_versions_and_the_command(sample_page):
    said = " ".join(tree(sample_page).find(".//footer").text_content().split())
    for fact in (
        "e1f2",
        "surveyforge, extractive",
        "11,222 admitted, 600 in the pool, 77 consulted, 4 cited",
        "papers 3",
    ):
        assert fact in said
    assert "lithouse lineage retrieval/surveyforge@e1f2 --sentence N" in said


def test_why_these_papers(sample_page):
    (table,) = tree(sample_page).xpath('//details[@class="why"]//table')
    rows = [[" ".join(c.text_content().split()) for c in row.iter("td")] for row in table.iter("tr")][1:]
    assert rows[0][1:] == ["1", "1", "0.81", "42", "full text", "outline, draft"]
    assert rows[1] == ["[3] Counting Words", "2.1", "", "", "0", "asked for", "draft"]
