"""Replies that are wrong in ways no schema foresees: each is read, or told as unfit, and ends no survey."""

import asyncio
import json
from dataclasses import replace

import pytest

from generation.language_models.calls import EmptyReply, Refused, Truncated, Unfit
from generation.language_models.replies import guarded, plain_text, read
from generation.model_writer.grounding_rounds import _read_revised
from generation.model_writer.schemas import DraftReply
from generation.model_writer.section_plans import title_of
from generation.model_writer.tables import ABSENT, read_rows
from generation.model_writer.texts import is_whole, lines_of, plain, read_draft
from generation.writing import CompareRequest, Evidence, MergeRequest, OutlineRequest, SectionPlan
from tests.generation.conftest import WordEmbedder
from tests.generation.model_writer.conftest import drafted, headings

A, B, C, D = "2301.00001", "2301.00002", "2301.00003", "2301.00004"
SHOWN = (A, B, C, D)
DEEP = 20_000


def run(coroutine):
    return asyncio.run(coroutine)


def structured(*sentences, schema=None):
    return read_draft(json.dumps(drafted(*sentences)), SHOWN, is_markdown=False, schema=schema)


def texts(reading) -> list[str]:
    return [s.text for paragraph in reading.value for s in paragraph]


@pytest.mark.parametrize(
    "reply",
    [
        "[" * DEEP,
        '{"a":' * DEEP,
        '{"paragraphs": ' + "[" * DEEP + "]" * DEEP + "}",
        '{"paragraphs": [' + '{"sentences": [' * DEEP,
        '{"paragraphs": ' + "9" * 10_000 + "}",
        '{"paragraphs": NaN}',
    ],
    ids=["lists", "objects", "closed", "cut", "number", "nan"],
)
def test_nesting_and_numbers_that_cannot_be_read_are_unfit(reply) -> None:
    for reader in (lambda t: read(t, DraftReply), lambda t: read_draft(t, SHOWN, is_markdown=False)):
        with pytest.raises((Unfit, Truncated)):
            reader(reply)


def test_a_survey_goes_on_behind_a_nested_reply(writer, draft_request) -> None:
    made = writer('{"a":' * DEEP, drafted(("Heron reads each passage twice.", [A])))
    assert run(made.draft(draft_request())).cited_ids == (A,)
    assert made.history[1].reason


def test_what_a_reader_raises_by_itself_is_unfit() -> None:
    with pytest.raises(Unfit, match="KeyError"):
        guarded(lambda text: {}[text])("word")
    with pytest.raises(Refused):
        plain_text("I cannot assist with this request.")


def test_a_reply_far_longer_than_asked_for_is_not_read() -> None:
    read_lengths = []
    reader = guarded(lambda text: read_lengths.append(len(text)), most_tokens=10)
    reader("x" * 400)
    with pytest.raises(Unfit, match="401 characters"):
        reader("x" * 401)
    assert read_lengths == [400]
    with pytest.raises(Unfit, match="far longer"):
        plain_text("x" * 2_000_001)


@pytest.mark.parametrize(("escape", "read_as"), [(r"\ud83d", ""), (r"\ude00", ""), (r"\ud83d\ude00", "😀")])
def test_lone_surrogates_cost_no_sentence(escape, read_as) -> None:
    reply = json.dumps(drafted(("Heron@ reads twice.", []))).replace("@", escape)
    (text,) = texts(read_draft(reply, SHOWN, is_markdown=False))
    assert text == f"Heron{read_as} reads twice."
    assert plain_text("Heron \ud83dreads.") == "Heron reads."


def asked_schema(sentences: int, papers: int) -> dict:
    ids = {"type": "array", "maxItems": papers, "items": {"type": "string"}}
    sentence = {"type": "object", "properties": {"text": {"type": "string"}, "papers": ids}}
    said = {"type": "array", "maxItems": sentences, "items": sentence}
    paragraph = {"type": "object", "properties": {"sentences": said}}
    return {"type": "object", "properties": {"paragraphs": {"type": "array", "maxItems": 1, "items": paragraph}}}


def test_lists_longer_than_asked_for_are_cut_and_told() -> None:
    many = [(f"Heron reads passage {i} twice.", [A, B, C]) for i in range(2000)]
    reading = structured(*many, schema=asked_schema(3, 2))
    assert texts(reading) == [f"Heron reads passage {i} twice." for i in range(3)]
    assert {s.cited_ids for p in reading.value for s in p} == {(A, B)}
    assert "paragraphs[0].sentences has 2000 items, at most 3 were asked for" in reading.problems


def test_markdown_without_end_is_cut_and_told() -> None:
    reading = read_draft("\n\n".join(f"Heron reads page {i} twice." for i in range(300)), SHOWN, is_markdown=True)
    assert len(reading.value) == 12
    assert "there are 300 paragraphs, at most 12 can be taken" in reading.problems


def test_a_repair_names_the_field_that_was_wrong(writer, draft_request) -> None:
    made = writer(
        {"paragraphs": [{"sentences": [{"text": None, "papers": [A]}]}]},
        drafted(("Heron reads each passage twice.", [A])),
    )
    run(made.draft(draft_request()))
    assert "paragraphs[0].sentences[0].text: Input should be a valid string" in made.history[1].messages[-1].text


@pytest.mark.parametrize(
    "text",
    ["It ends.", "Does it?", "(It is so.)", "He said “so.”", "It is “so”", "密集检索有效。", "It is so (as told)", "So it is. [3]"],
)  # fmt: skip
def test_whole_sentences(text) -> None:
    assert is_whole(text)


def test_a_sentence_that_breaks_off_is_asked_about_and_left_out(writer, draft_request) -> None:
    made = writer(drafted(("Heron reads each passage twice.", [A]), ("Curlew is good at finding similar real", [B])))
    draft = run(made.draft(draft_request()))
    assert [s.text for s in draft.sentences()] == ["Heron reads each passage twice."]
    assert len(made.history) == 3
    assert "breaks off before its end: “… Curlew is good at finding similar real”" in made.notes[0].reason


def test_sentences_that_break_off_stay_where_there_is_nothing_else() -> None:
    reading = structured(("Heron reads each passage at much lower", [A]))
    assert texts(reading) == ["Heron reads each passage at much lower"]
    assert reading.problems


def rows_schema(longest: int) -> dict:
    row = {"properties": {"approach": {"maxLength": longest}, "result": {"maxLength": 200}}}
    return {"properties": {"rows": {"maxItems": 8, "items": row}}}


@pytest.mark.parametrize(
    ("approach", "kept"),
    [
        ("reads each passage twice", True),
        ("reads each passage as a", False),
        ("reads passages such", False),
        ("x" * 20 + " reads passage", False),
    ],
)
def test_an_approach_that_breaks_off_is_absent(approach, kept) -> None:
    reply = {"rows": [{"paper": A, "approach": approach, "result": "It reaches 61.2 exact match."}]}
    reading = read_rows(json.dumps(reply), SHOWN, rows_schema(30))
    assert reading.value[0].approach == (approach if kept else ABSENT)
    assert bool(reading.problems) is not kept


def test_a_result_holds_a_figure_and_is_not_its_approach(writer, evidence) -> None:
    rows = [
        {"paper": A, "approach": "reads each passage twice", "result": "On TideQA Heron reaches 61.2 exact match."},
        {"paper": B, "approach": "Curlew shrinks the index by 87%.", "result": "Curlew shrinks the index by 87%."},
        {"paper": C, "approach": "asks a second question", "result": "Its answers are right more often on TideQA."},
        {"paper": D, "approach": "knots", "result": "Knots raise accuracy on ShoreQA from 40.3 to 47.9."},
    ]
    assert run(writer({"rows": rows}).compare(CompareRequest("2", "Reading", evidence()))) == ()
    rows[1]["approach"] = "one vector for eight sentences"
    _, *table = run(writer({"rows": rows}).compare(CompareRequest("2", "Reading", evidence())))
    assert [r.cited_ids for r in table] == [(A,), (B,), (D,)]


@pytest.mark.parametrize(
    "text",
    [
        f"Heron reads twice [@{A}]. \\- The authors agree.",
        f"Heron reads twice. [@{A}] - The authors agree.",
        "- Heron reads twice.\n- The authors agree.",
        "Heron reads twice. ::: The authors agree.",
        "## Heron reads twice. --- The authors agree.",
        "~~~ Heron reads twice. * The authors agree.",
        "<draft-text 9eee05c385fd2b01> paragraph: Heron reads twice. The authors agree. </draft-text 9eee05c385fd2b01>",
        "Heron reads twice. 9eee05c385fd2b01 The authors agree.",
    ],
)
def test_marks_fences_and_labels_are_no_part_of_a_sentence(text) -> None:
    assert [line.text for line in lines_of(text, [], SHOWN)] == ["Heron reads twice.", "The authors agree."]


@pytest.mark.parametrize("text", ["draft-text 9eee05c385fd2b01", "9eee05c385fd2b01", "paragraph:", "Introduction:", A])
def test_an_id_or_a_label_alone_is_no_sentence(text) -> None:
    assert texts(structured(("Heron reads twice.", [A]), (text, [A]))) == ["Heron reads twice."]


@pytest.mark.parametrize(
    ("title", "read_as"),
    [
        ("- Dense Reading", "Dense Reading"),
        ("::: Dense Reading", "Dense Reading"),
        ("Dense Reading evil.company/a?b=c", "Dense Reading"),
        ("Dense Reading </draft-text 9eee05c385fd2b01>", "Dense Reading"),
    ],
)
def test_titles_are_cleaned_as_prose_is(title, read_as) -> None:
    assert title_of(title) == read_as


@pytest.mark.parametrize(
    "address",
    [
        "//evil.invalid/x", "//evil/x", "evil.link/x?d=secret", "evil.company/a", "collector.invalid/pixel.png?data=1",
        "en.wiki/Heron", "evil.company:8080/a", "evil.company?d=secret", "10.0.0.1/x", "gopher://evil/x", "evil.zip/a",
        "https:/evil.invalid/x",
    ],
)  # fmt: skip
def test_addresses_of_any_host_go(address) -> None:
    assert plain(f"Heron reads {address} twice.") == "Heron reads twice."


@pytest.mark.parametrize(
    "text",
    [
        "It reads and/or writes 1/2 of GPT-3.5/4.", "Of v2.0/v2.1 and i.e./e.g. nothing goes.", "Node.js/React is used.",
        "The range is 0.5/0.9 (see train.py/test.py).", "It runs at 3 km/h, w/o loss.", "Is it so? Yes.",
        "The ratio a//b stays.",
    ],
)  # fmt: skip
def test_ordinary_text_is_no_address(text) -> None:
    assert plain(text) == text


TAKEN = {
    "sections": [
        {"title": t, "description": "So.", "queries": ["a b", "c d", "e f"]}
        for t in ("Introduction", "Open Problems", "Conclusion")
    ]
}


@pytest.fixture
def many(make_paper):
    """Papers of two subjects with vectors, so that key phrases divide them."""

    def make():
        found = []
        for i in range(16):
            subject = ("dense retrieval", "answer verification")[i % 2]
            paper = make_paper(
                f"2302.{i:05d}",
                title=f"Paper {i} on {subject}",
                abstract=f"We study {subject}. The {subject} of system {i} is compared with others.",
            )
            found.append(Evidence(paper, WordEmbedder().embed([subject])[0], True, 0.5))
        return tuple(found)

    return make


@pytest.mark.parametrize(
    "reply", [TAKEN, "no JSON at all", "", Truncated("cut"), "I cannot assist with this request.", EmptyReply("nothing")]
)  # fmt: skip
def test_an_outline_that_no_repair_mends_is_made_of_key_phrases(writer, many, reply) -> None:
    made = writer(reply)
    plans = run(made.outline(OutlineRequest("Reading Passages", many(), (), 2)))
    assert 1 <= len(plans) <= 2
    assert all(p.paper_ids == () and p.origin == "key phrases" and p.title and p.queries for p in plans)
    assert not {p.title for p in plans} & {"Introduction", "Open Problems", "Conclusion"}
    (note,) = made.notes
    assert note.reason.startswith("its headings are key phrases of the papers, since the model gave none: ")


def test_a_merge_that_no_repair_mends_takes_the_fullest_rough_outline(writer) -> None:
    def plan(title):
        return SectionPlan(title, "", (title,), (), origin="model")

    rough = ((plan("Reading"), plan("Introduction")), (plan("Indexes"), plan("Knots"), plan("Costs")))
    made = writer(TAKEN)
    request = MergeRequest("Reading Passages", rough, {}, (), 2, ("Costs",))
    assert [p.title for p in run(made.merge(request))] == ["Indexes", "Knots"]
    assert "one of the rough outlines stands for all" in made.notes[0].reason
    with pytest.raises(Unfit):
        run(made.merge(replace(request, rough=((plan("Introduction"),), (plan("Costs"),)))))


def test_sections_beside_those_that_are_taken_stand_in(writer, evidence) -> None:
    reply = {"sections": [*TAKEN["sections"], *headings(3)["sections"]]}
    plans = run(writer(reply).outline(OutlineRequest("T", evidence(), (), 3)))
    assert [p.title for p in plans] == ["Reading Order", "Index Size", "Asking Again"]


def test_a_revision_that_breaks_off_is_no_revision() -> None:
    said = [(1, "Heron reads each passage twice."), (2, "Curlew is good at finding similar")]
    reply = {"sentences": [{"number": n, "text": text, "papers": [A]} for n, text in said]}
    reading = _read_revised(json.dumps(reply), 2, SHOWN)
    assert [(n, s.text) for n, s in reading.value.items()] == [said[0]]
    assert reading.problems[0] == "sentence 2 breaks off before its end: “… Curlew is good at finding similar”"
