"""Writers side by side, writers that lose a race, writers that are killed."""

import subprocess
import sys
import time
from datetime import date
from pathlib import Path

import polars as pl
import pytest

from corpus.derivation import derive_papers
from corpus.harvest import commit_records, read_source
from corpus.sidetables import store_edges
from corpus.tables import Lake, LostRace
from ingestion.mirror import open_mirror
from ingestion.sidedata import Edge

pytestmark = pytest.mark.run

REPOSITORY = Path(__file__).parents[2]
WORKER = """
import sys
from pathlib import Path
import polars as pl
from corpus.sidetables import store_edges
from corpus.tables import Lake
from ingestion.sidedata import Edge

def refresh(lake, name):
    frame = pl.DataFrame({"topic": [name], "edition": ["e"], "number": ["1"], "position": [1], "level": [1],
        "title": ["x"], "words": [1], "paper_ids": [["p"]]}, schema_overrides={"position": pl.Int32, "level": pl.Int16})
    for n in range(1, 6):
        lake.replace("survey_sections", frame.with_columns(title=pl.lit(str(n))), {"topic": name})
        lake.append("survey_sections", frame.with_columns(number=pl.lit(str(n + 1))))
        store_edges(lake, name, [Edge(str(i), "shared") for i in range(n)] + [Edge(name, str(n))])
    print("done", flush=True)

def rewrite(lake):
    ids, n = [f"p{i}" for i in range(30_000)], 0
    while True:
        n += 1
        lake.replace("citations", pl.DataFrame({"citing_id": ids, "cited_id": [str(n)] * len(ids),
            "sources": [["s"]] * len(ids), "contexts": [["words " * 5]] * len(ids)}), None)
        print(n, flush=True)

print("ready", flush=True)
for line in sys.stdin:
    task, home, *rest = line.rstrip().split("|")
    {"refresh": refresh, "rewrite": rewrite}[task](Lake(Path(home)), *rest)
"""


def _start() -> subprocess.Popen:
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", WORKER]
    return subprocess.Popen(command, cwd=REPOSITORY, stdin=pipe, stdout=pipe, stderr=pipe, text=True)


@pytest.fixture(scope="module")
def workers():
    """Give living processes that take tasks; they cost two seconds to start and are shared."""
    alive: list[subprocess.Popen] = []

    def give(count: int) -> list[subprocess.Popen]:
        alive[:] = [worker for worker in alive if worker.poll() is None]
        fresh = [_start() for _ in range(count - len(alive))]
        for worker in fresh:
            assert worker.stdout.readline().strip() == "ready", worker.stderr.read()
        alive.extend(fresh)
        return alive[:count]

    yield give
    for worker in alive:
        worker.kill()
        worker.communicate()


def tell(worker: subprocess.Popen, *task: object) -> None:
    worker.stdin.write("|".join(map(str, task)) + "\n")
    worker.stdin.flush()


def answer(worker: subprocess.Popen) -> str:
    return worker.stdout.readline().strip() or worker.communicate(timeout=30)[1]


def test_tb04_two_processes_side_by_side_lose_and_double_nothing(lake: Lake, workers) -> None:
    pair = dict(zip(("one", "two"), workers(2), strict=True))
    for name, worker in pair.items():
        tell(worker, "refresh", lake.home, name)
    # Nothing but the answer: retries are not told on standard output, where results go.
    assert [answer(worker) for worker in pair.values()] == ["done", "done"]
    # Their own parts, replaced and appended to:
    rows = lake.read("survey_sections").sort("topic", "number")
    assert rows.select("topic", "number", "title").rows() == [
        (name, number, title) for name in ("one", "two") for number, title in (("1", "5"), ("6", "x"))
    ]
    # One table rewritten by both, computed from what each found:
    edges = lake.read("citations")
    assert {(r["citing_id"], r["cited_id"]): r["sources"] for r in edges.to_dicts()} == {
        **{(str(i), "shared"): ["one", "two"] for i in range(5)},
        ("one", "5"): ["one"],
        ("two", "5"): ["two"],
    }
    assert edges.height == 7


@pytest.mark.parametrize("write", ["append", "replace"])
def test_tb04_rows_computed_from_an_overtaken_version_are_not_written(lake: Lake, edges, write) -> None:
    read = lake.append("citations", edges(("a", "b"))).version
    lake.append("citations", edges(("c", "d")))
    arguments = ("citations", edges(("e", "f")))
    with pytest.raises(LostRace) as lost:
        getattr(lake, write)(*arguments, *([None] if write == "replace" else []), on_top_of=read)
    assert lost.value.is_retryable
    assert sorted(lake.read("citations")["citing_id"]) == ["a", "c"]


def test_tb04_of_two_first_writers_the_second_computes_again(lake: Lake, edges) -> None:
    lake.append("citations", edges(("a", "b")), on_top_of=0)
    with pytest.raises(LostRace):
        lake.append("citations", edges(("c", "d")), on_top_of=0)
    store_edges(lake, "s", [Edge("c", "d")])
    assert sorted(lake.read("citations")["citing_id"]) == ["a", "c"]


def test_tb04_two_sources_refreshed_side_by_side_both_reach_papers(lake, record, write_mirror, tmp_path) -> None:
    readings = [
        read_source(open_mirror(write_mirror(tmp_path / name, [record(paper_id, day="2024-01-05")])), cutoff=None)
        for name, paper_id in (("one", "2401.00001"), ("two", "2401.00002"))
    ]
    for reading in readings:
        assert commit_records(lake, reading) == [date(2024, 1, 1)]
    assert derive_papers(lake).added == ("2401.00001", "2401.00002")
    assert not derive_papers(lake).is_committed


def test_writers_killed_in_mid_write_leave_the_last_version(tmp_path, workers, edges) -> None:
    for n, writer in enumerate(workers(2)):
        lake = Lake(tmp_path / str(n))
        tell(writer, "rewrite", lake.home)
        assert answer(writer) == "1"
        time.sleep(0.02 + 0.08 * n)
        writer.kill()
        writer.wait()
        rows = lake.scan("citations").select("citing_id", "cited_id").collect()
        assert rows.height == 30_000
        assert rows["cited_id"].n_unique() == 1
        lake.replace("citations", edges(("still", "writable")), None)
        assert lake.read("citations")["citing_id"].to_list() == ["still"]


def test_a_file_that_a_dead_writer_left_is_no_part_of_the_table(lake: Lake, edges) -> None:
    lake.append("citations", edges(("a", "b")))
    pl.DataFrame({"citing_id": ["ghost"], "cited_id": ["x"]}).write_parquet(lake.folder("citations") / "left.parquet")
    assert lake.read("citations")["citing_id"].to_list() == ["a"]
    assert lake.row_count("citations") == 1
