"""A written sentence from the lake back to the calls that wrote it, and what an edition's calls came to."""

from datetime import UTC, date, datetime, timedelta

import polars as pl
import pytest

from corpus.contracts.registry import CONTRACTS
from generation import editions, lineage
from generation.editions import Edition
from generation.reprinting import facts_of
from generation.topics import define_topic
from generation.values import Check, SectionDraft, Sentence, Span, StatedRow
from tests.generation.conftest import write_papers
from tests.generation.ledger_rows import ASKED, write_calls

PAPER, OTHER = "2001.00001", "2001.00002"
TOPIC = define_topic("Counting words", cutoff=date(2024, 1, 31))
EDITION = Edition(TOPIC, "surveyforge", "test:a-model", "{}", date(2024, 1, 31), "p", "c", "h")
SENTENCES = (
    Sentence(
        "written", "Counting finds rare names.", (PAPER,), (Span(PAPER, 0, 26),), calls=("draft2", "refine1"),
        checks=(Check(PAPER, "weak", 0.41, "not in what was shown of the cited papers: four", "revised"),
                Check(OTHER, "ungrounded", 0.05, "nothing that was shown of the paper is near", "removed", "test:judge")),
    ),
    Sentence("written", "What follows asks why.", calls=("gone",)),
    Sentence("composed", "1 paper.", template="{n} paper.", rows=(StatedRow("n", "1", "SELECT 1"),)),
)  # fmt: skip


@pytest.fixture
def row(lake):
    """The row of a survey of one section, stored as the stages store it."""
    write_papers(lake, [{"paper_id": PAPER, "title": "Counting", "abstract": "Counting finds rare names."}])
    editions.store_text(lake, EDITION, [SectionDraft("1", "Counting", (SENTENCES,))])
    row = {
        **dict.fromkeys(CONTRACTS["surveys"].polars_schema), "topic": TOPIC.key, "edition": EDITION.id, "title": TOPIC.title,
        "method": "surveyforge", "writer": "test:a-model", "parameters": "{}", "cutoff": EDITION.cutoff, "admitted_count": 2,
        "pool_count": 2, "consulted_count": 2, "cited_count": 1, "section_count": 1, "sentence_count": 3,
        "reference_ids": [PAPER], "manifest": [{"table": "papers", "version": lake.version("papers")}], "corpus_hash": "x", "pool_hash": "p",
        "status": "partial", "have_count": 1, "expected_count": 3, "is_resumable": True,
        "grounding": {"cited": 2, "kept": 1, "removed": 1, "refused": 0}, "failures": [], "notes": [],
        "paths": {"markdown": "a", "html": "b", "bibtex": "c"}, "input_tokens": 10, "output_tokens": 5, "cached_tokens": 0,
        "cost": None, "seconds": 1.0, "created_at": datetime(2025, 1, 2, tzinfo=UTC),
    }  # fmt: skip
    lake.replace("surveys", pl.DataFrame([row], schema=CONTRACTS["surveys"].polars_schema), {"topic": TOPIC.key})
    return lineage.find_edition(lake, TOPIC.key)


@pytest.fixture
def ledger(lake):
    """Two calls, the first of which had to be repaired, and its first answer read again by another edition."""
    own = {"topic": TOPIC.key, "edition": EDITION.id}
    write_calls(
        lake,
        {**own, "key": "draft1", "cost": 0.25, "evidence": [PAPER, OTHER], "item": "1 Counting"},
        {**own, "key": "draft1", "status": "rate_limited", "input_tokens": None, "output_tokens": None, "cost": None,
         "asked_at": ASKED - timedelta(minutes=1)},
        {**own, "key": "draft2", "attempt": 2, "repairs": "draft1", "repair_reason": "a token of no paper", "cost": 0.25,
         "evidence": [PAPER, OTHER], "flagged": [OTHER]},
        {**own, "key": "refine1", "operation": "refine", "edition": "other", "asked_at": ASKED - timedelta(days=1)},
        {**own, "key": "refine1", "operation": "refine", "origin": "cached", "cost": 0.0},
        {**own, "key": "else", "edition": "other"},
    )  # fmt: skip


def found(node, kind):
    return [child for child in node.children if child.kind == kind]


def test_written_sentences_come_out_of_the_lake_as_they_went_in(lake, row):
    [section] = editions.load_sections(lake, TOPIC.key, EDITION.id)
    assert tuple(section.sentences()) == SENTENCES


def test_an_edition_of_before_calls_and_checks_were_kept_is_read(lake, row):
    rows = lake.read("survey_sentences").with_columns(
        calls=pl.lit(None, dtype=pl.List(pl.String)), checks=pl.lit(None, dtype=lake.read("survey_sentences").schema["checks"])
    )  # fmt: skip
    lake.replace("survey_sentences", rows, None)
    [section] = editions.load_sections(lake, TOPIC.key, EDITION.id)
    assert {(s.calls, s.checks) for s in section.sentences()} == {((), ())}
    assert found(lineage.of_sentence(lake, row, 1), "call") == []


def test_a_sentence_leads_to_its_checks_its_place_and_its_calls(lake, row, ledger):
    node = lineage.of_sentence(lake, row, 1)
    [span] = found(node, "span")
    assert span.detail["text"] == "Counting finds rare names."
    weak, removed = found(node, "check")
    assert (weak.id, weak.detail["verdict"], weak.detail["similarity"], weak.detail["action"]) == (PAPER, "weak", 0.41, "revised")  # fmt: skip
    assert removed.detail["judge"] == "test:judge"
    assert "removed" in removed.label
    draft, refine = found(node, "call")
    assert (draft.id, draft.detail["operation"], draft.detail["template"]) == ("draft2", "draft", "t" * 12)
    assert draft.detail["model"] == "test:a-model"
    assert (draft.detail["input_tokens"], draft.detail["output_tokens"], draft.detail["cost"]) == (100, 20, 0.25)
    assert draft.detail["evidence"] == [PAPER, OTHER]
    assert draft.detail["flagged"] == [OTHER]
    assert (draft.detail["attempt"], draft.detail["repair_reason"]) == (2, "a token of no paper")
    [repaired] = draft.children
    assert (repaired.id, repaired.detail["sent"], repaired.detail["status"]) == ("draft1", 2, "answered")
    assert repaired.label.startswith("repaired: draft by test:a-model")
    assert (draft.detail["origin"], refine.detail["origin"]) == ("paid", "cached")
    assert node.as_json()["children"]


def test_the_prompt_is_had_by_the_query_that_is_told(lake, row, ledger):
    from corpus.query import query

    [draft, _] = found(lineage.of_sentence(lake, row, 1), "call")
    assert query(lake, draft.detail["query"]).to_pylist() == [{"messages": "[]", "reply": "{}"}]


def test_a_call_that_the_ledger_has_not_is_told(lake, row, ledger):
    [call] = found(lineage.of_sentence(lake, row, 2), "call")
    assert (call.id, call.detail, "no such call" in call.label) == ("gone", {}, True)


def test_a_lake_without_a_ledger_is_no_failure(lake, row):
    assert ["no ledger" in c.label for c in found(lineage.of_sentence(lake, row, 1), "call")] == [True, True]
    for tree in (lineage.of_survey(lake, row), lineage.of_section(lake, row, "1")):
        assert found(tree, "language model calls") == []


def test_tokens_and_cost_of_an_edition_by_operation(lake, row, ledger):
    [spent] = found(lineage.of_survey(lake, row), "language model calls")
    assert (spent.detail["paid_calls"], spent.detail["cached_calls"], spent.detail["cost"]) == (3, 1, 0.5)
    assert (spent.detail["input_tokens"], spent.detail["output_tokens"], spent.detail["cached_tokens"]) == (
        200,
        40,
        120,
    )
    draft, refine = spent.children
    assert (draft.id, draft.detail["paid_calls"], draft.detail["cost"]) == ("draft", 3, 0.5)
    assert (refine.id, refine.detail["paid_calls"], refine.detail["cached_calls"]) == ("refine", 0, 1)


def test_tokens_and_cost_of_a_section(lake, row, ledger):
    section = lineage.of_section(lake, row, "1")
    [spent] = found(section, "language model calls")
    assert (spent.detail["paid_calls"], spent.detail["cost"]) == (3, 0.5)
    assert len(found(section, "sentence")) == 3
    assert found(section.children[0], "call")


def test_a_cost_at_no_known_price_is_unknown(lake, row):
    own = {"topic": TOPIC.key, "edition": EDITION.id}
    write_calls(lake, {**own, "key": "draft2"}, {**own, "key": "draft2", "cost": None})
    [spent] = found(lineage.of_survey(lake, row), "language model calls")
    assert spent.detail["cost"] == "unknown"
    assert "cost unknown" in spent.label


def test_repairs_that_name_each_other_come_to_an_end(lake, row):
    own = {"topic": TOPIC.key, "edition": EDITION.id}
    write_calls(lake, {**own, "key": "draft2", "repairs": "draft1"}, {**own, "key": "draft1", "repairs": "draft2"})
    assert found(lineage.of_sentence(lake, row, 1), "call")


def test_the_page_is_told_what_the_row_says(lake, row):
    facts = facts_of(row, [])
    assert (facts.have, facts.expected, facts.is_partial, facts.is_resumable) == (1, 3, True, True)
    assert (facts.model.cited, facts.model.kept, facts.model.removed, facts.model.refused) == (2, 1, 1, 0)
    assert facts.model.cost is None
    before = facts_of(
        {
            **row,
            "grounding": None,
            "have_count": None,
            "expected_count": None,
            "is_resumable": None,
            "status": "complete",
        },
        [],
    )
    assert (before.model, before.have, before.is_partial, before.is_resumable) == (None, None, False, False)
