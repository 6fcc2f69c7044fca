"""SQL over the lake: exactly one SELECT, behind it a DuckDB that can read nothing but the pinned files.

No DuckDB setting makes files read-only (COPY and EXPLAIN ANALYZE COPY overwrite even an allowed path), so a gate
looks at the parsed statement first; the locked connection is the second wall.
"""

import os
import shutil
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pyarrow as pa

from corpus.contracts.registry import CONTRACTS
from corpus.tables import Lake
from ingestion.errors import BadInput, PermanentFailure


class QueryRefused(BadInput):
    """The text is not exactly one SELECT."""


class QueryFailed(PermanentFailure):
    """DuckDB could not run the query, or a limit was reached."""


@dataclass(frozen=True)
class Limits:
    """Bounds of one query.

    Attributes:
        memory: DuckDB memory limit.
        threads: worker threads.
        seconds: wall time after which the query is interrupted.
        temp: how much it may spill to its private temp directory.
    """

    memory: str = "4GB"
    threads: int = os.cpu_count() or 1
    seconds: float = 300.0
    temp: str = "20GB"


@dataclass(frozen=True)
class LockedQuery:
    """A running query: a reader over Arrow batches, and its column names."""

    reader: pa.RecordBatchReader


@contextmanager
def open_query(
    lake: Lake, sql: str, *, as_of: Mapping[str, int] | None = None, limits: Limits | None = None
) -> Iterator[LockedQuery]:
    """Run one SELECT over the tables and stream its result.

    Args:
        lake: the lake.
        sql: one statement of type SELECT (WITH … SELECT included; EXPLAIN is not).
        as_of: table → version; tables it does not name are read at their newest version.
        limits: bounds.

    Raises:
        QueryRefused: anything but one SELECT.
        QueryFailed: DuckDB's own error, a forbidden file, or a limit, each with its message.
    """
    limits = limits or Limits()
    gate(sql)
    temp = Path(tempfile.mkdtemp(prefix="lithouse-sql-"))
    connection = duckdb.connect(":memory:")
    timer = threading.Timer(limits.seconds, connection.interrupt)
    try:
        _lock(connection, lake, as_of or {}, limits, temp)
        timer.start()
        try:
            yield LockedQuery(connection.sql(sql).to_arrow_reader(65_536))
        except duckdb.InterruptException as error:
            raise QueryFailed(
                f"the query ran longer than {limits.seconds:g} seconds and was stopped", advice="Narrow it."
            ) from error
        except duckdb.Error as error:
            raise _explained(error) from error
    finally:
        timer.cancel()
        connection.close()
        shutil.rmtree(temp, ignore_errors=True)


def query(lake: Lake, sql: str, *, as_of: Mapping[str, int] | None = None, limits: Limits | None = None) -> pa.Table:
    """The whole result of one SELECT as an Arrow table; see `open_query`."""
    with open_query(lake, sql, as_of=as_of, limits=limits) as running:
        return running.reader.read_all()


def gate(sql: str) -> None:
    """Refuse everything but exactly one SELECT.

    Raises:
        QueryRefused: with what was found instead.
    """
    try:
        with duckdb.connect(":memory:") as parser:
            statements = parser.extract_statements(sql)
    except duckdb.Error as error:
        raise QueryRefused("the SQL cannot be parsed", which=_one_line(error)) from error
    if not statements:
        raise QueryRefused(
            "there is no statement to run", advice='Give one SELECT, e.g. "SELECT count(*) FROM papers".'
        )
    if len(statements) > 1:
        raise QueryRefused("exactly one statement is run", which=f"{len(statements)} were given")
    kind = statements[0].type
    if kind != duckdb.StatementType.SELECT:
        raise QueryRefused(
            "only SELECT is run: the lake is changed by refresh, import and survey alone",
            which=f"{kind.name} statement",
        )


def _lock(connection, lake: Lake, as_of: Mapping[str, int], limits: Limits, temp: Path) -> None:
    for name in as_of:
        if name not in CONTRACTS:
            raise BadInput("a manifest names a table that does not exist", which=name)
    files = {name: lake.file_uris(name, as_of.get(name)) for name in CONTRACTS}
    connection.execute(f"SET memory_limit = '{limits.memory}'")
    connection.execute(f"SET threads = {limits.threads}")
    connection.execute("SET temp_directory = ?", [str(temp)])
    connection.execute(f"SET max_temp_directory_size = '{limits.temp}'")
    connection.execute("SET autoinstall_known_extensions = false")
    connection.execute("SET autoload_known_extensions = false")
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute("SET allowed_paths = ?", [[uri for uris in files.values() for uri in uris]])
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    for name, uris in files.items():
        _view(connection, name, uris)


def _view(connection, name: str, uris: list[str]) -> None:
    """A view typed by the contract; a table without files is an empty one of the same type."""
    contract = CONTRACTS[name]
    if not uris:
        empty = contract.arrow_schema.empty_table()
        connection.register("_empty", empty)
        connection.execute(f"CREATE TABLE {name} AS SELECT * FROM _empty")
        connection.unregister("_empty")
        return
    listed = ", ".join("'" + uri.replace("'", "''") + "'" for uri in uris)
    hive = ", ".join(
        f"'{column}': {'DATE' if pa.types.is_date(contract.arrow_schema.field(column).type) else 'VARCHAR'}"
        for column in contract.partition_by
    )
    options = f", hive_partitioning = true, hive_types = {{{hive}}}" if hive else ", hive_partitioning = false"
    columns = ", ".join(f'"{column}"' for column in contract.polars_schema)
    connection.execute(
        f"CREATE VIEW {name} AS SELECT {columns} FROM read_parquet([{listed}], union_by_name = true{options})"  # noqa: S608
    )


def _explained(error: duckdb.Error) -> QueryFailed:
    text = _one_line(error)
    if isinstance(error, duckdb.PermissionException):
        return QueryFailed("SQL may read the lake's tables and nothing else", which=text)
    if isinstance(error, duckdb.CatalogException) and "does not exist" in text:
        return QueryFailed("the query names what the lake does not have", which=text, advice="See `lithouse tables`.")
    return QueryFailed("the query could not be run", which=text)


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
