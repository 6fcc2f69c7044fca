"""No call exceeds its window, whatever is asked, and what has no room is known."""

import asyncio
import json
import random
import re
from dataclasses import replace

import pytest

from generation.language_models.calls import ModelSettings, WindowTooSmall
from generation.model_writer import calls, schemas
from generation.model_writer.cards import shown_for_card
from generation.model_writer.writer import ModelWriter
from generation.prompting.fencing import shown_paper
from generation.values import Pattern
from generation.writing import (
    CardRequest,
    CompareRequest,
    DraftRequest,
    Evidence,
    OutlineRequest,
    RefineRequest,
    SectionPlan,
    SubsectionsRequest,
)
from tests.generation.model_writer.conftest import ScriptedGateway, headings

WORDS = [
    "passage",
    "retrieval",
    "reads",
    "index",
    "twice",
    "accuracy",
    "recall",
    "model",
    "trained",
    "question",
    "answer",
    "tide",
    "shore",
    "evidence",
    "joined",
]


def settings(window: int, output: str = "native") -> ModelSettings:
    return ModelSettings("test:scripted", window, output)


def server(window: int, *script) -> ScriptedGateway:
    return ScriptedGateway(settings(window), list(script) or ["x"])


@pytest.fixture
def many(make_paper):
    """Papers with abstracts of some 160 words."""

    def make(count: int, words: int = 160) -> tuple[Evidence, ...]:
        rng = random.Random(7)
        papers = []
        for i in range(count):
            said = [" ".join(rng.choices(WORDS, k=16)).capitalize() + "." for _ in range(words // 16)]
            papers.append(make_paper(f"2301.{i:05}", title=f"Paper {i} on reading", abstract=" ".join(said)))
        return tuple(Evidence(p, None, i % 3 == 0, 1 - i / 1000) for i, p in enumerate(papers))

    return make


PATTERNS = tuple(
    Pattern(f"o{i}", f"A Survey of Reading {i}", tuple((1, f"Heading {j} of reading") for j in range(12)), None, 0.5)
    for i in range(5)
)


@pytest.mark.parametrize("window", [4_000, 200_000])
def test_lm13_all_of_439_papers_are_used_in_portions_that_fit(many, window) -> None:
    gateway = server(window, headings(6))
    writer = ModelWriter(gateway, None)
    evidence = many(439)
    portions = writer.portions(evidence, 110)
    assert [e.paper.paper_id for portion in portions for e in portion] == [e.paper.paper_id for e in evidence]
    assert max(map(len, portions)) <= 110
    for portion in portions:  # the gateway asserts that what it is asked fits its window
        asyncio.run(writer.outline(OutlineRequest("Reading Passages", tuple(portion), PATTERNS, 6)))
    shown = [p for call in gateway.history for p in call.evidence]
    assert sorted([*shown, *(f.item for f in writer.left_out)]) == sorted(e.paper.paper_id for e in evidence)
    assert not writer.left_out


@pytest.mark.parametrize(("window", "papers"), [(3_000, 3), (3_000, 60), (4_000, 439), (32_000, 60), (200_000, 439)])
def test_lm13_no_call_of_any_operation_exceeds_its_window(many, written, window, papers) -> None:
    gateway, given, of = server(window), many(papers), settings(window)
    request = DraftRequest(
        "Reading Passages", "2.1", "Passages", "How", "body", given, (), (("2.1", "Passages", "body"),), 12
    )
    draft = written(
        *((f"Sentence {i} says how passages are read.", (given[i % papers].paper.paper_id,)) for i in range(12))
    )
    plan = SectionPlan("Reading", "How.", ("a", "b", "c"), ())
    built = [
        calls.outline_call(of, gateway.count, OutlineRequest("T", given, PATTERNS, 8)),
        calls.subsections_call(of, gateway.count, SubsectionsRequest("T", plan, given, PATTERNS, 5, ("Indexes",))),
        calls.draft_call(of, gateway.count, request),
        calls.refine_call(of, gateway.count, RefineRequest(draft, (draft, draft), request)),
        calls.revise_call(of, gateway.count, request, list(draft.sentences())[:4]),
        calls.verdict_call(of, gateway.count, request, list(draft.sentences())[:4]),
        calls.compare_call(of, gateway.count, CompareRequest("2", "Reading", given)),
    ]
    for one in built:
        used = gateway.count(one.call.messages, one.call.schema) + one.call.most_tokens
        assert used <= window
        if one.call.operation in ("outline", "subsections", "draft", "compare"):
            assert sorted([*one.call.evidence, *one.left_out]) == sorted(e.paper.paper_id for e in given)


def test_the_nearest_papers_at_home_are_shown_first(many) -> None:
    gateway, given = server(2_600), many(60)
    request = DraftRequest("T", "2.1", "Passages", "", "body", given)
    built = calls.draft_call(settings(2_600), gateway.count, request)
    home = [e.paper.paper_id for e in given if e.is_home]
    assert list(built.call.evidence) == home[: len(built.call.evidence)]
    assert set(home[len(built.call.evidence) :]) <= set(built.left_out)


def test_what_had_no_room_is_remembered(many) -> None:
    from tests.generation.model_writer.conftest import drafted

    gateway = server(2_600, drafted(("Passages are read.", [])))
    writer = ModelWriter(gateway, None)
    asyncio.run(writer.draft(DraftRequest("T", "2.1", "Passages", "", "body", many(60))))
    assert writer.left_out
    assert all("2,600 tokens" in failure.reason for failure in writer.left_out)


def test_a_window_too_small_for_any_prompt_is_told(many) -> None:
    with pytest.raises(WindowTooSmall, match=r"prompt of “draft” does not fit the window of 500 tokens"):
        calls.draft_call(settings(500), server(500).count, DraftRequest("T", "2.1", "Passages", "", "body", many(3)))
    with pytest.raises(WindowTooSmall):
        calls.card_call(
            settings(300), server(300).count, shown_paper("p", "t", "2023-01", "a" * 900), is_full_text=False
        )


@pytest.mark.parametrize("window", [2_048, 4_096, 8_192, 128_000])
def test_every_schema_is_bounded_and_its_longest_reply_fits(window) -> None:
    of = settings(window)
    ids = [f"2301.{i:05}" for i in range(8)]
    forms = [
        schemas.card_form(of),
        schemas.sections_form(of, "outline", 5),
        schemas.subsections_form(of, 4),
        schemas.draft_form(of, "draft", ids, 300),
        schemas.revise_form(of, ids, 3),
        schemas.compare_form(of, ids, 8),
        schemas.verdict_form(of, 20),
    ]
    for form in forms:
        _require_bounds(form.schema)
        assert schemas.worst_tokens(form.schema, of) <= form.most_tokens <= schemas.reply_room(of)
        json.dumps(form.schema)


def _require_bounds(schema) -> None:
    if schema["type"] == "object":
        assert schema["additionalProperties"] is False
        assert schema["required"] == list(schema["properties"])
        for inner in schema["properties"].values():
            _require_bounds(inner)
    elif schema["type"] == "array":
        assert 0 <= schema["minItems"] <= schema["maxItems"]
        _require_bounds(schema["items"])
    elif schema["type"] == "string":
        assert schema.get("enum") or schema["maxLength"] > 0
    else:
        assert schema["maximum"] >= 1


def test_a_long_paper_shows_what_fits_of_its_full_text(make_paper) -> None:
    from generation.cards import CardPassage

    paths = ("Introduction", "Method", "Experiments", "Limitations", "Conclusion", "Related Work")
    passages = tuple(
        CardPassage(f"p{i}", (paths[i // 10],), str(i // 10 + 1), i // 4 + 1, f"Passage {i} says this. " * 20, i)
        for i in range(60)
    )
    shown = shown_for_card(CardRequest(make_paper(), passages))
    gateway = server(6_000)
    built = calls.card_call(settings(6_000), gateway.count, shown, is_full_text=True)
    text = built.call.messages[1].text
    assert gateway.count(built.call.messages, built.call.schema) + built.call.most_tokens <= 6_000
    assert all(f"“{name}”" in text for name in paths[:5])
    assert "“Related Work”" not in text
    assert built.left_out
    numbers = [int(line.split()[1]) for line in text.splitlines() if line.startswith("passage ")]
    assert numbers == sorted(numbers)


def test_sentences_of_small_models_are_words_with_blanks_between() -> None:
    ids = ["2301.00001"]

    def text(window: int) -> dict:
        schema = schemas.draft_form(settings(window), "draft", ids, 100).schema
        said = schema["properties"]["paragraphs"]["items"]["properties"]["sentences"]["items"]
        return said["properties"]["text"]

    small = text(4_096)
    assert re.fullmatch(small["pattern"], "Heron reads each passage twice, and reaches 61.2 on TideQA.")
    assert not re.fullmatch(small["pattern"], "2301.00001, 2023-01, 2301.00001, 2023-01, 2301.00001.")
    assert not re.fullmatch(small["pattern"], "sentences_text_text_sentences_text_and_so_on")
    assert "pattern" not in text(32_000)


def test_small_windows_get_short_prompts(many) -> None:
    request = DraftRequest("T", "2.1", "Passages", "", "body", many(3))
    small, large = (calls.draft_call(settings(w), server(w).count, request).call for w in (4_000, 32_000))
    assert len(small.messages[0].text) < 0.7 * len(large.messages[0].text)
    assert replace(small, messages=()).template == large.template


def test_a_window_that_bears_no_revision_or_table_leaves_the_draft_as_it_is(many, written) -> None:
    from generation.writing import GroundRequest
    from tests.generation.conftest import WordEmbedder

    given = many(3)
    writer = ModelWriter(server(700), WordEmbedder().embed)
    request = DraftRequest("T", "2.1", "Passages", "", "body", given)
    wrong = written(("Heron reaches 99.9 exact match on TideQA.", (given[0].paper.paper_id,)))
    assert asyncio.run(writer.refine(RefineRequest(wrong, (wrong,), request))) == wrong
    assert asyncio.run(writer.ground(GroundRequest(wrong, request))).cited_ids == ()
    assert asyncio.run(writer.compare(CompareRequest("2", "Reading", given))) == ()
    assert [n.item.rpartition(": ")[2] for n in writer.notes] == ["not made", "not refined", "not revised"]


@pytest.mark.parametrize(("window", "characters"), [(2_048, 7_811), (4_096, 7_811), (4_096, 60_000), (32_000, 200_000)])
@pytest.mark.parametrize("words", ["It reads passages twice. ", "passages", "it reads passages twice "])
def test_an_abstract_of_any_length_gets_a_card(window, characters, words) -> None:
    """Whole sentences, no blank at all, and no end of a sentence."""
    paper = shown_paper("2301.00001", "Heron", "2023-01", (words * characters)[:characters])
    gateway = server(window)
    built = calls.card_call(settings(window), gateway.count, paper, is_full_text=False)
    assert gateway.count(built.call.messages, built.call.schema) + built.call.most_tokens <= window
    assert built.left_out == (("abstract",) if characters > window * 2 else built.left_out)
    assert words.strip()[:20] in built.call.messages[1].text


def test_as_much_of_a_long_abstract_is_shown_as_fits() -> None:
    paper = shown_paper("2301.00001", "Heron", "2023-01", "It reads passages twice. " * 900)
    shown = [
        calls.card_call(settings(w), server(w).count, paper, is_full_text=False).call.messages[1].text.count("twice")
        for w in (2_048, 4_096, 32_000, 200_000)
    ]
    assert shown == sorted(shown)
    assert shown[0] > 10
    assert shown[-1] == 900


@pytest.mark.parametrize("operation", ["card", "draft"])
def test_a_prompt_that_fits_nowhere_is_told_from_one_that_does_not_fit(many, operation) -> None:
    """No room for this paper is its own failure; no room for any ends the stage."""

    def asked(window: int):
        if operation == "card":
            paper = shown_paper("2301.00001", "Heron", "2023-01", "", notes=["method: " + "it reads. " * 9000])
            return calls.card_call(settings(window), server(window).count, paper, is_full_text=False)
        item = many(1)[0]
        item = replace(item, paper=replace(item.paper, title="reading " * 9000))
        return calls.draft_call(
            settings(window), server(window).count, DraftRequest("T", "2.1", "P", "", "body", (item,))
        )

    if operation == "draft":
        with pytest.raises(calls.NoRoom, match=r"“draft” does not fit the window of 4,096 tokens") as error:
            asked(4_096)
        assert not error.value.is_fatal
    else:
        asked(4_096)  # without its notes it fits
    with pytest.raises(WindowTooSmall) as error:
        asked(300)
    assert error.value.is_fatal


def test_a_long_outline_leaves_room_for_papers(many) -> None:
    outline = tuple(
        (f"{i}", "A heading of many words that says all there is to say of it " * 3, "body") for i in range(90)
    )
    request = DraftRequest("T", "45", "Passages", "", "body", many(5), outline=outline)
    gateway = server(4_096)
    built = calls.draft_call(settings(4_096), gateway.count, request)
    assert built.call.evidence
    assert "← this part" in built.call.messages[1].text
    assert gateway.count(built.call.messages, built.call.schema) + built.call.most_tokens <= 4_096


def test_one_card_that_has_no_room_fails_alone(make_paper, monkeypatch) -> None:
    def no_room(*_args, **_more):
        raise calls.NoRoom("the prompt of “card” does not fit the window of 4,096 tokens", which="2301.00001")

    writer = ModelWriter(server(4_096), None)
    monkeypatch.setattr(calls, "card_call", no_room)
    card = asyncio.run(writer.card(CardRequest(make_paper("2301.00001"), ())))
    assert card.failure is not None
    assert "does not fit" in card.failure.reason
    assert not card.failure.is_retryable


def test_portions_of_a_writer_fit_whatever_number_of_sections_is_asked_for(many) -> None:
    gateway = server(4_000, headings(6))
    writer = ModelWriter(gateway, None)
    for portion in writer.portions(many(60), 110):
        for sections in (3, 6, 12):
            built = calls.outline_call(
                settings(4_000), gateway.count, OutlineRequest("T", tuple(portion), (), sections)
            )
            assert built.left_out == ()
