"""The ledger: asked once, read for ever, exactly once in the table, whatever dies in between."""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from corpus.tables import Lake
from generation.language_models import calls, spool
from generation.language_models.ledger import Ledger
from ingestion.errors import LithouseError

ASKING = """
import asyncio, os, sys
from pathlib import Path
from corpus.tables import Lake
from generation.language_models.calls import Call, Message, Purpose
from generation.language_models.gateway import Gateway
from generation.language_models.ledger import Ledger
from generation.language_models.names import model_settings

home, count, ending = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
with Ledger.open(Lake(home)) as ledger:
    gateway = Gateway(model_settings("openai:small"), ledger, purpose=Purpose("survey", "rag"))

    async def main():
        calls = [
            Call("card", "t", (Message("user", f"call {n}"),), None, 50, f"item {n}") for n in range(count)
        ]
        answers = await asyncio.gather(*map(gateway.ask, calls))
        await gateway.aclose()
        return answers

    answers = asyncio.run(main())
    print(sum(answer.is_cached for answer in answers), flush=True)
    if ending == "killed before flush":
        os.kill(os.getpid(), 9)
    if ending == "killed after commit":
        ledger._spool.forget = lambda *_: os.kill(os.getpid(), 9)
"""


def run(gateway, *made):
    async def go():
        try:
            return await asyncio.gather(*map(gateway.ask, made))
        finally:
            await gateway.aclose()

    return asyncio.run(go())


def start(home, address, count=5, ending="well"):
    environment = os.environ | {"OPENAI_BASE_URL": f"{address}/v1", "LITHOUSE_MODEL_IS_FREE": "1"}
    environment.pop("OPENAI_API_KEY", None)
    return subprocess.Popen(
        [sys.executable, "-c", ASKING, str(home), str(count), ending],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_the_same_call_at_once_asks_once(server, gateway, call, said, ledger, lake):
    server.says(said(delay=0.05))
    one, other = gateway(), gateway()

    async def go():
        answers = await asyncio.gather(*(g.ask(call()) for g in (one, other, one, other)))
        await one.aclose()
        await other.aclose()
        return answers

    answers = asyncio.run(go())
    assert len(server.requests) == 1
    assert sorted(a.is_cached for a in answers) == [False, True, True, True]
    ledger.flush()
    kept = lake.read("language_model_calls")
    assert sorted(kept["origin"]) == ["cached", "cached", "cached", "paid"]
    assert kept.filter(origin="cached")["cost"].to_list() == [0.0] * 3
    assert kept.filter(origin="cached")["messages"].null_count() == 3


def test_the_same_call_from_two_threads_asks_once(server, gateway, call, said):
    server.says(said(delay=0.2))
    one = gateway()
    with ThreadPoolExecutor(2) as pool:
        both = [pool.submit(run, one, call()) for _ in range(2)]
        answers = [answer for thread in both for answer in thread.result(timeout=10)]
    assert len(server.requests) == 1
    assert sorted(answer.is_cached for answer in answers) == [False, True]


def test_a_claim_of_an_event_loop_that_is_closed_lapses(ledger):
    gone = asyncio.new_event_loop()
    assert gone.run_until_complete(ledger.claim("k")) is None
    gone.close()

    async def soon():
        async with asyncio.timeout(2):
            return await ledger.claim("k")

    assert asyncio.run(soon()) is None


@pytest.mark.parametrize(
    "fields",
    [{"most_tokens": 101}, {"attempt": 2}, {"schema": {"title": "x", "type": "object"}}],
    ids=["limit", "attempt", "schema"],
)
def test_what_decides_the_reply_makes_another_call(server, gateway, call, fields):
    run(gateway(), call(), call(**fields))
    assert len(server.requests) == 2


def test_what_a_call_is_for_makes_no_other_call(server, gateway, call):
    from generation.language_models.calls import Purpose

    run(gateway(), call())
    run(gateway(purpose=Purpose("outline", "another")), call(item="other", evidence=("a",), template="t2"))
    assert len(server.requests) == 1


def test_replies_are_there_when_the_lake_is_opened_again_and_when_only_its_tables_were_copied(
    server, gateway, call, lake, tmp_path
):
    with Ledger.open(lake) as first:
        run(gateway(held=first), *(call(str(n)) for n in range(3)))
    with Ledger.open(lake) as second:
        assert all(a.is_cached for a in run(gateway(held=second), *(call(str(n)) for n in range(3))))
    elsewhere = Lake(tmp_path / "elsewhere")
    shutil.copytree(lake.home / "tables", elsewhere.home / "tables")
    with Ledger.open(elsewhere) as copied:
        answers = run(gateway(held=copied, replay=True), *(call(str(n)) for n in range(3)))
        assert [a.text for a in answers] == ["An answer."] * 3
        with pytest.raises(calls.NotInLedger):
            run(gateway(held=copied, replay=True), call("never asked"))
    assert len(server.requests) == 3


def test_replies_that_come_into_the_table_later_are_found_when_it_is_opened_next(server, gateway, call, lake, tmp_path):
    with Ledger.open(lake) as first:
        run(gateway(held=first), call("one"))
    elsewhere = Lake(tmp_path / "elsewhere")
    shutil.copytree(lake.home / "tables", elsewhere.home / "tables")
    with Ledger.open(elsewhere) as copied:
        run(gateway(held=copied, replay=True), call("one"))
    with Ledger.open(lake) as more:
        run(gateway(held=more), call("two"))
    shutil.rmtree(elsewhere.home / "tables")
    shutil.copytree(lake.home / "tables", elsewhere.home / "tables")
    with Ledger.open(elsewhere) as copied:
        assert run(gateway(held=copied, replay=True), call("two"))[0].is_cached


def test_a_chain_of_a_cut_reply_and_its_repair_replays(server, gateway, call, said, lake, tmp_path):
    server.says(said("one, tw", finish="length"), said("one, two"))

    def chain(gateway):
        with pytest.raises(calls.Truncated) as caught:
            run(gateway, call())
        repair = call(most_tokens=200, attempt=2, repairs=caught.value.key, reason="truncated")
        return caught.value.message, caught.value.text, run(gateway, repair)[0].text

    with Ledger.open(lake) as first:
        before = chain(gateway(held=first))
    elsewhere = Lake(tmp_path / "elsewhere")
    shutil.copytree(lake.home / "tables", elsewhere.home / "tables")
    with Ledger.open(elsewhere) as copied:
        assert chain(gateway(held=copied, replay=True)) == before
    assert len(server.requests) == 2


def test_a_prompt_that_was_too_long_replays_but_is_asked_again_of_a_server_with_more_room(
    server, gateway, call, said, ledger
):
    server.says(said(status=400, error="maximum context length"), said("Fits now."))
    with pytest.raises(calls.TooLong):
        run(gateway(), call())
    with pytest.raises(calls.TooLong):
        run(gateway(replay=True), call())
    assert run(gateway(), call())[0].text == "Fits now."
    assert run(gateway(replay=True), call())[0].text == "Fits now."


def test_totals_equal_what_the_server_counted(server, gateway, call, said, ledger, lake):
    def script(number, request):
        if number % 4 == 1:
            return said(status=503, error="busy")
        return said(f"reply {number}", usage=(10 + number, number))

    server.script = script
    run(gateway(), *(call(str(n)) for n in range(20)))
    ledger.flush()
    paid = lake.read("language_model_calls").filter(origin="paid")
    assert [paid["input_tokens"].sum(), paid["output_tokens"].sum()] == server.used
    assert len(paid) == len(server.requests)
    spent = ledger.spent(topic="rag", asset="survey")
    assert [spent.input_tokens, spent.output_tokens] == server.used
    assert ledger.spent(topic="other").calls == 0


def test_spent_sees_rows_that_are_not_flushed_yet(server, gateway, call, ledger):
    run(gateway(), call())
    before = ledger.spent(topic="rag")
    ledger.flush()
    assert ledger.spent(topic="rag") == before
    assert (before.calls, before.input_tokens, before.cost) == (1, 11, 0.0)


def test_a_full_disk_is_said_and_nothing_kept_before_is_lost(server, gateway, call, ledger, lake):
    run(gateway(), call("kept"))
    pages = ledger._spool._db.execute("PRAGMA page_count").fetchone()[0]
    ledger._spool._db.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(calls.LedgerFull, match="disk is full"):
        run(gateway(), call("word " * 900))
    ledger._spool._db.execute("PRAGMA max_page_count = 1000000")
    assert run(gateway(), call("kept"))[0].is_cached


def test_a_full_disk_while_flushing_keeps_the_rows_for_the_next_time(server, gateway, call, ledger, lake, monkeypatch):
    run(gateway(), call())
    with monkeypatch.context() as patch:

        def full(*_):
            raise OSError(28, "No space left on device")

        patch.setattr(Lake, "append", full)
        with pytest.raises(calls.LedgerFull):
            ledger.flush()
    assert ledger.flush() == 1
    assert lake.row_count("language_model_calls") == 1


def test_a_flush_that_died_after_its_commit_doubles_nothing(server, gateway, call, lake, monkeypatch):
    with Ledger.open(lake) as first:
        run(gateway(held=first), *(call(str(n)) for n in range(4)))
        with monkeypatch.context() as patch:

            def die(*_):
                raise KeyboardInterrupt

            patch.setattr(spool.Spool, "forget", die)
            with pytest.raises(KeyboardInterrupt):
                first.flush()
        assert lake.row_count("language_model_calls") == 4
        run(gateway(held=first), call("later"))
    assert lake.row_count("language_model_calls") == 5
    assert lake.read("language_model_calls")["call_id"].n_unique() == 5


def test_a_claim_of_a_process_that_ended_lapses(ledger, lake):
    with Ledger.open(lake) as other:
        assert asyncio.run(other.claim("k")) is None

        async def impatient():
            async with asyncio.timeout(0.2):
                await ledger.claim("k")

        with pytest.raises(TimeoutError):
            asyncio.run(impatient())
    assert asyncio.run(ledger.claim("k")) is None


def test_a_file_that_is_no_spool_is_said(lake):
    (lake.home / "raw").mkdir(parents=True)
    (lake.home / "raw" / "language_model_calls.sqlite").write_bytes(
        b"not a database, but long enough to be looked at" * 9
    )
    with pytest.raises(LithouseError, match="cannot be used"):
        Ledger.open(lake)


@pytest.mark.run
def test_two_processes_ask_the_same_calls_once(server, said, lake):
    server.says(said(delay=0.1))
    both = [start(lake.home, server.address, 20) for _ in range(2)]
    cached = [int(process.communicate(timeout=120)[0]) for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert len(server.requests) == 20
    assert sum(cached) == 20
    kept = lake.read("language_model_calls")
    assert (len(kept), kept["call_id"].n_unique()) == (40, 40)


@pytest.mark.run
@pytest.mark.parametrize("ending", ["killed before flush", "killed after commit"])
def test_a_killed_process_loses_no_reply_and_doubles_no_row(server, lake, ending):
    killed = start(lake.home, server.address, 5, ending)
    killed.communicate(timeout=120)
    assert killed.returncode == -signal.SIGKILL
    again = start(lake.home, server.address, 5)
    assert int(again.communicate(timeout=120)[0]) == 5
    assert len(server.requests) == 5
    kept = lake.read("language_model_calls")
    assert (len(kept), kept["call_id"].n_unique()) == (10, 10)
    assert [kept["input_tokens"].filter(kept["origin"] == "paid").sum()] == [server.used[0]]


@pytest.mark.run
def test_a_kill_at_any_moment_repeats_no_more_calls_than_were_on_their_way(server, said, lake):
    server.says(said(delay=0.05))
    kills, total, at_once = 3, 60, 8
    for kill in range(kills):
        process = start(lake.home, server.address, total)
        before = len(server.requests)
        while len(server.requests) < before + 12 + kill and process.poll() is None:
            time.sleep(0.01)
        process.kill()
        process.communicate(timeout=60)
        time.sleep(0.1)
    assert start(lake.home, server.address, total).wait(timeout=120) == 0
    assert len(server.requests) <= total + kills * at_once
    kept = lake.read("language_model_calls").filter(origin="paid", status="answered")
    assert (kept["key"].n_unique(), len(kept)) == (total, total)


def test_the_key_names_all_that_decides_and_the_order_of_fields(gateway, call):
    from generation.language_models.names import model_settings
    from generation.language_models.records import call_key

    free = {"LITHOUSE_MODEL_WINDOW": "100", "LITHOUSE_MODEL_CONCURRENCY": "2", "OPENAI_BASE_URL": "http://10.0.0.1/v1"}
    here, there = model_settings("openai:m", environment={}), model_settings("openai:m", environment=free)
    tool = model_settings("openai:m", environment={"LITHOUSE_MODEL_OUTPUT": "tool"})
    schema = json.loads('{"properties": {"a": {}, "b": {}}}')
    turned = json.loads('{"properties": {"b": {}, "a": {}}}')
    assert call_key(here, call()) == call_key(there, call())
    assert call_key(here, call()) != call_key(tool, call())
    assert call_key(here, call(schema=schema)) != call_key(here, call(schema=turned))
