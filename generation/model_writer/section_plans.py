"""Replies that plan headings, as plans: counts, titles and queries held to what was asked for.

A title that names its number or level (“Section 1: A”, “**2.** B”, “第三节：C”) is that title; one that is taken or twice is a
problem. Not here: asking again (`asking`).
"""

import re
from collections.abc import Collection, Sequence

from generation.language_models.calls import Unfit
from generation.language_models.replies import Reading, told_of
from generation.model_writer.schemas import QUERIES, Heading
from generation.model_writer.texts import plain, without_mark
from generation.outline_plans import heading_key
from generation.values import Pattern
from generation.writing import SectionPlan

ORIGIN = "model"
_NUMBERED = re.compile(
    r"^\W*(?:(?:(?:sub)?section|chapter|part)\s*)?(?:\d+(?:\.\d+)*|[IVX]+(?=[.:)：]))(?:[\W_]*[.):：、–—][\W_]*|[*_\s]+)(?=\S)|"
    r"^\W*(?:(?:sub)?section|chapter)\s*[:：]\s*|^\W*第[一二三四五六七八九十\d]+[章节節]\s*[:：、]?\s*",
    re.IGNORECASE,
)
_LONGEST = 120
_MOST_READ = 4
"""Times as many headings as asked for are read, so that others can stand in for those that are taken."""


def read_plans(
    headings: Sequence[Heading],
    count: int,
    taken: Collection[str],
    patterns: Sequence[Pattern],
    what: str,
    problems: Sequence[str] = (),
    text: str = "",
) -> Reading[tuple[SectionPlan, ...]]:
    """Plans of a reply, at most `count`.

    Args:
        what: they are called: `sections`, `subsections`.
        problems: found before.
        text: of the reply, for who is told of the failure.

    Raises:
        Unfit: there is no heading in it.
    """
    told, seen = list(problems), {heading_key(t): t for t in taken}
    examples = tuple(p.outline_id for p in patterns)
    plans: list[SectionPlan] = []
    for heading in headings[: _MOST_READ * count]:
        title = title_of(heading.title)
        key = heading_key(title)
        if not key:
            told.append(f"a title has no words: “{heading.title[:60]}”")
        elif key in seen:
            told.append(f"the title “{title}” is taken or stands twice")
        else:
            seen[key] = title
            plans.append(_plan(title, heading, examples, told))
    if not plans:
        raise Unfit(f"the reply has no {what}", which=told_of(told), text=text)
    if len(headings) != count:
        told.append(f"there are {len(headings)} {what}, exactly {count} are needed")
    return Reading(tuple(plans[:count]), tuple(told))


def title_of(text: str) -> str:
    """A heading without its number, marks and final stop, on one line."""
    title = plain(without_mark(text)).strip(" #*_:~`\"“”'\\")
    stripped = _NUMBERED.sub("", title, count=1).strip(" *_:：.-–—")
    return (stripped if re.search(r"\w", stripped) else title)[:_LONGEST].strip(" .:;,")


def _plan(title: str, heading: Heading, examples: tuple[str, ...], told: list[str]) -> SectionPlan:
    description = plain(heading.description)
    queries = tuple(dict.fromkeys(q for q in map(_query, heading.queries) if re.search(r"[^\W\d_]", q)))[:QUERIES]
    if not description:
        told.append(f"“{title}” has no description")
    if len(queries) < QUERIES:
        told.append(f"“{title}” has {len(queries)} different queries, {QUERIES} are needed")
    return SectionPlan(title, description, queries or (title,), (), examples, ORIGIN)


def _query(text: str) -> str:
    return re.sub(r"^\W*(?:\d{1,2}[.):]\s*)?", "", plain(text))
