"""`lithouse status`."""

import click

from assets.commands.options import Command, json_flag, print_json
from assets.home import lithouse_home


@click.command("status", cls=Command)
@json_flag
def command(as_json: bool) -> None:
    """Tables, coverage by month, and each survey: fresh, or stale and why."""
    from assets import status
    from corpus.tables import Lake

    home = lithouse_home()
    lake = Lake(home)
    result = {
        "home": str(home),
        "tables": status.tables(lake),
        "months": status.months(lake),
        "surveys": list(status.surveys(home)),
    }
    if as_json:
        print_json(result)
        return
    click.echo(f"{home}")
    for name, held in result["tables"].items():
        click.echo(f"  {name:<18} version {held['version']:>4}  {held['rows']:>10,} rows")
    if result["months"]:
        years: dict[str, int] = {}
        for month in result["months"]:
            years[month["month"][:4]] = years.get(month["month"][:4], 0) + month["papers"]
        click.echo(f"  papers by year: {', '.join(f'{year} {count:,}' for year, count in years.items())}")
        if open_months := [month["month"] for month in result["months"] if not month["is_complete"]]:
            listed = open_months if len(open_months) <= 4 else [open_months[0], "…", open_months[-1]]
            click.echo(f"  months that may still gain papers: {', '.join(listed)} ({len(open_months)})")
    for survey in result["surveys"]:
        cause = f": {survey['cause']}" if survey["cause"] else ""
        click.echo(f"  {survey['topic']}/{survey['method']}@{survey['edition']}: {survey['state']}{cause}")
        if newer := _newer(survey):
            click.echo(f"    frozen at {survey['cutoff']}; with the last refresh's cutoff {newer}")
    if not result["tables"]:
        click.echo("  Nothing yet: lithouse demo, or lithouse refresh --source SOURCE --cutoff DAY")


def _newer(survey: dict) -> str:
    """What a later cutoff would bring to a frozen topic, "" where nothing is known of any."""
    if unknown := survey["newer_unknown"]:
        return f"it is not known what would enter: {unknown:,} papers that match have no vector yet"
    if count := survey["newer"]:
        return f"{count:,} newer paper{'' if count == 1 else 's'} would enter"
    return ""
