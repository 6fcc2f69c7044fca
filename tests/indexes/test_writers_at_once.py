"""Processes that write to the paper index at the same time, or are killed while they do."""

import os
import signal
import subprocess
import sys
import time
from datetime import date
from pathlib import Path

import pytest

from indexes.paper_index import PaperIndex

pytestmark = pytest.mark.run

ROOT = Path(__file__).parents[2]
PAPERS = [(f"2401.{n:05}", f"Zebra number{n}", f"About zebra {n}.") for n in range(1200)]
IDS = [paper[0] for paper in PAPERS]

EMBED = """
import sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[3])
from conftest import FakeEmbedder
from indexes.paper_index import PaperIndex

class Logging(FakeEmbedder):
    def embed(self, texts):
        vectors = super().embed(texts)
        time.sleep(0.2)
        with open(sys.argv[2], "a") as log:
            log.writelines(text.splitlines()[0] + "\\n" for text in texts)
        return vectors

report = PaperIndex.open(Path(sys.argv[1]), embedder=Logging()).embed_all()
print(report.embedded, report.reused, len(report.skipped))
"""


def start(folder: Path, log: Path) -> subprocess.Popen:
    command = [sys.executable, "-c", EMBED, str(folder), str(log), str(Path(__file__).parent)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_two_processes_that_embed_the_same_papers_share_the_work(build, frame, tmp_path):
    index = build(frame(PAPERS))
    log = tmp_path / "log"
    both = [start(index.folder, log) for _ in range(2)]
    told = [process.communicate(timeout=120) for process in both]
    assert [process.returncode for process in both] == [0, 0], told
    counts = [list(map(int, out.split())) for out, _ in told]
    assert sum(embedded for embedded, _, _ in counts) == 1200
    assert [sum(count) for count in counts] == [1200, 1200]
    asked = log.read_text().splitlines()
    assert len(asked) == len(set(asked)) == 1200
    now = PaperIndex.open(index.folder, embedder=index.embedder)
    assert (now.vector_count, now.vectors(IDS)[0]) == (1200, IDS)
    assert now.built_from.versions == now.versions()
    now.require("first")


def test_an_embedding_that_is_killed_goes_on_and_embeds_again_only_what_was_not_stored(build, frame, tmp_path):
    index = build(frame(PAPERS))
    log = tmp_path / "log"
    process = start(index.folder, log)
    deadline = time.monotonic() + 60
    while not log.exists() or len(log.read_text().splitlines()) < 600:
        assert time.monotonic() < deadline
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    process.stderr.close()
    stored = PaperIndex.open(index.folder, embedder=index.embedder).vector_count
    assert 256 <= stored < 1200
    second = tmp_path / "second"
    again = start(index.folder, second)
    out, err = again.communicate(timeout=120)
    assert again.returncode == 0, err
    assert list(map(int, out.split())) == [1200 - stored, stored, 0]
    assert len(second.read_text().splitlines()) == 1200 - stored
    assert PaperIndex.open(index.folder, embedder=index.embedder).vectors(IDS)[0] == IDS


def test_a_refresh_beside_an_embedding_waits_its_turn_and_both_are_right(build, frame, tmp_path, fake):
    index = build(frame(PAPERS))
    process = start(index.folder, tmp_path / "log")
    while not (tmp_path / "log").exists():
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.02)
    changed = [
        (name, "Walrus", abstract) if n >= 1000 else (name, title, abstract)
        for n, (name, title, abstract) in enumerate(PAPERS)
    ]
    result = PaperIndex.open(index.folder, embedder=fake).update(frame(changed[100:]), snapshot="second")
    assert process.poll() is None, "the update had to wait for the whole embedding"
    assert (result.changed, result.removed) == (200, 100)
    _out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    now = PaperIndex.open(index.folder, embedder=fake)
    now.require("second")
    now.embed_all()
    names, vectors = now.vectors(IDS)
    assert names == IDS[100:]
    assert vectors[-1] @ fake.embed(["Walrus\nAbout zebra 1199."])[0] == pytest.approx(1, abs=1e-5)
    assert now.full_text("walrus", 300, cutoff=date(2024, 12, 31))[199:]
