"""Several processes at one lake: surveys of one topic, of two topics, and a survey while the corpus is refreshed.

Real processes, started as people start them. Dagster's page beside the command line: `test_page.py`; two refreshes:
`test_two_processes.py`.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.run

TOPIC = "Retrieval-augmented generation"
_STAGES = ["topic_pool", "topic_documents", "paper_cards", "outline", "digests", "survey"]


class Command:
    """`lithouse ARGUMENTS` under way."""

    def __init__(self, home: Path, *arguments: object) -> None:
        self._err = home.parent / f"{time.monotonic_ns()}.err"
        with self._err.open("w") as err:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "assets.cli", *map(str, arguments)],
                stdout=subprocess.PIPE,
                stderr=err,
                text=True,
                env={**os.environ, "LITHOUSE_HOME": str(home)},
            )

    @property
    def err(self) -> str:
        return self._err.read_text()

    def says(self, text: str, seconds: float = 90) -> bool:
        """Whether standard error has the text within the time."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and text not in self.err:
            time.sleep(0.1)
        return text in self.err

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def result(self) -> dict:
        """What it printed with --json; it must have ended well."""
        out, _ = self._process.communicate(timeout=240)
        assert self._process.returncode == 0, self.err
        assert "Traceback" not in self.err
        return json.loads(out)

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()


@pytest.fixture
def start(home):
    """`start("survey", …)`: a command over this test's home, ended with the test."""
    started: list[Command] = []

    def begin(*arguments: object) -> Command:
        started.append(Command(home, *arguments))
        return started[-1]

    yield begin
    for command in started:
        command.stop()


def _assert_whole(run) -> None:
    """No table has two rows of one key; every edition has its text, and the page that its row names."""
    from corpus.contracts.registry import CONTRACTS

    for name, contract in CONTRACTS.items():
        keys = ", ".join(f'"{key}"' for key in contract.keys)
        told = run("sql", f"SELECT count(*) AS n, count(DISTINCT ({keys})) AS d FROM {name}", "--json")
        assert told.code == 0, f"{name}: {told.err}"
        assert told.json[0]["n"] == told.json[0]["d"], f"{name} holds a key twice"
    for row in run("sql", "SELECT edition, sentence_count FROM surveys", "--json").json:
        query = f"SELECT count(*) AS n FROM survey_sentences WHERE edition = '{row['edition']}'"
        assert run("sql", query, "--json").json == [{"n": row["sentence_count"]}]


def test_two_surveys_of_one_topic_at_once_do_the_work_once(small, start, run):
    both = [start("survey", TOPIC, "--json") for _ in range(2)]
    results = [command.result() for command in both]
    assert sorted((r["stages_run"] for r in results), key=len) == [[], _STAGES]
    assert results[0]["edition"] == results[1]["edition"]
    assert results[0]["references"] == results[1]["references"]
    waited = [c.err for c, r in zip(both, results, strict=True) if not r["stages_run"]]
    assert "Waiting: another process is at the topic retrieval-augmented-generation." in waited[0]
    assert all(Path(path).is_file() for path in results[0]["paths"].values())
    assert run("sql", "SELECT count(*) AS n FROM surveys", "--json").json == [{"n": 1}]
    _assert_whole(run)


def test_surveys_of_two_topics_at_once_come_out_as_they_would_alone(small, start, run, tools, tmp_path, indexed_lake):
    import shutil

    titles = [TOPIC, "Large language models"]
    both = [start("survey", title, "--json") for title in titles]
    results = [command.result() for command in both]
    assert [r["stages_run"] for r in results] == [_STAGES, _STAGES]
    _assert_whole(run)
    alone = tmp_path / "alone"
    shutil.copytree(indexed_lake, alone, ignore=shutil.ignore_patterns("dagster"))
    for title, result in zip(titles, results, strict=True):
        told = tools.lithouse(alone, "survey", title, "--json")
        assert told.code == 0, told.err
        assert (told.json["edition"], told.json["references"]) == (result["edition"], result["references"])
        assert run("survey", title, "--json").json["stages_run"] == []


def test_a_survey_waits_for_the_refresh_that_changes_the_corpus_and_says_so(small, home, start, run):
    from assets.locks import changing_corpus

    with changing_corpus(home):  # as a refresh between papers and index
        survey = start("survey", TOPIC, "--json")
        assert survey.says("Waiting: another process refreshes the corpus."), survey.err
        assert survey.is_running
        assert run("status", "--json").code == 0, "who only reads does not wait"
    assert survey.result()["stages_run"] == _STAGES


def test_a_refresh_waits_for_surveys_and_says_so(small, home, start, run, tools, tmp_path, sample_records):
    from assets.locks import using_corpus

    near = next(r for r in sample_records if r["id"] == "2401.15884")
    mirror = tools.write_mirror(tmp_path / "near", [near])
    with using_corpus(home):
        refresh = start("refresh", "--source", f"mirror:{mirror}", "--cutoff", "2024-12-31", "--json")
        assert refresh.says("Waiting: surveys are being made"), refresh.err
        assert refresh.is_running
    assert refresh.result()["rows_added"] == 1


def test_a_survey_and_a_refresh_at_once_lose_nothing(small, start, run, tools, tmp_path, sample_records):
    near = next(r for r in sample_records if r["id"] == "2401.15884")
    mirror = tools.write_mirror(tmp_path / "near", [near])
    survey = start("survey", TOPIC, "--json")
    refresh = start("refresh", "--source", f"mirror:{mirror}", "--cutoff", "2024-12-31", "--json")
    assert refresh.result()["rows_added"] == 1
    made = survey.result()
    _assert_whole(run)
    assert run("sql", "SELECT count(*) AS n FROM papers", "--json").json == [{"n": 11}]
    # Made before the refresh it is stale now, made after it fresh; never half of each.
    [state] = run("status", "--json").json["surveys"]
    assert state["state"] == ("fresh" if "2401.15884" in made["consulted"] else "stale")
    assert run("survey", TOPIC, "--json").code == 0


def test_a_survey_repairs_an_index_that_a_killed_refresh_left_behind_the_corpus(
    small, home, run, tools, tmp_path, sample_records
):
    near = next(r for r in sample_records if r["id"] == "2401.15884")
    mirror = tools.write_mirror(tmp_path / "near", [near])
    driver = Path(__file__).with_name("kill_driver.py")
    arguments = ["refresh", "--source", f"mirror:{mirror}", "--cutoff", "2024-12-31"]
    done = subprocess.run(
        [sys.executable, str(driver), "corpus.derivation:derive_papers", "1", "after", "--", *arguments],
        env={**os.environ, "LITHOUSE_HOME": str(home)},
        timeout=200,
        capture_output=True,
    )
    assert done.returncode == -9
    assert run("sql", "SELECT count(*) AS n FROM papers", "--json").json == [{"n": 11}]
    told = run("survey", TOPIC, "--json")
    assert told.code == 0, told.err
    assert "2401.15884" in {r["paper_id"] for r in run("sql", "SELECT paper_id FROM topic_pool", "--json").json}
