"""What is read from replies as models really write them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from generation.language_models.calls import EmptyReply, Refused, Truncated, Unfit
from generation.language_models.replies import as_json, plain_text, read, without_thinking


class Row(BaseModel):
    text: str


class Rows(BaseModel):
    rows: list[Row]


def texts(reply: str) -> list[str]:
    return [row.text for row in read(reply, Rows).value.rows]


WHOLE = '{"rows": [{"text": "the first"}, {"text": "the second, with a comma"}, {"text": "the third"}]}'


@pytest.mark.parametrize("end", range(2, len(WHOLE), 3))
def test_lm01_json_cut_anywhere_is_never_taken_as_complete(end) -> None:
    with pytest.raises((Truncated, Unfit)) as caught:
        read(WHOLE[:end], Rows)
    assert caught.value.text


@pytest.mark.parametrize(
    "cut",
    [
        '{"rows": [{"text": "a "quoted" word"}, {"text": "cut',
        '```json\n{"rows": [{"text": "one"}, {"text": "two"}',
        'Here it is: {"rows": [{"text": "one"}]',
        '[{"text": "one"}, {"text": "two"}',
    ],
)
def test_lm01_a_repair_does_not_close_what_was_cut(cut) -> None:
    with pytest.raises(Truncated, match="end"):
        read(cut, Rows)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (r"the \alpha level", "the \\alpha level"),
        (r"a soft \- hyphen", "a soft \\- hyphen"),
        (r"\beta, \frac{a}{b}, \nabla f, \rho, \theta, \nu", r"\beta, \frac{a}{b}, \nabla f, \rho, \theta, \nu"),
        (r"\underline{x} and \u03b1", "\\underline{x} and α"),
        (r"already \\alpha", "already \\alpha"),
        (r"one\nnext line", "one\nnext line"),
        (r"a\ttab", "a\ttab"),
        (r"\"quoted\"", '"quoted"'),
        (r"ends in \\", "ends in \\"),
    ],
)
def test_lm02_lone_backslashes_are_kept(written, meant) -> None:
    assert texts('{"rows": [{"text": "' + written + '"}]}') == [meant]


@pytest.mark.parametrize(
    "reply",
    [
        "<think>plan [3] {}</think>{}",
        "<think>\nplan\n</think>\n\n{}",
        "<thinking>plan</thinking>{}",
        "plan [3] that was opened by the template</think>{}",
        "[THINK]plan[/THINK]{}",
        "◁think▷plan◁/think▷{}",
        "<|channel|>analysis<|message|>plan<|end|><|start|>assistant<|channel|>final<|message|>{}",
        "<think>one</think><think>two</think>{}",
    ],
)
@pytest.mark.parametrize("answer", ["# Intro\n\nIt reads twice [@2301.00001].", WHOLE])
def test_lm04_thinking_is_no_part_of_the_answer(reply, answer) -> None:
    head, _, _ = reply.rpartition("{}")
    assert without_thinking(head + answer) == answer
    assert without_thinking(without_thinking(head + answer)) == answer


def test_lm04_thinking_that_never_ends_is_an_empty_reply() -> None:
    with pytest.raises(EmptyReply):
        plain_text("<think>I should first see whether [3] ")
    with pytest.raises(EmptyReply):
        read('<think>{"rows": []', Rows)


def test_lm04_a_tag_that_a_text_speaks_of_is_text() -> None:
    reply = '{"rows": [{"text": "The model ends its plan with </think> and goes on."}]}'
    assert texts(reply) == ["The model ends its plan with </think> and goes on."]


@pytest.mark.parametrize(
    "around",
    [
        "Sure! ```json\n{}\n``` Hope it helps",
        "```\n{}\n```",
        "Here you are:\n{}\nLet me know if {{more}} is needed.",
        "Of the set {{1, 2}}:\n{}",
    ],
)
def test_lm18_the_object_is_found_in_fences_and_chatter(around) -> None:
    reply = (
        around.replace("{{", "\x00")
        .replace("}}", "\x01")
        .replace("{}", WHOLE)
        .replace("\x00", "{")
        .replace("\x01", "}")
    )
    assert len(texts(reply)) == 3


def test_lm18_other_objects_survive_one_unescaped_quote() -> None:
    reply = '{"rows": [{"text": "first"}, {"text": "a so-called "dense" index, and more"}, {"text": "third"}]}'
    assert texts(reply) == ["first", 'a so-called "dense" index, and more', "third"]


def test_lm18_other_objects_survive_one_that_does_not_fit() -> None:
    reading = read('{"rows": [{"text": "first"}, {"name": "no text"}, {"text": "third"}]}', Rows)
    assert [row.text for row in reading.value.rows] == ["first", "third"]
    assert reading.problems == ("rows[1].text: Field required",)


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        ("", EmptyReply),
        ("  \n\t", EmptyReply),
        ("<think>nothing</think>", EmptyReply),
        ("I'm sorry, but I can't help with that.", Refused),
        ("I cannot assist with this request.", Refused),
        ("As an AI language model, I am unable to write reviews.", Refused),
        ("The three papers agree.", Unfit),
        ('{"other": 1}', Unfit),
        ("[1, 2]", Unfit),
    ],
)
def test_lm18_refusals_empty_replies_and_other_text_are_told_apart(reply, error) -> None:
    with pytest.raises(error) as caught:
        read(reply, Rows)
    assert type(caught.value) is error


def test_lm18_a_text_about_limits_is_no_refusal() -> None:
    assert plain_text("Unfortunately, no paper reports recall.") == "Unfortunately, no paper reports recall."
    assert plain_text("Dense retrievers cannot provide exact matches.")


@pytest.mark.parametrize(
    "reply", [f"[{json.dumps({'text': 'a'})}]", '{"result": {"rows": [{"text": "a"}]}}', '{"answer": [{"text": "a"}]}']
)
def test_an_object_is_found_in_its_wrapper(reply) -> None:
    assert texts(reply) == ["a"]


@given(st.lists(st.text(max_size=30), min_size=1, max_size=4))
def test_json_as_it_should_be_is_read_as_it_is(values) -> None:
    plain = [v.replace("\\", "") for v in values]
    assert texts(json.dumps({"rows": [{"text": v} for v in plain]}, ensure_ascii=False)) == plain


@given(st.text(max_size=200))
def test_any_text_gives_a_value_or_a_reason(reply) -> None:
    try:
        found = as_json(reply)
    except (EmptyReply, Refused, Truncated, Unfit):
        return
    assert isinstance(found, dict | list)
