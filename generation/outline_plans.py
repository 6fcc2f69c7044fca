"""What a person's outline becomes: headings that were kept keep their papers, new ones get theirs by retrieval.

A plan is an outline that is not complete: it is made of the file and of the outline that was edited, so it is an input
of the edition, and what the library gives for it is not. Not here: the file (`outline_files`).
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace

from generation.values import Outline, OutlineNode

PERSON = "person"
"""Origin of a heading, and author of an outline, that a person gave."""

_QUERIES_OF_TEXT = 4
_LEAST_MEMORY = 5
_FRAME: dict[str, tuple[str, str]] = {
    "introduction": ("Introduction", "What {title} is about"),
    "open_problems": ("Open Problems", "What the papers state as unsolved"),
    "conclusion": ("Conclusion", "What the survey holds"),
}


def planned(nodes: Sequence[OutlineNode], title: str, base: Outline | None) -> Outline:
    """The outline to write from: kept headings with their papers, new ones still without, each framing section once.

    A heading is kept if its title is, or if its sub-queries are: then it was renamed.

    Args:
        nodes: as a file gives them.
        title: of the topic.
        base: the outline that was edited, None where there is none.
    """
    before = base.nodes if base else ()
    by_role = {n.role: n for n in before if n.role != "body"}
    by_title = {heading_key(n.title): n for n in before if n.role == "body"}
    written = {heading_key(n.title) for n in nodes}
    gone = [n for n in before if n.role == "body" and heading_key(n.title) not in written]
    by_queries = {n.queries: n for n in gone if n.queries}
    found = []
    for node in nodes:
        kept = by_role.get(node.role) if node.role != "body" else by_title.get(heading_key(node.title))
        kept = kept or (by_queries.get(node.queries) if node.role == "body" else None)
        found.append(_kept(node, kept) if kept else replace(node, heading_origin=PERSON))
    roles = {n.role for n in found}
    missing = [by_role.get(role) or _frame_node(role, title) for role in _FRAME if role not in roles]
    return Outline(numbered([*found, *missing]))


def completed(plan: Outline, library, size: int) -> Outline:
    """The plan with sub-queries and papers for every heading of the body.

    Args:
        library: of the topic; papers that it does not hold are dropped.
        size: papers retrieved at most for a heading that has none; its share of the pool, and half as much again.
    """
    pool = set(library.pool)
    share = max(_LEAST_MEMORY, round(1.5 * len(pool) / len([n for n in plan.leaves() if n.role == "body"])))
    nodes = []
    for node in plan.nodes:
        queries = node.queries or _queries_of(node)
        memory = tuple(p for p in node.memory if p in pool)
        if node.role == "body" and not memory:
            asked = [f"{node.title}. {node.description}", *queries, *(c.title for c in plan.children(node.number))]
            memory = _retrieved(library, asked, min(size, share * max(1, len(plan.children(node.number)))))
        nodes.append(replace(node, queries=queries if node.role == "body" else node.queries, memory=memory))
    return Outline(tuple(nodes))


def as_json(outline: Outline) -> str:
    """An outline as text that `from_json` reads; equal outlines give equal texts."""
    return json.dumps([asdict(node) for node in outline.nodes], ensure_ascii=False, sort_keys=True)


def from_json(text: str) -> Outline:
    """The outline that `as_json` wrote."""
    lists = ("queries", "memory", "patterns")
    rows: list[Mapping] = json.loads(text)
    return Outline(tuple(OutlineNode(**{**row, **{name: tuple(row[name]) for name in lists}}) for row in rows))


def numbered(nodes: Sequence[OutlineNode]) -> tuple[OutlineNode, ...]:
    """Nodes with numbers by their order; the introduction comes first, open problems and the conclusion last."""
    groups: list[list[OutlineNode]] = []
    for node in nodes:
        if node.level == 1:
            groups.append([])
        groups[-1].append(node)
    places = {"introduction": 0, "body": 1, "open_problems": 2, "conclusion": 3}
    ordered = sorted(groups, key=lambda group: places[group[0].role])
    return tuple(
        replace(node, number=str(i) if not j else f"{i}.{j}")
        for i, group in enumerate(ordered, start=1)
        for j, node in enumerate(group)
    )


def heading_key(title: str) -> str:
    """A title as far as it tells two headings apart: its words in lower case."""
    return " ".join(re.findall(r"\w+", title.casefold()))


def _kept(node: OutlineNode, before: OutlineNode) -> OutlineNode:
    """What a person wrote, and what they left out as it was."""
    return replace(
        node,
        description=node.description or before.description,
        queries=node.queries or before.queries,
        memory=before.memory,
        patterns=before.patterns,
        heading_origin=before.heading_origin if heading_key(node.title) == heading_key(before.title) else PERSON,
    )


def _frame_node(role: str, title: str) -> OutlineNode:
    heading, about = _FRAME[role]
    return OutlineNode("1", heading, about.format(title=title), role)  # type: ignore[arg-type]


def _queries_of(node: OutlineNode) -> tuple[str, ...]:
    """Sub-queries of a heading that names none: the parts of what it is about, else its title."""
    parts = [p.strip(" .") for p in re.split(r"[;.](?:\s|$)|\n", node.description)]
    return tuple(dict.fromkeys(p for p in parts if p))[:_QUERIES_OF_TEXT] or (node.title,)


def _retrieved(library, asked: Sequence[str], size: int) -> tuple[str, ...]:
    """The papers nearest to any of the texts, nearest first."""
    best: dict[str, float] = {}
    for text in dict.fromkeys(asked):
        for hit in library.search(text, size):
            best[hit.paper_id] = max(best.get(hit.paper_id, -1.0), hit.similarity)
    return tuple(sorted(best, key=lambda p: (-best[p], p))[:size])
