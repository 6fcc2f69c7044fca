"""The one module that reads and writes the lake's Delta tables.

Belongs here: opening, atomic commits, races, versions. Not here: what fits a contract (`corpus.contracts`), what
the rows mean (`corpus.harvest`, `corpus.derivation`, …) and SQL (`corpus.query`). A frame that breaks its contract
writes nothing; a writer that dies leaves the last version in place.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import polars as pl
import pyarrow as pa
import stamina
from deltalake import CommitProperties, DeltaTable, WriterProperties, write_deltalake
from deltalake.exceptions import CommitFailedError

from corpus.contracts.conformity import ContractBreach, check
from corpus.contracts.contract import Contract
from corpus.contracts.registry import CONTRACTS
from corpus.races import ATTEMPTS, LostRace, recomputed
from ingestion.errors import BadInput, NotFound, PermanentFailure

__all__ = ["Commit", "ContractBreach", "Lake", "LostRace", "check", "predicate", "recomputed"]

_ZSTD = WriterProperties(compression="ZSTD", compression_level=3)
_CONTRACT_VERSION = "lithouse.contractVersion"
# delta-rs 1.6.6 panics on these or reads "%20" as a blank; every other character is fine.
_UNUSABLE_PATH = re.compile(r"[\[\]|^\\]|%[0-9A-Fa-f]{2}")


@dataclass(frozen=True)
class Commit:
    """What a write left behind: the table's version, and whether it made a new one."""

    table: str
    version: int
    rows: int
    is_new: bool


@dataclass(frozen=True)
class Lake:
    """The tables below one home folder.

    Attributes:
        home: LITHOUSE_HOME; tables lie in `home/tables/<name>`.
    """

    home: Path

    def folder(self, name: str) -> Path:
        return self.home / "tables" / _contract(name).name

    def version(self, name: str) -> int | None:
        """Newest version of a table; None where it was never written."""
        table = self._open(name)
        return None if table is None else table.version()

    def versions(self) -> dict[str, int]:
        """Newest version of each table that exists."""
        return {name: found for name in CONTRACTS if (found := self.version(name)) is not None}

    def file_uris(self, name: str, version: int | None = None) -> list[str]:
        """Parquet files of a version; empty where the table was never written."""
        table = self._open(name, version)
        if table is None:
            return []
        # Delta escapes the table's folder as an address does, but gives names below it as they are on disk.
        root = table.table_uri.removeprefix("file://")
        folder = self.folder(name).resolve()
        return [str(folder / uri.removeprefix(root)) for uri in table.file_uris()]

    def row_count(self, name: str, version: int | None = None) -> int:
        """Rows of a version, from the log alone."""
        table = self._open(name, version)
        return 0 if table is None else int(table.count())

    def scan(self, name: str, version: int | None = None) -> pl.LazyFrame:
        """A table as a lazy frame in its contract's columns; empty where it was never written.

        Args:
            name: table name.
            version: version to read, None for the newest.

        Raises:
            NotFound: there is no such table, or no such version of it.
        """
        contract = _contract(name)
        schema = contract.polars_schema
        files = self.file_uris(name, version)
        if not files:
            return pl.LazyFrame(schema=schema)
        # Not scan_delta: it takes the escaped folder for a path. Files older than a column read it as null.
        return pl.scan_parquet(
            files,
            schema=schema,
            hive_schema={column: schema[column] for column in contract.partition_by} or None,
            hive_partitioning=bool(contract.partition_by),
            missing_columns="insert",
            extra_columns="ignore",
            cast_options=pl.ScanCastOptions(missing_struct_fields="insert", extra_struct_fields="ignore"),
            glob=False,
        ).select(list(schema))

    def read(self, name: str, *, version: int | None = None, **equals: object) -> pl.DataFrame:
        """Rows whose columns equal the given values, e.g. `read("surveys", topic="rag")`."""
        return self.scan(name, version).filter(*(pl.col(c) == v for c, v in equals.items())).collect()

    def append(
        self, name: str, frame: pl.DataFrame, *, note: Mapping[str, str] | None = None, on_top_of: int | None = None
    ) -> Commit:
        """Add rows. Keys must be new to the table; the caller knows that, the check is of the frame alone."""
        checked = check(frame, _contract(name))
        return self._write(name, checked, mode="append", where=None, note=note, on_top_of=on_top_of)

    def replace(
        self,
        name: str,
        frame: pl.DataFrame,
        where: Mapping[str, object | Collection[object]] | None,
        *,
        note: Mapping[str, str] | None = None,
        on_top_of: int | None = None,
    ) -> Commit:
        """Replace the rows that `where` selects by `frame`, in one commit.

        Args:
            name: table name.
            frame: the new rows; each must itself satisfy `where`.
            where: column → value, or collection of values, joined by AND; None replaces the whole table.
            note: entries for the commit's metadata, e.g. the run.
            on_top_of: version the rows were computed from (0 for a table never written). If anything was
                committed since, `LostRace` is raised at once: compute again (see `recomputed`). Without it the
                rows are committed on top of whatever is there.

        Raises:
            ContractBreach: the frame does not fit the contract or lies outside `where`; nothing is written.
            LostRace: other writers kept winning; a rerun may succeed.
        """
        contract = _contract(name)
        checked = check(frame, contract)
        if where is not None:
            sql = predicate(where)
            if unknown := [c for c in where if c not in contract.polars_schema]:
                raise BadInput(f"table {contract.name} has no such column", which=", ".join(unknown))
            outside = checked.filter(~pl.all_horizontal(_matches(c, v) for c, v in where.items()).fill_null(False))
            if len(outside):
                raise ContractBreach(
                    f"{len(outside)} rows for table {contract.name} lie outside the replaced part",
                    which=str(dict(where)),
                    advice="Nothing was written; replace the part the rows belong to.",
                )
        return self._write(
            name, checked, mode="overwrite", where=None if where is None else sql, note=note, on_top_of=on_top_of
        )

    def _open(self, name: str, version: int | None = None) -> DeltaTable | None:
        folder = self.folder(name)
        if not DeltaTable.is_deltatable(str(folder)):
            if version is not None:
                raise NotFound(f"table {name} was never written, so it has no version", which=str(version))
            return None
        try:
            table = DeltaTable(str(folder), version=version)
        except Exception as error:
            if version is None:
                raise
            raise NotFound(
                f"table {name} has no readable version", which=str(version), advice="See `lithouse status`."
            ) from error
        ours = str(CONTRACTS[name].version)
        theirs = table.metadata().configuration.get(_CONTRACT_VERSION, ours)
        if theirs != ours:
            raise PermanentFailure(
                f"table {name} follows contract version {theirs}, this Lithouse knows version {ours}",
                which=str(folder),
                advice="Use the Lithouse that wrote it, or refresh into a new LITHOUSE_HOME.",
            )
        return table

    def _write(self, name: str, checked: pl.DataFrame, *, mode, where, note, on_top_of) -> Commit:
        contract = _contract(name)
        self._create(contract)
        data = checked.to_arrow().cast(contract.arrow_schema)

        # Each attempt opens the table anew, so the loser of a race commits on top of the winner.
        @stamina.retry(
            on=CommitFailedError, attempts=1 if on_top_of is not None else ATTEMPTS, wait_initial=0.05, wait_max=1
        )
        def commit() -> int:
            table = self._open(name, on_top_of)
            write_deltalake(
                table,
                _with_held_comments(data, table),
                mode=mode,
                predicate=where,
                schema_mode="merge",  # columns that came later
                writer_properties=_ZSTD,
                commit_properties=CommitProperties(
                    custom_metadata=dict(note or {}), max_commit_retries=None if on_top_of is None else 0
                ),
            )
            return table.version()

        try:
            version = commit()
        except CommitFailedError as error:
            raise LostRace(
                f"another writer kept winning the race for table {contract.name}",
                which=where or "whole table",
                advice="Nothing was lost; run the command again.",
            ) from error
        return Commit(contract.name, version, len(checked), is_new=True)

    def _create(self, contract: Contract) -> None:
        folder = self.folder(contract.name)
        if DeltaTable.is_deltatable(str(folder)):
            return
        if _UNUSABLE_PATH.search(str(folder.resolve())):
            raise BadInput(
                "no table can be kept below a folder with [, ], |, ^, \\ or %XX in its path",
                which=str(self.home),
                advice="Set LITHOUSE_HOME to another folder.",
            )
        folder.mkdir(parents=True, exist_ok=True)
        # mode="ignore": two processes may create the same table at once.
        DeltaTable.create(
            str(folder),
            contract.arrow_schema,
            mode="ignore",
            partition_by=list(contract.partition_by) or None,
            name=contract.name,
            description=contract.summary,
            configuration={_CONTRACT_VERSION: str(contract.version)},
            raise_if_key_not_exists=False,
        )


def _with_held_comments(data: pa.Table, table: DeltaTable) -> pa.Table:
    """The data with no comment on columns that the table has: Delta refuses one that differs from the table's own.

    A description may so be put better without breaking the lakes there are; the columns that came later bring theirs.
    """
    held = {field.name for field in table.schema().fields}
    fields = [field.remove_metadata() if field.name in held else field for field in data.schema]
    return data.cast(pa.schema(fields))


def predicate(where: Mapping[str, object | Collection[object]]) -> str:
    """A SQL predicate for Delta from column → value or values; every value is a quoted literal.

    Raises:
        BadInput: it would select nothing, or everything; or holds what cannot be a literal.
    """
    if not where:
        raise BadInput("a part to replace needs at least one column", advice="Give None for the whole table.")
    parts = []
    for column, value in where.items():
        if not column.isidentifier():
            raise BadInput("not a column name", which=column)
        if _is_many(value):
            if not value:
                raise BadInput("a part to replace needs at least one value", which=column)
            parts.append(f"{column} IN ({', '.join(_literal(v) for v in value)})")
        else:
            parts.append(f"{column} = {_literal(value)}")
    return " AND ".join(parts)


def _literal(value: object) -> str:
    if isinstance(value, bool | int):
        return str(value).lower()
    if isinstance(value, date):
        return f"'{value.isoformat()}'"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    raise BadInput("a predicate takes text, dates, numbers and booleans", which=repr(value))


def _is_many(value: object) -> bool:
    return isinstance(value, Collection) and not isinstance(value, str | bytes)


def _matches(column: str, value: object | Collection[object]) -> pl.Expr:
    if _is_many(value):
        return pl.col(column).is_in(list(value))
    return pl.col(column) == value


def _contract(name: str) -> Contract:
    if name not in CONTRACTS:
        raise NotFound("there is no table", which=name, advice=f"Tables: {', '.join(CONTRACTS)}.")
    return CONTRACTS[name]
