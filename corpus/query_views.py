"""The lake's tables as DuckDB sees them: views over Parquet files, typed by their contracts.

Belongs here: types, files older than a column, tables without files. Not here: the gate and the lock
(`corpus.query`).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

import duckdb
import pyarrow as pa

from corpus.contracts.contract import Contract
from corpus.contracts.registry import CONTRACTS

_SQL_TYPES = {
    pa.string(): "VARCHAR",
    pa.bool_(): "BOOLEAN",
    pa.int16(): "SMALLINT",
    pa.int32(): "INTEGER",
    pa.int64(): "BIGINT",
    pa.float64(): "DOUBLE",
    pa.date32(): "DATE",
    pa.timestamp("us", "UTC"): "TIMESTAMP WITH TIME ZONE",
}


@dataclass(frozen=True)
class Relation:
    """What a table's name stands for in one query.

    Attributes:
        files: Parquet files in the contract's shape or an older one of its version; () for none.
        rows: the rows themselves instead, where they had to be migrated.
        until: only editions finished by then, for `surveys`.
    """

    files: tuple[str, ...] = ()
    rows: pa.Table | None = None
    until: datetime | None = None


def register(connection: duckdb.DuckDBPyConnection, name: str, relation: Relation) -> None:
    """Make the table's name stand for the relation, in exactly the contract's columns and types."""
    if relation.rows is not None:
        connection.register(name, relation.rows)
    elif not relation.files:
        _empty_table(connection, name, CONTRACTS[name])
    else:
        _view(connection, name, relation)


def _view(connection: duckdb.DuckDBPyConnection, name: str, relation: Relation) -> None:
    contract = CONTRACTS[name]
    listed = ", ".join("'" + uri.replace("'", "''") + "'" for uri in relation.files)
    hive = ", ".join(
        f"'{column}': {_sql_type(contract.arrow_schema.field(column).type)}" for column in contract.partition_by
    )
    options = f", hive_partitioning = true, hive_types = {{{hive}}}" if hive else ", hive_partitioning = false"
    columns = ", ".join(f'"{column}"' for column in contract.polars_schema)
    files = f"read_parquet([{listed}], union_by_name = true{options})"
    until = relation.until and relation.until.astimezone(UTC).isoformat()
    where = f" WHERE created_at <= TIMESTAMPTZ '{until}'" if until else ""
    try:
        connection.execute(f"CREATE VIEW {name} AS SELECT {columns} FROM {files}{where}")  # noqa: S608 - names and files are ours
    except duckdb.BinderException:
        # All files are older than some column: an empty table of the contract's type supplies it.
        _empty_table(connection, f"_typed_{name}", contract)
        both = f"SELECT * FROM _typed_{name} UNION ALL BY NAME SELECT * FROM {files}"  # noqa: S608
        connection.execute(f"CREATE VIEW {name} AS SELECT {columns} FROM ({both}){where}")  # noqa: S608


def _empty_table(connection: duckdb.DuckDBPyConnection, name: str, contract: Contract) -> None:
    connection.execute(f"CREATE TABLE {name} ({_columns(contract.arrow_schema)})")


def _columns(fields: Iterable[pa.Field]) -> str:
    return ", ".join(f'"{field.name}" {_sql_type(field.type)}' for field in fields)


def _sql_type(kind: pa.DataType) -> str:
    if pa.types.is_list(kind):
        return f"{_sql_type(kind.value_type)}[]"
    if pa.types.is_struct(kind):
        return f"STRUCT({_columns(kind)})"
    return _SQL_TYPES[kind]
