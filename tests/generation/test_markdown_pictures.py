"""Paragraphs that are pictures, tables or lists: what is printed, and that every sentence keeps its number."""

import re

import pypandoc
import pytest

from generation import captions
from generation.markdown import markdown
from generation.values import SectionDraft, Sentence, StatedRow, Survey
from ingestion.errors import PermanentFailure

FLOW = Sentence("composed", captions.FLOW, template=captions.FLOW, rows=(StatedRow("pool", "5"),), place="caption")
TABLE = Sentence(
    "composed", "Works of Section 2.1 side by side.", template=captions.COMPARISON, place="caption",
    rows=(StatedRow("section", "2.1"), StatedRow("column", "Work | Co"), StatedRow("column", "Aim")),
)  # fmt: skip


def row(work: str, text: str, cited: str = "2005.11401", kind: str = "quoted") -> Sentence:
    return Sentence(kind, text, (cited,), rows=(StatedRow("work", work),), place="table")


def printed(*paragraphs: tuple[Sentence, ...], papers=(), **options) -> str:
    return markdown(Survey("T", (SectionDraft("2.1", "First", paragraphs),)), papers, **options)


def test_a_picture_is_an_image_with_its_caption_on_its_own_line():
    text = printed((FLOW,))
    assert f"\n\n![{captions.FLOW}](pictures/flow.svg){{#fig-flow}}\n\n" in text
    assert "(elsewhere/rag-flow.svg)" in printed((FLOW,), pictures="elsewhere/rag-")


def test_a_table_has_its_columns_its_rows_and_its_caption_below():
    text = printed((TABLE, row("Lee_2 | x", "They say $a|b$ | c."), row("Kim", "It is [0,1].", kind="adapted")))
    assert r"| Work \| Co | Aim |" in text
    assert r"| Lee\_2 \| x [@2005.11401] | “They say $a|b$ \| c.” |" in text
    assert r"| Kim [@2005.11401] | It is \[0,1\]. |" in text
    assert "\n\n: Works of Section 2.1 side by side. {#tbl-2-1-1}\n" in text


def test_a_table_is_a_table_to_a_reader_of_markdown():
    text = printed((TABLE, row("Lee_2 | x", "They say a | b " * 12)), with_anchors=True)
    html = pypandoc.convert_text(text, "html5", format="markdown", extra_args=["--wrap=none"])
    assert html.count("<td") == 2
    assert "Lee_2 | x" in html
    assert '<span id="s1" class="composed">Works of Section 2.1' in html
    assert re.search(r'<td[^>]*><span id="s2" class="quoted">“They say a \| b', html)
    assert "<table" in html and 'id="tbl-2-1-1"' in html  # noqa: PT018


def test_every_sentence_has_its_number_in_the_order_it_is_stored_in():
    said = Sentence("composed", "Before.")
    items = (Sentence("composed", "One.", place="list"), Sentence("composed", "Two.", place="list"))
    text = printed((said,), (FLOW, said), (TABLE, row("a", "A"), row("b", "B")), (said, *items), with_anchors=True)
    assert sorted(int(n) for n in re.findall(r"\{#s(\d+) \.", text)) == list(range(1, 10))
    assert "side by side.]{#s4 .composed}" in text, "a caption comes before its rows, though it is printed below"
    assert "“A”]{#s5" in text
    assert "\n- [One.]{#s8 .composed}\n- [Two.]{#s9 .composed}\n" in text
    assert "![[How the papers" in text


def test_words_of_a_summary_stand_without_marks_in_a_table_too(make_paper):
    text = printed((TABLE, row("Lee", "As it says")), papers=[make_paper(abstract_origin="summary by the project")])
    assert "| As it says |" in text


def test_a_row_that_does_not_fit_and_a_caption_of_nothing_are_refused():
    with pytest.raises(PermanentFailure, match="1 cells under 2 headings"):
        printed((TABLE, Sentence("composed", "alone", place="table")))
    with pytest.raises(PermanentFailure, match="no picture and names no column"):
        printed((Sentence("composed", "What?", place="caption"),))


def test_plain_markdown_has_no_numbers_and_no_place_for_references():
    text = printed((FLOW,), is_plain=True, bibliography="rag.bib")
    assert "### First {#sec-2-1}" in text
    assert "References" not in text
    assert 'bibliography: "rag.bib"' in text
