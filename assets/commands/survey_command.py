"""`lithouse survey`."""

import sys
import time
from pathlib import Path

import click

from assets.commands.options import Command, json_flag, note, print_json, progress_bars
from assets.commands.topic_options import (
    check_names,
    model_access,
    model_options,
    tell_assumptions,
    topic_asked,
    topic_options,
)
from assets.home import lithouse_home


@click.command("survey", cls=Command)
@topic_options
@click.option(
    "--outline",
    "outline_file",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="Write along this outline, as `lithouse outline` prints it and you edited it.",
)
@model_options
@click.option("--estimate", is_flag=True, help="Print the calls and tokens a model would take; ask and write nothing.")
@click.option("--force", is_flag=True, help="Compute every stage again.")
@json_flag
def command(
    topic, cutoff, description, method, model, pool, include, exclude, withdrawn, parser, read, outline_file, window,
    concurrency, budget_tokens, budget_cost, verdicts, replay, estimate, force, as_json,
) -> None:  # fmt: skip
    """Materialize a topic's survey; TOPIC is a title, or the key of a topic named before.

    Without --cutoff the topic follows the corpus; with one it is frozen at that day. What is done already is not
    done again.
    """
    home = lithouse_home()
    asked = {"cutoff": cutoff, "description": description, "pool": pool, "include": include, "exclude": exclude}
    chosen = topic_asked(home, topic, **asked, withdrawn=withdrawn)
    model = model or "extractive"
    check_names(method, model)
    plan = _plan(home, chosen, method, outline_file) if outline_file else None
    access = model_access(
        model, window=window, concurrency=concurrency, budget_tokens=budget_tokens, budget_cost=budget_cost,
        verdicts=verdicts, replay=replay,
    )  # fmt: skip
    tell_assumptions(model, access)
    from assets.runs import Request

    request = Request(method, model, parser, read, force, plan, access)
    (_estimate if estimate else write)(home, chosen, request, as_json=as_json)


def _estimate(home, topic, request, *, as_json: bool) -> None:
    from assets import runs
    from assets.results import plan_result

    with progress_bars() as told:
        planned = runs.estimate(home, topic, request, told)
    result = plan_result(topic, request.writer, planned)
    if as_json:
        print_json(result)
        return
    for row in result["plan"]:
        click.echo(
            f"  {row['asset']:<12} {row['operation']:<12} {row['calls']:>6,} calls  {row['input_tokens']:>12,} tokens in"
            f"  ≤ {row['most_output_tokens']:>10,} out"
        )
    cost = result["most_cost"] if isinstance(result["most_cost"], str) else f"at most ${result['most_cost']:.4f}"
    click.echo(
        f"“{topic.title}” by {request.writer}: {result['calls']:,} calls, {result['in_ledger']:,} of them answered by the ledger; "
        f"about {result['input_tokens']:,} tokens in and at most {result['most_output_tokens']:,} out; cost {cost}. "
        "Nothing was asked."
    )


def _plan(home, topic, method: str, file: Path):
    """The outline of a file, with the papers of the headings it kept from the one it was printed from."""
    from corpus.tables import Lake
    from generation.editions import newest_outline
    from generation.outline_files import read_outline_file
    from generation.outline_plans import planned

    edited = read_outline_file(file)
    for line in edited.notes:
        note(f"{file.name}: {line}")
    return planned(edited.nodes, topic.title, newest_outline(Lake(home), topic.key, method, edited.edition))


def write(home, topic, request, *, as_json: bool) -> None:
    """Materialize and report; exits 3 where the survey is partial."""
    from assets import runs
    from assets.results import survey_result
    from corpus.tables import Lake

    started = time.monotonic()
    with progress_bars() as told:
        written = runs.survey(home, topic, request, told)
    result = survey_result(home, written.row, Lake(home), time.monotonic() - started, written.stages_run)
    if as_json:
        print_json(result)
    else:
        show(result)
    for failure in result["failures"]:
        note(f"Failed: {failure['item']}: {failure['reason']}")
    sys.exit(3 if result["status"] == "partial" else 0)


def show(result: dict) -> None:
    """The result as a person reads it."""
    done = f"made in {result['seconds']:.1f} s" if result["stages_run"] else "nothing had changed, nothing was computed"
    edition = f"{result['slug']}/{result['method']}@{result['edition']}"
    click.echo(f"“{result['topic']}” up to {result['cutoff']} ({edition}), {done}")
    click.echo(
        f"  {result['admitted_count']:,} papers admitted → {result['pool_count']:,} in the pool → "
        f"{len(result['consulted']):,} consulted → {len(result['references']):,} cited; "
        f"{result['sections']} sections, {result['sentences']} sentences"
    )
    if result["writer"] != "extractive":
        tokens, cards = result["tokens"], result["cards_tokens"]
        cost = result["cost"] if isinstance(result["cost"], str) else f"${result['cost']:.4f}"
        told = result["grounding"]
        click.echo(
            f"  {result['writer']}: {tokens['input']:,} tokens in, {tokens['output']:,} out, {tokens['cached']:,} from the "
            f"ledger, cost {cost} (the topic's cards apart: {cards['input']:,} in, {cards['output']:,} out); {result['have']} of {result['expected']} parts written; of {told['cited']} citations "
            f"{told['kept']} are borne by their papers, {told['removed']} were removed, {told['refused']} refused"
        )
    for item in result["notes"]:
        label = "left out:" if item["item"][:1].isdigit() else "note on"  # sections have a number
        click.echo(f"  {label} {item['item']}: {item['reason']}")
    for kind, path in result["paths"].items():
        click.echo(f"  {kind:<8} {path}")
