"""The writer that asks a model: every operation a call, or as many as fit the window, read and held to what was asked.

Belongs here: which calls an operation makes and what becomes of their replies. Not here: prompts (`calls`, `showing`),
asking until a reply fits (`asking`), the network and the ledger (`language_models.gateway`).
"""

import asyncio
import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import cached_property
from typing import ClassVar, TypeVar

import numpy as np

from corpus.hashing import text_hash
from generation.cards import CardFailure, PaperCard
from generation.grounding_sources import sources_of
from generation.language_models.calls import FatalFailure, ModelFailure, WindowTooSmall
from generation.language_models.replies import Reading, guarded, read
from generation.model_writer import calls, versions
from generation.model_writer.asking import Asked, ask_for
from generation.model_writer.calls import FRAMING, Built, NoRoom
from generation.model_writer.cards import card_of, shown_for_card
from generation.model_writer.fallback import FALLEN_BACK, fullest, planned_without_model
from generation.model_writer.framing import composed_for
from generation.model_writer.grounding_rounds import grounded
from generation.model_writer.merging import groups_of, merge_call, merge_calls, merge_fan
from generation.model_writer.schemas import CardReply, SectionsReply, SubsectionsReply
from generation.model_writer.section_plans import read_plans
from generation.model_writer.tables import LEAST_ROWS, read_rows, table_of
from generation.model_writer.telling import Told
from generation.model_writer.texts import draft_of, read_draft
from generation.values import Failure, Paragraph, Pattern, SectionDraft
from generation.writing import (
    CardRequest,
    CompareRequest,
    DraftRequest,
    Evidence,
    GroundRequest,
    MergeRequest,
    OutlineRequest,
    RefineRequest,
    SectionPlan,
    SubsectionsRequest,
)

Value = TypeVar("Value")


class ModelWriter:
    """Asks one model.

    Args:
        gateway: with `settings`, `ask(call)` and `count(messages, schema)`.
        embed: texts → unit vectors (n, d), to hold sentences against papers.
        verdicts: the model also judges each cited sentence.
    """

    asks_a_model: ClassVar[bool] = True

    def __init__(self, gateway, embed: Callable[[Sequence[str]], np.ndarray], *, verdicts: bool = False) -> None:
        self._gateway = gateway
        self._embed = embed
        self.verdicts = verdicts
        self._told = Told()
        self._left_out = Told()
        self._prepared: set[str] = set()
        self._preparing: list[asyncio.Future[None]] = []  # kept, so that none is collected while it runs

    @property
    def name(self) -> str:
        return self._gateway.settings.name

    @property
    def notes(self) -> list[Failure]:
        """What could not be revised, judged or brought into form, and stands as it was, by item and operation."""
        return self._told.in_order()

    @property
    def left_out(self) -> list[Failure]:
        """Papers that had no room in a call that should have shown them, and why, by the call's item."""
        return self._left_out.in_order()

    @property
    def taken_out(self) -> int:
        """Citations that went with a whole sentence, row or cell, since no paper bears it: no draft holds them."""
        return self._told.taken_out.total()

    def told(self) -> tuple[Failure, ...]:
        """What could not be revised, judged or brought into form, then papers without room in a call."""
        return (*self.notes, *self.left_out)

    @property
    def options(self) -> dict[str, object]:
        """How the model was asked, for people and for whoever asks what an edition would be now."""
        return {"window": self._gateway.settings.window, "verdicts": self.verdicts}

    @cached_property
    def version(self) -> str:
        """Hash of templates, code and what of the settings decides the text."""
        return self._hash(*calls.FIELDS, code=versions.CODE, verdicts=self.verdicts)

    @cached_property
    def card_version(self) -> str:
        return self._hash("card", code=versions.CARD_CODE)

    def _hash(self, *operations: str, code: tuple[str, ...], **more: object) -> str:
        settings = self._gateway.settings
        decided = {"window": settings.window, "output": settings.output, "margin": settings.token_margin, **more}
        deciding = json.dumps(decided | dict(settings.deciding), sort_keys=True, default=str)
        hashes = [calls.template_hashes(operation) for operation in sorted(operations)]
        return text_hash("\x1f".join([*hashes, versions.code_hash(code), deciding]))[:12]

    def portions(self, evidence: Sequence[Evidence], most: int) -> list[list[Evidence]]:
        """Evidence in portions of at most `most` papers and about 30,000 tokens, or what the window bears."""
        return calls.portions(self._gateway.settings, self._gateway.count, evidence, most)

    async def card(self, request: CardRequest) -> PaperCard:
        """The card of a paper; a failure of its own stands in it.

        Raises:
            FatalFailure: every further card would fail the same way.
        """
        paper = shown_for_card(request)
        try:
            built = calls.card_call(
                self._gateway.settings, self._gateway.count, paper, is_full_text=bool(request.passages)
            )
            asked = await self._ask(built, lambda text: read(text, CardReply))
        except FatalFailure:
            raise
        except ModelFailure as error:
            failed = CardFailure(error.message, error.is_retryable)
            keys = (error.key,) if error.key else ()
            return PaperCard(
                request.paper.paper_id, self.name, self.card_version, (), (), (), (), keys, paper.flags, failed
            )
        return card_of(request, asked.value, self.name, self.card_version, asked.keys, paper.flags)

    async def outline(self, request: OutlineRequest) -> tuple[SectionPlan, ...]:
        """Exactly as many sections as asked for, or what the model gave of them after all repairs; no papers in them.

        Where it gave nothing of use, headings are the key phrases of the portion, which is told.
        """
        if not request.evidence:
            return ()
        built = calls.outline_call(self._gateway.settings, self._gateway.count, request)
        self._leave_out(built, "outline")
        try:
            return await self._planned(built, SectionsReply, request.section_count, FRAMING, request.patterns)
        except FALLEN_BACK as error:
            plans = await asyncio.to_thread(planned_without_model, request, self._embed, FRAMING)
            return self._instead(built, plans, "its headings are key phrases of the papers", error)

    def merge_count(self, rough: int, sections: int) -> int:
        """Calls that merge so many rough outlines."""
        return merge_calls(self._gateway.settings, rough, sections)

    async def merge(self, request: MergeRequest) -> tuple[SectionPlan, ...]:
        """One outline, merged by levels where the rough ones do not fit one call."""
        rough = [plans for plans in request.rough if plans]
        if not rough:
            return ()
        fan = merge_fan(self._gateway.settings, request.section_count)
        while len(rough) > 1:
            at, groups = 0, []
            for size in groups_of(len(rough), fan):
                groups.append(rough[at : at + size])
                at += size
            rough = list(await asyncio.gather(*(self._merged(request, group) for group in groups)))
        return rough[0]

    async def _merged(self, request: MergeRequest, rough: Sequence[tuple[SectionPlan, ...]]) -> tuple[SectionPlan, ...]:
        if len(rough) == 1:
            return rough[0]
        built = merge_call(self._gateway.settings, self._gateway.count, request, rough)
        taken = (*request.taken, *FRAMING)
        try:
            return await self._planned(built, SectionsReply, request.section_count, taken, request.patterns)
        except FALLEN_BACK as error:
            plans = fullest(rough, request.section_count, taken)
            return self._instead(built, plans, "one of the rough outlines stands for all", error)

    def _instead(
        self, built: Built, plans: tuple[SectionPlan, ...], what: str, error: ModelFailure
    ) -> tuple[SectionPlan, ...]:
        """Plans that the model did not make, with a note.

        Raises:
            ModelFailure: there are none.
        """
        if not plans:
            raise error
        self._note(built, [f"{what}, since the model gave none: {error.message}"])
        return plans

    async def subsections(self, request: SubsectionsRequest) -> tuple[SectionPlan, ...]:
        """Exactly as many subsections as asked for, or what the model gave of them after all repairs."""
        if not request.memory or request.most < 1:
            return ()
        built = calls.subsections_call(self._gateway.settings, self._gateway.count, request)
        taken = (*request.taken, request.section.title, *FRAMING)
        return await self._planned(built, SubsectionsReply, request.most, taken, request.patterns)

    async def draft(self, request: DraftRequest) -> SectionDraft:
        """The text of a node by its role; nothing is asked where there is no evidence."""
        if not request.evidence:
            return SectionDraft(request.number, request.title, ())
        built = calls.draft_call(self._gateway.settings, self._gateway.count, request)
        self._prepare(request.evidence)
        home = {e.paper.paper_id for e in request.evidence if e.is_home}
        if request.role == "body":
            self._leave_out(replace(built, left_out=tuple(p for p in built.left_out if p in home)), built.call.item)
        written = await self._written(request, built)
        composed = composed_for(request, self.name)
        return replace(written, paragraphs=(*written.paragraphs, composed)) if composed else written

    def _prepare(self, evidence: Sequence[Evidence]) -> None:
        """Embed what the draft will be held against while the model writes it; `embed` keeps what it has embedded."""
        home = [e for e in evidence if e.is_home and e.paper.paper_id not in self._prepared]
        self._prepared |= {e.paper.paper_id for e in home}

        def embed_each() -> None:
            for source in sources_of(home).values():
                if texts := [s.text for s in source.sentences if s.span.source == "abstract"]:
                    self._embed(texts)

        if home:
            self._preparing.append(asyncio.ensure_future(asyncio.to_thread(embed_each)))

    async def refine(self, request: RefineRequest) -> SectionDraft:
        """The draft beside its neighbours; what was composed stays as it is."""
        own = request.request
        if not own.evidence or not any(s.kind == "written" for s in request.draft.sentences()):
            return request.draft
        try:
            built = calls.refine_call(self._gateway.settings, self._gateway.count, request)
        except (NoRoom, WindowTooSmall) as error:
            item = f"{own.number} {own.title}"
            self._told.add(item, "refine", Failure(f"{item}: not refined", error.message))
            return request.draft
        refined = await self._written(own, built)
        before = tuple(dict.fromkeys(k for s in request.draft.sentences() for k in s.calls))
        paragraphs = [tuple(replace(s, calls=(*before, *s.calls)) for s in p) for p in refined.paragraphs]
        kept = [p for p in request.draft.paragraphs if all(s.kind != "written" for s in p)]
        return replace(request.draft, paragraphs=(*paragraphs, *kept))

    async def ground(self, request: GroundRequest) -> SectionDraft:
        """The draft with what its papers bear; what happened stands in its sentences' checks."""
        return await grounded(self._gateway, self._embed, request, verdicts=self.verdicts, told=self._told)

    async def compare(self, request: CompareRequest) -> Paragraph:
        """A table of works that report a number; () where fewer than three rows stand."""
        if len(request.evidence) < LEAST_ROWS:
            return ()
        try:
            built = calls.compare_call(self._gateway.settings, self._gateway.count, request)
        except (NoRoom, WindowTooSmall) as error:
            item = f"{request.number} {request.title}"
            self._told.add(item, "compare", Failure(f"table of {item}: not made", error.message))
            return ()
        asked = await self._ask(built, lambda text: read_rows(text, built.call.evidence, built.call.schema))
        self._note(built, asked.problems)
        table, taken_out = await asyncio.to_thread(table_of, request, asked.value, asked.keys, self._embed)
        self._told.taken_out[built.call.item] += taken_out
        return table

    async def _written(self, request: DraftRequest, built: Built) -> SectionDraft:
        shown, schema = built.call.evidence, built.call.schema
        asked = await self._ask(built, lambda text: read_draft(text, shown, is_markdown=schema is None, schema=schema))
        self._note(built, asked.problems)
        return draft_of(request.number, request.title, asked.value, asked.keys)

    async def _planned(
        self,
        built: Built,
        form: type[SectionsReply] | type[SubsectionsReply],
        most: int,
        taken: Collection[str],
        patterns: Sequence[Pattern],
    ) -> tuple[SectionPlan, ...]:
        """The headings of a reply whose one field names them."""
        (name,) = form.model_fields

        def plans_of(text: str) -> Reading[tuple[SectionPlan, ...]]:
            reading = read(text, form)
            return read_plans(getattr(reading.value, name), most, taken, patterns, name, reading.problems, text)

        asked = await self._ask(built, plans_of)
        self._note(built, asked.problems)
        return asked.value

    async def _ask(self, built: Built, reader: Callable[[str], Reading[Value]]) -> Asked[Value]:
        return await ask_for(self._gateway, built.call, guarded(reader, built.call.most_tokens))

    def _note(self, built: Built, problems: Sequence[str]) -> None:
        if problems:
            item, operation = built.call.item, built.call.operation
            self._told.add(
                item.removeprefix("table of "), operation, Failure(f"{operation} of {item}", "; ".join(problems))
            )

    def _leave_out(self, built: Built, where: str) -> None:
        window = self._gateway.settings.window
        for paper_id in built.left_out:
            reason = f"no room for it in “{where}” with a window of {window:,} tokens"
            self._left_out.add(where, built.call.operation, Failure(paper_id, reason))
