"""Grounding rounds: what papers do not bear is revised once, then goes; what happened can be read."""

import asyncio
from dataclasses import replace

import pytest

from generation.grounding import Counts, counts
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


def verdicts(verdict: str):
    """A judge that says the same of all sentences it is asked about."""

    def answer(call) -> dict:
        count = call.schema["properties"]["verdicts"]["maxItems"]
        return {"verdicts": [{"number": n, "verdict": verdict} for n in range(1, count + 1)]}

    return answer


def sentences_of(evidence) -> list[tuple[str, tuple[str, ...]]]:
    """The last sentence of each abstract."""
    return [(e.paper.abstract.rpartition(". ")[2], (e.paper.paper_id,)) for e in evidence]


@pytest.mark.parametrize("window", [1_000, 1_200, 32_000])
def test_a_model_judges_only_sentences_whose_papers_it_is_shown(
    writer, draft_request, written, evidence, window
) -> None:
    before = "Nothing of this is of interest to anyone. " * 20
    long = tuple(replace(e, paper=replace(e.paper, abstract=f"{before}{e.paper.abstract}")) for e in evidence())
    made = writer(verdicts("supported"), verdicts=True, window=window)
    said = sentences_of(long)
    grounded = run(made.ground(GroundRequest(written(*said), draft_request(shown=long))))
    asked = [text for text, _ in said if any(text in c.messages[1].text for c in made.history)]
    assert asked == [text for text, _ in said]
    for call in made.history:
        assert all(
            set(papers) <= set(call.evidence) for text, papers in said if f"{text} (cites" in call.messages[1].text
        )
    assert (len(made.history) > 1) == (window < 32_000)
    assert grounded.cited_ids == tuple(p for _, papers in said for p in papers)


def test_a_sentence_whose_papers_do_not_fit_together_is_left_to_the_rules(
    writer, draft_request, written, evidence
) -> None:
    shown = tuple(replace(e, paper=replace(e.paper, abstract=f"{e.paper.abstract} " * 12)) for e in evidence())
    everything = ("Heron reads passages, Curlew stores one vector, Dunlin asks a second question, and knots join passages.", (A, B, "2301.00003", "2301.00004"))  # fmt: skip
    made = writer(verdicts("unsupported"), {"sentences": []}, verdicts=True, window=900)
    grounded = run(made.ground(GroundRequest(written(everything), draft_request(shown=shown))))
    assert grounded.cited_ids != ()
    assert "verdict" not in [c.operation for c in made.history]
    assert made.notes[0].item == "2.1 Passages: not judged"
    assert made.notes[0].reason == "1 of 1 sentences, for which not all that they rest on can be shown in one call"


STATED = "Heron lifts accuracy by 93.7 points on MoonQA."


def test_a_claim_without_a_citation_is_revised(writer, draft_request, written) -> None:
    revised = {"sentences": [{"number": 1, "text": "On TideQA Heron reaches 61.2 exact match.", "papers": [A]}]}
    made = writer(revised)
    grounded = run(made.ground(GroundRequest(written((STATED, ()), (BORNE[0], (A,))), draft_request())))
    first, _ = grounded.sentences()
    assert (first.cited_ids, first.is_unborne) == ((A,), False)
    assert [(c.paper_id, c.action) for c in first.checks] == [(A, "revised")]
    assert "no paper is cited for what it states: 93.7, TideQA" not in made.history[0].reason
    assert "found: no paper is cited for what it states: 93.7, MoonQA" in made.history[0].messages[1].text


def test_a_claim_that_stays_without_a_citation_is_marked(writer, draft_request, written) -> None:
    same = {"sentences": [{"number": 1, "text": STATED, "papers": []}]}
    grounded = run(writer(same).ground(GroundRequest(written((STATED, ()), (BORNE[0], (A,))), draft_request())))
    first, second = grounded.sentences()
    assert (first.is_unborne, second.is_unborne) == (True, False)
    assert [c.paper_id for c in first.checks] == [""]


def test_a_claim_put_in_general_words_needs_no_mark(writer, draft_request, written) -> None:
    general = {"sentences": [{"number": 1, "text": "Reading costs time.", "papers": []}]}
    grounded = run(writer(general).ground(GroundRequest(written((STATED, ())), draft_request())))
    (only,) = grounded.sentences()
    assert (only.text, only.checks, only.is_unborne) == ("Reading costs time.", (), False)


def test_citations_that_go_with_their_sentence_are_counted(writer, draft_request, written) -> None:
    made = writer({"sentences": [{"number": 1, "text": "", "papers": []}]})
    wrong = ("Heron reaches 99.9 exact match on TideQA.", (A,))
    grounded = run(made.ground(GroundRequest(written(wrong, (BORNE[0], (A,))), draft_request())))
    assert made.taken_out == 1
    assert counts(grounded, taken_out=made.taken_out) == Counts(cited=2, kept=1, removed=1)
