"""What a harvest may not change of what is held: the month of a work, and versions downwards.

Belongs here: fresh keys brought in keeping with the records of the lake. Not here: what a record says by itself
(`corpus.keyed`), which months are replaced (`corpus.harvest`).
"""

import polars as pl

from corpus.keyed import NEWEST, hashed, is_arxiv, newest_version
from corpus.source_reading import Reading

SAID_MONTH, GIVEN_VERSION = "said_month", "given_version"
_AT_ONCE = 50_000  # records rehashed at a time


def in_keeping(
    reading: Reading, keys: pl.DataFrame, records: pl.LazyFrame, of_source: pl.LazyFrame
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Fresh keys in keeping with what is held: months stay, versions never go down.

    A record that names an older version than the one its source gave before is refused; one that names none keeps
    the number.

    Args:
        keys: of the reading.
        records: what is held of all sources, for the months of works from outside arXiv.
        of_source: what is held of this source.

    Returns:
        Keys with `said_month` (the month before it was kept) and `given_version` (null: the record's own), and the
        refused ones, with `_held`.
    """
    fresh = keys.with_columns(pl.col("id_month").alias(SAID_MONTH))
    elsewhere = fresh.filter(~is_arxiv())["paper_id"].to_list()
    if elsewhere:
        months = records.filter(pl.col("paper_id").is_in(elsewhere)).group_by("paper_id")
        held = months.agg(pl.col("id_month").min().alias("_month")).collect()
        fresh = fresh.join(held, on="paper_id", how="left", maintain_order="left").with_columns(
            pl.coalesce("_month", "id_month").alias("id_month")
        )
        fresh = fresh.drop("_month")
    known = of_source.select("paper_id", newest_version().alias("_held")).drop_nulls().collect()
    fresh = fresh.join(known, on="paper_id", how="left", maintain_order="left")
    is_older = (pl.col(NEWEST) < pl.col("_held")).fill_null(False)
    is_unnamed = pl.col(NEWEST).is_null() & pl.col("_held").is_not_null()
    older, unnamed = fresh.filter(is_older), fresh.filter(is_unnamed)
    plain = fresh.filter(~(is_older | is_unnamed)).with_columns(pl.lit(None, dtype=pl.Int32).alias(GIVEN_VERSION))
    numbered = [_numbered(reading, part) for part in unnamed.iter_slices(_AT_ONCE)]
    return pl.concat([plain.drop("_held"), *numbered]), older


def _numbered(reading: Reading, keys: pl.DataFrame) -> pl.DataFrame:
    """Keys of records that name no version, with the held one and the hash of the record that names it."""
    place = ["source_file", "source_line"]
    keys = keys.rename({"_held": GIVEN_VERSION})
    said = with_given_versions(reading.records(keys), keys)
    return (
        keys.drop("content_hash")
        .join(said.select(*place, "content_hash"), on=place, maintain_order="left")
        .select(keys.columns)
    )


def with_given_versions(records: pl.DataFrame, keys: pl.DataFrame) -> pl.DataFrame:
    """Records with the versions that their keys give them, and their hashes."""
    place = ["source_file", "source_line"]
    given = keys.filter(pl.col(GIVEN_VERSION).is_not_null()).select(*place, GIVEN_VERSION)
    if given.is_empty():
        return records
    columns = records.columns
    joined = records.join(given, on=place, how="left", maintain_order="left")
    named = joined.filter(pl.col(GIVEN_VERSION).is_null()).select(columns)
    numbered = joined.filter(pl.col(GIVEN_VERSION).is_not_null()).with_columns(pl.col(GIVEN_VERSION).alias("version"))
    return pl.concat([named, hashed(numbered).select(columns)])
