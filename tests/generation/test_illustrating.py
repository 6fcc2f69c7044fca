"""The pictures' rows are counts of the lake: how papers were chosen, when they were written, what sections cite."""

from datetime import date

import duckdb
import polars as pl
import pytest

from generation.captions import FLOW, TAXONOMY, TIMELINE, picture_name
from generation.illustrating import flow, illustrated, taxonomy, timeline
from generation.pictures import drawn
from generation.values import Outline, OutlineNode, SectionDraft, Sentence, Survey
from tests.generation.extractive.conftest import SmallLibrary, make_paper


def library_of_years(*years):
    """A pool with a paper of each year, in this order."""
    papers = [make_paper(f"p{i:03d}", submitted_latest=date(y, 6, 1)) for i, y in enumerate(years)]
    library = SmallLibrary(papers)
    library.consulted = dict.fromkeys(library.pool[:-1])
    return library


def said(number, title, *paper_ids):
    return SectionDraft(number, title, (tuple(Sentence("written", f"{title} {p}.", (p,)) for p in paper_ids),), number)


def survey_of(*sections):
    return Survey("Retrieval", sections)


def asked(caption, survey, library):
    """Name → (printed value, what its query gives as it would be printed) over tables of the same content.

    Another edition of the topic, in which everything is cited, does not count.
    """
    key, papers = library.topic.key, library.papers(library.pool)
    own = [(key, "e1", p.paper_id, p.paper_id in library.consulted, p.paper_id in survey.references) for p in papers]
    other = [(key, "e0", p.paper_id, True, True) for p in papers]
    sections = [
        (key, e, s.number, list(s.cited_ids) if e == "e1" else ["x"]) for e in ("e0", "e1") for s in survey.sections
    ]
    tables = {
        "papers": (["paper_id", "submitted_latest", "is_withdrawn"], [(p.paper_id, p.submitted_latest, False) for p in papers]),
        "topic_pool": (["topic", "paper_id"], [(key, p.paper_id) for p in papers]),
        "edition_papers": (["topic", "edition", "paper_id", "is_consulted", "is_cited"], own + other),
        "survey_sections": (["topic", "edition", "number", "paper_ids"], sections),
    }  # fmt: skip
    lake = duckdb.connect()
    for name, (columns, rows) in tables.items():
        lake.register(name, pl.DataFrame(rows, schema=columns, orient="row").to_arrow())
    given = {r.name: lake.execute(r.query.replace("$edition", "e1")).fetchone()[0] for r in caption.rows}
    return {r.name: (r.value, str(given[r.name])) for r in caption.rows}


def test_the_flow_goes_from_the_corpus_to_what_is_cited():
    library, survey = library_of_years(2019, 2020, 2021, 2022), survey_of(said("1", "One", "p000", "p001"))
    caption = flow(survey, library, library.held_count)
    assert (caption.text, caption.place) == (FLOW, "caption")
    values = asked(caption, survey, library)
    assert list(values) == ["identified", "admitted", "pool", "consulted", "cited"]
    assert [v for v, _ in values.values()] == ["4", "4", "4", "3", "2"] == [v for _, v in values.values()]


def test_a_timeline_has_every_year_of_a_short_time():
    library = library_of_years(2021, 2019, 2021, 2023)
    survey = survey_of(said("1", "One", "p000", "p003"))
    caption = timeline(survey, library)
    assert caption.text.endswith("since 2019.")
    assert caption.template == TIMELINE
    values = asked(caption, survey, library)
    assert all(printed == given for printed, given in values.values())
    assert [(n, v) for n, (v, _) in values.items() if v != "0"] == [
        ("since", "2019"), ("pool 2019", "1"), ("pool 2021", "2"), ("cited 2021", "1"), ("pool 2023", "1"),
        ("cited 2023", "1"),
    ]  # fmt: skip
    assert len(values) == 1 + 2 * 5


@pytest.mark.parametrize(
    ("years", "since"),
    [
        ((1990, *[2010 + i % 10 for i in range(99)]), 2010),  # the oldest two of a hundred are left out
        ((1990, 1991, 1992, *[2010 + i % 10 for i in range(97)]), 1992),
        ((2005, *[2010 + i % 10 for i in range(99)]), 2005),  # fifteen years are no long time
    ],
)
def test_a_long_timeline_begins_where_the_papers_become_regular(years, since):
    library = library_of_years(*years)
    survey = survey_of(said("1", "One", "p050"))
    values = asked(timeline(survey, library), survey, library)
    assert values["since"] == (str(since), str(since))
    assert all(printed == given for printed, given in values.values())


def test_a_section_is_shown_with_the_papers_of_its_parts_each_once():
    library = library_of_years(*range(2010, 2020))
    survey = survey_of(
        said("2", "Reading", "p000"), said("2.1", "Fast", "p000", "p001"), said("2.2", "Slow", "p001", "p002"),
        said("20", "Writing", "p005", "p006"),
    )  # fmt: skip
    body = list(survey.sections)
    caption = taxonomy(survey, body, library.topic.key)
    assert caption.text == TAXONOMY
    values = asked(caption, survey, library)
    assert {n: v for n, (v, _) in values.items()} == {
        "2 Reading": "3",
        "2.1 Fast": "2",
        "2.2 Slow": "2",
        "20 Writing": "2",
    }
    assert all(printed == given for printed, given in values.values())


def test_pictures_stand_at_the_end_of_the_introduction_and_can_be_drawn():
    library = library_of_years(*range(2010, 2020))
    introduction, body, end = said("1", "Introduction", "p000"), said("2", "Reading", "p001"), said("3", "End", "p002")
    nodes = tuple(
        OutlineNode(s.number, s.title, role=role)
        for s, role in ((introduction, "introduction"), (body, "body"), (end, "conclusion"))
    )
    survey = illustrated(survey_of(introduction, body, end), Outline(nodes), library, identified=10)
    assert [picture_name(p) for p in survey.sections[0].paragraphs] == [None, "flow", "timeline", "taxonomy"]
    assert survey.sections[1:] == (body, end)
    assert set(drawn(survey)) == {"flow", "timeline", "taxonomy"}
    shown = next(p[0] for p in survey.sections[0].paragraphs if picture_name(p) == "taxonomy")
    assert [r.name for r in shown.rows] == ["2 Reading"]


def test_without_an_introduction_there_are_no_pictures():
    library = library_of_years(2019, 2020)
    survey = survey_of(said("1", "Reading", "p000"))
    assert illustrated(survey, Outline((OutlineNode("1", "Reading"),)), library, identified=2) == survey
