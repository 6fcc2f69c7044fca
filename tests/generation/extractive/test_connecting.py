"""Connectives stand only where rows bear them, and what papers share is counted by the query that is given."""

from datetime import date

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation.extractive.adaptation import adapt, reverse
from generation.extractive.connecting import (
    by_contrast,
    in_words,
    later,
    names_sentence,
    on_the_same,
    prefixed,
    topic_sentence,
)
from generation.extractive.selection import options_of
from generation.extractive.sentences import whole_sentences
from generation.extractive.sharing import count_query, counted, shared_names, shared_phrase
from generation.extractive.speakers import Manner
from generation.values import Sentence
from generation.writing import Evidence
from tests.generation.extractive.conftest import make_paper


def lake_of(papers):
    lake = duckdb.connect()
    lake.execute("CREATE TABLE papers (paper_id VARCHAR, title VARCHAR, abstract VARCHAR, submitted_latest DATE)")
    lake.executemany(
        "INSERT INTO papers VALUES (?, ?, ?, ?)",
        [(p.paper_id, p.title, p.abstract, p.submitted_latest) for p in papers],
    )
    return lake


def asked(lake, row):
    return str(lake.execute(row.query).fetchone()[0])


PLAIN = Manner()


def sentence_of(paper, manner=PLAIN):
    (source,) = whole_sentences(paper)
    return adapt(source, paper, manner)


TITLE = "Indexes for Short Questions"
EARLY = make_paper(
    "2001.1", TITLE, abstract="We propose an index for short questions.", submitted_latest=date(2020, 6, 15)
)
WE = "We propose a reader for short questions."


@pytest.mark.parametrize(
    ("day", "beginning", "value"),
    [
        (date(2022, 6, 15), "Two years later, Reed et al. propose", "2"),
        (date(2022, 1, 2), "Two years later, Reed et al. propose", "2"),  # by the calendar, as readers count
        (date(2021, 12, 30), "A year later, Reed et al. propose", "1"),
        (date(2020, 9, 1), "The same year, Reed et al. propose", "2020"),
    ],
)
def test_time_is_told_from_the_dates(day, beginning, value):
    paper = make_paper("2.1", TITLE, abstract=WE, submitted_latest=day)
    tied = later(sentence_of(paper), EARLY, paper, is_year_told=True)
    assert tied.text.startswith(beginning)
    assert tied.rows[-1].value == value == asked(lake_of([EARLY, paper]), tied.rows[-1])
    assert reverse(tied.text, tied.edits) == paper.abstract


@pytest.mark.parametrize(
    ("paper", "manner"),
    [
        (make_paper("2.1", TITLE, abstract=WE, submitted_latest=date(2019, 2, 1)), Manner()),  # before
        (make_paper("2.1", f"{TITLE} of a Great Many Small Libraries", abstract=WE, authors=None,
                    submitted_latest=date(2023, 2, 1)), Manner()),  # says its year
        (make_paper("2.1", abstract="We propose TwinSeek, a reader for short questions.",
                    submitted_latest=date(2023, 2, 1)), Manner(by_name=True)),  # what a system is does not happen
    ],
)  # fmt: skip
def test_no_time_is_told_otherwise(paper, manner):
    assert later(sentence_of(paper, manner), EARLY, paper) is None


@given(st.dates(date(2020, 6, 15), date(2060, 1, 1)))
def test_years_are_counted_as_the_query_counts_them(day):
    paper = make_paper("2.1", TITLE, abstract=WE, submitted_latest=day)
    tied = later(sentence_of(paper), EARLY, paper, is_year_told=True)
    assert tied.rows[-1].value == asked(lake_of([EARLY, paper]), tied.rows[-1])


def test_time_joins_no_papers_whose_titles_share_nothing():
    early, paper = (
        make_paper(i, title, abstract=WE, submitted_latest=day)
        for i, title, day in (("1.1", "Harbour Traffic", date(2020, 6, 15)), ("2.1", "Bird Song", date(2022, 6, 15)))
    )
    assert later(sentence_of(paper), early, paper) is None


def test_the_same_year_points_at_a_year_that_was_told():
    paper = make_paper("2.1", TITLE, abstract=WE, submitted_latest=date(2020, 9, 1))
    assert later(sentence_of(paper), EARLY, paper) is None


def options(texts, embedder):
    papers = [make_paper(f"2.{i}", abstract=t, title=f"T{i}") for i, t in enumerate(texts)]
    evidence = [Evidence(p, embedder([p.abstract])[0]) for p in papers]
    found = options_of(evidence, embedder(["x"])[0], embedder, "x", with_leaning=True)
    return {o.paper.paper_id: o for o in found}


def test_contrast_needs_a_good_and_a_bad_finding_on_the_same(embedder):
    good = "We find that retrieved passages improve small readers on rare entities."
    bad = "We find that retrieved passages hurt large readers on rare entities."
    found = options([good, bad, "We find that short prompts hurt translators of poems badly."], embedder)
    tied = by_contrast(found["2.0"], found["2.1"], found["2.1"].sentence, ())
    assert tied.text.startswith("By contrast, Reed et al. find that retrieved passages hurt")
    rows = {row.name: row.value for row in tied.rows}
    assert (rows["one_says"], rows["other_says"]) == ("improve", "hurt")
    assert "passag" in rows["both_speak_of"]
    assert by_contrast(found["2.0"], found["2.2"], found["2.2"].sentence, ()) is None  # of something else
    assert by_contrast(found["2.1"], found["2.2"], found["2.2"].sentence, ()) is None  # both bad
    common = {"passag", "reader", "retrie", "entiti", "entity", "rare"}
    assert by_contrast(found["2.0"], found["2.1"], found["2.1"].sentence, common) is None


def test_what_two_neighbours_name_is_found_among_the_two():
    texts = ("We gain 3 points on TwinBench.", "We gain 6 points on TwinBench.", "We gain 6 points on HashBench.")
    one, other, third = (make_paper(f"2.{i}", abstract=text) for i, text in enumerate(texts))
    assert [s.text for s in shared_names([one, other], least=2)] == ["TwinBench"]
    assert not shared_names([one, third], least=2)
    assert not shared_names([one, other]), "a section's names want three papers"


def test_data_that_two_papers_name_ties_their_sentences():
    one = sentence_of(make_paper("2.1", abstract="We gain 3 points on TwinBench with a small index."))
    paper = make_paper("2.2", abstract="We gain 6 points on TwinBench with a large index.")
    tied = on_the_same(sentence_of(paper), one, ["TwinBench"])
    assert tied.text == "Reed et al. gain 6 points also on TwinBench with a large index."
    assert [(row.name, row.value) for row in tied.rows] == [("both_name", "TwinBench")]
    assert reverse(tied.text, tied.edits) == paper.abstract
    assert on_the_same(sentence_of(paper), one, ["HashBench"]) is None


def test_a_first_word_that_may_be_a_name_is_left():
    quoted = Sentence("quoted", "Reed counters are slow.", ("2.1",))
    assert prefixed(quoted, "By contrast, ", "connect by contrast", ()) is None
    nameless = sentence_of(make_paper("2.1", abstract=WE, authors=None))
    assert prefixed(nameless, "By contrast, ", "x", ()).text.startswith("By contrast, “A Study of Things” proposes")


SHARED = [
    make_paper("3.1", "Query Expansion at Last", "We expand. TwinBench is used with O'Seek."),
    make_paper("3.2", "More Terms", "We study query expansion on TwinBench and HashBench."),
    make_paper("3.3", "Fewer Terms", "We measure what query expansion costs on TwinBenches of TwinBench."),
    make_paper("3.4", "Nothing", None),
]


def test_what_papers_share_is_counted_by_its_query():
    lake = lake_of(SHARED)
    for text, any_case, count in (
        ("TwinBench", False, 3),
        ("query expansion", True, 3),
        ("O'Seek", False, 1),
        ("Twin", False, 0),
    ):
        found = counted(text, SHARED, any_case=any_case)
        assert len(found.paper_ids) == count == lake.execute(found.query).fetchone()[0]


def test_a_name_of_three_papers_and_a_phrase_of_three_are_found():
    assert [(s.text, s.paper_ids) for s in shared_names(SHARED)] == [("TwinBench", ("3.1", "3.2", "3.3"))]
    around = [*SHARED, *(make_paper(f"4.{i}", f"Other {i}", "We read.") for i in range(20))]
    assert shared_phrase(SHARED, around, ()).text == "query expansion"
    assert shared_phrase(SHARED, SHARED, ()) is None  # all of the evidence has it
    assert shared_phrase(SHARED, around, {"query", "expans"}) is None  # the heading says it
    assert shared_phrase(SHARED, around, (), [frozenset({"query", "expans"})]) is None  # another heading does
    assert shared_phrase(SHARED[:2], around, ()) is None


@pytest.mark.parametrize("turn", range(16))
def test_composed_sentences_state_what_their_queries_give(turn):
    lake = lake_of(SHARED)
    phrase = topic_sentence(counted("query expansion", SHARED, any_case=True), turn)
    assert "three" in phrase.text.lower()
    assert asked(lake, phrase.rows[0]) == phrase.rows[0].value == "3"
    names = names_sentence(shared_names(SHARED), len(SHARED), count_query(SHARED), turn)
    assert "TwinBench" in names.text
    assert all(word in names.text.lower() for word in ("three", "four"))
    assert all(asked(lake, row) == row.value for row in names.rows if row.query)
    assert names.cited_ids == ("3.1", "3.2", "3.3")


def test_sixteen_turns_word_a_topic_in_many_ways():
    shared = counted("query expansion", SHARED, any_case=True)
    assert len({topic_sentence(shared, turn).text for turn in range(13)}) >= 12


def test_numbers_below_ten_are_words():
    assert [in_words(n) for n in (1, 9, 10, 1200)] == ["one", "nine", "10", "1,200"]
