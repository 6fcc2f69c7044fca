"""Budgets are never exceeded, whatever runs at once; limits are kept and first come is first served."""

import asyncio
import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generation.language_models.calls import OutOfBudget
from generation.language_models.limits import Budget, Limits, Slots
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


def test_a_survey_stops_before_its_budget_whatever_the_server_does(server, gateway, call, said):
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
    assert budget.tokens == sum(server.used) == one.spent.input_tokens + one.spent.output_tokens


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
    from concurrent.futures import ThreadPoolExecutor

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


def test_tokens_a_minute_let_a_larger_call_pass_alone():
    from dataclasses import replace

    limits = Limits(replace(model_settings("openai:x", environment={}), tokens_per_minute=60_000))

    async def run():
        started = time.monotonic()
        await limits.wait(60_300)  # a minute's worth at once, and 0.3 s for the rest
        return time.monotonic() - started

    assert 0.25 < asyncio.run(run()) < 1.0
