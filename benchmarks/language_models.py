"""How near surveys by a model come to the ideal schedule of their calls, and whether they make the calls that were planned.

    python -m benchmarks.language_models [--papers 20 100 400] [--latency 2] [--capacity 10] [--window 65536]

A scripted server (tests/servers) answers each call after exactly the latency, and refuses more than its capacity at
once. The ideal of a stage is the larger of calls × latency / capacity and its critical path, the calls that have to
wait for each other. A stage's time is Dagster's own for its step, embedding, storing and printing included; beside it
stands the time from its first request to its last answer. The papers are made up (tests/servers/made_up_papers).
"""

import argparse
import contextlib
import io
import json
import os
import tempfile
from collections import Counter
from pathlib import Path

from benchmarks.figures import Figure, print_table
from generation.language_models.names import model_settings
from generation.model_writer.merging import merge_fan
from tests.servers.fixtures import Server, started
from tests.servers.made_up_papers import TOPIC, write_mirror

STAGES = {
    "paper_cards": ("card",),
    "outline": ("outline", "merge", "subsections"),
    "survey": ("draft", "refine", "revise", "verdict", "compare"),
}
LIMIT = 1.15


def critical_path(stage: str, calls: Counter, window: int) -> int:
    """Calls of a stage that have to wait for each other, by what it asked.

    Cards wait for nothing. An outline is proposed, merged (by levels where a window does not hold all proposals) and
    divided. A leaf is drafted, refined beside drafts (even) or beside refined neighbours (odd), judged and mended; then
    come what closes the survey, and the tables beside that.
    """
    if stage == "paper_cards":
        return 1
    if stage == "outline":
        return 1 + _merge_levels(calls, window) + (calls["subsections"] > 0)
    leaves = calls["refine"]
    grounding = (calls["verdict"] > 0) + (calls["revise"] > 0)
    return 1 + min(leaves, 2) + grounding + 1 + (calls["verdict"] > 0)


def _merge_levels(calls: Counter, window: int) -> int:
    if not calls["merge"]:
        return 0
    settings = model_settings("openai:scripted", window=window)
    fan, left, levels = merge_fan(settings, max(calls["subsections"], 3)), calls["outline"], 0
    while left > 1:
        left, levels = -(-left // fan), levels + 1
    return levels


def _lithouse(home: Path, *arguments: object) -> dict:
    """`lithouse ARGUMENTS --json` in this process; its result.

    Raises:
        RuntimeError: it failed.
    """
    from assets.cli import main

    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    os.environ["LITHOUSE_HOME"] = str(home)
    with contextlib.redirect_stdout(out):
        try:
            main([*map(str, arguments), "--json"])
        except SystemExit as stop:
            if stop.code:
                raise RuntimeError(f"lithouse {arguments[0]} ended with {stop.code}") from None
    return json.loads(out.buffer.getvalue())


def _step_seconds(home: Path) -> dict[str, float]:
    """Seconds of each stage's newest step, as Dagster measured them."""
    from assets.instance import open_instance

    found: dict[str, float] = {}
    with open_instance(home) as instance:
        for run in instance.get_runs():  # the newest first
            for step in instance.get_run_step_stats(run.run_id):
                if step.start_time and step.end_time:
                    found.setdefault(step.step_key, step.end_time - step.start_time)
    return found


def measured(server: Server, folder: Path, papers: int, latency: float, capacity: int, window: int) -> list[Figure]:
    """Figures of one survey of so many papers."""
    home, mirror = folder / f"home-{papers}", write_mirror(folder / f"mirror-{papers}", papers)
    _lithouse(home, "refresh", "--source", f"mirror:{mirror}", "--cutoff", "2024-12-31")
    # Vectors are made once for all surveys of a corpus, so they are not part of what is measured.
    _lithouse(home, "outline", TOPIC, "--pool", papers)
    options = (
        "survey",
        TOPIC,
        "--pool",
        papers,
        "--model",
        "openai:scripted",
        "--concurrency",
        capacity,
        "--window",
        window,
    )
    plan = _lithouse(home, *options, "--estimate")
    planned = Counter()
    for row in plan["plan"]:
        planned[row["operation"]] += row["calls"]
    server.reset()
    _lithouse(home, *options)
    line, steps = server.stats()["time_line"], _step_seconds(home)
    figures = []
    for stage, operations in STAGES.items():
        own = [e for e in line if e["operation"] in operations]
        calls = Counter(e["operation"] for e in own)
        ideal = max(len(own) * latency / capacity, critical_path(stage, calls, window) * latency)
        asked = max(e["end"] for e in own) - min(e["start"] for e in own)
        what = f"{stage}, {papers} papers, {len(own)} calls"
        figures.append(Figure(what, steps[stage], "s", "ideal schedule", ideal, at_most=LIMIT))
        figures.append(Figure("  first request to last answer", asked, "s", "ideal schedule", ideal, at_most=LIMIT))
    refused = sum(e["status"] != 200 for e in line)
    figures.append(Figure(f"calls, {papers} papers", len(line), "", "planned", planned.total(), at_most=1, at_least=1))
    figures.append(Figure("  of these refused", refused, "", at_most=0))
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--papers", type=int, nargs="+", default=[20, 100, 400])
    parser.add_argument("--latency", type=float, default=2.0, help="seconds for each reply")
    parser.add_argument("--capacity", type=int, default=10, help="requests at once")
    parser.add_argument("--window", type=int, default=65_536, help="tokens of the model's window")
    parser.add_argument("--work", type=Path, help="folder to keep; by default one that is removed")
    given = parser.parse_args()
    os.environ["OPENAI_API_KEY"] = "scripted"
    with contextlib.ExitStack() as stack:
        folder = given.work or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="lithouse-benchmark-")))
        server = stack.enter_context(started("scripted", latency=given.latency, capacity=given.capacity))
        os.environ["OPENAI_BASE_URL"] = server.base_url
        figures = []
        for papers in given.papers:
            figures += measured(server, folder, papers, given.latency, given.capacity, given.window)
    print_table(figures, f"Language model calls of {given.latency:g} s, {given.capacity} at once")


if __name__ == "__main__":
    main()
