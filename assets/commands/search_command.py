"""`lithouse search`."""

from datetime import date

import click

from assets.commands.options import Command, cutoff_option, json_flag, print_json
from assets.home import lithouse_home


@click.command("search", cls=Command)
@click.argument("query")
@cutoff_option
@click.option("-k", "count", type=click.IntRange(1, 10_000), default=20, show_default=True, help="Papers to give.")
@json_flag
def command(query: str, cutoff: date | None, count: int, as_json: bool) -> None:
    """Search titles and abstracts: full text, fused with embeddings where the papers have them.

    Every character of QUERY is plain text. Without --cutoff all papers held are searched.
    """
    import polars as pl

    from corpus.tables import Lake
    from generation.workshop import Workshop

    workshop = Workshop(lithouse_home())
    hits = workshop.index.search(query, count, cutoff=cutoff or date.max)
    ids = [hit.paper_id for hit in hits]
    rows = Lake(lithouse_home()).scan("papers").filter(pl.col("paper_id").is_in(ids))
    held = {r["paper_id"]: r for r in rows.select("paper_id", "title", "submitted_latest").collect().to_dicts()}
    found = [
        {
            "paper_id": hit.paper_id,
            "title": held[hit.paper_id]["title"],
            "submitted_latest": held[hit.paper_id]["submitted_latest"].isoformat(),
            "score": round(hit.score, 6),
        }
        for hit in hits
    ]
    if as_json:
        print_json(found)
        return
    for row in found:
        click.echo(f"{row['paper_id']:<18} {row['submitted_latest']}  {row['title']}")
    if not found:
        click.echo("No paper matches.", err=True)
