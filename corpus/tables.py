"""The one module that reads and writes the lake's Delta tables.

Belongs here: opening, atomic commits, races, versions. Not here: what fits a contract (`corpus.contracts`), what
the rows mean (`corpus.harvest`, `corpus.derivation`, …) and SQL (`corpus.query`). A frame that breaks its contract
writes nothing; a writer that dies leaves the last version in place.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path

import polars as pl
import pyarrow as pa
import stamina
from deltalake import (
    CommitProperties,
    DeltaTable,
    PostCommitHookProperties,
    Transaction,
    WriterProperties,
    write_deltalake,
)
from deltalake.exceptions import CommitFailedError, DeltaError

from corpus.commits import identity, newest_version
from corpus.contracts.conformity import ContractBreach, check
from corpus.contracts.contract import Contract
from corpus.contracts.migrations import steps
from corpus.contracts.registry import CONTRACTS
from corpus.predicates import matches, predicate
from corpus.races import ATTEMPTS, LostRace, recomputed
from corpus.scanning import Snapshot
from ingestion.errors import BadInput, NotFound, PermanentFailure

__all__ = ["Commit", "Compaction", "ContractBreach", "Lake", "LostRace", "check", "predicate", "recomputed"]

_ZSTD = WriterProperties(compression="ZSTD", compression_level=3)
COMPACTED_BYTES = 100 * 2**20
"""Compaction joins files of a partition up to about this size."""
_CONTRACT_VERSION = "lithouse.contractVersion"
# By default Delta forgets versions after 30 days, whoever pins them; and a checkpoint only every hundred commits makes
# opening a table and committing to it three times as dear (measured at 400 commits).
_PROPERTIES = {
    "delta.enableExpiredLogCleanup": "false",
    "delta.logRetentionDuration": "interval 36500 days",
    "delta.checkpointInterval": "25",
}
_KEEP_LOG = PostCommitHookProperties(create_checkpoint=True, cleanup_expired_logs=False)
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
class Compaction:
    """Files that a compaction joined, and what it made of them; a commit was made where `joined` is not 0."""

    joined: int
    written: int


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
        return newest_version(self.folder(name))

    def versions(self) -> dict[str, int]:
        """Newest version of each table that exists."""
        return {name: found for name in CONTRACTS if (found := self.version(name)) is not None}

    def created_at(self, name: str) -> datetime | None:
        """When the table was made; None where it was never written."""
        if self.version(name) is None:
            return None
        table = DeltaTable(str(self.folder(name)), version=0)
        return datetime.fromtimestamp(table.metadata().created_time / 1000, UTC)

    def file_uris(self, name: str, version: int | None = None) -> list[str]:
        """Parquet files of a version; empty where the table was never written."""
        found = self._snapshot(name, version)
        return [] if found is None else list(found.files)

    def row_count(self, name: str, version: int | None = None) -> int:
        """Rows of a version, from the log alone."""
        found = self._snapshot(name, version)
        return 0 if found is None else found.rows

    def contract_version(self, name: str, version: int | None = None) -> int:
        """Version of the contract that a table version was written under; ours where it was never written.

        `scan` migrates the rows of an older one, its files are of the old shape.
        """
        found = self._snapshot(name, version)
        return _contract(name).version if found is None else found.contract_version

    def scan(self, name: str, version: int | None = None) -> pl.LazyFrame:
        """A table as a lazy frame in its contract's columns; empty where it was never written.

        A version of an older contract is read through the migrations between (`corpus.contracts.migrations`).

        Args:
            name: table name.
            version: version to read, None for the newest.

        Raises:
            NotFound: there is no such table, or no such version of it (any more).
            PermanentFailure: its contract is newer than ours, or older without a migration.
        """
        contract, found = _contract(name), self._snapshot(name, version)
        return pl.LazyFrame(schema=contract.polars_schema) if found is None else found.scan(contract)

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
            outside = checked.filter(~matches(where))
            if len(outside):
                raise ContractBreach(
                    f"{len(outside)} rows for table {contract.name} lie outside the replaced part",
                    which=str(dict(where)),
                    advice="Nothing was written; replace the part the rows belong to.",
                )
        return self._write(
            name, checked, mode="overwrite", where=None if where is None else sql, note=note, on_top_of=on_top_of
        )

    def compact(self, name: str) -> Compaction:
        """Join the small files of each partition; what was joined while others wrote is joined again, a few times.

        Raises:
            LostRace: other writers kept winning; the table is as they left it.
            PermanentFailure: its files cannot be joined; the table is as it was.
        """

        @stamina.retry(on=CommitFailedError, attempts=ATTEMPTS, wait_initial=0.1, wait_max=2.0)
        def join() -> Compaction:
            done = self._open(name).optimize.compact(
                target_size=COMPACTED_BYTES,
                max_concurrent_tasks=1,
                # Minutes of work on a large table are kept although a later part of it loses a race.
                min_commit_interval=timedelta(seconds=60),
                writer_properties=_ZSTD,
                post_commithook_properties=_KEEP_LOG,
            )
            return Compaction(done["numFilesRemoved"], done["numFilesAdded"])

        try:
            return join()
        except CommitFailedError as error:
            raise _lost(name, "whole table") from error
        except DeltaError as error:
            raise PermanentFailure(f"the files of table {name} cannot be joined", which=str(error)[:300]) from error

    def checkpoint(self, name: str) -> bool:
        """Write a checkpoint of the newest version; whether there was none."""
        log = self.folder(name) / "_delta_log"
        if any(log.glob(f"{self.version(name):020d}.checkpoint*.parquet")):
            return False
        self._open(name).create_checkpoint()
        return True

    def keep_log(self, name: str) -> bool:
        """Make a table that older code created keep its log as new ones do; whether that took a commit."""
        table = self._open(name)
        if _PROPERTIES.items() <= table.metadata().configuration.items():
            return False
        try:
            table.alter.set_table_properties(_PROPERTIES, post_commithook_properties=_KEEP_LOG)
        except CommitFailedError as error:
            raise _lost(name, "its properties") from error
        return True

    def migrate(self, name: str) -> bool:
        """Rewrite a table of an older contract in the shape of ours, in one commit; whether that was due.

        Older versions stay as they are.

        Raises:
            PermanentFailure: its contract is newer than ours, or older without a migration.
            LostRace: someone else wrote to it meanwhile.
        """
        contract, version = _contract(name), self.version(name)
        if version is None or self.contract_version(name, version) == contract.version:
            return False
        checked = check(self.scan(name, version).collect(), contract)
        table = DeltaTable(str(self.folder(name)), version=version)
        # The contract version is a transaction of this very commit: no one sees new rows under the old number.
        number = Transaction(_CONTRACT_VERSION, contract.version)
        try:
            write_deltalake(
                table,
                checked.to_arrow().cast(contract.arrow_schema),
                mode="overwrite",
                schema_mode="overwrite",
                partition_by=list(contract.partition_by) or None,
                writer_properties=_ZSTD,
                commit_properties=CommitProperties(app_transactions=[number], max_commit_retries=0),
                post_commithook_properties=_KEEP_LOG,
            )
        except CommitFailedError as error:
            raise _lost(name, "whole table") from error
        return True

    def _snapshot(self, name: str, version: int | None = None) -> Snapshot | None:
        folder = self.folder(name)
        newest = newest_version(folder)
        if version is None and newest is None:
            return None
        wanted = newest if version is None else version
        if newest is None:
            raise NotFound(f"table {name} was never written, so it has no version", which=str(version))
        if not 0 <= wanted <= newest:
            raise NotFound(f"table {name} has no version", which=str(version), advice=f"Its newest is {newest}.")
        found = _read_snapshot(folder.resolve(), wanted, identity(folder, wanted))
        steps(CONTRACTS[name], found.contract_version)
        if wanted != newest and not found.is_whole():
            raise NotFound(
                f"table {name} no longer has version",
                which=str(version),
                advice="`lithouse maintain` removes versions that no survey was made from.",
            )
        return found

    def _open(self, name: str, version: int | None = None) -> DeltaTable:
        """The table as deltalake sees it, to be written; it exists and its contract is ours."""
        table = DeltaTable(str(self.folder(name)), version=version)
        held = _contract_version(table)
        if steps(CONTRACTS[name], held):
            raise PermanentFailure(
                f"table {name} follows contract version {held}, and rows of {CONTRACTS[name].version} cannot be added",
                which=name,
                advice="Run `lithouse maintain`, which migrates it.",
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
                post_commithook_properties=_KEEP_LOG,
            )
            return table.version()

        try:
            version = commit()
        except CommitFailedError as error:
            raise _lost(name, where or "whole table") from error
        return Commit(contract.name, version, len(checked), is_new=True)

    def _create(self, contract: Contract) -> None:
        folder = self.folder(contract.name)
        if newest_version(folder) is not None:
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
            configuration={_CONTRACT_VERSION: str(contract.version), **_PROPERTIES},
            raise_if_key_not_exists=False,
        )


def _with_held_comments(data: pa.Table, table: DeltaTable) -> pa.Table:
    """The data with no comment on columns that the table has: Delta refuses one that differs from the table's own.

    A description may so be put better without breaking the lakes there are; the columns that came later bring theirs.
    """
    held = {field.name for field in table.schema().fields}
    fields = [field.remove_metadata() if field.name in held else field for field in data.schema]
    return data.cast(pa.schema(fields))


@lru_cache(maxsize=512)
def _read_snapshot(folder: Path, version: int, _identity: tuple[int, ...] | None) -> Snapshot:
    """A version never changes, so it is opened once; the identity tells it from one of a table made anew."""
    try:
        table = DeltaTable(str(folder), version=version)
    except Exception as error:
        raise NotFound(f"table {folder.name} has no readable version", which=str(version)) from error
    # Delta escapes the table's folder as an address does, but gives names below it as they are on disk.
    root = table.table_uri.removeprefix("file://")
    schema = pa.schema(table.schema().to_arrow())
    return Snapshot(
        _contract_version(table),
        tuple(str(folder / uri.removeprefix(root)) for uri in table.file_uris()),
        int(table.count()),
        pl.from_arrow(schema.empty_table()).schema,
        tuple(table.metadata().partition_columns),
    )


def _contract_version(table: DeltaTable) -> int:
    created = int(table.metadata().configuration.get(_CONTRACT_VERSION, 1))
    return max(created, table.transaction_version(_CONTRACT_VERSION) or 0)


def _lost(name: str, part: str) -> LostRace:
    return LostRace(
        f"another writer kept winning the race for table {name}",
        which=part,
        advice="Nothing was lost; run the command again.",
    )


def _contract(name: str) -> Contract:
    if name not in CONTRACTS:
        raise NotFound("there is no table", which=name, advice=f"Tables: {', '.join(CONTRACTS)}.")
    return CONTRACTS[name]
