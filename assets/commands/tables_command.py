"""`lithouse tables`."""

import click

from assets.commands.options import Command, json_flag, print_json
from assets.home import lithouse_home


@click.command("tables", cls=Command)
@click.argument("name", required=False)
@click.option("--markdown", is_flag=True, help="The whole dictionary as Markdown.")
@json_flag
def command(name: str | None, markdown: bool, as_json: bool) -> None:
    """The data dictionary: all tables, or the columns of one."""
    from corpus import dictionary
    from corpus.contracts.registry import CONTRACTS
    from corpus.tables import Lake
    from ingestion.errors import NotFound

    if name and name not in CONTRACTS:
        raise NotFound("there is no table", which=name, advice=f"Tables: {', '.join(CONTRACTS)}.")
    chosen = [CONTRACTS[name]] if name else list(CONTRACTS.values())
    if as_json:
        print_json([dictionary.as_json(contract) for contract in chosen])
    elif markdown:
        click.echo(dictionary.markdown(), nl=False)
    elif name:
        click.echo(f"{name}: one row per {chosen[0].summary}; key {', '.join(chosen[0].keys)}")
        for column, kind, nullable, unit, meaning in chosen[0].rows():
            click.echo(
                f"  {column:<20} {kind + (' or null' if nullable else ''):<32} {meaning}{f' [{unit}]' if unit else ''}"
            )
    else:
        lake = Lake(lithouse_home())
        for contract in chosen:
            click.echo(f"{contract.name:<18} {lake.row_count(contract.name):>9,} rows  one row per {contract.summary}")
