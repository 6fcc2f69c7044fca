"""What a pool costs beside embedding, in a corpus of full size and with many citations.

    python -m benchmarks.pool_cost HOME [--work FOLDER] [--edges 10000000]

HOME is a lake with papers, which is linked into FOLDER (default: beside it) and left as it is. Vectors are made up, from
each text's checksum around one direction, so that embedding takes no time and every paper is like the topic; edges are
those of `benchmarks.sql`. What is found is measured by `benchmarks.pool_retrieval`.
"""

import argparse
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from benchmarks.figures import Figure, p50_ms, peak_mb, print_table, stopwatch
from benchmarks.pool_retrieval import CUTOFF, TOPICS
from benchmarks.sql import edge_parts, linked
from corpus.snapshots import take_snapshot
from corpus.visibility import View
from generation.pools import build_pool
from generation.topics import define_topic
from indexes.embedding import EmbedderIdentity
from indexes.paper_index import PaperIndex

_REPEATS = 5
_SEEDS = 200
_INDEXED = ("paper_id", "title", "abstract", "submitted_latest", "is_withdrawn", "content_hash")


class MadeUp:
    """Vectors from checksums: a cosine of about .4 between any two texts."""

    identity = EmbedderIdentity("made up", "0" * 64, 128, 384)
    _CENTRE = np.full(384, 384**-0.5, dtype=np.float32)

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        noise = [np.random.default_rng(zlib.crc32(t.encode())).standard_normal(384, np.float32) for t in texts]
        vectors = np.stack(noise) * 384**-0.5 + 0.8 * self._CENTRE
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def figures(home: Path, work: Path, edges: int = 10_000_000) -> list[Figure]:
    """Seconds of a pool whose candidates have vectors, without and with edges, and of what it is made of."""
    lake = linked(home, work)
    papers = lake.scan("papers").select(_INDEXED).collect()
    size = f"{len(papers):,} papers"
    index = PaperIndex.open(work / "index", embedder=MadeUp(), create=True)
    index.update(papers, snapshot=take_snapshot(lake).content_hash)
    ids = papers.sort("submitted_latest", "paper_id")["paper_id"].to_list()
    del papers
    view, topic = View(lake, CUTOFF), define_topic(TOPICS[0])
    first = build_pool(view, index, topic)
    queries = first.rows["query"].unique().to_list()

    def again() -> object:
        return build_pool(view, index, topic)

    searches = _seconds(lambda: [index.full_text(q, 2 * topic.pool_size, cutoff=CUTOFF) for q in queries])
    found = [
        Figure("papers embedded for a first pool", first.embedded, "papers", "places", topic.pool_size, at_most=2.3),
        Figure(f"a pool again, {size}", _seconds(again), "s", f"its {len(queries)} full text queries", searches),
    ]
    with stopwatch() as seconds:
        written = sum(lake.append("citations", part).rows for part in edge_parts(ids, edges))
    found.append(Figure(f"writing {written:,} edges", seconds()))
    build_pool(view, index, topic)
    ranked = first.rows["paper_id"].to_list()
    seeds = ranked[:_SEEDS]
    near = _seconds(lambda: view.edges(citing=seeds, cited=seeds).collect())
    counts = _seconds(lambda: view.citation_counts(of=ranked).collect())
    found += [
        Figure(f"a pool again, with {written:,} edges", _seconds(again)),
        Figure(f"  edges of {_SEEDS} papers", near, "s", "every edge", _seconds(view.edges().collect, 1), at_most=0.5),
        Figure(f"  citations of {len(ranked):,} papers", counts, "s", "of every paper", _seconds(view.citation_counts().collect, 1), at_most=0.5),
        Figure("peak memory, reading every edge included", peak_mb(), "MB"),
    ]  # fmt: skip
    return found


def _seconds(call: Callable[[], object], repeats: int = _REPEATS) -> float:
    return p50_ms(call, repeats=repeats, warm_up=min(1, repeats - 1)) / 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("home", type=Path, help="a lake with papers")
    parser.add_argument("--work", type=Path, help="folder for the lake with index and edges; made anew")
    parser.add_argument("--edges", type=int, default=10_000_000)
    given = parser.parse_args()
    work = given.work or given.home.with_name(f"{given.home.name}-pool")
    print_table(figures(given.home, work, given.edges), "cost of a pool")


if __name__ == "__main__":
    main()
