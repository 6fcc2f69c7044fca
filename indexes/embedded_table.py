"""A Lance table whose rows have a vector: one embedder for all of them, and the nearest rows to a query.

When the search is exact and when approximate is decided in `vector_search`; what else a row holds belongs to
`vector_table` and `piece_index`.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from indexes import vector_guard
from indexes.embedding import EmbedderIdentity, unusable
from indexes.lance_embedding import VECTOR, configuration, identity_of, register
from indexes.lance_table import KEY, LanceTable
from indexes.predicates import Admission
from indexes.ranking import Hit
from indexes.vector_index import DEFAULTS, SearchOptions, VectorIndex
from indexes.vector_search import Searcher
from ingestion.errors import BadInput, PermanentFailure


class EmbeddedTable(LanceTable):
    """A table that is absent until its first vector is stored.

    Args:
        what: the rows in plural, for messages.
        advice: how to get them embedded again.
        options: of the approximate index.
    """

    def __init__(
        self,
        folder: Path,
        name: str,
        key: str = KEY,
        *,
        what: str,
        advice: str,
        version: int | None = None,
        options: SearchOptions = DEFAULTS,
    ) -> None:
        super().__init__(folder, name, key, version=version)
        self.options = options
        self._what, self._advice = what, advice
        self._searcher: Searcher | None = None

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
            f"the {self._what} were made by another embedder",
            which=f"stored: {self.identity or 'unknown'}; now: {identity}",
            advice=f"Use the stored one, or remove the folder {self.path} and {self._advice}.",
        )

    def put(self, plain: pa.Table, vectors: np.ndarray, identity: EmbedderIdentity, schema: pa.Schema) -> None:
        """Insert or replace rows: the columns of `plain`, and a vector for each.

        Args:
            vectors: float32 (rows, dimensions), finite, rows of length 1.
            schema: of the table without the vector, which comes last.
        """
        self.require(identity)
        register(identity.name)
        column = pa.field(VECTOR, pa.list_(pa.float32(), identity.dimensions), nullable=False)
        schema = schema.append(column)
        if self.table is None:
            self.create(schema, embedding_functions=[configuration(identity)])
        values = pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1)), identity.dimensions)
        self.merge(pa.table([*plain.columns, values], names=schema.names).cast(schema))

    @property
    def vector_index(self) -> VectorIndex | None:
        """The record of the approximate index that is used for this version; None where every search is exact."""
        return self._current_searcher().record if self.count() else None

    def nearest(self, vector: np.ndarray, k: int, admission: Admission, *, exact: bool = False) -> list[Hit]:
        """The k rows nearest by cosine (the score, -1 to 1) among those admitted, equal scores by key.

        Args:
            vector: float32 (dimensions,), of any length but 0.
            exact: compare every admitted row, however many there are.
        """
        if not self.count():
            return []
        return self._current_searcher().nearest(vector, k, admission, exact=exact)

    def _current_searcher(self) -> Searcher:
        if self._searcher is None or self._searcher.version != self.version or not self._searcher.is_current():
            self._searcher = Searcher(self, self.options)
        return self._searcher

    def take_in(self, indexes: dict[str, Any] | None = None) -> None:
        """Take new rows into the indexes (others than the approximate one: column → configuration), join small files."""
        if self.table is not None:
            vector_guard.note_drift(self)
            self.current(indexes or {}, is_changed=True)

    def bring_up_vectors(self) -> VectorIndex | None:
        """Build, check or rebuild the approximate index where that is due; its record, None where there is none."""
        return None if self.table is None else vector_guard.bring_up(self, self.options)


def usable_query(vector: np.ndarray, dimensions: int) -> np.ndarray:
    """The query as float32.

    Raises:
        BadInput: another shape, a number that is not finite, or all zero.
    """
    vector = np.asarray(vector, dtype=np.float32)
    if vector.shape != (dimensions,) or unusable(vector[None]):
        raise BadInput(
            "the query vector is not usable",
            which=f"shape {vector.shape}, expected ({dimensions},), every number finite, not all zero",
        )
    return vector
