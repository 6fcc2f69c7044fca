"""What the end-to-end tests share: the command in this process, small mirrors, and one surveyed lake to copy from.

The command runs in this process because importing it costs five seconds; tests that start it as people do are marked
`run`, as are all that need a surveyed lake.
"""

import contextlib
import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.servers.fixtures import Server, local_model, scripted  # noqa: F401

REPOSITORY = Path(__file__).resolve().parents[2]
SAMPLE = REPOSITORY / "ingestion" / "sample"
TOPIC, SLUG = "Retrieval-Augmented Generation", "retrieval-augmented-generation"
_DAGSTER = ("LITHOUSE_DAGSTER_STORAGE", "DAGSTER_HOME", "DAGSTER_EVENT_BATCH_SIZE")


@dataclass(frozen=True)
class Result:
    """What a command left: exit code, standard output, standard error."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


class _Out(io.TextIOWrapper):
    """Standard output with the buffer that binary writers ask for."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", write_through=True)

    def text(self) -> str:
        return self.buffer.getvalue().decode("utf-8")


def lithouse(home: Path, *arguments: object) -> Result:
    """`lithouse ARGUMENTS` with LITHOUSE_HOME=home, in this process."""
    from assets.cli import main

    out, err = _Out(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        patch.setenv("LITHOUSE_HOME", str(home))
        for name in _DAGSTER:
            patch.setenv(name, os.environ.get(name, ""))  # so that what the command sets is taken back
        with pytest.raises(SystemExit) as stop:
            main([str(a) for a in arguments])
    return Result(stop.value.code, out.text(), err.getvalue())


def write_mirror(
    folder: Path, records: Iterable[dict], edges: Iterable[dict] = (), outlines: Iterable[dict] = ()
) -> Path:
    """A mirror of the records, with the edges and outlines where there are any."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in (("metadata", records), ("citations", edges), ("outlines", outlines)):
        if rows := list(rows):
            text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
            (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    return folder


def read_lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@dataclass(frozen=True)
class Tools:
    """The helpers above as one fixture: with importlib mode tests cannot import them."""

    lithouse: Callable[..., Result]
    write_mirror: Callable[..., Path]
    read_lines: Callable[[Path], list[dict]]
    repository: Path = REPOSITORY
    sample: Path = SAMPLE
    topic: str = TOPIC
    slug: str = SLUG


@pytest.fixture(scope="session")
def tools() -> Tools:
    return Tools(lithouse, write_mirror, read_lines)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def run(home: Path) -> Callable[..., Result]:
    """`run("status", "--json")`: the command over this test's own home."""
    return lambda *arguments: lithouse(home, *arguments)


@pytest.fixture
def process(home: Path) -> Callable[..., Result]:
    """The command as people start it: a process of its own."""

    def started(*arguments: object) -> Result:
        done = subprocess.run(
            [sys.executable, "-m", "assets.cli", *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=300,
            env={**os.environ, "LITHOUSE_HOME": str(home)},
        )
        return Result(done.returncode, done.stdout, done.stderr)

    return started


@pytest.fixture(scope="session")
def sample_records() -> list[dict]:
    return read_lines(SAMPLE / "metadata.jsonl")


@pytest.fixture(scope="session")
def small_mirror(sample_records: list[dict], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten of the sample's papers, of September to November 2023; the edges are made up."""
    records = [r for r in sample_records if r["id"][:4] in ("2309", "2310", "2311")]
    edges = [{"citing_id": r["id"], "cited_id": records[0]["id"]} for r in records[1:]]
    return write_mirror(tmp_path_factory.mktemp("small") / "mirror", records, edges)


@pytest.fixture(scope="session")
def _held(small_mirror: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from corpus.derivation import derive_papers
    from corpus.harvest import commit_records, read_source, record_harvest
    from corpus.sidetables import store_edges
    from corpus.tables import Lake
    from ingestion.dates import parse_cutoff
    from ingestion.mirror import open_mirror
    from ingestion.sidedata import read_edges

    lake = Lake(tmp_path_factory.mktemp("held"))
    source = open_mirror(small_mirror)
    reading = read_source(source, cutoff=parse_cutoff("2024-12-31"))
    commit_records(lake, reading)
    derive_papers(lake)
    if source.citations:
        store_edges(lake, source.name, read_edges(source.citations).rows)
    record_harvest(lake, reading.report)
    return lake.home


@pytest.fixture
def held(_held: Path, home: Path) -> Path:
    """This test's home with the small mirror's tables in it: no index, no survey, no Dagster; quick to make."""
    shutil.copytree(_held, home)
    return home


@dataclass(frozen=True)
class Demo:
    """`lithouse demo` done once: the home, and what it printed with --json. Not to be changed: copy it."""

    home: Path
    result: dict

    def copy_to(self, target: Path, *, with_runs: bool = False) -> Path:
        shutil.copytree(self.home, target, ignore=None if with_runs else shutil.ignore_patterns("dagster"))
        return target


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    home = tmp_path_factory.mktemp("demo") / "home"
    done = lithouse(home, "demo", "--json")
    assert done.code == 0, done.err
    return Demo(home, done.json)


@pytest.fixture
def surveyed(demo: Demo, home: Path) -> Path:
    """This test's home as a copy of the demo's, to be changed at will."""
    return demo.copy_to(home)


@pytest.fixture(scope="session")
def indexed_lake(small_mirror: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("small-lake") / "home"
    done = lithouse(home, "refresh", "--source", f"mirror:{small_mirror}", "--cutoff", "2024-12-31")
    assert done.code == 0, done.err
    return home


@pytest.fixture
def small(indexed_lake: Path, home: Path) -> Path:
    """This test's home as a lake of ten papers with its index, not surveyed."""
    shutil.copytree(indexed_lake, home, ignore=shutil.ignore_patterns("dagster"))
    return home


MODEL, KEY = "openai:scripted", "sk-scripted-0123456789abcdef"


@pytest.fixture
def ask(run, monkeypatch) -> Callable[..., Result]:
    """`ask(server, "survey", TOPIC, …)`: the command with the server's address and a key in the environment."""

    def asked(server: Server | None, command: str, *arguments: object, model: str = MODEL, key: str = KEY) -> Result:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url if server else "http://127.0.0.1:9/v1")
        monkeypatch.setenv("OPENAI_API_KEY", key)
        return run(command, *arguments, "--model", model)

    return asked
