"""One paper as the lake holds it."""

import polars as pl

from corpus.disagreements import disagreements
from corpus.document_choice import NO_FILE, sources
from corpus.tables import Lake
from ingestion.errors import NotFound
from ingestion.held_files import held_files
from ingestion.identity import UnreadableId, id_month, parse_paper_id


class PaperNotFound(NotFound):
    """No such paper, or no such version of it, is held."""


def look_up(lake: Lake, text: str) -> dict:
    """Everything `papers`, `citations` and the records say of a paper.

    Args:
        text: an id in any form; a version must be one that is held.

    Raises:
        PaperNotFound: the text names no paper, the paper is not held, or that version is not; says which are.
    """
    try:
        wanted = parse_paper_id(text)
    except UnreadableId as error:
        raise PaperNotFound(error.what, which=text, advice=error.advice) from error
    month = id_month(wanted.value)
    place = {"paper_id": wanted.value, **({"id_month": month} if month else {})}  # a partition, where the id tells it
    rows = lake.read("papers", **place).to_dicts()
    if not rows:
        raise PaperNotFound("the paper is not held", which=wanted.value, advice="Refresh a source that has it.")
    paper = rows[0]
    versions = [v["number"] for v in paper["versions"] or []]
    if wanted.version is not None and wanted.version not in versions:
        held = ", ".join(f"v{v}" for v in versions) or "none by number"
        raise PaperNotFound(f"version {wanted.version} of {wanted.value} is not held", advice=f"Versions held: {held}.")
    documents = _documents(lake, paper)
    records = lake.read("arxiv_records", **place).to_dicts()
    cites = lake.scan("citations").filter(pl.col("citing_id") == wanted.value).select("cited_id")
    cited_by = lake.scan("citations").filter(pl.col("cited_id") == wanted.value).select("citing_id")
    return {
        "paper_id": paper["paper_id"],
        "latest_version": paper["latest_version"],
        "versions": [
            {"number": v["number"], "created_at": v["created_at"] and v["created_at"].isoformat()}
            for v in paper["versions"] or []
        ],
        "title": paper["title"],
        "authors": paper["authors"],
        "collaborations": paper["collaborations"],
        "abstract": paper["abstract"],
        "abstract_origin": paper["abstract_origin"],
        "categories": paper["categories"],
        "submitted_on": paper["submitted_on"] and paper["submitted_on"].isoformat(),
        "submitted_latest": paper["submitted_latest"].isoformat(),
        "submitted_precision": paper["submitted_precision"],
        "is_withdrawn": paper["is_withdrawn"],
        "withdrawn_evidence": paper["withdrawn_evidence"],
        "doi": paper["doi"],
        "journal_ref": paper["journal_ref"],
        "license": paper["license"],
        "document_status": _document_status(lake, paper, documents),
        "documents": [
            {name: row[name] for name in _DOCUMENT_FACTS} | {"parsed_at": row["parsed_at"].isoformat()}
            for row in documents
        ],
        "references": _references(lake, paper, documents, sorted(cites.collect().to_series())),
        "citations": sorted(cited_by.collect().to_series()),
        "sources": sorted(record["source"] for record in records),
        "disagreements": disagreements(records),
    }


_DOCUMENT_FACTS = (
    "sha256", "version", "source", "file", "status", "advice", "notes", "parser", "page_count", "section_count",
    "passage_count", "references_status", "reference_count",
)  # fmt: skip


def _documents(lake: Lake, paper: dict) -> list[dict]:
    """The paper's documents: parsed ones first, of those the newest version first."""
    rows = lake.scan("documents").filter(
        pl.col("id_month") == paper["id_month"], pl.col("paper_id") == paper["paper_id"]
    )
    found = rows.drop("markdown").collect().to_dicts()
    return sorted(
        found, key=lambda r: (r["status"] != "parsed", r["sha256"] == NO_FILE, -(r["version"] or 0), r["sha256"])
    )


def _document_status(lake: Lake, paper: dict, documents: list[dict]) -> str | None:
    """Status of the paper's text; `held` where a file is there that nobody has looked at, None where there is none."""
    if documents:
        return documents[0]["status"]
    files, _ = held_files(sources(lake), [paper["paper_id"]])
    return "held" if files else None


def _references(lake: Lake, paper: dict, documents: list[dict], edges: list[str]) -> list[dict]:
    """Entries of the newest parsed list in their order, then edges that only other sources give, by id."""
    entries: list[dict] = []
    if documents and documents[0]["references_status"] == "parsed":
        rows = lake.scan("bibliography").filter(
            pl.col("id_month") == paper["id_month"],
            pl.col("paper_id") == paper["paper_id"],
            pl.col("sha256") == documents[0]["sha256"],
        )
        entries = [
            {"number": r["position"], "label": r["label"], "text": r["text"], "cited_id": r["cited_id"],
             "method": r["method"], "certainty": r["certainty"]}
            for r in rows.sort("position").collect().to_dicts()
        ]  # fmt: skip
    listed = {e["cited_id"] for e in entries}
    others = [cited for cited in edges if cited not in listed]
    return entries + [
        {"number": n, "text": None, "cited_id": cited} for n, cited in enumerate(others, start=len(entries) + 1)
    ]
