"""`kill -9` in the middle of `lithouse maintain`: everything stays readable, and the next run finishes the work."""

import os
import subprocess
import sys
from datetime import UTC, date, datetime
from pathlib import Path

import polars as pl
import pytest

from corpus.contracts.registry import CONTRACTS
from corpus.tables import Lake

pytestmark = pytest.mark.run

_DRIVER = Path(__file__).with_name("kill_driver.py")
_LAKE, _LANCE = "corpus.tables:Lake", "indexes.lance_table:LanceTable"
_MOMENTS = [
    (f"{_LAKE}.keep_log", 1, "after"),
    (f"{_LAKE}.compact@papers", 1, "before"),
    (f"{_LAKE}.compact@papers", 1, "after"),
    (f"{_LAKE}.checkpoint@papers", 1, "after"),
    ("corpus.maintenance:_removable", 2, "after"),
    ("pathlib:Path.unlink", 1, "after"),
    ("pathlib:Path.unlink", 4, "before"),
    (f"{_LANCE}.remove_versions", 1, "before"),
    (f"{_LANCE}.remove_versions", 1, "after"),
]


def _edition(manifest: dict[str, int]) -> pl.DataFrame:
    schema = CONTRACTS["surveys"].polars_schema
    blank = {pl.String: "", pl.Int64: 0, pl.Int32: 0, pl.Float64: 0.0, pl.Date: date(2024, 3, 31)}
    row = {name: [] if isinstance(kind, pl.List) else blank.get(kind) for name, kind in schema.items()}
    row |= {"topic": "rag", "edition": "e1", "method": "surveyforge", "created_at": datetime.now(UTC)}
    row["paths"] = {"markdown": "", "html": "", "bibtex": ""}
    row["manifest"] = [{"table": table, "version": version} for table, version in manifest.items()]
    return pl.DataFrame([row], schema=schema)


@pytest.fixture
def worn(small: Path) -> Path:
    """A lake of ten papers with its index, an edition that pins its tables of now, and newer versions in small files."""
    from indexes.paper_index import PaperIndex

    lake = Lake(small)
    index = {f"index/{name}": version for name, version in PaperIndex.open(small / "index").versions().items()}
    lake.append("surveys", _edition({**lake.versions(), **index}))
    for n in range(3):
        papers = lake.read("papers").with_columns(pl.format("{} ({})", "title", pl.lit(str(n))).alias("title"))
        lake.replace("papers", papers.head(5), {"paper_id": papers["paper_id"].head(5).to_list()})
    return small


def _titles(run, *options: str) -> list[dict]:
    told = run("sql", "SELECT paper_id, title FROM papers ORDER BY paper_id", "--json", *options)
    assert told.code == 0, told.err
    return told.json


@pytest.mark.parametrize(("target", "number", "moment"), _MOMENTS)
def test_upkeep_killed_anywhere_leaves_everything_readable(worn, home, run, target, number, moment):
    print(f"kill -9: {target}, {moment} call {number}")
    now, then = _titles(run), _titles(run, "--as-of", "rag")
    assert now != then
    done = subprocess.run(
        [sys.executable, str(_DRIVER), target, str(number), moment, "--", "maintain", "--grace", "0"],
        capture_output=True,
        text=True,
        timeout=200,
        env={**os.environ, "LITHOUSE_HOME": str(home)},
    )
    assert done.returncode == -9, f"not killed: {done.returncode}\n{done.stderr[-2000:]}"
    assert run("sql", " UNION ALL ".join(f"SELECT count(*) FROM {name}" for name in CONTRACTS), "--json").code == 0
    assert (_titles(run), _titles(run, "--as-of", "rag")) == (now, then)
    assert len(run("search", "retrieval", "--json").json) >= 5
    finished = run("maintain", "--grace", "0", "--json")
    assert finished.code == 0, finished.err
    assert (_titles(run), _titles(run, "--as-of", "rag")) == (now, then)
    assert len(run("search", "retrieval", "--json").json) >= 5
    lake = Lake(worn)
    needed = {uri for v in (None, dict(_pins(lake))["papers"]) for uri in lake.file_uris("papers", v)}
    assert {str(p) for p in lake.folder("papers").resolve().rglob("id_month=*/*.parquet")} == needed


def _pins(lake: Lake) -> list[tuple[str, int]]:
    return [(m["table"], m["version"]) for m in lake.read("surveys")["manifest"].item()]
