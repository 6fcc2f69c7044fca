"""One call: what is sent, what comes back, and every way in which it can fail."""

import asyncio
import json
import socket
import time

import pytest

from generation.language_models import calls
from generation.language_models import gateway as gateways
from generation.language_models.budgets import Budget
from generation.language_models.calls import Message
from generation.language_models.limits import Patience
from ingestion.errors import BadInput


def asked(gateway, *made):
    """Answers to calls asked one after another, the client closed at the end."""

    async def run():
        try:
            return [await gateway.ask(one) for one in made]
        finally:
            await gateway.aclose()

    return asyncio.run(run())


def rows(ledger, lake):
    ledger.flush()
    return lake.read("language_model_calls").sort("asked_at").to_dicts()


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


@pytest.mark.parametrize(
    ("fields", "error", "words"),
    [
        ({"status": 401, "error": "bad key", "code": "invalid_api_key"}, calls.WrongKey, "OPENAI_API_KEY"),
        ({"status": 403, "error": "forbidden"}, calls.WrongKey, "OPENAI_API_KEY"),
        ({"status": 404, "error": "no model small", "code": "model_not_found"}, calls.NoSuchModel, "small"),
        ({"status": 429, "error": "no credit", "code": "insufficient_quota"}, calls.OutOfBudget, "quota"),
        ({"status": 400, "error": "too much", "code": "context_length_exceeded"}, calls.TooLong, "window"),
        ({"status": 400, "error": "the request exceeds the available context size"}, calls.TooLong, "window"),
        ({"status": 400, "error": "seed must be positive"}, calls.Rejected, "seed must be positive"),
    ],
    ids=["401", "403", "404", "quota", "context-code", "context-llama.cpp", "400"],
)
def test_what_sending_again_cannot_change_is_sent_once(server, gateway, call, said, fields, error, words):
    server.says(said(**fields))
    with pytest.raises(error) as caught:
        asked(gateway(), call())
    assert words in caught.value.message
    assert len(server.requests) == 1


@pytest.mark.parametrize("status", [429, 500, 502, 503, 529])
def test_what_passes_is_sent_again_and_each_sending_is_a_row(server, gateway, call, ledger, lake, said, status):
    server.says(said(status=status, error="later"), said(status=status, error="later"), said("At last."))
    assert asked(gateway(), call())[0].text == "At last."
    kept = rows(ledger, lake)
    expected = "rate_limited" if status == 429 else "unavailable"
    assert [(r["status"], r["sending"]) for r in kept] == [(expected, 1), (expected, 2), ("answered", 3)]
    assert len({r["key"] for r in kept}) == 1
    assert kept[0]["input_tokens"] is None


def test_a_server_that_stays_overloaded_is_given_up_after_five_sendings_and_asked_again_later(
    server, gateway, call, said
):
    server.says(said(status=503, error="busy"))
    with pytest.raises(calls.Overloaded) as caught:
        asked(gateway(), call())
    assert caught.value.is_retryable
    assert len(server.requests) == 5
    server.says(said("Here."))
    assert asked(gateway(), call())[0].text == "Here.", "a failure is no answer to read again"


def test_retry_after_is_honoured_for_all_calls_of_the_model(server, gateway, call, said):
    def script(number, request):
        return said(status=429, error="slow", headers={"Retry-After": "1"}) if number == 0 else said()

    server.script = script
    asked(gateway("openai:patient"), call())
    assert 1.0 <= server.times[1] - server.times[0] < 1.6


def test_a_server_that_asks_for_an_hour_is_given_up_at_once_and_that_is_said(server, gateway, call, said):
    server.says(said(status=429, error="slow", headers={"Retry-After": "3600"}))
    with pytest.raises(calls.Overloaded, match="3,600 s"):
        asked(gateway(), call())
    assert len(server.requests) == 1


def test_a_server_that_stalls_costs_its_time_out_and_what_it_may_have_used_counts(
    server, gateway, call, said, ledger, lake
):
    server.says(said(delay=1.0))
    budget = Budget(most_tokens=10_000)
    once = Patience(attempts=1)
    with pytest.raises(calls.Overloaded, match=r"within 0\.2 s"):
        asked(gateway(variables={"LITHOUSE_MODEL_TIMEOUT": "0.2"}, patience=once, budget=budget), call())
    assert [r["status"] for r in rows(ledger, lake)] == ["timed_out"]
    assert budget.presumed_tokens > 100


def test_a_server_that_hangs_up_is_asked_again(server, gateway, call, said, ledger, lake):
    server.says(said(hangs_up=True), said("Back."))
    assert asked(gateway(), call())[0].text == "Back."
    assert [r["status"] for r in rows(ledger, lake)] == ["unavailable", "answered"]


@pytest.mark.parametrize("place", ["library", "ours"])
def test_a_fault_while_a_paid_reply_is_read_is_raised_once_and_counts_in_full(
    server, gateway, call, ledger, lake, monkeypatch, place
):
    from pydantic_ai.models.openai import OpenAIChatModel

    def fault(*_, **__):
        raise KeyError("a field that is not there")

    where = (OpenAIChatModel, "_process_response") if place == "library" else (gateways, "_outcome")
    monkeypatch.setattr(*where, fault)
    budget = Budget(most_tokens=10_000)
    one = gateway(budget=budget)
    with pytest.raises(KeyError, match="not there"):
        asked(one, call())
    assert len(server.requests) == 1
    assert budget.tokens == budget.presumed_tokens == one.count(call().messages) + 100
    (row,) = rows(ledger, lake)
    assert row["status"] == "abandoned"
    assert "KeyError" in row["error"]


def test_a_reply_that_is_no_json_may_be_paid_for(server, gateway, call, said):
    server.says(said(raw='{"choices": ['), said("Now."))
    budget = Budget(most_tokens=10_000)
    one = gateway(budget=budget)
    assert asked(one, call())[0].text == "Now."
    assert budget.presumed_tokens == one.count(call().messages) + 100


@pytest.mark.parametrize(
    ("model", "variable"),
    [
        ("openai:small", "OPENAI_BASE_URL"),
        ("ollama:qwen3", "OLLAMA_BASE_URL"),
        pytest.param("anthropic:claude-haiku-4-5", "ANTHROPIC_BASE_URL", marks=pytest.mark.run),
        pytest.param("google:gemini-2.5-flash", "GOOGLE_GEMINI_BASE_URL", marks=pytest.mark.run),
    ],
)
def test_a_host_that_takes_no_connection_is_given_up_long_before_a_replys_time_out(
    gateway, call, monkeypatch, model, variable
):
    monkeypatch.setattr(gateways, "_CONNECT_SECONDS", 0.1)
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full:
        # A queue of connections that is full takes no further one, as if nobody were there.
        waiting = []
        for _ in range(4):
            waiting.append(socket.socket())
            waiting[-1].setblocking(False)
            waiting[-1].connect_ex(full.getsockname())
        address = {variable: f"http://127.0.0.1:{full.getsockname()[1]}/v1"}
        started = time.monotonic()
        with pytest.raises(calls.Unreachable):
            asked(gateway(model, variables=address, patience=Patience(attempts=1)), call())
        for connection in waiting:
            connection.close()
    assert time.monotonic() - started < 20, "the time-out of a reply is 180 s"


@pytest.mark.parametrize("key", ["“key-for-a-test”", "abc1234\n5678zq", "abc1234\x005678zq"], ids=ascii)
def test_a_key_that_no_header_can_hold_is_said(server, gateway, call, ledger, lake, key):
    with pytest.raises(calls.WrongKey, match=r"OPENAI_API_KEY holds .* no key has") as caught:
        asked(gateway(variables={"OPENAI_API_KEY": key}), call())
    assert server.requests == []
    assert rows(ledger, lake) == []
    for piece in ("key-for", "abc1234", "5678zq"):
        assert piece not in caught.value.message


def test_no_server_is_named_without_its_user(server, gateway, call, ledger, lake):
    address = {"OPENAI_BASE_URL": "http://someone:hunter2secret@127.0.0.1:9/v1"}
    with pytest.raises(calls.Unreachable) as caught:
        asked(gateway(variables=address), call())
    assert "127.0.0.1:9" in caught.value.message
    assert "hunter2" not in caught.value.message
    assert rows(ledger, lake) == [], "nothing was sent"


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


@pytest.mark.run
def test_anthropic_errors_are_told_apart(server, gateway, call, said):
    address = {"ANTHROPIC_BASE_URL": server.address, "ANTHROPIC_API_KEY": "key-for-a-test"}
    model = "anthropic:claude-haiku-4-5"
    server.says(said(status=401, error="invalid x-api-key", code="authentication_error"))
    with pytest.raises(calls.WrongKey):
        asked(gateway(model, variables=address), call())
    server.says(said(status=529, error="Overloaded", code="overloaded_error"), said("Now.", finish="end_turn"))
    before = len(server.requests)
    server.script = lambda number, request: (
        said(status=529, error="Overloaded", code="overloaded_error")
        if number == before
        else said("Now.", finish="end_turn")
    )
    assert asked(gateway(model, variables=address), call())[0].text == "Now."
    server.script = lambda number, request: said("half", finish="max_tokens")
    with pytest.raises(calls.Truncated):
        asked(gateway(model, variables=address), call("another"))


def test_one_gateway_serves_one_event_loop_after_another(server, gateway, call):
    one = gateway()
    assert [asked(one, call(str(n)))[0].text for n in range(3)] == ["An answer."] * 3


def test_calls_at_once_keep_to_the_limit_and_are_faster_than_one_by_one(server, gateway, call, said):
    server.says(said(delay=0.1))
    one = gateway("openai:crowd", variables={"LITHOUSE_MODEL_CONCURRENCY": "4"})

    async def run():
        await one.ask(call("warm"))
        started = time.monotonic()
        await asyncio.gather(*(one.ask(call(str(n))) for n in range(16)))
        took = time.monotonic() - started
        await one.aclose()
        return took

    took = asyncio.run(run())
    assert server.most_at_once == 4
    assert took < 1.2, "four rounds of 0.1 s"


def test_who_asks_when_the_first_waiter_has_just_left_begins_anew(server, gateway, call, said):
    server.says(said(delay=0.1))
    one = gateway("openai:left", variables={"LITHOUSE_MODEL_CONCURRENCY": "1"})

    async def run():
        busy = asyncio.create_task(one.ask(call("busy")))
        while not server.requests:
            await asyncio.sleep(0.01)
        left = asyncio.create_task(one.ask(call("wanted")))
        await asyncio.sleep(0.01)
        left.cancel()
        joined = asyncio.create_task(one.ask(call("wanted")))
        try:
            return [(await task).text for task in (busy, joined)], left.cancelled()
        finally:
            await one.aclose()

    assert asyncio.run(run()) == (["An answer."] * 2, True)
    assert len(server.requests) == 2


def test_who_stays_when_the_first_waiter_leaves_is_told_the_cost(server, gateway, call, said):
    server.says(said(delay=0.2))
    told = []
    one = gateway(progress=lambda answer, _: told.append(answer.is_cached))

    async def run():
        first = asyncio.create_task(one.ask(call()))
        second = asyncio.create_task(one.ask(call()))
        while not server.requests:
            await asyncio.sleep(0.01)
        first.cancel()
        await second
        await one.aclose()

    asyncio.run(run())
    assert told == [False]


def test_a_reply_that_is_on_its_way_is_kept_although_nobody_waits(server, gateway, call, said, ledger):
    server.says(said("Paid for.", delay=0.3))
    one = gateway()

    async def run():
        task = asyncio.create_task(one.ask(call()))
        while not server.requests:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await one.aclose()

    asyncio.run(run())
    again = asked(gateway(replay=True), call())[0]
    assert (again.text, again.is_cached) == ("Paid for.", True)
