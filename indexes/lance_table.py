"""One Lance table with a key: opening, reading keys, merging, deleting, keeping its indexes current.

What the columns mean, and how they are searched, belongs to `text_table`, `vector_table` and `piece_index`.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import lancedb
import polars as pl
import pyarrow as pa
from lancedb.index import BTree

from indexes.predicates import one_of
from ingestion.errors import PermanentFailure, TransientFailure

KEY = "paper_id"
STATE = ["content_hash", "submitted_latest", "is_withdrawn"]
"""What must be equal for a row to be current."""
_NEVER = timedelta(days=36_500)
_SLICE = 1000  # ids in one predicate: 10 ms over 12,000 rows; far larger ones only cost memory
_FAULTS = (OSError, RuntimeError, ValueError)  # LanceDB raises these for whatever goes wrong on disk


class LanceTable:
    """A table that may not exist yet. Opened when first needed.

    Args:
        key: the column that names a row; papers' tables go by paper_id.
    """

    def __init__(self, folder: Path, name: str, key: str = KEY) -> None:
        self.folder, self.name, self.key = folder, name, key
        self.path = folder / f"{name}.lance"
        self._table: Any = None

    @property
    def table(self) -> Any:
        """LanceDB's table, or None where there is none (a creation that was killed counts as none)."""
        if self._table is None and any((self.path / "_versions").glob("*.manifest")):
            with self.reading():
                self._table = lancedb.connect(self.folder).open_table(self.name)
        return self._table

    def create(self, schema: pa.Schema, **options: Any) -> None:
        """Create the empty table; options as of LanceDB's `create_table`."""
        with self.writing():
            self.folder.mkdir(parents=True, exist_ok=True)
            database = lancedb.connect(self.folder)
            self._table = database.create_table(self.name, schema=schema, exist_ok=True, **options)

    def see_latest(self) -> None:
        """Look at the newest version: an open table stays at the one it has seen, whatever others write."""
        if self.table is not None:
            with self.reading():
                self.table.checkout_latest()

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
        with self.reading():
            return pl.DataFrame(self.table.search().select([KEY, *STATE]).to_arrow())

    def rows(self, paper_ids: Sequence[str], columns: Sequence[str]) -> Iterator[pa.Table]:
        """The rows of these papers that there are, in slices, in no order."""
        for start in range(0, len(paper_ids) if self.table is not None else 0, _SLICE):
            where = one_of(KEY, paper_ids[start : start + _SLICE])
            with self.reading():
                found = self.table.search().where(where).select([*columns]).to_arrow()
            yield found

    def add(self, rows: pa.Table) -> None:
        """Insert rows whose keys are not there yet; faster than `merge`."""
        with self.writing():
            self.table.add(rows)

    def merge(self, rows: pa.Table) -> None:
        """Insert or replace, one row per key in `rows`.

        Raises:
            TransientFailure: fewer or more rows were written than given, so something else writes here.
        """
        with self.writing():
            merge = self.table.merge_insert(self.key).when_matched_update_all().when_not_matched_insert_all()
            result = merge.execute(rows)
        written = result.num_inserted_rows + result.num_updated_rows
        if written != rows.num_rows:
            raise TransientFailure(
                f"{written} rows were written instead of {rows.num_rows}",
                which=f"index table {self.name}",
                advice="Let no other command write to the index, and run `lithouse refresh` again.",
            )

    def delete(self, paper_ids: Sequence[str]) -> None:
        for start in range(0, len(paper_ids), _SLICE):
            with self.writing():
                self.table.delete(one_of(KEY, paper_ids[start : start + _SLICE]))

    def current(self, indexes: dict[str, Any], *, is_changed: bool) -> None:
        """Make the missing indexes (column → LanceDB's configuration) and take new rows into the others.

        After deletions too: until then deleted rows count in the full text statistics. Old versions stay,
        since an edition may have pinned them; removing those is maintenance.
        """
        if not self.count():  # most indexes cannot be made of nothing
            return
        with self.writing():
            held = {column: index for index in self.table.list_indices() for column in index.columns}
            for column, configuration in {self.key: BTree(), **indexes}.items():
                if column not in held:
                    self.table.create_index(column, config=configuration)
            if is_changed or any(index.num_unindexed_rows for index in held.values()):
                self.table.optimize(cleanup_older_than=_NEVER)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Explain what goes wrong while the table is read.

        Raises:
            PermanentFailure: files of the table are missing or damaged.
        """
        try:
            yield
        except _FAULTS as error:
            raise PermanentFailure(
                "the index table cannot be read",
                which=f"{self.path}: {_first_line(error)}",
                advice=f"Remove the folder {self.folder} and run `lithouse refresh`, which rebuilds it.",
            ) from error

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Explain what goes wrong while the table is written.

        Raises:
            TransientFailure: no space, no permission, or another command wrote at the same time.
        """
        try:
            yield
        except _FAULTS as error:
            raise TransientFailure(
                "the index table cannot be written",
                which=f"{self.path}: {_first_line(error)}",
                advice="Check disk space and permissions, let no other command write to it, and run this again.",
            ) from error


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [repr(error)])[0][:300]
