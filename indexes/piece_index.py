"""The index over pieces of papers, passages or cards: vectors and full text, whole papers at a time.

A piece belongs to a paper and to a source (a document, a card) named by its content hash. All pieces of one source
are written in one commit, so a source that has any piece has all of them, and a killed update goes on where it was.
Not here: cutting texts into pieces (`corpus.passages`), whole papers (`paper_index`).
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
from filelock import FileLock
from lancedb.index import FTS, BTree
from lancedb.query import MatchQuery

from indexes.embedding import Embedder, EmbedderIdentity, TextEmbedder, embed_each
from indexes.lance_embedding import VECTOR, configuration, identity_of, register
from indexes.lance_table import KEY, LanceTable
from indexes.predicates import admitted, one_of
from indexes.ranking import Hit, require_count, top
from indexes.text_table import plain_words
from ingestion.errors import BadInput, PermanentFailure

PIECE = "piece_id"
COLUMNS = {
    PIECE: pl.String,
    KEY: pl.String,
    "source_hash": pl.String,
    "submitted_latest": pl.Date,
    "is_withdrawn": pl.Boolean,
    "text": pl.String,
}
"""Of the pieces given to `update`."""

_COMMIT_ROWS = 256  # 7 s of embedding: what a killed run loses
_SLICE = 500  # papers in one predicate


@dataclass(frozen=True, slots=True)
class PieceReport:
    """Pieces embedded now, pieces whose source was indexed before, and (piece id, reason) of those without a vector."""

    embedded: int
    reused: int
    skipped: list[tuple[str, str]]


class PieceIndex(LanceTable):
    """Pieces of one kind.

    Args:
        folder: of the index.
        name: `passages` or `cards`.
        embedder: the packaged model by default, made when first needed.
    """

    def __init__(self, folder: Path, name: str, embedder: TextEmbedder | None = None) -> None:
        super().__init__(folder, name, PIECE)
        self._embedder = embedder

    @property
    def embedder(self) -> TextEmbedder:
        """The embedder of the vectors; made when first asked for."""
        if self._embedder is None:
            self._embedder = Embedder()
        return self._embedder

    def require(self, identity: EmbedderIdentity) -> None:
        """Refuse another embedder than the one that made the vectors.

        Raises:
            PermanentFailure: name, file, cut or size differ.
        """
        if self.table is None or (stored := identity_of(self.table.schema)) == identity:
            return
        raise PermanentFailure(
            f"the vectors of the {self.name} were made by another embedder",
            which=f"stored: {stored or 'unknown'}; now: {identity}",
            advice=f"Use the stored one, or remove the folder {self.path} and survey again.",
        )

    def sources(self, paper_ids: Sequence[str]) -> set[tuple[str, str]]:
        """(paper id, source hash) of what is indexed of these papers."""
        found: set[tuple[str, str]] = set()
        if self.table is None:
            return found
        for start in range(0, len(paper_ids), _SLICE):
            where = one_of(KEY, paper_ids[start : start + _SLICE])
            with self.reading():
                rows = self.table.search().where(where).select([KEY, "source_hash"]).to_arrow()
            found.update(pl.DataFrame(rows).unique().iter_rows())
        return found

    def is_whole(self) -> bool:
        """Whether its rows can be searched by full text: not after an update that was killed behind its first rows."""
        if not self.count():
            return True
        with self.reading():
            return {KEY, PIECE, "text"} <= {column for index in self.table.list_indices() for column in index.columns}

    def update(
        self,
        papers: Iterable[pl.DataFrame],
        *,
        kept: Collection[tuple[str, str]] = (),
        progress: Callable[[int, int], None] | None = None,
        total: int = 0,
    ) -> PieceReport:
        """Index the pieces of papers; sources that are indexed already are not embedded again.

        Args:
            papers: frames with the columns of `COLUMNS`, each with all pieces of one or more papers. Pieces that these
                papers had of other sources are removed.
            kept: (paper id, source hash) of other sources of these papers that stay, e.g. of their other versions.
            progress: called with pieces done and `total`, after each commit.

        Raises:
            BadInput: a column is missing or of another type, or a piece comes twice.
            PermanentFailure: the vectors there were made by another embedder; nothing is written.
        """
        with self._alone():
            return self._update(papers, set(kept), progress, total)

    def _update(
        self,
        papers: Iterable[pl.DataFrame],
        kept: set[tuple[str, str]],
        progress: Callable[[int, int], None] | None,
        total: int,
    ) -> PieceReport:
        self.see_latest()
        self.require(self.embedder.identity)
        embedded = reused = done = 0
        skipped: list[tuple[str, str]] = []
        is_changed = False
        for frame in papers:
            rows = _checked(frame)
            names = rows[KEY].unique().to_list()
            held = self.sources(names)
            now = set(rows.select(KEY, "source_hash").unique().iter_rows())
            known = pl.DataFrame(sorted(now & held), schema={KEY: pl.String, "source_hash": pl.String}, orient="row")
            fresh = rows.join(known, on=[KEY, "source_hash"], how="anti", maintain_order="left")
            reused += rows.height - fresh.height
            for part in _whole_sources(fresh):
                result = embed_each(self.embedder, part["text"].to_list())
                skipped += [(part[PIECE][position], reason) for position, reason in result.skipped]
                if result.positions:
                    self._write(part[result.positions], result.vectors)
                    is_changed = True
                embedded += len(result.positions)
                done += part.height
                if progress:
                    progress(done, max(total, done))
            if stale := held - now - kept:
                self._remove(stale)
                is_changed = True
        if is_changed or not self.is_whole():
            self.current(
                {KEY: BTree(), "text": FTS(stem=True, remove_stop_words=True, language="English")}, is_changed=True
            )
        return PieceReport(embedded, reused, skipped)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Wait until no other process updates these pieces.

        Lance lets two writers insert the same key, and refuses one of two that compact at once. Whoever waited finds
        what the other embedded and need not do it again. The lock ends with its process, however that ends.
        """
        with self.writing():
            self.folder.mkdir(parents=True, exist_ok=True)
            lock = FileLock(self.folder / f"{self.name}.lock")
            lock.acquire()
        try:
            yield
        finally:
            lock.release()

    def dense(
        self,
        query: str | np.ndarray,
        k: int,
        *,
        cutoff: date,
        within: Collection[str] | None = None,
        excluded: Collection[str] = (),
        with_withdrawn: bool = False,
    ) -> list[Hit]:
        """The k pieces nearest to the query by cosine, exactly; a `Hit.paper_id` here is a piece's id.

        Args:
            query: a text, or a vector of float32 (dimensions,).
            within: pieces of these papers only; None for all.

        Raises:
            BadInput: an unusable query, k below 1, or a cutoff that is no day.
            PermanentFailure: the vectors were made by another embedder.
        """
        where = admitted(cutoff, excluded=excluded, within=within, with_withdrawn=with_withdrawn)
        require_count(k)
        self.require(self.embedder.identity)
        if not self.count():
            return []
        vector = self.embedder.embed([query])[0] if isinstance(query, str) else np.asarray(query, dtype=np.float32)
        if vector.shape != (self.embedder.identity.dimensions,) or not np.isfinite(vector).all() or not vector.any():
            raise BadInput("the query vector is not usable", which=f"shape {vector.shape}")

        def fetch(limit: int) -> list[Hit]:
            found = self.table.search(vector, vector_column_name=VECTOR).distance_type("cosine")
            found = found.bypass_vector_index().where(where, prefilter=True)
            with self.reading():
                rows = found.select([PIECE, "_distance"]).limit(limit).to_arrow()
            return _hits(rows[PIECE].to_pylist(), [1.0 - d for d in rows["_distance"].to_pylist()])

        return top(fetch, k)

    def full_text(
        self,
        query: str,
        k: int,
        *,
        cutoff: date,
        within: Collection[str] | None = None,
        excluded: Collection[str] = (),
        with_withdrawn: bool = False,
    ) -> list[Hit]:
        """The k best pieces by BM25; every character of the query is plain text.

        Raises:
            BadInput: no word in the query, k below 1, or a cutoff that is no day.
        """
        where = admitted(cutoff, excluded=excluded, within=within, with_withdrawn=with_withdrawn)
        words = plain_words(query)
        require_count(k)
        if not self.count():
            return []

        def fetch(limit: int) -> list[Hit]:
            found = self.table.search(MatchQuery(words, "text")).where(where, prefilter=True)
            with self.reading():
                rows = found.select([PIECE, "_score"]).limit(limit).to_arrow()
            return _hits(rows[PIECE].to_pylist(), rows["_score"].to_pylist())

        return top(fetch, k)

    def _write(self, rows: pl.DataFrame, vectors: np.ndarray) -> None:
        identity = self.embedder.identity
        register(identity.name)
        schema = _schema(identity.dimensions)
        if self.table is None:
            self.create(schema, embedding_functions=[configuration(identity)])
        column = pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1)), identity.dimensions)
        plain = rows.select(list(COLUMNS)).to_arrow()
        self.merge(pa.table([*plain.columns, column], names=schema.names).cast(schema))

    def _remove(self, sources: Collection[tuple[str, str]]) -> None:
        by_paper: dict[str, list[str]] = {}
        for paper_id, source_hash in sources:
            by_paper.setdefault(paper_id, []).append(source_hash)
        where = [f"({one_of(KEY, [p])} AND {one_of('source_hash', own)})" for p, own in sorted(by_paper.items())]
        for start in range(0, len(where), _SLICE):
            with self.writing():
                self.table.delete(" OR ".join(where[start : start + _SLICE]))


def _hits(names: list[str], scores: list[float]) -> list[Hit]:
    return [Hit(*pair) for pair in zip(names, scores, strict=True)]


def _whole_sources(rows: pl.DataFrame) -> Iterable[pl.DataFrame]:
    """Parts of some hundred rows that cut no source in two."""
    part: list[pl.DataFrame] = []
    for _, own in rows.group_by(KEY, "source_hash", maintain_order=True):
        part.append(own)
        if sum(p.height for p in part) >= _COMMIT_ROWS:
            yield pl.concat(part)
            part = []
    if part:
        yield pl.concat(part)


def _checked(frame: pl.DataFrame) -> pl.DataFrame:
    found = frame.schema
    if wrong := [f"{n}: {found.get(n, 'missing')}, not {t}" for n, t in COLUMNS.items() if found.get(n) != t]:
        raise BadInput("pieces to index have other columns", which="; ".join(wrong))
    frame = frame.select(list(COLUMNS))
    if nulls := frame.filter(pl.any_horizontal(pl.all().is_null())).head(3).rows():
        raise BadInput("pieces to index lack a value", which=str(nulls))
    if repeated := frame.filter(pl.col(PIECE).is_duplicated())[PIECE].unique().head(5).to_list():
        raise BadInput("a piece comes twice", which=", ".join(sorted(repeated)))
    return frame


def _schema(dimensions: int) -> pa.Schema:
    return pa.schema(
        [
            pa.field(PIECE, pa.string(), nullable=False),
            pa.field(KEY, pa.string(), nullable=False),
            pa.field("source_hash", pa.string(), nullable=False),
            pa.field("submitted_latest", pa.date32(), nullable=False),
            pa.field("is_withdrawn", pa.bool_(), nullable=False),
            pa.field("text", pa.string(), nullable=False),
            pa.field(VECTOR, pa.list_(pa.float32(), dimensions), nullable=False),
        ]
    )
