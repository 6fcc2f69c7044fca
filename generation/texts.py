"""The papers' texts as stages over the lake: documents and cards of a topic's pool.

Both are made once for all topics: what is there is not made again. Documents are read from the files that sources
hold; cards are written from them, or from abstracts where there are none. Not here: how a file is read
(`ingestion.documents`), and the stages of a survey (`stages`).
"""

import asyncio
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
from generation.language_models.calls import Purpose
from generation.library import Library, paper_of, prose_of
from generation.model_access import named_writer, open_writer
from generation.standing import by_standing
from generation.surveyforge_options import OUTLINE_PAPERS
from generation.topics import Topic
from generation.values import Failure, Paper, Survey
from generation.workshop import Workshop, view_of
from generation.writing import CardRequest, Writer
from indexes.piece_index import COLUMNS, PieceIndex, PieceReport
from indexes.tokens import load_tokenizer
from ingestion.errors import LithouseError

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


def carded(papers: Sequence[Paper], writer: Writer) -> list[Paper]:
    """Of a pool's papers in rank order those of which a writer has cards: all, of a model the topic's best."""
    if not writer.asks_a_model:
        return list(papers)
    best = set(by_standing(papers)[:OUTLINE_PAPERS])
    return [p for p in papers if p.paper_id in best]


def cards_of(view: View, papers: Sequence[Paper], writer: Writer) -> dict[str, CardKey]:
    """The card that each paper should have."""
    return card_keys(view, papers, writer.name, writer.card_version)


def cards_due(workshop: Workshop, topic: Topic, writer_name: str) -> bool:
    """Whether a card of the pool is missing in the table or in the index."""
    view = view_of(workshop.lake, topic)
    writer = named_writer(writer_name, workshop.embed, workshop.access)
    keys = cards_of(view, carded(_pool(view, topic), writer), writer)
    if missing_cards(view, keys):
        return True
    texts = {p: key.card_id for p, key in keys.items() if key.document}
    written = {p for p, card in load_cards(view, {p: keys[p] for p in texts}).items() if any(card.items())}
    index = PieceIndex(workshop.home / "index", "cards")
    indexed = index.sources(sorted(written))
    return any((p, texts[p]) not in indexed for p in written) or not index.is_whole()


def cards_to_write(workshop: Workshop, topic: Topic, writer: Writer) -> list[CardRequest]:
    """What the missing cards of a topic's pool are to be made from."""
    view = view_of(workshop.lake, topic)
    papers = {p.paper_id: p for p in carded(_pool(view, topic), writer)}
    keys = cards_of(view, list(papers.values()), writer)
    return _requests(view, papers, keys, missing_cards(view, keys))


def _requests(
    view: View, papers: Mapping[str, Paper], keys: Mapping[str, CardKey], paper_ids: Sequence[str]
) -> list[CardRequest]:
    passages = prose_of(view, [document for p in paper_ids if (document := keys[p].document)])
    return [CardRequest(papers[p], tuple(passages.get(p, ()))) for p in paper_ids]


@dataclass(frozen=True)
class CardsMade:
    """What `make_cards` did: cards written now, cards that were there, pieces indexed, and the pool's cards' hash."""

    written: int
    reused: int
    from_full_text: int
    pieces: PieceReport
    content_hash: str


def make_cards(workshop: Workshop, topic: Topic, writer_name: str, run_id: str | None = None) -> CardsMade:
    """Write the cards of the pool's papers that are missing, and index the cards made from full text.

    Cards are stored some hundreds at a time, and what a model answered is kept as it comes, so that a killed run goes on.

    Raises:
        ModelFailure: one that every further card would meet; cards that are written stay.
    """
    lake = workshop.lake
    view = view_of(lake, topic)
    told = workshop.tell_calls("paper_cards", writer_name)
    purpose = Purpose("paper_cards", topic.key, run_id=run_id)
    with open_writer(writer_name, lake, workshop.embed, workshop.access, purpose, on_answer=told) as opened:
        papers = {p.paper_id: p for p in carded(_pool(view, topic), opened.writer)}
        keys = cards_of(view, list(papers.values()), opened.writer)
        missing = missing_cards(view, keys)
        if told:
            told.planned = len(missing)
        written = 0
        for start in range(0, len(missing), _COMMIT_CARDS):
            part = missing[start : start + _COMMIT_CARDS]
            cards, stopped = opened.run(_cards(opened.writer, _requests(view, papers, keys, part)))
            done = [(keys[p], card) for p, card in zip(part, cards, strict=True) if card]
            written += store_cards(lake, done, datetime.now(UTC))
            if stopped:
                raise stopped
            if workshop.progress and not opened.gateway:
                workshop.progress("writing cards", start + len(part), len(missing))
    view = view_of(lake, topic)
    cards = load_cards(view, keys)
    pieces = _index_cards(workshop, view, keys, cards)
    from_text = sum(key.document is not None for key in keys.values())
    return CardsMade(written, len(keys) - len(missing), from_text, pieces, cards_hash(keys))


async def _cards(
    writer: Writer, requests: Sequence[CardRequest]
) -> tuple[list[PaperCard | None], LithouseError | None]:
    """A card for each request, and the error that every further one would meet; None for cards that met it."""
    tasks = [asyncio.ensure_future(writer.card(request)) for request in requests]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        failed = next((t for t in tasks if t.done() and t.exception()), None)
        stopped = failed.exception() if failed else None
        if stopped and not isinstance(stopped, LithouseError):
            raise stopped
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    finally:
        for task in tasks:
            task.cancel()
    return [None if t.cancelled() or t.exception() else t.result() for t in tasks], stopped


def with_card_failures(survey: Survey, library: Library) -> Survey:
    """The survey with what is to be told of cards that could not be written: a rerun may mend some of them."""
    failed = [(p, card.failure) for p, card in library.failed_cards().items()]
    told = [Failure(f"card of {p}", f.reason, f.is_retryable) for p, f in failed]
    retryable = tuple(f for f in told if f.is_retryable)
    permanent = tuple(f for f in told if not f.is_retryable)
    return replace(survey, failures=(*survey.failures, *retryable), notes=(*survey.notes, *permanent))


def _pool(view: View, topic: Topic) -> list[Paper]:
    """Papers of the stored pool in rank order, with the citations and the similarity that it gives them."""
    ranked = view.lake.read("topic_pool", topic=topic.key).sort("rank")
    held = view.scan("papers").filter(pl.col("paper_id").is_in(ranked["paper_id"].to_list()))
    joined = ranked.lazy().select("paper_id", "rank", "citation_count", "similarity").join(held, on="paper_id")
    return [paper_of(row) for row in joined.sort("rank").collect().to_dicts()]


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
