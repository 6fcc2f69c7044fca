"""Sentences of full texts as material for a survey: what cards hold, and what the passages shown say beyond them.

Belongs here: turning statements of a full text into source sentences. Not here: what is a statement (`cards`,
`card_cues`), choosing among them (`details`), and sentences of abstracts (`sentences`).
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from generation.cards import CardField, PaperCard
from generation.extractive.card_cues import Statement
from generation.extractive.cards import own_names, statements
from generation.extractive.sentences import MAX_WORDS, MoveName, SourceSentence
from generation.values import Paper, Span
from generation.writing import EvidencePassage

_BARE = re.compile(
    r"[A-Z][a-z]+ (?:also |still )?(?:may|might|can|could|cannot|are|is|was|were|has|have|do|does|did|will|would|should|must|"
    r"remains?|lacks?|fails?|requires?|needs?)\b"
)
_MOVE_OF: dict[CardField, MoveName] = {
    "contributions": "method", "methods": "method", "findings": "finding", "limitations": "open",
}  # fmt: skip
_PLACE: dict[CardField, float] = {"contributions": 0.55, "methods": 0.6, "findings": 0.95, "limitations": 1.0}
"""Positions, as if in an abstract: behind what abstracts begin with, which is general, and limitations last."""


def sentences_in_full(
    paper: Paper, card: PaperCard | None, passages: Sequence[EvidencePassage] = ()
) -> list[SourceSentence]:
    """What the full text of a paper offers, each sentence once: the card's single sentences, then the passages'.

    Only sentences that say whose work they are about: the others lean on what stands around them. A limitation is
    general more often, and may name its subject in any words but a bare one ("Implementations may fail").
    """
    own = own_names(paper, [item.text for _, item in card.items()] if card else ())
    found: dict[Span, SourceSentence] = {}
    for name, item in card.items() if card else ():
        if len(item.spans) == 1 and item.spans[0].source == "passage":
            found.setdefault(item.spans[0], _source(item.spans[0], item.text, name))
    for shown in passages:
        for name, text, span in _statements(paper, shown):
            found.setdefault(span, _source(span, text, name))
    return [
        s
        for s in found.values()
        if s.words <= MAX_WORDS
        and (Statement(s.text, "body", own).is_own or (s.move == "open" and not _BARE.match(s.text)))
    ]


def _source(span: Span, text: str, name: CardField) -> SourceSentence:
    return SourceSentence(span, text, _MOVE_OF[name], _PLACE[name])


@lru_cache(maxsize=8192)
def _statements(paper: Paper, shown: EvidencePassage) -> tuple[tuple[CardField, str, Span], ...]:
    own = own_names(paper, [shown.passage.text])
    found = statements(shown.passage, shown.zone, own, shown.unclear)
    return tuple((name, shown.passage.text[span.start : span.end], span) for name, _, span in found)
