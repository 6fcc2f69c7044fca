"""What the reader of a survey should know of the texts it draws on.

Belongs here: versions that may be later than the cutoff, files that gave no text, sources that could not be looked at.
Not here: reading the files (`texts`), and what the sections say.
"""

from collections.abc import Mapping, Sequence

import polars as pl

from corpus.document_choice import sources
from corpus.visibility import View
from generation.card_store import CardKey
from generation.values import Failure
from ingestion.documents.statuses import MEANINGS
from ingestion.held_files import held_files

_NAMED = 5
"""Papers named in a note."""


def notes_on_texts(view: View, keys: Mapping[str, CardKey]) -> list[Failure]:
    """Notes on the texts of the papers, by kind.

    Args:
        keys: of the papers' cards; they name the document that the topic reads of each.
    """
    later = sorted(p for p, key in keys.items() if key.document and key.document.is_possibly_later)
    notes = []
    if later:
        told = f"{_papers(later)} read in a version that may be later than {view.cutoff}: {_some(later)}"
        notes.append(Failure("versions", told))
    without = sorted(p for p, key in keys.items() if key.document is None)
    return notes + _on_failures(view, without) + _on_sources(view, without)


def _on_failures(view: View, papers: Sequence[str]) -> list[Failure]:
    of_files = pl.col("paper_id").is_in(papers) & pl.col("source").is_not_null()
    rows = view.scan("documents").filter(of_files).sort("parsed_at", "sha256").select("paper_id", "status").collect()
    by_status: dict[str, list[str]] = {}
    for paper, status in sorted(dict(rows.iter_rows()).items()):
        by_status.setdefault(status, []).append(paper)
    return [
        Failure(
            "texts",
            f"{_papers(failed)} used by abstract alone, since the file gave no text ({status}): {_some(failed)}. "
            f"{MEANINGS[status].advice}".rstrip("."),
        )
        for status, failed in sorted(by_status.items())
    ]


def _on_sources(view: View, papers: Sequence[str]) -> list[Failure]:
    """Sources whose files cannot be listed, if they know any of the papers."""
    reasons = {u.source: u.reason for u in held_files(sources(view.lake), ())[1]}
    if not reasons:
        return []
    told = view.scan("arxiv_records").filter(pl.col("source").is_in(list(reasons)), pl.col("paper_id").is_in(papers))
    counts = told.group_by("source").agg(pl.len()).sort("source").collect()
    return [
        Failure("texts", f"files of {source} were not looked at for {n} of the papers: {reasons[source]}")
        for source, n in counts.iter_rows()
    ]


def _papers(papers: Sequence[str]) -> str:
    return "1 paper was" if len(papers) == 1 else f"{len(papers)} papers were"


def _some(papers: Sequence[str]) -> str:
    return f"{', '.join(papers[:_NAMED])}{' …' if len(papers) > _NAMED else ''}"
