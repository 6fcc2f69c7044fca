"""Papers that nobody wrote, in any number: records in the fields of the arXiv snapshot, from a seed.

Belongs here: making them. Words are made of syllables and drawn with Zipf's frequencies; lengths, authors, versions and
the share of gaps are like those of real records.
"""

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from pathlib import Path

import numpy as np
import polars as pl

_SYLLABLES = [c + v for c in "bdfgklmnprstvz" for v in ("a", "e", "i", "o", "u", "ar", "en", "is")]
_CATEGORIES = ("cs.CL", "cs.LG", "cs.CV", "cs.AI cs.LG", "math.AP", "hep-th", "astro-ph.GA", "stat.ML cs.LG")
_FIRST = date(1992, 1, 1)


def words(count: int, seed: int = 7) -> list[str]:
    """Distinct made-up words, the commonest first."""
    random = np.random.default_rng(seed)
    found: dict[str, None] = {}
    while len(found) < count:
        found["".join(random.choice(_SYLLABLES, random.integers(2, 5)))] = None
    return list(found)


def records(count: int, seed: int = 7, at_once: int = 50_000) -> Iterator[pl.DataFrame]:
    """Frames of `count` records in all, ids ascending over 1992 to 2026, as many in recent months as there are."""
    random = np.random.default_rng(seed)
    vocabulary = np.array(words(20_000, seed))
    weights = 1 / np.arange(1, len(vocabulary) + 1)
    weights /= weights.sum()
    months = [date(1992 + m // 12, m % 12 + 1, 1) for m in range(12 * 34 + 8)]
    share = np.linspace(0.2, 1.8, len(months))
    numbers = np.floor(np.cumsum(share / share.sum()) * count).astype(int)
    start = 0
    for first in range(0, count, at_once):
        size = min(at_once, count - first)
        drawn = random.choice(len(vocabulary), (size, 170), p=weights)
        lengths = random.integers(70, 170, size)
        rows = []
        for row in range(size):
            number = first + row
            while number >= numbers[start] and start < len(months) - 1:
                start += 1
            rows.append(
                _record(number, months[start], numbers[start - 1] if start else 0, vocabulary[drawn[row]], lengths[row])
            )
        yield pl.DataFrame(rows)


def _record(number: int, month: date, before: int, drawn: np.ndarray, length: int) -> dict:
    serial = number - int(before) + 1
    is_new = month >= date(2007, 4, 1)
    digits = 5 if month >= date(2015, 1, 1) else 4
    key = f"{month:%y%m}.{serial:0{digits}d}" if is_new else f"hep-th/{month:%y%m}{serial % 1000:03d}"
    if not is_new and serial >= 1000:  # old ids have three digits; further archives take the rest
        key = f"{('astro-ph', 'hep-ph', 'math', 'cond-mat', 'quant-ph')[serial // 1000 % 5]}/{month:%y%m}{serial % 1000:03d}"
    day = datetime(month.year, month.month, 1 + number % 27, 12)
    versions = [
        {"version": f"v{n}", "created": f"{day + timedelta(days=40 * n - 40):%a, %d %b %Y %H:%M:%S} GMT"}
        for n in range(1, 2 + number % 2)
    ]
    title = " ".join(drawn[:9]).capitalize()
    sentences = " ".join(drawn[10 : 10 + length]) + "."
    return {
        "id": key,
        "title": title if number % 9 else f"{title[:40]}\n  {title[40:]}",
        "abstract": sentences if number % 4 else f"  {sentences[:300]}\n{sentences[300:]}\n",
        "authors": ", ".join(
            f"{a.capitalize()} {b.capitalize()}" for a, b in zip(drawn[0:8:2], drawn[1:8:2], strict=True)
        ),
        "categories": _CATEGORIES[number % len(_CATEGORIES)],
        "comments": None if number % 3 else f"{number % 40} pages",
        "journal-ref": None,
        "doi": None if number % 5 else f"10.1000/{number}",
        "license": "http://creativecommons.org/licenses/by/4.0/",
        "versions": versions,
        "update_date": f"{day + timedelta(days=40 * (number % 2)):%Y-%m-%d}",
    }


def write_snapshot(folder: Path, count: int, seed: int = 7) -> None:
    """`papers_<n>.parquet` files of 50,000 records each."""
    folder.mkdir(parents=True, exist_ok=True)
    for part, frame in enumerate(records(count, seed)):
        frame.write_parquet(folder / f"papers_{part:03d}.parquet")
