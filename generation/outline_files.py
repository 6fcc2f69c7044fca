"""Outlines as Markdown that a person edits and gives back.

Printed with what steers a survey: headings, what each is about, its sub-queries. Read back leniently: numbers are
set anew, fences and stray lines are told and left out. Not here: what becomes of it (`outline_plans`), and storing
one (`editions`).
"""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

from generation.outline_plans import heading_key, numbered
from generation.values import Outline, OutlineNode, Role
from ingestion.errors import BadInput

_BY_TITLE = {
    "introduction": "introduction", "open problems": "open_problems", "open challenges": "open_problems",
    "future directions": "open_problems", "challenges and future directions": "open_problems",
    "conclusion": "conclusion", "conclusions": "conclusion", "summary and conclusion": "conclusion",
}  # fmt: skip
_REFERENCES = {"references", "bibliography", "literature"}
_LEVELS, _MOST_CHARACTERS = 2, 200
_HEADING = re.compile(r"^\s{0,3}(#{1,6})\s+(.*?)\s*#*\s*$")
_NUMBERED = re.compile(r"^\s*(\d{1,2}(?:\.\d{1,2})*)[.)]?\s+(?=\S)")
_ITEM = re.compile(r"^\s*(?:[-*+•]|\d{1,2}[.)])\s+(\S.*)$")
_KEYED = re.compile(r"^\s*(about|description|queries|query|role)\s*:\s*(.*)$", re.IGNORECASE)
_FENCE = re.compile(r"^\s{0,3}(?:`{3,}|~{3,})")
_RULE = re.compile(r"^\s*(?:[-*_=]\s*){3,}$")
_FROM = re.compile(r"\bfrom (\S+/\S+@[0-9a-f]+)")

_HOW = """Change it as you like and give it back: lithouse survey {topic} --outline FILE
#  a section, ## a subsection; numbers are set anew, the order is yours.
about: what a heading covers. queries: what is searched for it, a line each.
A heading that keeps its title keeps its papers; a new one gets papers by its title, about and queries.
role: marks the sections every survey has once, whatever they are called; one that is missing is added."""


class BadOutline(BadInput):
    """A file that is no outline, or one that no survey can be written from."""


@dataclass
class _Heading:
    """A heading of a file, with what stands below it.

    Attributes:
        line: from 1.
        depth: as written: number of # or of parts of its number; later 1 or 2.
    """

    line: int
    depth: int
    title: str
    is_numbered: bool
    role: str = ""
    about: list[str] = field(default_factory=list)
    queries: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class OutlineFile:
    """An outline as a file gives it.

    Attributes:
        nodes: numbered in the order of the file; without papers.
        notes: lines that were not read, with their numbers, and what was put in its place.
        edition: SLUG/METHOD@EDITION it was printed from, "" where it does not say.
    """

    nodes: tuple[OutlineNode, ...]
    notes: tuple[str, ...]
    edition: str


def outline_markdown(outline: Outline, title: str, edition: str) -> str:
    """The outline to edit: a comment that says how, then each heading with what it is about and its sub-queries.

    Args:
        title: of the topic.
        edition: SLUG/METHOD@EDITION.
    """
    named = " ".join(title.replace("-->", "").split())
    lines = [f"<!-- Outline of “{named}” from {edition}", _HOW.format(topic=edition.split("/")[0]), "-->"]
    for node in outline.nodes:
        lines += ["", f"{'#' * node.level} {node.number} {_one_line(node.title)}"]
        lines += [f"role: {node.role}"] if node.role != "body" else []
        lines += [f"about: {_one_line(node.description)}"] if node.description else []
        lines += ["queries:", *(f"- {_one_line(query)}" for query in node.queries)] if node.queries else []
    return "\n".join(lines) + "\n"


def read_outline_file(path: Path) -> OutlineFile:
    """As `read_outline`, of a file.

    Raises:
        BadOutline: also where the file is no text.
    """
    try:
        return read_outline(path.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError as error:
        raise BadOutline("the outline is no UTF-8 text", which=str(path)) from error


def read_outline(text: str) -> OutlineFile:
    """The outline of an edited file.

    Raises:
        BadOutline: no heading, more than two levels, a heading twice, a role twice or unknown; names every such line.
    """
    edition = _FROM.search(text)
    headings, notes = _parsed(text)
    faults: list[str] = []
    headings = _levelled(headings, faults, notes)
    seen: dict[str, int] = {}
    for heading in headings:
        _check(heading, seen, faults)
    if faults:
        raise BadOutline("the outline cannot be used", which="; ".join(faults))
    if not any(h.role == "body" for h in headings):
        raise BadOutline("the outline names no section of its own", advice="Write a line `# TITLE` for each section.")
    nodes = [_node(h) for h in headings]
    ordered = numbered(nodes)
    if [n.title for n in ordered] != [n.title for n in nodes]:
        notes.append("the introduction stands first, open problems and the conclusion last")
    return OutlineFile(ordered, tuple(notes), edition.group(1) if edition else "")


def _parsed(text: str) -> tuple[list[_Heading], list[str]]:
    """Headings with their lines, and notes on lines that say nothing."""
    lines = _without_comments(text.removeprefix("\ufeff")).splitlines()
    lines = _without_wrapping(lines)
    has_marks = any(_HEADING.match(line) for line in lines)
    headings: list[_Heading] = []
    notes: list[str] = []
    is_code = False
    for number, line in enumerate(lines, start=1):
        if _FENCE.match(line):
            is_code = not is_code
        elif is_code or not line.strip() or _RULE.match(line):
            if is_code and line.strip():
                notes.append(_unread(number, line))
        elif heading := _heading(number, line, has_marks):
            headings.append(heading)
        elif not headings or line.lstrip().startswith(("|", "<", "![")):
            notes.append(_unread(number, line))
        else:
            _add(headings[-1], line)
    return headings, notes


def _heading(number: int, line: str, has_marks: bool) -> _Heading | None:
    marked = _HEADING.match(line)
    if has_marks and not marked:
        return None
    text = marked.group(2) if marked else line
    text = re.sub(r"\s*\{[#.][^{}]*\}$", "", text.strip().strip("*").strip())
    counted = _NUMBERED.match(text)
    if not marked and not counted:
        return None
    title = _one_line(text[counted.end() :] if counted else text).strip("*_ ")
    depth = len(marked.group(1)) if marked else counted.group(1).count(".") + 1
    return _Heading(number, depth, title, counted is not None)


def _add(heading: _Heading, line: str) -> None:
    keyed, item = _KEYED.match(line), _ITEM.match(line)
    if keyed:
        name, value = keyed.group(1).lower(), keyed.group(2).strip()
        if name == "role":
            heading.role = value.lower().replace(" ", "_").replace("-", "_")
        elif name in ("queries", "query"):
            heading.queries += [q.strip() for q in value.split(";") if q.strip()]
        elif value:
            heading.about.append(value)
    elif item:
        heading.queries.append(_one_line(item.group(1)))
    else:
        heading.about.append(line.strip())


def _levelled(headings: list[_Heading], faults: list[str], notes: list[str]) -> list[_Heading]:
    """Depths as levels 1 and 2; a title above all others, and the references, are no sections."""
    kept = [h for h in headings if heading_key(h.title) not in _REFERENCES]
    notes += [f"line {h.line}: “{h.title}” has its own place, and is no section" for h in headings if h not in kept]
    if not kept:
        raise BadOutline("the outline has no heading", advice="Write a line `# TITLE` for each section.")
    top = min(h.depth for h in kept)
    first = kept[0]
    is_alone = [h for h in kept if h.depth == top] == [first] and len(kept) > 1
    if is_alone and not first.is_numbered and not (first.role or heading_key(first.title) in _BY_TITLE):
        kept = kept[1:]
    depths = sorted({h.depth for h in kept})
    for heading in kept:
        level = depths.index(heading.depth) + 1
        if level > _LEVELS:
            faults.append(f"line {heading.line}: “{heading.title}” is a third level, and surveys have two")
        heading.depth = level
    if kept[0].depth > 1:
        faults.append(f"line {kept[0].line}: the subsection “{kept[0].title}” stands in no section")
    return kept


def _check(heading: _Heading, seen: dict[str, int], faults: list[str]) -> None:
    if not any(c.isalnum() for c in heading.title):
        faults.append(f"line {heading.line}: a heading without a word")
    elif len(heading.title) > _MOST_CHARACTERS:
        faults.append(f"line {heading.line}: a heading of {len(heading.title)} characters")
    if not heading.role:
        heading.role = _BY_TITLE.get(heading_key(heading.title), "body") if heading.depth == 1 else "body"
    elif heading.role not in get_args(Role):
        faults.append(f"line {heading.line}: “{heading.role}” is no role; roles: {', '.join(get_args(Role))}")
    elif heading.depth > 1 and heading.role != "body":
        faults.append(f"line {heading.line}: a subsection cannot be the {heading.role}")
    names = {heading_key(heading.title): f"the heading “{heading.title}”"}
    names |= {f"role {heading.role}": f"the role {heading.role}"} if heading.role != "body" else {}
    for name, told in names.items():
        if name in seen:
            faults.append(f"line {heading.line}: {told} stands at line {seen[name]} already")
        seen.setdefault(name, heading.line)


def _node(heading: _Heading) -> OutlineNode:
    queries = tuple(dict.fromkeys(_one_line(q) for q in heading.queries))
    place = "0" if heading.depth == 1 else "0.0"  # numbers are set by `numbered`
    return OutlineNode(place, heading.title, _one_line(" ".join(heading.about)), heading.role, queries)


def _without_comments(text: str) -> str:
    """Comments blanked, so that lines keep their numbers."""
    return re.sub(r"<!--.*?(?:-->|\Z)", lambda m: "\n" * m.group(0).count("\n"), text, flags=re.DOTALL)


def _without_wrapping(lines: list[str]) -> list[str]:
    """The lines of a file that is one fence as a whole, as models give it, without that fence; front matter blanked."""
    filled = [i for i, line in enumerate(lines) if line.strip()]
    if not filled:
        raise BadOutline("the outline is empty", advice="Print one with `lithouse outline TOPIC`.")
    first, last = filled[0], filled[-1]
    blank: set[int] = set()
    if lines[first].strip() == "---" and "---" in [line.strip() for line in lines[first + 1 :]]:
        end = next(i for i in range(first + 1, len(lines)) if lines[i].strip() == "---")
        blank = set(range(first, end + 1))
    elif _FENCE.match(lines[first]):
        blank = {first, last} if _FENCE.match(lines[last]) and last > first else {first}
    return ["" if i in blank else line for i, line in enumerate(lines)]


def _unread(number: int, line: str) -> str:
    return f"line {number} is not read: {_one_line(line)[:80]}"


def _one_line(text: str) -> str:
    return " ".join(text.split())
