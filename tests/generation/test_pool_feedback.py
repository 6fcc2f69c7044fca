"""Pools by feedback: what the first papers bring in, what may never be one, and that nothing else has a say."""

from datetime import date

import polars as pl
import pytest

from generation.pools import NoEvidence, PoolOptions, build_pool
from generation.topics import define_topic

TOPIC = define_topic("Passage retrieval")
FIRST = [
    {
        "paper_id": f"2301.0000{n}",
        "title": f"Passage retrieval with {word}",
        "abstract": f"Dense encoders find evidence by {word}, encoders of evidence.",
    }
    for n, word in enumerate(["trees", "graphs", "hashes", "words"], start=1)
]
BY_TERMS = {"paper_id": "2302.00001", "title": "Dense encoders", "abstract": "Dense encoders of evidence, by others."}
OFF = [
    {"paper_id": f"2303.0000{n}", "title": f"Cooking {word}", "abstract": f"Soup made of {word} by cooks."}
    for n, word in enumerate(["beans", "peas", "leeks", "fish"], start=1)
]
CORPUS = [*FIRST, BY_TERMS, *OFF]


def ids(pool):
    return pool.rows["paper_id"].to_list()


def row(pool, paper_id):
    return pool.rows.row(by_predicate=pl.col("paper_id") == paper_id, named=True)


def test_a_paper_without_a_word_of_the_topic_enters_by_the_key_terms_and_says_so(library_of):
    pool = build_pool(*library_of(CORPUS), TOPIC)
    found = row(pool, "2302.00001")
    assert found["reason"].startswith("full text of key terms: ")
    assert "encoders" in found["reason"]
    assert found["full_text_rank"] is None
    assert {"dense", "encoders", "evidence"} <= set(found["query"].split())
    assert {row(pool, p["paper_id"])["reason"] for p in FIRST} == {"full text"}
    assert row(pool, "2301.00001")["query"] == TOPIC.query


def test_without_key_terms_there_is_no_second_query(library_of):
    view, index = library_of(CORPUS)
    assert "2302.00001" not in ids(build_pool(view, index, TOPIC, options=PoolOptions(key_terms=0)))


def test_papers_unlike_the_topic_and_its_first_papers_stay_out_however_many_places_are_left(library_of):
    salted = "The retrieval tells how much salt is needed, which is little, and when it is put in."
    soup = {**OFF[0], "paper_id": "2303.00009", "abstract": f"{OFF[0]['abstract']} {salted}"}
    pool = build_pool(*library_of([*CORPUS, soup]), TOPIC)
    assert set(ids(pool)) == {p["paper_id"] for p in [*FIRST, BY_TERMS]}


def test_the_least_likeness_is_an_option(library_of):
    view, index = library_of(CORPUS)
    assert ids(build_pool(view, index, TOPIC, options=PoolOptions(min_likeness=0.0)))[-1] == "2302.00001"
    with pytest.raises(NoEvidence, match="is about the topic"):
        build_pool(view, index, TOPIC, options=PoolOptions(min_likeness=1.1))


def test_hits_that_share_a_word_only_are_no_evidence(library_of):
    papers = [
        {**p, "abstract": f"{p['abstract']} One passage tells how much salt is needed, which is little."} for p in OFF
    ]
    view, index = library_of(papers)
    with pytest.raises(NoEvidence, match=r"no paper admitted .* is about the topic.*similarity of 0\.25"):
        build_pool(view, index, define_topic("Passage through glueballs"))


HIDDEN = {
    "excluded": ({}, {"exclusions": ("2304.00001", "2304.00002", "2304.00003")}),
    "later": ({"submitted_latest": date(2025, 1, 1)}, {}),
    "withdrawn": ({"is_withdrawn": True}, {}),
}


@pytest.mark.parametrize(("fields", "given"), HIDDEN.values(), ids=HIDDEN)
def test_a_paper_that_the_topic_may_not_see_is_no_first_paper(library_of, fields, given):
    words = ["oxen", "mules", "goats"]
    hidden = [
        {
            **p,
            **fields,
            "paper_id": f"2304.0000{n}",
            "title": f"Passage retrieval: {w}",
            "abstract": f"Zebra ducts. {w}",
        }
        for n, (p, w) in enumerate(zip(FIRST, words, strict=False), start=1)
    ]
    lure = {"paper_id": "2302.00002", "title": "Zebra ducts", "abstract": "Zebra ducts."}
    view, index = library_of([*CORPUS, *hidden, lure], exclusions=given.get("exclusions", ()))
    topic = define_topic("Passage retrieval", **given)
    pool = build_pool(view, index, topic, options=PoolOptions(min_likeness=-1.0))
    assert not {p["paper_id"] for p in hidden} & set(ids(pool))
    assert "zebra" not in " ".join(pool.rows["query"].unique())
    assert "2302.00002" not in ids(pool)


def test_a_pool_is_the_same_again_after_another_topic_and_with_every_paper_embedded(library_of):
    view, index = library_of(CORPUS)
    options = PoolOptions(candidates_per_place=1.0)
    topic = define_topic("Passage retrieval", pool_size=4)
    first = build_pool(view, index, topic, options=options).rows
    assert index.vectors([p["paper_id"] for p in CORPUS])[0] != [p["paper_id"] for p in CORPUS]
    assert build_pool(view, index, topic, options=options).rows.equals(first)
    build_pool(view, index, define_topic("Cooking soup"))
    assert build_pool(view, index, topic, options=options).rows.equals(first)
    index.embed([p["paper_id"] for p in CORPUS])
    assert build_pool(view, index, topic, options=options).rows.equals(first)


def test_no_more_papers_are_embedded_than_candidates_are_asked_for(library_of):
    view, index = library_of(CORPUS)
    topic = define_topic("Passage retrieval", pool_size=2)
    options = PoolOptions(first_share=0.5, neighbourhood_per_place=0.0)
    assert build_pool(view, index, topic, options=options).embedded == 4
    assert build_pool(view, index, topic, options=options).embedded == 0


@pytest.mark.parametrize(("share", "found"), [(1 / 3, ["2302.00001"]), (1.0, [])], ids=["a third", "all"])
def test_full_text_hits_leave_candidates_places_to_the_key_terms_however_small_the_pool(library_of, share, found):
    weak = [
        {"paper_id": f"2306.000{n}", "title": f"Retrieval {n}", "abstract": f"{n} tons of salt."} for n in range(10, 30)
    ]
    view, index = library_of([*CORPUS, *weak])
    options = PoolOptions(first_share=share, key_terms=6)
    build_pool(view, index, define_topic("Passage retrieval", pool_size=6), options=options)
    assert index.vectors(["2302.00001"])[0] == found


def test_first_papers_are_looked_for_among_the_first_hits_only(library_of):
    view, index = library_of(CORPUS)
    queries = build_pool(view, index, TOPIC, options=PoolOptions(first_share=0.0)).rows["query"].unique().to_list()
    assert queries == [TOPIC.query]  # a single first paper shares no word with another


def test_one_first_paper_has_no_key_terms(library_of):
    view, index = library_of(CORPUS)
    assert "2302.00001" not in ids(build_pool(view, index, TOPIC, options=PoolOptions(first_papers=1)))


def test_the_neighbourhood_adds_no_more_papers_than_its_share(library_of):
    near = [{"paper_id": f"2305.0000{n}", "title": f"Finding {n}", "abstract": "Evidence."} for n in range(1, 6)]
    edges = [(first["paper_id"], p["paper_id"]) for first in FIRST for p in near]
    view, index = library_of([*CORPUS, *near], edges)
    topic = define_topic("Passage retrieval", pool_size=10)
    options = PoolOptions(key_terms=0, min_likeness=-1.0, neighbourhood_per_place=0.2)
    found = build_pool(view, index, topic, options=options).rows
    assert found.filter(found["reason"] == "citation neighbourhood")["paper_id"].sort().to_list() == [
        "2305.00001",
        "2305.00002",
    ]


def test_an_asked_for_paper_far_from_the_topic_is_no_first_paper(library_of):
    view, index = library_of(CORPUS)
    plain = build_pool(view, index, TOPIC).rows
    asked = build_pool(view, index, define_topic("Passage retrieval", inclusions=[OFF[0]["paper_id"]])).rows
    assert asked["paper_id"].to_list() == [OFF[0]["paper_id"], *plain["paper_id"]]
