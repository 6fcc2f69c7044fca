"""The pool builder on real papers: it finds more of what surveys cite than the queries it is made of."""

import json
from statistics import mean

import numpy as np
import polars as pl
import pytest

from generation.pools import build_pool
from generation.topics import define_topic
from indexes.embedding import Embedder, paper_text

TOPICS = ("Graph Neural Networks", "Generative Diffusion Models")
PLACES, SHOWN = 300, 60


class GivenVectors:
    """The packaged embedder, for papers whose vectors are given."""

    def __init__(self, given):
        self.embedder, self.given = Embedder(), given
        self.identity = self.embedder.identity

    def embed(self, texts):
        if all(text in self.given for text in texts):
            return np.stack([self.given[text] for text in texts])
        return self.embedder.embed(texts)


@pytest.fixture
def corpus(shared_data):
    """Papers with their vectors, and by topic the references among them: all references, a tenth of the others."""
    ids = pl.read_parquet(shared_data / "pool30k" / "ids.parquet").with_row_index()
    names = {title: title.replace(" ", "_") for title in TOPICS}
    references = {
        title: set(json.loads((shared_data / "surveybench" / name / "benchmark_references.json").read_text()))
        for title, name in names.items()
    }
    wanted = pl.col("paper_id").is_in(list(set.union(*references.values())))
    ids = ids.filter(wanted | (pl.col("index") % 10 == 0))
    files = [shared_data / "arxiv_metadata" / f"papers_{part}.parquet" for part in ("until_2022", "2023_2024")]
    papers = pl.scan_parquet(files).select(pl.col("id").alias("paper_id"), "title", "abstract")
    papers = papers.join(ids.lazy(), on="paper_id").collect()
    with np.load(shared_data / "pool30k" / "vectors_int8.npz") as stored:
        vectors = (stored["vectors"] * stored["scale"]).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    given = {paper_text(p["title"], p["abstract"]): vectors[p["index"]] for p in papers.iter_rows(named=True)}
    held = set(papers["paper_id"])
    return papers.drop("index").to_dicts(), given, {title: found & held for title, found in references.items()}


@pytest.mark.run
def test_a_pool_has_more_of_the_references_than_dense_or_full_text_search(corpus, library_of):
    papers, given, references = corpus
    view, index = library_of(papers, embedder=GivenVectors(given))
    pools = {t: build_pool(view, index, define_topic(t, pool_size=PLACES)).rows["paper_id"].to_list() for t in TOPICS}
    index.embed([p["paper_id"] for p in papers])
    ways = {
        "pool": pools,
        "dense": {t: [h.paper_id for h in index.dense(t, PLACES, cutoff=view.cutoff)] for t in TOPICS},
        "text": {t: [h.paper_id for h in index.full_text(t, PLACES, cutoff=view.cutoff)] for t in TOPICS},
    }

    def share(way: str, depth: int) -> float:
        return mean(len(references[t] & set(ways[way][t][:depth])) / min(depth, len(references[t])) for t in TOPICS)

    for other in ("dense", "text"):
        assert share("pool", PLACES) > share(other, PLACES)
        assert share("pool", SHOWN) >= share(other, SHOWN)
