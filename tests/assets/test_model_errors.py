"""What can go wrong between us and a model, each told in one paragraph that says what, which and what to do."""

import errno
import os
import signal
import subprocess
import sys

import pytest

from tests.servers.fixtures import wait_until

pytestmark = pytest.mark.run

TOPIC = "Retrieval-augmented generation"


def _assert_one_clear_message(told, kind: str, *words: str) -> None:
    assert told.code == 1, (told.code, told.out, told.err)
    assert told.json["error"]["kind"] == kind, told.json
    message = told.err.strip()
    assert "Traceback" not in told.err + told.out
    assert "\n\n" not in message, message
    last = message.splitlines()[-1]
    assert len(last) < 700, last
    for word in words:
        assert word in message, (word, message)
    assert message.count(told.json["error"]["what"][:40]) == 1, "told twice"
    assert told.json["error"]["advice"], "it does not say what to do"


def test_a_model_that_the_server_does_not_have(small, ask, scripted):
    server = scripted(model="another")
    told = ask(server, "survey", TOPIC, "--concurrency", "2", "--json")
    _assert_one_clear_message(told, "NoSuchModel", "openai:scripted")
    assert server.count()["requests"] <= 4, "every further call ends the same way"


def test_a_provider_that_nobody_knows_is_wrong_usage(small, ask):
    told = ask(None, "survey", TOPIC, model="nobody:model")
    assert told.code == 2
    assert "nobody:model" in told.err
    assert "openai" in told.err
    assert "Traceback" not in told.err


def test_a_key_that_the_server_does_not_accept(small, ask, scripted):
    server = scripted(key="another-key-0123456789")
    told = ask(server, "survey", TOPIC, "--concurrency", "2", "--json")
    _assert_one_clear_message(told, "WrongKey", "OPENAI_API_KEY")
    assert "sk-scripted" not in told.err + told.out
    assert server.count()["requests"] <= 4


def test_a_key_that_is_not_there(small, run, monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    told = run("survey", TOPIC, "--model", "anthropic:claude-sonnet-4-5", "--json")
    _assert_one_clear_message(told, "WrongKey", "ANTHROPIC_API_KEY")


def test_a_server_that_is_not_there(small, ask):
    told = ask(None, "survey", TOPIC, "--json")
    _assert_one_clear_message(told, "Unreachable", "127.0.0.1:9")


def test_a_window_too_small_for_any_prompt(small, ask, scripted):
    server = scripted()
    told = ask(server, "survey", TOPIC, "--window", "512", "--json")
    _assert_one_clear_message(told, "WindowTooSmall", "512")
    assert server.count()["requests"] == 0


def test_an_unknown_price_is_said_to_be_unknown_and_a_budget_of_money_is_refused(
    small, ask, run, scripted, monkeypatch
):
    monkeypatch.setenv("LITHOUSE_MODEL_IS_FREE", "0")
    server = scripted()
    refused = ask(server, "survey", TOPIC, "--budget-cost", "1", "--json")
    assert refused.code == 1
    assert "price" in refused.err
    assert server.count()["requests"] == 0
    told = ask(server, "survey", TOPIC, "--json")
    assert told.code == 0, told.err
    assert told.json["cost"] == "unknown"
    unknown = "SELECT count(*) AS n FROM language_model_calls WHERE origin = 'paid' AND cost IS NOT NULL"
    assert run("sql", unknown, "--json").json == [{"n": 0}]


def test_a_full_disk_loses_no_reply_in_silence(small, ask, scripted, monkeypatch):
    from generation.language_models import spool

    def full(*_args, **_kwargs):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(spool.Spool, "add", full)
    told = ask(scripted(), "survey", TOPIC, "--json")
    _assert_one_clear_message(told, "LedgerFull")


def test_a_person_who_stops_a_survey_is_told_that_it_goes_on(small, home, scripted):
    server = scripted(rules=[{"do": "stall"}])
    told = subprocess.Popen(
        [sys.executable, "-m", "assets.cli", "survey", TOPIC, "--model", "openai:scripted"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "LITHOUSE_HOME": str(home), "OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "sk-scripted-0123"},
    )  # fmt: skip
    wait_until(lambda: server.count()["in_process"] > 0, 60)
    told.send_signal(signal.SIGINT)
    _, said = told.communicate(timeout=60)
    assert told.returncode == 130, said
    assert "Stopped" in said
    assert "Dagster" not in said
