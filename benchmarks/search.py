"""Search at size: ours beside FAISS in memory, the way the seed systems search, and exact search.

    python -m benchmarks.search [--data SHARED_DATA] [--rows 254515 700000] [--real] [--no-text]

Vectors are synthetic (`search_vectors`; `--real` repeats the real ones of pool30k instead), since embedding so many
texts takes hours; titles and abstracts of the full text are real. Each engine runs in a process of its own: times are
medians when warm, memory is resident after the searches.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from datetime import date
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks import search_engines
from benchmarks.figures import Figure, p50_ms, print_table, stopwatch
from benchmarks.search_vectors import Vectors, mixture, tiled

DEPTH = 60
SHARES = {"no cutoff": 1.0, "28 % admitted": 0.28, "5 % admitted": 0.05}
TOPICS = (
    "retrieval augmented generation for large language models",
    "graph neural networks for molecular property prediction",
    "evaluation of large language models",
    "3D gaussian splatting for novel view synthesis",
    "diffusion models for image generation and editing",
    "hallucination detection in question answering systems",
    "federated learning with differential privacy guarantees",
    "large language model agents with tool use and planning",
)


def figures(rows: int = 254_515, *, pool: Path | None = None) -> list[Figure]:
    """Vector search over so many rows: times, memory, recall and cold start.

    Args:
        pool: the folder pool30k, to repeat its real vectors; synthetic ones without it.
    """
    vectors = tiled(pool, rows) if pool else mixture(rows)
    with tempfile.TemporaryDirectory(prefix="lithouse-benchmark-") as name:
        folder = Path(name)
        cutoffs = _prepare(folder, vectors)
        truth = {what: _exact(vectors, cutoff) for what, cutoff in cutoffs.items()}
        size = vectors.what
        del vectors
        results = {engine: _in_process(engine, folder) for engine in ("build", "ours", "faiss", "upstream", "cold")}
    return list(_compared(size, rows, results, truth))


def _prepare(folder: Path, vectors: Vectors) -> dict[str, date]:
    cutoffs = {what: vectors.cutoff(share) if share < 1 else date.max for what, share in SHARES.items()}
    np.save(folder / "matrix.npy", vectors.matrix)
    np.save(folder / "days.npy", vectors.days)
    np.save(folder / "queries.npy", vectors.queries)
    (folder / "cutoffs.json").write_text(json.dumps({what: day.isoformat() for what, day in cutoffs.items()}))
    return cutoffs


def _exact(vectors: Vectors, cutoff: date) -> list[set[str]]:
    held = np.flatnonzero(vectors.days <= (cutoff - date(1970, 1, 1)).days)
    scores = vectors.queries @ vectors.matrix[held].T
    best = np.argpartition(-scores, DEPTH - 1, axis=1)[:, :DEPTH]
    return [{search_engines.paper_id(int(held[place])) for place in row} for row in best]


def _in_process(engine: str, folder: Path) -> dict:
    started = time.perf_counter()
    script = Path(search_engines.__file__)
    path = os.pathsep.join([str(script.parents[1]), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.search_engines", engine, str(folder)],
        stdout=subprocess.PIPE,
        check=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    return {"seconds": time.perf_counter() - started, **json.loads(done.stdout.splitlines()[-1])}


def _compared(size: str, rows: int, results: dict[str, dict], truth: dict[str, list[set[str]]]):
    ours, faiss, upstream, build = (results[engine] for engine in ("ours", "faiss", "upstream", "build"))
    large = rows > 500_000
    for what in SHARES:
        limit = {"no cutoff": 1 / 3 if large else 1.0, "28 % admitted": 4.0}.get(what)
        yield Figure(
            f"top {DEPTH} of {size}, {what}", ours["ms"][what], "ms", "FAISS flat", faiss["ms"][what], at_most=limit
        )
        yield Figure(
            "  beside the upstream way", ours["ms"][what], "ms", "FAISS + TinyDB", upstream["ms"][what], at_most=1 / 20
        )
        found = [len(want & set(got)) / len(want) for want, got in zip(truth[what], ours["found"][what], strict=True)]
        yield Figure(
            f"  recall at {DEPTH}", float(np.mean(found)), "", "exact", at_least=0.95 if what.startswith("5") else 0.98
        )
    yield Figure("resident memory", ours["mb"], "MB", "FAISS", faiss["mb"], at_most=0.5)
    yield Figure(
        "  beyond the imports", ours["mb"] - ours["imports_mb"], "MB", "FAISS", faiss["mb"] - faiss["imports_mb"]
    )
    yield Figure("cold start: a new process, imports, open, first search", results["cold"]["seconds"])
    yield Figure("  open and first search", results["cold"]["open_s"])
    yield Figure("storing vectors", build["store_s"], "s")
    yield Figure(
        f"building and measuring the index (recall {build['recall']}, {build['probes']} probes)", build["index_s"], "s"
    )
    yield Figure("  peak memory of the two", build["peak_mb"], "MB")


def text_figures(metadata: Path) -> list[Figure]:
    """Full text over all papers of the shared metadata, beside LanceDB's own sum of two columns."""
    from indexes.paper_index import PaperIndex

    with tempfile.TemporaryDirectory(prefix="lithouse-benchmark-") as name:
        papers = search_engines.real_papers(metadata)
        index = PaperIndex.open(Path(name), create=True)
        with stopwatch() as taken:
            index.update(papers, snapshot="benchmark")
        told = [Figure(f"full text of {papers.height:,} papers, build", taken())]
        built = taken()
        told += _updates(index, papers, built)
        newest, early = (papers["submitted_latest"].sort()[int(share * (papers.height - 1))] for share in (1, 0.28))
        for what, cutoff in (("no cutoff", newest), ("28 % admitted", early)):
            told += _text_compared(index, cutoff, what)
        return told


def _updates(index, papers: pl.DataFrame, built: float) -> list[Figure]:
    """An update in which nothing changed, and one in which 1,000 papers did."""
    changed = pl.int_range(pl.len()) % (papers.height // 1000) == 0
    later = papers.with_columns(
        title=pl.when(changed).then(pl.col("title") + " revised").otherwise("title"),
        content_hash=pl.when(changed).then(pl.lit("1" * 64)).otherwise("content_hash"),
    )
    told = []
    for snapshot, (what, frame) in enumerate((("nothing", papers), ("1,000 papers", later))):
        with stopwatch() as taken:
            index.update(frame.iter_slices(20_000), snapshot=str(snapshot))
        told.append(Figure(f"  update, {what} changed", taken(), "s", "build", built))
    return told


def _text_compared(index, cutoff: date, what: str) -> list[Figure]:
    ours, theirs, same = [], [], []
    for topic in TOPICS:
        ours.append(p50_ms(lambda q=topic: index.full_text(q, DEPTH, cutoff=cutoff), 5))
        theirs.append(p50_ms(lambda q=topic: search_engines.lance_sum(index, q, cutoff), 3, 1))
        scores = [hit.score for hit in index.full_text(topic, DEPTH, cutoff=cutoff)]
        same.append(np.isclose(scores, search_engines.lance_sum(index, topic, cutoff)).mean())
    middle = float(np.median(ours))
    return [
        Figure(f"  top {DEPTH}, {what}", middle, "ms", "LanceDB's sum of columns", float(np.median(theirs))),
        Figure("    as asked", middle, "ms", at_most=50),
        Figure("    share of scores equal to LanceDB's", float(np.mean(same)), "", at_least=1.0),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("LITHOUSE_SHARED_DATA"))
    parser.add_argument("--rows", type=int, nargs="*", default=[254_515, 700_000], help="none for the full text alone")
    parser.add_argument("--real", action="store_true", help="repeat the real vectors of pool30k")
    parser.add_argument("--no-text", action="store_true")
    given = parser.parse_args()
    if given.data is None and (given.real or not given.no_text):
        parser.error("give --data or LITHOUSE_SHARED_DATA")
    for rows in given.rows:
        print_table(figures(rows, pool=Path(given.data) / "pool30k" if given.real else None), "Vector search")
    if not given.no_text:
        print_table(text_figures(Path(given.data) / "arxiv_metadata"), "Full text")


if __name__ == "__main__":
    main()
