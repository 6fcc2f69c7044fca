"""The one module that reads and writes the lake's Delta tables.

Belongs here: opening, checking a frame against its contract, atomic commits, versions. Not here: what the
rows mean (`corpus.harvest`, `corpus.derivation`, …) and SQL (`corpus.query`). A frame that breaks its contract
writes nothing; a writer that dies leaves the last version in place.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import dataframely as dy
import polars as pl
import stamina
from deltalake import CommitProperties, DeltaTable, WriterProperties, write_deltalake
from deltalake.exceptions import CommitFailedError

from corpus.contracts.contract import Contract
from corpus.contracts.registry import CONTRACTS
from ingestion.errors import BadInput, NotFound, PermanentFailure, TransientFailure

_ZSTD = WriterProperties(compression="ZSTD", compression_level=3)
_RACE_ATTEMPTS = 5


class ContractBreach(PermanentFailure):
    """A frame does not fit the contract of the table it was meant for. Nothing was written."""


class LostRace(TransientFailure):
    """Other writers committed to the same rows first, more often than we retry."""


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
        return [] if table is None else table.file_uris()

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
        table = self._open(name, version)
        schema = contract.polars_schema
        if table is None or table.version() == 0:  # version 0 is the empty table we create
            return pl.LazyFrame(schema=schema)
        frame = pl.scan_delta(table)
        held = frame.collect_schema().names()
        missing = [pl.lit(None, dtype=schema[column]).alias(column) for column in schema if column not in held]
        return frame.with_columns(missing).select(pl.col(c).cast(schema[c]) for c in schema)

    def read(self, name: str, *, version: int | None = None, **equals: object) -> pl.DataFrame:
        """Rows whose columns equal the given values, e.g. `read("surveys", topic="rag")`."""
        return self.scan(name, version).filter(*(pl.col(c) == v for c, v in equals.items())).collect()

    def append(self, name: str, frame: pl.DataFrame, *, note: Mapping[str, str] | None = None) -> Commit:
        """Add rows. Keys must be new to the table; the caller knows that, the check is of the frame alone."""
        return self._write(name, frame, mode="append", predicate=None, note=note)

    def replace(
        self,
        name: str,
        frame: pl.DataFrame,
        where: Mapping[str, object | Collection[object]] | None,
        *,
        note: Mapping[str, str] | None = None,
    ) -> Commit:
        """Replace the rows that `where` selects by `frame`, in one commit.

        Args:
            name: table name.
            frame: the new rows; each must itself satisfy `where`.
            where: column → value, or collection of values, joined by AND; None replaces the whole table.
            note: entries for the commit's metadata, e.g. the run.

        Raises:
            ContractBreach: the frame does not fit the contract or lies outside `where`; nothing is written.
            LostRace: other writers kept winning; a rerun may succeed.
        """
        contract = _contract(name)
        if where is not None:
            outside = frame.filter(~pl.all_horizontal(_matches(c, v) for c, v in where.items()))
            if len(outside):
                raise ContractBreach(
                    f"{len(outside)} rows for table {contract.name} lie outside the replaced part",
                    which=str(dict(where)),
                    advice="Nothing was written; replace the part the rows belong to.",
                )
        return self._write(name, frame, mode="overwrite", predicate=predicate(where) if where else None, note=note)

    def _open(self, name: str, version: int | None = None) -> DeltaTable | None:
        folder = self.folder(name)
        if not DeltaTable.is_deltatable(str(folder)):
            if version is not None:
                raise NotFound(f"table {name} was never written, so it has no version", which=str(version))
            return None
        try:
            return DeltaTable(str(folder), version=version)
        except Exception as error:
            if version is None:
                raise
            raise NotFound(
                f"table {name} has no readable version", which=str(version), advice="See `lithouse status`."
            ) from error

    def _write(self, name: str, frame: pl.DataFrame, *, mode, predicate, note) -> Commit:
        contract = _contract(name)
        checked = check(frame, contract)
        self._create(contract)
        data = checked.to_arrow().cast(contract.arrow_schema)

        # Each attempt opens the table anew, so the loser of a race commits on top of the winner.
        @stamina.retry(on=CommitFailedError, attempts=_RACE_ATTEMPTS, wait_initial=0.05, wait_max=1.0)
        def commit() -> int:
            table = DeltaTable(str(self.folder(name)))
            write_deltalake(
                table,
                data,
                mode=mode,
                predicate=predicate,
                writer_properties=_ZSTD,
                commit_properties=CommitProperties(custom_metadata=dict(note or {})),
            )
            return DeltaTable(str(self.folder(name))).version()

        try:
            version = commit()
        except CommitFailedError as error:
            raise LostRace(
                f"another writer kept winning the race for table {contract.name}",
                which=predicate or "whole table",
                advice="Nothing was lost; run the command again.",
            ) from error
        return Commit(contract.name, version, len(checked), is_new=True)

    def _create(self, contract: Contract) -> None:
        folder = self.folder(contract.name)
        if DeltaTable.is_deltatable(str(folder)):
            return
        folder.mkdir(parents=True, exist_ok=True)
        # mode="ignore": two processes may create the same table at once.
        DeltaTable.create(
            str(folder),
            contract.arrow_schema,
            mode="ignore",
            partition_by=list(contract.partition_by) or None,
            name=contract.name,
            description=contract.summary,
            configuration={"lithouse.contractVersion": str(contract.version)},
            raise_if_key_not_exists=False,
        )


def check(frame: pl.DataFrame, contract: Contract) -> pl.DataFrame:
    """The frame in the contract's column order, one row per key, or a refusal.

    Missing nullable columns become nulls; identical rows collapse to one. dataframely would drop extra columns
    and read naive times as UTC in silence, so types and names are compared here first.

    Raises:
        ContractBreach: names table, column or rule, and the first culprits.
    """
    expected, columns = contract.polars_schema, contract.schema.columns()

    def refuse(what: str, which: str) -> ContractBreach:
        return ContractBreach(
            f"{what} in a frame for table {contract.name}", which=which, advice="Nothing was written."
        )

    if extra := [c for c in frame.columns if c not in expected]:
        raise refuse("columns the contract does not know", ", ".join(extra))
    absent = [c for c in expected if c not in frame.columns]
    if needed := [c for c in absent if not columns[c].nullable]:
        raise refuse("missing columns", ", ".join(needed))
    frame = frame.with_columns(pl.lit(None, dtype=expected[c]).alias(c) for c in absent).select(list(expected))
    # An all-null column has no type of its own: it takes the declared one.
    frame = frame.with_columns(pl.col(c).cast(expected[c]) for c, t in frame.schema.items() if t == pl.Null)
    wrong = [f"{c} is {frame.schema[c]}, not {t}" for c, t in expected.items() if frame.schema[c] != t]
    if wrong:
        raise refuse("wrong types", "; ".join(wrong))
    frame = _distinct(frame, contract)
    try:
        contract.schema.validate(frame)
    except dy.exc.ValidationError as error:
        raise refuse("broken rules", " ".join(str(error).split())[:600]) from error
    return frame


def _distinct(frame: pl.DataFrame, contract: Contract) -> pl.DataFrame:
    """Collapse rows that are equal in every column; rows that share a key and differ are for the contract to refuse."""
    if not frame.select(pl.struct(contract.keys).is_duplicated().any()).item():
        return frame
    return frame.unique(maintain_order=True)


def predicate(where: Mapping[str, object | Collection[object]]) -> str:
    """A SQL predicate for Delta from column → value or values; every value is a quoted literal."""
    parts = []
    for column, value in where.items():
        if not column.isidentifier():
            raise BadInput("not a column name", which=column)
        if isinstance(value, Collection) and not isinstance(value, str):
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


def _matches(column: str, value: object | Collection[object]) -> pl.Expr:
    if isinstance(value, Collection) and not isinstance(value, str):
        return pl.col(column).is_in(list(value))
    return pl.col(column) == value


def _contract(name: str) -> Contract:
    if name not in CONTRACTS:
        raise NotFound("there is no table", which=name, advice=f"Tables: {', '.join(CONTRACTS)}.")
    return CONTRACTS[name]
