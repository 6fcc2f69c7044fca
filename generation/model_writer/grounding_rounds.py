"""Grounding a model's draft: the rules' check, a model's verdict where asked for, one revision, then what is not borne goes.

Not here: the check itself (`generation.grounding`).
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace

from generation.grounding import Embed, Source, check_draft, sources_of, without_unborne
from generation.language_models.calls import Call, ModelFailure, Unfit, WindowTooSmall
from generation.language_models.replies import Reading, read
from generation.model_writer.asking import ask_for
from generation.model_writer.calls import revise_call, verdict_call
from generation.model_writer.schemas import ReviseReply, VerdictReply
from generation.model_writer.texts import lines_of, sentence_of
from generation.values import Check, Failure, SectionDraft, Sentence, Verdict
from generation.writing import GroundRequest

_VERDICTS: Mapping[str, Verdict] = {"supported": "grounded", "partly": "weak", "unsupported": "ungrounded"}
_WORSE: Mapping[Verdict, int] = {"grounded": 0, "weak": 1, "ungrounded": 2}
_MOST_AT_ONCE = 12
"""Sentences revised in one call; of a draft with more, those beyond only lose their citations."""


async def grounded(
    gateway, embed: Embed, request: GroundRequest, *, verdicts: bool, notes: list[Failure]
) -> SectionDraft:
    """The draft with what its papers bear, and with what happened in its sentences' checks.

    Args:
        verdicts: a model judges each cited sentence too; the worse verdict counts.
        notes: told what could not be revised or judged; the rules' verdicts stand then.

    Raises:
        FatalFailure: every further call would end the same way, and no rerun can change it.
    """
    asked = request.request
    sources = sources_of(asked.evidence)
    allowed = (asked.topic, asked.title, *(title for _, title, _ in asked.outline))
    item = f"{asked.number} {asked.title}"
    # In a thread: the replies of other calls come meanwhile.
    draft = await asyncio.to_thread(check_draft, request.draft, sources, embed, allowed_terms=allowed)
    if verdicts:
        try:
            draft = await _judged(gateway, asked, draft)
        except ModelFailure as error:
            notes.append(_left(f"{item}: not judged", error))
    if bad := _unborne(draft):
        try:
            draft = await _revised(gateway, embed, asked, draft, bad, sources, allowed, notes)
        except ModelFailure as error:
            notes.append(_left(f"{item}: not revised", error))
    return without_unborne(draft)


def _left(item: str, error: ModelFailure) -> Failure:
    """What is told of a draft that stands as it was; the rules have the last word on it then.

    Raises:
        ModelFailure: where every further call would end the same way, and no rerun can change it.
    """
    if error.is_fatal and not error.is_retryable and not isinstance(error, WindowTooSmall):
        raise error
    return Failure(item, error.message, error.is_retryable)


def _unborne(draft: SectionDraft) -> list[Sentence]:
    return [s for s in draft.sentences() if s.kind == "written" and _has_unborne(s)][:_MOST_AT_ONCE]


def _has_unborne(sentence: Sentence) -> bool:
    last = {check.paper_id: check for check in sentence.checks}
    return any(c.verdict == "ungrounded" and c.paper_id in sentence.cited_ids for c in last.values())


async def _revised(
    gateway,
    embed: Embed,
    asked,
    draft: SectionDraft,
    bad: Sequence[Sentence],
    sources: Mapping[str, Source],
    allowed,
    notes: list[Failure],
) -> SectionDraft:
    """The draft with the bad sentences as a model wrote them anew; those it left empty are gone."""
    call, bad = _fitting_revision(gateway, asked, bad)
    reason = "; ".join(f"“{s.text[:80]}”: {_why(s)}" for s in bad)
    call = replace(call, repairs=bad[0].calls[-1] if bad[0].calls else "", reason=reason)
    result = await ask_for(gateway, call, lambda text: _read_revised(text, len(bad), call.evidence))
    written = SectionDraft(
        draft.number, draft.title,
        (tuple(replace(s, calls=(*bad[n - 1].calls, *result.keys)) for n, s in result.value.items() if s.text),),
    )  # fmt: skip
    again = await asyncio.to_thread(check_draft, written, sources, embed, allowed_terms=allowed)
    checked = dict(zip((n for n, s in result.value.items() if s.text), again.sentences(), strict=True))
    new: dict[int, Sentence | None] = {}
    for number, before in enumerate(bad, start=1):
        if number not in result.value:
            continue  # not answered: it keeps its text, and loses what is not borne
        new[id(before)] = _as_revised(checked[number], before) if number in checked else None
        if number not in checked:
            reason = f"a sentence that its papers do not bear was taken out: “{before.text}” ({_why(before)})"
            notes.append(Failure(call.item, reason))
    paragraphs = tuple(
        tuple(k for s in paragraph if (k := new.get(id(s), s)) is not None) for paragraph in draft.paragraphs
    )
    return replace(draft, paragraphs=tuple(p for p in paragraphs if p))


def _fitting_revision(gateway, asked, bad: Sequence[Sentence]) -> tuple[Call, Sequence[Sentence]]:
    """The call for as many of the sentences as fit the window.

    Raises:
        WindowTooSmall: not one does.
    """
    while True:
        try:
            return revise_call(gateway.settings, gateway.count, asked, bad).call, bad
        except WindowTooSmall:
            if len(bad) == 1:
                raise
            bad = bad[: len(bad) // 2]


def _as_revised(sentence: Sentence, before: Sentence) -> Sentence:
    """The new sentence: its checks say that it was revised; what the old one cited and it does not is told as removed."""
    checks = tuple(replace(c, action="revised") if c.action == "kept" else c for c in sentence.checks)
    gone = {
        c.paper_id: replace(c, action="removed" if c.action == "kept" else c.action)
        for c in before.checks
        if c.paper_id not in sentence.cited_ids
    }
    return replace(sentence, checks=(*gone.values(), *(c for c in checks if c.paper_id not in gone)))


def _read_revised(text: str, count: int, shown: Sequence[str]) -> Reading[dict[int, Sentence]]:
    reading = read(text, ReviseReply)
    problems = list(reading.problems)
    found: dict[int, Sentence] = {}
    for item in reading.value.sentences:
        if not 1 <= item.number <= count or item.number in found:
            problems.append(f"there is no further sentence number {item.number}")
            continue
        lines = lines_of(item.text, item.papers, shown)
        if refused := [p for line in lines for p in line.refused]:
            problems.append(f"these ids are not among those that may be cited: {', '.join(refused)}")
        # A sentence that became two is one again, with the papers of both.
        joined = [sentence_of(line) for line in lines]
        found[item.number] = (
            replace(
                joined[0],
                text=" ".join(s.text for s in joined),
                cited_ids=tuple(dict.fromkeys(p for s in joined for p in s.cited_ids)),
                checks=tuple(c for s in joined for c in s.checks),
            )
            if joined
            else Sentence("written", "")
        )
    if not found:
        raise Unfit("the reply holds none of the sentences", which="; ".join(problems), text=text)
    if missing := [str(n) for n in range(1, count + 1) if n not in found]:
        problems.append(f"these sentences are missing: {', '.join(missing)}")
    return Reading(found, tuple(problems))


async def _judged(gateway, asked, draft: SectionDraft) -> SectionDraft:
    """The draft with a model's verdicts beside the rules', the worse one last, which is the one that counts."""
    cited = [s for s in draft.sentences() if s.kind == "written" and s.cited_ids]
    if not cited:
        return draft
    call = verdict_call(gateway.settings, gateway.count, asked, cited).call
    result = await ask_for(gateway, call, lambda text: _read_verdicts(text, len(cited)))
    judge = gateway.settings.name
    verdict_of = {id(s): result.value.get(n) for n, s in enumerate(cited, start=1)}

    def judged(sentence: Sentence) -> Sentence:
        verdict = verdict_of.get(id(sentence))
        if verdict is None:
            return sentence
        checks: list[Check] = [c for c in sentence.checks if c.paper_id not in sentence.cited_ids]
        for own in (c for c in sentence.checks if c.paper_id in sentence.cited_ids):
            reason = "" if verdict == "grounded" else "the model's verdict"
            pair = [own, Check(own.paper_id, verdict, own.similarity, reason, judge=judge)]
            checks += sorted(pair, key=lambda c: _WORSE[c.verdict])
        return replace(sentence, checks=tuple(checks))

    return replace(draft, paragraphs=tuple(tuple(judged(s) for s in p) for p in draft.paragraphs))


def _read_verdicts(text: str, count: int) -> Reading[dict[int, Verdict]]:
    reading = read(text, VerdictReply)
    found = {v.number: _VERDICTS[v.verdict] for v in reading.value.verdicts if 1 <= v.number <= count}
    problems = list(reading.problems)
    if missing := [str(n) for n in range(1, count + 1) if n not in found]:
        problems.append(f"there is no verdict for sentence {', '.join(missing)}")
    if not found:
        raise Unfit("the reply holds no verdict", which="; ".join(problems), text=text)
    return Reading(found, tuple(problems))


def _why(sentence: Sentence) -> str:
    told = [f"{c.paper_id} {c.reason}".strip() for c in sentence.checks if c.verdict == "ungrounded"]
    return "; ".join(dict.fromkeys(told))
