"""Every benchmark, one after the other, and all figures in one table at the end.

    python -m benchmarks [--data SHARED_DATA] [--only refresh sql …] [--synthetic 700000]

Each part runs in a process of its own. Nothing else should run meanwhile: the whole takes about 40 minutes on two cores.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.figures import COLLECTED, Figure, print_table


def parts(data: Path, work: Path, synthetic: int) -> dict[str, list[str]]:
    """Part → its module and arguments, in the order in which they run; `sql` and `pool_cost` use the lake that `refresh` made."""
    metadata, home = str(data / "arxiv_metadata"), str(work / "home")
    found = {
        "refresh": ["refresh", metadata, "--files", "papers_2*.parquet", "papers_until_*.parquet", "--home", home],
        "sql": ["sql", home, "--work", str(work / "sql")],
        "pool_cost": ["pool_cost", home, "--work", str(work / "pool")],
        "search": ["search", "--data", str(data)],
        "embedding": ["embedding", "--data", str(data)],
        "pool": ["pool_retrieval", "--data", str(data)],
        "references": ["survey_references", "--data", str(data)],
        "survey": [
            "first_survey",
            str(data / "mirror"),
            "Retrieval-Augmented Generation",
            "--cutoff",
            "2024-03-31",
            "--exclude",
            "2312.10997,2402.19473",
        ],
        "language_models": ["language_models"],
    }
    if synthetic:
        found["synthetic"] = ["refresh", "--synthetic", str(synthetic)]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("LITHOUSE_SHARED_DATA"))
    parser.add_argument("--only", nargs="*", help="parts to run; sql and pool_cost need refresh")
    parser.add_argument("--synthetic", type=int, default=700_000, help="papers of a second refresh; 0 for none")
    given = parser.parse_args()
    if given.data is None:
        parser.error("give --data or LITHOUSE_SHARED_DATA")
    failed = []
    with tempfile.TemporaryDirectory(prefix="lithouse-benchmarks-") as scratch:
        collected = Path(scratch) / "figures.jsonl"
        chosen = parts(Path(given.data), Path(scratch), given.synthetic)
        if unknown := set(given.only or ()) - set(chosen):
            parser.error(f"no such part: {', '.join(sorted(unknown))}; there are {', '.join(chosen)}")
        for name in given.only or chosen:
            command = [sys.executable, "-m", f"benchmarks.{chosen[name][0]}", *chosen[name][1:]]
            if subprocess.run(command, env={**os.environ, COLLECTED: str(collected)}, check=False).returncode:
                failed.append(name)
        lines = collected.read_text(encoding="utf-8").splitlines() if collected.is_file() else []
        print_table([Figure(**json.loads(line)) for line in lines], "All figures")
    if failed:
        raise SystemExit(f"not finished: {', '.join(failed)}")


if __name__ == "__main__":
    main()
