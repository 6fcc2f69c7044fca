"""The page of a survey that a model wrote: what is told of it, and of each sentence."""

import json
from dataclasses import replace

import lxml.html
import pytest

from generation.exporting import export
from generation.markdown import markdown
from generation.page import page
from generation.reprinting import Reprint
from tests.generation.ledger_rows import ASKED
from tests.generation.page.conftest import EVIL, SPARSE


@pytest.fixture(scope="module")
def tree(written_page):
    return lxml.html.fromstring(written_page)


def told(tree, title):
    [row] = [d for d in tree.xpath("//dl/div") if d.findtext("dt") == title]
    return " ".join(row.find("dd").text_content().split())


def test_a_sentence_that_no_paper_bears_is_marked_in_every_format(written, tree, tmp_path):
    text = markdown(written.survey, written.papers)
    assert text.count("^unsourced^") == 3
    assert "any $k$.^unsourced^" in text
    lost = tree.xpath('//main//*[contains(concat(" ", @class, " "), " unborne ")]')
    assert [s.get("id") for s in lost] == ["s3", "s6", "s9"]
    assert {s.xpath("string(./sup[last()])") for s in lost} == {"unsourced"}
    assert all(s.get("class").split()[0] == "written" for s in lost)
    edition = Reprint(written.survey, tuple(written.papers), written.facts, written.passage_texts, (), ASKED)
    made = export(edition, tmp_path, ("md", "tex"))
    assert not made.not_made
    assert (tmp_path / "retrieval.tex").read_text().count("unsourced") == 4  # and the line that says what it means
    assert "2 of 4 sections" in (tmp_path / "retrieval.tex").read_text()


def test_sentences_with_a_citation_left_are_not_marked(tree):
    assert "unborne" not in tree.xpath('//*[@id="s4"]')[0].get("class")
    assert tree.xpath('//*[@id="s4"]//a[@class="cite"]')


def test_the_cards_have_the_checks(tree):
    data = json.loads(tree.xpath('//*[@id="sources"]')[0].text)
    assert tree.xpath('//*[@id="sources"]/@data-writer') == ["test:a-model"]
    assert data["2"]["checks"][1] == [SPARSE, "weak", 0.41, "not in what was shown of the cited papers: CountBERT", "kept", "rules"]  # fmt: skip
    assert data["2"]["spans"][1][:2] == [SPARSE, "the full text, page 7"]
    assert data["3"]["checks"][0][4] == "removed"
    assert "1" not in data  # cites nothing, states nothing


def test_what_the_model_took_and_what_became_of_its_citations(tree):
    assert told(tree, "Written") == "2 of 4 sections and subsections"
    assert (
        told(tree, "Model") == "test:a-model: 123,456 tokens read, 7,890 written, 4,321 from the ledger; cost unknown"
    )
    assert told(tree, "Citations checked").startswith("14 given, 9 kept, 5 removed since")
    assert "3 refused" in told(tree, "Citations checked")
    notice = " ".join(tree.xpath('string(//*[@class="notice"])').split())
    assert notice == (
        "This survey is not complete: 2 of 4 sections and subsections are written; the notes say what is missing. "
        "The same command goes on where it stopped."
    )


@pytest.mark.parametrize(("cost", "printed"), [(0.0, "$0.00"), (1.5, "$1.50"), (0.00123, "$0.0012"), (1234.5, "$1,234.50")])  # fmt: skip
def test_a_known_cost_is_told_in_dollars(written, cost, printed):
    facts = replace(written.facts, model=replace(written.facts.model, cost=cost))
    html = page(written.survey, written.papers, facts, passage_texts=written.passage_texts)
    assert told(lxml.html.fromstring(html), "Model").endswith(f"cost {printed}")


def test_an_extractive_page_says_nothing_of_models(sample_page):
    for word in ("Citations checked", "<dt>Model</dt>", "<dt>Written</dt>", 'class="notice">This survey is not'):
        assert word not in sample_page


def test_hostile_text_of_a_model_brings_nothing_in(written):
    def evil(sentence):
        checks = tuple(replace(c, reason=EVIL, judge=EVIL) for c in sentence.checks)
        return replace(sentence, text=EVIL, checks=checks)

    sections = tuple(
        replace(d, title=EVIL, paragraphs=tuple(tuple(evil(s) for s in p) for p in d.paragraphs))
        for d in written.survey.sections
    )
    facts = replace(written.facts, writer=EVIL)
    survey = replace(written.survey, sections=sections)
    tree = lxml.html.fromstring(page(survey, written.papers, facts, passage_texts=written.passage_texts))
    assert len(tree.xpath("//script")) == 2
    assert not tree.xpath("//main//img | //main//svg | //main//*[@onerror or @onclick or @onload or @style]")
    assert not [a for a in tree.xpath("//main//a/@href") if "evil" in a or a.startswith("javascript")]
