"""`lithouse survey`."""

import sys
import time
from pathlib import Path

import click

from assets.commands.options import Command, json_flag, note, print_json, progress_bars
from assets.commands.topic_options import check_names, topic_asked, topic_options
from assets.home import lithouse_home
from ingestion.documents.parsing.parsers import DEFAULT_PARSER


@click.command("survey", cls=Command)
@topic_options
@click.option(
    "--outline",
    "outline_file",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="Write along this outline, as `lithouse outline` prints it and you edited it.",
)
@click.option("--force", is_flag=True, help="Compute every stage again.")
@json_flag
def command(
    topic, cutoff, description, method, model, pool, include, exclude, withdrawn, parser, read, outline_file, force,
    as_json,
) -> None:  # fmt: skip
    """Materialize a topic's survey; TOPIC is a title, or the key of a topic named before.

    Without --cutoff the topic follows the corpus; with one it is frozen at that day. What is done already is not
    done again.
    """
    home = lithouse_home()
    asked = {"cutoff": cutoff, "description": description, "pool": pool, "include": include, "exclude": exclude}
    chosen = topic_asked(home, topic, **asked, withdrawn=withdrawn)
    plan = _plan(home, chosen, method, outline_file) if outline_file else None
    write(home, chosen, method, model, parser=parser, most_files=read, plan=plan, force=force, as_json=as_json)


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


def write(
    home,
    topic,
    method: str,
    model: str,
    *,
    parser: str = DEFAULT_PARSER,
    most_files: int | None = None,
    plan=None,
    force: bool,
    as_json: bool,
) -> None:
    """Materialize and report; exits 3 where the survey is partial."""
    from assets import runs
    from assets.results import survey_result
    from corpus.tables import Lake

    check_names(method, model)
    started = time.monotonic()
    with progress_bars() as told:
        written = runs.survey(
            home, topic, method, model, parser=parser, most_files=most_files, force=force, plan=plan, progress=told
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
