"""SurveyForge: outline after human examples, memory-bound retrieval, temporal-aware reranking, parallel drafting.

Source: SurveyForge (ACL 2025), sections 3.1 and 3.2. Where the paper and the public code differ the paper is
followed: TRE works on each sub-query (the code: on a subsection's union), shares are rounded so that they sum to K.
The public code hands every section the papers of another one (one list shared by all); here values are keyed by node.
"""

import asyncio
import math
import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from generation.drafting import assembled, drafted, refined, without_repeats
from generation.facts import body_facts, closing_facts, restate, scope_facts
from generation.homes import settled_homes, starting_homes
from generation.illustrating import illustrated
from generation.library import Library
from generation.patterns import draw_patterns, newest_first
from generation.reranking import Candidate, Rounding, rerank, window_of
from generation.topics import Topic
from generation.values import (
    DigestEntry,
    Digests,
    Failure,
    Outline,
    OutlineNode,
    Pattern,
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


@dataclass(frozen=True)
class SurveyForgeOptions:
    """Parameters of the method.

    Attributes:
        outline_papers: papers the outline is made from, and the memory M in which sub-queries search: the best of the
            pool by relevance and citations (the paper: the 1,500 retrieved; half of these and more are not about the
            topic itself, and cited they make its survey one of its neighbours, `benchmarks/survey_references.py`).
        section_count: body sections; 0 for nine where 300 papers or more are read, else by their number and the human
            patterns.
        subsection_count: subsections of a section at most.
        chunk_size: papers in one rough outline (the paper: about 30,000 tokens of abstracts).
        patterns_near, patterns_per_chunk: human outlines to draw from, and drawn for each chunk.
        patterns_merge_near, patterns_merge: nearest outlines, and how many of their most recent guide the merge.
        memory_size: papers shown when sub-queries are made (MS).
        retrieved_per_query: papers retrieved for one sub-query (MR).
        kept_per_query: K of the temporal-aware reranking.
        rounding: of its shares.
        anchor_year: first year of its windows.
        seed: of the samples.
    """

    outline_papers: int = 450
    section_count: int = 0
    subsection_count: int = 7
    chunk_size: int = 110
    patterns_near: int = 20
    patterns_per_chunk: int = 5
    patterns_merge_near: int = 10
    patterns_merge: int = 5
    memory_size: int = 120
    retrieved_per_query: int = 100
    kept_per_query: int = 60
    rounding: Rounding = "largest_remainder"
    anchor_year: int = 2012
    seed: int = 0


_MOST_SECTIONS = 9
_LEAST_SECTIONS = 3
_LARGE_POOL, _LEAST_OF_LARGE = 300, 9
_PAPERS_PER_SECTION = 5
_INTRODUCTION_PAPERS = 40
_SMALL_POOL = 100
_LEAST_PAPERS, _MOST_PAPERS, _MOST_NAMED = 3, 36, 12
_REST = 5
"""Papers of a section in none of its parts that make a part of their own."""

_BEST_SHARE = 0.65
"""Of the papers the outline is made from, the best ones, which are discussed somewhere in any case."""

_DISCUSSED_SHARE = 0.75
"""Of the papers at home under a leaf, the best ones, so that sections are as unlike in size as what they are about."""

_OPEN_PROBLEM_PAPERS = 400


@dataclass(frozen=True)
class SurveyForge:
    """The method; `options` are part of an edition's parameters."""

    options: SurveyForgeOptions = SurveyForgeOptions()

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
        count = self._section_count(len(evidence), near)
        known = library.heading_counts
        chunks = _chunks(list(evidence), self.options.chunk_size)
        drawn = draw_patterns(near, len(chunks), self.options.patterns_per_chunk, rng)
        library.consult("outline", evidence, "retrieved for the topic")
        rough = await asyncio.gather(
            *(
                writer.outline(
                    OutlineRequest(topic.title, tuple(evidence[p] for p in chunk), tuple(shown), count, known)
                )
                for chunk, shown in zip(chunks, drawn, strict=True)
            )
        )
        recent = sorted(near[: self.options.patterns_merge_near], key=newest_first)[: self.options.patterns_merge]
        examples = tuple(dict.fromkeys([*recent, *(p for shown in drawn for p in shown)]))
        sections = await writer.merge(
            MergeRequest(topic.title, tuple(rough), evidence, examples, count, _RESERVED, known)
        )
        used = tuple(p.outline_id for p in examples)
        nodes = [OutlineNode("1", "Introduction", f"What {topic.title} is about", "introduction")]
        taken = [*_RESERVED, *(s.title for s in sections)]
        for i, section in enumerate(sections, start=2):
            nodes.append(_node(str(i), section, section.paper_ids, used))
            parts = await self._subsections(topic, section, library, writer, examples, taken, evidence, rng)
            taken += [part.title for part, _ in parts]
            nodes += [_node(f"{i}.{j}", part, memory, used) for j, (part, memory) in enumerate(parts, start=1)]
        last = len(sections) + 2
        nodes.append(OutlineNode(str(last), "Open Problems", "What the papers state as unsolved", "open_problems"))
        nodes.append(OutlineNode(str(last + 1), "Conclusion", "What the survey holds", "conclusion"))
        return Outline(tuple(nodes))

    async def _subsections(
        self, topic, section: SectionPlan, library: Library, writer, examples, taken, evidence, rng
    ) -> list[tuple[SectionPlan, tuple[str, ...]]]:
        """MS: retrieve a memory for the section's bullets, sample it, and let the writer divide it."""
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
        most = self.options.subsection_count
        request = SubsectionsRequest(
            topic.title,
            section,
            tuple(evidence[p] for p in memory),
            examples,
            most,
            tuple(taken),
            library.heading_counts,
        )
        parts = await writer.subsections(request)
        rest = [p for p in section.paper_ids if not any(p in part.paper_ids for part in parts)]
        if len(parts) == 1 and len(rest) < _REST:
            return []
        if parts and len(rest) >= _REST:
            # What has no place under a narrower heading stays under the section's own.
            title = f"Further Work on {section.title}"
            parts = (*parts, SectionPlan(title, "", section.queries, tuple(rest), origin="method"))
        return [(part, part.paper_ids or tuple(memory)) for part in parts]

    def _section_count(self, papers: int, patterns: Sequence[Pattern]) -> int:
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
        leaves = [n for n in outline.leaves() if n.role == "body"]
        # What a person's heading found may lie behind the best; the method's own memories lie among them.
        memory = (p for n in outline.nodes for p in n.memory)
        within = tuple(dict.fromkeys([*library.best(self.options.outline_papers), *memory]))
        entries = [e for leaf in leaves for e in self._retrieve(leaf, library, within)]
        memories = {n.number: frozenset(n.memory) for n in outline.nodes}
        names, matrix = library.vectors(within)
        share = 1.0 if len(library.pool) <= _SMALL_POOL else _BEST_SHARE
        homes = settled_homes(starting_homes(entries, memories), names, matrix, memories, share)
        found = {(e.number, e.paper_id) for e in entries}
        joined = {p: n for p, n in homes.items() if (n, p) not in found}
        entries += [e for leaf in leaves for e in self._joining(leaf, library, joined, entries)]
        return Digests(tuple(replace(e, is_home=homes.get(e.paper_id) == e.number) for e in entries))

    def _joining(
        self, node: OutlineNode, library: Library, joined: dict[str, str], entries: Sequence[DigestEntry]
    ) -> list[DigestEntry]:
        """Papers that settled under a node without being among those its queries kept, ranked behind them."""
        papers = [p for p, number in joined.items() if number == node.number]
        query = f"{node.title} {(node.queries or (node.description or node.title,))[0]}"
        last = sum(e.number == node.number for e in entries)
        return [
            DigestEntry(
                node.number, hit.paper_id, last + i, query, hit.similarity,
                window_of(library.paper(hit.paper_id).submitted_latest, anchor_year=self.options.anchor_year),
                library.paper(hit.paper_id).citation_count, False,
            )
            for i, hit in enumerate(library.search(query, len(papers), papers), start=1)
        ]  # fmt: skip

    def _retrieve(self, node: OutlineNode, library: Library, within: Collection[str]) -> list[DigestEntry]:
        best: dict[str, DigestEntry] = {}
        for sub_query in node.queries or (node.description or node.title,):
            query = f"{node.title} {sub_query}"
            hits = library.search(query, self.options.retrieved_per_query, within)
            similarity = {h.paper_id: h.similarity for h in hits}
            candidates = [_candidate(library, h.paper_id) for h in hits]
            kept = rerank(
                candidates,
                self.options.kept_per_query,
                rounding=self.options.rounding,
                anchor_year=self.options.anchor_year,
            )
            for item in kept:
                score = similarity[item.paper_id]
                if item.paper_id not in best or score > best[item.paper_id].similarity:
                    paper = library.paper(item.paper_id)
                    best[item.paper_id] = DigestEntry(
                        node.number, item.paper_id, 0, query, score, item.window, paper.citation_count, False
                    )
        ordered = sorted(best.values(), key=lambda e: (-e.similarity, e.paper_id))
        return [replace(e, rank=rank) for rank, e in enumerate(ordered, start=1)]

    async def survey(
        self, topic: Topic, outline: Outline, digests: Digests, library: Library, writer: Writer
    ) -> Survey:
        """Leaves drafted in parallel, refined beside their neighbours (even, then odd), then framed."""
        headings = tuple((n.number, n.title, n.role) for n in outline.nodes)
        failures: list[Failure] = []
        notes: list[Failure] = []
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
            if not home:
                notes.append(Failure(f"{node.number} {node.title}", "no paper has its best place here"))
                continue
            requests[node.number] = DraftRequest(
                topic.title, node.number, node.title, node.description, "body", evidence,
                outline=headings, most_papers=discussed, most_named=named,
            )  # fmt: skip
            library.consult("draft", (e.paper.paper_id for e in evidence), f"evidence for “{node.title}”")
        drafts = await drafted(writer, requests, failures)
        drafts = await refined(writer, requests, drafts)
        drafts = await without_repeats(writer, requests, drafts)
        frame = self._frame(topic, outline, digests, library, headings, drafts)
        library.consult("draft", (e.paper.paper_id for r in frame.values() for e in r.evidence), "framing the survey")
        drafts |= await drafted(writer, frame, failures)
        drafts = await without_repeats(writer, {**requests, **frame}, drafts)
        survey, left_out = assembled(topic, outline, drafts)
        told = {note.item for note in notes}
        notes += [note for note in left_out if note.item not in told]
        facts = closing_facts(library, survey, {n.number: n for n in outline.nodes})
        sections = tuple(restate(section, facts) for section in survey.sections)
        survey = Survey(topic.title, sections, tuple(failures), tuple(notes))
        survey = await self._compared(survey, outline, library, writer)
        return illustrated(survey, outline, library, identified=library.held_count)

    async def _compared(self, survey: Survey, outline: Outline, library: Library, writer: Writer) -> Survey:
        """The survey with a table behind the opening of each section of the body that has one."""
        roles = {n.number: n.role for n in outline.nodes}
        printed = frozenset(span for s in survey.sections for t in s.sentences() for span in t.spans)
        sections = []
        for section in survey.sections:
            if section.level == 1 and roles.get(section.outline_number) == "body":
                below = [s for s in survey.sections if s.number.split(".")[0] == section.number]
                cited = dict.fromkeys(p for s in below for p in s.cited_ids)
                evidence = tuple(_evidence(library, p) for p in cited)
                table = await writer.compare(CompareRequest(section.number, section.title, evidence, printed))
                section = replace(section, paragraphs=(*section.paragraphs, table) if table else section.paragraphs)
            sections.append(section)
        return replace(survey, sections=tuple(sections))

    def _frame(
        self, topic, outline: Outline, digests: Digests, library: Library, headings, drafts
    ) -> dict[str, DraftRequest]:
        """Requests for the nodes around the leaves: introduction, section leads, open problems, conclusion."""
        requests = {}
        parents = {n.parent for n in outline.nodes}
        cited = list(dict.fromkeys(p for d in drafts.values() for p in d.cited_ids))
        for node in outline.nodes:
            if node.role == "body" and node.number in parents:
                parts = [n for n in outline.children(node.number) if drafts.get(n.number)]
                own = [e for part in parts for e in digests.of(part.number) if e.is_home]
                ids, facts = [e.paper_id for e in own], body_facts(library, parts, own)
            elif node.role == "introduction":
                ids = sorted(library.pool, key=lambda p: -library.paper(p).citation_count)[:10]
                ids = list(dict.fromkeys([*library.pool[:_INTRODUCTION_PAPERS], *ids]))
                facts = scope_facts(library)
            elif node.role == "open_problems":
                ids, facts = list(dict.fromkeys([*cited, *library.pool[:_OPEN_PROBLEM_PAPERS]])), ()
            elif node.role == "conclusion":
                ids, facts = cited, scope_facts(library)
            else:
                continue
            requests[node.number] = DraftRequest(
                topic.title, node.number, node.title, node.description, node.role,
                tuple(_evidence(library, p) for p in ids), tuple(facts), headings,
            )  # fmt: skip
        return requests


_RESERVED = ("Introduction", "Open Problems", "Conclusion")


def _papers_for(home: int, pool: int) -> tuple[int, int]:
    """Papers a leaf discusses, and further ones it names: all of a small pool; else as many as a reader follows."""
    if pool <= _SMALL_POOL:
        return max(_LEAST_PAPERS, home), home
    discussed = max(_LEAST_PAPERS, min(_MOST_PAPERS, round(2 + _DISCUSSED_SHARE * home)))
    return discussed, max(0, min(_MOST_NAMED, home - discussed))


def _node(number: str, plan: SectionPlan, memory: Sequence[str], patterns: tuple[str, ...]) -> OutlineNode:
    return OutlineNode(
        number, plan.title, plan.description, "body", plan.queries, tuple(memory),
        tuple(dict.fromkeys([*plan.patterns, *patterns])), plan.origin,
    )  # fmt: skip


def _chunks(items: list[str], size: int) -> list[list[str]]:
    """Chunks of equal size, as few as hold all."""
    count = max(1, math.ceil(len(items) / size))
    return [items[i * len(items) // count : (i + 1) * len(items) // count] for i in range(count)]


def _candidate(library: Library, paper_id: str) -> Candidate:
    paper = library.paper(paper_id)
    # A month is no day, but it lies in one window: only works without any date would be undated.
    return Candidate(paper_id, paper.submitted_latest, paper.citation_count)


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
    )
