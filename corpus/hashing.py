"""Content hashes of rows: what decides whether anything changed."""

import hashlib
from collections.abc import Iterable, Sequence

import polars as pl


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
