"""A whole survey over a lake: every sentence from its source, every number from its query, nothing twice.

The sample corpus is asked the same in `tests/assets/test_faithful_surveys.py`, as are real papers.
"""

from dataclasses import replace
from datetime import UTC, date, datetime

import pytest

from corpus.sidetables import store_edges
from corpus.snapshots import take_snapshot
from corpus.tables import Lake
from generation import editions, stages
from generation.captions import COMPARISON, FLOW
from generation.library import Consultation
from generation.topics import define_topic
from generation.values import Edit, StatedRow
from generation.workshop import Workshop
from indexes.paper_index import PaperIndex
from ingestion.sidedata import Edge
from tests.generation import faithfulness
from tests.generation.conftest import WordEmbedder, write_papers
from tests.generation.extractive.conftest import themed_papers


def surveyed(home, papers, topic, edges=(), outlined_from=()):
    """The survey of the topic over a lake of these papers, each stage reading what the one before stored.

    Args:
        outlined_from: further papers that the outline is said to have been made from.
    """
    lake = Lake(home)
    fields = ("paper_id", "title", "abstract", "submitted_latest", "authors")
    write_papers(lake, [{f: list(v) if isinstance(v := getattr(p, f), tuple) else v for f in fields} for p in papers])
    if edges:
        store_edges(lake, "test", [Edge(a, b) for a, b in edges])
    index = PaperIndex.open(home / "index", embedder=WordEmbedder(), create=True)
    index.update(lake.scan("papers").collect(), snapshot=take_snapshot(lake).content_hash)
    editions.store_topic(lake, topic, datetime(2025, 1, 1, tzinfo=UTC))
    shop = Workshop(home, _index=index)
    stages.make_pool(shop, topic)
    for stage in (stages.make_outline, stages.make_digests, stages.make_survey):
        desk = stages.open_desk(shop, topic, "surveyforge", "extractive")
        if stage is stages.make_digests:
            more = {p: Consultation({"outline": None}, "retrieved for the topic") for p in outlined_from}
            editions.store_consulted(lake, desk.edition, more, desk.library.pool)
        stage(shop, desk)
    return faithfulness.printed_of(home)


def dated_papers():
    """The themed papers under ids of the month they are of, as pages link to."""
    return [replace(p, paper_id=f"{p.submitted_latest:%y%m}.{i:04d}") for i, p in enumerate(themed_papers(), start=1)]


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    papers = dated_papers()
    late = replace(papers[0], paper_id="2501.00001", title="Late Query Rewriting", submitted_latest=date(2025, 1, 2))
    topic = define_topic("Retrieval of knowledge", cutoff=date(2024, 12, 31), exclusions=(papers[-3].paper_id,))
    edges = [(citing.paper_id, cited.paper_id) for cited in papers[:3] for citing in papers[5:15]]
    return surveyed(tmp_path_factory.mktemp("faithful"), [*papers, late], topic, edges)


def test_papers_that_only_the_outline_was_made_from_count_as_consulted(tmp_path):
    papers = dated_papers()
    topic = define_topic("Retrieval of knowledge", cutoff=date(2024, 12, 31))
    printed = surveyed(tmp_path, papers, topic, outlined_from=("2001.99999",))
    [flow] = [s for section in printed.survey.sections for s in section.sentences() if s.template == FLOW]
    told = {row.name: row.value for row in flow.rows}
    assert int(told["consulted"]) == int(told["pool"]) + 1
    assert faithfulness.untrue(printed) == []


@pytest.mark.parametrize("check", faithfulness.CHECKS, ids=lambda c: c.__name__)
def test_a_survey_over_a_small_lake_has(printed, check):
    assert check(printed) == []


def test_the_small_survey_has_what_the_checks_are_about(printed):
    """A check that meets nothing finds nothing."""
    sentences = [s for _, s in faithfulness.sentences_of(printed.survey)]
    assert {s.kind for s in sentences} == {"quoted", "adapted", "composed"}
    assert {s.place for s in sentences} >= {"prose", "table", "caption"}
    assert sum(row.query is not None for s in sentences for row in s.rows) > 40
    assert {row.name for s in sentences for row in s.rows} >= {"plan", "most_citations", "largest_count", "since"}
    late_and_excluded = {"2501.00001", dated_papers()[-3].paper_id}
    assert not late_and_excluded & set(printed.rows("edition_papers").filter("is_consulted")["paper_id"])


# Each check finds the fault that it is for.


def changed(printed, wanted, change):
    """The survey with the first wanted sentence changed; what `change` gives takes its place, as one or as several."""
    sections = list(printed.survey.sections)
    for i, section in enumerate(sections):
        for j, paragraph in enumerate(section.paragraphs):
            for k, sentence in enumerate(paragraph):
                if wanted(sentence):
                    found = change(sentence)
                    found = found if isinstance(found, tuple) else (found,)
                    paragraphs = list(section.paragraphs)
                    paragraphs[j] = (*paragraph[:k], *found, *paragraph[k + 1 :])
                    sections[i] = replace(section, paragraphs=tuple(paragraphs))
                    return replace(printed, survey=replace(printed.survey, sections=tuple(sections)))
    raise AssertionError("the survey has no such sentence")


def is_quoted(sentence):
    return sentence.kind == "quoted"


def is_counted(sentence):
    return sentence.kind == "composed" and any(r.query and r.value.isdigit() for r in sentence.rows)


def is_table(sentence):
    return sentence.template == COMPARISON


def counting_one_more(sentence):
    rows = tuple(replace(r, value=str(int(r.value) + 1)) if r.query and r.value.isdigit() else r for r in sentence.rows)
    return replace(sentence, rows=rows)


@pytest.mark.parametrize(
    ("check", "wanted", "change"),
    [
        ("unlike_their_spans", is_quoted, lambda s: replace(s, text=s.text.replace(".", "!"))),
        ("unlike_their_spans", is_quoted, lambda s: replace(s, cited_ids=("2001.99999",))),
        ("unlike_their_spans", lambda s: s.kind == "adapted", lambda s: replace(s, kind="quoted")),
        (
            "unlike_their_spans",
            lambda s: s.kind == "adapted",
            lambda s: replace(s, edits=(*s.edits, Edit("also", 0, "", "In brief, "))),
        ),
        ("untrue", is_counted, counting_one_more),
        ("unborne", is_counted, lambda s: replace(s, text=s.text[:-1] + " and 77 more.")),
        ("unborne", is_counted, lambda s: replace(s, text=s.text[:-1] + " and seven more.")),
        ("unborne", is_counted, lambda s: replace(s, rows=(*s.rows, StatedRow("more", "88", "SELECT 88")))),
        ("repeated", is_quoted, lambda s: (s, replace(s, text=s.text.upper()))),
        ("unadmitted", is_quoted, lambda s: replace(s, cited_ids=(*s.cited_ids, "2501.00001"))),
        ("unannounced", is_table, lambda s: replace(s, place="prose")),
        ("unannounced", is_table, lambda s: replace(s, rows=s.rows[:-1])),
        ("unannounced", lambda s: s.place == "table", lambda s: replace(s, place="prose")),
        ("unannounced", lambda s: s.place == "caption", lambda s: replace(s, rows=s.rows[:1])),
        (
            "misdirected",
            lambda s: any(r.name == "plan" for r in s.rows),
            lambda s: replace(s, rows=(StatedRow("plan", s.rows[0].value.replace("Section 2", "Section 9")),)),
        ),
    ],
    ids=lambda v: v if isinstance(v, str) else "",
)
def test_a_check_finds_what_it_is_for(printed, check, wanted, change):
    assert getattr(faithfulness, check)(changed(printed, wanted, change)) != []


def test_a_second_heading_of_the_same_words_is_found(printed):
    first, second, *rest = printed.survey.sections
    twice = replace(printed.survey, sections=(first, replace(second, title=first.title.upper()), *rest))
    assert faithfulness.repeated(replace(printed, survey=twice)) == [first.title.lower()]
