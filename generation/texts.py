"""The papers' texts as stages over the lake: documents and cards of a topic's pool.

Both are made once for all topics: what is there is not made again. Documents are read from the files that sources
hold; cards are written from them, or from abstracts where there are none. Not here: how a file is read
(`ingestion.documents`), and the stages of a survey (`stages`).
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache

import polars as pl

from corpus.document_choice import ToDo, to_do
from corpus.documents import DocumentInfo, chosen_documents, parsed_documents, rows_of_documents
from corpus.hashing import set_hash, text_hash
from corpus.reading import Reader, Reading, derivation, read_papers
from corpus.referencing import References, resolve_references, unresolved_papers
from corpus.snapshots import take_snapshot
from corpus.tables import Lake
from corpus.visibility import View
from generation.card_store import (
    CardKey,
    card_keys,
    cards_of_documents,
    load_cards,
    missing_cards,
    store_cards,
)
from generation.cards import CARD_FIELDS, PaperCard
from generation.extractive import cards as extractive
from generation.library import paper_of, prose_of
from generation.topics import Topic
from generation.values import Paper
from generation.workshop import Workshop, view_of
from indexes.piece_index import COLUMNS, PieceIndex, PieceReport
from indexes.tokens import load_tokenizer

_COMMIT_CARDS = 500


@dataclass(frozen=True)
class DocumentsMade:
    """What `make_documents` did.

    Attributes:
        by_status: status → papers of the pool, as they stand now.
        content_hash: of the documents that the topic reads: the asset's data version.
    """

    reading: Reading
    references: References
    pieces: PieceReport
    by_status: dict[str, int]
    content_hash: str


def pool_papers(workshop: Workshop, topic: Topic) -> list[str]:
    """Papers of the stored pool in rank order; [] where there is none."""
    return workshop.lake.read("topic_pool", topic=topic.key).sort("rank")["paper_id"].to_list()


def documents_due(workshop: Workshop, topic: Topic, reader: Reader) -> bool:
    """Whether a file of the pool is still to be read, a passage to be indexed, or an entry to be resolved."""
    lake, papers = workshop.lake, pool_papers(workshop, topic)
    view = view_of(lake, topic)
    if not _to_do(view, topic, papers, reader).is_empty:
        return True
    if unresolved_papers(lake, papers, take_snapshot(lake).content_hash):
        return True
    documents = list(chosen_documents(view, papers).values())
    index = PieceIndex(workshop.home / "index", "passages")
    if _searched(view, _not_indexed(index, documents, _source_hashes(view, documents))):
        return True
    return not index.is_whole()


def make_documents(workshop: Workshop, topic: Topic, reader: Reader, *, retry: bool = False) -> DocumentsMade:
    """Read the files of the pool's papers, resolve their references, index their passages.

    Each file is stored as soon as it is read, so that a killed run goes on where it was.

    Args:
        retry: read files again whose last status may change.
    """
    lake = workshop.lake
    papers = pool_papers(workshop, topic)
    todo = _to_do(view_of(lake, topic), topic, papers, reader, retry=retry)
    reading = read_papers(lake, todo, reader, count_tokens(), workshop.tell("reading papers"))
    left = reader
    while reading.is_worth_another_look:  # a file that could not be read gives way to the paper's next one
        if reader.most_files is not None:
            left = replace(reader, most_files=max(0, reader.most_files - sum(reading.by_status.values())))
        todo = _to_do(view_of(lake, topic), topic, papers, left)
        if todo.is_empty:
            break
        reading += read_papers(lake, todo, reader, count_tokens(), workshop.tell("reading papers"))
    references = resolve_references(lake, papers, take_snapshot(lake).content_hash)
    view = view_of(lake, topic)
    documents = chosen_documents(view, papers)
    pieces = _index_passages(workshop, view, list(documents.values()))
    content = set_hash(f"{d.paper_id} {d.sha256} {d.content_hash}" for d in documents.values())
    return DocumentsMade(reading, references, pieces, _statuses(lake, papers), content)


def files_due(workshop: Workshop, topic: Topic, reader: Reader) -> int:
    """Files of the pool's papers that are still to be read, or to be read again by code that has changed."""
    view = view_of(workshop.lake, topic)
    return len(_to_do(view, topic, pool_papers(workshop, topic), reader).tasks)


def _to_do(view: View, topic: Topic, papers: Sequence[str], reader: Reader, *, retry: bool = False) -> ToDo:
    due = to_do(
        view.lake,
        papers,
        view.cutoff,
        derivation(),
        reader.parser.name,
        tier=reader.parser.tier,
        with_withdrawn=topic.has_withdrawn,
        retry=retry,
    )
    return replace(due, tasks=due.tasks[: reader.most_files])


@cache
def count_tokens() -> Callable[[str], int]:
    """Word pieces of a text, without marks, as the packaged embedder counts them."""
    tokenize = load_tokenizer()
    return lambda text: len(tokenize(text, 1 << 16)) - 2


def _index_passages(workshop: Workshop, view: View, documents: Sequence[DocumentInfo]) -> PieceReport:
    """Vectors for the prose and captions of these documents; tables and fragments are found in no search."""
    index = PieceIndex(workshop.home / "index", "passages", workshop.index.embedder)
    hashes = _source_hashes(view, documents)
    fresh = _not_indexed(index, documents, hashes)
    if not fresh and index.is_whole():
        return PieceReport(0, 0, [])
    # Another topic may read another version of the same paper.
    kept = _source_hashes(view, parsed_documents(view, [d.paper_id for d in fresh]))

    def frames() -> Iterator[pl.DataFrame]:
        for start in range(0, len(fresh), _INDEX_PAPERS):
            part = fresh[start : start + _INDEX_PAPERS]
            rows = rows_of_documents(view, "passages", part).filter(pl.col("kind").is_in(_SEARCHED))
            yield _pieces(view, rows, {d.paper_id: hashes[d] for d in part}, "passage_id")

    return index.update(
        frames(),
        kept=[(d.paper_id, source) for d, source in kept.items()],
        progress=workshop.tell("indexing passages"),
        total=sum(d.passage_count for d in fresh),
    )


_SEARCHED = ("prose", "caption")
_INDEX_PAPERS = 50


def _source_hashes(view: View, documents: Sequence[DocumentInfo]) -> dict[DocumentInfo, str]:
    """Document → what its pieces in the index are made from: the text, and what decides who may find it.

    A date that is corrected, or a withdrawal, would otherwise never reach the rows that searches filter by.
    """
    facts = view.scan("papers").filter(pl.col("paper_id").is_in([d.paper_id for d in documents]))
    facts = facts.select("paper_id", "submitted_latest", "is_withdrawn").collect()
    held = {paper: f"{day} {withdrawn}" for paper, day, withdrawn in facts.iter_rows()}
    return {d: text_hash(f"{d.content_hash} {held[d.paper_id]}") for d in documents if d.paper_id in held}


def _not_indexed(
    index: PieceIndex, documents: Sequence[DocumentInfo], hashes: Mapping[DocumentInfo, str]
) -> list[DocumentInfo]:
    held = index.sources(sorted({d.paper_id for d in documents}))
    return [d for d in documents if d in hashes and (d.paper_id, hashes[d]) not in held]


def _searched(view: View, documents: Sequence[DocumentInfo]) -> list[DocumentInfo]:
    """Those that have a passage to be indexed: of others there will never be a piece."""
    documents = [d for d in documents if d.passage_count]
    rows = rows_of_documents(view, "passages", documents, ["paper_id", "kind"])
    kept = set(rows.filter(pl.col("kind").is_in(_SEARCHED))["paper_id"])
    return [d for d in documents if d.paper_id in kept]


def _pieces(view: View, rows: pl.DataFrame, sources: dict[str, str], piece: str) -> pl.DataFrame:
    """Rows with `paper_id`, `text` and an id as the index takes them."""
    facts = view.scan("papers").filter(pl.col("paper_id").is_in(list(sources)))
    facts = facts.select("paper_id", "submitted_latest", "is_withdrawn").collect()
    hashes = pl.DataFrame(list(sources.items()), schema={"paper_id": pl.String, "source_hash": pl.String}, orient="row")
    named = rows.select(pl.col(piece).alias("piece_id"), "paper_id", "text")
    return named.join(hashes, on="paper_id").join(facts, on="paper_id").select(list(COLUMNS))


def _statuses(lake: Lake, papers: Sequence[str]) -> dict[str, int]:
    """Status → papers; a paper with a parsed file counts as parsed, whatever its other files are."""
    rows = lake.scan("documents").filter(pl.col("paper_id").is_in(list(papers))).select("paper_id", "status").collect()
    best = rows.sort(pl.col("status") != "parsed").unique("paper_id", keep="first")
    return dict(sorted(Counter(best["status"].to_list()).items()))


def cards_of(view: View, papers: Sequence[Paper], writer: str) -> dict[str, CardKey]:
    """The card that each paper should have."""
    return card_keys(view, papers, writer, extractive.version())


def cards_due(workshop: Workshop, topic: Topic, writer: str) -> bool:
    """Whether a card of the pool is missing in the table or in the index."""
    view = view_of(workshop.lake, topic)
    keys = cards_of(view, _papers(view, pool_papers(workshop, topic)), writer)
    if missing_cards(view, keys):
        return True
    texts = {p: key.card_id for p, key in keys.items() if key.document}
    written = {p for p, card in load_cards(view, {p: keys[p] for p in texts}).items() if any(card.items())}
    index = PieceIndex(workshop.home / "index", "cards")
    indexed = index.sources(sorted(written))
    return any((p, texts[p]) not in indexed for p in written) or not index.is_whole()


@dataclass(frozen=True)
class CardsMade:
    """What `make_cards` did: cards written now, cards that were there, pieces indexed, and the pool's cards' hash."""

    written: int
    reused: int
    from_full_text: int
    pieces: PieceReport
    content_hash: str


def make_cards(workshop: Workshop, topic: Topic, writer: str) -> CardsMade:
    """Write the cards of the pool's papers that are missing, and index the cards made from full text."""
    lake = workshop.lake
    view = view_of(lake, topic)
    papers = {p.paper_id: p for p in _papers(view, pool_papers(workshop, topic))}
    keys = cards_of(view, list(papers.values()), writer)
    missing = missing_cards(view, keys)
    told = workshop.tell("writing cards")
    written = 0
    for start in range(0, len(missing), _COMMIT_CARDS):
        part = missing[start : start + _COMMIT_CARDS]
        passages = prose_of(view, [keys[p].document for p in part if keys[p].document])
        cards = [(keys[p], extractive.extractive_card(papers[p], passages.get(p, ()))) for p in part]
        written += store_cards(lake, cards, datetime.now(UTC))
        if told:
            told(start + len(part), len(missing))
    view = view_of(lake, topic)
    cards = load_cards(view, keys)
    pieces = _index_cards(workshop, view, keys, cards)
    from_text = sum(key.document is not None for key in keys.values())
    return CardsMade(written, len(keys) - len(missing), from_text, pieces, cards_hash(keys))


def cards_hash(keys: dict[str, CardKey]) -> str:
    """Hash of the cards that a pool should have."""
    return set_hash(key.card_id for key in keys.values())


def _index_cards(workshop: Workshop, view: View, keys: dict[str, CardKey], cards: dict[str, PaperCard]) -> PieceReport:
    """Vectors of cards from full text: those from abstracts would only repeat the papers' own vectors."""
    index = PieceIndex(workshop.home / "index", "cards", workshop.index.embedder)
    texts = {p: card_text(card) for p, card in cards.items() if keys[p].document and any(card.items())}
    rows = pl.DataFrame(
        [(keys[p].card_id, p, text) for p, text in sorted(texts.items())],
        schema={"card_id": pl.String, "paper_id": pl.String, "text": pl.String},
        orient="row",
    )
    if not len(rows):
        return PieceReport(0, 0, [])
    pieces = _pieces(view, rows, {p: keys[p].card_id for p in texts}, "card_id")
    kept = cards_of_documents(view, parsed_documents(view, list(texts)))
    return index.update([pieces], kept=kept, progress=workshop.tell("indexing cards"), total=len(rows))


def card_text(card: PaperCard) -> str:
    """A card as one text, its contributions first."""
    return " ".join(item.text for name in CARD_FIELDS for item in getattr(card, name))


def _papers(view: View, paper_ids: Sequence[str]) -> list[Paper]:
    rows = view.scan("papers").filter(pl.col("paper_id").is_in(list(paper_ids))).collect()
    held = {row["paper_id"]: paper_of(row) for row in rows.to_dicts()}
    return [held[p] for p in paper_ids if p in held]
