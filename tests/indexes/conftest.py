"""What the tests of the index share: papers, a cheap embedder with a history, an index in a folder."""

import zlib
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from indexes.embedding import EmbedderIdentity
from indexes.paper_index import PaperIndex

SIZE = 32


class FakeEmbedder:
    """Words hashed into 32 dimensions. Keeps what it was asked; fails, answers NaN or stops as told."""

    def __init__(self, name: str = "fake", *, sha256: str = "f" * 64, max_tokens: int = 128, size: int = SIZE) -> None:
        self.identity = EmbedderIdentity(name, sha256, max_tokens, size)
        self.history: list[list[str]] = []
        self.nan_for = ""
        self.error_for = ""
        self.stop_after: int | None = None

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        if self.stop_after is not None and len(self.history) >= self.stop_after:
            raise KeyboardInterrupt
        self.history.append(list(texts))
        if self.error_for and any(self.error_for in text for text in texts):
            raise RuntimeError("json: unsupported value: NaN")
        vectors = np.zeros((len(texts), self.identity.dimensions), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in text.lower().split():
                vectors[row, zlib.crc32(word.encode()) % self.identity.dimensions] += 1
            if self.nan_for and self.nan_for in text:
                vectors[row, 0] = np.nan
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    @property
    def asked(self) -> list[str]:
        return [text for texts in self.history for text in texts]


def papers_frame(
    papers: Sequence[tuple[str, str, str | None]],
    *,
    day: date | Sequence[date] = date(2024, 1, 1),
    withdrawn: Sequence[str] = (),
) -> pl.DataFrame:
    """Papers (id, title, abstract) as the corpus gives them to the index; the hash covers title and abstract."""
    days = [day] * len(papers) if isinstance(day, date) else list(day)
    return pl.DataFrame(
        {
            "paper_id": [paper[0] for paper in papers],
            "title": [paper[1] for paper in papers],
            "abstract": [paper[2] for paper in papers],
            "submitted_latest": days,
            "is_withdrawn": [paper[0] in withdrawn for paper in papers],
            "content_hash": [f"{zlib.crc32(repr(paper[1:]).encode()):08x}" for paper in papers],
        },
        schema={
            "paper_id": pl.String,
            "title": pl.String,
            "abstract": pl.String,
            "submitted_latest": pl.Date,
            "is_withdrawn": pl.Boolean,
            "content_hash": pl.String,
        },
    )


@pytest.fixture
def fake() -> FakeEmbedder:
    return FakeEmbedder()


@pytest.fixture
def make_fake() -> type[FakeEmbedder]:
    return FakeEmbedder


@pytest.fixture
def frame() -> Callable[..., pl.DataFrame]:
    return papers_frame


@pytest.fixture
def build(tmp_path: Path, fake: FakeEmbedder) -> Callable[[pl.DataFrame], PaperIndex]:
    """An index of the papers, with the fake embedder, in a fresh folder."""

    def _build(papers: pl.DataFrame, embedder: FakeEmbedder | None = None) -> PaperIndex:
        index = PaperIndex.open(tmp_path / "index", embedder=embedder or fake, create=True)
        index.update(papers, snapshot="first")
        return index

    return _build
