"""Asking again is bounded, tells what was wrong, and ends by itself."""

import asyncio

import pytest
from pydantic import BaseModel

from generation.language_models.calls import Call, EmptyReply, Message, Overloaded, Refused, Truncated, Unfit
from generation.language_models.replies import Reading, read
from generation.model_writer.asking import ask_for


class Names(BaseModel):
    names: list[str]


def call(most_tokens: int = 200) -> Call:
    return Call(
        "draft", "h", (Message("system", "Task: draft"), Message("user", "Name them.")), {}, most_tokens, "2.1 Passages"
    )


def ask(gateway, reader=lambda text: read(text, Names), **more):
    return asyncio.run(ask_for(gateway, call(**more), reader))


GOOD = {"names": ["Heron"]}


def test_a_reply_that_fits_is_asked_for_once(gateway) -> None:
    asked = ask(server := gateway(GOOD))
    assert (asked.value.names, asked.keys, asked.problems) == (["Heron"], ("key1",), ())
    assert server.history == [call()]


def test_lm15_bad_json_is_asked_for_again_with_the_reason_and_then_given_up(gateway) -> None:
    server = gateway("no JSON at all")
    with pytest.raises(Unfit, match=r"holds no JSON object.*draft of “2\.1 Passages”, after 3 attempts"):
        ask(server)
    first, second, third = server.history
    assert (second.repairs, second.attempt, third.repairs, third.attempt) == ("key1", 2, "key2", 3)
    assert "holds no JSON object" in second.reason
    assert [m.role for m in second.messages] == ["system", "user", "assistant", "user"]
    assert second.messages[2].text == "no JSON at all"
    assert "holds no JSON object" in second.messages[3].text
    assert second.messages[:2] == first.messages == third.messages[:2]


def test_lm15_a_reader_that_never_approves_gets_the_best_reply_with_a_note(gateway) -> None:
    problems = iter([("a", "b"), ("a",), ("a", "b", "c")])
    asked = ask(gateway(GOOD), lambda text: Reading(text, next(problems)))
    assert asked.problems == ("a",)
    assert asked.keys == ("key1", "key3", "key2")


def test_a_repaired_reply_names_all_its_calls(gateway) -> None:
    asked = ask(gateway("what?", GOOD))
    assert asked.keys == ("key1", "key2")


def test_lm18_a_refusal_is_not_asked_again(gateway) -> None:
    server = gateway("I'm sorry, but I can't help with that.")
    with pytest.raises(Refused, match="declined"):
        ask(server)
    assert len(server.history) == 1


def test_lm18_an_empty_reply_is_asked_for_again_as_it_was(gateway) -> None:
    server = gateway("", GOOD)
    ask(server)
    first, second = server.history
    assert (second.attempt, second.messages) == (2, first.messages)


def test_lm18_a_reply_that_stays_empty_is_final(gateway) -> None:
    server = gateway("")
    with pytest.raises(EmptyReply, match="after 3 attempts") as caught:
        ask(server)
    assert [made.attempt for made in server.history] == [1, 2, 3]
    assert not caught.value.is_retryable, "the ledger would give the same three replies again"


def test_lm01_a_cut_reply_gets_more_tokens_where_the_window_bears_them(gateway) -> None:
    server = gateway(Truncated("cut", key="k", text='{"names": ["He'), GOOD)
    asked = ask(server)
    assert server.history[1].most_tokens == 400
    assert server.history[1].messages == server.history[0].messages
    assert asked.keys == ("k", "key2")


@pytest.mark.parametrize("then", ["no JSON at all", ""], ids=["unfit", "empty"])
def test_lm01_tokens_that_a_cut_reply_got_stay_for_the_next_repair(gateway, then) -> None:
    server = gateway('{"names": ["He', then, GOOD)
    ask(server)
    assert [made.most_tokens for made in server.history] == [200, 400, 400]


def test_lm01_a_cut_reply_is_asked_for_shorter_where_it_does_not(gateway) -> None:
    server = gateway('{"names": ["He', GOOD, window=260)
    ask(server, most_tokens=180)
    again = server.history[1]
    assert again.most_tokens >= 180
    assert "half the length" in again.messages[-1].text or again.most_tokens > 180


def test_a_small_window_gets_the_reason_without_the_bad_reply(gateway) -> None:
    long = "word " * 150
    server = gateway(long, GOOD, window=330)
    ask(server)
    assert [m.role for m in server.history[1].messages] == ["system", "user"]
    assert "holds no JSON object" in server.history[1].messages[1].text


def test_what_the_gateway_gives_up_is_not_asked_again_here(gateway) -> None:
    server = gateway(Overloaded("too many requests"))
    with pytest.raises(Overloaded):
        ask(server)
    assert len(server.history) == 1
