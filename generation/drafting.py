"""Drafts of a survey's nodes until they are one text: written at once, refined beside neighbours, put in order.

Belongs here: what any method does with drafts once it has asked for them. Not here: which evidence a node gets
(`surveyforge`) and what a writer does with it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from generation.tidying import without_twins
from generation.topics import Topic
from generation.values import Failure, Outline, OutlineNode, Paragraph, SectionDraft, Sentence, Survey
from generation.writing import CompareRequest, DraftRequest, GroundRequest, RefineRequest, Writer
from ingestion.errors import LithouseError

_REFINEMENTS = 3
"""Times a draft is refined at most to say nothing that stands elsewhere."""


async def answered(
    asked: Sequence[Awaitable], names: Sequence[str], notes: list[Failure], *, may_all_fail: bool = False
) -> list:
    """Answers in order; None for what failed by itself, which is noted by its name.

    Raises:
        LithouseError: what every further call would meet, or, unless all may fail, the first failure where all failed.
    """
    answers: list = []
    errors: list[LithouseError] = []
    for name, answer in zip(names, await asyncio.gather(*asked, return_exceptions=True), strict=True):
        if isinstance(answer, BaseException):
            if not isinstance(answer, LithouseError) or getattr(answer, "is_fatal", False):
                raise answer
            errors.append(answer)
            notes.append(Failure(name, answer.message))
        answers.append(None if isinstance(answer, BaseException) else answer)
    if errors and len(errors) == len(answers) and not may_all_fail:
        raise errors[0]
    return answers


class Drafting:
    """Drafts at work, each begun as soon as what it needs is there, so that no writer waits for another's slowest.

    A leaf is drafted, refined beside its neighbours (even ones beside drafts, odd ones beside the refined even ones;
    SurveyForge, after AutoSurvey) and grounded; what frames them is drafted and grounded. An item that fails is a
    failure with its reason, not a missing section; a failure that every further item would meet too, and that no rerun
    can change, ends the work.
    """

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._items: dict[str, str] = {}
        self._final: dict[str, asyncio.Task] = {}
        self._tasks: list[asyncio.Task] = []
        self._failed: dict[tuple[str, str], LithouseError] = {}
        self._noted: dict[tuple[str, str], LithouseError] = {}

    async def __aenter__(self) -> "Drafting":
        return self

    async def __aexit__(self, *_error) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def failures(self) -> tuple[Failure, ...]:
        """What failed, in the order in which it was asked for."""
        return self._told(self._failed)

    @property
    def notes(self) -> tuple[Failure, ...]:
        """What was left as it was."""
        return self._told(self._noted)

    @property
    def first_error(self) -> LithouseError:
        """Why the first of what failed did."""
        place = {number: i for i, number in enumerate(self._items)}
        return self._failed[min(self._failed, key=lambda key: place[key[0]])]

    def begin_leaves(self, requests: Mapping[str, DraftRequest]) -> None:
        """Begin to write leaves, in reading order."""
        order = list(requests)
        self._items |= {n: f"{n} {r.title}" for n, r in requests.items()}
        drafts = {n: self._task(self._attempted(n, self._writer.draft(r))) for n, r in requests.items()}
        even = {n: self._task(self._refined(n, requests, order, drafts, drafts)) for n in order[0::2]}
        odd = {n: self._task(self._refined(n, requests, order, drafts, even)) for n in order[1::2]}
        refined = even | odd
        for number, request in requests.items():
            self._final[number] = self._task(self._grounded(number, refined[number], request))

    def begin(self, requests: Mapping[str, DraftRequest]) -> None:
        """Begin to write nodes that have no neighbours."""
        self._items |= {n: f"{n} {r.title}" for n, r in requests.items()}
        for number, request in requests.items():
            draft = self._task(self._attempted(number, self._writer.draft(request)))
            self._final[number] = self._task(self._grounded(number, draft, request))

    def begin_tables(
        self, tables: Mapping[str, tuple[tuple[str, ...], Callable[[Sequence[str]], CompareRequest]]]
    ) -> dict[str, asyncio.Task]:
        """Begin tables: number → leaves that must be written first, and the request from the papers they cite."""
        return {n: self._task(self._table(n, leaves, request)) for n, (leaves, request) in tables.items()}

    async def finished(self, numbers: Iterable[str]) -> dict[str, SectionDraft]:
        """Drafts of these nodes, in order, without those that failed."""
        return {n: draft for n in numbers if (draft := await self._awaited(self._final[n])) is not None}

    async def paragraphs(self, tables: Mapping[str, asyncio.Task]) -> dict[str, Paragraph]:
        """Tables by number, without those that failed."""
        return {n: table for n, task in tables.items() if (table := await self._awaited(task))}

    async def _awaited(self, task: asyncio.Task):
        # An error that ends the work may come from any task, and should not wait for this one.
        while not task.done():
            await asyncio.wait([t for t in self._tasks if not t.done()], return_when=asyncio.FIRST_COMPLETED)
            for other in self._tasks:
                if other.done() and other.exception():
                    raise other.exception()
        return task.result()

    def _task(self, coroutine) -> asyncio.Task:
        self._tasks.append(asyncio.ensure_future(coroutine))
        return self._tasks[-1]

    def _told(self, errors: Mapping[tuple[str, str], LithouseError]) -> tuple[Failure, ...]:
        place = {number: i for i, number in enumerate(self._items)}
        ordered = sorted(errors, key=lambda key: (place.get(key[0], len(place)), key[1]))
        return tuple(
            Failure(
                f"{self._items.get(n, n)}{step and f': {step}'}", errors[n, step].message, errors[n, step].is_retryable
            )
            for n, step in ordered
        )

    async def _attempted(self, number: str, asked: Awaitable, step: str = ""):
        """What was asked for; None where it failed, with the reason kept."""
        try:
            return await asked
        except LithouseError as error:
            if getattr(error, "is_fatal", False) and not error.is_retryable:
                raise
            # A text that could not be improved stands as it was; that a rerun may mend it makes the survey partial.
            kept = self._failed if not step or error.is_retryable else self._noted
            kept[number, step] = error
            return None

    async def _refined(self, number: str, requests, order: list[str], drafts, beside) -> SectionDraft | None:
        draft = await drafts[number]
        at = order.index(number)
        names = [order[i] for i in (at - 1, at + 1) if 0 <= i < len(order)]
        near = [await beside[n] for n in names]
        if draft is None:
            return None
        request = RefineRequest(draft, tuple(n for n in near if n), requests[number])
        return await self._attempted(number, self._writer.refine(request), "not refined") or draft

    async def _grounded(self, number: str, written: asyncio.Task, request: DraftRequest) -> SectionDraft | None:
        draft = await written
        return draft and await self._attempted(number, self._writer.ground(GroundRequest(draft, request)))

    async def _table(self, number: str, leaves: Sequence[str], request) -> Paragraph | None:
        drafts = [await self._final[leaf] for leaf in leaves]
        cited = list(dict.fromkeys(p for d in drafts if d for p in d.cited_ids))
        self._items.setdefault(number, number)
        return await self._attempted(number, self._writer.compare(request(cited)), "no table") if cited else ()


async def without_repeats(
    writer: Writer, requests: dict[str, DraftRequest], drafts: dict[str, SectionDraft]
) -> dict[str, SectionDraft]:
    """Sections far apart may say the same; the later one is refined beside the earlier ones until none does.

    A model is not asked again for a sentence that stands elsewhere word for word: it goes.
    """
    current = dict(drafts)
    done: list[str] = []
    for number in drafts:
        earlier = {_said(s): n for n in done for s in current[n].sentences()}
        beside: dict[str, None] = {}
        for _ in range(0 if writer.asks_a_model else _REFINEMENTS):
            hits = {earlier[_said(s)] for s in current[number].sentences() if _said(s) in earlier}
            if not hits:
                break
            beside |= dict.fromkeys(sorted(hits))
            neighbours = tuple(current[n] for n in beside)
            current[number] = await writer.refine(RefineRequest(current[number], neighbours, requests[number]))
        left = _drop(current[number], set(earlier))
        # Of a model's section that would vanish all is kept; where paragraphs are twins, that is told when they go.
        current[number] = left if any(left.sentences()) or not writer.asks_a_model else current[number]
        done.append(number)
    return current


def _said(sentence: Sentence) -> object:
    """What a sentence says: its source where it has one, since naming may differ, else its text."""
    return (sentence.spans if sentence.kind != "written" else ()) or sentence.text


def _drop(draft: SectionDraft, said: set) -> SectionDraft:
    paragraphs = tuple(tuple(s for s in p if _said(s) not in said) for p in draft.paragraphs)
    return replace(draft, paragraphs=tuple(p for p in paragraphs if p))


def assembled(topic: Topic, outline: Outline, drafts: dict[str, SectionDraft]) -> tuple[Survey, list[Failure]]:
    """Sections in outline order, renumbered without gaps; a node without text is left out and told.

    No heading and no paragraph stands twice (`tidying.without_twins`); what was merged is told too.
    """
    sections: list[SectionDraft] = []
    left_out = []
    top, sub = 0, 0
    for node in outline.nodes:
        draft = drafts.get(node.number)
        has_text = draft is not None and any(draft.sentences())
        parts = [n for n in outline.children(node.number) if n.number in drafts]
        if not has_text and not parts:
            left_out.append(Failure(f"{node.number} {node.title}", _why_empty(node)))
            continue
        if node.level == 1:
            top, sub = top + 1, 0
        else:
            sub += 1
        number = str(top) if node.level == 1 else f"{top}.{sub}"
        sections.append(SectionDraft(number, node.title, draft.paragraphs if draft else (), node.number))
    distinct, merged = without_twins(sections)
    return Survey(topic.title, distinct), [*left_out, *merged]


def _why_empty(node: OutlineNode) -> str:
    if node.role == "open_problems":
        return "fewer than five papers state an open problem in a sentence that stands alone"
    return "no sentence of its evidence stands alone"


def with_tables(survey: Survey, tables: Mapping[str, Paragraph]) -> Survey:
    """Tables by the section's number in the outline, each behind the section's opening; () for none."""
    sections = tuple(
        replace(s, paragraphs=(*s.paragraphs, _numbered(table, s.number)))
        if (table := tables.get(s.outline_number))
        else s
        for s in survey.sections
    )
    return replace(survey, sections=sections)


def _numbered(table: Paragraph, number: str) -> Paragraph:
    """The table with the number of its section as printed, which is known only when all sections are there."""
    caption, *rows = table
    if not any(row.name == "section" for row in caption.rows):
        return table
    stated = tuple(replace(row, value=number) if row.name == "section" else row for row in caption.rows)
    told = {row.name: row.value for row in stated}
    return (replace(caption, rows=stated, text=caption.template.format(**told)), *rows)
