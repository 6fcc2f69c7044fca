"""Tables of works side by side: three at least, by date, with nothing that the text has printed."""

from datetime import date

import pytest

from generation.captions import COMPARISON, cells, columns
from generation.extractive.adaptation import reverse
from generation.extractive.comparing import COLUMNS, comparison
from generation.extractive.sentences import whole_sentences
from generation.writing import CompareRequest, Evidence
from tests.generation.extractive.conftest import make_paper

PLAIN = "We propose an index for short questions."


def work(at, *, name=None, result="Experiments show that the index improves recall by {n}% on short questions.",
         day=None, **more):  # fmt: skip
    title = f"{name}: Careful Indexing" if name else f"Careful Indexing {at}"
    abstract = f"{PLAIN} {result.format(n=at + 11)}"
    return Evidence(
        make_paper(f"2101.0000{at}", title, abstract, submitted_latest=day or date(2021, 1, 1 + at), **more),
        None,
        standing=1 - at / 20,
    )


def compared(items, avoid=()):
    return comparison(CompareRequest("3", "Indexing", tuple(items), frozenset(avoid)))


def test_works_stand_older_first_with_name_year_and_result():
    days = [date(2023, 5, 1), date(2021, 5, 1), date(2022, 5, 1)]
    items = [work(0, day=days[0]), work(1, name="QuickDex", day=days[1]), work(2, day=days[2], authors=("Ada Reed",))]
    caption, *rows = compared(items)
    assert caption.text == "Works of Section 3 side by side."
    assert (caption.template, caption.place, columns(caption)) == (COMPARISON, "caption", COLUMNS)
    assert [cells(r)[:2] for r in rows] == [("QuickDex", "2021"), ("Reed", "2022"), ("Reed et al.", "2023")]
    assert all(r.place == "table" and "%" in r.text for r in rows)
    assert all(len(cells(r)) == len(COLUMNS) for r in rows)
    for row in rows:
        [paper] = [e.paper for e in items if e.paper.paper_id == row.cited_ids[0]]
        assert reverse(row.text, row.edits) == paper.abstract[row.spans[0].start : row.spans[0].end]


@pytest.mark.parametrize("count", [0, 1, 2])
def test_fewer_than_three_works_are_no_table(count):
    assert compared([work(i) for i in range(count)]) == ()


def test_a_work_that_reports_no_figure_is_not_in_the_table():
    items = [*(work(i) for i in range(2)), work(3, result="Experiments show that the index improves recall clearly.")]
    assert compared(items) == ()
    assert len(compared([*items, work(4)])) == 4


def test_what_the_text_prints_is_not_in_the_table():
    items = [work(i) for i in range(4)]
    printed = {s.span for s in whole_sentences(items[1].paper) if "%" in s.text}
    table = compared(items, printed)
    assert len(table) == 4
    assert not printed & {span for row in table for span in row.spans}
    assert compared(items[:3], printed) == ()


def test_a_result_of_many_words_is_no_entry():
    long = "Experiments show that the index " + "of many words " * 11 + "improves recall by {n}%."
    assert compared([work(0), work(1), work(2, result=long)]) == ()


def test_the_best_works_are_chosen_and_eight_at_most():
    items = [work(i) for i in range(9)]
    table = compared(list(reversed(items)))
    assert [row.cited_ids[0] for row in table[1:]] == [e.paper.paper_id for e in items[:8]]


NOBODY = "Recall on short questions rises by {n}% in all experiments with the index."


def test_every_cell_but_the_result_has_its_query():
    _, *rows = compared([work(0), work(1, name="QuickDex"), work(2, authors=None, result=NOBODY)])
    assert len(rows) == 3
    for row in rows:
        assert [r.name for r in row.rows] == ["work", "year"]
        assert all(f"'{row.cited_ids[0]}'" in r.query for r in row.rows)


def test_a_work_whose_authors_no_source_names_stands_under_its_title():
    table = compared([work(0), work(1), work(2, authors=None, result=NOBODY)])
    assert "Careful Indexing 2" in [cells(r)[0] for r in table[1:]]
