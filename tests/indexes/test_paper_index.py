from datetime import date, timedelta

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from indexes.paper_index import Hit, PaperIndex
from ingestion.errors import BadInput, PermanentFailure

DAY = date(2024, 12, 31)
TOPICS = ["graph neural networks", "retrieval of passages", "protein folding", "speech recognition"]


def many(count: int) -> list[tuple[str, str, str | None]]:
    return [(f"2401.{n:05}", f"{TOPICS[n % 4]} number{n}", f"A study of {TOPICS[n % 4]}.") for n in range(count)]


def names(hits: list[Hit]) -> list[str]:
    return [hit.paper_id for hit in hits]


# Full text

ODD = [
    ("2401.00001", "Who is Waldo? A data set", "Finding Waldo in pictures."),
    ("2401.00002", "Mask R-CNN in C++", "Instance segmentation."),
    ("2401.00003", "Foo and bar, or baz", "Placeholders."),
    ("2401.00004", "Retrieval-Augmented Generation", "Generators that retrieve passages."),
    ("2401.00005", "O'Neil cylinders", "Habitats in space."),
]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ('who is "waldo"?', ["2401.00001"]),
        ("C++ & R-CNN", ["2401.00002"]),
        ("foo(bar", ["2401.00003"]),
        ("O'Neil", ["2401.00005"]),
        ("waldo AND", ["2401.00001"]),
        ("title:waldo^2", ["2401.00001"]),
        ("-waldo", ["2401.00001"]),
        ("NOT waldo", ["2401.00001"]),
        ('"waldo', ["2401.00001"]),
        ("wal*", []),
        ("OR", []),  # a stop word: read as a word, and no paper is about it
        ("retrieving augmented", ["2401.00004"]),  # stemming; a hyphen is a blank
        ("retrieval-augmented", ["2401.00004"]),
    ],
)
def test_vx06_operators_in_a_query_are_plain_text(build, frame, query, expected):
    assert names(build(frame(ODD)).full_text(query, 5, cutoff=DAY)) == expected


@pytest.mark.parametrize("query", ["", " ", "'", '""', "()", "&& || !", "-", "\\", "\ud800", "\x00"])
def test_vx06_a_query_without_a_word_is_refused_with_advice(build, frame, query):
    index = build(frame(ODD))
    for search in (index.full_text, index.search):
        with pytest.raises(BadInput, match=r"no word to search for.*at least one word"):
            search(query, 5, cutoff=DAY)


def test_vx06_any_text_with_a_letter_is_a_query(build, frame):
    index = build(frame(ODD))

    @settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(st.text(max_size=40))
    def check(noise):
        assert "2401.00001" in names(index.full_text(f"{noise} waldo {noise}", 5, cutoff=DAY))

    check()


def test_a_title_and_its_abstract_are_both_searched_and_scores_fall(build, frame):
    hits = build(frame(ODD)).full_text("passages pictures retrieval", 5, cutoff=DAY)
    assert names(hits) == ["2401.00004", "2401.00001"]
    assert hits[0].score > hits[1].score > 0


def test_equal_scores_are_ordered_by_id_at_every_k(build, frame):
    index = build(frame([(f"2401.{n:05}", "Owls", "Owls at night.") for n in range(300)][::-1]))
    whole = names(index.full_text("owls", 300, cutoff=DAY))
    assert whole == sorted(whole)
    assert all(names(index.full_text("owls", k, cutoff=DAY)) == whole[:k] for k in (1, 7, 100))


def test_cutoff_exclusions_within_and_withdrawn_apply_to_both_searches(build, frame):
    papers = [(f"2401.0000{n}", f"Owl {n}", None) for n in range(6)]
    days = [date(2024, 1, 1) + timedelta(days=n) for n in range(6)]
    index = build(frame(papers, day=days, withdrawn=["2401.00001"]))
    index.embed([paper[0] for paper in papers])
    for search in (index.full_text, index.dense, index.search):
        ids = {paper[0] for paper in papers}
        assert set(names(search("owl", 9, cutoff=DAY))) == ids - {"2401.00001"}
        assert set(names(search("owl", 9, cutoff=DAY, with_withdrawn=True))) == ids
        assert set(names(search("owl", 9, cutoff=date(2024, 1, 3)))) == {"2401.00000", "2401.00002"}
        limited = search("owl", 9, cutoff=DAY, within=["2401.00003", "2401.00004"], excluded={"2401.00004"})
        assert names(limited) == ["2401.00003"]
        assert search("owl", 9, cutoff=DAY, within=[]) == []
        assert len(search("owl", 2, cutoff=DAY)) == 2


@pytest.mark.parametrize("left_out", [3, 100])
def test_few_and_many_papers_left_out_give_the_same_as_a_cutoff_would(build, frame, left_out):
    papers = many(240)
    gone = [paper[0] for paper in papers[:left_out]]
    index = build(frame(papers, withdrawn=gone[: left_out // 2]))
    index.embed([paper[0] for paper in papers])
    kept = {paper[0] for paper in papers} - set(gone)
    for search in (index.full_text, index.dense):
        for k in (5, 40, 240):
            hits = search("a study of graph neural networks", k, cutoff=DAY, excluded=gone[left_out // 2 :])
            within = search("a study of graph neural networks", k, cutoff=DAY, within=kept)
            assert names(hits) == names(within)
            assert [hit.score for hit in hits] == pytest.approx([hit.score for hit in within])


def test_vx05_the_cutoff_is_applied_before_the_search(build, frame):
    papers = [(f"2401.{n:05}", f"Owls of region {n}", "Owls hunt at night.") for n in range(1000)]
    days = [date(2023, 1, 1) if n % 100 == 50 else date(2024, 6, 1) for n in range(1000)]
    index = build(frame(papers, day=days))
    index.embed([paper[0] for paper in papers])
    old = [paper[0] for paper, day in zip(papers, days, strict=True) if day.year == 2023]
    assert len(old) == 10
    cutoff = date(2023, 12, 31)
    assert sorted(names(index.full_text("owls at night", 10, cutoff=cutoff))) == old
    assert sorted(names(index.dense("owls at night", 10, cutoff=cutoff))) == old


# Vectors


def test_embedding_is_lazy_and_reuses_what_there_is(build, frame, fake):
    index = build(frame(many(8)))
    assert index.dense("protein", 3, cutoff=DAY) == []
    fake.history.clear()
    first = index.embed(["2401.00000", "2401.00001", "2401.00000", "9999.99999"])
    assert (first.embedded, first.reused, first.skipped) == (2, 0, [("9999.99999", "not in the index")])
    second = index.embed([paper[0] for paper in many(4)])
    assert (second.embedded, second.reused) == (2, 2)
    assert len(fake.asked) == len(set(fake.asked)) == 4
    assert fake.asked[0] == "graph neural networks number0\nA study of graph neural networks."
    assert index.built_from.embedder == fake.identity
    assert index.built_from.versions == index.versions()


def test_an_interrupted_run_goes_on_where_it_was(build, frame, fake):
    index = build(frame(many(600)))
    ids = [paper[0] for paper in many(600)]
    steps = []
    fake.stop_after = 2
    with pytest.raises(KeyboardInterrupt):
        index.embed(ids, progress=lambda done, of: steps.append((done, of)))
    assert steps == [(256, 600), (512, 600)]
    fake.stop_after = None
    report = PaperIndex.open(index.folder, embedder=fake).embed(ids)
    assert (report.embedded, report.reused) == (88, 512)
    assert len(fake.asked) == len(set(fake.asked)) == 600


def test_vx01_one_faulty_paper_of_64_is_marked_and_63_are_stored(build, frame, fake):
    index = build(frame(many(64)))
    fake.nan_for = "number17\n"
    report = index.embed([paper[0] for paper in many(64)])
    assert report.embedded == 63
    assert report.skipped == [("2401.00017", "the model's answer is not a number")]
    ids, vectors = index.vectors([paper[0] for paper in many(64)])
    assert "2401.00017" not in ids
    assert np.isfinite(vectors).all()
    fake.nan_for = ""
    assert index.embed([paper[0] for paper in many(64)]).embedded == 1


def test_vx09_a_paper_without_text_is_skipped_and_one_without_abstract_is_searchable_by_title(build, frame, fake):
    index = build(frame([("2401.00001", " ", ""), ("2401.00002", "Owls", None), ("2401.00003", "Mice", " ")]))
    report = index.embed(["2401.00001", "2401.00002", "2401.00003"])
    assert report.embedded == 2
    assert report.skipped == [("2401.00001", "the text is blank")]
    assert fake.asked == ["Owls", "Mice"]
    assert index.vectors(["2401.00001", "2401.00002"])[0] == ["2401.00002"]
    assert names(index.full_text("owls", 3, cutoff=DAY)) == ["2401.00002"]
    assert names(index.search("mice", 1, cutoff=DAY)) == ["2401.00003"]


@pytest.mark.parametrize("query", ["", " \n"])
def test_vx09_a_blank_dense_query_is_refused_without_a_call(build, frame, fake, query):
    index = build(frame(many(4)))
    with pytest.raises(BadInput, match="blank"):
        index.dense(query, 3, cutoff=DAY)
    assert fake.history == []


@pytest.mark.parametrize("rows", [0, 20, 300])
def test_vx04_any_number_of_rows_is_searched_exactly(build, frame, fake, rows):
    papers = many(rows)
    index = build(frame(papers))
    ids = [paper[0] for paper in papers]
    assert index.embed(ids).embedded == rows
    stored, matrix = index.vectors(ids)
    assert stored == ids
    assert matrix.shape == (rows, 32)
    query = fake.embed(["a study of protein folding number2"])[0]
    hits = index.dense(query, 10, cutoff=DAY)
    scores = matrix @ query
    exact = sorted(zip(ids, scores, strict=True), key=lambda pair: (-round(float(pair[1]), 5), pair[0]))[:10]
    assert [round(hit.score, 4) for hit in hits] == [round(float(score), 4) for _, score in exact]
    assert len(hits) == min(10, rows)


def test_a_query_vector_need_not_be_normalised_and_is_checked(build, frame, fake):
    index = build(frame(many(8)))
    index.embed([paper[0] for paper in many(8)])
    query = fake.embed(["protein folding"])[0]
    hits, scaled = (index.dense(vector, 8, cutoff=DAY) for vector in (query, query * 50))
    assert [round(hit.score, 5) for hit in hits] == [round(hit.score, 5) for hit in scaled]
    for bad in (np.zeros(32), np.full(32, np.nan), np.ones(31), np.ones((1, 32))):
        with pytest.raises(BadInput, match=r"expected \(32,\)"):
            index.dense(bad, 3, cutoff=DAY)


def test_vectors_come_in_the_order_asked(build, frame, fake):
    index = build(frame(many(6)))
    index.embed(["2401.00001", "2401.00004", "2401.00002"])
    ids, matrix = index.vectors(["2401.00004", "2401.00000", "2401.00001", "2401.00004"])
    assert ids == ["2401.00004", "2401.00001"]
    assert np.allclose(matrix, fake.embed([f"{p[1]}\n{p[2]}" for p in (many(6)[4], many(6)[1])]))
    assert index.vectors([])[1].shape == (0, 32)


OTHERS = [
    {"name": "another model"},
    {"sha256": "0" * 64},
    {"max_tokens": 256},
    {"size": 64},
    {"name": "bge-large", "size": 1024},
]


@pytest.mark.parametrize("other", OTHERS)
def test_vx03_vectors_of_another_embedder_are_refused_before_writing(build, frame, fake, make_fake, other):
    index = build(frame(many(8)))
    index.embed(["2401.00000"])
    versions = index.versions()
    second = make_fake(**other)
    with pytest.raises(PermanentFailure) as caught:
        PaperIndex.open(index.folder, embedder=second)
    for part in (str(fake.identity), str(second.identity), "lithouse index --all"):
        assert part in caught.value.message
    lazy = PaperIndex(index.folder, second)
    for call in (
        lambda: lazy.embed(["2401.00001"]),
        lambda: lazy.dense("protein", 3, cutoff=DAY),
        lambda: lazy.vectors(["2401.00000"]),
    ):
        with pytest.raises(PermanentFailure, match="another embedder"):
            call()
    assert second.history == []
    assert PaperIndex.open(index.folder).versions() == versions


def test_vx03_full_text_and_updates_go_on_beside_vectors_of_another_embedder(build, frame, make_fake):
    index = build(frame(many(8)))
    index.embed([paper[0] for paper in many(8)])
    other = PaperIndex(index.folder, make_fake("another"))
    assert other.full_text("protein", 3, cutoff=DAY)
    result = other.update(frame(many(4)), snapshot="second")
    assert (result.removed, result.stale_vectors) == (4, 4)
    assert other.built_from.embedder.name == "fake"


# Fusion


def test_fused_search_prefers_what_both_rankings_find(build, frame):
    index = build(frame(many(40)))
    index.embed([paper[0] for paper in many(40)])
    hits = index.search("protein folding number6", 5, cutoff=DAY)
    assert hits[0].paper_id == "2401.00006"
    assert hits[0].score == pytest.approx(2 / 61)


def test_vectors_of_another_topic_do_not_enter_a_search(build, frame):
    index = build(frame(many(40)))
    index.embed([paper[0] for paper in many(40) if "speech" in paper[1]])
    query = "protein folding"
    assert names(index.search(query, 10, cutoff=DAY)) == names(index.full_text(query, 10, cutoff=DAY))


def test_search_falls_back_to_vectors_where_no_word_is_found(build, frame):
    index = build(frame(many(8)))
    index.embed([paper[0] for paper in many(8)])
    assert len(index.search("ornithology", 3, cutoff=DAY)) == 3


@pytest.mark.parametrize("k", [0, -3])
def test_less_than_one_result_is_refused_by_every_search(build, frame, k):
    index = build(frame(many(4)))
    index.embed(["2401.00000"])
    for search in (index.full_text, index.dense, index.search):
        with pytest.raises(BadInput):
            search("protein", k, cutoff=DAY)
