"""No secret leaves the gateway: not in a row, not in an error, not in a log."""

import asyncio
import json
import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation.language_models import calls
from generation.language_models.secrets import MARK, scrub, without_user

KEY = "sk-proj-abcDEF0123456789abcDEF0123456789"
VARIABLE = "correct-horse-battery-staple"
PROXY = "pr0xy-Passw0rd"
SECRETS = {
    "OPENAI_API_KEY": KEY,
    "WAREHOUSE_PASSWORD": VARIABLE,
    "HTTPS_PROXY": f"http://someone:{PROXY}@proxy.example.org:3128",
}


@pytest.mark.parametrize(
    "text",
    [
        f"Incorrect API key provided: {KEY}.",
        f"the model says {VARIABLE} aloud",
        f"cannot reach http://someone:{PROXY}@proxy.example.org:3128/",
        f"proxy password {PROXY}",
        "{'Authorization': 'Bearer abcdefgh12345678'}",
        "authorization: Basic c29tZW9uZTpwcjB4eS1QYXNzdzByZA==",
        "another key sk-ant-api03-abcdefghijklmnop1234",
        "masked: sk-proj-********************6789",
    ],
)
def test_a_secret_is_marked(text):
    told = scrub(text, SECRETS)
    assert MARK in told
    for secret in (KEY, VARIABLE, PROXY, "abcdefgh12345678", "c29tZW9u", "abcdefghijklmnop1234", "6789"):
        assert secret not in told


@pytest.mark.parametrize(
    "text",
    [
        "We use sk-learn-compatible-estimators and basic characterizations of tokens.",
        "Authorization: policies must be enforced. The bearer understanding-of-language-models is basic.",
        "See https://example.org/a@b and mail ada@example.org.",
        "Key, value and query; token 12345678.",
    ],
)
def test_what_is_no_secret_stays(text):
    environment = {"LITHOUSE_MODEL_TOKENS_PER_MINUTE": "12345678", "TOKENIZERS": "false", "EDITOR": "understanding"}
    assert scrub(text, environment) == text


@pytest.mark.parametrize("form", [repr, lambda v: repr(v.encode()), json.dumps], ids=["repr", "bytes", "json"])
def test_a_secret_is_marked_as_it_is_printed(form):
    secret = "abc1234\n56\u00fc78zq\t'"
    told = scrub(f"Illegal header value {form(secret)}", {"A_TOKEN": secret})
    assert MARK in told
    assert "78zq" not in told
    assert "abc1234" not in told


def test_a_servers_own_key_is_marked_in_errors_however_short_and_only_there(server, gateway, call, said, ledger, lake):
    server.script = lambda number, request: (
        said("none of these") if number else said(status=400, error="the key none is bad, nonetheless")
    )
    one = gateway(variables={"OPENAI_API_KEY": "none"})

    async def run():
        with pytest.raises(calls.Rejected, match=r"the key \[secret\] is bad, nonetheless"):
            await one.ask(call())
        answer = await one.ask(call())
        await one.aclose()
        return answer.text

    assert asyncio.run(run()) == "none of these"
    ledger.flush()
    assert "key none" not in str(lake.read("language_model_calls").to_dicts())


@given(st.text(alphabet=st.characters(codec="ascii", exclude_categories=("Cc", "Zs")), min_size=8), st.text())
def test_no_value_of_a_secret_variable_is_left(secret, around):
    assert secret not in scrub(f"{around} {secret} {around}", {"A_TOKEN": secret}).replace(MARK, "")


def test_user_info_becomes_a_header():
    assert without_user("http://a:b@h:1/v1") == ("http://h:1/v1", "Basic YTpi")
    assert without_user("http://h:1/v1") == ("http://h:1/v1", None)


def test_no_secret_is_in_a_row_an_error_or_a_log(server, gateway, call, said, ledger, lake, caplog):
    caplog.set_level(logging.DEBUG)
    secrets = SECRETS | {"OPENAI_BASE_URL": server.address.replace("://", f"://someone:{PROXY}@") + "/v1"}
    del secrets["HTTPS_PROXY"]

    def script(number, request):
        if "fail" in request.prompt:
            return said(status=400, error=f"no: {KEY} {VARIABLE} {request.headers['authorization']}")
        return said(f"I repeat {KEY} and {VARIABLE}.")

    server.script = script
    one = gateway(variables=secrets)

    async def run():
        answer = await one.ask(call(f"my key is {KEY}"))
        with pytest.raises(calls.Rejected) as caught:
            await one.ask(call("fail"))
        await one.aclose()
        return answer.text + caught.value.message + repr(caught.value.__cause__)

    told = asyncio.run(run())
    assert "someone" not in server.requests[0].body
    assert server.requests[0].headers["authorization"].startswith("Basic "), "the server is given the user info"
    ledger.flush()
    told += str(lake.read("language_model_calls").to_dicts()) + caplog.text
    told += (lake.home / "raw" / "language_model_calls.sqlite").read_bytes().decode("latin-1")
    for secret in (KEY, VARIABLE, PROXY):
        assert secret not in told
    assert "I repeat" in told


def test_a_proxys_password_is_in_no_error_and_no_log(gateway, call, ledger, lake, caplog, monkeypatch):
    caplog.set_level(logging.DEBUG)
    proxy = f"http://someone:{PROXY}@127.0.0.1:9"
    for name in ("HTTPS_PROXY", "https_proxy"):
        monkeypatch.setenv(name, proxy)
    for name in ("NO_PROXY", "no_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    variables = {"OPENAI_BASE_URL": "https://models.example.org/v1", "OPENAI_API_KEY": KEY, "HTTPS_PROXY": proxy}
    one = gateway(variables=variables)

    async def run():
        with pytest.raises(calls.Unreachable) as caught:
            await one.ask(call())
        await one.aclose()
        return caught.value

    error = asyncio.run(run())
    ledger.flush()
    told = error.message + repr(error.__cause__) + caplog.text + str(lake.read("language_model_calls").to_dicts())
    assert "models.example.org" in error.message
    assert PROXY not in told
    assert KEY not in told
