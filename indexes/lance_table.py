"""One Lance table keyed by paper_id: opening, reading keys, merging, deleting, keeping its indexes current.

What the columns mean, and how they are searched, belongs to `text_table` and `vector_table`.
"""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import lancedb
import polars as pl
import pyarrow as pa
from lancedb.index import BTree

from indexes.predicates import one_of
from ingestion.errors import TransientFailure

KEY = "paper_id"
STATE = ["content_hash", "submitted_latest", "is_withdrawn"]
"""What must be equal for a row to be current."""
_NEVER = timedelta(days=36_500)
_SLICE = 1000  # ids in one predicate: 10 ms over 12,000 rows; far larger ones only cost memory


class LanceTable:
    """A table that may not exist yet. Handles are opened when first needed."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder, self.name = folder, name
        self._table: Any = None

    @property
    def table(self) -> Any:
        """LanceDB's table, or None where there is none (a creation that was killed counts as none)."""
        if self._table is None and (self.folder / f"{self.name}.lance" / "_versions").is_dir():
            self._table = lancedb.connect(self.folder).open_table(self.name)
        return self._table

    def create(self, schema: pa.Schema, **options: Any) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self._table = lancedb.connect(self.folder).create_table(self.name, schema=schema, exist_ok=True, **options)

    @property
    def version(self) -> int | None:
        return None if self.table is None else self.table.version

    def count(self) -> int:
        return 0 if self.table is None else self.table.count_rows()

    def keys(self) -> pl.DataFrame:
        """paper_id and STATE of every row, in no order."""
        if self.table is None:
            types = [pl.String, pl.String, pl.Date, pl.Boolean]
            return pl.DataFrame(schema=dict(zip([KEY, *STATE], types, strict=True)))
        return pl.DataFrame(self.table.search().select([KEY, *STATE]).to_arrow())

    def rows(self, paper_ids: Sequence[str], columns: Sequence[str]) -> Iterator[pa.Table]:
        """The rows of these papers that there are, in slices, in no order."""
        for start in range(0, len(paper_ids) if self.table is not None else 0, _SLICE):
            where = one_of(KEY, paper_ids[start : start + _SLICE])
            yield self.table.search().where(where).select([*columns]).to_arrow()

    def merge(self, rows: pa.Table) -> None:
        """Insert or replace, one row per key in `rows`.

        Raises:
            TransientFailure: fewer or more rows were written than given, so something else writes here.
        """
        result = self.table.merge_insert(KEY).when_matched_update_all().when_not_matched_insert_all().execute(rows)
        written = result.num_inserted_rows + result.num_updated_rows
        if written != rows.num_rows:
            raise TransientFailure(
                f"{written} rows were written instead of {rows.num_rows}",
                which=f"index table {self.name}",
                advice="Let no other command write to the index, and run `lithouse refresh` again.",
            )

    def delete(self, paper_ids: Sequence[str]) -> None:
        for start in range(0, len(paper_ids), _SLICE):
            self.table.delete(one_of(KEY, paper_ids[start : start + _SLICE]))

    def current(self, indexes: dict[str, Any], *, is_changed: bool) -> None:
        """Make the missing indexes (column → LanceDB's configuration) and take new rows into the others.

        After deletions too: until then they count in the full text statistics. Old versions stay,
        since an edition may have pinned them; removing those is maintenance.
        """
        if not self.count():  # most indexes cannot be made of nothing
            return
        held = {column: index for index in self.table.list_indices() for column in index.columns}
        for column, configuration in {KEY: BTree(), **indexes}.items():
            if column not in held:
                self.table.create_index(column, config=configuration)
        if is_changed or any(index.num_unindexed_rows for index in held.values()):
            self.optimize()

    def optimize(self) -> None:
        self.table.optimize(cleanup_older_than=_NEVER)
