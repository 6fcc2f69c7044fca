"""What the tests of the corpus share: a harvest as the assets do it, and small frames."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import polars as pl
import pytest

from corpus.contracts.registry import CONTRACTS
from corpus.derivation import DerivedChange, derive_papers
from corpus.harvest import HarvestReport, Source, commit_records, read_source, record_harvest
from corpus.reading import Reader
from corpus.tables import Lake
from ingestion.documents.parsing.parsers import Parser
from ingestion.mirror import open_mirror

_CLOCK = [datetime(2031, 1, 1, tzinfo=UTC)]


@dataclass(frozen=True)
class Harvested:
    report: HarvestReport
    months: list[date]
    change: DerivedChange


def harvest_source(lake: Lake, source: Source | Path, cutoff: str | None = "2030-12-31") -> Harvested:
    """Read, commit, derive, record: what the assets do in a refresh, each harvest a day after the one before."""
    _CLOCK[0] += timedelta(days=1)
    day = date.fromisoformat(cutoff) if cutoff else None
    reading = read_source(open_mirror(source) if isinstance(source, Path) else source, cutoff=day, now=_CLOCK[0])
    months = commit_records(lake, reading)
    change = derive_papers(lake)
    reading.report.commits += change.commits
    reading.report.covers = change.covers
    reading.report.added, reading.report.changed = list(change.added), list(change.changed)
    reading.report.removed = list(change.removed)
    record_harvest(lake, reading.report)
    return Harvested(reading.report, months, change)


@pytest.fixture
def harvest() -> Callable[..., Harvested]:
    return harvest_source


@pytest.fixture
def edges() -> Callable[..., pl.DataFrame]:
    """Rows of `citations`: pairs, and the sources that know them."""

    def build(*pairs: tuple[str, str], sources: tuple[str, ...] = ("test",)) -> pl.DataFrame:
        return pl.DataFrame(
            {
                "citing_id": [a for a, _ in pairs],
                "cited_id": [b for _, b in pairs],
                "sources": [list(sources)] * len(pairs),
                "contexts": [[]] * len(pairs),
            },
            schema={
                "citing_id": pl.String,
                "cited_id": pl.String,
                "sources": pl.List(pl.String),
                "contexts": pl.List(pl.String),
            },
        )

    return build


@pytest.fixture
def sections() -> Callable[..., pl.DataFrame]:
    """Rows of `survey_sections`, a table partitioned by topic."""

    def build(topic: str, *titles: str) -> pl.DataFrame:
        return pl.DataFrame(
            [
                {
                    "topic": topic,
                    "edition": "e1",
                    "number": str(n),
                    "position": n,
                    "level": 1,
                    "title": title,
                    "words": 10,
                    "paper_ids": ["2401.00001"],
                }
                for n, title in enumerate(titles, start=1)
            ],
            schema_overrides={"position": pl.Int32, "level": pl.Int16, "words": pl.Int64},
        )

    return build


@pytest.fixture
def reader() -> Reader:
    """A reader whose parser does not exist: tests put their own in its place."""
    return Reader(Parser("fake 1", "nowhere:nothing"), concurrency=1)


@pytest.fixture
def edition() -> Callable[..., pl.DataFrame]:
    """A row of `surveys` with the given manifest; what does not matter is empty."""

    def build(name: str, manifest: dict[str, int], created_at: datetime, topic: str = "rag") -> pl.DataFrame:
        schema = CONTRACTS["surveys"].polars_schema
        blank = {pl.String: "", pl.Int64: 0, pl.Int32: 0, pl.Float64: 0.0, pl.Date: date(2024, 3, 31)}
        row = {column: [] if isinstance(kind, pl.List) else blank.get(kind) for column, kind in schema.items()}
        row |= {"topic": topic, "edition": name, "method": "surveyforge", "title": topic, "created_at": created_at}
        row["paths"] = {"markdown": "", "html": "", "bibtex": ""}
        row["manifest"] = [{"table": table, "version": version} for table, version in manifest.items()]
        return pl.DataFrame([row], schema=schema)

    return build
