"""The vector table: embeddings of the papers that have needed one.

Texts and full text live in `text_table`; how texts become vectors is in `embedding`, how they are searched in
`embedded_table`.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa

from indexes.embedded_table import EmbeddedTable
from indexes.embedding import EmbedderIdentity
from indexes.lance_embedding import VECTOR, vectors_of
from indexes.lance_table import KEY, STATE
from indexes.vector_index import DEFAULTS, SearchOptions

_SCHEMA = pa.schema(
    [
        pa.field(KEY, pa.string(), nullable=False),
        pa.field("content_hash", pa.string(), nullable=False),
        pa.field("submitted_latest", pa.date32(), nullable=False),
        pa.field("is_withdrawn", pa.bool_(), nullable=False),
    ]
)


class VectorTable(EmbeddedTable):
    """`paper_vectors`: absent until the first vector is stored."""

    def __init__(self, folder: Path, *, version: int | None = None, options: SearchOptions = DEFAULTS) -> None:
        super().__init__(
            folder,
            "paper_vectors",
            what="vectors",
            advice="run `lithouse index --all` to embed again",
            version=version,
            options=options,
        )

    def write(self, papers: pl.DataFrame, vectors: np.ndarray, identity: EmbedderIdentity) -> None:
        """Store one vector for each row of `papers` (paper_id and its state), replacing older ones.

        Args:
            vectors: float32 (papers, dimensions), finite, rows of length 1.
        """
        self.put(papers.select(_SCHEMA.names).to_arrow(), vectors, identity, _SCHEMA)

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
            self.write(states, vectors_of(rows), identity)
        if stale:
            self.delete(stale)
        if stale or moved.height:
            self.finish()
        return len(stale)

    def finish(self) -> None:
        """Bring the indexes up to the rows, and the approximate one to its floor of recall."""
        self.take_in()
        self.bring_up_vectors()

    def states(self, keys: Sequence[str]) -> pl.DataFrame:
        """paper_id and content_hash of those of these rows that there are, in no order."""
        found = [pl.DataFrame(rows) for rows in self.rows(keys, [KEY, "content_hash"])]
        return pl.concat(found) if found else pl.DataFrame(schema={KEY: pl.String, "content_hash": pl.String})

    def matrices(self, paper_ids: Sequence[str]) -> Iterator[tuple[list[str], np.ndarray]]:
        """Ids and float32 (m, d) of those that have a vector, in slices, in no order."""
        for rows in self.rows(paper_ids, [KEY, VECTOR]):
            yield rows[KEY].to_pylist(), vectors_of(rows)
