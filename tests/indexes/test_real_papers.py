"""Full text and the packaged model on the real mirror; skipped where the shared data is absent."""

import gzip
import json
from datetime import date
from zlib import crc32

import numpy as np
import polars as pl
import pytest

from indexes.embedding import Embedder, paper_text
from indexes.paper_index import PaperIndex

pytestmark = pytest.mark.run

TOPIC = "Retrieval-Augmented Generation for Large Language Models"
CUTOFF = date(2024, 3, 31)


@pytest.fixture(scope="module")
def papers(shared_data) -> pl.DataFrame:
    with gzip.open(shared_data / "mirror" / "metadata.jsonl.gz", "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    return pl.DataFrame(
        {
            "paper_id": [record["id"] for record in records],
            "title": [record["title"] for record in records],
            "abstract": [record["abstract"] for record in records],
            "submitted_latest": [
                date.fromisoformat((record["update_date"] or "2020-01-01")[:10]) for record in records
            ],
            "is_withdrawn": [False] * len(records),
            "content_hash": [f"{crc32(repr((r['title'], r['abstract'])).encode()):08x}" for r in records],
        }
    )


@pytest.fixture(scope="module")
def index(papers, tmp_path_factory) -> PaperIndex:
    index = PaperIndex.open(tmp_path_factory.mktemp("real") / "index", create=True)
    index.update(papers, snapshot="mirror")
    return index


def test_a_topic_of_common_words_finds_its_papers(index, papers):
    hits = index.full_text(TOPIC, 20, cutoff=CUTOFF)
    titles = dict(zip(papers["paper_id"], papers["title"], strict=True))
    days = dict(zip(papers["paper_id"], papers["submitted_latest"], strict=True))
    assert sum("retriev" in titles[hit.paper_id].lower() for hit in hits) >= 18
    assert all(days[hit.paper_id] <= CUTOFF for hit in hits)
    assert "2312.10997" in {hit.paper_id for hit in hits}  # the survey of that name
    assert hits == index.full_text(TOPIC, 20, cutoff=CUTOFF)


def test_a_long_question_is_searched_by_its_content_words(index, papers):
    question = "what are the methods that people use to evaluate the factuality of the answers of a language model"
    titles = dict(zip(papers["paper_id"], papers["title"], strict=True))
    best = [titles[hit.paper_id].lower() for hit in index.full_text(question, 5, cutoff=CUTOFF)]
    assert any("factual" in title for title in best)


def test_vectors_are_made_for_the_best_and_find_what_words_do_not(index):
    best = [hit.paper_id for hit in index.full_text(TOPIC, 24, cutoff=CUTOFF)]
    report = index.embed(best)
    assert (report.embedded, report.skipped) == (24, [])
    nearest = index.dense("looking things up before answering", 5, cutoff=CUTOFF)
    assert len(nearest) == 5
    assert nearest[0].score > nearest[-1].score
    assert index.search(TOPIC, 5, cutoff=CUTOFF)


def test_vectors_equal_those_of_the_frozen_pool(shared_data):
    ids = pl.read_parquet(shared_data / "pool30k" / "ids.parquet")["paper_id"].to_list()
    stored = np.load(shared_data / "pool30k" / "vectors_int8.npz")
    texts = pl.scan_parquet(shared_data / "arxiv_metadata" / "papers_until_2022.parquet")
    some = texts.select("id", "title", "abstract").filter(pl.col("id").is_in(ids[:400])).head(4).collect()
    ours = Embedder().embed([paper_text(title, abstract) for _, title, abstract in some.rows()])
    rows = [ids.index(name) for name in some["id"]]
    theirs = stored["vectors"][rows] * stored["scale"][rows].astype(np.float32)
    theirs /= np.linalg.norm(theirs, axis=1, keepdims=True)
    assert (ours * theirs).sum(axis=1).min() > 0.999
