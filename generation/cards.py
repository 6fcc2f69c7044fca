"""Paper cards: what a paper contributes, how, what it found and where it ends, each with where the paper says so.

Values only. How a card is written is the writers' matter; what names one is that of `card_store`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from generation.values import Span

CardField = Literal["contributions", "methods", "findings", "limitations"]
CARD_FIELDS: tuple[CardField, ...] = ("contributions", "methods", "findings", "limitations")


@dataclass(frozen=True)
class CardPassage:
    """A passage of the paper's full text, of kind prose.

    Attributes:
        section_path: headings from the outermost section to its own; () where there are none.
        section_number: as printed, None for unnumbered headings.
        page: where it begins, from 1; None where unknown.
        position: in reading order.
    """

    passage_id: str
    section_path: tuple[str, ...]
    section_number: str | None
    page: int | None
    text: str
    position: int


@dataclass(frozen=True)
class CardItem:
    """A statement of a card.

    Attributes:
        text: verbatim for extractive cards: the text of its spans, joined by a blank.
        spans: characters of the abstract or of passages, in reading order; () where the text bears it nowhere.
        support: how the spans say it: in the same words, in nearly the same (`score` from .9), or nowhere.
    """

    text: str
    spans: tuple[Span, ...]
    support: Literal["exact", "fuzzy", "unsupported"] = "exact"
    score: float = 1.0


@dataclass(frozen=True)
class CardFailure:
    """Why a card could not be written, and whether a rerun may."""

    reason: str
    is_retryable: bool


@dataclass(frozen=True)
class PaperCard:
    """The card of a paper by one writer; in each field the best item first.

    Attributes:
        writer, version: who wrote it, by which code.
        calls: ledger keys of the calls that wrote it.
        flags: places of the paper's text that try to instruct whoever reads it.
        failure: why there is no card, where writing it failed; the fields are empty then.
    """

    paper_id: str
    writer: str
    version: str
    contributions: tuple[CardItem, ...]
    methods: tuple[CardItem, ...]
    findings: tuple[CardItem, ...]
    limitations: tuple[CardItem, ...]
    calls: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    failure: CardFailure | None = None

    def items(self) -> Iterator[tuple[CardField, CardItem]]:
        """All items with their fields, in the fields' order."""
        for name in CARD_FIELDS:
            for item in getattr(self, name):
                yield name, item
