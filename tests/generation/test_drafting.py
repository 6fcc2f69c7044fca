"""Drafts at work: what waits for what, what a failure costs, and what ends the work."""

import asyncio

import pytest

from generation.drafting import Drafting, answered, with_tables, without_repeats
from generation.facts import restate
from generation.language_models.calls import OutOfBudget, Unfit, WrongKey
from generation.values import SectionDraft, Sentence, StatedRow, Survey
from generation.writing import CompareRequest, DraftRequest


class Writer:
    """Answers each operation after a fixed time, or raises what a test says; keeps what it was asked, in order."""

    name, version, card_version, asks_a_model = "scripted:writer", "1", "1", True

    def __init__(self, failing=None, latency=0.0):
        self.failing = failing or {}
        self.latency = latency
        self.asked = []
        self.beside = {}

    async def _answer(self, operation, number, text, papers=("2001.00001",)):
        self.asked.append((operation, number))
        await asyncio.sleep(self.latency)
        if error := self.failing.get((operation, number)):
            raise error
        return SectionDraft(number, number, ((Sentence("written", text, papers),),))

    async def draft(self, request):
        return await self._answer("draft", request.number, f"draft of {request.number}")

    async def refine(self, request):
        number = request.draft.number
        self.beside[number] = [s.text for n in request.neighbours for s in n.sentences()]
        return await self._answer("refine", number, f"refined {number}")

    async def ground(self, request):
        return request.draft

    async def compare(self, request):
        return (await self._answer("compare", request.number, "table")).paragraphs[0]


def requests_of(*numbers):
    return {n: DraftRequest("topic", n, f"Title {n}", "", "body", ()) for n in numbers}


def written(writer, leaves, frame=()):
    async def work():
        async with Drafting(writer) as drafting:
            drafting.begin_leaves(requests_of(*leaves))
            drafting.begin(requests_of(*frame))
            return await drafting.finished([*leaves, *frame]), drafting.failures, drafting.notes

    return asyncio.run(work())


def said(draft):
    return [s.text for s in draft.sentences()]


def test_even_leaves_are_refined_beside_drafts_and_odd_ones_beside_refined_ones():
    writer = Writer()
    drafts, failures, _ = written(writer, ["2", "3", "4", "5", "6"])
    assert writer.beside == {
        "2": ["draft of 3"],
        "4": ["draft of 3", "draft of 5"],
        "6": ["draft of 5"],
        "3": ["refined 2", "refined 4"],
        "5": ["refined 4", "refined 6"],
    }
    assert [said(d) for d in drafts.values()] == [[f"refined {n}"] for n in "23456"]
    assert failures == ()


def test_one_leaf_is_refined_beside_nothing():
    writer = Writer()
    assert list(written(writer, ["2"])[0]) == ["2"]
    assert writer.beside == {"2": []}


def test_a_leaf_does_not_wait_for_leaves_that_are_not_its_neighbours():
    writer = Writer()
    slow = asyncio.Event

    async def work():
        gate = slow()
        draft = writer.draft

        async def held(request):
            if request.number == "9":
                await gate.wait()
            return await draft(request)

        writer.draft = held
        async with Drafting(writer) as drafting:
            drafting.begin_leaves(requests_of("2", "3", "4", "5", "9"))
            done = await drafting.finished(["2", "3"])
            gate.set()
            return done, await drafting.finished(["4", "5", "9"])

    early, late = asyncio.run(work())
    assert list(early) == ["2", "3"]
    assert list(late) == ["4", "5", "9"]


def test_a_failed_draft_is_a_failure_with_its_reason_and_its_neighbours_go_on():
    writer = Writer({("draft", "3"): Unfit("the reply is no draft")})
    drafts, failures, _ = written(writer, ["2", "3", "4"])
    assert list(drafts) == ["2", "4"]
    assert [(f.item, f.reason, f.is_retryable) for f in failures] == [("3 Title 3", "the reply is no draft.", False)]
    assert writer.beside == {"2": [], "4": []}
    assert ("refine", "3") not in writer.asked


def test_a_draft_that_cannot_be_refined_stands_and_is_noted():
    writer = Writer({("refine", "2"): Unfit("the reply is no draft")})
    drafts, failures, notes = written(writer, ["2", "3"])
    assert said(drafts["2"]) == ["draft of 2"]
    assert failures == ()
    assert [n.item for n in notes] == ["2 Title 2: not refined"]


def test_a_spent_budget_makes_each_open_item_a_failure_that_a_rerun_may_mend():
    spent = OutOfBudget("the budget is spent")
    writer = Writer({("refine", "2"): spent, ("draft", "3"): spent, ("draft", "1"): spent})
    drafts, failures, _ = written(writer, ["2", "3"], ["1"])
    assert {n: said(d) for n, d in drafts.items()} == {"2": ["draft of 2"]}
    assert [(f.item, f.is_retryable) for f in failures] == [
        ("2 Title 2: not refined", True),
        ("3 Title 3", True),
        ("1 Title 1", True),
    ]


def test_what_no_rerun_can_change_ends_the_work_at_once():
    writer = Writer({("draft", "4"): WrongKey("the key is not accepted")}, latency=0.01)

    async def held(request):
        if request.number == "2":
            await asyncio.sleep(60)
        return await Writer.draft(writer, request)

    writer.draft = held
    with pytest.raises(WrongKey):
        asyncio.run(asyncio.wait_for(_finished(writer, ["2", "3", "4"]), 5))


async def _finished(writer, leaves):
    async with Drafting(writer) as drafting:
        drafting.begin_leaves(requests_of(*leaves))
        return await drafting.finished(leaves)


def test_a_table_waits_for_its_leaves_and_is_asked_with_what_they_cite():
    writer = Writer()
    shown = []

    def request(cited):
        shown.append(list(cited))
        return CompareRequest("2", "Title", ())

    async def work():
        async with Drafting(writer) as drafting:
            drafting.begin_leaves(requests_of("2.1", "2.2"))
            tables = drafting.begin_tables({"2": (("2.1", "2.2"), request)})
            return await drafting.paragraphs(tables)

    tables = asyncio.run(work())
    assert [s.text for s in tables["2"]] == ["table"]
    assert shown == [["2001.00001"]]
    assert writer.asked.index(("compare", "2")) > writer.asked.index(("refine", "2.2"))


def test_a_models_sentence_that_stands_elsewhere_goes_without_another_call():
    writer = Writer()
    same = Sentence("written", "Both say this.", ("2001.00001",))
    own = Sentence("written", "Only here.", ("2001.00002",))
    drafts = {"2": SectionDraft("2", "A", ((same,),)), "3": SectionDraft("3", "B", ((same, own),))}
    kept = asyncio.run(without_repeats(writer, requests_of("2", "3"), drafts))
    assert [said(d) for d in kept.values()] == [["Both say this."], ["Only here."]]
    assert writer.asked == []


async def _given(value):
    if isinstance(value, BaseException):
        raise value
    return value


def answers(values, **more):
    notes = []

    async def work():
        return await answered([_given(v) for v in values], [f"item {i}" for i in range(len(values))], notes, **more)

    return asyncio.run(work()), notes


def test_an_outline_that_fails_by_itself_is_left_out_and_noted():
    found, notes = answers(["a", Unfit("the reply is no outline"), "c"])
    assert found == ["a", None, "c"]
    assert [(n.item, n.reason) for n in notes] == [("item 1", "the reply is no outline.")]


def test_where_every_outline_fails_the_first_reason_is_told():
    with pytest.raises(Unfit, match="first"):
        answers([Unfit("first"), Unfit("second")])
    assert answers([Unfit("first"), Unfit("second")], may_all_fail=True)[0] == [None, None]


def test_a_fatal_failure_among_outlines_is_raised():
    with pytest.raises(WrongKey):
        answers(["a", WrongKey("no")])


def test_a_table_is_told_under_the_number_of_its_section_as_printed():
    caption = Sentence("composed", "Works of Section 4.", template="Works of Section {section}.", place="caption",
                       rows=(StatedRow("section", "4"),))  # fmt: skip
    survey = Survey("T", (SectionDraft("3", "B", ((Sentence("written", "Text."),),), "4"),))
    [section] = with_tables(survey, {"4": (caption,), "5": (caption,)}).sections
    assert section.paragraphs[-1][0].text == "Works of Section 3."
    assert section.paragraphs[-1][0].rows[0].value == "3"


def test_the_plan_of_the_survey_names_sections_as_they_came_out():
    plan = Sentence("composed", "It takes up A (Section 2) and B (Section 3).", template="It takes up {plan}.",
                    rows=(StatedRow("plan", "A (Section 2) and B (Section 3)"),))  # fmt: skip
    section = SectionDraft("1", "Introduction", ((plan,),))
    assert said(restate(section, {"plan": StatedRow("plan", "B (Section 2)")})) == ["It takes up B (Section 2)."]
    assert said(restate(section, {})) == []
