"""Documents, sections, passages and bibliographies in the lake, whole papers at a time.

Belongs here: writing the rows of read files, and reading them back. Not here: making the rows (`corpus.document_rows`),
which file is read (`corpus.document_choice`).
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import date

import polars as pl

from corpus.contracts.registry import CONTRACTS
from corpus.document_choice import NO_FILE, is_hashed, is_possibly_later, version_day
from corpus.document_rows import Rows
from corpus.tables import Lake, recomputed
from corpus.visibility import View


def store_documents(lake: Lake, read: Sequence[Rows]) -> None:
    """Write what was read of some papers, replacing what their files gave before; `documents` is written last.

    A paper whose write was cut off has no row in `documents` and is read again. The row of a paper without a file
    gives way to that of its file.
    """
    if not read:
        return
    held = _held(lake, read)
    read = [_with_copies(r, held) for r in read]
    superseded = _superseded(held, read)
    _replace(lake, "sections", read, superseded, [row for r in read for row in r.sections])
    _replace(lake, "passages", read, superseded, [row for r in read for row in r.passages])
    _replace(lake, "bibliography", read, superseded, [row for r in read for row in r.entries])
    _replace(lake, "documents", read, superseded, [r.document for r in read])


_PLACE = ("source", "file", "size_bytes", "modified_at", "version", "version_on")


def _held(lake: Lake, read: Sequence[Rows]) -> list[dict]:
    """Rows of `documents` of the same papers, as far as they tell which file they are of."""
    papers, months = _keys(read)
    scan = lake.scan("documents").filter(pl.col("id_month").is_in(months), pl.col("paper_id").is_in(papers))
    return scan.select("paper_id", "sha256", *_PLACE, "copies").collect().to_dicts()


def _with_copies(read: Rows, held: Sequence[dict]) -> Rows:
    """What was read, with the other files of the paper that were found to have the same content.

    Without them each of two equal files would take the other's row away, and be due again. The row is that of the
    lowest version: what an early version says was known on its day.
    """
    document = read.document
    if document.get("source") is None:
        return read
    key = (read.paper_id, document["sha256"])
    places = [
        _place(p) for row in held if (row["paper_id"], row["sha256"]) == key for p in (row, *(row["copies"] or ()))
    ]
    own = _place(document)
    others = [p for p in places if (p["source"], p["file"]) != (own["source"], own["file"])]
    first, *copies = sorted([own, *others], key=lambda p: (p["version"] is None, p["version"] or 0))
    return replace(read, document={**document, **first, "copies": copies})


def _place(row: dict) -> dict:
    return {name: row[name] for name in _PLACE}


def _superseded(held: Sequence[dict], read: Sequence[Rows]) -> pl.DataFrame:
    """(paper_id, sha256) of what gives way: the same content, the row without a file, and what a file held before."""
    files = {(r.paper_id, r.document.get("source"), r.document.get("file")) for r in read}
    pairs = {(h["paper_id"], h["sha256"]) for h in held if (h["paper_id"], h["source"], h["file"]) in files}
    pairs |= {(r.paper_id, sha256) for r in read for sha256 in (r.document["sha256"], NO_FILE)}
    gone = {r.paper_id for r in read if r.document["status"] == "abstract_only"}
    pairs |= {(h["paper_id"], h["sha256"]) for h in held if h["paper_id"] in gone and not is_hashed(h["sha256"])}
    return pl.DataFrame(sorted(pairs), schema={"paper_id": pl.String, "sha256": pl.String}, orient="row")


def _keys(read: Sequence[Rows]) -> tuple[list[str], list[date]]:
    return sorted({r.paper_id for r in read}), sorted({r.document["id_month"] for r in read})


@recomputed
def _replace(lake: Lake, table: str, read: Sequence[Rows], superseded: pl.DataFrame, rows: list[dict]) -> None:
    """The papers' rows: those given, and those of other files that they had."""
    papers, months = _keys(read)
    version = lake.version(table)
    where = pl.col("id_month").is_in(months) & pl.col("paper_id").is_in(papers)
    before = lake.scan(table, version).filter(where).collect()
    held = before.join(superseded, on=["paper_id", "sha256"], how="anti")
    fresh = pl.DataFrame(rows, schema=CONTRACTS[table].polars_schema)
    if not rows and len(held) == len(before):
        return
    lake.replace(table, pl.concat([held, fresh]), {"id_month": months, "paper_id": papers}, on_top_of=version or 0)


@dataclass(frozen=True)
class DocumentInfo:
    """A parsed document of a paper, without its text.

    Attributes:
        is_possibly_later: its version cannot be shown to be within the cutoff it was chosen for.
    """

    paper_id: str
    sha256: str
    id_month: date
    version: int | None
    file: str
    content_hash: str
    passage_count: int
    is_possibly_later: bool


def chosen_documents(view: View, paper_ids: Collection[str]) -> dict[str, DocumentInfo]:
    """The parsed document that a topic reads of each paper that has one.

    The newest version known to be within the cutoff, else the lowest one, which is possibly later.
    """
    found: dict[str, DocumentInfo] = {}
    for document in parsed_documents(view, paper_ids):
        found.setdefault(document.paper_id, document)
    return found


def parsed_documents(view: View, paper_ids: Collection[str]) -> list[DocumentInfo]:
    """All parsed documents of these papers, of each paper in the order in which a topic would choose them."""
    wanted = pl.col("paper_id").is_in(list(paper_ids))
    columns = ["paper_id", "sha256", "id_month", "version", "file", "content_hash", "passage_count"]
    rows = view.scan("documents").filter(pl.col("status") == "parsed", wanted).select(columns).collect().to_dicts()
    facts = ["paper_id", "versions", "submitted_on", "updated_on", "latest_version"]
    held = view.scan("papers").filter(pl.col("paper_id").is_in([r["paper_id"] for r in rows])).select(facts)
    # `documents.version_on` is of the day the file was read; sources may have corrected it since.
    papers = {paper["paper_id"]: paper for paper in held.collect().to_dicts()}
    rows = [row for row in rows if row["paper_id"] in papers]

    def is_later(row: dict) -> bool:
        return is_possibly_later(version_day(papers[row["paper_id"]], row["version"]), view.cutoff)

    def order(row: dict) -> tuple:
        later, number = is_later(row), row["version"] or 0
        return later, number if later else -number, row["sha256"]

    return [DocumentInfo(**row, is_possibly_later=is_later(row)) for row in sorted(rows, key=order)]


def rows_of_documents(
    view: View, table: str, documents: Collection[DocumentInfo], columns: Sequence[str] | None = None
) -> pl.DataFrame:
    """Rows of `sections`, `passages` or `bibliography` of these documents, in the documents' order of position.

    Args:
        columns: None for all.
    """
    if not documents:
        return pl.DataFrame(schema=CONTRACTS[table].polars_schema).select(columns or pl.all())
    wanted = pl.LazyFrame(
        [(d.paper_id, d.sha256) for d in documents], schema={"paper_id": pl.String, "sha256": pl.String}, orient="row"
    )
    months = sorted({d.id_month for d in documents})
    papers = sorted({d.paper_id for d in documents})
    # A join is not pushed down to the files; without the second condition whole months would be held in memory.
    scan = view.scan(table).filter(pl.col("id_month").is_in(months), pl.col("paper_id").is_in(papers))
    rows = scan.join(wanted, on=["paper_id", "sha256"], how="semi").sort("paper_id", "position")
    return rows.select(columns or pl.all()).collect()


def document_markdown(lake: Lake, paper_id: str, id_month: date, sha256: str) -> str | None:
    """The text of a document; None where it is not parsed."""
    rows = lake.read("documents", id_month=id_month, paper_id=paper_id, sha256=sha256)
    return rows["markdown"].item() if len(rows) else None
