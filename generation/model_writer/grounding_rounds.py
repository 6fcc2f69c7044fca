"""Grounding a model's draft: the rules' check, a model's verdict where asked for, one revision, then what is not borne goes.

Sentences that cite nothing and state what needs a paper are revised with the others; what stays so is marked.

Not here: the check itself (`generation.grounding`).
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace

from generation.grounding import Embed, Source, check_draft, sources_of, without_unborne
from generation.language_models.calls import Call, ModelFailure, Unfit, WindowTooSmall
from generation.language_models.replies import Reading, guarded, read, told_of
from generation.model_writer.asking import ask_for
from generation.model_writer.calls import NoRoom, revise_call, verdict_call
from generation.model_writer.schemas import ReviseReply, VerdictReply
from generation.model_writer.telling import Told
from generation.model_writer.texts import is_whole, lines_of, sentence_of
from generation.prompting.fencing import cleaned
from generation.values import Check, Failure, SectionDraft, Sentence, Verdict
from generation.writing import DraftRequest, GroundRequest

_VERDICTS: Mapping[str, Verdict] = {"supported": "grounded", "partly": "weak", "unsupported": "ungrounded"}
_WORSE: Mapping[Verdict, int] = {"grounded": 0, "weak": 1, "ungrounded": 2}
_MOST_AT_ONCE = 12
"""Sentences revised in one call; of a draft with more, those beyond only lose their citations, or are marked."""


async def grounded(gateway, embed: Embed, request: GroundRequest, *, verdicts: bool, told: Told) -> SectionDraft:
    """The draft with what its papers bear, and with what happened in its sentences' checks.

    Args:
        verdicts: a model judges each cited sentence too; the worse verdict counts.
        told: what could not be revised or judged, where the rules' verdicts stand, and citations that went with their
            sentence.

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
        draft = await _judged(gateway, asked, draft, item, told)
    if bad := _unborne(draft):
        try:
            draft = await _revised(gateway, embed, asked, draft, bad, sources, allowed, told)
        except ModelFailure as error:
            told.add(item, "revise", _left(f"{item}: not revised", error))
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
    """What is to be revised: first what its papers do not bear, then what cites nothing."""
    found = [s for s in draft.sentences() if s.kind == "written" and _has_unborne(s)]
    return sorted(found, key=lambda s: not s.cited_ids)[:_MOST_AT_ONCE]


def _has_unborne(sentence: Sentence) -> bool:
    last = {check.paper_id: check for check in sentence.checks}
    return sentence.is_unborne or any(
        c.verdict == "ungrounded" and c.paper_id in sentence.cited_ids for c in last.values()
    )


async def _revised(
    gateway,
    embed: Embed,
    asked,
    draft: SectionDraft,
    bad: Sequence[Sentence],
    sources: Mapping[str, Source],
    allowed,
    told: Told,
) -> SectionDraft:
    """The draft with the bad sentences as a model wrote them anew; those it left empty are gone."""
    call, bad = _fitting_revision(gateway, asked, bad)
    reason = "; ".join(f"“{s.text[:80]}”: {_why(s)}" for s in bad)
    call = replace(call, repairs=bad[0].calls[-1] if bad[0].calls else "", reason=reason)
    reader = guarded(lambda text: _read_revised(text, len(bad), call.evidence), call.most_tokens)
    result = await ask_for(gateway, call, reader)
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
            reason = f"a sentence that no paper bears was taken out: “{before.text}” ({_why(before)})"
            told.add(call.item, "revise", Failure(call.item, reason))
            told.taken_out[call.item] += len(before.cited_ids)
    paragraphs = tuple(
        tuple(k for s in paragraph if (k := new.get(id(s), s)) is not None) for paragraph in draft.paragraphs
    )
    return replace(draft, paragraphs=tuple(p for p in paragraphs if p))


def _fitting_revision(gateway, asked, bad: Sequence[Sentence]) -> tuple[Call, Sequence[Sentence]]:
    """The call for as many of the sentences as fit the window.

    Raises:
        NoRoom, WindowTooSmall: not one does.
    """
    while True:
        try:
            return revise_call(gateway.settings, gateway.count, asked, bad).call, bad
        except (NoRoom, WindowTooSmall):
            if len(bad) == 1:
                raise
            bad = bad[: len(bad) // 2]


def _as_revised(sentence: Sentence, before: Sentence) -> Sentence:
    """The new sentence: its checks say that it was revised; what the old one cited and it does not is told as removed."""
    checks = tuple(replace(c, action="revised") if c.action == "kept" else c for c in sentence.checks)
    gone = {
        c.paper_id: replace(c, action="removed" if c.action == "kept" else c.action)
        for c in before.checks
        if c.paper_id and c.paper_id not in sentence.cited_ids
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
        if lines and not is_whole(lines[-1].text):
            problems.append(f"sentence {item.number} breaks off before its end: “… {lines[-1].text[-60:]}”")
            continue
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
        raise Unfit("the reply holds none of the sentences", which=told_of(problems), text=text)
    if missing := [str(n) for n in range(1, count + 1) if n not in found]:
        problems.append(f"these sentences are missing: {', '.join(missing)}")
    return Reading(found, tuple(problems))


async def _judged(gateway, asked: DraftRequest, draft: SectionDraft, item: str, told: Told) -> SectionDraft:
    """The draft with a model's verdicts beside the rules', the worse one last, which is the one that counts."""
    cited = [s for s in draft.sentences() if s.kind == "written" and s.cited_ids]
    if not cited:
        return draft
    judge = gateway.settings.name
    given = {e.paper.paper_id for e in asked.evidence}
    parts, unasked = _verdict_calls(gateway, asked, [s for s in cited if given.issuperset(s.cited_ids)])
    unasked += [s for s in cited if not given.issuperset(s.cited_ids)]
    if unasked:
        reason = (
            f"{len(unasked)} of {len(cited)} sentences, for which not all that they rest on can be shown in one call"
        )
        told.add(item, "verdict", Failure(f"{item}: not judged", reason))
    verdict_of: dict[int, Verdict] = {}

    async def ask(call: Call, sentences: Sequence[Sentence]) -> None:
        try:
            reader = guarded(lambda text: _read_verdicts(text, len(sentences)), call.most_tokens)
            result = await ask_for(gateway, call, reader)
        except ModelFailure as error:
            told.add(item, "verdict", _left(f"{item}: not judged", error))
        else:
            verdict_of.update((id(sentences[n - 1]), verdict) for n, verdict in result.value.items())

    await asyncio.gather(*(ask(call, sentences) for call, sentences in parts))

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


def _verdict_calls(
    gateway, asked: DraftRequest, sentences: Sequence[Sentence]
) -> tuple[list[tuple[Call, list[Sentence]]], list[Sentence]]:
    """Calls with the cited sentences that each asks about; and sentences of no call.

    A model that is not shown a paper, or not the words of it that bear a sentence best, finds that it bears nothing. So
    sentences are divided until these fit for each part; one for which they do not is asked about in no call.
    """
    sentences = list(sentences)
    if not sentences:
        return [], []
    halves = sentences[: len(sentences) // 2], sentences[len(sentences) // 2 :]
    try:
        built = verdict_call(gateway.settings, gateway.count, asked, sentences)
    except (NoRoom, WindowTooSmall):
        pass
    else:
        lines = built.call.messages[-1].text.splitlines()
        told = "\n".join(line for line in lines if line.startswith(("abstract: ", "passage ")))
        unseen = [s for s in sentences if not all(words in told for words in _nearest_words(asked, s))]
        if not built.left_out and not unseen:
            return [(built.call, sentences)], []
        if not built.left_out and len(unseen) < len(sentences):
            halves = [s for s in sentences if s not in unseen], unseen
    if len(sentences) == 1:
        return [], sentences
    first, second = (_verdict_calls(gateway, asked, part) for part in halves)
    return [*first[0], *second[0]], [*first[1], *second[1]]


def _nearest_words(asked: DraftRequest, sentence: Sentence) -> list[str]:
    """What of the cited papers is nearest to a sentence, as a prompt has it."""
    cited = [e for e in asked.evidence if e.paper.paper_id in sentence.cited_ids]
    texts: dict[tuple[str, str | None], str] = {(e.paper.paper_id, None): e.paper.abstract or "" for e in cited}
    texts |= {(e.paper.paper_id, p.passage.passage_id): p.passage.text for e in cited for p in e.passages}
    found = ((texts.get((span.paper_id, span.passage_id), ""), span) for span in sentence.spans)
    return [cleaned(text[span.start : span.end]) for text, span in found]


def _read_verdicts(text: str, count: int) -> Reading[dict[int, Verdict]]:
    reading = read(text, VerdictReply)
    found = {v.number: _VERDICTS[v.verdict] for v in reading.value.verdicts if 1 <= v.number <= count}
    problems = list(reading.problems)
    if missing := [str(n) for n in range(1, count + 1) if n not in found]:
        problems.append(f"there is no verdict for sentence {', '.join(missing)}")
    if not found:
        raise Unfit("the reply holds no verdict", which=told_of(problems), text=text)
    return Reading(found, tuple(problems))


def _why(sentence: Sentence) -> str:
    told = [f"{c.paper_id} {c.reason}".strip() for c in sentence.checks if c.verdict == "ungrounded"]
    return "; ".join(dict.fromkeys(told))
