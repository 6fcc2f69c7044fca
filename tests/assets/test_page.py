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
from pathlib import Path

import psutil
import pytest

pytestmark = pytest.mark.run

TITLE, SLUG = "retrieval augmented generation", "retrieval-augmented-generation"
_SELECTOR = {"repositoryLocationName": "assets.definitions", "repositoryName": "__repository__"}
_PARTITION = "mutation($r: RepositorySelector!, $k: String!) { addDynamicPartition(repositorySelector: $r, partitionsDefName: \"topics\", partitionKey: $k) { __typename ... on PythonError { message } } }"  # fmt: skip
_LAUNCH = "mutation($p: ExecutionParams!) { launchRun(executionParams: $p) { __typename ... on LaunchRunSuccess { run { runId } } ... on PythonError { message } ... on RunConfigValidationInvalid { errors { message } } } }"  # fmt: skip
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


def test_the_server_listens_on_the_loopback_address_only(page):
    ours = psutil.Process(page.process.pid)
    tree = [ours, *ours.children(recursive=True)]
    addresses = {c.laddr for p in tree for c in p.net_connections("inet") if c.status == psutil.CONN_LISTEN}
    assert {(a.ip, a.port) for a in addresses if a.port == page.port} == {("127.0.0.1", page.port)}
