"""Vectors to measure search with: clustered as embeddings of papers are, in any number, the same for one seed.

Belongs here: making vectors, days and queries. Not here: searching them.
"""

from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

import numpy as np

SIZE = 384
_SLICE = 20_000
_FIELDS, _TOPICS = 60, 40
_COMMON, _FIELD, _TOPIC, _OWN, _DECAY = 0.55, 0.45, 0.45, 0.6, 0.4
"""Weights of the direction all vectors share, of a paper's field, its topic and itself, and how axes fall off.

Fitted to the 30,000 real vectors of pool30k, mean cosine of the 1st, 10th, 60th, 1,500th and 15,000th neighbour:
real .75 .67 .60 .43 .25, these .73 .65 .58 .43 .28; effective dimensions 62 and 72.
"""
FIRST_DAY, LAST_DAY = date(2010, 1, 1), date(2026, 8, 31)
QUERY_NOISE = 0.35
"""Length of the noise added to a stored vector to make a query near the data but not in it (cosine .94)."""


@dataclass(frozen=True)
class Vectors:
    """float32 (n, 384) rows of length 1, each row's day as days since 1970 (int32), queries (m, 384), and what they are."""

    matrix: np.ndarray
    days: np.ndarray
    queries: np.ndarray
    what: str

    def cutoff(self, share: float) -> date:
        """The day that admits about this share of the rows."""
        return date(1970, 1, 1) + timedelta(days=int(np.quantile(self.days, share)))


def mixture(count: int, *, queries: int = 100, seed: int = 7) -> Vectors:
    """A mixture of 60 fields of 40 topics, sizes by Zipf; papers of one topic are of about the same years."""
    random = np.random.default_rng(seed)
    scale = ((1 + np.arange(SIZE)) ** -_DECAY).astype(np.float32)
    axes = np.linalg.qr(random.standard_normal((SIZE, SIZE)))[0].astype(np.float32)

    def directions(number: int) -> np.ndarray:
        return _unit(random.standard_normal((number, SIZE), dtype=np.float32) * scale)

    fields = np.repeat(directions(_FIELDS), _TOPICS, axis=0)
    centres = _COMMON * directions(1) + _FIELD * fields + _TOPIC * directions(_FIELDS * _TOPICS)
    weights = random.permutation((1 + np.arange(len(centres))) ** -0.6)
    topic = random.choice(len(centres), count, p=weights / weights.sum())
    matrix = np.empty((count, SIZE), np.float32)
    for start in range(0, count, _SLICE):
        part = topic[start : start + _SLICE]
        matrix[start : start + _SLICE] = _unit((centres[part] + _OWN * directions(len(part))) @ axes)
    return Vectors(matrix, _days(topic, random), _near(matrix, queries, random), f"{count:,} synthetic vectors")


def tiled(pool: Path, count: int, *, noise: float = 0.3, queries: int = 100, seed: int = 7) -> Vectors:
    """The real vectors of `pool30k`, repeated with noise of this length, to `count`."""
    random = np.random.default_rng(seed)
    stored = np.load(pool / "vectors_int8.npz")
    real = _unit(stored["vectors"].astype(np.float32) * stored["scale"].astype(np.float32).reshape(-1, 1))
    row = np.arange(count) % len(real)
    matrix = np.empty((count, SIZE), np.float32)
    for start in range(0, count, _SLICE):
        part = row[start : start + _SLICE]
        matrix[start : start + _SLICE] = _unit(real[part] + noise * _noise(len(part), random))
    what = f"{count:,} vectors: {len(real):,} real ones repeated with noise"
    return Vectors(matrix, _days(row, random), _near(matrix, queries, random), what)


def _days(group: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Days that crowd towards the end, as papers do, each group around a year of its own."""
    first, last = ((day - date(1970, 1, 1)).days for day in (FIRST_DAY, LAST_DAY))
    centre = random.beta(3, 1.3, int(group.max()) + 1)
    place = np.clip(centre[group] + random.normal(0, 0.15, len(group)), 0, 1)
    return (first + place * (last - first)).astype(np.int32)


def _near(matrix: np.ndarray, count: int, random: np.random.Generator) -> np.ndarray:
    return _unit(matrix[random.choice(len(matrix), count, replace=False)] + QUERY_NOISE * _noise(count, random))


def _noise(count: int, random: np.random.Generator) -> np.ndarray:
    return _unit(random.standard_normal((count, SIZE), dtype=np.float32))


def _unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)
