"""The pictures of a finished survey: how its papers were chosen, when they were written, what its sections hold.

Belongs here: the captions with their rows and the queries that give these. Not here: drawing (`pictures`).
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from generation.captions import FLOW, TAXONOMY, TIMELINE
from generation.facts import EDITION, admitted_query
from generation.library import Library
from generation.values import Outline, Paper, SectionDraft, Sentence, StatedRow, Survey

_LONGEST_TIME = 15
_EARLY_SHARE = 0.02
"""Share of the pool's papers, the oldest ones, that a long timeline leaves out: a few early papers would make it
mostly empty."""


def illustrated(survey: Survey, outline: Outline, library: Library, *, identified: int) -> Survey:
    """The survey with its pictures at the end of the introduction; unchanged where it has none.

    Args:
        survey: finished but for pictures.
        outline: that it was drafted after.
        library: its papers, and what was consulted.
        identified: papers that the corpus holds.
    """
    roles = {n.number: n.role for n in outline.nodes}
    body = [s for s in survey.sections if roles.get(s.outline_number) == "body"]
    captions = [flow(survey, library, identified), timeline(survey, library)]
    if body:
        captions.append(taxonomy(survey, body, library.topic.key))
    sections = tuple(
        replace(s, paragraphs=(*s.paragraphs, *((c,) for c in captions)))
        if roles.get(s.outline_number) == "introduction"
        else s
        for s in survey.sections
    )
    return replace(survey, sections=sections)


def flow(survey: Survey, library: Library, identified: int) -> Sentence:
    """Caption of the flow from the corpus to the cited papers."""
    key = library.topic.key
    of_edition = f"SELECT count(*) FROM edition_papers WHERE topic = '{key}' AND edition = '{EDITION}'"  # noqa: S608
    rows = (
        _count("identified", identified, "SELECT count(*) FROM papers"),
        _count("admitted", library.admitted_count, admitted_query(library)),
        _count("pool", len(library.pool), f"SELECT count(*) FROM topic_pool WHERE topic = '{key}'"),  # noqa: S608
        _count("consulted", len(library.consulted), f"{of_edition} AND is_consulted"),
        _count("cited", len(survey.references), f"{of_edition} AND is_cited"),
    )
    return _caption(FLOW, rows)


def timeline(survey: Survey, library: Library) -> Sentence:
    """Caption of the papers by year; a long time begins where the pool's papers become regular."""
    key = library.topic.key
    pool, cited = library.papers(library.pool), library.papers(survey.references)
    first = _early([p.submitted_latest for p in pool])
    since = sorted(p.year for p in pool)[first]
    of_pool = f"SELECT count(*) FROM topic_pool JOIN papers USING (paper_id) WHERE topic = '{key}'"  # noqa: S608
    of_cited = (
        f"SELECT count(*) FROM edition_papers JOIN papers USING (paper_id) WHERE topic = '{key}' "  # noqa: S608
        f"AND edition = '{EDITION}' AND is_cited"
    )
    year_of = of_pool.replace("count(*)", "year(submitted_latest)")
    rows = [StatedRow("since", str(since), f"{year_of} ORDER BY submitted_latest LIMIT 1 OFFSET {first}")]
    for year in range(since, max(p.year for p in pool) + 1):
        for name, papers, query in (("pool", pool, of_pool), ("cited", cited, of_cited)):
            number = _years(papers)[year]
            rows.append(_count(f"{name} {year}", number, f"{query} AND year(submitted_latest) = {year}"))
    return _caption(TIMELINE, tuple(rows))


def taxonomy(survey: Survey, body: Sequence[SectionDraft], key: str) -> Sentence:
    """Caption of the sections and the number of papers each cites, its parts' included."""
    sections = f"FROM survey_sections WHERE topic = '{key}' AND edition = '{EDITION}'"
    rows = []
    for section in body:
        below = [s for s in survey.sections if s.number == section.number or s.number.startswith(section.number + ".")]
        query = (
            f"SELECT count(DISTINCT p) FROM (SELECT unnest(paper_ids) AS p {sections} "  # noqa: S608
            f"AND (number = '{section.number}' OR starts_with(number, '{section.number}.')))"
        )
        rows.append(_count(f"{section.number} {section.title}", len({p for s in below for p in s.cited_ids}), query))
    return _caption(TAXONOMY, tuple(rows))


def _early(days: Sequence[date]) -> int:
    """How many of the oldest papers a timeline leaves out."""
    is_long = max(days).year - min(days).year >= _LONGEST_TIME
    return round(_EARLY_SHARE * len(days)) if is_long else 0


def _years(papers: Sequence[Paper]) -> Counter[int]:
    return Counter(p.year for p in papers)


def _count(name: str, value: int, query: str) -> StatedRow:
    return StatedRow(name, f"{value:,}", query)


def _caption(template: str, rows: tuple[StatedRow, ...]) -> Sentence:
    text = template.format(**{row.name: row.value for row in rows})
    return Sentence("composed", text, template=template, rows=rows, place="caption")
