"""The calls that a survey will take, before any is made: how many of each operation, and about how many tokens.

The number of calls follows from the method's shape, which is known beforehand; with a server that answers as asked they
are made exactly. What repairs add (replies that do not fit, sentences that their papers do not bear, overloaded
servers) is recorded in the ledger, and in no plan. Tokens are counted from the real prompts of cards and rough
outlines; later prompts, which hold what was not written yet, are measured on prompts of the same kind and size. Human outlines, which
rough outlines are shown as examples, are drawn as the method draws them.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from generation.language_models.calls import Call, ModelSettings, TooLong, WindowTooSmall
from generation.language_models.prices import cost
from generation.library import Library
from generation.model_writer import calls
from generation.model_writer.calls import Built, NoRoom
from generation.model_writer.cards import shown_for_card
from generation.model_writer.fitting import Count
from generation.model_writer.merging import merge_calls
from generation.model_writer.tables import LEAST_ROWS
from generation.surveyforge import Shape, SurveyForge
from generation.topics import Topic
from generation.values import Outline, OutlineNode, Role, SectionDraft, Sentence
from generation.writing import (
    CardRequest,
    CompareRequest,
    DraftRequest,
    Evidence,
    OutlineRequest,
    RefineRequest,
    SectionPlan,
    SubsectionsRequest,
    Writer,
)

_WORDS = "Sentences of this length stand for what is not written yet, and name ten or twelve words at least. "


@dataclass(frozen=True)
class PlannedCalls:
    """Calls of one operation.

    Attributes:
        in_ledger: of these, calls whose answer is known to be there, which cost nothing.
        input_tokens: of the prompts that are to be paid for.
        most_output_tokens: that the replies to these may have.
    """

    asset: str
    operation: str
    calls: int
    in_ledger: int
    input_tokens: int
    most_output_tokens: int


@dataclass(frozen=True)
class Plan:
    """All calls of a survey, in the order of its stages.

    Attributes:
        most_cost: US dollars, if every reply had all the tokens it may; None where no price is known.
    """

    parts: tuple[PlannedCalls, ...]
    most_cost: float | None

    @property
    def calls(self) -> int:
        return sum(part.calls for part in self.parts)


_FRAMING: tuple[Role, ...] = ("introduction", "open_problems", "conclusion")


@dataclass(frozen=True)
class _Nodes:
    """How many leaves, sections with parts, and sections an outline has, and what frames them."""

    leaves: int
    parents: int
    sections: int
    framing: tuple[Role, ...]

    @property
    def drafts(self) -> int:
        return self.leaves + self.parents + len(self.framing)


class Planner:
    """Plans the calls of one survey by one model.

    Args:
        count: tokens of messages and schema, as the gateway counts them.
        is_answered: whether the ledger holds the answer to a call.
        answered: how many first calls of an operation the edition has paid for already.
    """

    def __init__(
        self,
        settings: ModelSettings,
        count: Count,
        is_answered: Callable[[Call], bool],
        answered: Callable[[str], int],
    ) -> None:
        self._settings, self._count = settings, count
        self._is_answered, self._answered = is_answered, answered

    def plan(
        self,
        topic: Topic,
        library: Library,
        method: SurveyForge,
        cards: Sequence[CardRequest],
        outline: Outline | None,
        *,
        verdicts: bool,
    ) -> Plan:
        """The plan of what is not done yet.

        Args:
            cards: papers whose card is missing.
            outline: that stands already, or that a person gave; None where it is to be made.
            verdicts: a model judges the sentences too.
        """
        parts = [self._cards(cards)]
        best = library.best(method.options.outline_papers)
        evidence = tuple(method.evidence(library, p) for p in library.vectors(best)[0])
        if outline is None:
            shape = _shape(library, method, len(evidence))
            parts += self._outline(topic, library, method, evidence, shape)
            nodes = _nodes_of_shape(shape)
        else:
            nodes = _nodes_of(outline)
        parts += self._survey(topic, method, evidence, nodes, verdicts=verdicts)
        parts = [part for part in parts if part.calls]
        paid = [cost(self._settings, part.input_tokens, part.most_output_tokens) for part in parts]
        return Plan(tuple(parts), None if None in paid else sum(paid))

    def _cards(self, requests: Sequence[CardRequest]) -> PlannedCalls:
        built = []
        for request in requests:
            paper, is_full_text = shown_for_card(request), bool(request.passages)
            # A paper whose record alone fills the window gets no card, and asks nothing.
            with suppress(NoRoom):
                built.append(calls.card_call(self._settings, self._count, paper, is_full_text=is_full_text).call)
        return self._exact("paper_cards", built)

    def _outline(
        self, topic: Topic, library: Library, method: SurveyForge, evidence: Sequence[Evidence], shape: Shape
    ) -> list[PlannedCalls]:
        sections, parts = shape.sections, shape.parts
        portions = calls.portions(self._settings, self._count, evidence, method.options.chunk_size)
        drawn = method.drawn(topic, library, len(portions))
        rough = [
            calls.outline_call(
                self._settings, self._count, OutlineRequest(topic.title, tuple(p), tuple(shown), sections)
            ).call
            for p, shown in zip(portions, drawn, strict=True)
        ]
        merges = merge_calls(self._settings, len(portions), sections)
        plan = SectionPlan("A heading of some length", _WORDS, (_WORDS,) * 3, ())
        # A rough outline's prompt is longer than a merge's for the same window, so it stands for it.
        found = [self._exact("outline", rough), self._like("outline", "merge", rough[:1], merges)]
        if parts:
            memory = tuple(evidence[: method.options.memory_size])
            request = SubsectionsRequest(topic.title, plan, memory, (), parts, ())
            like = [calls.subsections_call(self._settings, self._count, request).call]
            found.append(self._like("outline", "subsections", like, sections))
        return found

    def _survey(
        self,
        topic: Topic,
        method: SurveyForge,
        evidence: Sequence[Evidence],
        nodes: _Nodes,
        *,
        verdicts: bool,
    ) -> list[PlannedCalls]:
        node = OutlineNode("2", "A heading of some length", _WORDS)
        shown = tuple(evidence[: method.options.kept_per_query])
        headings = tuple((str(i), node.title, "body") for i in range(nodes.leaves))

        def request(role: Role) -> DraftRequest:
            return DraftRequest(topic.title, node.number, node.title, _WORDS, role, shown, outline=headings)

        settings, count = self._settings, self._count
        body = request("body")
        draft = calls.draft_call(settings, count, body).call
        like = _as_long_as(draft.most_tokens, [e.paper.paper_id for e in shown])
        refine = _if_it_fits(calls.refine_call, settings, count, RefineRequest(like, (like, like), body))
        framing = [calls.draft_call(settings, count, request(role)).call for role in nodes.framing]
        found = [
            self._like("survey", "draft", [draft], nodes.leaves + nodes.parents, framing),
            *(self._like("survey", "refine", [call], nodes.leaves) for call in refine),
        ]
        if verdicts:
            judged = _if_it_fits(calls.verdict_call, settings, count, body, list(like.sentences()))
            found += [self._like("survey", "verdict", [call], nodes.drafts) for call in judged]
        if len(shown) >= LEAST_ROWS:
            table = _if_it_fits(calls.compare_call, settings, count, CompareRequest("2", node.title, shown))
            found += [self._like("survey", "compare", [call], nodes.sections) for call in table]
        return found

    def _exact(self, asset: str, built: Sequence[Call]) -> PlannedCalls:
        paid = [call for call in built if not self._is_answered(call)]
        operation = built[0].operation if built else ""
        tokens = sum(self._count(c.messages, c.schema) for c in paid)
        return PlannedCalls(
            asset, operation, len(built), len(built) - len(paid), tokens, sum(c.most_tokens for c in paid)
        )

    def _like(
        self, asset: str, operation: str, like: Sequence[Call], times: int, more: Sequence[Call] = ()
    ) -> PlannedCalls:
        each = [(self._count(c.messages, c.schema), c.most_tokens) for c in (*like, *more)]
        (tokens, most), rest = each[0], each[1:]
        count = times + len(rest)
        done = min(count, self._answered(operation))
        share = 1 - done / count if count else 0
        return PlannedCalls(
            asset, operation, count, done, round(share * (times * tokens + sum(t for t, _ in rest))),
            round(share * (times * most + sum(m for _, m in rest))),
        )  # fmt: skip


def _if_it_fits(build: Callable[..., Built], *request: object) -> list[Call]:
    """The call, [] where the window is too small for it: the writer leaves such a step out and tells it."""
    try:
        return [build(*request).call]
    except (NoRoom, TooLong, WindowTooSmall):
        return []


def outline_calls(library: Library, method: SurveyForge, writer: Writer) -> int:
    """Calls that the outline takes of a writer that asks a model."""
    best = library.best(method.options.outline_papers)
    evidence = [method.evidence(library, p) for p in library.vectors(best)[0]]
    shape = _shape(library, method, len(evidence))
    rough = len(writer.portions(evidence, method.options.chunk_size))
    return rough + writer.merge_count(rough, shape.sections) + (shape.sections if shape.parts else 0)


def survey_calls(outline: Outline, *, verdicts: bool) -> int:
    """Calls that a survey along this outline takes, if every node has evidence and every section a table."""
    nodes = _nodes_of(outline)
    return nodes.drafts + nodes.leaves + nodes.sections + (nodes.drafts if verdicts else 0)


def _nodes_of(outline: Outline) -> _Nodes:
    body = [n for n in outline.nodes if n.role == "body"]
    leaves = sum(n.role == "body" for n in outline.leaves())
    framing = tuple(n.role for n in outline.nodes if n.role != "body")
    return _Nodes(leaves, len(body) - leaves, sum(n.level == 1 for n in body), framing)


def _nodes_of_shape(shape: Shape) -> _Nodes:
    parents = shape.sections if shape.parts else 0
    return _Nodes(shape.sections * (shape.parts or 1), parents, shape.sections, _FRAMING)


def _shape(library: Library, method: SurveyForge, papers: int) -> Shape:
    return method.shape(papers, method.section_count(papers, method.patterns(library)))


def _as_long_as(tokens: int, paper_ids: Sequence[str]) -> SectionDraft:
    """A draft of so many tokens that cites these papers in turn."""
    sentences = max(1, tokens // (2 * len(_WORDS.split())))
    written = tuple(
        Sentence("written", _WORDS.strip(), (paper_ids[i % len(paper_ids)],) if paper_ids else ())
        for i in range(sentences)
    )
    return SectionDraft("2", "A heading of some length", (written,))
