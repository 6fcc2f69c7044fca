"""What a harvest may not change of what is held: the month of a work, and versions downwards.

Belongs here: fresh records brought in keeping with the records of the lake. Not here: what a record says by itself
(`corpus.keyed`), which months are replaced (`corpus.harvest`).
"""

import polars as pl

from corpus.keyed import hashed, is_arxiv, newest_version, refusal
from ingestion.records import Refusal


def in_keeping(
    fresh: pl.DataFrame, records: pl.LazyFrame, of_source: pl.LazyFrame
) -> tuple[pl.DataFrame, list[Refusal]]:
    """Fresh records in keeping with what is held: months stay, versions never go down.

    A record that names an older version than the one its source gave before is refused; one that names none keeps
    the number.
    """
    columns = fresh.columns
    elsewhere = fresh.filter(~is_arxiv())["paper_id"].to_list()
    if elsewhere:
        months = records.filter(pl.col("paper_id").is_in(elsewhere)).group_by("paper_id")
        held = months.agg(pl.col("id_month").min().alias("_month")).collect()
        fresh = fresh.join(held, on="paper_id", how="left", maintain_order="left").with_columns(
            pl.coalesce("_month", "id_month").alias("id_month")
        )
    known = of_source.select("paper_id", newest_version().alias("_held")).drop_nulls().collect()
    fresh = fresh.join(known, on="paper_id", how="left", maintain_order="left").with_columns(
        newest_version().alias("_newest")
    )
    unnamed = pl.col("_newest").is_null() & pl.col("_held").is_not_null()
    numbered = fresh.filter(unnamed).with_columns(pl.col("_held").alias("version")).select(columns)
    is_older = pl.col("_newest") < pl.col("_held")
    older = [
        refusal(row, f"version {row['_newest']} is older than version {row['_held']}, which this source gave before")
        for row in fresh.filter(is_older).iter_rows(named=True)
    ]
    kept = fresh.filter(~(unnamed | is_older.fill_null(False))).select(columns)
    return pl.concat([kept, hashed(numbered)]), older
