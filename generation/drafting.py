"""Drafts of a survey's nodes until they are one text: written at once, refined beside neighbours, put in order.

Belongs here: what any method does with drafts once it has asked for them. Not here: which evidence a node gets
(`surveyforge`) and what a writer does with it.
"""

import asyncio
from dataclasses import replace

from generation.tidying import without_twins
from generation.topics import Topic
from generation.values import Failure, Outline, OutlineNode, SectionDraft, Sentence, Survey
from generation.writing import DraftRequest, RefineRequest, Writer
from ingestion.errors import LithouseError

_REFINEMENTS = 3
"""Times a draft is refined at most to say nothing that stands elsewhere."""


async def drafted(
    writer: Writer, requests: dict[str, DraftRequest], failures: list[Failure]
) -> dict[str, SectionDraft]:
    """All drafts at once; one that fails is a failure with its reason, not a missing section."""
    results = await asyncio.gather(*(writer.draft(r) for r in requests.values()), return_exceptions=True)
    drafts = {}
    for number, result in zip(requests, results, strict=True):
        if isinstance(result, LithouseError):
            failures.append(Failure(f"{number} {requests[number].title}", result.message))
        elif isinstance(result, BaseException):
            raise result
        else:
            drafts[number] = result
    return drafts


async def refined(
    writer: Writer, requests: dict[str, DraftRequest], drafts: dict[str, SectionDraft]
) -> dict[str, SectionDraft]:
    """Even leaves first, then odd ones, each beside its neighbours as they stand by then."""
    order = list(drafts)
    current = dict(drafts)
    for parity in (0, 1):
        turn = order[parity::2]
        asked = []
        for number in turn:
            at = order.index(number)
            beside = [order[i] for i in (at - 1, at + 1) if 0 <= i < len(order)]
            asked.append(RefineRequest(current[number], tuple(current[n] for n in beside), requests[number]))
        current.update(zip(turn, await asyncio.gather(*(writer.refine(r) for r in asked)), strict=True))
    return current


async def without_repeats(
    writer: Writer, requests: dict[str, DraftRequest], drafts: dict[str, SectionDraft]
) -> dict[str, SectionDraft]:
    """Sections far apart may say the same; the later one is refined beside the earlier ones until none does."""
    current = dict(drafts)
    done: list[str] = []
    for number in drafts:
        earlier = {_said(s): n for n in done for s in current[n].sentences()}
        beside: dict[str, None] = {}
        for _ in range(_REFINEMENTS):
            hits = {earlier[_said(s)] for s in current[number].sentences() if _said(s) in earlier}
            if not hits:
                break
            beside |= dict.fromkeys(sorted(hits))
            neighbours = tuple(current[n] for n in beside)
            current[number] = await writer.refine(RefineRequest(current[number], neighbours, requests[number]))
        current[number] = _drop(current[number], set(earlier))
        done.append(number)
    return current


def _said(sentence: Sentence) -> object:
    """What a sentence says: its source where it has one, since naming may differ, else its text."""
    return sentence.spans or sentence.text


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
