"""The index over pieces of papers, passages or cards: vectors and full text, whole papers at a time.

A piece belongs to a paper and to a source (a document, a card) named by its content hash. All pieces of one source
are written in one commit, so a source that has any piece has all of them, and a killed update goes on where it was.
Not here: cutting texts into pieces (`corpus.passages`), whole papers (`paper_index`).
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
from lancedb.index import FTS, BTree
from lancedb.query import MatchQuery

from indexes.embedded_table import EmbeddedTable, usable_query
from indexes.embedding import TextEmbedder, embed_each
from indexes.lance_table import KEY, LanceTable
from indexes.locking import alone
from indexes.maintenance import RETAIN, TableMaintenance, maintain
from indexes.predicates import Admission, one_of
from indexes.ranking import Hit, require_count, top
from indexes.registry_embedder import embedder_of
from indexes.text_table import plain_words
from indexes.updating import versions
from indexes.vector_index import DEFAULTS, SearchOptions
from ingestion.errors import BadInput

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


class PieceIndex(EmbeddedTable):
    """Pieces of one kind.

    Args:
        folder: of the index.
        name: `passages` or `cards`.
        embedder: by default the one that the vectors were made by, else the packaged one; made when first needed.
        version: read this version and write nothing; None for the newest.
        options: of the approximate index.
    """

    rows_per_paper = 100

    def __init__(
        self,
        folder: Path,
        name: str,
        embedder: TextEmbedder | None = None,
        *,
        version: int | None = None,
        options: SearchOptions = DEFAULTS,
    ) -> None:
        what = f"vectors of the {name}"
        super().__init__(folder, name, PIECE, what=what, advice="survey again", version=version, options=options)
        self._embedder = embedder

    @property
    def embedder(self) -> TextEmbedder:
        """The embedder of the vectors; made when first asked for."""
        if self._embedder is None:
            self._embedder = embedder_of(self.identity)
        return self._embedder

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
        with alone(self.folder, self.name):
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
            self.take_in({KEY: BTree(), "text": FTS(stem=True, remove_stop_words=True, language="English")})
            self.bring_up_vectors()
        return PieceReport(embedded, reused, skipped)

    def maintain(self, keep: Collection[int], *, retain: timedelta = RETAIN) -> list[TableMaintenance]:
        """`maintenance.maintain` for this table; `keep` are versions that stay readable, beside the newest."""
        done = maintain(self.folder, {self.name: keep}, retain=retain, tables=(self.name,))
        self.see_latest()
        return done

    def dense(
        self,
        query: str | np.ndarray,
        k: int,
        *,
        cutoff: date,
        within: Collection[str] | None = None,
        excluded: Collection[str] = (),
        with_withdrawn: bool = False,
        exact: bool = False,
    ) -> list[Hit]:
        """The k pieces nearest to the query by cosine; a `Hit.paper_id` here is a piece's id.

        Args:
            query: a text, or a vector of float32 (dimensions,).
            within: pieces of these papers only; None for all.
            exact: compare every admitted piece, also where an approximate index would be used (`vector_index`).

        Raises:
            BadInput: an unusable query, k below 1, or a cutoff that is no day.
            PermanentFailure: the vectors were made by another embedder.
        """
        admission = Admission(cutoff, excluded, within, with_withdrawn)
        require_count(k)
        self.require(self.embedder.identity)
        if not self.count():
            return []
        vector = self.embedder.embed([query])[0] if isinstance(query, str) else query
        return self.nearest(usable_query(vector, self.embedder.identity.dimensions), k, admission, exact=exact)

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
        where = Admission(cutoff, excluded, within, with_withdrawn).where
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
        self.put(rows.select(list(COLUMNS)).to_arrow(), vectors, self.embedder.identity, _SCHEMA)

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


_SCHEMA = pa.schema(
    [
        pa.field(PIECE, pa.string(), nullable=False),
        pa.field(KEY, pa.string(), nullable=False),
        pa.field("source_hash", pa.string(), nullable=False),
        pa.field("submitted_latest", pa.date32(), nullable=False),
        pa.field("is_withdrawn", pa.bool_(), nullable=False),
        pa.field("text", pa.string(), nullable=False),
    ]
)


def piece_versions(folder: Path) -> dict[str, int]:
    """Lance table → version of the pieces that there are, for manifests."""
    return versions(*(LanceTable(folder, name, PIECE) for name in ("passages", "cards")))
