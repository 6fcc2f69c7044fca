"""Citations and human outlines: side data brought into their tables, touching only what changed."""

from dataclasses import dataclass

import polars as pl

from corpus.contracts.sources import CITATIONS, HUMAN_OUTLINES
from corpus.tables import Lake, recomputed
from ingestion.sidedata import Edge, HumanOutlineRecord


@dataclass(frozen=True)
class SideChange:
    """Rows added, changed and removed, and whether a commit was made."""

    added: int
    changed: int
    removed: int
    is_committed: bool


@recomputed
def store_edges(lake: Lake, source: str, edges: list[Edge]) -> SideChange:
    """Make `citations` say exactly these edges for this source; other sources' edges stay.

    New edges alone are appended; only where a known edge gains or loses a source is the table rewritten.
    """
    said = pl.DataFrame(
        {"citing_id": [e.citing_id for e in edges], "cited_id": [e.cited_id for e in edges]},
        schema={"citing_id": pl.String, "cited_id": pl.String},
    )
    keys = ["citing_id", "cited_id"]
    version = lake.version("citations")
    table = lake.scan("citations", version)
    fresh = said.lazy().join(table.select(keys), on=keys, how="anti").collect()
    gains = table.join(said.lazy(), on=keys, how="semi").filter(~pl.col("sources").list.contains(source))
    losses = table.join(said.lazy(), on=keys, how="anti").filter(pl.col("sources").list.contains(source))
    gain_count, loss_count = (int(f.select(pl.len()).collect().item()) for f in (gains, losses))
    new_rows = fresh.with_columns(
        pl.lit([source], dtype=pl.List(pl.String)).alias("sources"),
        pl.lit([], dtype=pl.List(pl.String)).alias("contexts"),
    ).sort(keys)  # a file then knows which citing papers it holds, and queries skip the others
    if not (gain_count or loss_count):
        if len(fresh):
            lake.append("citations", new_rows, on_top_of=version or 0)
        return SideChange(len(fresh), 0, 0, bool(len(fresh)))
    kept = (
        table.join(said.lazy().with_columns(pl.lit(True).alias("_said")), on=keys, how="left")
        .with_columns(
            pl.when(pl.col("_said"))
            .then(pl.concat_list("sources", pl.lit([source], dtype=pl.List(pl.String))).list.unique().list.sort())
            .otherwise(pl.col("sources").list.set_difference([source]).list.sort())
            .alias("sources")
        )
        .filter(pl.col("sources").list.len() > 0)
        .drop("_said")
        .collect()
    )
    rows = pl.concat([kept, new_rows]).select(list(CITATIONS.polars_schema)).sort(keys)
    lake.replace("citations", rows, None, on_top_of=version or 0)
    return SideChange(len(fresh), gain_count, loss_count, is_committed=True)


@recomputed
def store_outlines(lake: Lake, source: str, outlines: list[HumanOutlineRecord]) -> SideChange:
    """Make `human_outlines` hold exactly these outlines for this source.

    An outline that another source holds too is replaced by this one: the last import of a survey's outline stands.
    """
    rows = [
        {
            "outline_id": o.outline_id,
            "position": position,
            "source": source,
            "paper_id": o.paper_id,
            "title": o.title,
            "level": h.level,
            "heading": h.title,
            "content_hash": content_hash,
        }
        for o in outlines
        for content_hash in (o.content_hash,)
        for position, h in enumerate(o.headings, start=1)
    ]
    fresh = pl.DataFrame(rows, schema=HUMAN_OUTLINES.polars_schema)
    version = lake.version("human_outlines")
    table = lake.scan("human_outlines", version)
    held = table.select("outline_id", "source", "content_hash").unique().collect()
    now = fresh.select("outline_id", "source", "content_hash").unique()
    added = now.join(held, on="outline_id", how="anti")
    changed = now.join(held, on=["outline_id", "source", "content_hash"], how="anti").join(
        added, on="outline_id", how="anti"
    )
    removed = held.filter(pl.col("source") == source).join(now, on="outline_id", how="anti")
    if not (len(added) or len(changed) or len(removed)):
        return SideChange(0, 0, 0, is_committed=False)
    kept = table.filter(pl.col("source") != source).collect().join(now, on="outline_id", how="anti")
    rows = pl.concat([kept, fresh]).sort("outline_id", "position")
    lake.replace("human_outlines", rows, None, on_top_of=version or 0)
    return SideChange(len(added), len(changed), len(removed), is_committed=True)
