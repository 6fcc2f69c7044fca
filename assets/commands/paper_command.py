"""`lithouse paper`."""

import click

from assets.commands.options import Command, json_flag, print_json
from assets.home import lithouse_home


@click.command("paper", cls=Command)
@click.argument("paper_id", metavar="ID")
@json_flag
def command(paper_id: str, as_json: bool) -> None:
    """What is held of a paper. ID in any form: 2005.11401v4, hep-th/9901001, an address, a DOI."""
    from corpus.lookup import look_up
    from corpus.tables import Lake

    found = look_up(Lake(lithouse_home()), paper_id)
    if as_json:
        print_json(found)
        return
    click.echo(found["title"])
    names = [*(found["authors"] or []), *(found["collaborations"] or [])]
    click.echo(f"  {', '.join(names) if names else 'authors unknown: no source names any'}")
    precision = {"day": "submitted", "announced": "announced", "month": "in the month of", "year": "in the year to"}
    click.echo(f"  {found['paper_id']} · {precision[found['submitted_precision']]} {found['submitted_latest']}"
               f"{' · withdrawn: ' + found['withdrawn_evidence'] if found['is_withdrawn'] else ''}")  # fmt: skip
    if found["latest_version"]:
        click.echo(f"  versions held: {', '.join('v' + str(v['number']) for v in found['versions'])}")
    if found["abstract"]:
        mark = "" if found["abstract_origin"] == "source" else f" ({found['abstract_origin']})"
        click.echo(f"\n{found['abstract']}{mark}\n")
    click.echo(f"  cites {len(found['references'])} and is cited by {len(found['citations'])} papers known to the lake")
