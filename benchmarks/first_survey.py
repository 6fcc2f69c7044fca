"""How long a first survey takes, and where the time goes.

    python benchmarks/first_survey.py MIRROR "TOPIC" --cutoff DAY [--exclude IDS]

Refreshes and surveys into a fresh folder, prints seconds by step as Dagster measured them, and peak memory. The limit
in the last line is what a person waits for on two cores: ten minutes.
"""

import argparse
import resource
import tempfile
import time
from pathlib import Path

from assets import refreshing, runs
from assets.instance import open_instance
from generation.topics import define_topic
from ingestion.dates import parse_cutoff
from ingestion.mirror import open_mirror

LIMIT_SECONDS = 600


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("mirror", type=Path)
    parser.add_argument("topic")
    parser.add_argument("--cutoff", required=True, type=parse_cutoff)
    parser.add_argument("--exclude", default="")
    given = parser.parse_args()
    topic = define_topic(given.topic, cutoff=given.cutoff, exclusions=[i for i in given.exclude.split(",") if i])
    with tempfile.TemporaryDirectory(prefix="lithouse-benchmark-") as folder:
        home = Path(folder)
        started = time.monotonic()
        outcome = refreshing.refresh(home, open_mirror(given.mirror), given.cutoff)
        refreshed = time.monotonic()
        written = runs.survey(home, topic, "surveyforge", "extractive")
        done = time.monotonic()
        _print_steps(home)
    row = written.row
    print(f"{'refresh, as waited for':<34}{refreshed - started:8.1f} s  {len(outcome.report.seen):,} papers")
    print(
        f"{'survey, as waited for':<34}{done - refreshed:8.1f} s  {row['cited_count']:,} cited, {row['sentence_count']} sentences"
    )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{'peak memory':<34}{peak:8.0f} MB")
    total = done - started
    print(f"{'together':<34}{total:8.1f} s  limit {LIMIT_SECONDS} s, ratio {total / LIMIT_SECONDS:.2f}")


def _print_steps(home: Path) -> None:
    with open_instance(home) as instance:
        for run in reversed(instance.get_runs()):
            for step in instance.get_run_step_stats(run.run_id):
                if step.start_time and step.end_time:
                    print(f"  {step.step_key:<32}{step.end_time - step.start_time:8.1f} s")


if __name__ == "__main__":
    main()
