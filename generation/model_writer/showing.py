"""Parts of prompts that are no papers: a node's role and length, the outline, drafts, examples, each made to fit.

Whatever comes from papers or models is cleaned to one line. Not here: papers (`fitting`) and whole calls (`calls`).
"""

from collections.abc import Sequence
from typing import Literal

from generation.language_models.calls import Message, ModelSettings
from generation.model_writer.fitting import Count
from generation.model_writer.schemas import prose_room
from generation.prompting.fencing import cleaned, fenced, shortened
from generation.prompting.instructions import withheld
from generation.values import Check, Pattern, Sentence
from generation.writing import DraftRequest, SectionPlan

LONGEST_TOPIC, LONGEST_TITLE, LONGEST_DESCRIPTION = 300, 200, 600
"""Characters."""

_BRIEF_BELOW = 6000
"""Tokens of a window in which prompts are short."""

_WORDS_PER_PAPER = 30
_WORDS = {"lead": 90, "introduction": 320, "open_problems": 330, "conclusion": 190}
_LEAST_WORDS, _MOST_WORDS = 90, 420

DraftRole = Literal["body", "lead", "introduction", "open_problems", "conclusion"]


def role_of(request: DraftRequest) -> DraftRole:
    """A node's role; a section of the body that has parts is their lead."""
    has_parts = any(number.startswith(request.number + ".") for number, _, _ in request.outline)
    return "lead" if request.role == "body" and has_parts else request.role


def words_of(request: DraftRequest) -> int:
    """Words to ask for: so many for each paper discussed, so that sections are as unlike as their subjects."""
    role = role_of(request)
    if role != "body":
        return min(_WORDS[role], _LEAST_WORDS + 20 * len(request.evidence))
    papers = min(len(request.evidence), request.most_papers)
    return max(_LEAST_WORDS, min(_MOST_WORDS, _WORDS_PER_PAPER * papers))


def draft_lines(paragraphs: Sequence[Sequence[Sentence]], most: int) -> list[str]:
    """Written paragraphs as lines, each sentence followed by the ids it cites; as many as fit `most` characters."""
    lines, used = [], 0
    for paragraph in paragraphs:
        texts = [said(s) for s in paragraph if s.kind == "written" and s.place in ("prose", "list")]
        line = " ".join(texts)
        if line and used + len(line) > most:
            line = shortened(line, max(0, most - used))
        if line:
            lines.append(f"paragraph: {line}")
            used += len(line)
    return lines or ["(nothing)"]


def is_brief(settings: ModelSettings) -> bool:
    return settings.window < _BRIEF_BELOW


def held_words(settings: ModelSettings, words: int) -> int:
    """Words that a reply of this window holds: English takes about 1.4 tokens a word, and half is form."""
    return max(40, min(words, prose_room(settings) // 4))


def topic_line(topic: str) -> str:
    return one_line(topic, LONGEST_TOPIC)


def one_line(text: str, most: int) -> str:
    return shortened(cleaned(withheld(text)[0]), most)


def outline_sizes(settings: ModelSettings) -> tuple[int, ...]:
    """Headings of the outline that a draft is shown, most first: fewer where the prompt would not fit."""
    return tuple(dict.fromkeys((max(6, settings.window // 60), 6, 1)))


def marked_outline(request: DraftRequest, most: int) -> str:
    """The outline's headings with the one to be written marked; of more than `most` those around it."""
    lines = [
        f"{'  ' * number.count('.')}{number} {one_line(title, LONGEST_TITLE)}{'  ← this part' if number == request.number else ''}"
        for number, title, _ in request.outline
    ]
    if not lines:
        return f"{request.number} {one_line(request.title, LONGEST_TITLE)}  ← this part"
    at = next((i for i, (number, _, _) in enumerate(request.outline) if number == request.number), 0)
    start = max(0, min(at - most // 2, len(lines) - most))
    return "\n".join(lines[start : start + most])


def patterns_room(settings: ModelSettings) -> int:
    return min(2000, settings.window // 10)


def pattern_lines(settings: ModelSettings, count: Count, patterns: Sequence[Pattern]) -> list[list[str]]:
    """Headings of human outlines, as many outlines as have room."""
    room, found = patterns_room(settings), []
    for pattern in patterns:
        headings = pattern.sections or tuple(h for _, h in pattern.headings)
        lines = [f"survey: {one_line(pattern.title, LONGEST_TITLE)}", *(f"- {one_line(h, 120)}" for h in headings[:14])]
        cost = count([Message("user", fenced("outline-text", lines, "0" * 16))], None)
        if cost <= room:
            found.append(lines)
            room -= cost
    return found


def proposal(plans: Sequence[SectionPlan], title: int, description: int) -> list[str]:
    lines = []
    for i, plan in enumerate(plans, start=1):
        about = one_line(plan.description, description)
        lines.append(f"{i}. {one_line(plan.title, title)}" + (f": {about}" if about else ""))
    return lines or ["(nothing)"]


def numbered(number: int, sentence: Sentence, checks: Sequence[Check]) -> str:
    told = (f"{f'{c.paper_id}: ' if c.paper_id else ''}{c.reason or 'does not say this'}" for c in checks)
    found = "; ".join(dict.fromkeys(told))
    return f"{number}. {said(sentence)}" + (f" — found: {found}" if found else "")


def said(sentence: Sentence) -> str:
    cited = f" (cites {', '.join(sentence.cited_ids)})" if sentence.cited_ids else ""
    return f"{cleaned(sentence.text)}{cited}"
