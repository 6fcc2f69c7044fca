"""One paper as the lake holds it."""

import polars as pl

from corpus.tables import Lake
from ingestion.errors import NotFound
from ingestion.identity import UnreadableId, parse_paper_id


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
    rows = lake.read("papers", paper_id=wanted.value).to_dicts()
    if not rows:
        raise PaperNotFound("the paper is not held", which=wanted.value, advice="Refresh a source that has it.")
    paper = rows[0]
    versions = [v["number"] for v in paper["versions"] or []]
    if wanted.version is not None and wanted.version not in versions:
        held = ", ".join(f"v{v}" for v in versions) or "none by number"
        raise PaperNotFound(f"version {wanted.version} of {wanted.value} is not held", advice=f"Versions held: {held}.")
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
        # No table of documents yet: no file has been looked at.
        "document_status": None,
        "references": [
            {"number": n, "text": None, "cited_id": cited}
            for n, cited in enumerate(sorted(cites.collect().to_series()), start=1)
        ],
        "citations": sorted(cited_by.collect().to_series()),
        "sources": sorted(lake.read("arxiv_records", paper_id=wanted.value)["source"]),
    }
