import pytest

from indexes import built_from
from indexes.built_from import BuiltFrom
from indexes.embedding import EmbedderIdentity
from ingestion.errors import NotFound, PermanentFailure

RECORD = BuiltFrom("abc", 3, {"paper_text": 7}, EmbedderIdentity("fake", "f" * 64, 128, 32))


def test_what_is_written_is_read(tmp_path):
    built_from.write(tmp_path, RECORD)
    assert built_from.read(tmp_path) == RECORD
    assert [path.name for path in tmp_path.iterdir()] == ["built_from.json"]


def test_the_same_record_is_not_written_again(tmp_path):
    built_from.write(tmp_path, RECORD)
    before = (tmp_path / "built_from.json").stat().st_mtime_ns
    built_from.write(tmp_path, RECORD)
    assert (tmp_path / "built_from.json").stat().st_mtime_ns == before


@pytest.mark.parametrize("content", ["", "{", "[]", '{"format": 99}', '{"format": 1, "embedder": null, "odd": 1}'])
def test_a_record_that_cannot_be_read_is_none(tmp_path, content):
    (tmp_path / "built_from.json").write_text(content)
    assert built_from.read(tmp_path) is None
    with pytest.raises(NotFound, match="lithouse refresh"):
        built_from.require(tmp_path, "abc")


def test_another_snapshot_is_refused_naming_both(tmp_path):
    built_from.write(tmp_path, RECORD)
    built_from.require(tmp_path, "abc")
    with pytest.raises(PermanentFailure, match=r"index abc, corpus def.*lithouse refresh"):
        built_from.require(tmp_path, "def")


def test_an_unfinished_update_is_of_no_snapshot(tmp_path):
    built_from.write(tmp_path, RECORD)
    built_from.mark_unfinished(tmp_path, "def")
    for snapshot in ("abc", "def"):
        with pytest.raises(NotFound, match="def was not finished"):
            built_from.require(tmp_path, snapshot)
