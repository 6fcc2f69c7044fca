"""The writer: the language operations methods need, as requests and replies. No method, no model, no table.

Two writers stand behind this protocol: the extractive one, embedded and deterministic, and one that asks a model.
An operation gets everything it may use in its request; what it was not shown it cannot cite.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from generation.cards import CardPassage, PaperCard
from generation.values import Failure, Paper, Paragraph, Pattern, Role, SectionDraft, Span, StatedRow
from generation.zones import Zone


@dataclass(frozen=True)
class EvidencePassage:
    """A passage of a paper's full text as shown to a writer.

    Attributes:
        zone: what its section is for.
        unclear: words of the paper that a single sentence leaves unclear: such as the reading of the file seems to have
            joined, and abbreviations that are explained elsewhere.
        similarity: cosine to what is written about.
    """

    passage: CardPassage
    zone: Zone
    unclear: frozenset[str] = frozenset()
    similarity: float = 0.0


@dataclass(frozen=True)
class Evidence:
    """A paper as shown to a writer.

    Attributes:
        vector: unit vector of title and abstract; None where it has none.
        is_home: the paper's best place is the node being written.
        similarity: cosine to the query that found it.
        standing: how good a paper of the topic it is (`Library.standing`), 1 for the best.
        card: of a paper that was read in full; None where only its record is known.
        passages: of its full text, those nearest to what is written about; of a paper not read in full none.
        quotes: words of its full text that items of its card rest on, with where they stand.
    """

    paper: Paper
    vector: np.ndarray | None
    is_home: bool = True
    similarity: float = 0.0
    standing: float = 0.0
    card: PaperCard | None = None
    passages: tuple[EvidencePassage, ...] = ()
    quotes: tuple[tuple[str, Span], ...] = ()


@dataclass(frozen=True)
class SectionPlan:
    """A planned heading: what it is about, and the papers that made it.

    Attributes:
        queries: what to search for under it.
        patterns: ids of human outlines that shaped it.
        origin: where the heading came from.
    """

    title: str
    description: str
    queries: tuple[str, ...]
    paper_ids: tuple[str, ...]
    patterns: tuple[str, ...] = ()
    origin: str = "key phrases"


@dataclass(frozen=True)
class OutlineRequest:
    """A rough outline of one chunk of papers, after the example of human outlines.

    Attributes:
        headings: in how many human outlines each heading stands (`patterns.heading_counts`).
    """

    topic: str
    evidence: tuple[Evidence, ...]
    patterns: tuple[Pattern, ...]
    section_count: int
    headings: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class MergeRequest:
    """One outline from several rough ones.

    Attributes:
        evidence: all papers of the rough outlines, by id.
        taken: headings that stand elsewhere and must not come again.
    """

    topic: str
    rough: tuple[tuple[SectionPlan, ...], ...]
    evidence: Mapping[str, Evidence]
    patterns: tuple[Pattern, ...]
    section_count: int
    taken: tuple[str, ...] = ()
    headings: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class SubsectionsRequest:
    """Subsections of one section, each with sub-queries made from the memory shown (MS)."""

    topic: str
    section: SectionPlan
    memory: tuple[Evidence, ...]
    patterns: tuple[Pattern, ...]
    most: int
    taken: tuple[str, ...]
    headings: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class DraftRequest:
    """The text of one node.

    Attributes:
        facts: what composed sentences may state, by name.
        outline: (number, title, role) of all nodes, in reading order.
        most_papers: papers the text may discuss.
        most_named: further papers it may name.
    """

    topic: str
    number: str
    title: str
    description: str
    role: Role
    evidence: tuple[Evidence, ...]
    facts: tuple[StatedRow, ...] = ()
    outline: tuple[tuple[str, str, Role], ...] = ()
    most_papers: int = 12
    most_named: int = 0


@dataclass(frozen=True)
class RefineRequest:
    """A draft to be improved beside its neighbours as they stand, from the evidence it was written from."""

    draft: SectionDraft
    neighbours: tuple[SectionDraft, ...]
    request: DraftRequest


@dataclass(frozen=True)
class CompareRequest:
    """A table of the works of one section.

    Attributes:
        evidence: papers that the section cites.
        avoid: spans that are printed in the text.
    """

    number: str
    title: str
    evidence: tuple[Evidence, ...]
    avoid: frozenset[Span] = frozenset()


@dataclass(frozen=True)
class CardRequest:
    """The card of one paper.

    Attributes:
        passages: prose of its full text in reading order; () where only the abstract is known.
    """

    paper: Paper
    passages: tuple[CardPassage, ...] = ()


@dataclass(frozen=True)
class GroundRequest:
    """A draft whose citations are held against what its papers say."""

    draft: SectionDraft
    request: DraftRequest


class Writer(Protocol):
    """The operations SurveyForge's method asks for; further methods add theirs.

    Attributes:
        name: `extractive`, or the model's `PROVIDER:NAME`.
        version: changes with whatever decides what it writes.
        card_version: changes with whatever decides its cards.
        asks_a_model: it is asked in parallel, and for a number of sections and parts that is known before, so that its
            calls can be planned.
    """

    name: str
    version: str
    card_version: str
    asks_a_model: bool

    async def card(self, request: CardRequest) -> PaperCard: ...
    async def outline(self, request: OutlineRequest) -> tuple[SectionPlan, ...]: ...
    async def merge(self, request: MergeRequest) -> tuple[SectionPlan, ...]: ...
    async def subsections(self, request: SubsectionsRequest) -> tuple[SectionPlan, ...]: ...
    async def draft(self, request: DraftRequest) -> SectionDraft: ...
    async def refine(self, request: RefineRequest) -> SectionDraft: ...
    async def ground(self, request: GroundRequest) -> SectionDraft: ...
    async def compare(self, request: CompareRequest) -> Paragraph: ...

    def told(self) -> tuple[Failure, ...]:
        """What it has to tell of its own since it was made, in an order that does not depend on time."""
        ...

    def portions(self, evidence: Sequence[Evidence], most: int) -> list[list[Evidence]]:
        """Evidence divided, in order, into parts for one rough outline each, of at most `most` papers."""
        ...
