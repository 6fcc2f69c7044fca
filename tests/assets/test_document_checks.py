"""Asset checks of the papers' texts, told of a fault that somebody put into the tables."""

from datetime import UTC, date, datetime
from pathlib import Path

import polars as pl
import pytest

from assets import checks
from assets.resources import House
from corpus.document_choice import Task
from corpus.document_rows import Read, rows_of
from corpus.documents import store_documents
from corpus.tables import Lake
from ingestion.documents.structure.document import from_markdown
from ingestion.held_files import HeldFile

pytestmark = pytest.mark.run

PAPER = "2401.00001"
NOW = datetime(2024, 5, 1, tzinfo=UTC)
TEXT = """# On memory

## 1 Introduction

Reading long texts needs memory, and slots of it are read by hashing [1].

## References

[1] E. Noether. Sparse slots for reading machines. 2023.
"""


@pytest.fixture
def house(tmp_path) -> House:
    file = HeldFile(PAPER, 1, "mirror:/m", Path("/m/pdf/x.pdf"), "pdf/x.pdf", 8, NOW)
    read = Read(
        Task(PAPER, date(2024, 1, 1), file, date(2024, 1, 5)), "ab" * 32, "parsed", False, "", (), "fake 1", "", 1, 0.1,
        from_markdown(TEXT),
    )  # fmt: skip
    store_documents(Lake(tmp_path), [rows_of(read, lambda text: len(text.split()), "d", NOW)])
    return House(tmp_path)


def change(house: House, table: str, *columns: pl.Expr) -> None:
    house.lake.replace(table, house.lake.read(table).with_columns(*columns), None)


_NAMES = ("parsed_documents_have_text", "documents_are_whole", "passages_stand_in_documents")


def failing(house: House) -> list[str]:
    told = {name: getattr(checks, name)(house=house) for name in _NAMES}
    return [name for name, result in told.items() if not result.passed]


def contract(house: House):
    """The contract check of `documents`."""
    [check] = [c for c in checks.contract_checks if next(iter(c.check_keys)).name == "documents_contract"]
    return check(house=house)


def test_what_was_read_passes(house) -> None:
    assert failing(house) == []
    assert contract(house).passed


@pytest.mark.parametrize("empty", [None, ""])
def test_a_parsed_document_without_text_is_found(house, empty) -> None:
    change(house, "documents", pl.lit(empty, pl.String).alias("markdown"))
    assert failing(house) == ["parsed_documents_have_text", "passages_stand_in_documents"]


def test_a_document_that_counts_no_passage_is_found(house) -> None:
    change(house, "documents", pl.lit(0, pl.Int32).alias("passage_count"))
    assert failing(house) == ["parsed_documents_have_text", "documents_are_whole"]


@pytest.mark.parametrize("table", ["sections", "passages", "bibliography"])
def test_rows_that_were_lost_are_found(house, table) -> None:
    house.lake.replace(table, house.lake.read(table).clear(), None)
    assert failing(house) == ["documents_are_whole"]
    [culprit] = checks.documents_are_whole(house=house).metadata["not_whole"].value
    assert culprit.startswith(f"{PAPER}: 0 of ")


def test_a_passage_that_stands_elsewhere_is_found(house) -> None:
    change(house, "passages", pl.col("start_char") + 1)
    assert failing(house) == ["passages_stand_in_documents"]


def test_a_row_stored_twice_is_found(house) -> None:
    from deltalake import write_deltalake

    row = house.lake.read("documents").with_columns(pl.lit("other").alias("title"))
    write_deltalake(str(house.lake.folder("documents")), row.to_arrow(), mode="append")
    assert not contract(house).passed
