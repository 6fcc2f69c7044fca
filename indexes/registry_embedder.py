"""Embedders of LanceDB's embedding registry, by name: `openai:text-embedding-3-small`, `ollama:nomic-embed-text`.

Keys and addresses are read from the environment by the provider's own library and stored nowhere. The packaged model
is in `embedding`; which embedder a table has is in `lance_embedding`.
"""

import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import numpy as np
import stamina
from lancedb.embeddings import TextEmbeddingFunction, get_registry

import corpus.races  # noqa: F401 -- its hook keeps stamina from printing errors, which may show the key
from indexes.embedding import Embedder, EmbedderIdentity, TextEmbedder, TextRefused
from indexes.lance_embedding import MINILM, RegisteredEmbedder
from ingestion.errors import BadInput, NotFound, PermanentFailure, TransientFailure

ATTEMPTS = 6
_LONGEST_WAIT = 60.0  # seconds, whatever a server asks for
_BATCH = 64
_TRANSIENT = {408, 409, 425, 429, 500, 502, 503, 504, 529}
_UNREACHABLE = ("ConnectionError", "ConnectError", "TimeoutError", "TimeoutException", "TransportError")
_HOSTS = {"ollama": ("host", "OLLAMA_HOST")}
"""Provider → the argument and the environment variable of its address, where its library does not read it itself."""


class RegistryEmbedder:
    """A model behind an entry of LanceDB's registry.

    Args:
        name: `PROVIDER:MODEL`.
        dimensions: of its vectors, where a table knows them; else one text is embedded to find out.

    Raises:
        BadInput: the registry has no such text embedder.
    """

    def __init__(self, name: str, dimensions: int | None = None) -> None:
        self.name, self._dimensions = name, dimensions
        self._provider, _, self._model = name.partition(":")
        self._entry = _entry(self._provider, self._model)

    @cached_property
    def identity(self) -> EmbedderIdentity:
        """Name and dimensions; there is no file to hash, and where texts are cut is the provider's affair."""
        return EmbedderIdentity(self.name, "", 0, self._dimensions or self._ask(["dimensions"]).shape[1])

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """float32 (len(texts), dimensions), rows of length 1. Transient failures are tried again, `ATTEMPTS` in all.

        Raises:
            TextRefused: the provider refuses a text, or answers with a row of zeros.
            TransientFailure: it cannot be reached, or goes on asking to wait.
            PermanentFailure: it refuses the key, the model or the request.
            NotFound: the provider's package or its key is not there.
        """
        parts = [self._ask(texts[start : start + _BATCH]) for start in range(0, len(texts), _BATCH)]
        return np.concatenate(parts) if parts else np.empty((0, self.identity.dimensions), np.float32)

    def _ask(self, texts: Sequence[str]) -> np.ndarray:
        attempts = stamina.retry_context(on=_wait, attempts=ATTEMPTS, timeout=None, wait_initial=1, wait_max=20)
        try:
            for attempt in attempts:
                with attempt, _quiet():
                    rows = self._function.generate_embeddings(list(texts))
        except Exception as error:  # of any provider's library
            raise self._explained(error) from None  # its text may show the key
        if any(row is None for row in rows):
            raise TextRefused("the embedder refused the text")
        vectors = np.asarray(rows, dtype=np.float32)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.all(lengths > 0):
            raise TextRefused("the embedder's answer has length 0")
        return vectors / lengths

    @cached_property
    def _function(self) -> Any:
        options = {"name": self._model, "max_retries": 0}
        argument, variable = _HOSTS.get(self._provider, ("", ""))
        if address := os.environ.get(variable):
            options[argument] = address
        try:
            function = self._entry.create(**options)
            if hasattr(type(function), "_openai_client"):
                function._openai_client.max_retries = 0  # its two would multiply ours
        except ImportError as error:
            raise NotFound(
                "the embedder's package is not installed",
                which=f"{self.name}: {error.name or self._provider}",
                advice=f"Install it, e.g. `pip install {self._provider}`.",
            ) from None
        except Exception as error:  # of any provider's library
            raise NotFound(
                "the embedder cannot be used",
                which=f"{self.name}: {type(error).__name__}",
                advice="Set the key and, where it is not the provider's own, the address in the environment, "
                f"e.g. {self._provider.upper()}_API_KEY and {self._provider.upper()}_BASE_URL.",
            ) from None
        return function

    def _explained(self, error: Exception) -> Exception:
        if isinstance(error, NotFound | TextRefused):
            return error
        status = _status(error)
        which = f"{self.name}: {type(error).__name__}" + (f", HTTP {status}" if status else "")
        if _is_transient(error):
            return TransientFailure(
                f"the embedder did not answer in {ATTEMPTS} attempts", which=which, advice="Try again later."
            )
        return PermanentFailure(
            "the embedder refused the request",
            which=which,
            advice="Check the model's name, and key and address in the environment.",
        )


def embedder_named(name: str) -> TextEmbedder:
    """The packaged model for `minilm-int8`, else `PROVIDER:MODEL` of LanceDB's registry.

    Raises:
        BadInput: there is no such embedder.
    """
    return Embedder() if name == MINILM else RegistryEmbedder(name)


def embedder_of(identity: EmbedderIdentity | None) -> TextEmbedder:
    """The embedder that a table's vectors were made by; the packaged one where there are none or it is unknown here."""
    if identity is not None and identity.name == MINILM:
        return Embedder(max_tokens=identity.max_tokens)
    if identity is not None and ":" in identity.name:
        return RegistryEmbedder(identity.name, identity.dimensions)
    return Embedder()


def _entry(provider: str, model: str) -> type[TextEmbeddingFunction]:
    registry = get_registry()
    entry = registry._functions.get(provider)  # `get` imports nothing else, but raises for names it does not know
    if (
        not model
        or entry is None
        or not issubclass(entry, TextEmbeddingFunction)
        or issubclass(entry, RegisteredEmbedder)
    ):
        known = sorted(
            name
            for name, function in registry._functions.items()
            if issubclass(function, TextEmbeddingFunction) and not issubclass(function, RegisteredEmbedder)
        )
        raise BadInput(
            "there is no such embedder",
            which=f"{provider}:{model}" if model else provider,
            advice=f"Give {MINILM}, or PROVIDER:MODEL with one of {', '.join(known)}.",
        )
    return entry


def _status(error: Exception) -> int | None:
    status = getattr(error, "status_code", None)
    return status if isinstance(status, int) else None


def _is_transient(error: Exception) -> bool:
    if (status := _status(error)) is not None:
        return status in _TRANSIENT
    return any(kind.__name__.endswith(_UNREACHABLE) for kind in type(error).__mro__)


def _wait(error: Exception) -> bool | float:
    """Whether to try again; seconds, where the server says how long to wait."""
    if not _is_transient(error):
        return False
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    try:
        asked = float(headers.get("retry-after", ""))
    except ValueError:
        return True
    return min(asked, _LONGEST_WAIT) if asked > 0 else True


@contextmanager
def _quiet() -> Iterator[None]:
    """LanceDB's entries log failures, with the texts, through the root logger."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)
