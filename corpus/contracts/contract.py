"""What a contract is: a schema, its place in the lake, and the types derived from it.

Belongs here: the `Contract` value and what every contract needs (Arrow schema, column list). Not here: the
tables themselves (`sources`, `papers`, `topics`, `surveys`) and writing (`corpus.tables`).
"""

from dataclasses import dataclass
from functools import cached_property

import dataframely as dy
import polars as pl
import pyarrow as pa

UTC = {"time_zone": "UTC", "time_unit": "us"}


@dataclass(frozen=True)
class Contract:
    """One table of the lake.

    Attributes:
        name: the table's name, in SQL and on disk.
        schema: dataframely schema: columns, types, nullability, keys, descriptions.
        summary: one row per what.
        partition_by: partition columns, () for none.
        version: contract version; additive changes keep it, others need a migration.
    """

    name: str
    schema: type[dy.Schema]
    summary: str
    partition_by: tuple[str, ...] = ()
    version: int = 1

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """Columns that name a row; never empty."""
        return tuple(self.schema.primary_key())

    @cached_property
    def polars_schema(self) -> pl.Schema:
        return self.schema.create_empty().schema

    @cached_property
    def arrow_schema(self) -> pa.Schema:
        """Arrow schema with nullability and comments, which survive in Delta."""
        plain = self.schema.create_empty().to_arrow().schema
        columns = self.schema.columns()
        return pa.schema(
            [
                pa.field(
                    field.name,
                    _small(field.type),
                    nullable=columns[field.name].nullable,
                    metadata={"comment": columns[field.name].description or ""},
                )
                for field in plain
            ]
        )

    def rows(self) -> list[tuple[str, str, bool, str, str]]:
        """(column, type, nullable, unit, description) of each column, for dictionaries and metadata."""
        columns = self.schema.columns()
        return [
            (
                name,
                str(self.arrow_schema.field(name).type),
                columns[name].nullable,
                (columns[name].metadata or {}).get("unit", ""),
                columns[name].description or "",
            )
            for name in columns
        ]


def _small(kind: pa.DataType) -> pa.DataType:
    """Delta knows one string and one list type; polars exports the large ones."""
    if pa.types.is_large_string(kind):
        return pa.string()
    if pa.types.is_large_list(kind):
        return pa.list_(_small(kind.value_type))
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(f.name, _small(f.type), f.nullable) for f in kind])
    return kind
