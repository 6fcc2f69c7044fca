"""Servers that are none of models, or count wrongly: what is sent to them, shown of them, and kept."""

import asyncio
import json

import pytest

from generation.language_models import calls
from generation.language_models.budgets import Budget
from tests.generation.language_models.asking import rows

PASSWORD = "hunter2-hunter2"
HTML = "<!doctype html><title>Welcome</title>"


def outcomes(gateway, *made):
    """Answers or failures of calls asked one after another, the client closed at the end."""

    async def one(call):
        try:
            return await gateway.ask(call)
        except calls.ModelFailure as error:
            return error

    async def run():
        try:
            return [await one(call) for call in made]
        finally:
            await gateway.aclose()

    return asyncio.run(run())


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize(
    ("model", "variable"),
    [
        ("openai:small", "OPENAI_BASE_URL"),
        pytest.param("anthropic:claude-haiku-4-5", "ANTHROPIC_BASE_URL", marks=pytest.mark.run),
        pytest.param("google:gemini-2.5-flash", "GOOGLE_GEMINI_BASE_URL", marks=pytest.mark.run),
    ],
    ids=lambda value: value.partition(":")[0],
)
def test_a_redirect_sends_prompt_and_key_nowhere_else(
    server, gateway, call, said, ledger, lake, model, variable, status
):
    def script(number, request):
        if "elsewhere" in request.path:
            return said()
        to = server.address.replace("127.0.0.1", f"someone:{PASSWORD}@localhost") + "/elsewhere"
        return said(status=status, headers={"Location": to})

    server.script = script
    provider = model.partition(":")[0]
    variables = {variable: f"{server.address}/v1", f"{provider.upper()}_API_KEY": "key-for-a-test"}
    (failure,) = outcomes(gateway(model, variables=variables), call())
    assert isinstance(failure, calls.WrongServer)
    assert failure.is_fatal
    assert f"sends requests on to http://localhost:{server.server_port}" in failure.message
    assert variable in failure.message
    assert PASSWORD not in failure.message
    assert len(server.requests) == 1
    (row,) = rows(ledger, lake)
    assert (row["status"], PASSWORD in str(row)) == ("rejected", False)


def test_a_redirect_on_the_same_server_names_the_path(server, gateway, call, said):
    server.says(said(status=308, headers={"Location": "/api/v1/chat/completions?token=1"}))
    (failure,) = outcomes(gateway(), call())
    assert f"{server.address}/api/v1/chat/completions," in failure.message


UNREADABLE = {
    "html": (HTML, "Welcome"),
    "nothing": ("", "empty body"),
    "no-choices": ('{"choices": []}', "without choices"),
    "choices-null": ('{"choices": null}', "without choices"),
    "no-message": ('{"choices": [{"text": "old"}]}', "without a message"),
    "error-in-200": (json.dumps({"error": {"message": f"no route http://a:{PASSWORD}@b/"}}), "no route"),
    "error-text": ('{"error": "model is loading"}', "model is loading"),
    "list": ("[]", "no object"),
    "number": (
        '{"id": "1", "choices": [{"index": 0, "message": {"role": "assistant", "content": 5}}]}',
        "message.content: Input should be",
    ),
    "cut": ('{"choices": [', "choices"),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_is_no_chat_completion_is_sent_twice_and_shown(server, gateway, call, said, ledger, lake, name):
    body, words = UNREADABLE[name]
    server.says(said(raw=body))
    budget = Budget(most_tokens=10_000)
    one = gateway(budget=budget)
    (failure,) = outcomes(one, call())
    assert isinstance(failure, calls.Unreadable)
    assert not failure.is_fatal
    assert f"127.0.0.1:{server.server_port} answers, but not with a chat completion (" in failure.message
    for shown in (words, "OPENAI_BASE_URL"):
        assert shown in failure.message
    assert "CONCURRENCY" not in failure.message
    assert PASSWORD not in failure.message
    assert len(server.requests) == 2
    assert [row["status"] for row in rows(ledger, lake)] == ["unavailable"] * 2
    assert budget.presumed_tokens == 2 * (one.count(call().messages) + 100)


def test_three_calls_without_any_reply_are_a_wrong_server(server, gateway, call, said):
    server.says(said(raw=HTML))
    failures = outcomes(gateway(), *(call(text) for text in ("a", "a", "b", "c")))
    assert [type(failure) for failure in failures] == [calls.Unreadable] * 3 + [calls.WrongServer]
    assert failures[-1].is_fatal


def test_a_server_that_has_replied_once_is_none_that_serves_no_models(server, gateway, call, said):
    server.says(said(), said(raw=HTML))
    answer, *failures = outcomes(gateway(), *(call(str(n)) for n in range(5)))
    assert answer.text == "An answer."
    assert {type(failure) for failure in failures} == {calls.Unreadable}


@pytest.mark.parametrize("usage", [(10**19, 7), (11, -7), (11, 10**8 + 1), (-1, -1)], ids=str)
def test_tokens_that_cannot_be_are_counted_by_us_and_the_reply_is_kept(
    server, gateway, call, said, ledger, lake, usage
):
    server.says(said("Some words.", usage=usage))
    one = gateway()
    (answer,) = outcomes(one, call())
    assert answer.text == "Some words."
    assert answer.input_tokens == one.count(call().messages)
    assert 0 < answer.output_tokens < 100
    (row,) = rows(ledger, lake)
    assert (row["usage_source"], row["status"]) == ("counted", "answered")
