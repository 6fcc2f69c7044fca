"""What the entries of the papers' reference lists resolve to, kept up with the corpus.

Belongs here: bringing `bibliography` and the edges of `citations` up to the papers that are held now. Not here: how an
entry is resolved (`corpus.resolution`), the edges' own rules (`corpus.citing`).
"""

from collections.abc import Collection
from dataclasses import dataclass

import polars as pl

from corpus.citing import store_text_edges
from corpus.contracts.registry import CONTRACTS
from corpus.hashing import sources_hash, text_hash
from corpus.resolution import Resolution, resolve_entries
from corpus.tables import Lake, recomputed
from ingestion.documents.values import ReferenceText
from ingestion.references.fields import parse_entry

_BATCH = 200  # papers in one pass over `papers`: some ten thousand entries
_DECIDING = (
    "corpus/referencing.py",
    "corpus/resolution.py",
    "corpus/resolution_candidates.py",
    "corpus/resolution_verdict.py",
    "corpus/title_keys.py",
    "ingestion/comparison.py",
    "ingestion/references",
)


@dataclass(frozen=True)
class References:
    """Entries looked at, those with a paper, edges they make, and entries that name their own paper."""

    entries: int
    resolved: int
    edges: int
    self_loops: int

    def __add__(self, other: "References") -> "References":
        return References(
            self.entries + other.entries,
            self.resolved + other.resolved,
            self.edges + other.edges,
            self.self_loops + other.self_loops,
        )


def unresolved_papers(lake: Lake, paper_ids: Collection[str], corpus_hash: str) -> list[str]:
    """Those of the papers whose entries were not compared with the corpus as it is, by the code as it is."""
    compared = _compared_with(corpus_hash)
    rows = lake.scan("bibliography").filter(
        _of_months(lake, paper_ids),
        pl.col("paper_id").is_in(list(paper_ids)),
        pl.col("corpus_hash").is_null() | (pl.col("corpus_hash") != compared),
    )
    return sorted(rows.select("paper_id").unique().collect().to_series())


def resolve_references(lake: Lake, paper_ids: Collection[str], corpus_hash: str) -> References:
    """Compare the entries of these papers with `papers`, and make `citations` say what they say.

    Args:
        corpus_hash: of the papers as they are (`corpus.snapshots.take_snapshot`).
    """
    due = unresolved_papers(lake, paper_ids, corpus_hash)
    total = References(0, 0, 0, 0)
    for start in range(0, len(due), _BATCH):
        total += _resolve(lake, due[start : start + _BATCH], corpus_hash)
    return total


def _compared_with(corpus_hash: str) -> str:
    """What an entry was compared with: the papers, and by which code."""
    return text_hash(f"{corpus_hash} {sources_hash(_DECIDING)}")


def _of_months(lake: Lake, paper_ids: Collection[str]) -> pl.Expr:
    """Only these months' files are opened."""
    months = lake.scan("papers").filter(pl.col("paper_id").is_in(list(paper_ids))).select("id_month").unique()
    return pl.col("id_month").is_in(months.collect().to_series().to_list())


@recomputed
def _resolve(lake: Lake, paper_ids: list[str], corpus_hash: str) -> References:
    version = lake.version("bibliography")
    scan = lake.scan("bibliography", version).filter(_of_months(lake, paper_ids), pl.col("paper_id").is_in(paper_ids))
    rows = scan.collect().to_dicts()
    # `parse_entry` finds ids in text and links, so an entry is what it was when the file was read.
    entries = [parse_entry(ReferenceText(r["label"], r["text"], r["page"], tuple(r["urls"]))) for r in rows]
    found = resolve_entries(entries, lake.scan("papers"))
    for row, resolution in zip(rows, found, strict=True):
        row.update(_columns(resolution), corpus_hash=_compared_with(corpus_hash))
    months = sorted({r["id_month"] for r in rows})
    frame = pl.DataFrame(rows, schema=CONTRACTS["bibliography"].polars_schema)
    # Edges first: what is cut off between the two is due again.
    edges = store_text_edges(lake, paper_ids, frame)
    lake.replace("bibliography", frame, {"id_month": months, "paper_id": paper_ids}, on_top_of=version or 0)
    return References(len(rows), sum(r.cited_id is not None for r in found), edges.edges, edges.self_loops)


def _columns(resolution: Resolution) -> dict:
    detail = resolution.detail
    if resolution.cited_id is None and resolution.candidates:
        detail = f"{detail}: {', '.join(resolution.candidates)}" if detail else ", ".join(resolution.candidates)
    return {
        "cited_id": resolution.cited_id,
        "method": resolution.method,
        "certainty": resolution.certainty,
        "detail": detail,
    }
