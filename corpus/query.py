"""SQL over the lake: exactly one SELECT, behind it a DuckDB that can read nothing but the pinned files.

No DuckDB setting makes files read-only (COPY and EXPLAIN ANALYZE COPY overwrite even an allowed path), so a gate
looks at the parsed statement first; the locked connection is the second wall.
"""

import os
import re
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import duckdb
import pyarrow as pa

from corpus.contracts.registry import CONTRACTS
from corpus.query_views import Relation, register
from corpus.tables import Lake
from ingestion.errors import BadInput, PermanentFailure

# Table functions that take a table's name or a whole query as a value, and files of the lake named outright.
_OTHER_NAMES = re.compile(r"\bquery(?:_table)?\"?\s*\(|\.parquet", re.IGNORECASE)


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
    """A running query: a reader over Arrow batches, which raises `QueryFailed` if it cannot go on."""

    reader: pa.RecordBatchReader


@contextmanager
def open_query(
    lake: Lake,
    sql: str,
    *,
    as_of: Mapping[str, int] | None = None,
    until: datetime | None = None,
    limits: Limits | None = None,
) -> Iterator[LockedQuery]:
    """Run one SELECT over the tables and stream its result.

    Args:
        lake: the lake.
        sql: one statement of type SELECT (WITH … SELECT included; EXPLAIN is not).
        as_of: table → version; tables it does not name are read at their newest version, unless `until` is given.
        until: when the manifest `as_of` was written. Of tables it does not name, `surveys` shows the editions finished
            by then, and one that was made later is empty; any other is refused if the statement names it.
        limits: bounds.

    Raises:
        QueryRefused: anything but one SELECT; a table whose version of then is not known.
        NotFound: a version is no longer there.
        QueryFailed: DuckDB's own error, a forbidden file, or a limit, each with its message.
    """
    limits = limits or Limits()
    connection = duckdb.connect(":memory:")
    gate(sql, connection)
    temp = Path(tempfile.mkdtemp(prefix="lithouse-sql-"))
    done, late = threading.Event(), threading.Event()
    clock = threading.Thread(
        target=_interrupt, args=(connection, limits.seconds, done, late), name="lithouse-sql-clock", daemon=True
    )
    try:
        _lock(connection, lake, sql, as_of or {}, until, limits, temp)
        clock.start()
        try:
            reader = connection.sql(sql).to_arrow_reader(65_536)
        except duckdb.Error as error:
            raise _explained(error, limits, late.is_set()) from error
        batches = _batches(reader, lambda error: _explained(error, limits, late.is_set()))
        yield LockedQuery(pa.RecordBatchReader.from_batches(reader.schema, batches))
    finally:
        done.set()
        if clock.is_alive():
            clock.join()
        connection.close()
        shutil.rmtree(temp, ignore_errors=True)


def _batches(reader: pa.RecordBatchReader, explain: Callable[[Exception], QueryFailed]) -> Iterator[pa.RecordBatch]:
    """The batches; what DuckDB cannot go on with in mid-stream arrives as an error of Arrow's."""
    try:
        yield from reader
    except (duckdb.Error, pa.ArrowException, OSError) as error:
        raise explain(error) from error


def _interrupt(connection, seconds: float, done: threading.Event, late: threading.Event) -> None:
    """Interrupt whatever runs after the time is up, again and again: one interrupt between two steps is lost."""
    if done.wait(seconds):
        return
    late.set()
    while True:
        connection.interrupt()
        if done.wait(0.05):
            return


def query(
    lake: Lake,
    sql: str,
    *,
    as_of: Mapping[str, int] | None = None,
    until: datetime | None = None,
    limits: Limits | None = None,
) -> pa.Table:
    """The whole result of one SELECT as an Arrow table; see `open_query`."""
    with open_query(lake, sql, as_of=as_of, until=until, limits=limits) as running:
        return running.reader.read_all()


def gate(sql: str, parser: duckdb.DuckDBPyConnection | None = None) -> None:
    """Refuse everything but exactly one SELECT. The text is parsed, nothing of it is run.

    Raises:
        QueryRefused: with what was found instead.
    """
    try:
        sql.encode()
        statements = (parser or duckdb.connect(":memory:")).extract_statements(sql)
    except UnicodeEncodeError as error:
        raise QueryRefused("the SQL holds what is no character", which=f"position {error.start}") from None
    except duckdb.Error as error:
        raise QueryRefused("the SQL cannot be parsed", which=_one_line(error)) from error
    if not statements:
        raise QueryRefused(
            "there is no statement to run", advice='Give one SELECT, e.g. "SELECT count(*) FROM papers".'
        )
    if len(statements) > 1:
        raise QueryRefused("exactly one statement is run", which=f"{len(statements)} were given")
    try:
        kind = statements[0].type.name
    except ValueError:  # DuckDB's Python package does not know all of DuckDB's statements
        kind = "unknown"
    if kind != "SELECT":
        raise QueryRefused(
            "only SELECT is run: the lake is changed by refresh, import and survey alone", which=f"{kind} statement"
        )


def _lock(
    connection: duckdb.DuckDBPyConnection,
    lake: Lake,
    sql: str,
    as_of: Mapping[str, int],
    until: datetime | None,
    limits: Limits,
    temp: Path,
) -> None:
    for name in as_of:
        if name not in CONTRACTS:
            raise BadInput("a manifest names a table that does not exist", which=name)
    # Opening hundreds of files takes long: those of tables that the statement does not name are left alone.
    named = _named_tables(connection, sql)
    relations = {name: _relation(lake, name, as_of, until) if name in named else Relation() for name in CONTRACTS}
    connection.execute(f"SET memory_limit = '{limits.memory}'")
    connection.execute(f"SET threads = {limits.threads}")
    connection.execute("SET temp_directory = ?", [str(temp)])
    connection.execute(f"SET max_temp_directory_size = '{limits.temp}'")
    connection.execute("SET autoinstall_known_extensions = false")
    connection.execute("SET autoload_known_extensions = false")
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute("SET enable_progress_bar = false")  # it is drawn on standard output
    connection.execute("SET python_enable_replacements = false")  # our own variables are no tables
    connection.execute("SET parquet_metadata_cache = true")  # a version's files never change
    connection.execute("SET allowed_paths = ?", [[uri for found in relations.values() for uri in found.files]])
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    for name, relation in relations.items():
        register(connection, name, relation)


def _named_tables(connection: duckdb.DuckDBPyConnection, sql: str) -> set[str]:
    """Tables that the statement may read; all of them where it may read one without naming it as such."""
    if _OTHER_NAMES.search(sql):
        return set(CONTRACTS)
    try:
        return {name.lower() for name in connection.get_table_names(sql)} & set(CONTRACTS)
    except duckdb.Error:  # it will be refused when it is bound, with DuckDB's reason
        return set(CONTRACTS)


def _relation(lake: Lake, name: str, as_of: Mapping[str, int], until: datetime | None) -> Relation:
    """What the table's name stands for; see `open_query`."""
    contract, version = CONTRACTS[name], as_of.get(name)
    if version is None and until is not None and name != "surveys":
        created = lake.created_at(name)
        if created is None or created > until:
            return Relation()
        raise QueryRefused(
            f"the edition's manifest does not name table {name}, so what it held then is not known",
            which=f"{until:%Y-%m-%d %H:%M} UTC",
            advice=f"Tables it names: {', '.join(sorted(as_of))}. Leave out --as-of to read the newest.",
        )
    if lake.contract_version(name, version) != contract.version:
        return Relation(rows=lake.scan(name, version).collect().to_arrow().cast(contract.arrow_schema))
    return Relation(tuple(lake.file_uris(name, version)), until=until if name == "surveys" else None)


def _explained(error: Exception, limits: Limits, is_late: bool) -> QueryFailed:
    """DuckDB's error in our words; its kind is told by its first words, since Arrow drops its type."""
    text = _one_line(error)
    if is_late or "INTERRUPT" in text[:20]:
        return QueryFailed(f"the query ran longer than {limits.seconds:g} seconds and was stopped", advice="Narrow it.")
    if text.startswith("Permission Error"):
        return QueryFailed("SQL may read the lake's tables and nothing else", which=text)
    if text.startswith("Catalog Error") and "does not exist" in text:
        return QueryFailed("the query names what the lake does not have", which=text, advice="See `lithouse tables`.")
    if text.startswith("Out of Memory Error"):
        return QueryFailed(
            f"the query needs more than {limits.memory} of memory and {limits.temp} on disk", advice="Narrow it."
        )
    return QueryFailed("the query could not be run", which=text)


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
