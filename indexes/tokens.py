"""WordPiece tokens of the uncased BERT vocabulary, from the native library in the blingfire package.

What a model does with the tokens is not known here.
"""

import importlib
import platform
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from ingestion.errors import NotFound

FIRST, LAST, UNKNOWN = 101, 102, 100
"""[CLS], [SEP] and [UNK] of the vocabulary."""

Tokenize = Callable[[str, int], list[int]]
"""Text and the largest number of ids → ids, the first and last mark included."""


def _blingfire() -> ModuleType:
    return importlib.import_module("blingfire")


def load_tokenizer(library: Callable[[], ModuleType] = _blingfire) -> Tokenize:
    """The tokenizer. Its ids equal those of the reference implementation, also where it cuts.

    Args:
        library: gives the blingfire module; a seam for tests of platforms where that fails.

    Raises:
        NotFound: the package is missing or its native library does not load on this platform.
    """
    try:
        blingfire: Any = library()
        vocabulary = Path(blingfire.__file__).with_name("bert_base_tok.bin")
        model = blingfire.load_model(str(vocabulary)) if vocabulary.is_file() else None
    except (ImportError, OSError, AttributeError) as error:
        raise _no_library(repr(error)) from error
    if not model:
        raise _no_library("its bert_base_tok.bin is missing or cannot be read")

    def tokenize(text: str, limit: int) -> list[int]:
        # A lone surrogate cannot be encoded, and the library answers -1 (and zeros) for broken UTF-8.
        clean = text.encode(errors="replace").decode()
        ids = blingfire.text_to_ids(model, clean, limit - 2, UNKNOWN, True) if clean else []
        return [FIRST, *map(int, ids), LAST]

    return tokenize


def _no_library(reason: str) -> NotFound:
    return NotFound(
        "the tokenizer's native library (package blingfire) does not load on this platform",
        which=f"{platform.system()} {platform.machine()}, Python {platform.python_version()}: {reason}",
        advice="Full text search works without it. For vectors: reinstall blingfire, run Lithouse on x86-64 "
        "Linux, macOS or Windows (or in such a container), or pass another embedder to PaperIndex.open.",
    )
