"""Writers side by side, writers that lose a race, writers that are killed."""

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import date, timedelta
from pathlib import Path

import polars as pl
import pytest

from corpus.derivation import derive_papers
from corpus.harvest import commit_records, read_source
from corpus.maintenance import maintain
from corpus.races import ATTEMPTS
from corpus.sidetables import store_edges
from corpus.tables import Lake, LostRace, recomputed
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

def append(lake, name):
    for n in range(15):
        lake.append("citations", pl.DataFrame({"citing_id": [f"{name}{n}"], "cited_id": ["x"], "sources": [[name]],
            "contexts": [[]]}, schema_overrides={"contexts": pl.List(pl.String)}))
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
    {"refresh": refresh, "rewrite": rewrite, "append": append}[task](Lake(Path(home)), *rest)
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
    assert_nothing_lost(lake)


def assert_nothing_lost(lake: Lake) -> None:
    """What two workers that refreshed as `one` and `two` leave."""
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


def test_tb04_appends_from_two_processes_and_this_one_all_land(lake: Lake, workers, edges) -> None:
    pair = dict(zip(("one", "two"), workers(2), strict=True))
    for name, worker in pair.items():
        tell(worker, "append", lake.home, name)
    for n in range(15):
        lake.append("citations", edges((f"three{n}", "x")))
    assert [answer(worker) for worker in pair.values()] == ["done", "done"]
    found = lake.read("citations")["citing_id"].to_list()
    assert sorted(found) == sorted(f"{name}{n}" for name in ("one", "two", "three") for n in range(15))


def test_tb04_upkeep_beside_two_writers_loses_nothing_and_says_what_it_left(lake: Lake, workers) -> None:
    pair = dict(zip(("one", "two"), workers(2), strict=True))
    for name, worker in pair.items():
        tell(worker, "refresh", lake.home, name)
    left, answers = [], []
    with ThreadPoolExecutor(2) as pool:
        waiting = [pool.submit(answer, worker) for worker in pair.values()]
        while not all(w.done() for w in waiting):
            left += [done.failure for done in maintain(lake) if done.failure]
        answers = [w.result() for w in waiting]
    assert answers == ["done", "done"]
    assert all("kept winning" in reason for reason in left)
    assert_nothing_lost(lake)
    assert not any(done.failure for done in maintain(lake, grace=timedelta(0)))
    assert_nothing_lost(lake)


def test_tb04_a_compaction_in_between_makes_the_writer_compute_again(lake: Lake, edges) -> None:
    for name in ("a", "b"):
        lake.append("citations", edges((name, "x")))
    calls = []

    @recomputed
    def add() -> None:
        version = lake.version("citations")
        rows = lake.read("citations", version=version)
        if not calls:
            assert lake.compact("citations").joined == 2
        calls.append(version)
        lake.replace("citations", pl.concat([rows, edges((f"c{len(calls)}", "x"))]), None, on_top_of=version)

    add()
    assert len(calls) == 2
    assert sorted(lake.read("citations")["citing_id"]) == ["a", "b", "c2"]


def test_tb04_retries_are_bounded(lake: Lake, edges) -> None:
    lake.append("citations", edges(("a", "x")))
    calls = []

    @recomputed
    def hopeless() -> None:
        version = lake.version("citations")
        calls.append(version)
        lake.append("citations", edges((f"b{len(calls)}", "x")))  # someone else, every time
        lake.append("citations", edges(("c", "x")), on_top_of=version)

    with pytest.raises(LostRace, match="run the command again"):
        hopeless()
    assert len(calls) == ATTEMPTS
    assert "c" not in lake.read("citations")["citing_id"].to_list()


def test_a_writer_killed_beside_upkeep_leaves_a_readable_table(lake: Lake, workers) -> None:
    (writer,) = workers(1)
    tell(writer, "rewrite", lake.home)
    assert answer(writer) == "1"
    for _ in range(2):
        maintain(lake)
    writer.kill()
    writer.wait()
    (done,) = maintain(lake, grace=timedelta(0))
    rows = lake.scan("citations").select("citing_id", "cited_id").collect()
    assert (rows.height, rows["cited_id"].n_unique()) == (30_000, 1)
    assert not done.failure


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
