"""Grounding rounds: what papers do not bear is revised once, then goes; what happened can be read."""

import asyncio

import pytest

from generation.language_models.calls import Overloaded, Refused, WrongKey
from generation.writing import GroundRequest

A, B = "2301.00001", "2301.00002"
BORNE = ("Heron reads each passage twice before it answers.", [A])


def run(coroutine):
    return asyncio.run(coroutine)


def test_what_its_papers_do_not_bear_is_revised_and_checked_again(writer, draft_request, written) -> None:
    draft = written((BORNE[0], (A,)), ("Heron reaches 99.9 exact match on TideQA.", (A,)))
    revised = {"sentences": [{"number": 1, "text": "On TideQA Heron reaches 61.2 exact match.", "papers": [A]}]}
    made = writer(revised)
    grounded = run(made.ground(GroundRequest(draft, draft_request())))
    first, second = grounded.sentences()
    assert second.text == "On TideQA Heron reaches 61.2 exact match."
    assert [(c.paper_id, c.action) for c in second.checks] == [(A, "revised")]
    assert second.checks[0].verdict != "ungrounded"
    assert second.calls == ("first", "key1")
    assert [c.action for c in first.checks] == ["kept"]
    (call,) = made.history
    assert (call.operation, call.repairs) == ("revise", "first")
    assert "99.9" in call.reason
    assert "99.9" in call.messages[1].text


def test_what_is_not_mended_loses_its_citation(writer, draft_request, written) -> None:
    wrong = ("Heron reaches 99.9 exact match on TideQA.", (A,))
    same = {"sentences": [{"number": 1, "text": wrong[0], "papers": [A]}]}
    grounded = run(writer(same).ground(GroundRequest(written(wrong, (BORNE[0], (A,))), draft_request())))
    first, second = grounded.sentences()
    assert (first.cited_ids, first.checks[-1].action) == ((), "removed")
    assert second.cited_ids == (A,)
    assert second.text == BORNE[0]


def test_a_sentence_that_nothing_bears_may_be_taken_out(writer, draft_request, written) -> None:
    wrong = ("Heron reaches 99.9 exact match on TideQA.", (A,))
    made = writer({"sentences": [{"number": 1, "text": "", "papers": []}]})
    grounded = run(made.ground(GroundRequest(written(wrong, (BORNE[0], (A,))), draft_request())))
    assert [s.text for s in grounded.sentences()] == [BORNE[0]]
    assert "was taken out: “Heron reaches 99.9" in made.notes[0].reason


@pytest.mark.parametrize("error", [Refused("the model declined"), Overloaded("too many requests"), "no JSON"])
def test_a_revision_that_fails_leaves_the_rules_to_decide(writer, draft_request, written, error) -> None:
    made = writer(error)
    wrong = ("Heron reaches 99.9 exact match on TideQA.", (A,))
    grounded = run(made.ground(GroundRequest(written(wrong, (BORNE[0], (A,))), draft_request())))
    assert grounded.cited_ids == (A,)
    assert made.notes[0].item == "2.1 Passages: not revised"


def test_a_fatal_failure_ends_grounding(writer, draft_request, written) -> None:
    made = writer(WrongKey("the server does not accept the key"))
    with pytest.raises(WrongKey):
        run(made.ground(GroundRequest(written(("Heron reaches 99.9.", (A,))), draft_request())))


def test_a_draft_that_is_borne_needs_no_call(writer, draft_request, written) -> None:
    made = writer("never asked")
    grounded = run(made.ground(GroundRequest(written((BORNE[0], (A,))), draft_request())))
    assert grounded.cited_ids == (A,)
    assert made.history == []


def test_a_models_verdict_counts_where_it_is_worse(writer, draft_request, written) -> None:
    verdicts = {"verdicts": [{"number": 1, "verdict": "unsupported"}, {"number": 2, "verdict": "supported"}]}
    made = writer(verdicts, {"sentences": [{"number": 1, "text": "", "papers": []}]}, verdicts=True)
    curlew = ("Curlew stores one vector for eight sentences.", (B,))
    grounded = run(made.ground(GroundRequest(written((BORNE[0], (A,)), curlew), draft_request())))
    (kept,) = grounded.sentences()
    assert kept.text == curlew[0]
    assert {c.judge for c in kept.checks} == {"rules", "test:scripted"}
    assert [c.operation for c in made.history] == ["verdict", "revise"]
