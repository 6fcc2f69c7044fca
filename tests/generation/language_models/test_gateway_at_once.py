"""Calls at once and over event loops: limits, shared answers, waiters that leave."""

import asyncio
import time

import pytest

from tests.generation.language_models.asking import asked


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
