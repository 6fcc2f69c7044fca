"""What is printed: tokens, quotation marks, headings."""

import pytest

from generation.citations import UnknownCitation
from generation.markdown import markdown, printed_sentence
from generation.values import SectionDraft, Sentence, Survey


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
