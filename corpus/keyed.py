"""From raw records to keyed ones: id, version, month; one record a paper; what a cutoff keeps.

Belongs here: what can be said of a record from itself and its file. Not here: what is held (`corpus.harvest`),
reading files (`ingestion`).
"""

from datetime import date

import polars as pl

from corpus.hashing import row_hashes
from ingestion.dates import first_version_date, parse_version_date
from ingestion.identity import UnreadableId, id_month, parse_paper_id
from ingestion.records import Refusal

NEWEST, FIRST_DAY = "newest_version", "first_day"

_SAID = (
    "version", "title", "abstract", "authors", "categories", "comments", "journal_ref", "doi", "license",
    "versions", "update_date", "date_kind", "abstract_origin",
)  # fmt: skip


def hashed(records: pl.DataFrame) -> pl.DataFrame:
    """Records with the hash of everything their source said."""
    return records.with_columns(row_hashes(records, _SAID).alias("content_hash"))


def keyed_records(raw: pl.DataFrame) -> tuple[pl.DataFrame, list[Refusal]]:
    """Add `paper_id`, `version` and `id_month`; refuse records whose id or month cannot be known."""
    ids, versions, months, refusals = [], [], [], []
    for row in raw.iter_rows(named=True):
        key, version, month, reason = _key(row)
        ids.append(key)
        versions.append(version)
        months.append(month)
        if reason:
            refusals.append(refusal(row, reason))
    keyed = raw.with_columns(
        pl.Series("paper_id", ids, dtype=pl.String),
        pl.Series("version", versions, dtype=pl.Int32),
        pl.Series("id_month", months, dtype=pl.Date),
    )
    return keyed.filter(pl.col("id_month").is_not_null()), refusals


def refusal(row: dict, reason: str) -> Refusal:
    """The refusal of a record that was read."""
    text = f"{row['source_id']} | {row['title']}"[:2000]
    return Refusal(row["source_file"], row["source_line"], row["source_id"], reason, text)


def readable_ids(refusals: list[Refusal]) -> set[str]:
    """Papers that refused records speak of, as far as their ids can be read."""
    found = set()
    for raw_id in {r.raw_id for r in refusals if r.raw_id}:
        try:
            found.add(parse_paper_id(raw_id).value)
        except UnreadableId:
            continue
    return found


def is_arxiv() -> pl.Expr:
    """Whether `paper_id` is an arXiv id: its month is in the id."""
    return ~pl.col("paper_id").str.contains("^(?:doi|local):")


def newest_version() -> pl.Expr:
    """Newest version that a record knows, from its id or its list of versions; null where it names none."""
    written = pl.element().struct.field("version").str.strip_chars().str.extract("^[vV]?([1-9][0-9]{0,3})$", 1)
    return pl.max_horizontal("version", pl.col("versions").list.eval(written.cast(pl.Int32)).list.max())


def first_days(records: pl.DataFrame) -> pl.Series:
    """UTC day of each record's first version, null unless it is known."""
    days = [first_version_date(versions) for versions in records["versions"].to_list()]
    return pl.Series(FIRST_DAY, days, dtype=pl.Date)


def named_day(records: pl.DataFrame) -> date | None:
    """Newest day that any of the records names: the source knows of nothing later. Needs `first_day`."""
    updated = records["update_date"].str.slice(0, 10).str.to_date("%Y-%m-%d", strict=False)
    return max((d for d in (updated.max(), records[FIRST_DAY].max()) if d), default=None)


def within(keys: pl.DataFrame, cutoff: date | None) -> pl.DataFrame:
    """Id months up to the cutoff's month whole; of later months the records whose first version is within it."""
    if cutoff is None:
        return keys
    early = pl.col("id_month") <= cutoff.replace(day=1)
    return keys.filter(early | (pl.col(FIRST_DAY) <= cutoff).fill_null(False))


def one_per_paper(keys: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Of several records of one paper the one with the newest version stands, else the last.

    Returns:
        The keys that stand, and the others with `_file` and `_line` of the one that stands for them.
    """
    order = keys.with_columns(pl.int_range(pl.len()).alias("_order"))
    order = order.sort("paper_id", pl.col(NEWEST).fill_null(0), "_order")
    best = order.unique("paper_id", keep="last", maintain_order=True)
    doubled = order.join(best.select("_order"), on="_order", how="anti", maintain_order="left").join(
        best.select("paper_id", pl.col("source_line").alias("_line"), pl.col("source_file").alias("_file")),
        on="paper_id",
        maintain_order="left",
    )
    return best.drop("_order"), doubled.drop("_order")


def _key(row: dict) -> tuple[str | None, int | None, date | None, str]:
    try:
        paper = parse_paper_id(row["source_id"])
    except UnreadableId as error:
        return None, None, None, error.message
    month = id_month(paper.value)
    if month is None:
        day = first_version_date(row["versions"]) or _day(row["update_date"])
        if day is None:
            return paper.value, paper.version, None, "a work from outside arXiv needs a date and has none"
        month = day.replace(day=1)
    return paper.value, paper.version, month, ""


def _day(text: str | None) -> date | None:
    found = parse_version_date(text)
    return found.date() if found else None
