"""`kill -9` at named moments: what was stored stays readable, the next run goes on, nothing is done or kept twice.

Every kill is of a real process (`kill_driver.py`). The next run is made in this process. A lake that was never
disturbed says what must come out.
"""

import os
import random
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

pytestmark = pytest.mark.run

TOPIC, SLUG = "Retrieval-augmented generation", "retrieval-augmented-generation"
_STAGES = ["topic_pool", "topic_documents", "paper_cards", "outline", "digests", "survey"]
_DRIVER = Path(__file__).with_name("kill_driver.py")
_NOT_COMPARED = ("harvests", "rejected_records")
"""Tables with a row for each run."""


@dataclass(frozen=True)
class Kill:
    """Where to kill, and which stages the next run may still have to do (None: the kill is of a refresh)."""

    name: str
    target: str
    moment: str
    number: int = 1
    stages: tuple[str, ...] | None = None
    constants: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.name


_FEW = ("corpus.months:ROWS_AT_ONCE=4", "ingestion.records:BATCH_RECORDS=4")
_REFRESH = [
    Kill(
        "harvest, second part of the records spooled",
        "corpus.source_keys:RecordStore._write_part",
        "after",
        2,
        constants=_FEW,
    ),
    Kill("harvest, keys half written", "corpus.source_keys:_beside", "before"),
    Kill("harvest, source read and nothing written", "assets.refreshing:read_source", "after"),
    Kill("harvest, its row opened and no record written", "corpus.tables:Lake.replace@harvests", "after"),
    Kill("commit, after arxiv_records", "corpus.tables:Lake.replace@arxiv_records", "after"),
    Kill(
        "commit, after some months of arxiv_records",
        "corpus.tables:Lake.replace@arxiv_records",
        "after",
        constants=_FEW,
    ),
    Kill("commit, after the edges", "assets.corpus_assets:store_edges", "after"),
    Kill("commit, after papers", "corpus.tables:Lake.replace@papers", "after"),
    Kill("commit, after some months of papers", "corpus.tables:Lake.replace@papers", "after", constants=_FEW),
    Kill("commit, before the harvest's row", "corpus.tables:Lake.replace@harvests", "before", 2),
    Kill("index, marked unfinished and nothing written", "indexes.built_from:mark_unfinished", "after"),
    Kill("index, rows written and not indexed", "indexes.text_table:TextTable.write", "after"),
    Kill("index, indexed and its record not written", "indexes.vector_table:VectorTable.follow", "before"),
]
_STORED, _WRITER = "generation.editions", "generation.extractive.writer:ExtractiveWriter"
_SURVEY = [
    Kill("documents, after they are stored", "corpus.reading:store_documents", "after", stages=tuple(_STAGES[2:])),
    Kill("cards, after they are stored", "generation.texts:store_cards", "after", stages=tuple(_STAGES[3:])),
    Kill("outline, after it is stored", f"{_STORED}:store_outline", "after", stages=("digests", "survey")),
    Kill("digests, after they are stored", f"{_STORED}:store_digests", "after", stages=("survey",)),
    Kill("draft, second section", f"{_WRITER}.draft", "before", 2, ("survey",)),
    Kill("print, half of the folder", "generation.stages:page", "before", stages=("survey",)),
    Kill("store, before the survey's row", "corpus.tables:Lake.replace@surveys", "before", stages=("survey",)),
    Kill("store, after the survey's row", "corpus.tables:Lake.replace@surveys", "after", stages=()),
]


def _killed(home: Path, plan: list[str], *arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, str(_DRIVER), *plan, "--", *arguments],
        capture_output=True,
        text=True,
        timeout=200,
        env={**os.environ, "LITHOUSE_HOME": str(home)},
    )
    assert done.returncode == -9, f"not killed: {done.returncode}\n{done.stderr[-2000:]}"


def _counts(run) -> dict[str, int]:
    """Rows of every table by SQL; also that no table has two rows of one key."""
    from corpus.contracts.registry import CONTRACTS

    asked = []
    for name, contract in CONTRACTS.items():
        keys = ", ".join(f'"{key}"' for key in contract.keys)
        asked.append(f"SELECT '{name}' AS name, count(*) AS n, count(DISTINCT ({keys})) AS d FROM {name}")
    told = run("sql", " UNION ALL ".join(asked), "--json")
    assert told.code == 0, told.err
    assert [row["name"] for row in told.json if row["n"] != row["d"]] == [], "a table holds a key twice"
    return {row["name"]: row["n"] for row in told.json}


def _kept(counts: dict[str, int]) -> dict[str, int]:
    return {name: n for name, n in counts.items() if name not in _NOT_COMPARED}


def _runs_left_open(home: Path) -> list[str]:
    from dagster import DagsterInstance, DagsterRunStatus, RunsFilter

    from assets.home import dagster_environment

    with pytest.MonkeyPatch.context() as patch:
        for name, value in dagster_environment(home).items():
            patch.setenv(name, value)
        with DagsterInstance.get() as instance:  # not `open_instance`, which would close them
            statuses = [DagsterRunStatus.STARTED, DagsterRunStatus.STARTING, DagsterRunStatus.NOT_STARTED]
            return [run.run_id for run in instance.get_runs(RunsFilter(statuses=statuses))]


@dataclass(frozen=True)
class Undisturbed:
    """A lake refreshed and surveyed without a kill."""

    home: Path
    refreshed: dict[str, int]
    surveyed: dict[str, int]
    result: dict
    text: str


@pytest.fixture(scope="module")
def undisturbed(indexed_lake, tools, tmp_path_factory) -> Undisturbed:
    home = tmp_path_factory.mktemp("undisturbed") / "home"
    shutil.copytree(indexed_lake, home, ignore=shutil.ignore_patterns("dagster"))
    refreshed = _counts(lambda *a: tools.lithouse(home, *a))
    done = tools.lithouse(home, "survey", TOPIC, "--json")
    assert done.code == 0, done.err
    text = Path(done.json["paths"]["markdown"]).read_text(encoding="utf-8")
    return Undisturbed(home, refreshed, _counts(lambda *a: tools.lithouse(home, *a)), done.json, text)


def _assert_same_survey(result: dict, home: Path, undisturbed: Undisturbed) -> None:
    assert result["edition"] == undisturbed.result["edition"]
    assert result["references"] == undisturbed.result["references"]
    assert Path(result["paths"]["markdown"]).read_text(encoding="utf-8") == undisturbed.text
    printed = [p.name for p in (home / "exports" / result["slug"] / "surveyforge").iterdir()]
    assert printed == [result["edition"]]


@pytest.mark.parametrize("kill", _REFRESH, ids=str)
def test_a_refresh_killed_anywhere_is_finished_by_the_next_one(home, run, small_mirror, undisturbed, kill):
    print(f"kill -9: {kill.name} ({kill.target}, {kill.moment} call {kill.number})")
    command = ("refresh", "--source", f"mirror:{small_mirror}", "--cutoff", "2024-12-31", "--json")
    _killed(home, [kill.target, str(kill.number), kill.moment, *kill.constants], *command)
    halfway = _counts(run)
    assert halfway["papers"] in (range(10) if kill.constants else (0, 10))
    finished = run("sql", "SELECT count(*) AS n FROM harvests WHERE status <> 'open'", "--json").json
    assert finished == [{"n": 1 if "index" in kill.name else 0}]
    told = run(*command)
    assert told.code == 0, told.err
    assert told.json["status"] == "complete"
    assert _kept(_counts(run)) == _kept(undisturbed.refreshed)
    assert len(run("search", "retrieval", "--json").json) >= 5
    assert not _runs_left_open(home)
    versions = run("status", "--json").json["tables"]
    third = run(*command).json
    assert (third["rows_added"], third["rows_changed"], third["commits"]) == (0, 0, 0)
    assert {t: v for t, v in run("status", "--json").json["tables"].items() if t != "harvests"} == {
        t: v for t, v in versions.items() if t != "harvests"
    }


@pytest.fixture(scope="module")
def pooled(indexed_lake, undisturbed, tmp_path_factory) -> Path:
    """The small lake with the topic's pool in it, as any kill after the pool leaves it: vectors and rows, no stage."""
    from corpus.tables import Lake

    home = tmp_path_factory.mktemp("pooled") / "home"
    shutil.copytree(indexed_lake, home, ignore=shutil.ignore_patterns("dagster"))
    shutil.rmtree(home / "index")
    shutil.copytree(undisturbed.home / "index", home / "index")
    for table in ("topics", "topic_pool"):
        rows = Lake(undisturbed.home).read(table)
        Lake(home).replace(table, rows, {"topic": SLUG})
    return home


@pytest.mark.parametrize("kill", _SURVEY, ids=str)
def test_a_survey_killed_anywhere_goes_on_after_its_last_finished_stage(home, run, pooled, undisturbed, kill):
    print(f"kill -9: {kill.name} ({kill.target}, {kill.moment} call {kill.number})")
    shutil.copytree(pooled, home)
    _killed(home, [kill.target, str(kill.number), kill.moment], "survey", TOPIC, "--json")
    halfway = _counts(run)
    assert halfway["surveys"] == (0 if kill.stages else 1)
    if kill.stages:
        assert run("lineage", SLUG, "--json").json["error"]["kind"] == "NotFound", "half an edition is no edition"
    told = run("survey", TOPIC, "--json")
    assert told.code == 0, told.err
    assert told.json["stages_run"] == list(kill.stages)
    _assert_same_survey(told.json, home, undisturbed)
    assert _kept(_counts(run)) == _kept(undisturbed.surveyed)
    if kill.stages:  # where nothing was due, no run was opened that could close the killed one
        assert not _runs_left_open(home)


def test_a_survey_killed_while_embedding_keeps_the_vectors_it_has(small, home, run, undisturbed):
    from assets.instance import open_instance
    from indexes.paper_index import PaperIndex

    print("kill -9: embed, before the second of three commits of four papers")
    plan = ["indexes.vector_table:VectorTable.write", "2", "before", "indexes.embedding_run:_COMMIT_ROWS=4"]
    _killed(home, plan, "survey", TOPIC, "--json")
    ids = [r["paper_id"] for r in run("sql", "SELECT paper_id FROM papers", "--json").json]
    assert len(PaperIndex.open(home / "index").vectors(ids)[0]) == 4
    told = run("survey", TOPIC, "--json")
    assert told.code == 0, told.err
    assert told.json["stages_run"] == _STAGES
    with pytest.MonkeyPatch.context() as patch:
        for name in ("LITHOUSE_HOME", "LITHOUSE_DAGSTER_STORAGE", "DAGSTER_HOME"):
            patch.setenv(name, "")
        with open_instance(home) as instance:
            import dagster as dg

            event = instance.get_latest_materialization_event(dg.AssetKey("topic_pool"))
            embedded = event.asset_materialization.metadata["embedded"].value
    assert embedded == len(PaperIndex.open(home / "index").vectors(ids)[0]) - 4
    _assert_same_survey(told.json, home, undisturbed)
    assert _kept(_counts(run)) == _kept(undisturbed.surveyed)


@pytest.mark.parametrize("seed", [1, 2])
def test_a_survey_killed_at_a_random_time_goes_on(small, home, run, undisturbed, seed):
    seconds = round(random.Random(seed).uniform(0.5, 5), 2)
    print(f"kill -9: seed {seed}, {seconds} s after the start")
    _killed(home, [str(seconds), "seconds"], "survey", TOPIC, "--json")
    _counts(run)
    told = run("survey", TOPIC, "--json")
    assert told.code == 0, told.err
    _assert_same_survey(told.json, home, undisturbed)
    assert _kept(_counts(run)) == _kept(undisturbed.surveyed)
    assert run("survey", TOPIC, "--json").json["stages_run"] == []


def test_after_a_killed_refresh_lineage_still_leads_to_a_harvest(home, run, small_mirror):
    command = ("refresh", "--source", f"mirror:{small_mirror}", "--cutoff", "2024-12-31", "--json")
    _killed(home, ["corpus.tables:Lake.replace@arxiv_records", "1", "after"], *command)
    assert run(*command).code == 0
    lost = "SELECT count(*) AS n FROM arxiv_records WHERE harvest_id NOT IN (SELECT harvest_id FROM harvests)"
    assert run("sql", lost, "--json").json == [{"n": 0}]
