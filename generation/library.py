"""The library: the papers one topic may see, and a record of what was consulted and why.

Belongs here: papers of the pool with their vectors, cards and texts, retrieval inside the pool (the topic's memory),
references, human outlines. Not here: which papers are in the pool (`pools`), and the tables behind (`corpus`).
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import polars as pl

from corpus.documents import DocumentInfo, rows_of_documents
from corpus.visibility import View
from generation.card_store import CardKey, load_cards
from generation.cards import CardPassage, PaperCard
from generation.misprints import unclear_words
from generation.patterns import heading_counts, nearest_patterns
from generation.standing import by_standing
from generation.topics import Topic
from generation.values import Paper, Pattern, Span
from generation.writing import EvidencePassage
from generation.zones import zones_of
from indexes.lance_embedding import VECTOR
from indexes.paper_index import PaperIndex
from indexes.piece_index import PIECE, PieceIndex
from ingestion.errors import NotFound


@dataclass(frozen=True)
class Retrieved:
    """A paper found by a query, with its cosine similarity to it."""

    paper_id: str
    similarity: float


_PER_PAPER = 3
"""Passages of one paper that answer a query."""


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
        self.is_for_a_model = False
        """A model writes: cards of abstracts count too, and what cards rest on is shown."""
        self.consulted: dict[str, Consultation] = {}

    @property
    def pool(self) -> tuple[str, ...]:
        """Ids of the pool in rank order."""
        return tuple(self._papers)

    def best(self, count: int) -> tuple[str, ...]:
        """The `count` best papers of the pool, best first, by place and citations (`standing`)."""
        return tuple(self._standing)[:count]

    def standing(self, paper_id: str) -> float:
        """1 for the best paper of the pool, falling to 0 behind the last."""
        return self._standing[paper_id]

    @cached_property
    def _standing(self) -> dict[str, float]:
        ordered = by_standing(list(self._papers.values()))
        return {p: 1 - i / len(ordered) for i, p in enumerate(ordered)}

    @cached_property
    def admitted_count(self) -> int:
        """Papers the topic may see."""
        return int(self.view.papers(self._hidden).select(pl.len()).collect().item())

    @cached_property
    def held_count(self) -> int:
        """Papers that the corpus holds, whenever submitted."""
        return int(self.view.scan("papers").select(pl.len()).collect().item())

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
        """The card of a paper; None for one that has none: it was not read in full, or no card could be written of it.

        Raises:
            NotFound: the card that the paper should have is not there.
        """
        key = self.card_keys.get(paper_id)
        if key is None or (key.document is None and not self.is_for_a_model):
            return None
        if paper_id not in self._cards:
            raise NotFound(
                "the card of a paper is not there", which=paper_id, advice="Materialize paper_cards first, or run "
                "`lithouse survey`.",
            )  # fmt: skip
        card = self._cards[paper_id]
        return None if card.failure else card

    def quotes(self, paper_id: str) -> tuple[tuple[str, Span], ...]:
        """Words of a paper's full text that items of its card rest on, with where they stand; () without a card of it."""
        card = self.card(paper_id)
        wanted = [span for _, item in card.items() for span in item.spans if span.source == "passage"] if card else []
        texts = {p.passage.passage_id: p.passage.text for p in self.passages(paper_id)} if wanted else {}
        spans = (span for span in dict.fromkeys(wanted) if span.passage_id in texts)
        return tuple((texts[span.passage_id][span.start : span.end], span) for span in spans)

    def failed_cards(self) -> dict[str, PaperCard]:
        """Paper → its card, of those that could not be written."""
        return {p: card for p, card in sorted(self._cards.items()) if card.failure}

    @cached_property
    def _cards(self) -> dict[str, PaperCard]:
        wanted = {p: key for p, key in self.card_keys.items() if key.document or self.is_for_a_model}
        return load_cards(self.view, wanted)

    def passages(self, paper_id: str) -> tuple[EvidencePassage, ...]:
        """The prose of the document that the topic reads of a paper, in reading order; () where there is none.

        Raises:
            NotFound: the paper is not in the pool.
        """
        self.paper(paper_id)
        return self._passages.get(paper_id, ())

    def search_passages(
        self, queries: Sequence[str], within: Collection[str], per_paper: int = _PER_PAPER
    ) -> dict[str, tuple[EvidencePassage, ...]]:
        """Of each of these papers that was read in full, the passages nearest to any of the queries, nearest first.

        Only passages of the documents that the topic reads are found, only such as have a vector, and none of sections
        on other people's work or behind the paper's end. Equal scores come in reading order.

        Args:
            within: papers of the pool.

        Raises:
            NotFound: a paper is not in the pool.
            PermanentFailure: the passages' vectors were made by another embedder.
        """
        held = {s.passage.passage_id: (p, s) for p in dict.fromkeys(within) for s in self.passages(p)}
        if not held or not queries or per_paper < 1:
            return {}
        self._pieces.require(self._index.embedder.identity)
        wanted = self.embed(queries)
        found: dict[str, dict[str, EvidencePassage]] = {}
        for rows in self._pieces.rows(sorted({p for p, _ in held.values()}), [PIECE, VECTOR]):
            matrix = np.asarray(rows[VECTOR].combine_chunks().flatten()).reshape(rows.num_rows, -1)
            scores = np.round((matrix @ wanted.T).max(axis=1), 6) if rows.num_rows else ()
            for name, score in zip(rows[PIECE].to_pylist(), scores, strict=True):
                paper_id, shown = held.get(name, ("", None))
                if shown is not None and shown.zone != "others":
                    found.setdefault(paper_id, {})[name] = replace(shown, similarity=float(score))
        nearest = {
            p: sorted(own.values(), key=lambda s: (-s.similarity, s.passage.position))
            for p, own in sorted(found.items())
        }
        return {p: tuple(own[:per_paper]) for p, own in nearest.items()}

    @cached_property
    def _pieces(self) -> PieceIndex:
        return PieceIndex(self._index.folder, "passages", self._index.embedder)

    @cached_property
    def _passages(self) -> dict[str, tuple[EvidencePassage, ...]]:
        documents = [key.document for p, key in self.card_keys.items() if key.document and p in self._papers]
        return {p: self._shown(p, passages) for p, passages in prose_of(self.view, documents).items()}

    def _shown(self, paper_id: str, passages: Sequence[CardPassage]) -> tuple[EvidencePassage, ...]:
        paper = self._papers[paper_id]
        unclear = unclear_words([p.text for p in passages], [paper.title, paper.abstract or ""])
        zones = zones_of(passages)
        return tuple(EvidencePassage(p, zone, unclear) for p, zone in zip(passages, zones, strict=True))

    def human_outlines(self, count: int) -> list[Pattern]:
        """The human outlines nearest to the topic that it may see, nearest first."""
        return nearest_patterns(self._outlines, self.topic.query, count, self.embed)

    @cached_property
    def heading_counts(self) -> dict[str, int]:
        """In how many of the human outlines that the topic may see each heading stands (`patterns.heading_counts`)."""
        return heading_counts(self._outlines)

    @cached_property
    def _outlines(self) -> pl.DataFrame:
        return self.view.outlines(self._hidden)

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


def prose_of(view: View, documents: Collection[DocumentInfo]) -> dict[str, list[CardPassage]]:
    """Paper id → the prose of its document, in reading order."""
    found: dict[str, list[CardPassage]] = {}
    for row in rows_of_documents(view, "passages", documents).filter(pl.col("kind") == "prose").to_dicts():
        found.setdefault(row["paper_id"], []).append(
            CardPassage(
                row["passage_id"], tuple(row["section_path"]), row["section_number"], row["page"], row["text"],
                row["position"],
            )
        )  # fmt: skip
    return found


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
