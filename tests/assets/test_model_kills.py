"""`kill -9` at random moments of a survey of hundreds of calls: what was answered is not asked again, nothing is lost."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.servers.made_up_papers import TOPIC, write_mirror

pytestmark = pytest.mark.run

_PAPERS, _CAPACITY, _LATENCY, _KILLS = 360, 8, 0.3, 10
_OPTIONS = ("--pool", str(_PAPERS), "--concurrency", str(_CAPACITY), "--json")


class _Forks:
    """Surveys as processes that are killed (`fork_driver.py`)."""

    def __init__(self, home: Path, address: str) -> None:
        self._driver = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("fork_driver.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self._driver.stdout.readline() == "ready\n"
        environment = {"LITHOUSE_HOME": str(home), "OPENAI_BASE_URL": address, "OPENAI_API_KEY": "sk-x"}
        arguments = ["survey", TOPIC, "--model", "openai:scripted", *_OPTIONS]
        self._wanted = json.dumps({"environment": environment, "arguments": arguments})

    def start(self) -> int:
        """A new process; its id, which is that of its group too."""
        self._driver.stdin.write(f"{self._wanted}\n")
        self._driver.stdin.flush()
        return int(self._driver.stdout.readline())

    def end(self) -> None:
        self._driver.kill()
        self._driver.wait()


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def _killed_after(server, forks: _Forks, answered: int, moment: float) -> bool:
    """Start a survey and kill it `moment` seconds after the server's so manieth answer; False where it ended before."""
    pid = forks.start()
    end = time.monotonic() + 120
    while server.count()["answered"] < answered and _is_alive(pid):
        assert time.monotonic() < end, "no progress"
        time.sleep(0.03)
    time.sleep(moment)
    if not _is_alive(pid):
        return False
    os.killpg(pid, signal.SIGKILL)
    while _is_alive(pid):
        time.sleep(0.01)
    return True


def _told(run, slug: str) -> list[dict]:
    query = (
        f"""SELECT number, section, text, kind, spans FROM survey_sentences WHERE topic = '{slug}' ORDER BY number"""
    )
    rows = run("sql", query, "--json")
    assert rows.code == 0, rows.err
    return rows.json


def test_a_survey_killed_ten_times_asks_at_most_what_was_under_way_again_and_is_the_undisturbed_one(
    home, tmp_path, tools, ask, run, scripted
):
    mirror = write_mirror(tmp_path / "mirror", _PAPERS)
    assert tools.lithouse(home, "refresh", "--source", f"mirror:{mirror}", "--cutoff", "2024-12-31").code == 0
    # The pool's vectors are made once, before anything is timed or killed.
    assert tools.lithouse(home, "outline", TOPIC, "--pool", str(_PAPERS)).code == 0
    undisturbed_home = tmp_path / "undisturbed"
    shutil.copytree(home, undisturbed_home, ignore=shutil.ignore_patterns("dagster"))

    quiet = scripted(capacity=_CAPACITY)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_BASE_URL", quiet.base_url)
        patch.setenv("OPENAI_API_KEY", "sk-x")
        undisturbed = tools.lithouse(undisturbed_home, "survey", TOPIC, "--model", "openai:scripted", *_OPTIONS)
    assert undisturbed.code == 0, undisturbed.err
    calls = quiet.count()["requests"]

    server = scripted(latency=_LATENCY, capacity=_CAPACITY)
    draw = random.Random(11)
    moments = sorted(draw.sample(range(1, calls), _KILLS))
    kills = []
    forks = _Forks(home, server.base_url)
    try:
        for answered in moments:
            before = server.stats()
            done = {e["key"] for e in before["time_line"] if e["status"] == 200}
            if _killed_after(server, forks, answered, draw.uniform(0, _LATENCY)):
                asked = [e["key"] for e in server.stats()["time_line"][before["requests"] :]]
                kills.append(sum(key in done for key in asked))
    finally:
        forks.end()
    print(f"{calls} calls; kills after {moments} answers; asked again after each: {kills}")
    before = server.stats()
    told = ask(server, "survey", TOPIC, *_OPTIONS)
    assert told.code == 0, told.err
    done = {e["key"] for e in before["time_line"] if e["status"] == 200}
    asked = [e["key"] for e in server.stats()["time_line"][before["requests"] :]]
    kills.append(sum(key in done for key in asked))
    assert len(kills) == _KILLS + 1, "a survey ended before it could be killed"
    assert max(kills) <= _CAPACITY, kills
    assert told.json["edition"] == undisturbed.json["edition"]
    assert told.json["references"] == undisturbed.json["references"]
    text = [Path(r.json["paths"]["markdown"]).read_text(encoding="utf-8") for r in (told, undisturbed)]
    assert text[0] == text[1]
    slug = told.json["slug"]
    assert _told(run, slug) == _told(lambda *a: tools.lithouse(undisturbed_home, *a), slug)
    twice = "SELECT count(*) - count(DISTINCT call_id) AS n FROM language_model_calls"
    assert run("sql", twice, "--json").json == [{"n": 0}]
