"""Content hashes of rows: what decides whether anything changed."""

import hashlib
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

import polars as pl

import ingestion


def row_hashes(frame: pl.DataFrame, columns: Sequence[str]) -> pl.Series:
    """128-bit hex hash of the named columns of each row, order of rows kept, nulls told from empty text."""
    encoded = frame.select(pl.struct(columns).struct.json_encode()).to_series()
    return pl.Series([text_hash(text) for text in encoded], dtype=pl.String)


def text_hash(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def set_hash(parts: Iterable[str]) -> str:
    """Hash of a set of texts: order and repetition do not matter."""
    digest = hashlib.blake2b(digest_size=16)
    for part in sorted(set(parts)):
        digest.update(part.encode())
        digest.update(b"\x1e")
    return digest.hexdigest()


@cache
def sources_hash(names: tuple[str, ...]) -> str:
    """Version of code: the hash of its sources, so that no one need remember to raise a number.

    Args:
        names: modules and folders of modules, relative to the folder that holds the packages.
    """
    root = Path(ingestion.__file__).parents[1]
    files = [f for name in names for f in (sorted((root / name).glob("*.py")) or [root / name])]
    return text_hash("".join(f.read_text(encoding="utf-8") for f in files))
