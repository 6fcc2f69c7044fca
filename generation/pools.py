"""The pool builder: which papers a topic's survey is made from.

Full text and the citation neighbourhood give candidates; only these are embedded, so a first survey costs
minutes, not the hours of embedding a whole corpus. Similarity to the topic, and to the papers found first
(pseudo-relevance feedback), orders them; reciprocal ranks fuse the orders.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import polars as pl

from corpus.contracts.topics import TOPIC_POOL
from corpus.hashing import set_hash
from corpus.visibility import View
from generation.topics import Topic
from indexes.fusion import reciprocal_rank_fusion
from indexes.paper_index import PaperIndex
from ingestion.errors import NotFound, PermanentFailure


class NoEvidence(PermanentFailure):
    """The lake holds nothing on the topic: no survey is written."""


@dataclass(frozen=True)
class PoolOptions:
    """How the pool is built.

    Attributes:
        candidates_per_place: candidates looked at for each place in the pool.
        neighbourhood_seeds: best full-text hits whose references and citing papers are looked at.
        neighbourhood_links: links to seeds that make a paper a candidate.
        feedback: papers found first that refine the query.
        min_similarity: cosine below which a paper is off the topic, unless the user asked for it. Unrelated
            titles score about .06, same-topic ones .42 to .47.
    """

    candidates_per_place: float = 2.0
    neighbourhood_seeds: int = 200
    neighbourhood_links: int = 2
    feedback: int = 10
    min_similarity: float = 0.25


@dataclass(frozen=True)
class Pool:
    """The pool as rows of `topic_pool`, its content hash, and what could not be embedded."""

    rows: pl.DataFrame
    content_hash: str
    admitted_count: int
    embedded: int
    skipped: tuple[tuple[str, str], ...]


def pool_hash(rows: pl.DataFrame) -> str:
    """Hash of the ids and contents of a pool's papers; ranks and scores do not matter."""
    return set_hash(f"{p} {h}" for p, h in rows.select("paper_id", "content_hash").iter_rows())


def build_pool(
    view: View,
    index: PaperIndex,
    topic: Topic,
    *,
    options: PoolOptions | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Pool:
    """Retrieve the topic's papers from what the view admits.

    Raises:
        NoEvidence: nothing admitted matches the topic.
        NotFound: an included paper is not held or lies outside the view.
    """
    options = options or PoolOptions()
    hidden = view.hidden_ids()
    visible = view.papers(hidden)
    _require_included(visible, topic)
    admitted = int(visible.select(pl.len()).collect().item())
    wanted = round(topic.pool_size * options.candidates_per_place)
    hits = index.full_text(
        topic.query, max(wanted, 1), cutoff=view.cutoff, excluded=hidden, with_withdrawn=view.has_withdrawn
    )
    text_rank = {hit.paper_id: rank for rank, hit in enumerate(hits, start=1)}
    edges = view.edges(hidden).collect()
    neighbours = [p for p in _neighbours(edges, list(text_rank), options) if p not in text_rank]
    candidates = [*text_rank, *neighbours, *(p for p in topic.inclusions if p not in text_rank)]
    if not candidates:
        raise NoEvidence(
            f"no paper admitted up to {view.cutoff} matches the topic",
            which=topic.title,
            advice=f"{admitted} papers are admitted; refresh a source that covers the topic, or use other words.",
        )
    report = index.embed(candidates, progress=progress)
    similarity, dense_rank = _dense(index, topic, candidates, list(text_rank), options)
    kept = [p for p in candidates if p in topic.inclusions or similarity.get(p, 0.0) >= options.min_similarity]
    if not kept:
        raise NoEvidence(
            f"no paper admitted up to {view.cutoff} is about the topic",
            which=topic.title,
            advice=f"The nearest of {len(candidates)} candidates has similarity {max(similarity.values(), default=0):.2f}; "
            f"{options.min_similarity} is asked. Refresh a source that covers the topic, or use other words.",
        )
    orders = [[p for p in order if p in set(kept)] for order in (text_rank, dense_rank)]
    fused = dict(reciprocal_rank_fusion(orders))
    ranked = sorted(kept, key=lambda p: (p not in topic.inclusions, -fused.get(p, 0.0), p))[: topic.pool_size]
    held = view.papers(hidden).filter(pl.col("paper_id").is_in(ranked)).select("paper_id", "content_hash")
    contents = dict(held.collect().iter_rows())
    counts = dict(view.citation_counts(hidden).filter(pl.col("paper_id").is_in(ranked)).collect().iter_rows())
    rows = [
        {
            "topic": topic.key,
            "paper_id": p,
            "rank": rank,
            "query": topic.query,
            "score": round(fused.get(p, 0.0), 9),
            "full_text_rank": text_rank.get(p),
            "dense_rank": dense_rank.get(p),
            "similarity": round(similarity[p], 6) if p in similarity else None,
            "citation_count": counts.get(p, 0),
            "reason": _reason(p, topic, text_rank),
            "content_hash": contents[p],
        }
        for rank, p in enumerate(ranked, start=1)
    ]
    frame = pl.DataFrame(rows, schema=TOPIC_POOL.polars_schema)
    return Pool(frame, pool_hash(frame), admitted, report.embedded, tuple(report.skipped))


def _require_included(visible: pl.LazyFrame, topic: Topic) -> None:
    if not topic.inclusions:
        return
    found = visible.filter(pl.col("paper_id").is_in(list(topic.inclusions))).select("paper_id").collect().to_series()
    if missing := sorted(set(topic.inclusions) - set(found)):
        raise NotFound(
            "papers to include are not held, withdrawn, or later than the cutoff",
            which=", ".join(missing),
            advice="Refresh a source that has them, or leave them out.",
        )


def _neighbours(edges: pl.DataFrame, ranked: list[str], options: PoolOptions) -> list[str]:
    """Papers with several links to the best hits, most linked first."""
    seeds = ranked[: options.neighbourhood_seeds]
    cited = edges.filter(pl.col("citing_id").is_in(seeds)).select(pl.col("cited_id").alias("paper_id"))
    citing = edges.filter(pl.col("cited_id").is_in(seeds)).select(pl.col("citing_id").alias("paper_id"))
    links = pl.concat([cited, citing]).group_by("paper_id").len().filter(pl.col("len") >= options.neighbourhood_links)
    return links.sort(["len", "paper_id"], descending=[True, False])["paper_id"].to_list()


def _dense(
    index: PaperIndex, topic: Topic, candidates: list[str], text_order: list[str], options: PoolOptions
) -> tuple[dict[str, float], dict[str, int]]:
    """Cosine of each candidate to the topic, and its rank by topic and feedback together."""
    names, matrix = index.vectors(candidates)
    if not names:
        return {}, {}
    query = index.embedder.embed([topic.query])[0]
    cosine = matrix @ query
    first = [n for n, _ in reciprocal_rank_fusion([text_order, _order(names, cosine)])[: options.feedback]]
    rows = [i for i, n in enumerate(names) if n in set(first)]
    centre = query + matrix[rows].mean(axis=0) if rows else query
    refined = matrix @ (centre / np.linalg.norm(centre))
    return dict(zip(names, map(float, cosine), strict=True)), {
        name: rank for rank, name in enumerate(_order(names, refined), start=1)
    }


def _order(names: list[str], scores: np.ndarray) -> list[str]:
    return [n for _, n in sorted(zip(-np.round(scores, 6), names, strict=True))]


def _reason(paper_id: str, topic: Topic, text_rank: dict[str, int]) -> str:
    if paper_id in topic.inclusions:
        return "asked for by the user"
    return "full text" if paper_id in text_rank else "citation neighbourhood"
