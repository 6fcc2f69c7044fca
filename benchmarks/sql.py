"""SQL people would ask, over a lake of real papers and synthetic edges: each answer's time and rows.

    python -m benchmarks.sql HOME [--work FOLDER] [--edges 10000000]

HOME is a lake with papers, which is linked into FOLDER (default: beside it) and left as it is. Edges are made by
preferential attachment to earlier papers (seeded), so that their in-degrees have the heavy tail of real citations;
they and the bibliography and contexts of some thousand papers are written through `Lake`, part by part.
"""

import argparse
import os
import re
import shutil
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.figures import Figure, p50_ms, peak_mb, print_table, stopwatch
from corpus.contracts.registry import CONTRACTS
from corpus.maintenance import maintain
from corpus.query import query
from corpus.tables import Lake

LIMIT_SECONDS = 2.0
_PART = 1_000_000
_TOPIC = "retrieval-augmented-generation"
_SENTENCE = "Earlier work retrieves passages for each question before an answer is generated"


def linked(home: Path, work: Path) -> Lake:
    """A lake of the same papers in another folder: data files are linked, the log is copied."""
    shutil.rmtree(work, ignore_errors=True)
    for table in ("papers", "arxiv_records", "harvests"):
        source, target = home / "tables" / table, work / "tables" / table
        shutil.copytree(source, target, copy_function=os.link, ignore=shutil.ignore_patterns("_delta_log"))
        shutil.copytree(source / "_delta_log", target / "_delta_log")
    return Lake(work)


def edge_parts(ids: list[str], edges: int, seed: int = 7, rows: int = _PART) -> Iterator[pl.DataFrame]:
    """Frames of `citations` sorted by citing paper: each paper cites earlier ones, the more cited the likelier.

    Args:
        ids: papers in the order of their submission.
        edges: how many edges about; a pair drawn twice counts once.
    """
    rng = np.random.default_rng(seed)
    count = len(ids)
    order = np.argsort(np.array(ids))
    # Half of the draws fall on a few papers by a Pareto weight that is fixed at birth, half on recent ones.
    weight = rng.pareto(1.1, count) + 0.01
    total = np.cumsum(weight)
    degree = rng.poisson(edges * 1.12 / count, count)
    names = np.array(ids, dtype=object)
    held, size = [], 0
    for at in order:
        draws = int(min(degree[at], at))
        if not draws:
            continue
        by_weight = np.searchsorted(total[:at], rng.random(draws // 2) * total[at - 1])
        recent = at - 1 - np.minimum(rng.exponential(max(at / 20, 1), draws - draws // 2).astype(int), at - 1)
        cited = np.unique(np.concatenate([by_weight, recent]))
        held.append((at, cited))
        size += len(cited)
        if size >= rows:
            yield _frame(names, held)
            held, size = [], 0
    if held:
        yield _frame(names, held)


def _frame(names: np.ndarray, held: list[tuple[int, np.ndarray]]) -> pl.DataFrame:
    citing = np.concatenate([np.full(len(cited), at) for at, cited in held])
    cited = np.concatenate([cited for _, cited in held])
    some = np.zeros(len(cited), dtype=bool)
    some[::200] = True  # a sentence for each two-hundredth edge
    frame = pl.DataFrame({"citing_id": pl.Series(names[citing].tolist()), "cited_id": pl.Series(names[cited].tolist())})
    contexts = pl.when(pl.Series(some)).then(pl.concat_list(pl.format("{} [{}].", pl.lit(_SENTENCE), "cited_id")))
    return frame.with_columns(
        pl.lit(["synthetic"], dtype=pl.List(pl.String)).alias("sources"),
        contexts.otherwise(pl.lit([], dtype=pl.List(pl.String))).alias("contexts"),
    ).sort("citing_id", "cited_id")


def write_bibliography(lake: Lake, papers: pl.DataFrame, per_paper: int = 40) -> int:
    """Entries for each of the papers, with a sentence of context each; how many."""
    ids = papers["paper_id"]
    entries = papers.join(pl.DataFrame({"position": range(1, per_paper + 1)}), how="cross").with_row_index("row")
    empty = pl.lit([], dtype=pl.List(pl.String))
    schema = CONTRACTS["bibliography"].polars_schema
    frame = entries.with_columns(
        pl.lit("0" * 64).alias("sha256"),
        pl.col("position").cast(pl.Int32),
        pl.col("position").cast(pl.String).alias("label"),
        pl.format("Made-up entry {} of {}, as printed in a journal.", "position", "paper_id").alias("text"),
        empty.alias("authors"),
        empty.alias("urls"),
        ids.gather(entries["row"] * 31 % len(ids)).alias("cited_id"),
        pl.lit("title").alias("method"),
        pl.lit(0.9).alias("certainty"),
        pl.lit("").alias("detail"),
        pl.lit([{"text": f"{_SENTENCE}.", "page": 2, "start": 0, "end": 80}], dtype=schema["contexts"]).alias(
            "contexts"
        ),
    ).drop("row")
    lake.append("bibliography", frame)
    return len(frame)


def write_survey(lake: Lake, references: list[str]) -> None:
    """An edition that cites these papers, as a query for what it misses needs one."""
    schema = CONTRACTS["surveys"].polars_schema
    blank = {pl.String: "", pl.Int64: 0, pl.Int32: 0, pl.Float64: 0.0, pl.Date: date(2026, 8, 31)}
    row = {name: [] if isinstance(kind, pl.List) else blank.get(kind) for name, kind in schema.items()}
    row |= {"topic": _TOPIC, "edition": "synthetic", "reference_ids": references, "created_at": datetime.now(UTC)}
    row["paths"] = {"markdown": "", "html": "", "bibtex": ""}
    lake.append("surveys", pl.DataFrame([row], schema=schema))


def queries(page: Path = Path(__file__).parents[1] / "docs" / "queries.md") -> dict[str, str]:
    """Title → SQL of the queries on the page."""
    return dict(re.findall(r"^## (.+?)$.*?^```sql\n(.*?)^```$", page.read_text(encoding="utf-8"), re.M | re.S))


def figures(home: Path, work: Path, edges: int = 10_000_000) -> list[Figure]:
    """Writing the edges, then each query of docs/queries.md: median seconds of five, with the rows it gave."""
    lake, found = linked(home, work), []
    papers = lake.scan("papers").select("paper_id", "id_month", "submitted_latest").collect()
    ids = papers.sort("submitted_latest", "paper_id")["paper_id"].to_list()
    base = peak_mb()
    with stopwatch() as seconds:
        written = sum(lake.append("citations", part).rows for part in edge_parts(ids, edges))
    found += [
        Figure(f"writing {written:,} edges, {_PART:,} a commit", written / seconds(), "rows/s"),
        Figure("  its memory above the papers' keys", peak_mb() - base, "MB", at_most=3000),
    ]
    entries = write_bibliography(lake, papers.select("paper_id", "id_month").sample(5000, seed=7))
    write_survey(lake, ids[-100_000::500])
    with stopwatch() as seconds:
        done = maintain(lake)
    found.append(Figure(f"maintain ({sum(t.joined for t in done)} files joined, {entries:,} entries held)", seconds()))
    for title, sql in queries().items():
        asked = _asked(lake, sql)
        rows = query(lake, asked).num_rows
        p50 = p50_ms(lambda asked=asked: query(lake, asked), repeats=5, warm_up=1) / 1000
        found.append(Figure(f"{title} ({rows:,} rows of {len(papers):,} papers)", p50, "s", at_most=LIMIT_SECONDS))
    found.append(Figure("opening SQL (SELECT 1)", p50_ms(lambda: query(lake, "SELECT 1"), repeats=5) / 1000, "s"))
    found.append(Figure("peak memory", peak_mb(), "MB"))
    return found


def _asked(lake: Lake, sql: str) -> str:
    """The query about a paper that has many citations and references here."""
    busiest = query(
        lake, "SELECT mode(cited_id) AS cited, mode(citing_id) AS citing FROM citations WHERE len(contexts) > 0"
    ).to_pylist()[0]
    return sql.replace("2005.11401", busiest["cited"]).replace("2308.07107", busiest["citing"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("home", type=Path, help="a lake with papers")
    parser.add_argument("--work", type=Path, help="folder for the lake with edges; made anew")
    parser.add_argument("--edges", type=int, default=10_000_000)
    given = parser.parse_args()
    work = given.work or given.home.with_name(f"{given.home.name}-sql")
    print_table(figures(given.home, work, given.edges), f"SQL over {given.edges:,} edges")


if __name__ == "__main__":
    main()
