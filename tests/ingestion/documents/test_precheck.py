"""What bytes and PDFium tell of a file before it is parsed."""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.documents.parsing.opening import Unreadable, check_text_layer, extract, open_pdf, readable_pages
from ingestion.documents.parsing.precheck import take_in
from ingestion.documents.statuses import MEANINGS, ParseOutcome

from .conftest import locked, make_page, make_pdf, make_prose

ONE = make_pdf([make_prose(1)])
DRAW = b"q 600 0 0 700 0 0 cm /Im Do Q "


@pytest.fixture
def copies(tmp_path: Path) -> Iterator[Path]:
    numbers = iter(range(1000))
    return (tmp_path / f"copy{number}" for number in numbers)


@pytest.mark.parametrize(
    ("name", "data", "status"),
    [
        ("paper.pdf", b"<!DOCTYPE html><html><title>Error</title>", "not_pdf"),
        ("paper.pdf", b"\n\n<?xml version='1.0'?>", "not_pdf"),
        ("download", ONE, None),
        ("page.html", ONE, None),
        ("late.pdf", b"\0" * 1000 + ONE, None),
        ("later.pdf", b"\0" * 1024 + ONE, "not_pdf"),
        ("empty.pdf", b"", "empty_file"),
    ],
)
def test_pd11_first_bytes_decide_and_not_the_name(pdf_file, copies, name, data, status):
    taken = take_in(pdf_file(name, data=data), next(copies), 10**6)
    assert taken.status == status
    assert (taken.sha256, taken.size_bytes) == (hashlib.sha256(data).hexdigest(), len(data))


def test_what_is_no_pdf_is_shown(pdf_file, copies):
    assert "<html>" in take_in(pdf_file("a.pdf", data=b"  <html>"), next(copies), 100).note


def test_a_file_beyond_the_size_limit_is_not_read(pdf_file, copies):
    copy = next(copies)
    taken = take_in(pdf_file("large.pdf"), copy, 100)
    assert (taken.status, taken.sha256) == ("too_large", "")
    assert not copy.exists()


def test_what_is_no_file_is_an_error_and_never_waited_for(tmp_path, copies):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", tmp_path / "absent"):
        with pytest.raises(OSError, match=r"regular|No such"):
            take_in(path, next(copies), 100)


@given(data=st.binary(max_size=2000) | st.binary(max_size=50).map(lambda junk: junk + ONE))
def test_any_bytes_are_copied_whole_or_given_a_status(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("any")
    (folder / "file").write_bytes(data)
    taken = take_in(folder / "file", folder / "copy", 10**6)
    assert taken.status in (None, "not_pdf", "empty_file")
    assert (folder / "copy").read_bytes() == data


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (locked(ONE, user_password="secret"), "encrypted"),
        (ONE[:400], "corrupt"),
        (b"%PDF-1.5\nnothing of a PDF follows", "corrupt"),
        (make_pdf([]), "corrupt"),
    ],
    ids=["encrypted", "truncated", "junk", "no-pages"],
)
def test_pd04_encrypted_and_damaged_files_are_told_apart(pdf_file, data, status):
    with pytest.raises(Unreadable) as caught:
        open_pdf(pdf_file("a.pdf", data=data))
    assert caught.value.status == status


def test_a_file_with_an_owner_password_only_opens(pdf_file):
    pdf = open_pdf(pdf_file("a.pdf", data=locked(ONE, owner_password="secret")))
    check_text_layer(pdf, 400)
    assert "line 7 of page 1" in pdf[0].get_textpage().get_text_range()


def test_pd04_pages_that_are_images_have_no_text_layer(pdf_file):
    stamp = DRAW + make_page("arXiv:2005.11401v4")
    for page in (DRAW, stamp):
        with pytest.raises(Unreadable) as caught:
            check_text_layer(open_pdf(pdf_file("a.pdf", page, page, image=True)), 400)
        assert caught.value.status == "no_text_layer"


def test_pd12_many_pages_without_text_have_no_text_layer(pdf_file):
    with pytest.raises(Unreadable, match="0 characters a page on average, over 244 pages") as caught:
        check_text_layer(open_pdf(pdf_file("a.pdf", *[b""] * 244)), 400)
    assert caught.value.status == "no_text_layer"


def test_few_words_without_an_image_are_left_to_the_parser(pdf_file):
    check_text_layer(open_pdf(pdf_file("a.pdf", make_page("A few words"))), 400)


def test_text_outside_the_sample_counts(pdf_file):
    """Ten pages of forty are looked at first; here all the text lies between them."""
    pages = [make_prose(i) if i == 1 else DRAW for i in range(40)]
    check_text_layer(open_pdf(pdf_file("a.pdf", *pages, image=True)), 400)


def test_page_ranges_keep_their_pages(pdf_file):
    pdf = open_pdf(pdf_file("a.pdf", *map(make_prose, range(1, 8))))
    part = open_pdf(pdf_file("part.pdf", data=extract(pdf, range(2, 5))))
    texts = [page.get_textpage().get_text_range() for page in part]
    assert ["line 1 of page 3" in texts[0], "line 1 of page 5" in texts[2], len(texts)] == [True, True, 3]


def test_damaged_pages_are_told_from_good_ones(pdf_file):
    data = make_pdf(list(map(make_prose, range(1, 4)))).replace(b" 7 0 R ", b" 0 0 R ", 1)
    assert readable_pages(open_pdf(pdf_file("a.pdf", data=data)), 400) == [0, 2]


def test_every_failure_has_advice_and_only_a_parsed_file_has_none():
    assert [status for status, meaning in MEANINGS.items() if not meaning.advice] == ["parsed"]


def test_pd04_retry_policies_differ():
    retries = {status: MEANINGS[status].retry for status in ("encrypted", "no_text_layer", "timeout", "not_yet")}
    assert retries == {
        "encrypted": "new_file", "no_text_layer": "other_parser", "timeout": "other_limits", "not_yet": "later",
    }  # fmt: skip


def test_pd12_success_without_a_document_cannot_be_stated():
    with pytest.raises(ValueError, match="without a document"):
        ParseOutcome("parsed", "", 10)
