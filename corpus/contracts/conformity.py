"""Whether a frame fits its contract: what may be brought into shape, and what is refused.

Belongs here: `check`, which every write goes through. Not here: the contracts themselves and the writing.
"""

import dataframely as dy
import polars as pl

from corpus.contracts.contract import Contract
from ingestion.errors import PermanentFailure

_SLICE = 500_000
"""Rows checked at once."""


class ContractBreach(PermanentFailure):
    """A frame does not fit the contract of the table it was meant for. Nothing was written."""


def check(frame: pl.DataFrame, contract: Contract) -> pl.DataFrame:
    """The frame in the contract's column order, one row per key, or a refusal.

    Missing nullable columns become nulls; identical rows collapse to one. dataframely would drop extra columns
    and read naive times as UTC in silence, so types and names are compared here first.

    Raises:
        ContractBreach: names table, column or rule, and the first culprits.
    """
    expected, columns = contract.polars_schema, contract.schema.columns()

    def refuse(what: str, which: str) -> ContractBreach:
        return ContractBreach(
            f"{what} in a frame for table {contract.name}", which=which, advice="Nothing was written."
        )

    if extra := [c for c in frame.columns if c not in expected]:
        raise refuse("columns the contract does not know", ", ".join(extra))
    absent = [c for c in expected if c not in frame.columns]
    if needed := [c for c in absent if not columns[c].nullable]:
        raise refuse("missing columns", ", ".join(needed))
    frame = frame.with_columns(pl.lit(None, dtype=expected[c]).alias(c) for c in absent).select(list(expected))
    wrong = [f"{c} is {t}, not {expected[c]}" for c, t in frame.schema.items() if not _fits(t, expected[c])]
    if wrong:
        raise refuse("wrong types", "; ".join(wrong))
    frame = frame.cast(dict(expected))
    has_unique_keys = _has_unique_keys(frame, contract)
    if not has_unique_keys:
        frame = frame.unique(maintain_order=True)  # rows that share a key and differ are for the contract to refuse
    for column in contract.partition_by:
        # Delta stores an empty text in a partition column as null.
        if expected[column] == pl.String and (frame[column] == "").any():
            raise refuse("an empty value in a partition column", column)
    try:
        # With unique keys every rule is of single rows; all rows at once would take several times their own memory.
        for part in frame.iter_slices(_SLICE) if has_unique_keys else (frame,):
            contract.schema.validate(part)
    except dy.exc.ValidationError as error:
        raise refuse("broken rules", " ".join(str(error).split())[:600]) from error
    return frame


def _fits(found: pl.DataType, expected: pl.DataType) -> bool:
    """Equal, or without a type of its own: columns and lists that hold only nulls take the declared one."""
    if isinstance(found, pl.Null) or found == expected:
        return True
    if isinstance(found, pl.List) and isinstance(expected, pl.List):
        return _fits(found.inner, expected.inner)
    if isinstance(found, pl.Struct) and isinstance(expected, pl.Struct):
        names = [f.name for f in found.fields] == [f.name for f in expected.fields]
        return names and all(_fits(f.dtype, e.dtype) for f, e in zip(found.fields, expected.fields, strict=True))
    return False


def _has_unique_keys(frame: pl.DataFrame, contract: Contract) -> bool:
    """Whether no two rows share a key, surely; equal hashes of different keys are looked at again."""
    if frame.select(contract.keys).hash_rows().n_unique() == len(frame):
        return True
    return not frame.select(pl.struct(contract.keys).is_duplicated().any()).item()
