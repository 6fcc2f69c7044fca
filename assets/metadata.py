"""Metadata for Dagster's pages, and errors in its words."""

import functools

import dagster as dg

from corpus.contracts.registry import CONTRACTS
from ingestion.errors import LithouseError


def columns(table: str) -> dict[str, dg.MetadataValue]:
    """Column schema of a table, from its contract."""
    return {
        "dagster/column_schema": dg.TableSchema(
            columns=[
                dg.TableColumn(name, kind, description, dg.TableColumnConstraints(nullable=nullable))
                for name, kind, nullable, _, description in CONTRACTS[table].rows()
            ]
        ),
        "dagster/table_name": table,
    }


def failing_clearly(body):
    """Turn our errors into Dagster failures: the message as description, and a retry only where one can help."""

    @functools.wraps(body)
    def wrapped(*args, **kwargs):
        try:
            return body(*args, **kwargs)
        except LithouseError as error:
            metadata = {"what": error.what, "which": error.which, "advice": error.advice, "kind": type(error).__name__}
            raise dg.Failure(error.message, metadata=metadata, allow_retries=error.is_retryable) from error

    return wrapped
