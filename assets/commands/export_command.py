"""`lithouse export`."""

import sys
import time
from pathlib import Path

import click

from assets.commands.options import Command, json_flag, note, print_json, progress_bars
from assets.home import lithouse_home
from ingestion.errors import BadInput


@click.command("export", cls=Command)
@click.argument("topic")
@click.option(
    "--to",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    required=True,
    metavar="DIR",
    help="Folder for the files; made where it is not there.",
)
@click.option("--format", "formats", metavar="LIST", help="Of md,html,tex,pdf,docx,bib,csl,ris.  [default: all]")
@json_flag
def command(topic: str, folder: Path, formats: str | None, as_json: bool) -> None:
    """Write a survey as files: Markdown, page, LaTeX, PDF, Word, BibTeX, CSL-JSON, RIS.

    TOPIC is a title, a key, KEY/METHOD or KEY/METHOD@EDITION; the edition is printed as it was written. A file of the
    same name is replaced. What cannot be made is listed with advice, and the rest is made (exit code 3).
    """
    from corpus.tables import Lake
    from generation.exporting import FORMATS, export, formats_named
    from generation.lineage import find_edition
    from generation.reprinting import load_reprint

    started = time.monotonic()
    try:
        wanted = tuple(FORMATS) if formats is None else formats_named(formats)
    except BadInput as error:
        raise click.BadParameter(error.message, param_hint="'--format'") from None
    lake = Lake(lithouse_home())
    target = folder.absolute()
    if target.resolve().is_relative_to(lake.home / "tables") or target.resolve().is_relative_to(lake.home / "index"):
        raise BadInput("the lake's own folders hold no exports", which=str(folder), advice="Name a folder elsewhere.")
    row = find_edition(lake, topic)
    with progress_bars() as told:
        done = export(load_reprint(lake, row), target, wanted, told=told)
    result = {
        "topic": row["title"],
        "slug": row["topic"],
        "method": row["method"],
        "edition": row["edition"],
        "folder": str(target),
        "files": [{"format": m.format, "path": str(m.path), "bytes": m.size} for m in done.made],
        "not_made": [{"format": n.format, "reason": n.reason, "advice": n.advice} for n in done.not_made],
        "status": "partial" if done.not_made else "complete",
        "seconds": round(time.monotonic() - started, 3),
    }
    if as_json:
        print_json(result)
    else:
        edition = f"{row['topic']}/{row['method']}@{row['edition']}"
        click.echo(f"“{row['title']}” ({edition}) exported in {result['seconds']:.1f} s")
        for made in result["files"]:
            click.echo(f"  {made['format']:<8} {made['path']}")
    for missing in result["not_made"]:
        note(f"Not made: {missing['format']}: {missing['reason']}. {missing['advice']}".rstrip())
    sys.exit(3 if done.not_made else 0)
