"""How long a first survey takes, and where the time goes.

    python -m benchmarks.first_survey MIRROR "TOPIC" --cutoff DAY [--exclude IDS]

Refreshes and surveys into a fresh folder, prints seconds by step as Dagster measured them, and peak memory. The limit
in the last line is what a person waits for on two cores: ten minutes.
"""

import argparse
import tempfile
import time
from pathlib import Path

from assets import refreshing, runs
from assets.instance import open_instance
from benchmarks.figures import Figure, peak_mb, print_table
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
        written = runs.survey(home, topic, runs.Request("surveyforge", "extractive"))
        done = time.monotonic()
        _print_steps(home)
    papers = len(outcome.report.seen)
    print_table(
        [
            Figure(f"refresh of {papers:,} papers, as waited for", refreshed - started, "s"),
            Figure(f"survey of {written.row['cited_count']} papers, as waited for", done - refreshed, "s"),
            Figure("  peak memory", peak_mb(), "MB"),
            Figure("refresh and first survey", done - started, "s", "limit", LIMIT_SECONDS, at_most=1),
        ],
        "First survey",
    )


def _print_steps(home: Path) -> None:
    with open_instance(home) as instance:
        for run in reversed(instance.get_runs()):
            for step in instance.get_run_step_stats(run.run_id):
                if step.start_time and step.end_time:
                    print(f"  {step.step_key:<32}{step.end_time - step.start_time:8.1f} s")


if __name__ == "__main__":
    main()
