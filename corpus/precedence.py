"""One paper from its records: field precedence over sources, clean values, dates and versions. Pure.

Belongs here: whom to believe. Not here: which papers are stale (`corpus.derivation`), reading sources.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime

import polars as pl

from corpus.contracts.papers import PAPERS
from corpus.hashing import row_hashes
from ingestion.cleanup import clean_abstract, clean_authors, clean_categories, clean_title, is_withdrawn
from ingestion.dates import first_version_date, parse_version_date, submission

_PRECEDENCE = ("arxiv", "oai", "snapshot", "mirror", "import")
_ANNOUNCED = ("announced", "s2-publication")
_NOT_CONTENT = ("paper_id", "id_month", "field_sources", "records_hash", "content_hash")


def derived_papers(rows: pl.DataFrame) -> pl.DataFrame:
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
