"""The mirror folder: what it may hold, what is refused before anything is read."""

import polars as pl
import pytest

from ingestion.errors import BadInput, NotFound
from ingestion.mirror import open_mirror


def ids(mirror) -> list[str]:
    return [i for name in mirror.record_files for batch in mirror.read(name) for i in batch.frame["source_id"]]


def test_metadata_comes_as_jsonl_gz_or_several_parquet_files(tmp_path, record, write_mirror) -> None:
    assert ids(open_mirror(write_mirror(tmp_path / "a", [record("2401.00001")]))) == ["2401.00001"]
    gz = write_mirror(tmp_path / "b", [], metadata_jsonl_gz=[record("2401.00002")])
    (gz / "metadata.jsonl").unlink()
    assert ids(open_mirror(gz)) == ["2401.00002"]
    for n in (2, 1):
        (tmp_path / "c").mkdir(exist_ok=True)
        pl.DataFrame({"id": [f"2401.0000{n}"], "title": ["T"]}).write_parquet(tmp_path / "c" / f"metadata_{n}.parquet")
    mirror = open_mirror(tmp_path / "c")
    assert ids(mirror) == ["2401.00001", "2401.00002"]
    assert [f.path for f in mirror.files()] == ["metadata_1.parquet", "metadata_2.parquet"]


@pytest.mark.parametrize("second", ["metadata.jsonl.gz", "metadata.parquet"])
def test_metadata_given_twice_is_refused_not_chosen_from(tmp_path, record, write_mirror, second) -> None:
    folder = write_mirror(tmp_path / "m", [record("2401.00001")])
    (folder / second).write_bytes(b"")
    with pytest.raises(BadInput, match="twice"):
        open_mirror(folder)


def test_a_missing_folder_and_one_without_metadata_are_not_found(tmp_path) -> None:
    with pytest.raises(NotFound, match="no mirror folder"):
        open_mirror(tmp_path / "none")
    (tmp_path / "file").write_text("x")
    with pytest.raises(NotFound, match="no mirror folder"):
        open_mirror(tmp_path / "file")
    with pytest.raises(NotFound, match=r"metadata\.jsonl"):
        open_mirror(tmp_path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "not a JSON object"),
        ("[]", "not a JSON object"),
        (b"\xff\xfe{}", "not a JSON object"),
        ({"abstract_origin": "invented"}, "unknown abstract_origin"),
        ({"abstract_origin": ["source"]}, "unknown abstract_origin"),
    ],
)
def test_a_mirror_json_that_cannot_be_read_is_refused(tmp_path, record, write_mirror, content, message) -> None:
    folder = write_mirror(tmp_path / "m", [record("2401.00001")], mirror_json=content)
    with pytest.raises(BadInput, match=message):
        open_mirror(folder)


def test_the_origin_of_abstracts_and_the_side_files_are_found(tmp_path, record, write_mirror) -> None:
    plain = open_mirror(write_mirror(tmp_path / "a", [record("2401.00001")]))
    assert (plain.abstract_origin, plain.citations, plain.outlines) == ("source", None, None)
    full = open_mirror(
        write_mirror(
            tmp_path / "b",
            [record("2401.00001")],
            mirror_json={"name": "sample", "abstract_origin": "summary by the project"},
            citations_jsonl_gz=[],
            outlines_jsonl=[],
        )
    )
    assert full.abstract_origin == "summary by the project"
    assert [f.path for f in full.files()] == ["metadata.jsonl", "citations.jsonl.gz", "outlines.jsonl"]


def test_two_mirrors_that_call_themselves_alike_are_two_sources(tmp_path, record, write_mirror, monkeypatch) -> None:
    one, two = (write_mirror(tmp_path / n, [record("2401.00001")], mirror_json={"name": "x"}) for n in "ab")
    assert open_mirror(one).name != open_mirror(two).name
    monkeypatch.chdir(tmp_path)
    assert open_mirror(one.relative_to(tmp_path)).name == open_mirror(one).name


def test_id06_pdfs_are_found_by_paper_and_odd_names_are_told(tmp_path, record, write_mirror) -> None:
    folder = write_mirror(tmp_path / "m", [record("2401.00001")])
    (folder / "pdf").mkdir()
    names = ["2401.00001v1.pdf", "2401.00001v2.pdf", "hep-th_9901001v1.pdf", "hep-ph_9901001.pdf", "notes.pdf", "x.txt"]
    for name in names:
        (folder / "pdf" / name).write_bytes(b"%PDF")
    assert open_mirror(folder).papers_with_files() == {
        "2401.00001": ["pdf/2401.00001v1.pdf", "pdf/2401.00001v2.pdf"],
        "hep-ph/9901001": ["pdf/hep-ph_9901001.pdf"],
        "hep-th/9901001": ["pdf/hep-th_9901001v1.pdf"],
        "": ["pdf/notes.pdf"],
    }


def test_a_mirror_is_read_never_written(tmp_path, record, write_mirror) -> None:
    folder = write_mirror(tmp_path / "m", [record("2401.00001")], citations_jsonl=[])
    for path in folder.iterdir():
        path.chmod(0o444)
    folder.chmod(0o555)
    before = sorted((p.name, p.stat().st_mtime_ns) for p in folder.iterdir())
    mirror = open_mirror(folder)
    assert ids(mirror) == ["2401.00001"]
    assert mirror.papers_with_files() == {}
    assert len(mirror.files()) == 2
    assert sorted((p.name, p.stat().st_mtime_ns) for p in folder.iterdir()) == before
    folder.chmod(0o755)
