"""What composed sentences may state: values with the SQL over the lake that gives them.

`$edition` in a query stands for the edition's id, which is known only when the survey is stored.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from generation.library import Library
from generation.naming import listed, quoted
from generation.values import DigestEntry, OutlineNode, Paper, SectionDraft, StatedRow, Survey

EDITION = "$edition"
OFTEN_CITED = 5
"""Citations from which the paper cited most is worth telling."""

UNKNOWN = "?"
"""Value of a fact that is known only when all sections are written."""


def scope_facts(library: Library) -> list[StatedRow]:
    """Topic, cutoff, and the flow admitted → pool → cited; what is cited is restated when it is known."""
    view, topic = library.view, library.topic
    admitted = admitted_query(library)
    of_pool = f"FROM topic_pool WHERE topic = '{topic.key}'"
    return [
        StatedRow("topic_title", topic.title),
        StatedRow("cutoff", view.cutoff.isoformat()),
        StatedRow("admitted_count", _number(library.admitted_count), admitted),
        StatedRow("pool_count", _number(len(library.pool)), f"SELECT count(*) {of_pool}"),
        *_closing_names(),
    ]


def admitted_query(library: Library) -> str:
    """SQL for the number of papers that the topic may see."""
    view = library.view
    withdrawn = "" if view.has_withdrawn else " AND NOT is_withdrawn"
    hidden = view.hidden_ids()
    excluded = f" AND paper_id NOT IN ({_texts(hidden)})" if hidden else ""
    return f"SELECT count(*) FROM papers WHERE submitted_latest <= DATE '{view.cutoff}'{withdrawn}{excluded}"  # noqa: S608


def _closing_names() -> list[StatedRow]:
    """Facts that are known only when all sections are written, with a value that `restate` replaces."""
    names = ("cited_count", "full_text_count", "own_words_count", "summaries_only_count", "own_count", "summary_count", "body_count",
             "largest_section", "largest_count", "first_year", "last_year", "most_cited_id", "most_title",
             "most_citations")  # fmt: skip
    return [StatedRow(name, UNKNOWN) for name in names]


def body_facts(library: Library, parts: Sequence[OutlineNode], own: Sequence[DigestEntry]) -> list[StatedRow]:
    """What a section with subsections may say of the papers whose home it is."""
    key = library.topic.key
    numbers = _texts([p.number for p in parts])
    home = f"FROM digests WHERE topic = '{key}' AND edition = '{EDITION}' AND is_home AND number IN ({numbers})"
    papers = f"{home.replace('FROM digests', 'FROM digests JOIN papers USING (paper_id)')}"
    years = [library.paper(e.paper_id).year for e in own]
    facts = [
        StatedRow("section_papers", _number(len({e.paper_id for e in own})), f"SELECT count(DISTINCT paper_id) {home}"),
        StatedRow("first_year", str(min(years, default="")), f"SELECT min(year(submitted_latest)) {papers}"),
        StatedRow("last_year", str(max(years, default="")), f"SELECT max(year(submitted_latest)) {papers}"),
        StatedRow("parts", listed([p.title for p in parts])),
    ]
    most = min(own, key=lambda e: (-e.citation_count, e.paper_id), default=None)
    if most and most.citation_count >= OFTEN_CITED:
        facts += [
            StatedRow("most_cited_id", most.paper_id),
            StatedRow("most_title", library.paper(most.paper_id).title),
            StatedRow("most_citations", _number(most.citation_count), f"SELECT max(citation_count) {home}"),
        ]
    return facts


def closing_facts(library: Library, survey: Survey, nodes: Mapping[str, OutlineNode]) -> dict[str, StatedRow]:
    """Facts of the finished survey, for introduction and conclusion."""
    key = library.topic.key
    cited = [library.paper(p) for p in survey.references if p != UNKNOWN]
    of_cited = f"FROM edition_papers WHERE topic = '{key}' AND edition = '{EDITION}' AND is_cited"
    joined = of_cited.replace("FROM edition_papers", "FROM edition_papers JOIN papers USING (paper_id)")
    tops = [s for s in survey.sections if s.level == 1]
    sizes = {s.title: _papers_below(survey, s.number) for s in tops if nodes[s.outline_number].role == "body"}
    largest = min(sizes, key=lambda t: (-len(sizes[t]), t), default="")
    below = next((s.number for s in tops if s.title == largest), "")
    sections = f"FROM survey_sections WHERE topic = '{key}' AND edition = '{EDITION}'"
    bodies = _texts([s.number for s in tops if s.title in sizes])
    most = min(cited, key=lambda p: (-p.citation_count, p.paper_id), default=None)
    facts = [
        StatedRow("cited_count", _number(len(cited)), f"SELECT count(*) {of_cited}"),
        StatedRow("body_count", str(len(sizes)), f"SELECT count(*) {sections} AND level = 1 AND number IN ({bodies})"),
        StatedRow("largest_section", largest),
        StatedRow(
            "largest_count",
            _number(len(sizes.get(largest, ()))),
            f"SELECT count(DISTINCT p) FROM (SELECT unnest(paper_ids) AS p {sections} "  # noqa: S608
            f"AND (number = '{below}' OR starts_with(number, '{below}.')))",
        ),
        StatedRow(
            "first_year", str(min((p.year for p in cited), default="")), f"SELECT min(year(submitted_latest)) {joined}"
        ),
        StatedRow(
            "last_year", str(max((p.year for p in cited), default="")), f"SELECT max(year(submitted_latest)) {joined}"
        ),
    ]
    facts += _origins(cited, joined)
    if sizes:
        plan = [f"{s.title} (Section {s.number})" for s in tops if s.title in sizes]
        facts.append(StatedRow("plan", listed(plan)))
    if read := {
        span.paper_id for s in survey.sections for t in s.sentences() for span in t.spans if span.source == "passage"
    }:
        spans = f"SELECT unnest(spans) AS span FROM survey_sentences WHERE topic = '{key}' AND edition = '{EDITION}'"  # noqa: S608
        query = f"SELECT count(DISTINCT span.paper_id) FROM ({spans}) WHERE span.source = 'passage'"  # noqa: S608
        facts.append(StatedRow("full_text_count", _number(len(read)), query))
    if most and most.citation_count >= OFTEN_CITED:
        facts += [
            StatedRow("most_cited_id", most.paper_id),
            StatedRow("most_title", most.title),
            StatedRow(
                "most_citations",
                _number(most.citation_count),
                f"SELECT citation_count FROM topic_pool WHERE topic = '{key}' AND paper_id = '{most.paper_id}'",  # noqa: S608
            ),
        ]
    return {fact.name: fact for fact in facts}


def _origins(cited: Sequence[Paper], joined: str) -> list[StatedRow]:
    """Whose words the abstracts of the cited papers are: facts of one of three cases."""
    summaries = sum(p.abstract_origin != "source" for p in cited)
    own = StatedRow("own", _number(len(cited) - summaries), f"SELECT count(*) {joined} AND abstract_origin = 'source'")
    others = StatedRow("others", _number(summaries), f"SELECT count(*) {joined} AND abstract_origin <> 'source'")
    if not summaries:
        return [replace(own, name="own_words_count")]
    if summaries == len(cited):
        return [replace(others, name="summaries_only_count")]
    return [replace(own, name="own_count"), replace(others, name="summary_count")]


def restate(section: SectionDraft, facts: Mapping[str, StatedRow]) -> SectionDraft:
    """The section with its unknown values (UNKNOWN) given; a sentence whose value stays unknown is dropped.

    The plan is given anew too: sections may have been left out since it was told.
    """

    def known(sentence):
        if not any(row.value == UNKNOWN or row.name == "plan" for row in sentence.rows):
            return sentence
        rows = tuple(
            facts.get(row.name, replace(row, value=UNKNOWN)) if row.value == UNKNOWN or row.name == "plan" else row
            for row in sentence.rows
        )
        if any(row.value == UNKNOWN for row in rows):
            return None
        cited = tuple(facts["most_cited_id"].value if c == UNKNOWN else c for c in sentence.cited_ids)
        text = sentence.template.format(**{row.name: row.value for row in rows})
        return replace(sentence, text=text, rows=rows, cited_ids=cited)

    paragraphs = tuple(tuple(k for s in p if (k := known(s)) is not None) for p in section.paragraphs)
    return replace(section, paragraphs=tuple(p for p in paragraphs if p))


def _papers_below(survey: Survey, number: str) -> set[str]:
    return {p for s in survey.sections if s.number == number or s.number.startswith(number + ".") for p in s.cited_ids}


def _number(value: int) -> str:
    return f"{value:,}"


def _texts(values: Sequence[str]) -> str:
    return ", ".join(map(quoted, values))
