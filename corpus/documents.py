"""Documents, sections, passages and bibliographies in the lake, whole papers at a time.

Belongs here: writing the rows of read files, and reading them back. Not here: making the rows (`corpus.document_rows`),
which file is read (`corpus.document_choice`).
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date

import polars as pl

from corpus.contracts.registry import CONTRACTS
from corpus.document_choice import NO_FILE, is_possibly_later
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
    superseded = _superseded(lake, read)
    _replace(lake, "sections", read, superseded, [row for r in read for row in r.sections])
    _replace(lake, "passages", read, superseded, [row for r in read for row in r.passages])
    _replace(lake, "bibliography", read, superseded, [row for r in read for row in r.entries])
    _replace(lake, "documents", read, superseded, [r.document for r in read])


def _superseded(lake: Lake, read: Sequence[Rows]) -> pl.DataFrame:
    """(paper_id, sha256) of what gives way: the same content, the row without a file, and what a file held before."""
    papers, months = _keys(read)
    scan = lake.scan("documents").filter(pl.col("id_month").is_in(months), pl.col("paper_id").is_in(papers))
    files = {(r.paper_id, r.document.get("source"), r.document.get("file")) for r in read}
    held = scan.select("paper_id", "source", "file", "sha256").collect().rows()
    pairs = {(paper, sha256) for paper, source, file, sha256 in held if (paper, source, file) in files}
    pairs |= {(r.paper_id, sha256) for r in read for sha256 in (r.document["sha256"], NO_FILE)}
    return pl.DataFrame(sorted(pairs), schema={"paper_id": pl.String, "sha256": pl.String}, orient="row")


def _keys(read: Sequence[Rows]) -> tuple[list[str], list[date]]:
    return sorted({r.paper_id for r in read}), sorted({r.document["id_month"] for r in read})


@recomputed
def _replace(lake: Lake, table: str, read: Sequence[Rows], superseded: pl.DataFrame, rows: list[dict]) -> None:
    """The papers' rows: those given, and those of other files that they had."""
    papers, months = _keys(read)
    version = lake.version(table)
    where = pl.col("id_month").is_in(months) & pl.col("paper_id").is_in(papers)
    held = lake.scan(table, version).filter(where).collect().join(superseded, on=["paper_id", "sha256"], how="anti")
    fresh = pl.DataFrame(rows, schema=CONTRACTS[table].polars_schema)
    if version is None and not rows:
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
    columns = ["paper_id", "sha256", "id_month", "version", "version_on", "file", "content_hash", "passage_count"]
    rows = (
        view.scan("documents")
        .filter(pl.col("status") == "parsed", pl.col("paper_id").is_in(list(paper_ids)))
        .select(columns)
        .collect()
        .to_dicts()
    )

    def order(row: dict) -> tuple:
        later = is_possibly_later(row["version_on"], view.cutoff)
        number = row["version"] or 0
        return later, number if later else -number, row["sha256"]

    found: dict[str, DocumentInfo] = {}
    for row in sorted(rows, key=order):
        later = is_possibly_later(row.pop("version_on"), view.cutoff)
        found.setdefault(row["paper_id"], DocumentInfo(**row, is_possibly_later=later))
    return found


def rows_of_documents(view: View, table: str, documents: Collection[DocumentInfo]) -> pl.DataFrame:
    """Rows of `sections`, `passages` or `bibliography` of these documents, in the documents' order of position."""
    if not documents:
        return pl.DataFrame(schema=CONTRACTS[table].polars_schema)
    wanted = pl.LazyFrame(
        [(d.paper_id, d.sha256) for d in documents], schema={"paper_id": pl.String, "sha256": pl.String}, orient="row"
    )
    months = sorted({d.id_month for d in documents})
    scan = view.scan(table).filter(pl.col("id_month").is_in(months))
    return scan.join(wanted, on=["paper_id", "sha256"], how="semi").sort("paper_id", "position").collect()


def document_markdown(lake: Lake, paper_id: str, id_month: date, sha256: str) -> str | None:
    """The text of a document; None where it is not parsed."""
    rows = lake.read("documents", id_month=id_month, paper_id=paper_id, sha256=sha256)
    return rows["markdown"].item() if len(rows) else None
