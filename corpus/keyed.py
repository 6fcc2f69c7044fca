"""From raw records to keyed ones: id, version, month; one record a paper; what a cutoff keeps.

Belongs here: what can be said of a record from itself and its file. Not here: what is held (`corpus.harvest`),
reading files (`ingestion`).
"""

from datetime import date

import polars as pl

from corpus.hashing import row_hashes
from ingestion.dates import first_version_date, parse_version_date
from ingestion.identity import UnreadableId, id_month, parse_paper_id
from ingestion.records import RAW_SCHEMA, Refusal

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


def no_keyed_records() -> pl.DataFrame:
    """An empty frame of keyed records."""
    return keyed_records(pl.DataFrame(schema=RAW_SCHEMA))[0]


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


def within(frame: pl.DataFrame, cutoff: date | None) -> pl.DataFrame:
    """Id months up to the cutoff's month whole; of later months the records whose first version is within it."""
    if cutoff is None:
        return frame
    early = pl.col("id_month") <= cutoff.replace(day=1)
    later = frame.filter(~early)
    first = [first_version_date(versions) for versions in later["versions"].to_list()]
    kept = later.filter(pl.Series([day is not None and day <= cutoff for day in first], dtype=pl.Boolean))
    return pl.concat([frame.filter(early), kept])


def one_per_paper(frame: pl.DataFrame) -> tuple[pl.DataFrame, list[Refusal]]:
    """Of several records of one paper the one with the newest version stands, else the last; the others are told."""
    order = frame.with_columns(newest_version().fill_null(0).alias("_newest"), pl.int_range(pl.len()).alias("_order"))
    order = order.sort("paper_id", "_newest", "_order")
    best = order.unique("paper_id", keep="last", maintain_order=True)
    doubled = order.join(best.select("_order"), on="_order", how="anti", maintain_order="left").join(
        best.select("paper_id", pl.col("source_line").alias("_line"), pl.col("source_file").alias("_file")),
        on="paper_id",
        maintain_order="left",
    )
    refusals = [
        refusal(row, f"paper {row['paper_id']} is given again, newer or later, in {row['_file']}, line {row['_line']}")
        for row in doubled.iter_rows(named=True)
    ]
    return best.drop("_newest", "_order"), refusals


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
