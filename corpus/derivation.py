"""Papers from records: field precedence over sources, clean values, dates and versions.

Belongs here: `derive_paper`, which is pure, and `derive_papers`, which brings the `papers` table up to date with
`arxiv_records`, rewriting only the months in which something changed. Not here: reading sources.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime

import polars as pl

from corpus.contracts.papers import PAPERS
from corpus.hashing import row_hashes, sources_hash, text_hash
from corpus.months import groups
from corpus.processes import in_processes
from corpus.tables import Lake, recomputed
from ingestion.cleanup import clean_abstract, clean_authors, clean_categories, clean_title, is_withdrawn
from ingestion.dates import first_version_date, parse_version_date, submission

DERIVATION = sources_hash(
    ("corpus/derivation.py", "ingestion/cleanup.py", "ingestion/cleaning.py", "ingestion/authors.py",
     "ingestion/tex.py", "ingestion/dates.py")
)  # fmt: skip
"""The rules below: when they change every paper is derived again."""

_PRECEDENCE = ("arxiv", "oai", "snapshot", "mirror", "import")
_AT_ONCE = 5_000  # records held as Python objects at a time
_WORTH_PROCESSES = 20_000  # records: 5 s of one core, where starting processes costs 1 s
_ANNOUNCED = ("announced", "s2-publication")
_TOLD = {"paper_id": pl.String, "content_hash": pl.String, "before": pl.String}
_NOT_CONTENT = ("paper_id", "id_month", "field_sources", "records_hash", "content_hash")


@dataclass(frozen=True)
class DerivedChange:
    """What bringing `papers` up to date did.

    Attributes:
        covers: as in `HarvestReport`; None where only some months were looked at.
    """

    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]
    months: tuple[date, ...]
    version: int | None
    commits: int
    covers: tuple[int | None, int | None, str] | None

    @property
    def is_committed(self) -> bool:
        return self.commits > 0


def derive_papers(lake: Lake, months: Collection[date] | None = None) -> DerivedChange:
    """Bring `papers` up to date with `arxiv_records`, in as few commits as memory allows.

    Args:
        lake: the lake.
        months: id months to look at, None for all.
    """
    records_version = lake.version("arxiv_records")
    done = [_derive_months(lake, group) for group in groups(_sizes(lake, months))]
    papers_version = lake.version("papers")
    is_all = months is None and lake.version("arxiv_records") == records_version
    told = pl.concat([pl.DataFrame(schema=_TOLD), *(d.told for d in done)])
    is_new = pl.col("before").is_null()
    return DerivedChange(
        added=tuple(told.filter(is_new)["paper_id"]),
        changed=tuple(told.filter(~is_new & (pl.col("before") != pl.col("content_hash")))["paper_id"]),
        removed=tuple(p for d in done for p in d.removed),
        months=tuple(sorted({m for d in done for m in d.months})),
        version=papers_version,
        commits=sum(d.is_committed for d in done),
        covers=(records_version, papers_version, DERIVATION) if is_all else None,
    )


@dataclass(frozen=True)
class _Derived:
    """One commit: derived papers (paper_id, content_hash, before: the hash held, null if none), and what went."""

    told: pl.DataFrame
    removed: list[str]
    months: list[date]

    @property
    def is_committed(self) -> bool:
        return bool(self.months)


@recomputed
def _derive_months(lake: Lake, months: list[date]) -> _Derived:
    version = lake.version("papers")
    records, papers = _records_and_papers(lake, months, version)
    stale, gone, held = _differences(records, papers)
    touched = _months(stale, gone, held)
    if not touched:
        return _Derived(pl.DataFrame(schema=_TOLD), [], [])
    # Only stale papers are derived; the other rows of a touched month are kept as they are.
    kept = (
        papers.filter(pl.col("id_month").is_in(touched))
        .join(stale.lazy(), on="paper_id", how="anti")
        .join(gone.lazy(), on="paper_id", how="anti")
        .collect()
    )
    source_rows = records.join(stale.lazy().select("paper_id"), on="paper_id", how="semi").collect()
    fresh = _derive(source_rows, dict(zip(stale["paper_id"], stale["records_hash"], strict=True)))
    rows = pl.concat([kept, fresh]).sort("id_month", "paper_id")
    lake.replace("papers", rows, {"id_month": touched}, on_top_of=version or 0)
    before = held.select("paper_id", pl.col("content_hash").alias("before"))
    told = fresh.select("paper_id", "content_hash").join(before, on="paper_id", how="left")
    return _Derived(told, gone["paper_id"].to_list(), touched)


def _sizes(lake: Lake, months: Collection[date] | None) -> dict[date, int]:
    """Stale month → rows that it has or is to have. A paper that changes its month has both in one group."""
    records, papers = _records_and_papers(lake, months, lake.version("papers"))
    stale, gone, held = _differences(records, papers)
    touched = _months(stale, gone, held)
    rows = pl.concat([records.select("paper_id", "id_month"), papers.select("paper_id", "id_month")])
    rows = rows.filter(pl.col("id_month").is_in(touched)).unique()
    return {**dict.fromkeys(touched, 0), **dict(rows.group_by("id_month").agg(pl.len()).collect().iter_rows())}


def covered_now(lake: Lake) -> tuple[int | None, int | None, str]:
    """Versions and rules of now, for a report to vouch for once nothing is stale between them."""
    return lake.version("arxiv_records"), lake.version("papers"), DERIVATION


def stale_months(lake: Lake) -> list[date]:
    """Id months in which `papers` is behind `arxiv_records`, as after a run that died between the two.

    Nothing is compared where the newest harvest's row vouches for the versions and rules of now.
    """
    newest = lake.scan("harvests").filter(pl.col("status") != "open").sort("finished_at").tail(1).collect().to_dicts()
    now = dict(zip(("records_version", "papers_version", "derivation"), covered_now(lake), strict=True))
    if any(row.items() >= now.items() for row in newest):
        return []
    return _months(*_differences(*_records_and_papers(lake, None, None)))


def _months(stale: pl.DataFrame, gone: pl.DataFrame, held: pl.DataFrame) -> list[date]:
    """Months to rewrite: also those in which a stale paper is held now."""
    before = held.join(stale, on="paper_id", how="semi")
    return sorted({*stale["id_month"], *gone["id_month"], *before["id_month"]})


def _records_and_papers(
    lake: Lake, months: Collection[date] | None, version: int | None
) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    tables = lake.scan("arxiv_records"), lake.scan("papers", version)
    if months is None:
        return tables
    return tuple(t.filter(pl.col("id_month").is_in(list(months))) for t in tables)


def _differences(records: pl.LazyFrame, papers: pl.LazyFrame) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Papers to derive anew, papers without records, and the hashes held."""
    wanted = _records_hashes(records)
    held = papers.select("paper_id", "id_month", "records_hash", "content_hash").collect()
    stale = wanted.join(held, on=["paper_id", "id_month", "records_hash"], how="anti")
    return stale, held.join(wanted, on="paper_id", how="anti"), held


def _records_hashes(records: pl.LazyFrame) -> pl.DataFrame:
    grouped = (
        records.select("paper_id", "id_month", "source", "content_hash")
        .sort("paper_id", "source")
        .group_by("paper_id", maintain_order=True)
        .agg(
            pl.col("id_month").min(),
            pl.concat_str("source", "content_hash", separator=" ").str.join(" ").alias("joined"),
        )
        .collect()
    )
    hashes = [text_hash(f"{DERIVATION} {joined}") for joined in grouped["joined"]]
    return grouped.drop("joined").with_columns(pl.Series("records_hash", hashes, dtype=pl.String))


def _derive(rows: pl.DataFrame, records_hashes: Mapping[str, str]) -> pl.DataFrame:
    """Rows of `papers` from rows of `arxiv_records`; many of them on all cores."""
    hashes = pl.DataFrame({"paper_id": list(records_hashes), "records_hash": list(records_hashes.values())})
    parts = [part.join(hashes, on="paper_id", how="left") for part in _whole_papers(rows.sort("paper_id"), _AT_ONCE)]
    is_much = rows.height >= _WORTH_PROCESSES
    frames = in_processes(derived_part, parts) if is_much else map(derived_part, parts)
    return pl.concat([pl.DataFrame(schema=PAPERS.polars_schema), *frames])


def _whole_papers(rows: pl.DataFrame, size: int) -> Iterator[pl.DataFrame]:
    """Slices of rows in order of paper_id of about this size, none of which ends within a paper."""
    begins = rows["paper_id"].rle_id()
    start = 0
    while start < rows.height:
        last = begins[min(start + size, rows.height) - 1]
        stop = start + int((begins[start:] <= last).sum())
        yield rows[start:stop]
        start = stop


def derived_part(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows of `papers` from rows of `arxiv_records`, with `records_hash`, in order of `paper_id`."""
    schema = PAPERS.polars_schema
    content = [c for c in schema if c not in _NOT_CONTENT]
    papers = [{**derive_paper(g), "records_hash": g[0]["records_hash"], "content_hash": ""} for g in _groups(rows)]
    frame = pl.DataFrame(papers, schema=schema)
    return frame.with_columns(row_hashes(frame, content).alias("content_hash"))


def _groups(rows: pl.DataFrame) -> Iterator[list[dict]]:
    """Records of one paper at a time, of rows in order of paper_id."""
    group: list[dict] = []
    for row in rows.iter_rows(named=True):
        if group and group[0]["paper_id"] != row["paper_id"]:
            yield group
            group = []
        group.append(row)
    if group:
        yield group


def _rank(record: Mapping) -> tuple:
    kind = record["source"].split(":", 1)[0]
    known = _PRECEDENCE.index(kind) if kind in _PRECEDENCE else len(_PRECEDENCE)
    return known, -record["harvested_at"].timestamp(), record["source"]


def derive_paper(records: Sequence[Mapping]) -> dict:
    """One row of `papers` (without its hashes) from all records of a paper.

    Field by field, the first source that knows a value gives it: arXiv itself, then a snapshot, a mirror, an
    import; among equals the one harvested last; records of a version known to be superseded come after all others.
    An author's own abstract goes before a summary by the project. A gap in all sources stays null.
    """
    versions = _versions(records)
    latest = max((v["number"] for v in versions), default=None)
    if len(records) > 1:
        records = sorted(records, key=lambda r: (_is_superseded(r, latest), *_rank(r)))
    first = records[0]
    origins: dict[str, str] = {}

    def known(field: str, clean, rows: Sequence[Mapping] = records):
        for record in rows:
            value = clean(record[field])
            if value:
                origins[field] = record["source"]
                return value, record
        return None, None

    title, _ = known("title", clean_title)
    by_origin = sorted(records, key=lambda r: r["abstract_origin"] != "source") if len(records) > 1 else records
    abstract, abstract_record = known("abstract", clean_abstract, by_origin)
    authors, _ = known("authors", lambda raw: (a := clean_authors(raw)) and (a.persons or a.groups) and a)
    categories, _ = known("categories", clean_categories)
    comments, _ = known("comments", clean_abstract)
    # As of the latest version: what a superseded record says of withdrawal does not count.
    evidence = _first(is_withdrawn(r["comments"], r["abstract"]) for r in records if not _is_superseded(r, latest))
    id_month = min(r["id_month"] for r in records)
    dates = submission(
        first_version=_first(first_version_date(r["versions"]) for r in records),
        announced=_first(_day(r["update_date"]) for r in records if r["date_kind"] in _ANNOUNCED),
        id_month=id_month,
    )
    return {
        "paper_id": first["paper_id"],
        "id_month": id_month,
        "title": title or first["title"],
        "abstract": abstract,
        "abstract_origin": (abstract_record or first)["abstract_origin"],
        "authors": list(authors.persons) if authors else None,
        "collaborations": list(authors.groups) if authors else None,
        "categories": list(categories) if categories else None,
        "primary_category": categories[0] if categories else None,
        "submitted_on": dates.submitted_on,
        "submitted_latest": dates.submitted_latest,
        "submitted_precision": dates.precision,
        "updated_on": _updated_on(records, versions),
        "latest_version": latest,
        "versions": versions or None,
        "is_withdrawn": evidence is not None,
        "withdrawn_evidence": evidence,
        "doi": known("doi", _stripped)[0],
        "journal_ref": known("journal_ref", clean_title)[0],
        "license": known("license", _stripped)[0],
        "comments": comments,
        "field_sources": [{"field": f, "source": s} for f, s in sorted(origins.items())],
    }


def _versions(records: Sequence[Mapping]) -> list[dict]:
    """All versions any source knows, by number; a version named only by an id has no time."""
    known: dict[int, datetime | None] = {}
    for record in sorted(records, key=_rank):
        for number, created in _numbered(record):
            known[number] = known.get(number) or created
    return [{"number": number, "created_at": known[number]} for number in sorted(known)]


def _numbered(record: Mapping) -> Iterator[tuple[int, datetime | None]]:
    for version in record["versions"] or []:
        match = re.fullmatch(r"v?([1-9][0-9]{0,3})", (version["version"] or "").strip().lower())
        if match:
            yield int(match.group(1)), parse_version_date(version["created"])
    if record["version"]:
        yield record["version"], None


def _is_superseded(record: Mapping, latest: int | None) -> bool:
    """Whether a record names a version, and a newer one is known."""
    newest = max((number for number, _ in _numbered(record)), default=latest)
    return newest != latest


def _updated_on(records: Sequence[Mapping], versions: Sequence[Mapping]) -> date | None:
    if versions and versions[-1]["created_at"]:
        return versions[-1]["created_at"].date()
    return _first(_day(r["update_date"]) for r in records if r["date_kind"] in (None, "updated"))


def _first(values):
    return next((v for v in values if v is not None), None)


def _day(text: str | None) -> date | None:
    found = parse_version_date(text)
    return found.date() if found else None


def _stripped(text: str | None) -> str | None:
    return (text or "").strip() or None
