"""Nearest rows of a table, exactly or through its approximate index, whichever is due.

Which index there is and what it finds is told by its record (`vector_index`).
"""

import numpy as np

from indexes import vector_index
from indexes.lance_embedding import VECTOR
from indexes.lance_table import LanceTable
from indexes.predicates import Admission
from indexes.ranking import Hit, top
from indexes.vector_index import ALL_PARTITIONS, APPROXIMATE, SearchOptions, VectorIndex


class Searcher:
    """Search in one version of a table."""

    def __init__(self, table: LanceTable, options: SearchOptions) -> None:
        self._table, self._options = table, options
        self.version = table.version
        self._rows = table.count()
        self._found = vector_index.read(table.folder, table.name)
        self.record = _usable_record(table, self._rows, options, self._found)

    def is_current(self) -> bool:
        """Whether the index's record still says what it said: it is written after the table."""
        return (
            self._rows < self._options.min_rows
            or vector_index.read(self._table.folder, self._table.name) == self._found
        )

    def nearest(self, vector: np.ndarray, k: int, admission: Admission, *, exact: bool = False) -> list[Hit]:
        """See `EmbeddedTable.nearest`."""
        if exact or self.record is None or not self._is_worth_it(admission):
            return self.exact(vector, k, admission)
        share = self._table.days.admitted(admission) / len(self._table.days)
        narrow = share < self._options.narrow_share or k > self._options.many or admission.within is not None
        return self.approximate(vector, k, admission, probes=ALL_PARTITIONS if narrow else self.record.probes)

    def exact(self, vector: np.ndarray, k: int, admission: Admission) -> list[Hit]:
        """Every admitted row is compared."""

        def fetch(limit: int) -> list[Hit]:
            query = self._query(vector, limit, admission.where).bypass_vector_index()
            return self._hits(query)

        return top(fetch, k)

    def approximate(self, vector: np.ndarray, k: int, admission: Admission, *, probes: int) -> list[Hit]:
        """Through the index; rows that are not in it yet are compared one by one.

        Where the index gives less than it was asked for although more may be admitted, search is exact.
        """
        where, hidden = self._table.narrowed(admission)
        bound = self._at_most(admission)
        is_short = False

        def fetch(limit: int) -> list[Hit]:
            nonlocal is_short
            query = self._query(vector, limit + len(hidden), where)
            query = query.minimum_nprobes(probes).maximum_nprobes(0).refine_factor(self._options.refine)
            hits = [hit for hit in self._hits(query) if hit.paper_id not in hidden]
            is_short = len(hits) < min(limit, bound)
            return hits

        hits = top(fetch, k)
        return self.exact(vector, k, admission) if is_short else hits

    def _is_worth_it(self, admission: Admission) -> bool:
        return self._at_most(admission) > self._options.exact_rows

    def _at_most(self, admission: Admission) -> int:
        """About how many rows are admitted at most."""
        count = self._table.days.admitted(admission)
        if admission.within is None:
            return count
        return min(count, len(set(admission.within)) * self._table.rows_per_paper)

    def _query(self, vector: np.ndarray, limit: int, where: str | None):
        query = self._table.table.search(vector, vector_column_name=VECTOR).distance_type("cosine")
        query = query.select([self._table.key, "_distance"]).limit(limit)
        return query.where(where, prefilter=True) if where else query

    def _hits(self, query) -> list[Hit]:
        with self._table.reading():
            rows = query.to_arrow()
        pairs = zip(rows[self._table.key].to_pylist(), rows["_distance"].to_pylist(), strict=True)
        return [Hit(name, 1.0 - distance) for name, distance in pairs]


def index_name(table: LanceTable) -> str | None:
    """Of this version's approximate index; None where it has none."""
    with table.reading():
        return next((index.name for index in table.table.list_indices() if VECTOR in index.columns), None)


def _usable_record(
    table: LanceTable, rows: int, options: SearchOptions, record: VectorIndex | None
) -> VectorIndex | None:
    if rows < options.min_rows or record is None or record.kind != APPROXIMATE:
        return None
    if (table.version or 0) < record.version or index_name(table) is None:
        return None
    return record
