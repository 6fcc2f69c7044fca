"""The pool builder: which papers a topic's survey is made from.

Pseudo-relevance feedback in one round: the papers that full text and similarity agree on say by which words and by
which vectors to look further. Only candidates are embedded, so a first survey costs minutes, not the hours of
embedding a whole corpus, and a pool never depends on what was surveyed before. Candidates are found in
`pool_candidates` and ordered in `pool_ranking`; this module decides what enters and says why.
"""

from collections.abc import Callable
from dataclasses import dataclass

import polars as pl

from corpus.contracts.topics import TOPIC_POOL
from corpus.hashing import set_hash
from corpus.visibility import View
from generation.pool_candidates import Candidates, PoolOptions, find_candidates
from generation.pool_ranking import fused, likeness_of, ordered
from generation.topics import Topic
from indexes.paper_index import PaperIndex
from ingestion.errors import NotFound, PermanentFailure

__all__ = ["NoEvidence", "Pool", "PoolOptions", "build_pool", "pool_hash"]

_TERMS_TOLD = 8


class NoEvidence(PermanentFailure):
    """The lake holds nothing on the topic: no survey is written."""


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
    query = index.embedder.embed([topic.query])[0]
    found = find_candidates(view, index, topic, query, hidden, options, progress)
    if not found.paper_ids:
        raise NoEvidence(
            f"no paper admitted up to {view.cutoff} matches the topic",
            which=topic.title,
            advice=f"{admitted} papers are admitted; refresh a source that covers the topic, or use other words.",
        )
    like = likeness_of(*index.vectors(found.paper_ids), query, found.first)
    about = {p for p, likeness in like.likeness.items() if found.first and likeness >= options.min_likeness}
    kept = [p for p in found.paper_ids if p in about or p in topic.inclusions]
    if not kept:
        raise NoEvidence(
            f"no paper admitted up to {view.cutoff} is about the topic",
            which=topic.title,
            advice=f"None of those that share its words best has a similarity of {options.min_similarity} to it. "
            "Refresh a source that covers the topic, or use other words.",
        )
    order = ordered(like.likeness)
    scores = fused(found.by_text, found.by_terms, order, kept)
    ranked = sorted(kept, key=lambda p: (p not in topic.inclusions, -scores.get(p, 0.0), p))[: topic.pool_size]
    held = visible.filter(pl.col("paper_id").is_in(ranked)).select("paper_id", "content_hash")
    contents = dict(held.collect().iter_rows())
    counts = dict(view.citation_counts(hidden, of=ranked).collect().iter_rows())
    text_rank, dense_rank = ({p: n for n, p in enumerate(ids, start=1)} for ids in (found.by_text, order))
    origins = _origins(topic, found)
    rows = [
        {
            "topic": topic.key,
            "paper_id": p,
            "rank": rank,
            "query": origins[p][0],
            "score": round(scores.get(p, 0.0), 9),
            "full_text_rank": text_rank.get(p),
            "dense_rank": dense_rank.get(p),
            "similarity": round(like.similarity[p], 6) if p in like.similarity else None,
            "citation_count": counts.get(p, 0),
            "reason": origins[p][1],
            "content_hash": contents[p],
        }
        for rank, p in enumerate(ranked, start=1)
    ]
    frame = pl.DataFrame(rows, schema=TOPIC_POOL.polars_schema)
    return Pool(frame, pool_hash(frame), admitted, found.embedded, found.skipped)


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


def _origins(topic: Topic, found: Candidates) -> dict[str, tuple[str, str]]:
    """The query that found each candidate, and the reason; that of the topic's own words where both found it."""
    told = f"{', '.join(found.terms[:_TERMS_TOLD])}{', …' if len(found.terms) > _TERMS_TOLD else ''}"
    by_terms = (" ".join(found.terms), f"full text of key terms: {told}")
    return (
        dict.fromkeys(found.paper_ids, (topic.query, "citation neighbourhood"))
        | dict.fromkeys(found.by_terms, by_terms)
        | dict.fromkeys(found.by_text, (topic.query, "full text"))
        | dict.fromkeys(topic.inclusions, (topic.query, "asked for by the user"))
    )
