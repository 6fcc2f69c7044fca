"""The snapshot source: a file or a folder, and which of its files hold records."""

import gzip
import json

import polars as pl
import pytest

from ingestion.errors import BadInput, NotFound
from ingestion.snapshot import open_snapshot


def ids(snapshot) -> list[str]:
    return [i for name in snapshot.record_files for batch in snapshot.read(name) for i in batch.frame["source_id"]]


def lines(*records: dict) -> str:
    return "".join(json.dumps(r) + "\n" for r in records)


def test_one_file_is_a_snapshot_in_each_of_its_forms(tmp_path, record) -> None:
    (tmp_path / "a.jsonl").write_text(lines(record("2401.00001")))
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(lines(record("2401.00002")).encode()))
    pl.DataFrame({"id": ["2401.00003"], "title": ["T"]}).write_parquet(tmp_path / "c.parquet")
    for name, paper in {"a.jsonl": "2401.00001", "b.jsonl.gz": "2401.00002", "c.parquet": "2401.00003"}.items():
        snapshot = open_snapshot(tmp_path / name)
        assert ids(snapshot) == [paper]
        assert snapshot.name == f"snapshot:{tmp_path}/{name}"
        assert [f.path for f in snapshot.files()] == [name]


def test_of_a_folder_the_files_without_id_and_title_are_named_and_skipped(tmp_path, record) -> None:
    pl.DataFrame({"id": ["2401.00003"], "title": ["T"]}).write_parquet(tmp_path / "papers_2024.parquet")
    pl.DataFrame({"id": ["2401.00003"], "label": ["x"]}).write_parquet(tmp_path / "papers_labels.parquet")
    pl.DataFrame({"id": ["1"], "title": ["another pattern"]}).write_parquet(tmp_path / "vectors.parquet")
    (tmp_path / "more.jsonl").write_text("{broken\n" + lines(record("2401.00001")))
    (tmp_path / "topics.jsonl.gz").write_bytes(gzip.compress(lines({"date": "2024-01-01", "topic": "x"}).encode()))
    (tmp_path / "words.jsonl").write_text("plain words\n")
    (tmp_path / "README.md").write_text("notes")
    snapshot = open_snapshot(tmp_path)
    assert snapshot.record_files == ("more.jsonl", "papers_2024.parquet")
    assert ids(snapshot) == ["2401.00001", "2401.00003"]
    assert dict(snapshot.skipped_files) == {
        "papers_labels.parquet": "holds no title",
        "topics.jsonl.gz": "holds no id and no title",
        "words.jsonl": "no line of it is a JSON object",
    }


def test_a_damaged_file_is_no_other_data_set_its_damage_is_told_when_it_is_read(tmp_path, record) -> None:
    (tmp_path / "papers_1.parquet").write_bytes(b"PAR1 cut")
    whole = gzip.compress(lines(*(record(f"2401.{n:05d}") for n in range(1, 300))).encode())
    (tmp_path / "cut.jsonl.gz").write_bytes(whole[:20])
    (tmp_path / "empty.jsonl").write_bytes(b"")
    snapshot = open_snapshot(tmp_path)
    assert snapshot.record_files == ("cut.jsonl.gz", "empty.jsonl", "papers_1.parquet")
    failures = {name: [f.item for b in snapshot.read(name) for f in b.failures] for name in snapshot.record_files}
    assert failures == {"cut.jsonl.gz": ["cut.jsonl.gz"], "empty.jsonl": [], "papers_1.parquet": ["papers_1.parquet"]}


def test_what_is_no_snapshot_is_refused_with_the_reason(tmp_path) -> None:
    with pytest.raises(NotFound, match="no snapshot"):
        open_snapshot(tmp_path / "none")
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(BadInput, match=r"JSON lines: give it the ending \.jsonl"):
        open_snapshot(tmp_path / "notes.txt")
    (tmp_path / "topics.jsonl").write_text('{"date": "2024-01-01"}\n')
    with pytest.raises(BadInput, match="holds no id and no title"):
        open_snapshot(tmp_path / "topics.jsonl")
    with pytest.raises(NotFound, match=r"topics\.jsonl: holds no id"):
        open_snapshot(tmp_path)
