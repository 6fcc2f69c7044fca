"""Migrations: how rows of an older contract become rows of the newer one.

A contract that only gains nullable columns, struct fields or tables keeps its version: old files are read with nulls.
Anything else (a column renamed, retyped, split) raises `Contract.version` and needs an entry here, a pure function of
the table in its old shape. Older versions are read through it at once; `lithouse maintain` rewrites the newest one
(ADR 9). Not here: the rewriting (`corpus.tables`).
"""

from collections.abc import Callable

import polars as pl

from corpus.contracts.contract import Contract
from ingestion.errors import PermanentFailure

Migration = Callable[[pl.LazyFrame], pl.LazyFrame]

MIGRATIONS: dict[tuple[str, int], Migration] = {}
"""(table, contract version it leads from) → rows of the next version. No contract has been raised so far."""


def steps(contract: Contract, held: int) -> tuple[Migration, ...]:
    """The migrations that lead from the held contract version to the one this Lithouse knows; () for none needed.

    Raises:
        PermanentFailure: the table is newer than this Lithouse, or a migration is missing.
    """
    wanted = range(held, contract.version)
    missing = [version for version in wanted if (contract.name, version) not in MIGRATIONS]
    if held > contract.version or missing:
        advice = (
            "Use the Lithouse that wrote it, or a newer one."
            if held > contract.version
            else "Use the Lithouse that wrote it, or refresh into a new LITHOUSE_HOME."
        )
        raise PermanentFailure(
            f"table {contract.name} follows contract version {held}, this Lithouse knows version {contract.version}"
            + (" and no migration between them" if missing else ""),
            which=contract.name,
            advice=advice,
        )
    return tuple(MIGRATIONS[contract.name, version] for version in wanted)


def migrated(frame: pl.LazyFrame, contract: Contract, held: int) -> pl.LazyFrame:
    """Rows of a table in its old shape as rows of its contract; nullable columns that no step gives are null."""
    for step in steps(contract, held):
        frame = step(frame)
    schema, columns = contract.polars_schema, contract.schema.columns()
    found = frame.collect_schema().names()
    absent = [name for name in schema if name not in found]
    if needed := [name for name in absent if not columns[name].nullable]:
        raise PermanentFailure(f"the migration of table {contract.name} gives no column", which=", ".join(needed))
    return frame.with_columns(pl.lit(None, dtype=schema[name]).alias(name) for name in absent).select(list(schema))
