"""Which rows a write replaces: column → value or values, as a predicate for Delta and as an expression for frames.

Belongs here: literals and their quoting, so that no value can become SQL. Not here: writing (`corpus.tables`).
"""

from collections.abc import Collection, Mapping
from datetime import date

import polars as pl

from ingestion.errors import BadInput


def predicate(where: Mapping[str, object | Collection[object]]) -> str:
    """A SQL predicate for Delta from column → value or values; every value is a quoted literal.

    Raises:
        BadInput: it would select nothing, or everything; or holds what cannot be a literal.
    """
    if not where:
        raise BadInput("a part to replace needs at least one column", advice="Give None for the whole table.")
    parts = []
    for column, value in where.items():
        if not column.isidentifier():
            raise BadInput("not a column name", which=column)
        if _is_many(value):
            if not value:
                raise BadInput("a part to replace needs at least one value", which=column)
            parts.append(f"{column} IN ({', '.join(_literal(v) for v in value)})")
        else:
            parts.append(f"{column} = {_literal(value)}")
    return " AND ".join(parts)


def matches(where: Mapping[str, object | Collection[object]]) -> pl.Expr:
    """Whether a row lies in the part that `predicate` of the same mapping selects."""
    return pl.all_horizontal(_equals(column, value) for column, value in where.items()).fill_null(False)


def _equals(column: str, value: object | Collection[object]) -> pl.Expr:
    if _is_many(value):
        return pl.col(column).is_in(list(value))
    return pl.col(column) == value


def _literal(value: object) -> str:
    if isinstance(value, bool | int):
        return str(value).lower()
    if isinstance(value, date):
        return f"'{value.isoformat()}'"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    raise BadInput("a predicate takes text, dates, numbers and booleans", which=repr(value))


def _is_many(value: object) -> bool:
    return isinstance(value, Collection) and not isinstance(value, str | bytes)
