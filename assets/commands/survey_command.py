"""`lithouse survey`."""

import sys
import time

import click

from assets.commands.options import Command, cutoff_option, json_flag, note, paper_ids, print_json, progress_bars
from assets.home import lithouse_home
from ingestion.documents.parsing.parsers import DEFAULT_PARSER


@click.command("survey", cls=Command)
@click.argument("topic")
@cutoff_option
@click.option("--description", default="", help="More about the topic, searched with the title.")
@click.option("--method", default="surveyforge", show_default=True, help="How the survey is made.")
@click.option("--model", default="extractive", show_default=True, help="Who writes it.")
@click.option("--pool", type=click.IntRange(min=1), help="Papers the pool may hold.  [default: 1500]")
@click.option("--include", metavar="IDS|FILE", help="Papers that must be in the pool: ids, or a file such as a .bib.")
@click.option("--exclude", metavar="IDS|FILE", help="Papers hidden from the topic, by id and by title.")
@click.option("--withdrawn", is_flag=True, help="Withdrawn papers may be cited.")
@click.option(
    "--parser",
    default=DEFAULT_PARSER,
    show_default=True,
    help="Reads the papers' files: docvortex, mineru-kit[:TIER], magic-pdf.",
)
@click.option(
    "--read",
    type=click.IntRange(min=0),
    help="Files of papers to read now at most, the best papers' first; 0 for none.  [default: all]",
)
@click.option("--force", is_flag=True, help="Compute every stage again.")
@json_flag
def command(
    topic, cutoff, description, method, model, pool, include, exclude, withdrawn, parser, read, force, as_json
) -> None:
    """Materialize a topic's survey; TOPIC is a title, or the key of a topic named before.

    Without --cutoff the topic follows the corpus; with one it is frozen at that day. What is done already is not
    done again.
    """
    from corpus.tables import Lake
    from generation.topics import DEFAULT_POOL_SIZE, define_topic

    options = {
        "description": description,
        "cutoff": cutoff,
        "inclusions": paper_ids(include),
        "exclusions": paper_ids(exclude),
        "pool_size": pool or DEFAULT_POOL_SIZE,
        "has_withdrawn": withdrawn,
    }
    home = lithouse_home()
    known = None if any([description, cutoff, include, exclude, pool, withdrawn]) else _known(Lake(home), topic)
    write(
        home,
        known or define_topic(topic, **options),
        method,
        model,
        parser=parser,
        most_files=read,
        force=force,
        as_json=as_json,
    )


def _known(lake, key: str):
    """The topic whose key was given; None where the text is no key, and so a title."""
    from generation.editions import load_topic
    from ingestion.errors import NotFound

    try:
        return load_topic(lake, key)
    except NotFound:
        return None


def write(
    home,
    topic,
    method: str,
    model: str,
    *,
    parser: str = DEFAULT_PARSER,
    most_files: int | None = None,
    force: bool,
    as_json: bool,
) -> None:
    """Materialize and report; exits 3 where the survey is partial."""
    from assets import runs
    from assets.results import survey_result
    from corpus.tables import Lake
    from generation.stages import METHODS, WRITERS

    if method not in METHODS:
        raise click.BadParameter(f"'{method}' is no method; methods: {', '.join(METHODS)}.", param_hint="'--method'")
    if model not in WRITERS:
        raise click.BadParameter(f"'{model}' is no writer; writers: {', '.join(WRITERS)}.", param_hint="'--model'")
    started = time.monotonic()
    with progress_bars() as told:
        written = runs.survey(
            home, topic, method, model, parser=parser, most_files=most_files, force=force, progress=told
        )
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
    for item in result["notes"]:
        label = "left out:" if item["item"][:1].isdigit() else "note on"  # sections have a number
        click.echo(f"  {label} {item['item']}: {item['reason']}")
    for kind, path in result["paths"].items():
        click.echo(f"  {kind:<8} {path}")
