"""Metadata for Dagster's pages, and errors in its words."""

import functools
import inspect
from collections.abc import Mapping

import dagster as dg
import polars as pl

from corpus.contracts.registry import CONTRACTS
from corpus.hashing import set_hash
from corpus.tables import Lake
from ingestion.errors import LithouseError

_FACTS = ("what", "which", "advice")


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


def outlines_version(lake: Lake) -> dg.DataVersion:
    """Content of all human outlines. Without it, every refresh would make the outline of every survey stale."""
    rows = lake.scan("human_outlines").select(pl.concat_str("outline_id", "content_hash", separator=" ")).unique()
    return dg.DataVersion(set_hash(rows.collect().to_series()))


def failing_clearly(body):
    """Turn our errors into Dagster failures: the message as description, and a retry only where one can help."""

    @functools.wraps(body)
    def wrapped(*args, **kwargs):
        try:
            return body(*args, **kwargs)
        except LithouseError as error:
            metadata = {name: getattr(error, name) for name in _FACTS} | {"kind": type(error).__name__}
            raise dg.Failure(error.message, metadata=metadata, allow_retries=error.is_retryable) from error

    return wrapped


def error_behind(metadata: Mapping[str, dg.MetadataValue]) -> LithouseError | None:
    """The error that `failing_clearly` turned into a failure of this metadata; None for a failure that is not ours."""
    facts = {name: value.value for name, value in metadata.items()}
    kind = _kinds(LithouseError).get(facts.get("kind", ""))
    if kind is None:
        return None
    return kind(facts["what"], which=facts["which"], advice=facts["advice"])


def _kinds(base: type[LithouseError]) -> dict[str, type[LithouseError]]:
    """The tree of errors by name. A kind that needs more than what, which and advice goes by its base: it could not be
    made again."""
    told = {base.__name__: base}
    for kind in base.__subclasses__():
        told |= {name: found if _can_be_made(found) else base for name, found in _kinds(kind).items()}
    return told


def _can_be_made(kind: type[LithouseError]) -> bool:
    parameters = inspect.signature(kind).parameters.values()
    return all(p.name in _FACTS or p.default is not p.empty for p in parameters)
