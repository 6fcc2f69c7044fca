"""`ingestion.comparison.title_key` over whole columns.

Here: the same normal form as a polars expression, for tables too large to walk row by row. Not here: matching.
"""

import polars as pl

# Lower case leaves these where Python's case folding does not, and Unicode does not decompose the rest.
_FOLDED = {
    "ß": "ss", "ſ": "s", "ς": "σ", "ø": "o", "đ": "d", "ð": "d", "ł": "l", "ı": "i", "ħ": "h", "æ": "ae", "œ": "oe",
    "þ": "th", "ŋ": "ng",
}  # fmt: skip


def title_key(title: pl.Expr) -> pl.Expr:
    """Letters and digits only, without case and accents, as `ingestion.comparison.title_key`; null stays null.

    The two differ only where case folding is not lower case: Cherokee, and the few compatibility characters that fold
    into several, such as "ŉ".
    """
    lower = title.str.to_lowercase().str.normalize("NFKD").str.replace_many(list(_FOLDED), list(_FOLDED.values()))
    return lower.str.replace_all(r"[^\p{L}\p{N}\p{M}]|[\u0300-\u036f]", "")
