"""Cards by a model: what of a paper is shown for one, and what its reply becomes, each item located in the text.

Not here: where a quotation stands (`generation.support`), storing cards (`card_store`).
"""

from collections.abc import Sequence

from generation.cards import CARD_FIELDS, CardItem, CardPassage, PaperCard
from generation.model_writer.schemas import MOST_ITEMS, CardLine, CardReply
from generation.model_writer.texts import is_prose, plain
from generation.prompting.fencing import ShownPaper, ShownPassage, shown_paper
from generation.support import Located, SourceText, locate
from generation.writing import CardRequest
from generation.zones import Zone, zones_of

_ORDER: tuple[Zone, ...] = (
    "abstract", "introduction", "results", "limitations", "conclusion", "method", "discussion", "setup", "body",
)  # fmt: skip
"""Sections in the order in which they are chosen, in turns, while there is room; what is of others comes last."""

_LONGEST_PASSAGE = 6000


def shown_for_card(request: CardRequest) -> ShownPaper:
    """The paper with its passages, those that a card is made from first."""
    paper = request.paper
    day = paper.submitted_on or paper.submitted_latest
    passages = tuple(
        ShownPassage(p.position, p.page, " › ".join(p.section_path), p.text[:_LONGEST_PASSAGE])
        for p in chosen(request.passages)
    )
    return shown_paper(paper.paper_id, paper.title, f"{day:%Y-%m}", paper.abstract, passages)


def chosen(passages: Sequence[CardPassage]) -> list[CardPassage]:
    """All passages in the order of their worth for a card: zones take turns, so that a small window has some of each."""
    zones = zones_of(passages)
    queues = {z: [p for p, own in zip(passages, zones, strict=True) if own == z] for z in _ORDER}
    found = []
    while any(queues.values()):
        for queue in queues.values():
            found += [queue.pop(0)] if queue else []
    return found + [p for p, own in zip(passages, zones, strict=True) if own not in queues]


def card_of(
    request: CardRequest, reply: CardReply, writer: str, version: str, keys: tuple[str, ...], flags: tuple[str, ...]
) -> PaperCard:
    """The card that a reply gives, each item with where the paper says it."""
    paper = request.paper
    texts = [SourceText(paper.abstract, paper.paper_id)] if paper.abstract else []
    texts += [SourceText(p.text, paper.paper_id, "passage", p.passage_id, p.page) for p in request.passages]
    taken: set[str] = set()
    fields = {name: _items(getattr(reply, name), texts, taken) for name in CARD_FIELDS}
    return PaperCard(paper.paper_id, writer, version, **fields, calls=keys, flags=flags)


def _items(lines: Sequence[CardLine], texts: Sequence[SourceText], taken: set[str]) -> tuple[CardItem, ...]:
    """Items of one field, none of which another field has."""
    found: list[CardItem] = []
    for line in lines:
        text = plain(line.text)
        if is_prose(text) and text not in taken and len(found) < MOST_ITEMS:
            taken.add(text)
            found.append(_item(text, _located(line, texts)))
    return tuple(found)


def _located(line: CardLine, texts: Sequence[SourceText]) -> Located:
    by_quote = locate(line.quote, texts)
    return by_quote if by_quote.spans else locate(line.text, texts)


def _item(text: str, found: Located) -> CardItem:
    if not found.spans:
        return CardItem(text, (), "unsupported", 0.0)
    return CardItem(text, found.spans, found.support, found.score)
