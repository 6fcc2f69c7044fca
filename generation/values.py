"""The values that pass between the stages: papers, outlines, digests, sentences, surveys. No behaviour beyond views."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Literal

Role = Literal["introduction", "body", "open_problems", "conclusion"]
Kind = Literal["quoted", "adapted", "composed", "written"]


@dataclass(frozen=True)
class Paper:
    """A paper as generation sees it.

    Attributes:
        abstract: None where no source has one.
        citation_count: citing papers the topic may see, of edges that sources give.
    """

    paper_id: str
    title: str
    abstract: str | None
    abstract_origin: str
    authors: tuple[str, ...] | None
    collaborations: tuple[str, ...] | None
    submitted_on: date | None
    submitted_latest: date
    submitted_precision: str
    content_hash: str
    citation_count: int = 0
    primary_category: str | None = None
    doi: str | None = None
    journal_ref: str | None = None
    license: str | None = None
    latest_version: int | None = None
    is_withdrawn: bool = False
    similarity: float = 0.0

    @property
    def year(self) -> int:
        return self.submitted_latest.year


@dataclass(frozen=True)
class Pattern:
    """A human outline as an example: whose, and its headings by level."""

    outline_id: str
    title: str
    headings: tuple[tuple[int, str], ...]
    submitted_latest: date | None
    similarity: float

    @property
    def sections(self) -> tuple[str, ...]:
        """First-level headings."""
        return tuple(h for level, h in self.headings if level == 1)


@dataclass(frozen=True)
class OutlineNode:
    """A heading of the outline with what it is to hold.

    Attributes:
        number: "2" or "2.1".
        queries: sub-queries of the node.
        memory: papers the sub-queries were made from.
        patterns: human outlines that shaped the node.
        heading_origin: human outline, key phrases or method.
    """

    number: str
    title: str
    description: str = ""
    role: Role = "body"
    queries: tuple[str, ...] = ()
    memory: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    heading_origin: str = "method"

    @property
    def level(self) -> int:
        return self.number.count(".") + 1

    @property
    def parent(self) -> str | None:
        return self.number.rpartition(".")[0] or None


@dataclass(frozen=True)
class Outline:
    """Nodes in reading order, and what could not be made as it was planned."""

    nodes: tuple[OutlineNode, ...]
    notes: tuple["Failure", ...] = ()

    def node(self, number: str) -> OutlineNode:
        return next(n for n in self.nodes if n.number == number)

    def children(self, number: str) -> tuple[OutlineNode, ...]:
        return tuple(n for n in self.nodes if n.parent == number)

    def leaves(self) -> tuple[OutlineNode, ...]:
        """Nodes without children."""
        parents = {n.parent for n in self.nodes}
        return tuple(n for n in self.nodes if n.number not in parents)


@dataclass(frozen=True)
class DigestEntry:
    """A paper retrieved for a node."""

    number: str
    paper_id: str
    rank: int
    query: str
    similarity: float
    time_window: str
    citation_count: int
    is_home: bool


@dataclass(frozen=True)
class Digests:
    """What was retrieved for each node, by node and rank."""

    entries: tuple[DigestEntry, ...]

    def of(self, number: str) -> tuple[DigestEntry, ...]:
        return tuple(sorted((e for e in self.entries if e.number == number), key=lambda e: e.rank))


@dataclass(frozen=True)
class Span:
    """Characters [start, end) of a paper's abstract or of a passage."""

    paper_id: str
    start: int
    end: int
    source: Literal["abstract", "passage"] = "abstract"
    passage_id: str | None = None
    page: int | None = None


@dataclass(frozen=True)
class Edit:
    """One named, reversible edit: at `start` of the span's text, `before` became `after`."""

    name: str
    start: int
    before: str
    after: str


@dataclass(frozen=True)
class StatedRow:
    """A value a composed sentence states, and the query over the lake that gives it."""

    name: str
    value: str
    query: str | None = None


Verdict = Literal["grounded", "weak", "ungrounded"]


@dataclass(frozen=True)
class Check:
    """What became of one citation of a written sentence when it was held against what the paper says.

    Attributes:
        paper_id: "" where the sentence cites none and states what needs one; such a check is refused.
        similarity: cosine of the sentence to the nearest of the paper that was shown, or two neighbours; 0 where none was.
        reason: what the verdict rests on, in words: numbers or terms that the paper lacks.
        action: kept, revised (the sentence was written again, this is its new check), removed (the citation is gone),
            refused (it named a paper that was not shown, or none where it needs one).
        judge: `rules`, or the model whose verdict it is.
    """

    paper_id: str
    verdict: Verdict
    similarity: float
    reason: str = ""
    action: Literal["kept", "revised", "removed", "refused"] = "kept"
    judge: str = "rules"


@dataclass(frozen=True)
class Sentence:
    """A sentence with its origin.

    Attributes:
        kind: quoted (equals its span), adapted (span plus edits), composed (template and rows), written (by a model).
        text: without citation tokens.
        spans: where its words stand; of a written sentence, what in the papers bears it best.
        calls: ledger keys of the calls that wrote it, the last one last.
        checks: of its citations, for written sentences.
    """

    kind: Kind
    text: str
    cited_ids: tuple[str, ...] = ()
    spans: tuple[Span, ...] = ()
    edits: tuple[Edit, ...] = ()
    template: str | None = None
    rows: tuple[StatedRow, ...] = ()
    place: Literal["prose", "list", "table", "caption"] = "prose"
    calls: tuple[str, ...] = ()
    checks: tuple[Check, ...] = ()

    @property
    def is_unborne(self) -> bool:
        """A written sentence that no paper bears: it lost its citations, or states what needs one and has none."""
        return not self.cited_ids and any(check.action in ("removed", "refused") for check in self.checks)


Paragraph = tuple[Sentence, ...]


@dataclass(frozen=True)
class SectionDraft:
    """The text of one node.

    Attributes:
        number: as printed.
        outline_number: the node's number in the outline; they differ where a node before it was left out.
    """

    number: str
    title: str
    paragraphs: tuple[Paragraph, ...]
    outline_number: str = ""

    @property
    def level(self) -> int:
        return self.number.count(".") + 1

    def sentences(self) -> Iterator[Sentence]:
        for paragraph in self.paragraphs:
            yield from paragraph

    @property
    def cited_ids(self) -> tuple[str, ...]:
        """Papers cited here, in order of first citation."""
        return tuple(dict.fromkeys(p for s in self.sentences() for p in s.cited_ids))

    @property
    def words(self) -> int:
        return sum(len(s.text.split()) for s in self.sentences())


@dataclass(frozen=True)
class Failure:
    """An item that failed, with the reason, and whether a rerun may succeed."""

    item: str
    reason: str
    is_retryable: bool = False


@dataclass(frozen=True)
class Survey:
    """A finished survey: drafts in reading order, what failed on the way, and what was left out for a reason.

    Attributes:
        have_count, expected_count: nodes that were written, of those that were to be.
    """

    title: str
    sections: tuple[SectionDraft, ...]
    failures: tuple[Failure, ...] = ()
    notes: tuple[Failure, ...] = ()
    have_count: int = 0
    expected_count: int = 0

    @property
    def references(self) -> tuple[str, ...]:
        """Cited papers in order of first citation."""
        return tuple(dict.fromkeys(p for s in self.sections for p in s.cited_ids))
