"""What a refresh costs beside bare polars, and what it costs again.

    python -m benchmarks.refresh FOLDER --cutoff DAY        FOLDER: papers_*.parquet of a snapshot
    python -m benchmarks.refresh --synthetic 700000

The peer reads the same files with polars, cleans title, abstract, authors and categories with the same functions and
writes one plain Parquet file, in a process of its own. Building the full text index is printed apart. Then: the same
again, and 500 changed and 500 new records in two months.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from datetime import date
from pathlib import Path

import polars as pl

from benchmarks.figures import Figure, print_table
from benchmarks.synthetic import write_snapshot
from corpus.tables import Lake
from ingestion.cleanup import clean_abstract, clean_authors, clean_categories, clean_title
from ingestion.dates import parse_cutoff

AGAIN_SECONDS = 5.0


def bare(folder: Path, target: Path) -> None:
    """The peer."""
    frame = pl.concat([pl.read_parquet(p) for p in sorted(folder.glob("papers_*.parquet"))], how="diagonal_relaxed")
    cleaned = frame.with_columns(
        pl.Series("title", [clean_title(t) for t in frame["title"]]),
        pl.Series("abstract", [clean_abstract(t) for t in frame["abstract"]]),
        pl.Series("authors", [list(clean_authors(t).persons) for t in frame["authors"]], dtype=pl.List(pl.String)),
        pl.Series("categories", [list(clean_categories(t)) for t in frame["categories"]], dtype=pl.List(pl.String)),
    )
    cleaned.write_parquet(target)


def run(command: list[str], home: Path | None = None) -> tuple[float, float, str]:
    """Wall seconds, peak MB of the process, and standard output."""
    environment = {**os.environ, **({"LITHOUSE_HOME": str(home)} if home else {})}
    started = time.perf_counter()
    with tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen(command, stdout=out, env=environment)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
        out.seek(0)
        text = out.read()
    if os.waitstatus_to_exitcode(status) != 0:
        raise SystemExit(f"{' '.join(command)} failed: {text}")
    return seconds, usage.ru_maxrss / 1024, text


def refresh(folder: Path, cutoff: date, home: Path) -> tuple[float, float, dict]:
    """Wall seconds, peak MB and result of `lithouse refresh`."""
    seconds, peak, text = run(
        [
            sys.executable,
            "-m",
            "assets.cli",
            "refresh",
            "--source",
            f"snapshot:{folder}",
            "--cutoff",
            f"{cutoff}",
            "--json",
        ],
        home,
    )
    return seconds, peak, json.loads(text)


def steps(home: Path, run_id: str) -> dict[str, float]:
    """Step → seconds of a Dagster run."""
    from assets.instance import open_instance

    with open_instance(home) as instance:
        found = instance.get_run_step_stats(run_id)
        return {s.step_key: s.end_time - s.start_time for s in found if s.start_time and s.end_time}


def _same(path: Path, target: Path) -> None:
    """The same file under another name, which stays when its folder is renamed."""
    if path.is_symlink():
        target.symlink_to(path.resolve())
    else:
        os.link(path, target)


def alter(folder: Path, target: Path, months: tuple[str, str]) -> None:
    """A copy of the snapshot in which 500 records of two months have another title and 500 are new."""
    target.mkdir()
    left = dict.fromkeys(months, 250)
    new = dict.fromkeys(months, 250)
    for path in sorted(folder.glob("papers_*.parquet")):
        frame = pl.read_parquet(path)
        if not any(left.values()) or (
            not frame["id"].str.starts_with(months[0]).any() and not frame["id"].str.starts_with(months[1]).any()
        ):
            _same(path, target / path.name)
            continue
        for month in months:
            of_month = frame["id"].str.starts_with(month)
            chosen = of_month & (of_month.cum_sum() <= left[month])
            left[month] -= int(chosen.sum())
            copies = frame.filter(chosen).head(new[month])
            serials = [f"{month}{90_000 + n:05d}" for n in range(copies.height)]
            new[month] -= copies.height
            frame = frame.with_columns(
                pl.when(chosen).then(pl.col("title") + " (revised)").otherwise(pl.col("title")).alias("title")
            )
            frame = pl.concat([frame, copies.with_columns(pl.Series("id", serials))])
        frame.write_parquet(target / path.name)


def figures(folder: Path, cutoff: date, months: tuple[str, str], work: Path, home: Path) -> list[Figure]:
    """All figures for one snapshot, refreshed into `home`."""
    bare_seconds, bare_peak, _ = run(
        [sys.executable, "-m", "benchmarks.refresh", str(folder), "--bare", str(work / "bare.parquet")]
    )
    seconds, peak, first = refresh(folder, cutoff, home)
    taken = steps(home, first["runs"][-1])
    print("steps: " + ", ".join(f"{name} {value:.1f} s" for name, value in taken.items()))
    index_seconds = taken.get("paper_index", 0.0)
    rows = first["rows_added"]
    again_seconds, _, again = refresh(folder, cutoff, home)
    lake = Lake(home)
    before = {name: set(lake.file_uris(name)) for name in ("arxiv_records", "papers")}
    alter(folder, work / "altered", months)
    # The altered files take the place of the first, so that they are the same source.
    moved = folder.rename(work / "first") if folder.parent == work else None
    source = (work / "altered").rename(folder) if moved else work / "altered"
    altered_seconds, _, altered = refresh(source, cutoff, home)
    touched = {
        name: {uri.split("id_month=")[1].split("/")[0] for uri in set(lake.file_uris(name)) ^ uris}
        for name, uris in before.items()
    }
    size = f"{rows:,} papers"
    print(f"again: {again['commits']} commits, months changed {again['months_changed']}")
    print(
        f"500 + 500: {altered['rows_added']} added, {altered['rows_changed']} changed, files of {touched}, {altered['commits']} commits"
    )
    allowed = max(0.05 * seconds, AGAIN_SECONDS)
    return [
        Figure(
            f"refresh, {size}, without full text", seconds - index_seconds, "s", "bare polars", bare_seconds, at_most=4
        ),
        Figure("  full text build", index_seconds, "s"),
        Figure("  peak memory", peak, "MB", "limit", 3000, at_most=1),
        Figure("  peak memory of bare polars", bare_peak, "MB"),
        Figure("refresh again, nothing changed", again_seconds, "s", "max(5 %, 5 s)", allowed, at_most=1),
        Figure("  commits but its row", float(again["commits"]), "", at_most=0),
        Figure("refresh, 500 changed + 500 new in two months", altered_seconds, "s", "first refresh", seconds),
        Figure("  months rewritten", float(max(map(len, touched.values()))), "", at_most=2),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--cutoff", type=parse_cutoff, default=date(2026, 8, 31))
    parser.add_argument("--synthetic", type=int, default=0)
    parser.add_argument("--months", default="2405.,2601.", help="two months as ids begin in them")
    parser.add_argument("--files", nargs="*", default=["papers_*.parquet"], help="patterns of the files to link")
    parser.add_argument("--home", type=Path, help="where the lake is left; by default it is removed")
    parser.add_argument("--bare", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.bare:
        bare(given.folder, given.bare)
        return
    with tempfile.TemporaryDirectory(prefix="lithouse-benchmark-") as scratch:
        work = Path(scratch)
        folder = work / "snapshot"
        if given.synthetic:
            write_snapshot(folder, given.synthetic)
        else:
            folder.mkdir()
            for path in sorted(p for pattern in given.files for p in given.folder.glob(pattern)):
                (folder / path.name).symlink_to(path.resolve())
        print_table(
            figures(folder, given.cutoff, tuple(given.months.split(",")), work, given.home or work / "home"), "Refresh"
        )


if __name__ == "__main__":
    main()
