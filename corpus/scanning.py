"""A table version as a lazy frame: which files it is, and how files older than a column are read.

Belongs here: what needs no deltalake. Not here: finding the files (`corpus.tables`).
"""

import os
from dataclasses import dataclass

import polars as pl

from corpus.contracts.contract import Contract
from corpus.contracts.migrations import migrated, steps


@dataclass(frozen=True)
class Snapshot:
    """What a version holds, by its log.

    Attributes:
        contract_version: of the contract it was written under.
        files: Parquet files, as paths.
        schema: its own columns, fewer than the contract's where it is older.
        partition_by: its own partition columns.
    """

    contract_version: int
    files: tuple[str, ...]
    rows: int
    schema: pl.Schema
    partition_by: tuple[str, ...]

    def is_whole(self) -> bool:
        """Whether all its files are still there."""
        return all(map(os.path.exists, self.files))

    def scan(self, contract: Contract) -> pl.LazyFrame:
        """Its rows in the contract's columns; those of an older contract through the migrations between."""
        if not self.files:
            return pl.LazyFrame(schema=contract.polars_schema)
        if steps(contract, self.contract_version):
            return migrated(_scan(self.files, self.schema, self.partition_by), contract, self.contract_version)
        return _scan(self.files, contract.polars_schema, contract.partition_by)


def _scan(files: tuple[str, ...], schema: pl.Schema, partition_by: tuple[str, ...]) -> pl.LazyFrame:
    # Not scan_delta: it takes the escaped folder for a path. Files older than a column read it as null.
    return pl.scan_parquet(
        list(files),
        schema=schema,
        hive_schema={column: schema[column] for column in partition_by} or None,
        hive_partitioning=bool(partition_by),
        missing_columns="insert",
        extra_columns="ignore",
        cast_options=pl.ScanCastOptions(missing_struct_fields="insert", extra_struct_fields="ignore"),
        glob=False,
    ).select(list(schema))
