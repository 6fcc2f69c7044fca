"""The approximate index: when it is made, what it finds, when it is made again, and when nobody asks it."""

from dataclasses import replace
from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest

from indexes import vector_guard, vector_index
from indexes.embedding import EmbedderIdentity
from indexes.piece_index import COLUMNS, PieceIndex
from indexes.predicates import Admission
from indexes.vector_index import SearchOptions
from indexes.vector_table import VectorTable
from ingestion.errors import BadInput

pytestmark = pytest.mark.run

SIZE = 32
IDENTITY = EmbedderIdentity("fake", "f" * 64, 128, SIZE)
DAY, NEWEST = date(2020, 1, 1), date(2030, 1, 1)
SMALL = SearchOptions(min_rows=200, exact_rows=20, partition_rows=64, bits=4, sample=12, floor=0.9, narrow_floor=0.9)


def clustered(count: int, seed: int = 1) -> np.ndarray:
    """Unit vectors around a twentieth as many centres."""
    random = np.random.default_rng(seed)
    centres = random.standard_normal((max(4, count // 20), SIZE))
    rows = centres[random.integers(len(centres), size=count)] + 0.4 * random.standard_normal((count, SIZE))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def papers(numbers: range) -> pl.DataFrame:
    """Papers, one a day in turn over 1,000 days; every 50th withdrawn."""
    return pl.DataFrame(
        {
            "paper_id": [f"2001.{n:06}" for n in numbers],
            "content_hash": ["0" * 64] * len(numbers),
            "submitted_latest": [DAY + timedelta(days=n * 7 % 1000) for n in numbers],
            "is_withdrawn": [n % 50 == 49 for n in numbers],
        }
    )


def filled(folder, count: int, options: SearchOptions = SMALL, vectors: np.ndarray | None = None) -> VectorTable:
    table = VectorTable(folder, options=options)
    if count:
        table.write(papers(range(count)), clustered(count) if vectors is None else vectors, IDENTITY)
        table.finish()
    return table


def recall(table: VectorTable, queries: np.ndarray, admission: Admission, k: int = 20) -> float:
    shares = []
    for query in queries:
        true = {hit.paper_id for hit in table.nearest(query, k, admission, exact=True)}
        shares.append(len(true & {hit.paper_id for hit in table.nearest(query, k, admission)}) / len(true))
    return float(np.mean(shares))


@pytest.mark.parametrize("rows", [0, 20, 300])
def test_vx04_below_the_threshold_search_is_exact_and_above_it_the_index_comes_by_itself(tmp_path, rows):
    table = filled(tmp_path, rows, replace(SMALL, min_rows=400))
    assert table.vector_index is None
    assert len(table.nearest(clustered(1)[0], 10, Admission(NEWEST, with_withdrawn=True))) == min(10, rows)
    table.write(papers(range(rows, 500)), clustered(500)[rows:], IDENTITY)
    table.finish()
    assert table.vector_index.kind == "IVF_RQ"
    assert recall(table, clustered(500)[::50], Admission(NEWEST)) >= 0.95
    table.delete([f"2001.{n:06}" for n in range(200)])
    table.finish()
    assert table.vector_index is None
    assert len(table.nearest(clustered(1)[0], 10, Admission(NEWEST))) == 10


def test_vx05_the_cutoff_is_applied_before_the_search_through_the_index(tmp_path):
    vectors = clustered(1000)
    table = VectorTable(tmp_path, options=replace(SMALL, exact_rows=1))
    few = papers(range(1000)).with_columns(
        pl.when(pl.int_range(pl.len()) % 100 == 50).then(date(2019, 1, 1)).otherwise(date(2025, 6, 1))
        .alias("submitted_latest")
    )  # fmt: skip
    table.write(few, vectors, IDENTITY)
    table.finish()
    assert table.vector_index is not None
    old = set(few.filter(pl.col("submitted_latest") < date(2020, 1, 1))["paper_id"])
    assert len(old) == 10
    for query in vectors[::100]:
        hits = table.nearest(query, 10, Admission(date(2019, 12, 31)))
        assert {hit.paper_id for hit in hits} == old
        assert hits == table.nearest(query, 10, Admission(date(2019, 12, 31)), exact=True)


def test_vx08_merge_optimise_and_merge_again_changes_the_vectors_that_are_found(tmp_path):
    table = filled(tmp_path, 600)
    for seed in (2, 3, 4):
        vectors = clustered(600, seed)
        table.write(papers(range(600)), vectors, IDENTITY)
        table.finish()
        assert table.count() == 600
        for n in (0, 250, 598):
            (hit,) = table.nearest(vectors[n], 1, Admission(NEWEST, with_withdrawn=True))
            assert hit.paper_id == f"2001.{n:06}"
            assert hit.score == pytest.approx(1, abs=1e-5)


def test_vx10_an_index_made_of_200_rows_is_made_again_when_there_are_20_000(tmp_path):
    vectors = clustered(20_000)
    table = filled(tmp_path, 200, vectors=vectors[:200])
    assert table.vector_index.made_of == 200
    table.write(papers(range(200, 20_000)), vectors[200:], IDENTITY)
    new = table.nearest(vectors[15_000], 1, Admission(NEWEST))  # before the index knows of it
    assert new[0].paper_id == "2001.015000"
    table.finish()
    record = table.vector_index
    assert (record.kind, record.made_of) == ("IVF_RQ", 20_000)
    assert record.recall["100%"] >= SMALL.floor
    assert recall(table, vectors[::1000], Admission(NEWEST)) >= 0.95


def test_rows_written_since_lead_to_a_measurement_and_poor_recall_to_a_new_index(tmp_path, monkeypatch):
    table = filled(tmp_path, 1000)
    made = table.vector_index
    table.write(papers(range(1000, 1050)), clustered(50, 5), IDENTITY)
    table.finish()
    assert table.vector_index == replace(made, drift=50)
    table.write(papers(range(1050, 1150)), clustered(100, 6), IDENTITY)
    table.finish()
    assert (table.vector_index.made_of, table.vector_index.drift) == (1000, 0)
    real = vector_guard._measured
    answers = iter(["exact"])

    def measured(*given):
        found = real(*given)
        return replace(found, kind=next(answers, found.kind))

    monkeypatch.setattr(vector_guard, "_measured", measured)
    table.write(papers(range(1150, 1300)), clustered(150, 7), IDENTITY)
    table.finish()
    assert (table.vector_index.kind, table.vector_index.made_of) == ("IVF_RQ", 1300)


def test_an_index_that_does_not_reach_its_floor_is_not_used(tmp_path):
    table = filled(
        tmp_path,
        500,
        replace(SMALL, bits=1, refine=1, floor=1.0),
        np.random.default_rng(0).standard_normal((500, SIZE)).astype(np.float32),
    )
    record = vector_index.read(tmp_path, "paper_vectors")
    assert record.kind == "exact"
    assert record.recall["100%"] < 1
    assert table.vector_index is None
    assert recall(table, clustered(5), Admission(NEWEST)) == 1


def test_without_a_readable_record_or_before_the_index_was_made_search_is_exact(tmp_path):
    table = filled(tmp_path, 500)
    version = table.version
    assert table.vector_index is not None
    early = VectorTable(tmp_path, version=2, options=SMALL)
    assert early.count() == 500
    assert early.vector_index is None
    assert VectorTable(tmp_path, version=version, options=SMALL).vector_index is not None
    (tmp_path / "paper_vectors.vectors.json").write_text("{")
    assert VectorTable(tmp_path, options=SMALL).vector_index is None
    assert table.vector_index is None
    table.finish()
    assert table.vector_index is not None


def test_filters_hold_through_the_index_and_equal_vectors_are_ordered_by_id(tmp_path):
    vectors = clustered(600)
    vectors[100:160] = vectors[100]
    table = filled(tmp_path, 600, vectors=vectors)
    admission = Admission(NEWEST)
    equal = [f"2001.{n:06}" for n in range(100, 160) if n % 50 != 49]
    for k in (1, 10, 40):
        assert [hit.paper_id for hit in table.nearest(vectors[100], k, admission)] == equal[:k]
    some = Admission(NEWEST, excluded=equal[:5], within=equal[:8])
    assert [hit.paper_id for hit in table.nearest(vectors[100], 10, some)] == equal[5:8]
    without = Admission(NEWEST, excluded=equal)
    assert not {hit.paper_id for hit in table.nearest(vectors[100], 60, without)} & set(equal)
    assert len(table.nearest(vectors[100], 600, admission)) == 588
    assert len(table.nearest(vectors[100], 700, Admission(NEWEST, with_withdrawn=True))) == 600
    assert table.nearest(vectors[100], 5, Admission(date(2019, 1, 1))) == []


def test_the_true_neighbours_of_the_guard_are_those_of_exact_search(tmp_path):
    table = filled(tmp_path, 700)
    queries, cutoffs = clustered(5, 9), [date(2020, 6, 1), NEWEST]
    for cutoff, names in zip(cutoffs, vector_guard.nearest_exactly(table, queries, cutoffs), strict=True):
        for query, found in zip(queries, names, strict=True):
            exact = table.nearest(query, vector_guard.DEPTH, Admission(cutoff), exact=True)
            assert {hit.paper_id for hit in exact} == found


@pytest.mark.parametrize("options", [{"bits": 0}, {"refine": 0}, {"floor": 1.1}, {"growth": 1.0}, {"drift": 0}])
def test_options_out_of_range_are_refused(options):
    with pytest.raises(BadInput, match="out of range"):
        SearchOptions(**options)


def test_pieces_use_the_same_index(tmp_path, make_fake):
    index = PieceIndex(tmp_path, "passages", make_fake(), options=SMALL)
    rows = [
        {"piece_id": f"p{n}/1", "paper_id": f"p{n}", "source_hash": "s", "submitted_latest": DAY,
         "is_withdrawn": False, "text": f"word{n} of group{n % 7} and kind{n % 11}"}
        for n in range(400)
    ]  # fmt: skip
    index.update([pl.DataFrame(rows, schema=COLUMNS)])
    assert index.vector_index.kind == "IVF_RQ"
    for n in (3, 200, 399):
        query = f"word{n} of group{n % 7} and kind{n % 11}"
        assert index.dense(query, 1, cutoff=DAY)[0].score == pytest.approx(1, abs=1e-5)
        assert [h.paper_id for h in index.dense(query, 3, cutoff=DAY, within=[f"p{n}"])] == [f"p{n}/1"]
