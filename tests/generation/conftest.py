"""Papers to test with, and a small lake with its index."""

import zlib
from datetime import date

import numpy as np
import polars as pl
import pytest

from corpus.contracts.papers import PAPERS
from corpus.sidetables import store_edges
from corpus.snapshots import take_snapshot
from corpus.tables import Lake
from corpus.visibility import View
from generation.values import Paper
from indexes.embedding import EmbedderIdentity
from indexes.paper_index import PaperIndex
from ingestion.sidedata import Edge


@pytest.fixture
def make_paper():
    """A paper with sensible values; any field can be given."""

    def make(paper_id: str = "2005.11401", **fields) -> Paper:
        values = {
            "title": "A Title",
            "abstract": "An abstract.",
            "abstract_origin": "source",
            "authors": ("Ada Lovelace",),
            "collaborations": (),
            "submitted_on": date(2020, 5, 22),
            "submitted_latest": date(2020, 5, 22),
            "submitted_precision": "day",
            "content_hash": "h",
        }
        return Paper(paper_id, **{**values, **fields})

    return make


class WordEmbedder:
    """Words hashed into 64 dimensions: texts that share words are near, and nothing is loaded."""

    identity = EmbedderIdentity("words", "0" * 64, 128, 64)

    def embed(self, texts):
        vectors = np.full((len(texts), 64), 1e-3, dtype=np.float32)
        for row, text in enumerate(texts):
            for word in text.lower().replace(".", " ").replace(",", " ").split():
                vectors[row, zlib.crc32(word.encode()) % 64] += 1
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def write_papers(lake: Lake, papers: list[dict]) -> None:
    """Rows of `papers` with sensible values; each needs paper_id, title, abstract."""
    schema = PAPERS.polars_schema
    rows = []
    for paper in papers:
        day = paper.get("submitted_latest", date(2023, 1, 15))
        rows.append(
            {
                **dict.fromkeys(schema),
                "id_month": day.replace(day=1),
                "abstract_origin": "source",
                "authors": ["Ada Lovelace", "Grace Hopper"],
                "collaborations": [],
                "submitted_latest": day,
                "submitted_on": day,
                "submitted_precision": "day",
                "is_withdrawn": False,
                "field_sources": [],
                "content_hash": f"{zlib.crc32(repr(sorted(paper.items(), key=str)).encode()):08x}",
                "records_hash": "r",
                **paper,
            }
        )
    lake.replace("papers", pl.DataFrame(rows, schema=schema), None)


@pytest.fixture
def library_of(tmp_path):
    """A lake with papers and edges, its index, and the view a topic has of it."""

    def build(papers: list[dict], edges=(), *, cutoff=date(2024, 12, 31), exclusions=(), embedder=None):
        lake = Lake(tmp_path)
        write_papers(lake, papers)
        if edges:
            store_edges(lake, "test", [Edge(a, b) for a, b in edges])
        index = PaperIndex.open(tmp_path / "index", embedder=embedder or WordEmbedder(), create=True)
        index.update(lake.scan("papers").collect(), snapshot=take_snapshot(lake).content_hash)
        return View(lake, cutoff, tuple(exclusions)), index

    return build
