"""Requests that fail: what is sent again, what is given up, and how each is told."""

import socket
import time

import pytest

from generation.language_models import calls
from generation.language_models import gateway as gateways
from generation.language_models.budgets import Budget
from generation.language_models.limits import Patience
from tests.generation.language_models.asking import asked, rows


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
