"""SurveyForge: outline after human examples, memory-bound retrieval, temporal-aware reranking, parallel drafting.

Source: SurveyForge (ACL 2025), sections 3.1 and 3.2. Where the paper and the public code differ the paper is
followed: TRE works on each sub-query (the code: on a subsection's union), shares are rounded so that they sum to K.
The public code hands every section the papers of another one (one list shared by all); here values are keyed by node.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from generation.drafting import Drafting, answered, assembled, with_tables, without_repeats
from generation.facts import body_facts, closing_facts, restate, scope_facts
from generation.illustrating import illustrated
from generation.library import Library
from generation.memory_retrieval import SMALL_POOL, retrieved
from generation.patterns import draw_patterns, newest_first
from generation.surveyforge_options import SurveyForgeOptions
from generation.topics import Topic
from generation.values import (
    DigestEntry,
    Digests,
    Failure,
    Outline,
    OutlineNode,
    Pattern,
    SectionDraft,
    Survey,
)
from generation.writing import (
    CompareRequest,
    DraftRequest,
    Evidence,
    EvidencePassage,
    MergeRequest,
    OutlineRequest,
    SectionPlan,
    SubsectionsRequest,
    Writer,
)

_MOST_SECTIONS = 9
_LEAST_SECTIONS = 3
_LARGE_POOL, _LEAST_OF_LARGE = 300, 9
_PAPERS_PER_SECTION = 5
_INTRODUCTION_PAPERS = 40
_LEAST_PAPERS, _MOST_PAPERS, _MOST_NAMED = 3, 36, 12
_REST = 5
"""Papers of a section in none of its parts that make a part of their own."""

_DISCUSSED_SHARE = 0.75
"""Of the papers at home under a leaf, the best ones, so that sections are as unlike in size as what they are about."""

_OPEN_PROBLEM_PAPERS = 400
_CLOSING_PAPERS = 60
"""Papers that a model is shown for what closes the survey."""


_PAPERS_PER_PART = 8
"""Papers of the outline for each part that a model is asked for."""


@dataclass(frozen=True)
class Shape:
    """Body sections, and parts of each of them; 0 parts where sections stand undivided."""

    sections: int
    parts: int


@dataclass(frozen=True)
class SurveyForge:
    """The method; `options` are part of an edition's parameters."""

    options: SurveyForgeOptions = field(default_factory=SurveyForgeOptions)

    @property
    def name(self) -> str:
        return "surveyforge"

    version = "1"

    def patterns(self, library: Library) -> list[Pattern]:
        """The human outlines the method draws from; their content is an input of the edition."""
        return library.human_outlines(self.options.patterns_near)

    async def outline(self, topic: Topic, library: Library, writer: Writer) -> Outline:
        """Rough outlines of chunks of the pool, merged, then divided into subsections with sub-queries."""
        rng = random.Random(f"{self.options.seed} {topic.key}")  # noqa: S311 - a sample, not a secret
        near = self.patterns(library)
        memory = library.best(self.options.outline_papers)
        evidence = {p: _evidence(library, p) for p in library.vectors(memory)[0]}
        count = self.section_count(len(evidence), near)
        known = library.heading_counts
        portions = writer.portions(list(evidence.values()), self.options.chunk_size)
        drawn = draw_patterns(near, len(portions), self.options.patterns_per_chunk, rng)
        library.consult("outline", evidence, "retrieved for the topic")
        asked = [
            writer.outline(OutlineRequest(topic.title, tuple(portion), tuple(shown), count, known))
            for portion, shown in zip(portions, drawn, strict=True)
        ]
        notes: list[Failure] = []
        names = [f"rough outline {i} of {len(asked)}" for i in range(1, len(asked) + 1)]
        rough = [plans for plans in await answered(asked, names, notes) if plans]
        recent = sorted(near[: self.options.patterns_merge_near], key=newest_first)[: self.options.patterns_merge]
        examples = tuple(dict.fromkeys([*recent, *(p for shown in drawn for p in shown)]))
        sections = await writer.merge(
            MergeRequest(topic.title, tuple(rough), evidence, examples, count, _RESERVED, known)
        )
        used = tuple(p.outline_id for p in examples)
        divided = await self._divided(topic, sections, library, writer, examples, evidence, rng, notes)
        nodes = [OutlineNode("1", "Introduction", f"What {topic.title} is about", "introduction")]
        for i, (section, parts) in enumerate(zip(sections, divided, strict=True), start=2):
            nodes.append(_node(str(i), section, section.paper_ids, used))
            nodes += [_node(f"{i}.{j}", part, memory, used) for j, (part, memory) in enumerate(parts, start=1)]
        last = len(sections) + 2
        nodes.append(OutlineNode(str(last), "Open Problems", "What the papers state as unsolved", "open_problems"))
        nodes.append(OutlineNode(str(last + 1), "Conclusion", "What the survey holds", "conclusion"))
        return Outline(tuple(nodes), (*notes, *writer.told()))

    async def _divided(
        self, topic, sections: Sequence[SectionPlan], library: Library, writer, examples, evidence, rng, notes
    ) -> list[list[tuple[SectionPlan, tuple[str, ...]]]]:
        """For each section its parts with the memories they were made from; [] where it has none."""
        most = self.options.subsection_count
        if writer.asks_a_model:
            most = self.shape(len(evidence), len(sections)).parts
            if not most:
                return [[] for _ in sections]
        memories = [self._memory(topic, section, library, evidence, rng) for section in sections]
        taken = [*_RESERVED, *(s.title for s in sections)]

        def request(section: SectionPlan, memory: Sequence[str]) -> SubsectionsRequest:
            shown = tuple(evidence[p] for p in memory)
            known = library.heading_counts
            return SubsectionsRequest(topic.title, section, shown, examples, most, tuple(taken), known)

        divided = []
        if writer.asks_a_model:
            # At once: what two sections call alike is told apart when the survey is put together (`tidying`).
            asked = [writer.subsections(request(s, m)) for s, m in zip(sections, memories, strict=True)]
            names = [f"subsections of “{section.title}”" for section in sections]
            found = await answered(asked, names, notes, may_all_fail=True)
            return [self._with_rest(s, parts or (), m) for s, parts, m in zip(sections, found, memories, strict=True)]
        for section, memory in zip(sections, memories, strict=True):
            parts = self._with_rest(section, await writer.subsections(request(section, memory)), memory)
            taken += [part.title for part, _ in parts]
            divided.append(parts)
        return divided

    def _memory(self, topic, section: SectionPlan, library: Library, evidence, rng: random.Random) -> list[str]:
        """MS: what the section's bullets find among its papers, sampled."""
        bullets = section.queries or (section.title,)
        each = max(1, self.options.memory_size // len(bullets)) * 5
        within = section.paper_ids or tuple(evidence)
        found: dict[str, None] = {}
        for bullet in bullets:
            for hit in library.search(f"{topic.title}: {bullet}", each, within):
                if "survey" not in library.paper(hit.paper_id).title.lower():
                    found[hit.paper_id] = None
        memory = list(found)
        if len(memory) > self.options.memory_size:
            memory = sorted(rng.sample(memory, self.options.memory_size), key=memory.index)
        library.consult("subsections", memory, f"memory for the sub-queries of “{section.title}”")
        return memory

    def _with_rest(
        self, section: SectionPlan, parts: Sequence[SectionPlan], memory: Sequence[str]
    ) -> list[tuple[SectionPlan, tuple[str, ...]]]:
        """The parts, and one more for what has no place under a narrower heading: it stays under the section's own."""
        rest = [p for p in section.paper_ids if not any(p in part.paper_ids for part in parts)]
        if len(parts) == 1 and len(rest) < _REST:
            return []
        if parts and len(rest) >= _REST:
            title = f"Further Work on {section.title}"
            parts = (*parts, SectionPlan(title, "", section.queries, tuple(rest), origin="method"))
        return [(part, part.paper_ids or tuple(memory)) for part in parts]

    def drawn(self, topic: Topic, library: Library, portions: int) -> list:
        """The human outlines that each rough outline is shown as examples."""
        rng = random.Random(f"{self.options.seed} {topic.key}")  # noqa: S311 - a sample, not a secret
        return draw_patterns(self.patterns(library), portions, self.options.patterns_per_chunk, rng)

    def evidence(self, library: Library, paper_id: str) -> Evidence:
        """A paper as a writer is shown it for an outline."""
        return _evidence(library, paper_id)

    def shape(self, papers: int, sections: int) -> Shape:
        """Sections and parts of each that a model is asked for: known before anything is asked, so that the calls can
        be planned."""
        parts = round(papers / (sections * _PAPERS_PER_PART))
        return Shape(sections, min(parts, self.options.subsection_count) if parts > 1 else 0)

    def section_count(self, papers: int, patterns: Sequence[Pattern]) -> int:
        """Body sections for so many papers, after the example of human outlines."""
        if self.options.section_count:
            return self.options.section_count
        by_size = papers // _PAPERS_PER_SECTION
        if patterns:
            # Human surveys frame their body by an introduction and a conclusion.
            sizes = sorted(max(len(p.sections) - 2, _LEAST_SECTIONS) for p in patterns)
            least = _LEAST_OF_LARGE if papers >= _LARGE_POOL else _LEAST_SECTIONS + 1
            by_size = min(by_size, max(sizes[len(sizes) // 2], least))
        return max(_LEAST_SECTIONS, min(by_size, _MOST_SECTIONS))

    async def digests(self, topic: Topic, outline: Outline, library: Library, writer: Writer) -> Digests:
        """MR and TRE: for each sub-query of a leaf, papers of the topic's memory, reranked by time and citations."""
        return retrieved(outline, library, self.options)

    async def survey(
        self, topic: Topic, outline: Outline, digests: Digests, library: Library, writer: Writer
    ) -> Survey:
        """Leaves drafted in parallel, refined beside their neighbours (even, then odd), then framed."""
        notes: list[Failure] = list(outline.notes)
        requests = self._leaves(topic, outline, digests, library, writer, notes)
        frame = self._frame(topic, outline, digests, library, requests)
        async with Drafting(writer) as work:
            work.begin_leaves(requests)
            work.begin(frame)
            tables = work.begin_tables(self._tables(outline, library, requests)) if writer.asks_a_model else None
            drafts = await without_repeats(writer, requests, await work.finished(requests))
            closing = self._closing(topic, outline, library, writer, drafts)
            work.begin(closing)
            drafts |= await work.finished({**frame, **closing})
            frame |= closing
            drafts = await without_repeats(writer, {**requests, **frame}, drafts)
            printed = await work.paragraphs(tables) if tables is not None else None
        if work.failures and not any(drafts[n].cited_ids for n in requests if n in drafts):
            raise work.first_error  # nothing was written that cites a paper, and this is why
        have = sum(any(draft.sentences()) for draft in drafts.values())
        shown = (e.paper.paper_id for r in frame.values() for e in r.evidence)
        library.consult("draft", shown, "framing the survey")
        survey, left_out = assembled(topic, outline, drafts)
        told = {note.item for note in (*notes, *work.failures)}
        notes += [*work.notes, *(note for note in left_out if note.item not in told)]
        facts = closing_facts(library, survey, {n.number: n for n in outline.nodes})
        sections = tuple(restate(section, facts) for section in survey.sections)
        told = writer.told()
        failures = (*work.failures, *(f for f in told if f.is_retryable))
        notes += [f for f in told if not f.is_retryable]
        survey = Survey(topic.title, sections, failures, tuple(notes), have, len(requests) + len(frame))
        if printed is None:
            survey = await self._compared(survey, outline, library, writer)
        else:
            survey = with_tables(survey, printed)
        return illustrated(survey, outline, library, identified=library.held_count)

    def _leaves(
        self, topic, outline: Outline, digests: Digests, library: Library, writer: Writer, notes: list[Failure]
    ) -> dict[str, DraftRequest]:
        """Requests for the leaves of the body; a leaf with nothing to be written from is noted, and asks nothing."""
        headings = tuple((n.number, n.title, n.role) for n in outline.nodes)
        requests: dict[str, DraftRequest] = {}
        for node in outline.leaves():
            if node.role != "body":
                continue
            entries = digests.of(node.number)
            asked = [f"{node.title}. {node.description}", *node.queries]
            texts = library.search_passages(asked, [e.paper_id for e in entries if e.is_home])
            library.consult("passages", texts, f"passages nearest to “{node.title}”")
            evidence = tuple(_evidence(library, e.paper_id, e, texts.get(e.paper_id, ())) for e in entries)
            home = sum(e.is_home for e in evidence)
            discussed, named = _papers_for(home, len(library.pool))
            # A model is asked for each leaf that was planned: it may discuss a paper beside its best place.
            if not home and not (writer.asks_a_model and evidence):
                notes.append(Failure(f"{node.number} {node.title}", "no paper has its best place here"))
                continue
            requests[node.number] = DraftRequest(
                topic.title, node.number, node.title, node.description, "body", evidence,
                outline=headings, most_papers=discussed, most_named=named,
            )  # fmt: skip
            library.consult("draft", (e.paper.paper_id for e in evidence), f"evidence for “{node.title}”")
        return requests

    def _tables(
        self, outline: Outline, library: Library, requests: Mapping[str, DraftRequest]
    ) -> dict[str, tuple[tuple[str, ...], Callable[[Sequence[str]], CompareRequest]]]:
        """Section → its leaves, and the request for its table from the papers these cite."""

        def request(node: OutlineNode, cited: Sequence[str]) -> CompareRequest:
            evidence = tuple(_evidence(library, p) for p in cited)
            return CompareRequest(node.number, node.title, evidence)

        sections = [n for n in outline.nodes if n.role == "body" and n.level == 1]
        leaves = {n.number: tuple(r for r in requests if r.split(".")[0] == n.number) for n in sections}
        return {n.number: (leaves[n.number], partial(request, n)) for n in sections if leaves[n.number]}

    async def _compared(self, survey: Survey, outline: Outline, library: Library, writer: Writer) -> Survey:
        """The survey with a table behind the opening of each section of the body that has one."""
        roles = {n.number: n.role for n in outline.nodes}
        printed = frozenset(span for s in survey.sections for t in s.sentences() for span in t.spans)
        tables = {}
        for section in survey.sections:
            if section.level == 1 and roles.get(section.outline_number) == "body":
                below = [s for s in survey.sections if s.number.split(".")[0] == section.number]
                cited = dict.fromkeys(p for s in below for p in s.cited_ids)
                evidence = tuple(_evidence(library, p) for p in cited)
                request = CompareRequest(section.number, section.title, evidence, printed)
                tables[section.outline_number] = await writer.compare(request)
        return with_tables(survey, tables)

    def _frame(
        self, topic, outline: Outline, digests: Digests, library: Library, requests: Mapping[str, DraftRequest]
    ) -> dict[str, DraftRequest]:
        """Requests for what frames the leaves and need not wait for them: introduction and leads of sections."""
        frame = {}
        parents = {n.parent for n in outline.nodes}
        for node in outline.nodes:
            if node.role == "body" and node.number in parents:
                parts = [n for n in outline.children(node.number) if n.number in requests]
                own = [e for part in parts for e in digests.of(part.number) if e.is_home]
                ids, facts = [e.paper_id for e in own], body_facts(library, parts, own)
            elif node.role == "introduction":
                ids = sorted(library.pool, key=lambda p: -library.paper(p).citation_count)[:10]
                ids = list(dict.fromkeys([*library.pool[:_INTRODUCTION_PAPERS], *ids]))
                facts = scope_facts(library)
            else:
                continue
            frame[node.number] = _framing(topic, outline, node, library, ids, facts)
        return frame

    def _closing(
        self, topic, outline: Outline, library: Library, writer: Writer, drafts: Mapping[str, SectionDraft]
    ) -> dict[str, DraftRequest]:
        """Requests for open problems and conclusion, which speak of what the leaves cite."""
        cited = list(dict.fromkeys(p for d in drafts.values() for p in d.cited_ids))
        most = _CLOSING_PAPERS if writer.asks_a_model else None
        closing = {}
        for node in outline.nodes:
            if node.role == "open_problems":
                ids = list(dict.fromkeys([*cited, *library.pool[:_OPEN_PROBLEM_PAPERS]]))[:most]
                closing[node.number] = _framing(topic, outline, node, library, ids, ())
            elif node.role == "conclusion":
                closing[node.number] = _framing(topic, outline, node, library, cited[:most], scope_facts(library))
        return closing


_RESERVED = ("Introduction", "Open Problems", "Conclusion")


def _framing(
    topic: Topic, outline: Outline, node: OutlineNode, library: Library, ids: Sequence[str], facts
) -> DraftRequest:
    headings = tuple((n.number, n.title, n.role) for n in outline.nodes)
    evidence = tuple(_evidence(library, p) for p in ids)
    return DraftRequest(
        topic.title, node.number, node.title, node.description, node.role, evidence, tuple(facts), headings
    )


def _papers_for(home: int, pool: int) -> tuple[int, int]:
    """Papers a leaf discusses, and further ones it names: all of a small pool; else as many as a reader follows."""
    if pool <= SMALL_POOL:
        return max(_LEAST_PAPERS, home), home
    discussed = max(_LEAST_PAPERS, min(_MOST_PAPERS, round(2 + _DISCUSSED_SHARE * home)))
    return discussed, max(0, min(_MOST_NAMED, home - discussed))


def _node(number: str, plan: SectionPlan, memory: Sequence[str], patterns: tuple[str, ...]) -> OutlineNode:
    return OutlineNode(
        number, plan.title, plan.description, "body", plan.queries, tuple(memory),
        tuple(dict.fromkeys([*plan.patterns, *patterns])), plan.origin,
    )  # fmt: skip


def _evidence(
    library: Library,
    paper_id: str,
    entry: DigestEntry | None = None,
    passages: tuple[EvidencePassage, ...] = (),
) -> Evidence:
    names, matrix = library.vectors([paper_id])
    paper = library.paper(paper_id)
    return Evidence(
        paper,
        matrix[0] if names else None,
        entry.is_home if entry else True,
        entry.similarity if entry else paper.similarity,
        library.standing(paper_id),
        library.card(paper_id),
        passages,
        library.quotes(paper_id) if library.is_for_a_model else (),
    )
