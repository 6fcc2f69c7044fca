"""The index over papers: update from a snapshot, full text, vectors made when needed, fused search.

The two tables are `text_table` and `vector_table`. Importing this module loads lancedb (about 1.5 s), so
commands import it where they need it. Which papers enter a topic's pool is decided in
`generation`; where the papers come from, in `corpus`.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

import numpy as np
import polars as pl

from indexes import built_from as record
from indexes.built_from import BuiltFrom
from indexes.embedding import Embedder, TextEmbedder, embed_each, paper_text, refusal, unusable
from indexes.fusion import reciprocal_rank_fusion
from indexes.lance_table import KEY
from indexes.predicates import admitted
from indexes.ranking import Hit, require_count
from indexes.text_table import TextTable
from indexes.updating import IndexUpdate, update, versions
from indexes.vector_table import VectorTable
from ingestion.errors import BadInput, NotFound

__all__ = ["BuiltFrom", "EmbedReport", "Hit", "IndexUpdate", "PaperIndex"]

_COMMIT_ROWS = 256  # 7 s of embedding: what a killed run loses
_COMPACT_EVERY = 64  # commits; each is a small file that every search opens
_FUSION_DEPTH = 100  # at least; on pool30k fusion had precision@60 .43, full text .39, dense .41
_MIN_COVERAGE = 0.5


@dataclass(frozen=True, slots=True)
class EmbedReport:
    """Papers embedded now, papers that had their vector, and (paper id, reason) of the others."""

    embedded: int
    reused: int
    skipped: list[tuple[str, str]]


class PaperIndex:
    """An index in a folder. Make one with `open`; it holds no lock, and one command at a time may write."""

    def __init__(self, folder: Path, embedder: TextEmbedder | None) -> None:
        self.folder = folder
        self._embedder = embedder
        self._text = TextTable(folder)
        self._vectors = VectorTable(folder)

    @classmethod
    def open(cls, folder: Path, *, embedder: TextEmbedder | None = None, create: bool = False) -> "PaperIndex":
        """The index in the folder.

        Args:
            embedder: of the vectors; by default the packaged model, made when first needed.
            create: allow a folder without an index, which the first `update` then makes.

        Raises:
            NotFound: there is no index and `create` is False.
            PermanentFailure: the vectors there were made by another embedder than the one given.
        """
        index = cls(Path(folder), embedder)
        if not create and index._text.table is None:
            raise NotFound("there is no paper index", which=str(folder), advice="Run `lithouse refresh`.")
        if embedder is not None:
            index._vectors.require(embedder.identity)
        return index

    @property
    def built_from(self) -> BuiltFrom | None:
        """The record of the last update, None before the first one; see its `is_complete`."""
        return record.read(self.folder)

    def require(self, snapshot: str) -> None:
        """Refuse to be used for another snapshot than the one the index was built from.

        Raises:
            NotFound: the last update was not finished.
            PermanentFailure: the index is of another snapshot.
        """
        record.require(self.folder, snapshot)

    def versions(self) -> dict[str, int]:
        """Lance table → version, for manifests."""
        return versions(self._text, self._vectors)

    def update(self, papers: Iterable[pl.DataFrame] | pl.DataFrame, *, snapshot: str) -> IndexUpdate:
        """Make the index equal to the papers: new and changed rows are written, others removed.

        Nothing is written where nothing differs. A killed update is repaired by the next one.

        Args:
            papers: all papers, in frames of any size with the columns paper_id, title, abstract (may be
                null), submitted_latest (Date), is_withdrawn (Boolean), content_hash; others are ignored.
            snapshot: content hash of the corpus that the papers are read from.

        Raises:
            BadInput: a column is missing or of another type, a value is null, or an id comes twice.
            TransientFailure: something else wrote to the index meanwhile.
        """
        return update(self.folder, self._text, self._vectors, papers, snapshot=snapshot)

    def full_text(
        self,
        query: str,
        k: int,
        *,
        cutoff: date,
        excluded: Collection[str] = (),
        within: Collection[str] | None = None,
        with_withdrawn: bool = False,
    ) -> list[Hit]:
        """The k best papers by BM25 over title and abstract among those admitted; equal scores by id.

        Every character of the query is plain text: there are no operators, a hyphen separates words.

        Raises:
            BadInput: no word in the query, k below 1, or a cutoff that is no day.
        """
        where = admitted(cutoff, excluded=excluded, within=within, with_withdrawn=with_withdrawn)
        return self._text.search(query, k, where)

    def dense(
        self,
        query: str | np.ndarray,
        k: int,
        *,
        cutoff: date,
        excluded: Collection[str] = (),
        within: Collection[str] | None = None,
        with_withdrawn: bool = False,
    ) -> list[Hit]:
        """The k papers nearest to the query by cosine among those admitted that have a vector, exactly.

        Args:
            query: a text, or a vector of float32 (dimensions,), which need not be normalised.

        Raises:
            BadInput: a blank text or unusable vector, k below 1, or a cutoff that is no day.
            PermanentFailure: the vectors were made by another embedder.
        """
        where = admitted(cutoff, excluded=excluded, within=within, with_withdrawn=with_withdrawn)
        self._vectors.require(self.embedder.identity)
        vector = self._query_vector(query)
        return self._vectors.search(vector, k, where)

    def search(
        self,
        query: str,
        k: int,
        *,
        cutoff: date,
        excluded: Collection[str] = (),
        within: Collection[str] | None = None,
        with_withdrawn: bool = False,
    ) -> list[Hit]:
        """Full text and dense search fused by reciprocal ranks; scores are those of the fusion.

        Vectors count only where at least half of the best full text hits have one: vectors made for
        another topic would otherwise lift that topic's papers to the top of every search.

        Raises:
            As `full_text` and `dense`.
        """
        require_count(k)
        options = {"excluded": excluded, "within": within, "with_withdrawn": with_withdrawn}
        depth = max(k, _FUSION_DEPTH)
        lexical = [hit.paper_id for hit in self.full_text(query, depth, cutoff=cutoff, **options)]
        rankings = [lexical]
        if self._vectors.count() and self._coverage(lexical) >= _MIN_COVERAGE:
            rankings.append([hit.paper_id for hit in self.dense(query, depth, cutoff=cutoff, **options)])
        return [Hit(*pair) for pair in reciprocal_rank_fusion(rankings)[:k]]

    def embed(self, paper_ids: Sequence[str], *, progress: Callable[[int, int], None] | None = None) -> EmbedReport:
        """Make the vectors that these papers lack for their current content.

        Stored every few hundred papers, so a killed run goes on where it was.

        Args:
            progress: called with papers done and papers to do, after each commit.

        Raises:
            PermanentFailure: the vectors there were made by another embedder; nothing is written.
            NotFound: model or tokenizer is not there.
        """
        embedder = self.embedder
        self._text.see_latest()
        self._vectors.see_latest()
        self._vectors.require(embedder.identity)
        wanted = pl.DataFrame({KEY: list(dict.fromkeys(paper_ids))}, schema={KEY: pl.String})
        texts = wanted.join(self._text.keys(), on=KEY, how="left", maintain_order="left")
        known = texts.drop_nulls("content_hash")
        skipped = [(name, "not in the index") for name in texts.filter(pl.col("content_hash").is_null())[KEY]]
        missing = known.join(self._vectors.keys(), on=[KEY, "content_hash"], how="anti", maintain_order="left")
        embedded = 0
        for number, names in enumerate(missing.iter_slices(_COMMIT_ROWS), start=1):
            papers = self._text.papers(names[KEY].to_list())
            result = embed_each(embedder, [paper_text(*row) for row in papers.select("title", "abstract").rows()])
            if result.positions:
                self._vectors.write(papers[result.positions], result.vectors, embedder.identity)
            skipped += [(papers[KEY][position], reason) for position, reason in result.skipped]
            embedded += len(result.positions)
            if number % _COMPACT_EVERY == 0:
                self._vectors.finish()
            if progress:
                progress(min(number * _COMMIT_ROWS, missing.height), missing.height)
        if embedded:
            self._vectors.finish()
            if previous := self.built_from:
                record.write(self.folder, replace(previous, versions=self.versions(), embedder=embedder.identity))
        return EmbedReport(embedded, known.height - missing.height, skipped)

    def vectors(self, paper_ids: Sequence[str]) -> tuple[list[str], np.ndarray]:
        """Those of the papers that have a vector, in the order given without repeats, and float32 (m, d).

        Raises:
            PermanentFailure: the vectors were made by another embedder.
        """
        identity = self.embedder.identity
        self._vectors.require(identity)
        names = list(dict.fromkeys(paper_ids))
        found = {name: row for ids, rows in self._vectors.matrices(names) for name, row in zip(ids, rows, strict=True)}
        present = [name for name in names if name in found]
        empty = np.empty((0, identity.dimensions), dtype=np.float32)
        return present, np.stack([found[name] for name in present]) if present else empty

    @property
    def embedder(self) -> TextEmbedder:
        """The embedder of the vectors; made when first asked for."""
        if self._embedder is None:
            self._embedder = Embedder()
        return self._embedder

    def _query_vector(self, query: str | np.ndarray) -> np.ndarray:
        if isinstance(query, str):
            if reason := refusal(query):
                raise BadInput(f"the query cannot be embedded: {reason}", advice="Give at least one word.")
            return self.embedder.embed([query])[0]
        vector = np.asarray(query, dtype=np.float32)
        size = self.embedder.identity.dimensions
        if vector.shape != (size,) or unusable(vector[None]):
            raise BadInput(
                "the query vector is not usable",
                which=f"shape {vector.shape}, expected ({size},), every number finite, not all zero",
            )
        return vector

    def _coverage(self, paper_ids: Sequence[str]) -> float:
        """The share of the papers that have a vector; 1 for none, since there is nothing to outweigh."""
        if not paper_ids:
            return 1.0
        return sum(rows.num_rows for rows in self._vectors.rows(paper_ids, [KEY])) / len(paper_ids)
