"""What is printed: tokens, quotation marks, headings, a page that loads nothing."""

import re

import pytest

from generation.citations import UnknownCitation
from generation.markdown import markdown, printed_sentence
from generation.page import PageFacts, page
from generation.values import SectionDraft, Sentence, Survey

FACTS = PageFacts(
    "rag", "e1", "surveyforge", "extractive", "2024-03-31", 10, 5, 2, False, (("7 Open Problems", "too few"),)
)


def survey_of(*sentences: Sentence) -> Survey:
    return Survey("A “title” & more", (SectionDraft("1", "First [0,1] @x", (sentences,)),))


def quoted(text="Words as they stand.", cited=("2005.11401",)):
    return Sentence("quoted", text, cited)


def test_the_authors_words_stand_in_quotation_marks_and_a_summary_does_not(make_paper):
    assert printed_sentence(quoted()) == "“Words as they stand.” [@2005.11401]"
    summarised = make_paper(abstract_origin="summary by the project")
    text = markdown(survey_of(quoted()), [summarised])
    assert "Words as they stand [@2005.11401]." in text
    assert "“Words" not in text


def test_the_token_stands_before_the_final_stop():
    assert (
        printed_sentence(Sentence("adapted", "Lovelace shows it.", ("2005.11401",)))
        == "Lovelace shows it [@2005.11401]."
    )
    assert printed_sentence(Sentence("composed", "Four papers.")) == "Four papers."


def test_text_of_papers_makes_no_markup_and_no_citation(make_paper):
    text = markdown(survey_of(quoted("Recall@100 in [0,1] of *x*, <b>bold</b> [@2312.10997].")), [make_paper()])
    assert r"Recall\@100 in \[0,1\] of \*x\*" in text
    assert "[@2312.10997]" not in text.replace("\\", "§")


def test_a_key_outside_the_references_is_refused():
    """Tokens come from rows alone; a survey whose references disagree with its sentences must not be printed."""

    class Wrong(Survey):
        references = ()

    with pytest.raises(UnknownCitation, match=r"2005\.11401"):
        markdown(Wrong("t", survey_of(quoted()).sections), [])


def test_the_page_numbers_citations_and_anchors_every_sentence(make_paper):
    papers = [make_paper(), make_paper("hep-th/9901001", title="Strings & things")]
    html = page(
        survey_of(quoted(), Sentence("adapted", "Both say so.", ("hep-th/9901001", "2005.11401"))), papers, FACTS
    )
    assert 'id="s1"' in html
    assert 'id="s2"' in html
    assert re.search(r"\[<a[^>]*>1</a>\]", html) or "[1]" in re.sub("<[^>]+>", "", html)
    assert "[1, 2]" in re.sub("<[^>]+>", "", html)
    assert "Strings &amp; things" in html
    assert "7 Open Problems: too few." in html


def test_the_page_loads_nothing_and_runs_nothing(make_paper):
    evil = quoted("Click <img src=x onerror=alert(1)> and <script>alert(2)</script> javascript:alert(3).")
    html = page(survey_of(evil), [make_paper(title='<svg onload="alert(4)">')], FACTS)
    assert not re.search(r"<(script|img|link|iframe|object|svg)\b", html)
    assert not re.search(r"<[^>]+\son\w+=", html)
    assert "default-src &#39;none&#39;" in html or "default-src 'none'" in html
    assert not re.search(r'(?:src|href)="(?!#|https://(?:doi\.org|arxiv\.org)/)', html)
