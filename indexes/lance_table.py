"""One Lance table with a key: opening, reading keys, merging, deleting, keeping its indexes current; its versions.

What the columns mean, and how they are searched, belongs to `text_table`, `vector_table` and `piece_index`.
"""

import itertools
import re
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import lancedb
import polars as pl
import pyarrow as pa
from lancedb.index import BTree

from indexes.days import Days
from indexes.predicates import Admission, one_of
from ingestion.errors import BadInput, NotFound, PermanentFailure, TransientFailure

KEY = "paper_id"
STATE = ["content_hash", "submitted_latest", "is_withdrawn"]
"""What must be equal for a row to be current."""
_FEW = 64
"""Rows that may be dropped from what is found instead of by a predicate."""
_NEVER = timedelta(days=36_500)
SLICE = 1000  # ids in one predicate: 10 ms over 12,000 rows; far larger ones only cost memory
_FAULTS = (OSError, RuntimeError, ValueError)  # LanceDB raises these for whatever goes wrong on disk


class LanceTable:
    """A table that may not exist yet. Opened when first needed.

    Args:
        key: the column that names a row; papers' tables go by paper_id.
        version: read this version and write nothing; None for the newest.
    """

    rows_per_paper = 1
    """About; of a table of pieces more."""

    def __init__(self, folder: Path, name: str, key: str = KEY, *, version: int | None = None) -> None:
        self.folder, self.name, self.key = folder, name, key
        self.path = folder / f"{name}.lance"
        self.pinned = version
        self._table: Any = None
        self._is_hidden = False
        self._days: tuple[int, Days] | None = None
        self._withdrawn: tuple[int | None, frozenset[str]] | None = None

    def hide(self) -> None:
        """Take it that the table does not exist: it did not at the time that is looked at."""
        self._is_hidden = True

    @property
    def table(self) -> Any:
        """LanceDB's table, or None where there is none (a creation that was killed counts as none)."""
        if self._is_hidden:
            return None
        if self._table is None and any((self.path / "_versions").glob("*.manifest")):
            with self.reading():
                table = lancedb.connect(self.folder).open_table(self.name)
            if self.pinned is not None:
                self._checkout(table, self.pinned)
            self._table = table
        return self._table

    def _checkout(self, table: Any, version: int) -> None:
        try:
            table.checkout(version)
        except _FAULTS as error:
            held = {row["version"] for row in table.list_versions()}
            if version in held:
                raise
            raise NotFound(
                "the index table has no such version",
                which=f"{self.name} version {version}",
                advice="It was removed; versions that surveys name are kept by `lithouse maintain`.",
            ) from error

    def create(self, schema: pa.Schema, **options: Any) -> None:
        """Create the empty table; options as of LanceDB's `create_table`."""
        with self.writing():
            self.folder.mkdir(parents=True, exist_ok=True)
            database = lancedb.connect(self.folder)
            self._table = database.create_table(self.name, schema=schema, exist_ok=True, **options)

    def see_latest(self) -> None:
        """Look at the newest version: an open table stays at the one it has seen, whatever others write."""
        if self.table is not None and self.pinned is None:
            with self.reading():
                self.table.checkout_latest()

    @property
    def version(self) -> int | None:
        return None if self.table is None else self.table.version

    def count(self) -> int:
        return 0 if self.table is None else self.table.count_rows()

    def narrowed(self, admission: Admission) -> tuple[str | None, frozenset[str]]:
        """The predicate to search with, and the keys to drop from what is found.

        Where a handful of rows is left out, finding as many more and dropping those is exact, and spares the
        predicate: evaluating it costs as much as the search itself.
        """
        withdrawn = self.days.withdrawn_to_leave_out(admission)
        excluded = frozenset(admission.excluded)
        is_by_key = self.key == KEY or not excluded
        if admission.within is not None or withdrawn is None or not is_by_key or withdrawn + len(excluded) > _FEW:
            return admission.where, frozenset()
        return None, excluded | self._withdrawn_keys() if withdrawn else excluded

    def _withdrawn_keys(self) -> frozenset[str]:
        if self._withdrawn is None or self._withdrawn[0] != self.version:
            with self.reading():
                rows = self.table.search().where("is_withdrawn = true").select([self.key]).to_arrow()
            self._withdrawn = self.version, frozenset(rows[self.key].to_pylist())
        return self._withdrawn[1]

    @property
    def days(self) -> Days:
        """Of the rows of this version; read once."""
        version = self.version or 0
        if self._days is None or self._days[0] != version:
            with self.reading():
                self._days = version, Days(self.table.search().select([*Days.COLUMNS]).to_arrow())
        return self._days[1]

    def keys(self) -> pl.DataFrame:
        """paper_id and STATE of every row, in no order."""
        if self.table is None:
            types = [pl.String, pl.String, pl.Date, pl.Boolean]
            return pl.DataFrame(schema=dict(zip([KEY, *STATE], types, strict=True)))
        with self.reading():
            return pl.DataFrame(self.table.search().select([KEY, *STATE]).to_arrow())

    def rows(self, paper_ids: Sequence[str], columns: Sequence[str]) -> Iterator[pa.Table]:
        """The rows of these papers that there are, in slices, in no order."""
        for start in range(0, len(paper_ids) if self.table is not None else 0, SLICE):
            where = one_of(KEY, paper_ids[start : start + SLICE])
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
        for start in range(0, len(paper_ids), SLICE):
            with self.writing():
                self.table.delete(one_of(KEY, paper_ids[start : start + SLICE]))

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

    def tags(self) -> dict[str, int]:
        """Name → the version it stands for."""
        if self.table is None:
            return {}
        with self.reading():
            return {name: tag["version"] for name, tag in self.table.tags.list().items()}

    def tag(self, name: str) -> None:
        """Let the name stand for the version as it is now; nothing is written where it does already.

        Raises:
            BadInput: as `require_tag_name`.
        """
        require_tag_name(name)
        if self.table is None or (held := self.tags()).get(name) == self.version:
            return
        with self.writing():
            tags = self.table.tags
            (tags.update if name in held else tags.create)(name, self.version)

    def versions(self) -> list[int]:
        """Versions that can be opened, ascending."""
        if self.table is None:
            return []
        with self.reading():
            return sorted(row["version"] for row in self.table.list_versions())

    def size(self) -> int:
        """Bytes of all files, of all versions."""
        return sum(file.stat().st_size for file in self.path.rglob("*") if file.is_file())

    def compact(self) -> None:
        """Join small files and take new rows into the indexes; old versions stay. No version if there is nothing."""
        with self.writing():
            self.table.optimize(cleanup_older_than=_NEVER)

    def remove_versions(self, keep: Collection[int], *, retain: timedelta) -> list[int]:
        """Remove all versions but the newest, those in `keep`, and those overtaken within `retain`, and their files.

        Who opened a version while it was the newest may be reading it still, however old it is.

        LanceDB can only remove everything before a point in time, and refuses while a tag lies before it. So the
        manifests, each of which is a version, are removed here, and LanceDB then removes the files that no remaining
        manifest names. Needs the writer's lock: files of a write that is going on are named by no manifest yet.

        Returns:
            The removed versions.
        """
        newest, kept, removed = self.version, set(keep), list[int]()
        oldest = time.time() - retain.total_seconds()
        doomed = {
            version: manifest
            for version, after in itertools.pairwise(self.versions())
            if version != newest
            and version not in kept
            and (manifest := self._manifest(version)).is_file()
            and self._made_at(after) <= oldest
        }
        with self.writing():
            for name, version in self.tags().items():
                if version in doomed:
                    self.table.tags.delete(name)
            for version, manifest in doomed.items():
                manifest.unlink(missing_ok=True)
                removed.append(version)
            # Opened anew: LanceDB remembers manifests.
            self._table = None
            self.table.optimize(cleanup_older_than=_NEVER, delete_unverified=True)
        return removed

    def _made_at(self, version: int) -> float:
        """When the version was written, and the one before it overtaken; now where that cannot be told."""
        try:
            return self._manifest(version).stat().st_mtime
        except FileNotFoundError:
            return time.time()

    def _manifest(self, version: int) -> Path:
        """Its file: Lance names manifests so that the newest comes first in a listing."""
        return self.path / "_versions" / f"{2**64 - 1 - version:020}.manifest"

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


def require_tag_name(name: str) -> None:
    """Refuse what Lance cannot keep as the name of a version.

    Raises:
        BadInput: another character than letters, digits, dot, hyphen and underscore, or none.
    """
    if not re.fullmatch(r"[A-Za-z0-9._-]+", name):
        raise BadInput("the name cannot be a tag", which=repr(name), advice="Use letters, digits, dots and hyphens.")


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [repr(error)])[0][:300]
