"""The vector table: embeddings of the papers that have needed one, and exact search in them.

Texts and full text live in `text_table`; how texts become vectors is in `embedding`.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa

from indexes.embedding import EmbedderIdentity
from indexes.lance_embedding import VECTOR, configuration, identity_of, register
from indexes.lance_table import KEY, STATE, LanceTable
from indexes.ranking import Hit, top
from ingestion.errors import PermanentFailure


class VectorTable(LanceTable):
    """`paper_vectors`: absent until the first vector is stored."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, "paper_vectors")

    @property
    def identity(self) -> EmbedderIdentity | None:
        """Of the embedder that made the vectors; None where there is no table or it does not say."""
        return None if self.table is None else identity_of(self.table.schema)

    def require(self, identity: EmbedderIdentity) -> None:
        """Refuse another embedder than the one that made the vectors.

        Raises:
            PermanentFailure: name, file, cut or size differ.
        """
        if self.table is None or self.identity == identity:
            return
        raise PermanentFailure(
            "the vectors were made by another embedder",
            which=f"stored: {self.identity or 'unknown'}; now: {identity}",
            advice=f"Use the stored one, or remove the folder {self.path} and run "
            "`lithouse index --all` to embed again.",
        )

    def write(self, papers: pl.DataFrame, vectors: np.ndarray, identity: EmbedderIdentity) -> None:
        """Store one vector for each row of `papers` (paper_id and its state), replacing older ones.

        Args:
            vectors: float32 (papers, dimensions), finite, rows of length 1.
        """
        self.require(identity)
        register(identity.name)
        schema = _schema(identity.dimensions)
        if self.table is None:
            self.create(schema, embedding_functions=[configuration(identity)])
        column = pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1)), identity.dimensions)
        states = papers.select(KEY, *STATE).to_arrow()
        rows = pa.table([*states.columns, column], names=schema.names).cast(schema)
        self.merge(rows)

    def follow(self, texts: pl.DataFrame) -> int:
        """Drop vectors whose paper is gone or has other content, and take over changed days and withdrawals.

        Args:
            texts: keys of the full text table.

        Returns:
            How many vectors were dropped.
        """
        if self.table is None:
            return 0
        identity = self.identity
        held = self.keys()
        doubled = held.filter(pl.col(KEY).is_duplicated())
        # Vectors of nobody knows which embedder cannot be used, so they need not be carried on.
        outdated = held if identity is None else held.join(texts, on=[KEY, "content_hash"], how="anti")
        stale = pl.concat([outdated, doubled])[KEY].unique().to_list()
        kept = held.filter(~pl.col(KEY).is_in(stale))
        moved = texts.join(kept, on=KEY, how="semi").join(kept, on=[KEY, *STATE], how="anti")
        for rows in self.rows(moved[KEY].to_list(), [KEY, VECTOR]) if identity else ():
            states = pl.DataFrame(rows.select([KEY])).join(moved, on=KEY, how="left", maintain_order="left")
            self.write(states, _matrix(rows), identity)
        if stale:
            self.delete(stale)
        if stale or moved.height:
            self.finish()
        return len(stale)

    def finish(self) -> None:
        """Bring the index on ids up to the rows and join small files."""
        self.current({}, is_changed=True)

    def matrices(self, paper_ids: Sequence[str]) -> Iterator[tuple[list[str], np.ndarray]]:
        """Ids and float32 (m, d) of those that have a vector, in slices, in no order."""
        for rows in self.rows(paper_ids, [KEY, VECTOR]):
            yield rows[KEY].to_pylist(), _matrix(rows)

    def search(self, vector: np.ndarray, k: int, where: str) -> list[Hit]:
        """The k nearest by cosine (the score, -1 to 1), exactly: every admitted row is compared."""
        if not self.count():
            return []

        def fetch(limit: int) -> list[Hit]:
            found = self.table.search(vector, vector_column_name=VECTOR).distance_type("cosine")
            found = found.bypass_vector_index().where(where, prefilter=True)
            with self.reading():
                rows = found.select([KEY, "_distance"]).limit(limit).to_arrow()
            pairs = zip(rows[KEY].to_pylist(), rows["_distance"].to_pylist(), strict=True)
            return [Hit(paper_id, 1.0 - distance) for paper_id, distance in pairs]

        return top(fetch, k)


def _schema(dimensions: int) -> pa.Schema:
    return pa.schema(
        [
            pa.field(KEY, pa.string(), nullable=False),
            pa.field("content_hash", pa.string(), nullable=False),
            pa.field("submitted_latest", pa.date32(), nullable=False),
            pa.field("is_withdrawn", pa.bool_(), nullable=False),
            pa.field(VECTOR, pa.list_(pa.float32(), dimensions), nullable=False),
        ]
    )


def _matrix(rows: pa.Table) -> np.ndarray:
    column = rows[VECTOR].combine_chunks()
    return column.flatten().to_numpy().reshape(len(column), column.type.list_size)
