"""Candidates of a topic's pool: papers found by full text, by the key terms of the first papers, and by citations.

Candidates come from full text and citations, never from all vectors: which papers have one depends on what was
surveyed before. In what order they enter the pool is decided in `pool_ranking`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from corpus.visibility import View
from generation.pool_ranking import first_papers
from generation.pool_terms import key_terms, sample_of
from generation.topics import Topic
from indexes.fusion import reciprocal_rank_fusion
from indexes.paper_index import PaperIndex


@dataclass(frozen=True)
class PoolOptions:
    """How the pool is built. What the values rest on is measured by `benchmarks/pool_retrieval.py`.

    Attributes:
        candidates_per_place: papers found by full text, and embedded, for each place in the pool.
        first_share: of the candidates, best full text hits among which the first papers are looked for; the others
            are found with their help.
        first_papers: papers, best by full text and similarity together, that say what else to look for.
        key_terms: words in the second full text query; 0 for no such query.
        background: papers of the corpus in which words are counted, to tell which are the topic's own.
        neighbourhood_seeds: best candidates whose references and citing papers are looked at.
        neighbourhood_links: links to seeds that make a paper a candidate.
        neighbourhood_per_place: papers from the neighbourhood for each place in the pool, at most.
        min_similarity: cosine to the topic below which a paper is none of the first ones. Unrelated titles score
            about .06, same-topic ones .42 to .47.
        min_likeness: likeness (`pool_ranking`) below which a paper is off the topic, unless the user asked for it.
            It admits as many papers of a corpus as a cosine of .25, and loses half as many benchmark references.
    """

    candidates_per_place: float = 2.0
    first_share: float = 1 / 3
    first_papers: int = 40
    key_terms: int = 100
    background: int = 4000
    neighbourhood_seeds: int = 200
    neighbourhood_links: int = 2
    neighbourhood_per_place: float = 0.3
    min_similarity: float = 0.25
    min_likeness: float = 0.35


@dataclass(frozen=True)
class Candidates:
    """Papers that may enter the pool; all of them have been embedded, where they could be.

    Attributes:
        paper_ids: every candidate, those asked for by the user included.
        by_text, by_terms: full text hits of the topic and of the key terms, best first; not all are candidates.
        terms: the key terms, strongest first.
        first: the papers that the key terms are from.
        embedded: vectors made now.
        skipped: (paper id, reason) of candidates that could not be embedded.
    """

    paper_ids: tuple[str, ...]
    by_text: tuple[str, ...]
    by_terms: tuple[str, ...]
    terms: tuple[str, ...]
    first: tuple[str, ...]
    embedded: int
    skipped: tuple[tuple[str, str], ...]


def find_candidates(
    view: View,
    index: PaperIndex,
    topic: Topic,
    query: np.ndarray,
    hidden: Sequence[str],
    options: PoolOptions,
    progress: Callable[[int, int], None] | None = None,
) -> Candidates:
    """Look for the topic's papers among those that the view admits, and embed what is found.

    Args:
        query: vector of the topic's query.
        hidden: ids that the view hides.
    """
    wanted = max(1, round(topic.pool_size * options.candidates_per_place))

    def search(words: str) -> list[str]:
        hits = index.full_text(words, wanted, cutoff=view.cutoff, excluded=hidden, with_withdrawn=view.has_withdrawn)
        return [hit.paper_id for hit in hits]

    by_text = search(topic.query)
    hits = by_text[: max(1, round(wanted * options.first_share))]
    before = index.embed(hits, progress=progress)
    first = first_papers(*index.vectors(hits), query, hits, options.first_papers, options.min_similarity)
    terms = _terms(view, index, first, hidden, options)
    by_terms = search(" ".join(terms)) if terms else []
    best = [p for p, _ in reciprocal_rank_fusion([by_text, by_terms])]
    found = list(dict.fromkeys([*hits, *best]))[:wanted]
    near = _neighbours(view, best[: options.neighbourhood_seeds], hidden, options)
    near = [p for p in near if p not in set(found)][: round(topic.pool_size * options.neighbourhood_per_place)]
    paper_ids = tuple(dict.fromkeys([*found, *near, *topic.inclusions]))
    after = index.embed(paper_ids, progress=progress)
    return Candidates(
        paper_ids, tuple(by_text), tuple(by_terms), tuple(terms), tuple(first),
        before.embedded + after.embedded, tuple(after.skipped),
    )  # fmt: skip


def _terms(
    view: View, index: PaperIndex, first: Sequence[str], hidden: Sequence[str], options: PoolOptions
) -> list[str]:
    if not first or options.key_terms < 1:
        return []
    visible = view.papers(hidden).select("paper_id").collect().to_series()
    background = sample_of(visible, options.background)
    return key_terms(index.texts(first), index.texts(background), options.key_terms)


def _neighbours(view: View, seeds: Sequence[str], hidden: Sequence[str], options: PoolOptions) -> list[str]:
    """Papers with several links to the seeds, most linked first."""
    edges = view.edges(hidden, citing=seeds, cited=seeds).collect()
    cited = edges.filter(pl.col("citing_id").is_in(seeds)).select(pl.col("cited_id").alias("paper_id"))
    citing = edges.filter(pl.col("cited_id").is_in(seeds)).select(pl.col("citing_id").alias("paper_id"))
    links = pl.concat([cited, citing]).group_by("paper_id").len().filter(pl.col("len") >= options.neighbourhood_links)
    return links.sort(["len", "paper_id"], descending=[True, False])["paper_id"].to_list()
