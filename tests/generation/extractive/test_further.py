"""Further systems are named as their titles name them, once, and never one alone."""

from datetime import date

import pytest

from generation.extractive.further import FURTHER, further
from generation.writing import Evidence
from tests.generation.extractive.conftest import make_paper

NAMES = ("AlphaRead", "BetaRead", "GammaRead", "DeltaRead", "EpsiRead", "ZetaRead", "EtaRead", "ThetaRead")


def evidence(name, at, standing=0.5, **more):
    paper = make_paper(
        f"2101.0000{at}", f"{name}: Reading with Care" if name else "Reading with Care",
        submitted_latest=date(2021, 1, 1 + at),
    )  # fmt: skip
    return Evidence(paper, None, standing=standing, **more)


def names_in(paragraph):
    return [row.value for s in paragraph for row in s.rows]


def test_names_are_those_of_titles_in_the_order_of_time_and_each_with_its_query():
    items = [evidence(n, i, standing=i / 10) for i, n in enumerate(NAMES[:3])]
    [sentence] = further(list(reversed(items)), (), "2.1", 12)
    assert sentence.text == "The pool also holds AlphaRead, BetaRead, and GammaRead."
    assert sentence.cited_ids == tuple(e.paper.paper_id for e in items)
    assert [(r.value, r.query.split("'")[-2]) for r in sentence.rows] == [
        (n, e.paper.paper_id) for n, e in zip(NAMES, items, strict=False)
    ]
    assert sentence.kind == "composed"
    assert not sentence.spans


def test_what_the_text_cites_is_not_named_again():
    items = [evidence(n, i) for i, n in enumerate(NAMES[:4])]
    cited = {items[0].paper.paper_id, items[2].paper.paper_id}
    assert names_in(further(items, cited, "2", 12)) == ["BetaRead", "DeltaRead"]


@pytest.mark.parametrize(
    "others",
    [[], [evidence(None, 5), evidence(None, 6)], [evidence("BetaRead", 5, is_home=False)]],
    ids=["nothing else", "papers without names", "a paper at home elsewhere"],
)
def test_one_name_alone_is_no_sentence(others):
    assert further([evidence("AlphaRead", 0), *others], (), "2", 12) == ()


def test_the_best_are_named_and_no_more_than_asked_for():
    items = [evidence(n, i, standing=i / 10) for i, n in enumerate(NAMES)]
    assert names_in(further(items, (), "2", 3)) == ["ZetaRead", "EtaRead", "ThetaRead"]
    assert further(items, (), "2", 0) == ()


def test_many_names_are_two_sentences_of_different_wording():
    first, second = further([evidence(n, i) for i, n in enumerate(NAMES)], (), "3.2", 12)
    assert len(first.rows) == len(second.rows) == 4
    assert first.template != second.template
    assert {first.template, second.template} <= set(FURTHER)
    assert sorted(names_in((first, second))) == sorted(NAMES)


def test_neighbouring_leaves_begin_differently():
    items = [evidence(n, i) for i, n in enumerate(NAMES[:2])]
    begun = [further(items, (), number, 12)[0].template for number in ("2.1", "2.2", "2.3", "2.4")]
    assert len(set(begun)) == 4
