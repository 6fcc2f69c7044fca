"""`lithouse search`."""

from datetime import date
from typing import TYPE_CHECKING

import click

from assets.commands.options import Command, cutoff_option, json_flag, print_json
from assets.home import lithouse_home

if TYPE_CHECKING:
    from corpus.tables import Lake
    from indexes.paper_index import PaperIndex


@click.command("search", cls=Command)
@click.argument("query")
@cutoff_option
@click.option("-k", "count", type=click.IntRange(1, 10_000), default=20, show_default=True, help="Papers to give.")
@click.option(
    "--as-of",
    metavar="EDITION",
    help="Papers and index as they were when a survey was made: SLUG, SLUG/METHOD or SLUG/METHOD@EDITION.",
)
@json_flag
def command(query: str, cutoff: date | None, count: int, as_of: str | None, as_json: bool) -> None:
    """Search titles and abstracts: full text, fused with embeddings where the papers have them.

    Every character of QUERY is plain text. Without --cutoff all papers held are searched.
    """
    import polars as pl

    from corpus.tables import Lake
    from generation.workshop import Workshop

    lake = Lake(lithouse_home())
    newest = lake.version("papers")  # before the index is opened: a refresh may come in between
    index, version = _as_of(lake, as_of) if as_of else (Workshop(lake.home).index, newest)
    hits = index.search(query, count, cutoff=cutoff or date.max)
    ids = [hit.paper_id for hit in hits]
    rows = lake.scan("papers", version).filter(pl.col("paper_id").is_in(ids))
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


def _as_of(lake: "Lake", edition: str) -> "tuple[PaperIndex, int]":
    """The index and the version of the table of papers that the edition's manifest names."""
    from generation.lineage import find_edition
    from indexes.paper_index import PaperIndex

    manifest = {m["table"]: m["version"] for m in find_edition(lake, edition)["manifest"]}
    versions = {name.removeprefix("index/"): v for name, v in manifest.items() if name.startswith("index/paper_")}
    return PaperIndex.open(lake.home / "index", versions=versions), manifest["papers"]
