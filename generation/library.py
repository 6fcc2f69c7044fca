"""The library: the papers one topic may see, and a record of what was consulted and why.

Belongs here: papers of the pool with their vectors and cards, retrieval inside the pool (the topic's memory), references,
human outlines. Not here: which papers are in the pool (`pools`), and the tables behind (`corpus`).
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import polars as pl

from corpus.visibility import View
from generation.card_store import CardKey, load_cards
from generation.cards import PaperCard
from generation.patterns import nearest_patterns
from generation.topics import Topic
from generation.values import Paper, Pattern
from indexes.paper_index import PaperIndex
from ingestion.errors import NotFound


@dataclass(frozen=True)
class Retrieved:
    """A paper found by a query, with its cosine similarity to it."""

    paper_id: str
    similarity: float


@dataclass
class Consultation:
    """Which operations were shown a paper, and why the first one was."""

    operations: dict[str, None] = field(default_factory=dict)
    reason: str = ""


class Library:
    """What a method may read of one topic. Build it with `open_library`."""

    def __init__(
        self, view: View, topic: Topic, papers: Sequence[Paper], names: list[str], matrix: np.ndarray, index: PaperIndex
    ) -> None:
        self.view = view
        self.topic = topic
        self._papers = {p.paper_id: p for p in papers}
        self._rows = {name: i for i, name in enumerate(names)}
        self._matrix = matrix
        self._index = index
        self._hidden = view.hidden_ids()
        self.card_keys: Mapping[str, CardKey] = {}
        self.consulted: dict[str, Consultation] = {}

    @property
    def pool(self) -> tuple[str, ...]:
        """Ids of the pool in rank order."""
        return tuple(self._papers)

    @cached_property
    def admitted_count(self) -> int:
        """Papers the topic may see."""
        return int(self.view.papers(self._hidden).select(pl.len()).collect().item())

    def paper(self, paper_id: str) -> Paper:
        """A paper of the pool.

        Raises:
            NotFound: it is not in the pool.
        """
        if paper_id not in self._papers:
            raise NotFound("the paper is not in the topic's pool", which=paper_id)
        return self._papers[paper_id]

    def papers(self, paper_ids: Iterable[str]) -> list[Paper]:
        return [self.paper(p) for p in paper_ids]

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Unit vectors (n, d) of texts, by the embedder of the index."""
        return self._index.embedder.embed(list(texts))

    def vectors(self, paper_ids: Sequence[str]) -> tuple[list[str], np.ndarray]:
        """Those of the papers that have a vector, in the order given, and their unit vectors (m, d)."""
        names = [p for p in paper_ids if p in self._rows]
        return names, self._matrix[[self._rows[n] for n in names]]

    def search(self, query: str, k: int, within: Collection[str] | None = None) -> list[Retrieved]:
        """The k papers of the pool nearest to the query, exactly; equal scores by id.

        Args:
            within: search only these (the memory M of SurveyForge's MR); None for the whole pool.
        """
        names = list(self._rows) if within is None else [p for p in self._rows if p in set(within)]
        if not names or k < 1:
            return []
        scores = np.round(self._matrix[[self._rows[n] for n in names]] @ self.embed([query])[0], 6)
        order = sorted(zip(-scores, names, strict=True))[:k]
        return [Retrieved(name, float(-score)) for score, name in order]

    def references(self, paper_id: str) -> list[str]:
        """Visible papers that a paper cites."""
        edges = self.view.edges(self._hidden, with_texts=True).filter(pl.col("citing_id") == paper_id)
        return sorted(edges.select("cited_id").collect().to_series())

    def card(self, paper_id: str) -> PaperCard | None:
        """The card of a paper that was read in full; None for one of which only the record is known.

        Raises:
            NotFound: the card that the paper should have is not there.
        """
        key = self.card_keys.get(paper_id)
        if key is None or key.document is None:
            return None
        if paper_id not in self._cards:
            raise NotFound(
                "the card of a paper is not there", which=paper_id, advice="Materialize paper_cards first, or run "
                "`lithouse survey`.",
            )  # fmt: skip
        return self._cards[paper_id]

    @cached_property
    def _cards(self) -> dict[str, PaperCard]:
        return load_cards(self.view, {p: key for p, key in self.card_keys.items() if key.document})

    def human_outlines(self, count: int) -> list[Pattern]:
        """The human outlines nearest to the topic that it may see, nearest first."""
        return nearest_patterns(self.view.outlines(self._hidden), self.topic.query, count, self.embed)

    def consult(self, operation: str, paper_ids: Iterable[str], reason: str) -> None:
        """Record that a writer operation is shown these papers."""
        for paper_id in paper_ids:
            found = self.consulted.setdefault(paper_id, Consultation(reason=reason))
            found.operations[operation] = None


def open_library(view: View, index: PaperIndex, topic: Topic, pool: pl.DataFrame) -> Library:
    """A library over a pool (rows of `topic_pool`).

    Raises:
        NotFound: a paper of the pool is no longer visible, so the pool must be built again.
    """
    ranked = pool.sort("rank").select("paper_id", "citation_count", "similarity")
    held = view.papers().join(ranked.lazy(), on="paper_id", how="inner").collect()
    rows = {row["paper_id"]: row for row in held.iter_rows(named=True)}
    if gone := [p for p in ranked["paper_id"] if p not in rows]:
        raise NotFound("papers of the pool are no longer visible", which=", ".join(gone[:5]), advice="Survey again.")
    papers = [paper_of(rows[p]) for p in ranked["paper_id"]]
    names, matrix = index.vectors([p.paper_id for p in papers])
    return Library(view, topic, papers, names, matrix, index)


def paper_of(row: dict) -> Paper:
    """A row of `papers`, with citation_count and similarity where a pool gives them, as generation sees it."""
    return Paper(
        paper_id=row["paper_id"],
        title=row["title"],
        abstract=row["abstract"],
        abstract_origin=row["abstract_origin"],
        authors=None if row["authors"] is None else tuple(row["authors"]),
        collaborations=None if row["collaborations"] is None else tuple(row["collaborations"]),
        submitted_on=row["submitted_on"],
        submitted_latest=row["submitted_latest"],
        submitted_precision=row["submitted_precision"],
        content_hash=row["content_hash"],
        citation_count=row.get("citation_count", 0),
        primary_category=row["primary_category"],
        doi=row["doi"],
        journal_ref=row["journal_ref"],
        license=row["license"],
        latest_version=row["latest_version"],
        is_withdrawn=row["is_withdrawn"],
        similarity=row.get("similarity") or 0.0,
    )
