"""Which id months are complete: what a source can no longer add to.

Belongs here: judging from `harvests`. Not here: harvesting.
"""

from datetime import date, timedelta

import polars as pl

from corpus.tables import Lake

SETTLING_DAYS = 7
"""A paper may be announced some days after its month's end; a month is complete once its source is so much later."""


def months_by_source(lake: Lake) -> pl.DataFrame:
    """Source × id month that it has records of: source, id_month, papers, is_complete.

    A month is complete if a complete harvest saw it whole (its month is not after the cutoff's) and the source, by the
    newest day that its records name, was read at least seven days after the month's end.
    """
    seen = (
        lake.scan("arxiv_records")
        .group_by("source", "id_month")
        .agg(pl.len().cast(pl.Int64).alias("papers"))
        .sort("source", "id_month")
        .collect()
    )
    complete = lake.scan("harvests").filter(pl.col("status") == "complete", pl.col("as_of").is_not_null())
    rows = complete.select("source", "cutoff", "as_of").collect()
    ends: dict[str, date] = {}
    for source, cutoff, as_of in rows.iter_rows():
        end = _last_complete_month(cutoff or date.max, as_of)
        ends[source] = max(ends.get(source, date.min), end)
    last = pl.DataFrame(
        {"source": list(ends), "_last": list(ends.values())}, schema={"source": pl.String, "_last": pl.Date}
    )
    judged = seen.join(last, on="source", how="left", maintain_order="left")
    return judged.with_columns((pl.col("id_month") <= pl.col("_last")).fill_null(False).alias("is_complete")).drop(
        "_last"
    )


def _last_complete_month(cutoff: date, as_of: date) -> date:
    """First day of the last month that ended early enough before `as_of`, and is not after the cutoff's."""
    settled = as_of - timedelta(days=SETTLING_DAYS)
    ended = (settled.replace(day=1) - timedelta(days=1)).replace(day=1)
    if (settled + timedelta(days=1)).day == 1:  # the month ends on that very day
        ended = settled.replace(day=1)
    return min(ended, cutoff.replace(day=1))
