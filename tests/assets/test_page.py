"""Dagster's own pages (`lithouse ui`) and topics that reach the assets from there.

A real webserver on the loopback address, asked over GraphQL as the pages ask it; waits are bounded, and the server is
ended with its children whatever happens.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

pytestmark = pytest.mark.run

TITLE, SLUG = "retrieval augmented generation", "retrieval-augmented-generation"
_SELECTOR = {"repositoryLocationName": "assets.definitions", "repositoryName": "__repository__"}
_PARTITION = "mutation($r: RepositorySelector!, $k: String!) { addDynamicPartition(repositorySelector: $r, partitionsDefName: \"topics\", partitionKey: $k) { __typename ... on PythonError { message } } }"  # fmt: skip
_LAUNCH = "mutation($p: ExecutionParams!) { launchRun(executionParams: $p) { __typename ... on LaunchRunSuccess { run { runId } } ... on PythonError { message } ... on RunConfigValidationInvalid { errors { message } } } }"  # fmt: skip
_STALE = "query($k: AssetKeyInput!, $p: String!) { assetNodeOrError(assetKey: $k) { ... on AssetNode { staleStatus(partition: $p) staleCauses(partition: $p) { reason key { path } } } } }"  # fmt: skip
_STATE = "query($id: ID!) { runOrError(runId: $id) { ... on Run { status } } }"


class Server:
    """`lithouse ui` over a home, in a process of its own."""

    def __init__(self, home: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.log = home.parent / "ui.log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "assets.cli", "ui", "--port", str(self.port)],
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env={**os.environ, "LITHOUSE_HOME": str(home)},
            )

    def ask(self, query: str, **variables: object) -> dict:
        body = json.dumps({"query": query, "variables": variables}).encode()
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/graphql", body, {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=30) as reply:
            answer = json.load(reply)
        assert "errors" not in answer, answer
        return answer["data"]

    def wait(self, what, seconds: float):
        """What `what()` gives as soon as it gives something."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            assert self.process.poll() is None, self.log.read_text(errors="replace")[-3000:]
            try:
                if found := what():
                    return found
            except OSError:
                pass
            time.sleep(0.5)
        raise AssertionError(f"waited {seconds} s in vain\n{self.log.read_text(errors='replace')[-3000:]}")

    def add_topic(self, key: str) -> None:
        told = self.ask(_PARTITION, r=_SELECTOR, k=key)["addDynamicPartition"]
        assert told["__typename"] == "AddDynamicPartitionSuccess", told

    def materialize(self, assets: list[str], tags: dict[str, str]) -> tuple[str, str]:
        """Launch a run as the button of the page does; its id and how it ended."""
        parameters = {
            "mode": "default",
            "runConfigData": {},
            "executionMetadata": {"tags": [{"key": k, "value": v} for k, v in tags.items()]},
            "selector": {**_SELECTOR, "pipelineName": "__ASSET_JOB", "assetSelection": [{"path": [a]} for a in assets]},
        }
        told = self.ask(_LAUNCH, p=parameters)["launchRun"]
        assert told["__typename"] == "LaunchRunSuccess", told
        run_id = told["run"]["runId"]

        def ended():
            status = self.ask(_STATE, id=run_id)["runOrError"]["status"]
            return status if status in ("SUCCESS", "FAILURE", "CANCELED") else None

        return run_id, self.wait(ended, 150)

    def stop(self) -> None:
        for sign in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self.process.pid, sign)
                self.process.wait(15)
            except ProcessLookupError:
                return
            except subprocess.TimeoutExpired:
                continue


@pytest.fixture(scope="module")
def page(indexed_lake, tmp_path_factory):
    """A server over a lake with papers and index, and a run in its storage whose command was killed."""
    home = tmp_path_factory.mktemp("page") / "home"
    shutil.copytree(indexed_lake, home, ignore=shutil.ignore_patterns("dagster"))
    _leave_open(home)
    server = Server(home)
    server.home = home
    try:
        server.wait(lambda: server.ask("{ version }"), 120)
        server.wait(lambda: _is_loaded(server), 60)
        yield server
    finally:
        server.stop()


def _leave_open(home: Path) -> None:
    """A run as a killed command leaves it: started, and nobody there to end it. It must not hold up the queue."""
    from dagster import DagsterRunStatus

    from assets.definitions import build_definitions
    from assets.instance import open_instance

    gone = subprocess.Popen(["true"])
    gone.wait()
    with pytest.MonkeyPatch.context() as patch:
        for name in ("LITHOUSE_HOME", "LITHOUSE_DAGSTER_STORAGE", "DAGSTER_HOME"):
            patch.setenv(name, "")
        with open_instance(home) as instance:
            instance.create_run_for_job(
                build_definitions().resolve_job_def("name_topic"),
                run_config={"ops": {"register_topic": {"config": {"title": TITLE}}}},
                status=DagsterRunStatus.STARTED,
                tags={"lithouse/process": f"{socket.gethostname()}/{gone.pid}"},
            )


def _is_loaded(server: Server) -> bool:
    told = server.ask("{ repositoriesOrError { ... on RepositoryConnection { nodes { name location { name } } } } }")
    return {"name": "__repository__", "location": {"name": "assets.definitions"}} in told["repositoriesOrError"].get(
        "nodes", []
    )


def test_or03_a_topic_added_and_materialized_on_the_page_is_the_command_lines_own(page, tools, indexed_lake, tmp_path):
    page.add_topic(SLUG)
    _, status = page.materialize(["topic_pool", "topic_documents", "paper_cards"], {"dagster/partition": SLUG})
    assert status == "SUCCESS", page.log.read_text(errors="replace")[-3000:]
    partition = {
        "dagster/partition": f"surveyforge|{SLUG}",
        "dagster/partition/topic": SLUG,
        "dagster/partition/method": "surveyforge",
    }
    run_id, status = page.materialize(["outline", "digests", "survey"], partition)
    assert status == "SUCCESS", page.log.read_text(errors="replace")[-3000:]

    # The command finds everything done, by any way of writing the title.
    told = tools.lithouse(page.home, "survey", "Retrieval-Augmented Generation", "--json")
    assert told.code == 0, told.err
    assert told.json["stages_run"] == []
    assert tools.lithouse(page.home, "lineage", SLUG, "--json").json["children"][-1]["id"] == run_id
    [state] = tools.lithouse(page.home, "status", "--json").json["surveys"]
    assert state["state"] == "fresh", state

    # And what the page made equals what the command makes over the same papers.
    other = tmp_path / "other"
    shutil.copytree(indexed_lake, other, ignore=shutil.ignore_patterns("dagster"))
    ours = tools.lithouse(other, "survey", TITLE, "--json")
    assert ours.code == 0, ours.err
    assert ours.json["edition"] == told.json["edition"]
    assert ours.json["references"] == told.json["references"]
    texts = [Path(r["paths"]["markdown"]).read_text(encoding="utf-8") for r in (ours.json, told.json)]
    assert texts[0] == texts[1]

    checked = page.ask(
        "query($id: ID!) { runOrError(runId: $id) { ... on Run { eventConnection { events { __typename"
        " ... on AssetCheckEvaluationEvent { evaluation { checkName success } } } } } } }",
        id=run_id,
    )["runOrError"]["eventConnection"]["events"]
    passed = {e["evaluation"]["checkName"]: e["evaluation"]["success"] for e in checked if "evaluation" in e}
    assert passed == dict.fromkeys(
        ["contract", "citations_have_rows", "none_after_the_cutoff", "no_uncited_reference", "no_empty_section"], True
    )


def test_or01_a_key_added_by_hand_that_is_no_topic_is_refused_with_advice_and_touches_nothing(page, tools):
    around = sorted(p.name for p in page.home.parent.iterdir())
    inside = sorted(str(p) for p in page.home.rglob("*") if "dagster" not in p.parts)
    for key in ("../../x", "/etc/x", "hep-th/9901001", "LLM | RAG, [survey] a...b"):
        page.ask(_PARTITION, r=_SELECTOR, k=key)
    run_id, status = page.materialize(["topic_pool"], {"dagster/partition": "../../x"})
    assert status == "FAILURE"
    events = page.ask(
        "query($id: ID!) { runOrError(runId: $id) { ... on Run { eventConnection { events { __typename"
        " ... on ExecutionStepFailureEvent { failureMetadata { description } } } } } } }",
        id=run_id,
    )["runOrError"]["eventConnection"]["events"]
    [told] = [e["failureMetadata"]["description"] for e in events if e.get("failureMetadata")]
    assert "../../x" in told
    assert "lithouse survey" in told
    assert "name_topic" in told
    assert sorted(p.name for p in page.home.parent.iterdir()) == around
    assert sorted(str(p) for p in page.home.rglob("*") if "dagster" not in p.parts) == inside


def _stale(page, asset: str, partition: str) -> tuple[str, list[str]]:
    """Status and causes of a partition as the page asks for them."""
    told = page.ask(_STALE, k={"path": [asset]}, p=partition)["assetNodeOrError"]
    return told["staleStatus"], [cause["key"]["path"][0] for cause in told["staleCauses"]]


def test_or09_the_page_shows_the_topic_that_a_refresh_made_stale_and_no_other(page, tools, tmp_path, sample_records):
    first = tools.lithouse(page.home, "survey", TITLE, "--json")
    second = tools.lithouse(page.home, "survey", "Retrieval evaluation", "--cutoff", "2023-09-30", "--json")
    assert (first.code, second.code) == (0, 0), first.err + second.err
    keys = {r.json["slug"]: f"surveyforge|{r.json['slug']}" for r in (first, second)}
    assert {slug: _stale(page, "survey", key) for slug, key in keys.items()} == dict.fromkeys(keys, ("FRESH", []))
    changed = next(r for r in sample_records if r["id"][:4] == "2311" and r["id"] in first.json["consulted"])
    abstract = "Retrieval-augmented generation is reconsidered. We show that passages matter. Results improve by 9%."
    mirror = tools.write_mirror(tmp_path / "news", [{**changed, "abstract": abstract}])
    told = tools.lithouse(page.home, "refresh", "--source", f"mirror:{mirror}", "--cutoff", "2024-12-31", "--json")
    assert told.json["rows_changed"] == 1, told.err
    assert _stale(page, "survey", keys[SLUG]) == ("STALE", ["topic_evidence"])
    assert _stale(page, "topic_pool", SLUG) == ("STALE", ["topic_evidence"])
    assert _stale(page, "survey", keys[second.json["slug"]]) == ("FRESH", [])
    assert _stale(page, "topic_pool", second.json["slug"]) == ("FRESH", [])


def test_the_automation_that_rebuilds_surveys_is_there_and_stopped(page):
    told = page.ask(
        "query($s: RepositorySelector!) { sensorsOrError(repositorySelector: $s) { ... on Sensors { results {"
        " name sensorState { status } } } } }",
        s=_SELECTOR,
    )["sensorsOrError"]["results"]
    assert told == [{"name": "rebuild_stale_surveys", "sensorState": {"status": "STOPPED"}}]


def test_the_command_line_surveys_and_refreshes_while_a_run_of_the_page_goes_on(page, tools, tmp_path, sample_records):
    other = "retrieval-of-passages"
    page.add_topic(other)
    mirror = tools.write_mirror(tmp_path / "near", [r for r in sample_records if r["id"] == "2401.15884"])
    with ThreadPoolExecutor() as pool:
        run = pool.submit(
            page.materialize, ["topic_pool", "topic_documents", "paper_cards"], {"dagster/partition": other}
        )
        ours = [
            ["survey", "Language models for question answering", "--json"],
            ["refresh", "--source", f"mirror:{mirror}", "--cutoff", "2024-12-31", "--json"],
        ]
        commands = [
            subprocess.Popen(
                [sys.executable, "-m", "assets.cli", *arguments],
                env={**os.environ, "LITHOUSE_HOME": str(page.home)},
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for arguments in ours
        ]
        told = [command.communicate(timeout=240) for command in commands]
        assert run.result()[1] == "SUCCESS", page.log.read_text(errors="replace")[-3000:]
    assert [command.returncode for command in commands] == [0, 0], told
    assert not any("Traceback" in err for _, err in told)
    assert json.loads(told[1][0])["rows_added"] == 1
    held = tools.lithouse(page.home, "sql", "SELECT topic, count(*) AS n FROM topic_pool GROUP BY topic", "--json").json
    assert {row["topic"] for row in held} >= {other, json.loads(told[0][0])["slug"]}
    again = tools.lithouse(page.home, "survey", other.replace("-", " "), "--json")
    assert again.code == 0, again.err


def test_the_server_listens_on_the_loopback_address_only(page):
    ours = psutil.Process(page.process.pid)
    tree = [ours, *ours.children(recursive=True)]
    addresses = {c.laddr for p in tree for c in p.net_connections("inet") if c.status == psutil.CONN_LISTEN}
    assert {(a.ip, a.port) for a in addresses if a.port == page.port} == {("127.0.0.1", page.port)}
