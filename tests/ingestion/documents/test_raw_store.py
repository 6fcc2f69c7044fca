"""What parsers said, kept: whole or not at all, by content and parser."""

import pytest

from ingestion.documents.raw_store import RawStore, RawText, document_of, packed, unpacked
from ingestion.errors import BadInput

TEXT = RawText({"markdown": "# A title\n\n## 1 Method\n\nWe read.\n"}, 3, ("pages 1–3 of 4",))
SHA = "ab" * 32


def test_what_is_kept_comes_back_for_its_content_parser_and_tier_alone(tmp_path) -> None:
    store = RawStore(tmp_path / "raw")
    assert not store.holds("mineru-kit", "basic")
    store.put(SHA, "mineru-kit", "basic", packed(TEXT))
    assert store.get(SHA, "mineru-kit", "basic") == TEXT
    assert store.holds("mineru-kit", "basic")
    for sha256, parser, tier in (
        (SHA, "mineru-kit", "standard"),
        (SHA, "docvortex 0.6.4", ""),
        ("cd" * 32, "mineru-kit", "basic"),
    ):
        assert store.get(sha256, parser, tier) is None
    assert [p.name for p in tmp_path.rglob("*") if p.is_file()] == [f"{SHA}.json.gz"]


@pytest.mark.parametrize("data", [b"", b"\x1f\x8b", packed(TEXT)[:-5], b"[]", packed(TEXT)[:20] + b"x" * 40])
def test_what_is_not_whole_is_not_there(tmp_path, data) -> None:
    store = RawStore(tmp_path)
    store.put(SHA, "p", "", data)
    assert store.get(SHA, "p", "") is None
    with pytest.raises(ValueError, match=r"kept|JSON|unpack|empty"):
        unpacked(data)


def test_equal_texts_are_equal_bytes() -> None:
    assert packed(TEXT) == packed(RawText(dict(TEXT.payload), 3, TEXT.notes))


def test_markdown_becomes_a_document_with_the_files_pages() -> None:
    document = document_of(TEXT.payload, TEXT.page_count)
    assert (document.title, document.page_count) == ("A title", 3)
    assert [s.number for s in document.sections] == ["1"]
    with pytest.raises(BadInput):
        document_of({"something": "else"}, 1)
