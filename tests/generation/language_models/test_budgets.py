"""Budgets are never exceeded, whatever runs at once; limits are kept and first come is first served."""

import asyncio
import random
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generation.language_models import limits
from generation.language_models.budgets import Budget
from generation.language_models.calls import OutOfBudget
from generation.language_models.limits import Limits, Minute, Slots
from generation.language_models.names import model_settings


@settings(max_examples=60, deadline=None)
@given(
    most=st.integers(0, 400),
    calls=st.lists(st.tuples(st.integers(1, 60), st.floats(0, 1), st.integers(0, 3)), max_size=40),
)
def test_a_budget_is_never_exceeded_and_is_used_as_far_as_it_goes(most, calls):
    budget = Budget(most_tokens=most, most_cost=most / 100)
    refused = []

    async def one(reserved, share, steps):
        try:
            held = await budget.reserve(reserved, reserved / 100)
        except OutOfBudget:
            refused.append(reserved)
            assert budget.tokens + reserved > most
            return
        assert budget.tokens + budget._held_tokens <= most
        for _ in range(steps):
            await asyncio.sleep(0)
        used = int(reserved * share)
        budget.settle(held, used, used / 100)
        assert budget.tokens <= most
        assert budget.cost <= most / 100 + 1e-6

    async def run():
        await asyncio.gather(*(one(*c) for c in calls))

    asyncio.run(run())
    assert budget._held_tokens == 0
    if not refused:
        assert budget.tokens == sum(int(r * s) for r, s, _ in calls)


def test_a_refusal_says_what_is_spent_left_and_needed():
    budget = Budget(most_tokens=1000, most_cost=0.5)

    async def run():
        held = await budget.reserve(900, 0.1)
        budget.settle(held, 850, 0.1)
        await budget.reserve(400, 0.05)

    with pytest.raises(OutOfBudget) as caught:
        asyncio.run(run())
    for words in ("850 of 1,000", "150 are", "may need 400", "$0.1000 of $0.5000", "larger budget"):
        assert words in caught.value.message
    assert caught.value.is_fatal
    assert caught.value.is_retryable


def test_a_refusal_names_what_requests_on_their_way_hold():
    budget = Budget(most_tokens=5000, most_cost=0.5)

    async def run():
        await budget.reserve(3000, 0.1)
        await budget.reserve(6000, 0.2)

    with pytest.raises(OutOfBudget) as caught:
        asyncio.run(run())
    for words in ("0 of 5,000 tokens are spent and 3,000 more held", "2,000 are left", "$0.1000 more held", "$0.4000"):
        assert words in caught.value.message


def test_a_survey_stops_before_its_budget_whatever_the_server_does(server, gateway, call, said, ledger):
    chance = random.Random(7)

    def script(number, request):
        return said("x", usage=(20, chance.randrange(5, 50)), delay=chance.random() / 50)

    server.script = script
    budget = Budget(most_tokens=1500)
    one = gateway("openai:spender", budget=budget)

    async def run():
        asked = [one.ask(call(f"n{n}", most_tokens=50)) for n in range(60)]
        found = await asyncio.gather(*asked, return_exceptions=True)
        await one.aclose()
        return found

    found = asyncio.run(run())
    assert any(isinstance(f, OutOfBudget) for f in found)
    assert sum(server.used) <= 1500
    spent = ledger.spent(topic="rag")
    assert budget.tokens == sum(server.used) == spent.input_tokens + spent.output_tokens


def test_places_are_given_in_order_and_a_cancelled_wait_takes_none():
    slots, order = Slots(1), []

    async def one(name, hold=0.001):
        async with slots:
            order.append(name)
            await asyncio.sleep(hold)

    async def run():
        first = asyncio.create_task(one("a", 0.02))
        await asyncio.sleep(0)
        gone = asyncio.create_task(one("gone"))
        rest = [asyncio.create_task(one(name)) for name in "bcd"]
        await asyncio.sleep(0)
        gone.cancel()
        await asyncio.gather(first, *rest)
        await one("e")

    asyncio.run(run())
    assert order == list("abcde")


def test_places_hold_across_threads():
    slots, now, most = Slots(3), [0], [0]

    async def one():
        async with slots:
            now[0] += 1
            most[0] = max(most[0], now[0])
            await asyncio.sleep(0.005)
            now[0] -= 1

    async def many():
        await asyncio.gather(*(one() for _ in range(10)))

    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(asyncio.run, many()) for _ in range(4)]:
            done.result(timeout=10)
    assert most[0] == 3


@settings(max_examples=200, deadline=None)
@given(
    most=st.integers(1, 50),
    calls=st.lists(st.tuples(st.floats(0, 20), st.integers(1, 120)), max_size=40),
)
def test_no_minute_holds_more_than_its_limit_and_none_waits_without_need(most, calls):
    minute, now, sent = Minute(most), 0.0, []
    for after, amount in calls:
        now += after
        minute.forget(now)
        at = minute.next_time(amount, now)
        minute.add(amount, at)
        assert at >= max(now, sent[-1][0] if sent else 0.0), "first come, first served"
        sent.append((at, amount))
    for start, amount in sent:
        within = [a for at, a in sent if start <= at < start + 60]
        assert sum(within) <= most or within == [amount], "more than a minute's worth goes alone"
    for n, (at, amount) in enumerate(sent):
        came = sum(after for after, _ in calls[: n + 1])
        if at > came:
            earlier = [(t, a) for t, a in sent[:n] if t + 60 * max(1, a / most) >= at - 1e-9]
            assert sum(min(a, most) for _, a in earlier) + min(amount, most) > most, "it waited although there was room"


@pytest.mark.parametrize("variable", ["requests_per_minute", "tokens_per_minute"])
def test_a_minutes_limit_holds_across_event_loops_and_threads(monkeypatch, variable):
    monkeypatch.setattr(limits, "_MINUTE", 0.3)
    both = Limits(replace(model_settings("openai:x", environment={}), **{variable: 6}))
    sent, started = [], time.monotonic()

    async def stage():
        for _ in range(3):
            await both.wait(1)
            sent.append(time.monotonic())

    for _ in range(2):
        asyncio.run(stage())
    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(asyncio.run, stage()) for _ in range(4)]:
            done.result(timeout=10)
    sent.sort()
    assert sent[6] - started >= 0.3
    assert sent[12] - started >= 0.6


def test_who_stops_waiting_uses_nothing_of_a_minute(monkeypatch):
    monkeypatch.setattr(limits, "_MINUTE", 0.2)
    both = Limits(replace(model_settings("openai:x", environment={}), requests_per_minute=1))

    async def run():
        started = time.monotonic()
        await both.wait(1)
        waiting = [asyncio.create_task(both.wait(1)) for _ in range(5)]
        await asyncio.sleep(0)
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        await both.wait(1)
        return time.monotonic() - started

    assert 0.2 <= asyncio.run(run()) < 0.9, "five more would take a second"


def test_a_pause_delays_also_those_who_wait_already(monkeypatch):
    monkeypatch.setattr(limits, "_MINUTE", 0.1)
    both = Limits(replace(model_settings("openai:x", environment={}), requests_per_minute=1))

    async def run():
        started = time.monotonic()
        await both.wait(1)
        waiting = asyncio.create_task(both.wait(1))
        await asyncio.sleep(0)
        both.pause(0.3)
        await waiting
        return time.monotonic() - started

    assert 0.3 <= asyncio.run(run()) < 2.0
