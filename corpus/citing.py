"""Edges that reference lists give: `citations` with the sentences in which each citation stands.

Belongs here: bringing the edges of some papers' bibliographies into `citations`. Not here: resolving entries
(`corpus.resolution`), edges that sources give as such (`corpus.sidetables`).
"""

from collections.abc import Collection
from dataclasses import dataclass

import polars as pl

from corpus.contracts.sources import CITATIONS
from corpus.tables import Lake, recomputed

FROM_TEXT = "bibliography"
"""The source named in `citations.sources` for edges read from reference lists."""

_KEYS = ["citing_id", "cited_id"]


@dataclass(frozen=True)
class TextEdges:
    """Edges read from the papers' lists, references of papers to themselves, and whether a commit was made."""

    edges: int
    self_loops: int
    is_committed: bool


@recomputed
def store_text_edges(lake: Lake, paper_ids: Collection[str], entries: pl.DataFrame) -> TextEdges:
    """Make `citations` say what the bibliographies of these papers say; what other sources say of them stays.

    A paper that lists itself gives no edge, and is counted. Contexts of an edge are those of all its entries, in the
    order of the text, each once.

    Args:
        entries: all rows of `bibliography` that these papers have.
    """
    if not paper_ids:
        return TextEdges(0, 0, is_committed=False)
    wanted = sorted(set(paper_ids))
    entries = (
        entries.filter(pl.col("paper_id").is_in(wanted), pl.col("cited_id").is_not_null())
        .sort("paper_id", "sha256", "position")
        .select(
            pl.col("paper_id").alias("citing_id"),
            "cited_id",
            pl.col("contexts").list.eval(pl.element().struct.field("text")).alias("contexts"),
        )
    )
    loops = entries.filter(pl.col("citing_id") == pl.col("cited_id"))
    said = (
        entries.join(loops, on=_KEYS, how="anti")
        .group_by(_KEYS, maintain_order=True)
        .agg(pl.col("contexts").list.explode(keep_nulls=False, empty_as_null=False).unique(maintain_order=True))
    )
    version = lake.version("citations")
    held = lake.scan("citations", version).filter(pl.col("citing_id").is_in(wanted)).collect()
    others = held.with_columns(pl.col("sources").list.set_difference([FROM_TEXT]).list.sort())
    others = others.filter(pl.col("sources").list.len() > 0).drop("contexts")
    ours = said.with_columns(pl.lit([FROM_TEXT], dtype=pl.List(pl.String)).alias("ours"))
    empty = pl.lit([], dtype=pl.List(pl.String))
    rows = (
        others.join(ours, on=_KEYS, how="full", coalesce=True)
        .with_columns(
            pl.concat_list(pl.col("sources").fill_null(empty), pl.col("ours").fill_null(empty)).list.sort(),
            pl.col("contexts").fill_null(empty),
        )
        .select(list(CITATIONS.polars_schema))
        .sort(_KEYS)
    )
    if rows.equals(held.sort(_KEYS)):
        return TextEdges(len(said), len(loops), is_committed=False)
    lake.replace("citations", rows, {"citing_id": wanted}, on_top_of=version or 0)
    return TextEdges(len(said), len(loops), is_committed=True)
