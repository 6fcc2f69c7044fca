"""The calls of each operation, from its request: what is shown, the form of the reply, how long it may be.

Pure functions of the request and the settings: a plan builds calls and counts them without sending any. Not here:
sending them (`asking`) and reading replies (`texts`, `cards`, `writer`).
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from generation.extractive.sentences import move
from generation.language_models.calls import Call, Message, ModelFailure, ModelSettings, WindowTooSmall
from generation.model_writer import schemas
from generation.model_writer.fitting import ABSTRACTS, Count, Shown, by_nearness, fitting, portioned, shown
from generation.model_writer.schemas import Form
from generation.model_writer.showing import (
    LONGEST_DESCRIPTION,
    LONGEST_TITLE,
    LONGEST_TOPIC,
    draft_lines,
    held_words,
    is_brief,
    marked_outline,
    numbered,
    one_line,
    outline_sizes,
    pattern_lines,
    patterns_room,
    role_of,
    topic_line,
    words_of,
)
from generation.prompting.fencing import ShownPaper, cut_to, fence_for, fenced, paper_blocks, shortened
from generation.prompting.templates import Template, loaded
from generation.values import Pattern, Sentence
from generation.writing import (
    CompareRequest,
    DraftRequest,
    Evidence,
    OutlineRequest,
    RefineRequest,
    SubsectionsRequest,
)
from ingestion.sentences import split

FIELDS: Mapping[str, frozenset[str]] = {
    operation: frozenset(fields.split())
    for operation, fields in {
        "card": "is_full_text most_items papers is_brief",
        "outline": "topic section_count papers patterns reserved is_brief",
        "merge": "topic section_count outlines outline_count patterns taken is_brief",
        "subsections": "topic section_title section_description subsection_count papers patterns taken is_brief",
        "draft": "topic number title description role outline words papers paper_ids is_markdown is_brief",
        "refine": "topic number title role words draft neighbours papers paper_ids is_markdown is_brief",
        "revise": "title sentences papers paper_ids",
        "compare": "title most_rows papers paper_ids is_brief",
        "verdict": "sentences papers sentence_count",
    }.items()
}
"""Operation → fields that its template must use, all of them and no other."""

FRAMING = ("Introduction", "Open Problems", "Conclusion")
MOST_EVIDENCE = 30_000
"""Tokens of papers in one call: SurveyForge's portion of abstracts."""

MOST_ROWS = 8
_BESIDE = 12
"""Papers shown beside those that are cited, where a sentence may need another one."""


_SECTIONS = 9
"""Sections of a rough outline whose reply and prompt are allowed for before their number is known."""


class NoRoom(ModelFailure):
    """The prompt of this item does not fit the window, though those of others do."""


@dataclass(frozen=True)
class Built:
    """A call, and the papers of its request that had no room in it."""

    call: Call
    left_out: tuple[str, ...] = ()


def outline_call(settings: ModelSettings, count: Count, request: OutlineRequest) -> Built:
    """A rough outline of one portion of papers."""
    form = schemas.sections_form(settings, "outline", request.section_count)
    fields = {
        "topic": topic_line(request.topic),
        "section_count": request.section_count,
        "reserved": ", ".join(FRAMING),
        "is_brief": is_brief(settings),
    }
    return _with_papers(
        settings, count, "outline", topic_line(request.topic), [shown(e) for e in request.evidence], lambda _: form, fields,
        patterns=request.patterns,
    )  # fmt: skip


def subsections_call(settings: ModelSettings, count: Count, request: SubsectionsRequest) -> Built:
    """The subsections of one section, from the memory shown."""
    form = schemas.subsections_form(settings, request.most)
    fields = {
        "topic": topic_line(request.topic),
        "section_title": one_line(request.section.title, LONGEST_TITLE),
        "section_description": one_line(request.section.description, LONGEST_DESCRIPTION),
        "subsection_count": request.most,
        "taken": ", ".join(one_line(t, LONGEST_TITLE) for t in dict.fromkeys([*request.taken, *FRAMING]) if t),
        "is_brief": is_brief(settings),
    }
    return _with_papers(
        settings, count, "subsections", fields["section_title"], [shown(e) for e in by_nearness(request.memory)],
        lambda _: form, fields, patterns=request.patterns,
    )  # fmt: skip


def draft_call(settings: ModelSettings, count: Count, request: DraftRequest) -> Built:
    """The text of one node; of an outline that leaves no room for papers, the headings around it are shown."""
    *more, least = outline_sizes(settings)
    for headings in more:
        try:
            return _draft_call(settings, count, request, headings)
        except NoRoom:
            continue
    return _draft_call(settings, count, request, least)


def _draft_call(settings: ModelSettings, count: Count, request: DraftRequest, headings: int) -> Built:
    words, role = held_words(settings, words_of(request)), role_of(request)
    fields = {
        "topic": topic_line(request.topic),
        "number": request.number,
        "title": one_line(request.title, LONGEST_TITLE),
        "description": one_line(request.description, LONGEST_DESCRIPTION),
        "role": role,
        "outline": marked_outline(request, headings),
        "words": words,
        "is_markdown": settings.output == "prompted",
        "is_brief": is_brief(settings),
    }
    return _with_papers(
        settings, count, "draft", f"{request.number} {request.title}", [shown(e) for e in ordered(request)],
        lambda ids: schemas.draft_form(settings, "draft", ids, words), fields, names_ids=True,
    )  # fmt: skip


def refine_call(settings: ModelSettings, count: Count, request: RefineRequest) -> Built:
    """A draft beside its neighbours, which are cut to what the window bears, and the papers that it cites."""
    own = request.request
    words = held_words(settings, max(request.draft.words, words_of(own)))
    papers = _cited_first(own, request.draft.cited_ids, 0 if request.draft.cited_ids else _BESIDE)
    room = settings.window // 10
    draft = draft_lines(request.draft.paragraphs, 10**6)
    beside = [
        [
            f"heading: {one_line(n.title, LONGEST_TITLE)}",
            *draft_lines(n.paragraphs, room * 3 // len(request.neighbours)),
        ]
        for n in request.neighbours
    ]
    fields = {
        "topic": topic_line(own.topic),
        "number": own.number,
        "title": one_line(own.title, LONGEST_TITLE),
        "role": role_of(own).replace("_", " "),
        "words": words,
        "is_markdown": settings.output == "prompted",
        "is_brief": is_brief(settings),
    }
    return _with_papers(
        settings, count, "refine", f"{own.number} {own.title}", papers,
        lambda ids: schemas.draft_form(settings, "refine", ids, words), fields, names_ids=True,
        texts={"draft": [draft], "neighbours": beside},
    )  # fmt: skip


def revise_call(settings: ModelSettings, count: Count, request: DraftRequest, sentences: Sequence[Sentence]) -> Built:
    """Sentences that their papers do not bear, anew."""
    papers = _cited_first(request, [p for s in sentences for p in s.cited_ids], _BESIDE)
    lines = [numbered(i, s, [c for c in s.checks if c.verdict == "ungrounded"]) for i, s in enumerate(sentences, 1)]
    return _with_papers(
        settings, count, "revise", f"{request.number} {request.title}", papers,
        lambda ids: schemas.revise_form(settings, ids, len(sentences)), {"title": one_line(request.title, LONGEST_TITLE)},
        names_ids=True, texts={"sentences": [lines]},
    )  # fmt: skip


def verdict_call(settings: ModelSettings, count: Count, request: DraftRequest, sentences: Sequence[Sentence]) -> Built:
    """A verdict for each cited sentence, with as many of their papers as fit."""
    cited = {p for s in sentences for p in s.cited_ids}
    papers = [shown(e) for e in ordered(request) if e.paper.paper_id in cited]
    lines = [numbered(i, s, ()) for i, s in enumerate(sentences, start=1)]
    form = schemas.verdict_form(settings, len(sentences))
    return _with_papers(
        settings, count, "verdict", f"{request.number} {request.title}", papers, lambda _: form,
        {"sentence_count": len(sentences)}, texts={"sentences": [lines]},
    )  # fmt: skip


def compare_call(settings: ModelSettings, count: Count, request: CompareRequest) -> Built:
    """A table of a section's works."""
    best = sorted(request.evidence, key=lambda e: (-e.standing, e.paper.paper_id))
    rows = min(MOST_ROWS, len(best))
    form = schemas.compare_form(settings, ["0" * 10], rows)
    most = form.schema["properties"]["rows"]["maxItems"] if form.schema else rows
    fields = {
        "title": one_line(request.title, LONGEST_TITLE),
        "most_rows": most,
        "is_brief": is_brief(settings),
    }
    return _with_papers(
        settings, count, "compare", f"table of {request.number} {request.title}", [shown(e) for e in best],
        lambda ids: schemas.compare_form(settings, ids, rows), fields, names_ids=True,
    )  # fmt: skip


def card_call(settings: ModelSettings, count: Count, paper: ShownPaper, *, is_full_text: bool) -> Built:
    """The card of a paper, of which as much is shown as fits: fewer passages, which come in the order of their worth,
    then a shorter abstract.

    Raises:
        NoRoom: not even its title and the beginning of its abstract fit.
        WindowTooSmall: no paper does.
    """
    form = schemas.card_form(settings)
    template = template_of("card")

    fields = {
        "is_full_text": is_full_text, "most_items": schemas.most_items(form), "is_brief": is_brief(settings),
    }  # fmt: skip
    room = min(settings.window - form.most_tokens, MOST_EVIDENCE)
    for kept in _less_and_less(paper):
        messages = template.messages(**fields, papers=paper_blocks([kept], fence_for(kept.lines)))
        if count(messages, form.schema) <= room:
            return Built(call_of(template, messages, form, paper.paper_id, Shown((kept,)), paper.paper_id), kept.cut)
    raise unfitting(settings, count, template, template.messages(**fields, papers=""), form, paper.paper_id)


def _less_and_less(paper: ShownPaper) -> Iterator[ShownPaper]:
    """A paper with fewer and fewer passages, then without, with less and less of its abstract."""
    yield paper
    at = len(paper.passages)
    while at:
        at -= max(1, at // 8)
        yield _first(paper, at)
    paper = replace(paper, title=shortened(paper.title, LONGEST_TITLE))
    yield from (cut_to(paper, abstract=most) for most in ABSTRACTS)


def _first(paper: ShownPaper, passages: int) -> ShownPaper:
    kept = sorted(paper.passages[:passages], key=lambda p: p.number)
    gone = [f"passage {p.number}" for p in paper.passages[passages:]]
    return replace(paper, passages=tuple(kept), cut=(*paper.cut, *gone))


def portions(settings: ModelSettings, count: Count, evidence: Sequence[Evidence], most: int) -> list[list[Evidence]]:
    """Evidence in portions for one rough outline each, in order, all of it."""
    template = template_of("outline")
    empty = template.messages(
        topic="x" * LONGEST_TOPIC, section_count=_SECTIONS, papers="", patterns="", reserved=", ".join(FRAMING),
        is_brief=is_brief(settings),
    )  # fmt: skip
    form = schemas.sections_form(settings, "outline", _SECTIONS)
    room = settings.window - form.most_tokens - count(empty, form.schema) - patterns_room(settings)
    room = min(room, MOST_EVIDENCE)
    by_id = {e.paper.paper_id: e for e in evidence}
    papers = [shown(e) for e in by_id.values()]
    return [[by_id[p.paper_id] for p in group] for group in portioned(papers, room, most, count)]


def ordered(request: DraftRequest) -> list[Evidence]:
    """Evidence of a draft, what it most needs first: its own papers; for open problems those that state one."""
    found = by_nearness(request.evidence)
    if request.role != "open_problems":
        return found
    return sorted(found, key=lambda e: not _states_a_problem(e))


def _cited_first(request: DraftRequest, cited: Collection[str], others: int) -> list[ShownPaper]:
    """The evidence that is cited, then the first of the rest."""
    items = ordered(request)
    own = [e for e in items if e.paper.paper_id in set(cited)]
    rest = [e for e in items if e.paper.paper_id not in set(cited)]
    return [shown(e) for e in (*own, *rest[:others])]


def template_hashes(*operations: str) -> str:
    """Hashes of the templates of operations."""
    return " ".join(template_of(operation).hash for operation in operations)


def _with_papers(
    settings: ModelSettings,
    count: Count,
    operation: str,
    item: str,
    papers: Sequence[ShownPaper],
    form: Callable[[Sequence[str]], Form],
    fields: Mapping[str, object],
    *,
    names_ids: bool = False,
    patterns: Sequence[Pattern] = (),
    texts: Mapping[str, Sequence[Sequence[str]]] | None = None,
) -> Built:
    """A call that shows papers, as many and as much of them as fit.

    Raises:
        NoRoom: not even one fits beside what else is shown.
        WindowTooSmall: none would fit beside nothing.
    """
    template = template_of(operation)
    has_patterns = "patterns" in template.fields
    texts = texts or {}

    def made(kept: Shown, examples: Sequence[Sequence[str]]) -> tuple[tuple[Message, ...], Form]:
        data = [line for p in kept.papers for line in p.lines]
        data += [x for blocks in (*texts.values(), examples) for lines in blocks for x in lines]
        fence = fence_for(data)
        more: dict[str, object] = {
            name: "\n\n".join(fenced("draft-text", lines, fence) for lines in blocks) or "(none)"
            for name, blocks in texts.items()
        }
        if has_patterns:
            more["patterns"] = "\n\n".join(fenced("outline-text", lines, fence) for lines in examples)
        if names_ids:
            more["paper_ids"] = ", ".join(kept.ids)
        messages = template.messages(**fields, **more, papers=paper_blocks(kept.papers, fence))
        return messages, form(kept.ids)

    examples = pattern_lines(settings, count, patterns) if has_patterns else ()
    for beside in dict.fromkeys((tuple(map(tuple, examples)), ())):
        messages, own = made(Shown(()), beside)
        # The largest form has the most ids, which the papers' own costs count.
        most = form([p.paper_id for p in papers]).most_tokens
        room = min(settings.window - most - count(messages, own.schema), MOST_EVIDENCE)
        kept = fitting(papers, room, count) if room > 0 else Shown((), tuple(p.paper_id for p in papers))
        while kept.papers:
            messages, own = made(kept, beside)
            if count(messages, own.schema) + own.most_tokens <= settings.window:
                return Built(call_of(template, messages, own, item, kept), kept.left_out)
            kept = Shown(kept.papers[:-1], (*kept.left_out, kept.papers[-1].paper_id))
    bare = {name: "" if isinstance(value, str) else value for name, value in fields.items()}
    empty = template.messages(**bare, **dict.fromkeys(template.fields - fields.keys(), ""))
    raise unfitting(settings, count, template, empty, form(()), item)


def call_of(
    template: Template, messages: tuple[Message, ...], form: Form, item: str, kept: Shown, paper_id: str | None = None
) -> Call:
    return Call(
        template.operation, template.hash, messages, form.schema, form.most_tokens, item, paper_id, kept.ids,
        kept.flagged,
    )  # fmt: skip


def template_of(operation: str) -> Template:
    return loaded(operation, FIELDS[operation])


def unfitting(
    settings: ModelSettings, count: Count, template: Template, empty: Sequence[Message], form: Form, item: str
) -> ModelFailure:
    """Why an item's prompt cannot be sent: the window bears no prompt of the operation, or only not this one's.

    Args:
        empty: the operation's prompt with nothing filled in.
    """
    is_hopeless = count(empty, form.schema) + form.most_tokens > settings.window
    return (WindowTooSmall if is_hopeless else NoRoom)(
        f"the prompt of “{template.operation}” does not fit the window of {settings.window:,} tokens", which=item,
        advice="Use a model with a larger window, or tell the window it has.",
    )  # fmt: skip


def _states_a_problem(item: Evidence) -> bool:
    abstract = item.paper.abstract or ""
    in_text = any(p.zone in ("limitations", "discussion", "conclusion") for p in item.passages)
    has_card = bool(item.card and item.card.limitations)
    return in_text or has_card or any(move(abstract[a:b]) == "open" for a, b in split(abstract))
