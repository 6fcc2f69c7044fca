"""Two commands at once over one lake, each a process of its own: nothing is lost, nothing is kept twice."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from corpus.contracts.registry import CONTRACTS

pytestmark = pytest.mark.run


@pytest.fixture
def together(home: Path):
    """Start commands at once; the exit code, output and errors of each."""

    def started(*commands: tuple[object, ...]) -> list[tuple[int, str, str]]:
        running = [
            subprocess.Popen(
                [sys.executable, "-m", "assets.cli", *map(str, command)],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env={**os.environ, "LITHOUSE_HOME": str(home)},
            )
            for command in commands
        ]
        told = [process.communicate(timeout=500) for process in running]
        return [(process.returncode, *texts) for process, texts in zip(running, told, strict=True)]

    return started


def _refresh(mirror: Path) -> tuple[object, ...]:
    return "refresh", "--source", f"mirror:{mirror}", "--cutoff", "2024-12-31", "--json"


def _assert_done(run, told: tuple[int, str, str], command: tuple[object, ...]) -> None:
    """Done, or refused with what to do, and done when run again."""
    code, _, err = told
    assert "Traceback" not in err
    if code != 0:
        assert code == 1, err
        assert "run the command again" in err.lower(), err
        again = run(*command)
        assert again.code == 0, again.err


def _assert_nothing_twice(run) -> dict[str, int]:
    counts = {}
    for name, contract in CONTRACTS.items():
        told = run(
            "sql", f"SELECT count(*) AS n, count(DISTINCT ({', '.join(contract.keys)})) AS d FROM {name}", "--json"
        )
        assert told.code == 0, f"{name}: {told.err}"
        [row] = told.json
        assert row["n"] == row["d"], f"{name} holds a key twice"
        counts[name] = row["n"]
    return counts


def _papers(run) -> list[str]:
    return [r["paper_id"] for r in run("sql", "SELECT paper_id FROM papers ORDER BY 1", "--json").json]


def _assert_settled(run, *commands: tuple[object, ...]) -> None:
    for command in commands:
        told = run(*command)
        assert told.code == 0, told.err
        assert (told.json["rows_added"], told.json["rows_changed"], told.json["commits"]) == (0, 0, 0)


def test_tb04_refreshes_of_two_mirrors_side_by_side_keep_all_of_both(together, run, tools, sample_records, tmp_path):
    records = [r for r in sample_records if r["id"][:2] in ("23", "22")]
    halves = records[::2], records[1::2]  # the same months in both
    edges = [[{"citing_id": r["id"], "cited_id": records[0]["id"]} for r in half[1:]] for half in halves]
    mirrors = [tools.write_mirror(tmp_path / n, h, e) for n, h, e in zip("ab", halves, edges, strict=True)]
    commands = [_refresh(mirror) for mirror in mirrors]
    for told, command in zip(together(*commands), commands, strict=True):
        _assert_done(run, told, command)
    assert _papers(run) == sorted(r["id"] for r in records)
    counts = _assert_nothing_twice(run)
    assert counts["arxiv_records"] == len(records)
    assert counts["citations"] == len({(e["citing_id"], e["cited_id"]) for half in edges for e in half})
    found = {r["paper_id"] for r in run("search", "retrieval language models", "-k", "50", "--json").json}
    assert len(found & {r["id"] for r in halves[0]}) >= 2
    assert len(found & {r["id"] for r in halves[1]}) >= 2
    _assert_settled(run, *commands)


def test_tb04_refreshes_of_one_mirror_side_by_side_do_its_work_once(together, run, small_mirror, sample_records):
    command = _refresh(small_mirror)
    for told in together(command, command):
        _assert_done(run, told, command)
    assert _papers(run) == sorted(r["id"] for r in sample_records if r["id"][:4] in ("2309", "2310", "2311"))
    counts = _assert_nothing_twice(run)
    assert (counts["arxiv_records"], counts["citations"]) == (10, 9)
    _assert_settled(run, command)


def test_a_refresh_beside_upkeep_is_as_without_it(small, together, run, tools, sample_records, tmp_path):
    mirror = tools.write_mirror(tmp_path / "more", [r for r in sample_records if r["id"][:2] == "24"])
    command, upkeep = _refresh(mirror), ("maintain", "--json")
    refreshed, maintained = together(command, upkeep)
    _assert_done(run, refreshed, command)
    assert maintained[0] in (0, 3), maintained[2]
    assert "Traceback" not in maintained[2]
    assert len(_papers(run)) == 10 + sum(r["id"][:2] == "24" for r in sample_records)
    _assert_nothing_twice(run)
    _assert_settled(run, command)
    assert run("maintain", "--json").code == 0


def test_a_refresh_beside_a_survey_leaves_both_whole(small, together, run, tools, sample_records, tmp_path):
    mirror = tools.write_mirror(tmp_path / "more", [r for r in sample_records if r["id"][:2] == "24"])
    command, survey = _refresh(mirror), ("survey", tools.topic, "--pool", "5", "--json")
    for told, asked in zip(together(command, survey), (command, survey), strict=True):
        _assert_done(run, told, asked)
    assert len(_papers(run)) == 10 + sum(r["id"][:2] == "24" for r in sample_records)
    assert _assert_nothing_twice(run)["surveys"] >= 1
    _assert_settled(run, command)
    again = run(*survey)
    assert again.code == 0, again.err
    assert _assert_nothing_twice(run)["survey_sections"] > 0
