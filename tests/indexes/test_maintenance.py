"""Upkeep of the index: what is pinned stays readable, what nobody needs goes, kills in between harm nothing."""

import os
import time
from datetime import date, timedelta

import polars as pl
import pytest

from indexes import built_from
from indexes.lance_table import LanceTable
from indexes.maintenance import maintain
from indexes.paper_index import PaperIndex
from indexes.piece_index import COLUMNS, PieceIndex
from ingestion.errors import BadInput, NotFound, PermanentFailure

pytestmark = pytest.mark.run

DAY = date(2024, 12, 31)
AT_ONCE = timedelta(0)


def papers(word: str, count: int = 30) -> list[tuple[str, str, str | None]]:
    return [(f"2401.{n:05}", f"{word} number{n}", f"About the {word}.") for n in range(count)]


def grown(build, frame, *words: str) -> tuple[PaperIndex, list[dict[str, int]]]:
    """An index that went through snapshots, each of one word, with its versions at each."""
    index = build(frame(papers(words[0])))
    history = []
    for word in words:
        index.update(frame(papers(word)), snapshot=word)
        index.embed([paper[0] for paper in papers(word)])
        history.append(index.versions())
    return index, history


def found(index: PaperIndex, word: str) -> int:
    return len(index.full_text(word, 100, cutoff=DAY))


def test_each_snapshot_can_be_opened_by_its_tag_and_by_its_versions(build, frame, fake):
    index, history = grown(build, frame, "badger", "otter")
    for word, versions in zip(("badger", "otter"), history, strict=True):
        for then in (
            PaperIndex.open(index.folder, embedder=fake, tag=word),
            PaperIndex.open(index.folder, embedder=fake, versions=versions),
        ):
            assert then.versions() == versions
            assert (found(then, word), len(then.dense(word, 5, cutoff=DAY))) == (30, 5)
            assert found(then, {"badger": "otter", "otter": "badger"}[word]) == 0
            then.require(word)
            with pytest.raises(PermanentFailure, match="another snapshot"):
                then.require("neither")
            for write in (lambda t=then: t.update(frame(papers("x")), snapshot="x"), lambda t=then: t.embed(["a"])):
                with pytest.raises(PermanentFailure, match="cannot be written"):
                    write()
    assert index.tags() == dict(zip(("badger", "otter"), history, strict=True)) | {"first": index.tags()["first"]}


def test_an_old_version_that_was_overtaken_just_now_stays_for_who_reads_it(build, frame, fake):
    index = build(frame(papers("badger")))
    held = index.versions()
    long_ago = time.time() - 3 * 24 * 3600
    for manifest in (index.folder / "paper_text.lance" / "_versions").glob("*.manifest"):
        os.utime(manifest, (long_ago, long_ago))
    index.update(frame(papers("otter")), snapshot="second")
    maintain(index.folder, {}, retain=timedelta(hours=24))
    assert found(PaperIndex.open(index.folder, embedder=fake, versions=held), "badger") == 30


def test_upkeep_after_an_update_that_died_names_no_rows_by_its_snapshot(build, frame):
    index = build(frame(papers("badger")))
    for count in range(31, 34):  # several files to join
        index.update(frame(papers("badger", count)), snapshot=f"s{count}")
    built_from.mark_unfinished(index.folder, "other")
    maintain(index.folder, {}, retain=AT_ONCE)
    assert "other" not in index.tags()


def test_before_there_were_vectors_there_are_none(build, frame, fake):
    index = build(frame(papers("badger")))
    before = index.versions()
    index.embed([paper[0] for paper in papers("badger")])
    then = PaperIndex.open(index.folder, embedder=fake, versions=before)
    assert then.dense("badger", 3, cutoff=DAY) == []
    assert then.versions() == before


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"tag": "never"}, NotFound, "no such tag"),
        ({"versions": {"paper_text": 10_000}}, NotFound, "no such version.*10000"),
        ({"versions": {"paper_vectors": 1}}, BadInput, "full text"),
        ({"versions": {"paper_text": 1}, "tag": "first"}, BadInput, "both"),
    ],
)
def test_times_that_cannot_be_looked_at_are_refused(build, frame, options, error, message):
    index = build(frame(papers("badger")))
    with pytest.raises(error, match=message):
        PaperIndex.open(index.folder, **options).full_text("badger", 1, cutoff=DAY)


def test_upkeep_keeps_what_is_pinned_and_the_newest_and_frees_the_rest(build, frame, fake):
    index, history = grown(build, frame, "badger", "otter", "heron", "walrus")
    pinned = {table: [version] for table, version in history[1].items()}
    done = {table.table: table for table in maintain(index.folder, pinned, retain=AT_ONCE)}
    assert set(done) == {"paper_text", "paper_vectors"}
    for name, table in done.items():
        assert table.versions_removed
        assert table.bytes_after < table.bytes_before
        assert pinned[name][0] in table.versions_kept
        assert table.version in table.versions_kept
        assert not set(table.versions_removed) & set(table.versions_kept)
        assert table.versions_missing == ()
    then = PaperIndex.open(index.folder, embedder=fake, versions=history[1])
    assert (found(then, "otter"), len(then.dense("otter", 5, cutoff=DAY))) == (30, 5)
    now = PaperIndex.open(index.folder, embedder=fake)
    assert (found(now, "walrus"), found(now, "badger")) == (30, 0)
    assert now.built_from.versions == now.versions()
    assert sorted(now.tags()) == ["otter", "walrus"]
    with pytest.raises(NotFound):
        found(PaperIndex.open(index.folder, versions=history[0]), "badger")
    assert now.update(frame(papers("walrus")), snapshot="walrus").unchanged == 30
    again = maintain(index.folder, pinned, retain=AT_ONCE)
    assert [table.versions_removed for table in again] == [(), ()]
    assert [table.bytes_after for table in again] == [table.bytes_after for table in done.values()]


def test_young_versions_stay_and_lost_ones_are_named(build, frame):
    index, history = grown(build, frame, "badger", "otter")
    (text, _) = maintain(index.folder, {"paper_text": [10_000]})
    assert (text.versions_removed, text.versions_missing) == ((), (10_000,))
    assert set(history[0].values()) <= set(text.versions_kept)


def test_an_open_index_goes_on_after_its_upkeep(build, frame):
    index, history = grown(build, frame, "badger", "otter")
    (text, vectors) = index.maintain({"paper_text": [history[0]["paper_text"]]}, retain=AT_ONCE)
    assert history[0]["paper_text"] in text.versions_kept
    assert history[0]["paper_vectors"] in vectors.versions_removed
    assert (found(index, "otter"), len(index.dense("otter", 5, cutoff=DAY))) == (30, 5)
    assert index.versions() == {"paper_text": text.version, "paper_vectors": vectors.version}
    assert index.update(frame(papers("heron")), snapshot="heron").changed == 30


def test_a_table_that_the_index_does_not_have_is_refused_and_an_absent_one_left_out(tmp_path):
    assert maintain(tmp_path / "none", {"cards": [1]}) == []
    with pytest.raises(BadInput, match=r"does not have: index/cards\. Its tables are paper_text"):
        maintain(tmp_path, {"index/cards": [1]})


def test_upkeep_killed_between_manifests_and_files_goes_on(build, frame, monkeypatch):
    index, history = grown(build, frame, "badger", "otter", "heron")
    pinned = {"paper_text": [history[0]["paper_text"]]}
    size = sum(file.stat().st_size for file in index.folder.rglob("*.lance") if file.is_file())
    table = type(index._text.table)
    real, calls = table.optimize, []

    def killed(self, **options):
        calls.append(options)
        if options.get("delete_unverified"):
            raise KeyboardInterrupt
        return real(self, **options)

    monkeypatch.setattr(table, "optimize", killed)
    with pytest.raises(KeyboardInterrupt):
        maintain(index.folder, pinned, retain=AT_ONCE)
    monkeypatch.undo()
    assert found(PaperIndex.open(index.folder, versions={"paper_text": pinned["paper_text"][0]}), "badger") == 30
    maintain(index.folder, pinned, retain=AT_ONCE)
    assert sum(file.stat().st_size for file in index.folder.rglob("*.lance") if file.is_file()) < size
    assert found(PaperIndex.open(index.folder), "heron") == 30
    assert built_from.read(index.folder).versions == PaperIndex.open(index.folder).versions()


def test_pieces_are_kept_up_too(tmp_path, fake):
    index = PieceIndex(tmp_path, "cards", fake)
    for n in range(4):
        row = {"piece_id": f"a/{n}", "paper_id": "a", "source_hash": f"s{n}", "submitted_latest": DAY,
               "is_withdrawn": False, "text": f"word{n} of a card"}  # fmt: skip
        index.update([pl.DataFrame([row], schema=COLUMNS)])
    middle = index.versions()[len(index.versions()) // 2]
    (done,) = index.maintain([middle], retain=AT_ONCE)
    assert (done.table, set(done.versions_kept)) == ("cards", {middle, done.version})
    assert PieceIndex(tmp_path, "cards", fake, version=middle).count() == LanceTable(tmp_path, "cards").count() == 1
    assert [hit.paper_id for hit in index.dense("word3", 1, cutoff=DAY)] == ["a/3"]
