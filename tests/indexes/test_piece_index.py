"""Passages and cards in the index: whole sources, nothing embedded twice, the same filters as papers."""

import threading
from datetime import date

import numpy as np
import polars as pl
import pytest

from indexes.piece_index import COLUMNS, PieceIndex
from ingestion.errors import BadInput, PermanentFailure

CUTOFF = date(2024, 6, 30)


def pieces(paper_id: str, source: str, *texts: str, day: date = date(2024, 1, 1), withdrawn: bool = False):
    rows = [
        {"piece_id": f"{paper_id}/{source}{n}", "paper_id": paper_id, "source_hash": source, "submitted_latest": day,
         "is_withdrawn": withdrawn, "text": text}
        for n, text in enumerate(texts, start=1)
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=COLUMNS)


@pytest.fixture
def index(tmp_path, make_fake) -> PieceIndex:
    return PieceIndex(tmp_path, "passages", make_fake())


def found(index: PieceIndex, query: str, k: int = 10, **options) -> list[str]:
    return [hit.paper_id for hit in index.dense(query, k, **{"cutoff": CUTOFF, **options})]


def test_an_index_without_rows_finds_nothing(index) -> None:
    assert found(index, "memory") == []
    assert index.full_text("memory", 3, cutoff=CUTOFF) == []
    assert index.sources(["a"]) == set()


def test_the_nearest_pieces_come_first_and_filters_hold(index) -> None:
    index.update([
        pieces("a", "s", "sparse memory layers", "dense attention"),
        pieces("b", "s", "sparse memory", day=date(2024, 7, 1)),
        pieces("c", "s", "sparse memory", withdrawn=True),
    ])  # fmt: skip
    assert found(index, "sparse memory layers", 1) == ["a/s1"]
    assert sorted(found(index, "sparse memory")) == ["a/s1", "a/s2"]
    assert sorted(found(index, "sparse memory", with_withdrawn=True)) == ["a/s1", "a/s2", "c/s1"]
    assert sorted(found(index, "sparse memory", cutoff=date(2024, 7, 1))) == ["a/s1", "a/s2", "b/s1"]
    assert found(index, "sparse memory", within=["b"], cutoff=date(2024, 7, 1)) == ["b/s1"]
    assert found(index, "sparse memory", excluded=["a"]) == []
    assert [h.paper_id for h in index.full_text("Attention!", 3, cutoff=CUTOFF)] == ["a/s2"]


def test_a_source_is_embedded_once_and_gives_way_to_its_successor(index) -> None:
    index.update([pieces("a", "s", "one", "two"), pieces("b", "s", "three")])
    report = index.update([pieces("a", "s", "one", "two"), pieces("b", "t", "four")])
    assert (report.embedded, report.reused) == (1, 2)
    assert index.embedder.asked == ["one", "two", "three", "four"]
    assert index.sources(["a", "b"]) == {("a", "s"), ("b", "t")}
    assert found(index, "four", 1, within=["b"]) == ["b/t1"]
    version = index.version
    assert index.update([pieces("a", "s", "one", "two")]).embedded == 0
    assert index.version == version


def test_a_killed_update_goes_on_where_it_was(tmp_path, make_fake) -> None:
    many = [pieces(f"p{n}", "s", *(f"word{n} number{i}" for i in range(150))) for n in range(4)]
    embedder = make_fake()
    embedder.stop_after = 1
    with pytest.raises(KeyboardInterrupt):
        PieceIndex(tmp_path, "passages", embedder).update([pl.concat(many)])
    embedder.stop_after = None
    again = PieceIndex(tmp_path, "passages", embedder)
    assert again.sources([f"p{n}" for n in range(4)]) == {("p0", "s"), ("p1", "s")}
    assert again.update(many).embedded == 300
    assert len(embedder.asked) == len(set(embedder.asked)) == 600


def test_a_piece_without_a_vector_is_told_and_the_others_stand(index) -> None:
    index.embedder.nan_for = "broken"
    report = index.update([pieces("a", "s", "fine", "broken one")])
    assert [name for name, _ in report.skipped] == ["a/s2"]
    assert found(index, "fine") == ["a/s1"]


def test_another_embedder_and_unusable_pieces_are_refused(index, make_fake, tmp_path) -> None:
    index.update([pieces("a", "s", "one")])
    other = PieceIndex(tmp_path, "passages", make_fake("other"))
    with pytest.raises(PermanentFailure, match="another embedder"):
        other.dense("one", 1, cutoff=CUTOFF)
    with pytest.raises(PermanentFailure, match="another embedder"):
        other.update([pieces("b", "s", "one")])
    double = pl.concat([pieces("b", "s", "one")] * 2)
    for frame, message in (
        (double, "comes twice"),
        (double.drop("text"), "other columns"),
        (pieces("b", "s", "one").with_columns(pl.lit(None, pl.String).alias("text")), "lack a value"),
    ):
        with pytest.raises(BadInput, match=message):
            index.update([frame])
    for query in (np.zeros(32, np.float32), np.ones(3, np.float32)):
        with pytest.raises(BadInput, match="not usable"):
            index.dense(query, 1, cutoff=CUTOFF)
    assert index.count() == 1


def test_progress_counts_pieces(index) -> None:
    told: list[tuple[int, int]] = []
    index.update([pieces("a", "s", "one", "two")], progress=lambda done, total: told.append((done, total)), total=2)
    assert told == [(2, 2)]


def test_several_writers_at_once_leave_each_piece_once_and_embed_it_once(tmp_path, make_fake) -> None:
    embedders = [make_fake() for _ in range(3)]
    errors: list[Exception] = []

    def write(embedder) -> None:
        try:
            for n in range(8):
                names = (f"word{n} number{i}" for i in range(5))
                PieceIndex(tmp_path, "passages", embedder).update([pieces(f"p{n}", "s", *names)])
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=write, args=(e,)) for e in embedders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    index = PieceIndex(tmp_path, "passages", make_fake())
    assert (index.count(), len(index.sources([f"p{n}" for n in range(8)]))) == (40, 8)
    assert len([text for e in embedders for text in e.asked]) == 40


def test_an_update_killed_behind_its_rows_is_finished_by_the_next(tmp_path, make_fake, monkeypatch) -> None:
    def killed(*_, **__):
        raise KeyboardInterrupt

    first = PieceIndex(tmp_path, "passages", make_fake())
    monkeypatch.setattr(first, "current", killed)
    with pytest.raises(KeyboardInterrupt):
        first.update([pieces("a", "s", "sparse memory")])
    index = PieceIndex(tmp_path, "passages", make_fake())
    assert (index.sources(["a"]), index.is_whole()) == ({("a", "s")}, False)
    assert index.update([pieces("a", "s", "sparse memory")]).embedded == 0
    assert index.is_whole()
    assert [h.paper_id for h in index.full_text("memory", 3, cutoff=CUTOFF)] == ["a/s1"]


def test_sources_that_are_kept_stay_beside_the_new_one(index) -> None:
    index.update([pieces("a", "v1", "one")])
    index.update([pieces("a", "v2", "two")], kept=[("a", "v1")])
    assert index.sources(["a"]) == {("a", "v1"), ("a", "v2")}
    index.update([pieces("a", "v3", "three")], kept=[("a", "v2")])
    assert index.sources(["a"]) == {("a", "v2"), ("a", "v3")}
