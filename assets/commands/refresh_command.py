"""`lithouse refresh`."""

import sys

import click

from assets.commands.options import Command, cutoff_option, json_flag, note, print_json, progress_bars
from assets.home import lithouse_home


@click.command("refresh", cls=Command)
@click.option("--source", required=True, help="mirror:PATH or snapshot:PATH")
@cutoff_option
@json_flag
def command(source: str, cutoff, as_json: bool) -> None:
    """Bring the corpus up to a day: fetch what the source has, derive papers, update the index.

    Only months that changed are rewritten. Refused records are listed and do not stop anything.
    """
    if cutoff is None:
        raise click.UsageError("Missing option '--cutoff'.")
    from assets import refreshing
    from assets.results import refresh_result
    from assets.sources import open_source

    opened = open_source(source)
    with progress_bars() as told:
        outcome = refreshing.refresh(lithouse_home(), opened, cutoff, told)
    result = refresh_result(outcome, opened)
    if as_json:
        print_json(result)
    else:
        show(result)
    for item in result["failures"]:
        note(f"Not read: {item['item']}: {item['reason']}")
    sys.exit(3 if result["status"] == "partial" else 0)


def show(result: dict) -> None:
    """The result as a person reads it."""
    click.echo(
        f"{result['source']} up to {result['cutoff']}: {result['rows_added']} added, {result['rows_changed']} changed, "
        f"{result['rows_unchanged']} unchanged, {len(result['rejected'])} rejected, {result['commits']} commits "
        f"({result['status']}, {result['seconds']:.1f} s)"
    )
    for refused in result["rejected"][:20]:
        click.echo(f"  rejected {refused['id'] or 'a record without id'}: {refused['reason']}")
    if len(result["rejected"]) > 20:
        click.echo(f"  … {len(result['rejected']) - 20} more, in the table rejected_records")
    for skipped in result["skipped_files"]:
        click.echo(f"  skipped {skipped['file']}: {skipped['reason']}")
    for path in result["files_without_record"][:20]:
        click.echo(f"  file without a record: {path}")
