"""Drafts that do not know of each other, made to fit: fences, own references, levels, paragraphs and headings twice.

A writer that drafts sections in parallel wraps one in a fence, starts another at the first level, and lets two say the
same. These are pure functions of text and drafts; what they change they tell. Not here: asking for drafts and refining
them (`drafting`).
"""

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from markdown_it import MarkdownIt

from generation.outline_plans import heading_key
from generation.values import Failure, Paragraph, SectionDraft

_DEEPEST = 6
_WORDS = re.compile(r"\w+")
_GRAM, _LONG_GRAM = 3, 8
_SHARED, _LONG_SHARED = 0.7, 0.5
"""Share of the shorter paragraph's 3-grams (8-grams) from which two paragraphs are near-duplicates."""

_LEAST_WORDS = 12
"""Shorter paragraphs are twins only if they are equal."""

_REFERENCES = {"references", "bibliography", "works cited", "literature cited", "reference list"}
_OPENING = {"introduction", "overview"}
_CLOSING = {"conclusion", "conclusions", "concluding remarks", "summary", "summary and conclusion"}
_NUMBER = re.compile(r"^\d+(?:\.\d+)*[.)]?\s+")


@dataclass(frozen=True)
class Block:
    """A top-level block of Markdown as written; `level` is that of a heading, 0 for anything else."""

    text: str
    level: int = 0
    title: str = ""
    is_code: bool = False


@dataclass(frozen=True)
class Merged:
    """Drafts as one text, and what was merged or left out."""

    text: str
    notes: tuple[str, ...]


def tidied(text: str, level: int) -> str:
    """A draft without a fence around it, without references of its own, its first level at `level`.

    Args:
        level: of the highest heading, 1 for `#`.
    """
    return fitted(without_references(unwrapped(text)), level)


def unwrapped(text: str) -> str:
    """The text inside a fence that holds a whole draft; a code block of the draft's own stays.

    A fence is a wrapping if it says markdown, or if it says nothing and holds a heading.
    """
    lines = text.strip("\n").splitlines()
    while lines and (match := re.match(r"^\s{0,3}(`{3,}|~{3,})\s*(\w*)\s*$", lines[0])):
        fence, language = match.groups()
        ends = [i for i, line in enumerate(lines) if i and line.strip() == fence]
        is_whole = bool(ends) and not any(line.strip() for line in lines[ends[-1] + 1 :])
        inside = lines[1 : ends[-1]] if is_whole else lines[1:]
        is_draft = language.lower() in ("markdown", "md") or (
            not language and any(re.match(r"^#{1,6}\s", line) for line in inside)
        )
        if not is_draft:
            break
        lines = [line for i, line in enumerate(lines) if i and i != (ends[-1] if ends else -1)]
    return "\n".join(lines).strip("\n")


def without_references(text: str) -> str:
    """The text without its own list of references, which the survey has in one place: heading and all below it."""
    kept: list[Block] = []
    below = 0
    for block in blocks(text):
        if below and block.level and block.level <= below:
            below = 0
        if block.level and _plain(block.title) in _REFERENCES:
            below = block.level
        if not below:
            kept.append(block)
    return _printed(kept)


def fitted(text: str, level: int) -> str:
    """The text with its headings shifted so that the highest stands at `level`; none deeper than six."""
    found = blocks(text)
    levels = [b.level for b in found if b.level]
    shift = level - min(levels) if levels else 0
    return _printed([_at(b, min(b.level + shift, _DEEPEST)) if b.level else b for b in found])


def contents(text: str) -> tuple[tuple[int, str], ...]:
    """(level, heading) of each heading in order; what stands in code is none."""
    return tuple((b.level, b.title) for b in blocks(text) if b.level)


def blocks(text: str) -> tuple[Block, ...]:
    """Top-level blocks in order, as CommonMark divides them."""
    lines = text.splitlines()
    found = []
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    for i, token in enumerate(tokens):
        if token.level or token.nesting < 0 or not token.map:
            continue
        own = "\n".join(lines[token.map[0] : token.map[1]]).strip("\n")
        if token.type == "heading_open":
            found.append(Block(own, int(token.tag[1:]), " ".join(tokens[i + 1].content.split())))
        else:
            found.append(Block(own, is_code=token.type in ("fence", "code_block")))
    return tuple(found)


def merged(drafts: Sequence[str]) -> Merged:
    """Drafts, each tidied, as one text in which no heading and no paragraph stands twice.

    What a repeated heading holds goes to where the heading stood first; introductions become one in front,
    conclusions one at the end, at the level of the highest heading.
    """
    notes: list[str] = []
    parts: dict[str, list[Block]] = {"": []}
    for draft in drafts:
        at = ""
        for block in blocks(draft):
            if not block.level:
                parts[at].append(block)
                continue
            at = _place(block.title)
            if at in parts:
                notes.append(f"the heading “{block.title}” stood more than once; its texts stand together")
            parts.setdefault(at, [block])
    order = [k for k in ("opening", "") if k in parts] + [k for k in parts if k not in ("opening", "", "closing")]
    order += ["closing"] if "closing" in parts else []
    top = min((b.level for own in parts.values() for b in own if b.level), default=1)
    joined = [_at(b, top) if b.level and k in ("opening", "closing") else b for k in order for b in parts[k]]
    texts = ["" if b.level or b.is_code else b.text for b in joined]
    twins = near_duplicates(texts)
    notes += [f"a paragraph was said before and left out: “{_start(texts[i])}”" for i in twins]
    return Merged(_printed([b for i, b in enumerate(joined) if i not in twins]), tuple(notes))


def near_duplicates(paragraphs: Sequence[str]) -> dict[int, int]:
    """Index of each paragraph that an earlier one says already → index of that one.

    Near-duplicates share most 3-grams of words, or half of the 8-grams, of the shorter one. Of a pair the later one
    goes, also where it says more: what it adds is less than what it repeats.
    """
    words = [_WORDS.findall(p.casefold()) for p in paragraphs]
    short, long = ([_grams(w, n) for w in words] for n in (_GRAM, _LONG_GRAM))
    found: dict[int, int] = {}
    for later in range(len(words)):
        for earlier in range(later):
            if earlier in found or not words[later]:
                continue
            is_equal = words[later] == words[earlier]
            is_near = min(len(words[later]), len(words[earlier])) >= _LEAST_WORDS and (
                _share(short[later], short[earlier]) >= _SHARED or _share(long[later], long[earlier]) >= _LONG_SHARED
            )
            if is_equal or is_near:
                found[later] = earlier
                break
    return found


def without_twins(sections: Sequence[SectionDraft]) -> tuple[tuple[SectionDraft, ...], list[Failure]]:
    """The drafts without paragraphs that an earlier one has and without repeated headings, numbered anew.

    A section named like an earlier one is added to it with its parts, a part to its namesake in the same section; a
    part named like one elsewhere gets its section's name too. A section that is left with nothing goes. Sentences
    composed from the lake, pictures and tables are nobody's repetition.
    """
    notes: list[Failure] = []
    joined = [draft for group in _distinct(sections, notes) for draft in group]
    places = [(i, j) for i, section in enumerate(joined) for j in range(len(section.paragraphs))]
    texts = [_said(joined[i].paragraphs[j]) for i, j in places]
    gone: dict[int, set[int]] = {}
    for later, earlier in near_duplicates(texts).items():
        (i, j), (at, _) = places[later], places[earlier]
        gone.setdefault(i, set()).add(j)
        reason = f"a paragraph said what “{joined[at].title}” says, and was left out: “{_start(texts[later])}”"
        notes.append(Failure(f"{joined[i].number} {joined[i].title}", reason))
    kept = [
        replace(s, paragraphs=tuple(p for j, p in enumerate(s.paragraphs) if j not in gone.get(i, ())))
        for i, s in enumerate(joined)
    ]
    return numbered_anew([s for i, s in enumerate(kept) if s.paragraphs or _has_parts(kept, i)]), notes


def numbered_anew(sections: Sequence[SectionDraft]) -> tuple[SectionDraft, ...]:
    """The drafts numbered without gaps by their order and levels."""
    top, sub, found = 0, 0, []
    for section in sections:
        top, sub = (top + 1, 0) if section.level == 1 else (top, sub + 1)
        found.append(replace(section, number=f"{top}.{sub}" if sub else str(top)))
    return tuple(found)


def _has_parts(sections: Sequence[SectionDraft], at: int) -> bool:
    """Whether a part with text follows the section before the next section does."""
    if sections[at].level > 1:
        return False
    parts = itertools.takewhile(lambda s: s.level > 1, sections[at + 1 :])
    return any(part.paragraphs for part in parts)


def _distinct(sections: Sequence[SectionDraft], notes: list[Failure]) -> list[list[SectionDraft]]:
    """Sections, each with its parts behind it; no heading twice."""
    groups: dict[str, list[SectionDraft]] = {}
    own: list[SectionDraft] = []
    for section in sections:
        if section.level > 1:
            own.append(section)
            continue
        before = groups.setdefault(heading_key(section.title), [])
        own = before
        if before:
            before[0] = replace(before[0], paragraphs=(*before[0].paragraphs, *section.paragraphs))
            notes.append(_joined(section, before[0]))
        else:
            before.append(section)
    taken = {key: group[0] for key, group in groups.items()}
    return [[group[0], *_distinct_parts(group, taken, notes)] for group in groups.values()]


def _distinct_parts(
    group: Sequence[SectionDraft], taken: dict[str, SectionDraft], notes: list[Failure]
) -> list[SectionDraft]:
    parts: dict[str, SectionDraft] = {}
    for part in group[1:]:
        key = heading_key(part.title)
        if key in parts:
            parts[key] = replace(parts[key], paragraphs=(*parts[key].paragraphs, *part.paragraphs))
            notes.append(_joined(part, parts[key]))
            continue
        if key in taken:
            title = f"{part.title} in {group[0].title}"
            notes.append(Failure(f"{part.number} {title}", f"its heading stands at {taken[key].number} already"))
            parts[key] = replace(part, title=title)
        else:
            parts[key] = part
        taken.setdefault(key, part)
    return list(parts.values())


def _joined(section: SectionDraft, before: SectionDraft) -> Failure:
    return Failure(
        f"{section.number} {section.title}", f"its heading is that of {before.number}, where its text stands"
    )


def _said(paragraph: Paragraph) -> str:
    if paragraph and paragraph[0].place in ("caption", "table"):
        return ""
    return " ".join(s.text for s in paragraph if s.kind != "composed")


def _place(title: str) -> str:
    plain = _plain(title)
    return "opening" if plain in _OPENING else "closing" if plain in _CLOSING else f"# {plain}"


def _plain(title: str) -> str:
    return heading_key(_NUMBER.sub("", title.strip("*_ ")))


def _at(block: Block, level: int) -> Block:
    return replace(block, text=f"{'#' * level} {block.title}", level=level)


def _printed(found: Sequence[Block]) -> str:
    return "\n\n".join(b.text for b in found if b.text)


def _grams(words: Sequence[str], size: int) -> frozenset[tuple[str, ...]]:
    return frozenset(tuple(words[i : i + size]) for i in range(len(words) - size + 1))


def _share(one: frozenset, other: frozenset) -> float:
    least = min(len(one), len(other))
    return len(one & other) / least if least else 0.0


def _start(text: str) -> str:
    words = text.split()
    return " ".join(words[:8]) + (" …" if len(words) > 8 else "")
