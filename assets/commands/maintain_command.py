"""`lithouse maintain`."""

import sys
from collections.abc import Collection, Mapping
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path

import click

from assets.commands.options import Command, json_flag, note, print_json
from assets.home import lithouse_home
from ingestion.errors import LithouseError


@click.command("maintain", cls=Command)
@click.option(
    "--grace",
    type=click.FloatRange(min=0),
    default=24.0,
    show_default=True,
    metavar="HOURS",
    help="Keep versions overtaken within these hours: someone may be reading them. 0 only where nothing else runs.",
)
@click.option("--dry-run", is_flag=True, help="Say what would be done, change nothing.")
@json_flag
def command(grace: float, dry_run: bool, as_json: bool) -> None:
    """Join small files, write checkpoints, and remove what no survey was made from and no one reads.

    Every version that the manifest of a survey names stays, and with it `sql --as-of`. Tables of an older contract
    are migrated. Exit 3: something was left undone, e.g. because others kept writing; run it again.
    """
    from corpus.maintenance import INDEX, maintain, pinned_versions
    from corpus.tables import Lake

    lake, kept_for = Lake(lithouse_home()), timedelta(hours=grace)
    tables = [asdict(done) for done in maintain(lake, grace=kept_for, is_dry_run=dry_run)]
    failures = [{"item": t["table"], "reason": t["failure"]} for t in tables if t["failure"]]
    index = []
    if not dry_run:
        # Asked only now: surveys may have ended while the tables were served.
        pins = {n.removeprefix(INDEX): v for n, v in pinned_versions(lake).items() if n.startswith(INDEX)}
        try:
            index = _index(lake.home / "index", pins, kept_for)
        except LithouseError as error:
            failures.append({"item": "index", "reason": error.message})
    result = {
        "status": "partial" if failures else "complete",
        "is_dry_run": dry_run,
        "grace_hours": grace,
        "tables": tables,
        "index": index,
        "failures": failures,
    }
    if as_json:
        print_json(result)
    else:
        _show(result)
    for table in (*tables, *index):
        if gone := ", ".join(map(str, table["pins_lost"])):
            note(f"{table['table']}: versions that surveys were made from were gone before: {gone}")
    for item in failures:
        note(f"Left undone: {item['item']}: {item['reason']}")
    sys.exit(3 if failures else 0)


def _index(folder: Path, pins: Mapping[str, Collection[int]], grace: timedelta) -> list[dict]:
    from indexes.maintenance import maintain

    return [
        {
            "table": f"index/{done.table}",
            "bytes_before": done.bytes_before,
            "bytes_after": done.bytes_after,
            "versions_kept": len(done.versions_kept),
            "versions_removed": len(done.versions_removed),
            "pins_lost": done.versions_missing,
        }
        for done in maintain(folder, pins, retain=grace)
    ]


def _show(result: dict) -> None:
    """The result as a person reads it: a line for each table where there was something to do."""
    rows = [*result["tables"], *result["index"]]
    told = {row["table"]: line for row in rows if (line := _line(row))}
    width = max(map(len, told), default=0)
    for table, line in told.items():
        click.echo(f"{table:<{width}}  {line}")
    if idle := len(rows) - len(told):
        click.echo(f"{idle} {'other ' if told else ''}tables: nothing to do")
    before, after = (sum(row[key] for row in rows) for key in ("bytes_before", "bytes_after"))
    would = "would be " if result["is_dry_run"] else ""
    change = "freed" if after <= before else "added"
    click.echo(f"{_size(before)} → {_size(after)}: {_size(abs(before - after))} {would}{change}")
    if any(row.get("joined") for row in rows) and result["grace_hours"] and not result["is_dry_run"]:
        click.echo(f"Files that were joined go when they were overtaken {result['grace_hours']:g} hours ago.")
    if result["is_dry_run"]:
        click.echo("The index was not looked at.")


def _line(row: dict) -> str:
    """What was done to one table, "" for nothing."""
    told = []
    if row.get("migrated_from") is not None:
        told.append(f"migrated from contract version {row['migrated_from']}")
    if row.get("joined"):
        told.append(f"{row['joined']} files joined into {row['written']}")
    if row["versions_removed"]:
        told.append(f"versions: {row['versions_kept']} kept, {row['versions_removed']} removed")
    if row["bytes_before"] != row["bytes_after"]:
        told.append(f"{_size(row['bytes_before'])} → {_size(row['bytes_after'])}")
    return ", ".join(told)


def _size(count: int) -> str:
    for unit, size in (("GB", 2**30), ("MB", 2**20)):
        if count >= size:
            return f"{count / size:,.1f} {unit}"
    return f"{count / 2**10:,.0f} kB"
