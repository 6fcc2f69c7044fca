"""One call: what is sent, what comes back, what is kept of it."""

import json

import pytest

from generation.language_models import calls
from generation.language_models.budgets import Budget
from generation.language_models.calls import Message
from ingestion.errors import BadInput
from tests.generation.language_models.asking import asked, rows


def test_an_answer_is_recorded_with_all_that_it_took(server, gateway, call, ledger, lake):
    wanted = call(paper_id="2005.11401", evidence=("2005.11401", "1706.03762"), flagged=("1706.03762",))
    (answer,) = asked(gateway(), wanted)
    assert (answer.text, answer.is_cached, answer.input_tokens, answer.output_tokens) == ("An answer.", False, 11, 7)
    assert answer.cost == 0.0
    (row,) = rows(ledger, lake)
    assert row["key"] == answer.key
    assert row["reply"] == "An answer."
    assert (row["origin"], row["status"], row["finish_reason"], row["sending"]) == ("paid", "answered", "stop", 1)
    assert (row["input_tokens"], row["output_tokens"], row["usage_source"], row["cost"]) == (11, 7, "server", 0.0)
    assert row["evidence"] == ["2005.11401", "1706.03762"]
    assert row["flagged"] == ["1706.03762"]
    assert json.loads(row["messages"])[1] == {"role": "user", "content": "Describe the paper."}
    assert json.loads(row["parameters"]) == {"temperature": 0.0, "seed": 0, "max_tokens": 100, "output": "text"}
    assert row["seconds"] > 0
    body = server.requests[0].body
    assert (body["temperature"], body["seed"], body["max_tokens"]) == (0.0, 0, 100)


def test_repairs_show_the_model_what_it_wrote(server, gateway, call):
    messages = (Message("user", "Ask."), Message("assistant", '{"a": 1'), Message("user", "Again."))
    asked(gateway(), call(messages=messages, attempt=2, repairs="k", reason="cut"))
    assert [(m["role"], m["content"]) for m in server.requests[0].body["messages"]] == [
        ("user", "Ask."),
        ("assistant", '{"a": 1'),
        ("user", "Again."),
    ]


@pytest.mark.parametrize("output", ["native", "tool", "prompted"])
def test_a_structured_reply_is_asked_for_as_the_settings_say(server, gateway, call, output, said, schema):
    server.says(said('{"claim": "it works"}'))
    (answer,) = asked(gateway(variables={"LITHOUSE_MODEL_OUTPUT": output}), call(schema=schema))
    assert json.loads(answer.text) == {"claim": "it works"}
    body = server.requests[0].body
    if output == "native":
        assert body["response_format"]["json_schema"]["name"] == "card"
        assert body["response_format"]["json_schema"]["schema"]["properties"]["claim"]["maxLength"] == 40
    elif output == "tool":
        assert body["tools"][0]["function"]["name"] == "card"
        assert "response_format" not in body
    else:
        assert "maxLength" in body["messages"][-1]["content"]
        assert "response_format" not in body
        assert "tools" not in body


def test_a_server_without_json_schema_is_asked_otherwise_once_and_each_try_is_told(
    server, gateway, call, ledger, lake, said, schema
):
    def script(number, request):
        if "response_format" in request.body:
            return said(status=400, error="unknown field response_format")
        if "tools" in request.body:
            return said(status=400, error="this model does not support tools")
        return said('{"claim": "yes"}')

    server.script = script
    one = gateway()
    asked(one, call("first", schema=schema), call("second", schema=schema))
    assert len(server.requests) == 4, "the second call knows what the first found out"
    kept = rows(ledger, lake)
    assert [r["status"] for r in kept] == ["rejected", "rejected", "answered", "answered"]
    assert [json.loads(r["parameters"])["output"] for r in kept] == ["native", "tool", "prompted", "prompted"]
    assert "response_format" in kept[0]["error"]


@pytest.mark.parametrize(
    ("said_fields", "error", "status"),
    [
        ({"finish": "length", "text": '{"claim": "half'}, calls.Truncated, "truncated"),
        ({"refusal": "I cannot."}, calls.Refused, "refused"),
        ({"finish": "content_filter", "text": ""}, calls.Refused, "refused"),
        ({"text": "  \n"}, calls.EmptyReply, "empty"),
        ({"text": "<think>hm, hard</think>"}, calls.EmptyReply, "empty"),
    ],
    ids=["truncated", "refused", "filtered", "blank", "only-thinking"],
)
def test_a_reply_that_is_none_is_an_error_now_and_when_it_is_read_again(
    server, gateway, call, ledger, lake, said, said_fields, error, status
):
    server.says(said(**said_fields))
    for _ in range(2):
        with pytest.raises(error) as caught:
            asked(gateway(), call())
        assert caught.value.key
        assert caught.value.text == (said_fields.get("text", "") if status == "truncated" else caught.value.text)
    assert len(server.requests) == 1, "asking the same again would cost the same for the same"
    kept = rows(ledger, lake)
    assert [(r["origin"], r["status"]) for r in kept] == [("paid", status), ("cached", status)]
    assert [r["input_tokens"] for r in kept] == [11, 11]


@pytest.mark.parametrize(
    "said_fields",
    [{"finish": "length", "text": "half"}, {"refusal": "I cannot."}, {"text": " "}],
    ids=["truncated", "refused", "empty"],
)
def test_what_a_reply_that_is_none_cost_is_told_before_its_error(server, gateway, call, said, said_fields):
    server.says(said(**said_fields))
    told = []
    priced = {"LITHOUSE_MODEL_IS_FREE": "0", "LITHOUSE_MODEL_PRICE": "2/10"}
    for _ in range(2):
        with pytest.raises(calls.ModelFailure):
            asked(gateway(variables=priced, progress=lambda answer, of: told.append((answer, of.item))), call())
    (paid, item), (read, _) = told
    assert (paid.input_tokens, paid.output_tokens, item) == (11, 7, "2005.11401")
    assert (paid.cost, paid.is_cached) == (pytest.approx((11 * 2 + 7 * 10) / 1e6), False)
    assert (read.cost, read.is_cached) == (0.0, True)


def test_lm01_a_reply_cut_in_the_middle_of_a_string_is_truncated_and_never_an_answer(
    server, gateway, call, said, schema
):
    server.says(said('{"claim": "one, two, th', finish="length"), said('{"claim": "one"}'))
    one = gateway()
    with pytest.raises(calls.Truncated) as caught:
        asked(one, call(schema=schema))
    assert caught.value.text == '{"claim": "one, two, th'
    assert "100 tokens" in caught.value.message
    longer = call(schema=schema, most_tokens=200, attempt=2, repairs=caught.value.key, reason="truncated")
    assert asked(one, longer)[0].text == '{"claim": "one"}'


def test_thinking_is_no_part_of_the_reply(server, gateway, call, said):
    server.says(said("<think>Let me see.</think>The answer."))
    assert asked(gateway(), call())[0].text == "The answer."


def test_a_prompt_longer_than_the_window_is_not_sent(server, gateway, call):
    one = gateway(variables={"LITHOUSE_MODEL_WINDOW": "300"})
    with pytest.raises(calls.TooLong) as caught:
        asked(one, call("word " * 400))
    counted = one.count(call("word " * 400).messages)
    assert f"{counted:,}" in caught.value.message
    assert "300" in caught.value.message
    assert server.requests == []


def test_a_schema_that_is_sent_in_words_was_counted_in_words(server, gateway, call, said, schema):
    server.says(said('{"claim": "it works"}'))
    # No tokenizer's margin, which would hide what is not counted.
    one = gateway("openai:gpt-4o", variables={"LITHOUSE_MODEL_OUTPUT": "prompted"})
    asked(one, call(schema=schema))
    sent = [Message(m["role"], m["content"]) for m in server.requests[0].body["messages"]]
    assert one.count(call().messages, schema) >= one.count(sent) > one.count(call().messages)


def test_a_key_is_asked_for_only_when_something_is_sent_elsewhere(gateway, call, ledger):
    one = gateway("anthropic:claude-haiku-4-5")
    with pytest.raises(calls.WrongKey, match="ANTHROPIC_API_KEY"):
        asked(one, call())
    with pytest.raises(calls.NotInLedger, match=r"card of 2005\.11401, key "):
        asked(gateway("anthropic:claude-haiku-4-5", replay=True), call())


def test_lm16_an_unknown_price_stays_unknown_and_tokens_are_counted(server, gateway, call, ledger, lake):
    paid = gateway("openai:nobody-knows", variables={"LITHOUSE_MODEL_IS_FREE": "0"})
    (answer,) = asked(paid, call())
    assert answer.cost is None
    spent = ledger.spent(topic="rag")
    assert (spent.cost, spent.input_tokens, spent.output_tokens) == (None, 11, 7)
    free = gateway("openai:nobody-knows-2", variables={"LITHOUSE_MODEL_IS_FREE": "1"})
    assert asked(free, call())[0].cost == 0.0
    assert [r["cost"] for r in rows(ledger, lake)] == [None, 0.0]
    assert ledger.spent(topic="rag").cost is None
    with pytest.raises(BadInput, match="no price is known"):
        gateway("openai:nobody-knows", variables={"LITHOUSE_MODEL_IS_FREE": "0"}, budget=Budget(most_cost=1.0))


def test_a_known_price_is_what_the_tokens_cost(server, gateway, call, ledger, lake):
    priced = gateway(variables={"LITHOUSE_MODEL_IS_FREE": "0", "LITHOUSE_MODEL_PRICE": "2/10"})
    (answer,) = asked(priced, call())
    assert answer.cost == pytest.approx((11 * 2 + 7 * 10) / 1e6)
    assert ledger.spent(topic="rag").cost == answer.cost
    assert rows(ledger, lake)[0]["cost"] == answer.cost
    assert asked(priced, call())[0].cost == 0.0


def test_a_server_that_counts_no_tokens_has_them_counted_by_us(server, gateway, call, said, ledger, lake):
    server.says(said("Some words.", usage=None))
    one = gateway()
    (answer,) = asked(one, call())
    assert answer.input_tokens == one.count(call().messages)
    assert answer.output_tokens > 0
    assert rows(ledger, lake)[0]["usage_source"] == "counted"


@pytest.mark.run  # importing the other SDKs takes seconds
@pytest.mark.parametrize(
    ("model", "variable", "finish"),
    [
        ("anthropic:claude-haiku-4-5", "ANTHROPIC_BASE_URL", "end_turn"),
        ("google:gemini-2.5-flash", "GOOGLE_GEMINI_BASE_URL", "STOP"),
        ("ollama:qwen3", "OLLAMA_BASE_URL", "stop"),
    ],
)
def test_other_protocols_answer_alike(server, gateway, call, said, schema, ledger, lake, model, variable, finish):
    server.says(said('{"claim": "alike"}', finish=finish))
    address = server.address + ("/v1" if model.startswith("ollama") else "")
    one = gateway(model, variables={variable: address})
    plain, structured = asked(one, call(), call(schema=schema))
    assert plain.text == structured.text == '{"claim": "alike"}'
    assert [(r["input_tokens"], r["output_tokens"]) for r in rows(ledger, lake)] == [(11, 7), (11, 7)]
    assert {r["provider"] for r in rows(ledger, lake)} == {model.partition(":")[0]}
