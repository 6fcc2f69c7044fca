"""Cards in the lake: which card each paper of a topic should have, those that are there, and writing them.

A card's id is the hash of all it is made from, so a card that is there need not be written again, for whatever topic
it was first made. Not here: how a card is written (`extractive.cards`).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime

import polars as pl

from corpus.contracts.registry import CONTRACTS
from corpus.documents import DocumentInfo, chosen_documents
from corpus.hashing import text_hash
from corpus.tables import Lake, recomputed
from corpus.visibility import View
from generation.cards import CARD_FIELDS, CardFailure, CardItem, PaperCard
from generation.values import Paper, Span


@dataclass(frozen=True)
class CardKey:
    """The card a paper should have.

    Attributes:
        document: what it is made from besides the record; None where there is no text.
    """

    card_id: str
    paper_id: str
    id_month: date
    document: DocumentInfo | None


def card_keys(view: View, papers: Sequence[Paper], writer: str, version: str) -> dict[str, CardKey]:
    """Paper id → the card it should have, from the documents that are there now.

    Args:
        writer, version: who writes it, by which code.
    """
    ids = [p.paper_id for p in papers]
    documents = chosen_documents(view, ids)
    months = dict(
        view.scan("papers").filter(pl.col("paper_id").is_in(ids)).select("paper_id", "id_month").collect().iter_rows()
    )
    keys = {}
    for paper in papers:
        document = documents.get(paper.paper_id)
        text = f"{document.sha256} {document.content_hash}" if document else ""
        card_id = text_hash("\x1f".join((writer, version, paper.paper_id, paper.content_hash, text)))
        keys[paper.paper_id] = CardKey(card_id, paper.paper_id, months[paper.paper_id], document)
    return keys


def missing_cards(view: View, keys: Mapping[str, CardKey]) -> list[str]:
    """Papers whose card is not there, or could not be written for a reason that may have passed."""
    rows = _rows(view, keys).filter(~_may_be_asked_again()).select("card_id")
    held = set(rows.collect().to_series())
    return sorted(p for p, key in keys.items() if key.card_id not in held)


def load_cards(view: View, keys: Mapping[str, CardKey]) -> dict[str, PaperCard]:
    """Paper id → its card, of those that are there."""
    return {row["paper_id"]: _card(row) for row in _rows(view, keys).collect().to_dicts()}


def cards_of_documents(view: View, documents: Sequence[DocumentInfo]) -> list[tuple[str, str]]:
    """(paper id, card id) of the newest card of each of these documents, whatever topic it was made for."""
    of_papers = pl.col("paper_id").is_in([d.paper_id for d in documents])
    rows = view.scan("paper_cards").filter(of_papers).select("paper_id", "sha256", "card_id", "created_at").collect()
    newest = {(paper, sha256): card_id for paper, sha256, card_id, _ in rows.sort("created_at").iter_rows()}
    known = {(d.paper_id, d.sha256) for d in documents}
    return [(paper, card_id) for (paper, sha256), card_id in newest.items() if (paper, sha256) in known]


@recomputed
def store_cards(lake: Lake, cards: Iterable[tuple[CardKey, PaperCard]], created_at: datetime) -> int:
    """Add cards; those that are there already stay, but for failures that may be asked again. Returns how many were
    new."""
    version = lake.version("paper_cards")
    rows = {key.card_id: _row(key, card, created_at) for key, card in cards}
    held = lake.scan("paper_cards", version).filter(pl.col("card_id").is_in(list(rows)))
    known = held.select("card_id", _may_be_asked_again().alias("is_failed")).collect()
    kept = set(known.filter(~pl.col("is_failed"))["card_id"])
    replaced = known["is_failed"].any()
    fresh = [row for card_id, row in rows.items() if card_id not in kept]
    if fresh:
        frame = pl.DataFrame(fresh, schema=CONTRACTS["paper_cards"].polars_schema)
        if replaced:
            lake.replace("paper_cards", frame, {"card_id": list(frame["card_id"])}, on_top_of=version or 0)
        else:
            lake.append("paper_cards", frame, on_top_of=version or 0)
    return len(fresh)


def _may_be_asked_again() -> pl.Expr:
    return pl.col("status").fill_null("written").eq("failed") & pl.col("is_retryable").fill_null(False)


def _rows(view: View, keys: Mapping[str, CardKey]) -> pl.LazyFrame:
    months = sorted({key.id_month for key in keys.values()})
    wanted = [key.card_id for key in keys.values()]
    return view.scan("paper_cards").filter(pl.col("id_month").is_in(months), pl.col("card_id").is_in(wanted))


def _row(key: CardKey, card: PaperCard, created_at: datetime) -> dict:
    fields = {
        name: [{"text": item.text, "spans": [asdict(span) for span in item.spans]} for item in getattr(card, name)]
        for name in CARD_FIELDS
    }
    supports = [
        {"field": name, "position": position, "support": item.support, "score": item.score}
        for name in CARD_FIELDS
        for position, item in enumerate(getattr(card, name))
    ]
    failure = card.failure
    return {
        "card_id": key.card_id,
        "paper_id": key.paper_id,
        "id_month": key.id_month,
        "writer": card.writer,
        "writer_version": card.version,
        "made_from": "full text" if key.document else "abstract",
        "sha256": key.document.sha256 if key.document else "",
        **fields,
        "status": "failed" if failure else "written",
        "failure": failure.reason if failure else None,
        "is_retryable": failure.is_retryable if failure else None,
        "calls": list(card.calls),
        "flags": list(card.flags),
        "supports": supports,
        "created_at": created_at,
    }


def _card(row: dict) -> PaperCard:
    supports = {(s["field"], s["position"]): (s["support"], s["score"]) for s in row["supports"] or ()}
    fields = {
        name: tuple(
            CardItem(item["text"], tuple(Span(**s) for s in item["spans"]), *supports.get((name, i), ()))
            for i, item in enumerate(row[name])
        )
        for name in CARD_FIELDS
    }
    failure = CardFailure(row["failure"] or "", bool(row["is_retryable"])) if row["status"] == "failed" else None
    return PaperCard(
        row["paper_id"], row["writer"], row["writer_version"], **fields,
        calls=tuple(row["calls"] or ()), flags=tuple(row["flags"] or ()), failure=failure,
    )  # fmt: skip
