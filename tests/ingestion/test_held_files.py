"""Files that a mirror holds of papers, whatever stands beside them."""

import os
from contextlib import contextmanager
from pathlib import Path

import pytest

from ingestion.held_files import held_files

PAPER, OLD = "2401.00001", "hep-th/9901001"


@pytest.fixture
def mirror(tmp_path: Path) -> Path:
    (tmp_path / "pdf").mkdir()
    return tmp_path


def names(mirror: Path, *papers: str) -> list[tuple[str, str, int | None]]:
    found, unreachable = held_files([f"mirror:{mirror}"], papers or (PAPER, OLD))
    assert not unreachable
    return sorted((paper, f.path.name, f.version) for paper, files in found.items() for f in files)


def put(mirror: Path, *files: str) -> None:
    for name in files:
        (mirror / "pdf" / name).write_bytes(b"%PDF-1.5")


def test_names_in_any_form_are_read(mirror) -> None:
    put(mirror, "2401.00001V2.PDF", "2401.00001.pdf", "hep-th_9901001v1.pdf", "hep-th9901001.pdf")
    assert names(mirror) == [
        (PAPER, "2401.00001.pdf", None),
        (PAPER, "2401.00001V2.PDF", 2),
        (OLD, "hep-th9901001.pdf", None),
        (OLD, "hep-th_9901001v1.pdf", 1),
    ]


def test_what_is_no_file_of_the_paper_is_passed_over(mirror) -> None:
    put(mirror, "2401.00001v0.pdf", "2401.000011.pdf", "2401.00001v1.pdf.part", "2401.00001v1.txt", "a2401.00001.pdf")
    (mirror / "pdf" / "2401.00001v3.pdf").mkdir()
    assert names(mirror) == []


def test_one_broken_link_hides_no_other_file(mirror) -> None:
    put(mirror, "2401.00001v1.pdf")
    circle, lost = mirror / "pdf" / "2401.00001v2.pdf", mirror / "pdf" / "2401.00001v3.pdf"
    circle.symlink_to(circle)
    lost.symlink_to(mirror / "nowhere.pdf")
    (mirror / "pdf" / "2401.00001v4.pdf").symlink_to(mirror / "pdf" / "2401.00001v1.pdf")
    assert names(mirror) == [(PAPER, "2401.00001v1.pdf", 1), (PAPER, "2401.00001v4.pdf", 4)]


class _Odd:
    """An entry of a folder whose time lies beyond any calendar; not every file system keeps such a time."""

    def __init__(self, entry: os.DirEntry) -> None:
        self._entry = entry
        self.name, self.path = entry.name, entry.path

    def is_file(self) -> bool:
        return self._entry.is_file()

    def stat(self) -> os.stat_result:
        facts = list(self._entry.stat())
        facts[8] = 10**12
        return os.stat_result(facts)


def test_a_time_no_calendar_has_hides_no_other_file(mirror, monkeypatch) -> None:
    put(mirror, "2401.00001v1.pdf", "2401.00001v2.pdf")
    real = os.scandir

    @contextmanager
    def scandir(folder):
        with real(folder) as entries:
            yield [_Odd(e) if "v2" in e.name else e for e in entries]

    monkeypatch.setattr(os, "scandir", scandir)
    assert names(mirror) == [(PAPER, "2401.00001v1.pdf", 1)]


def test_a_source_without_its_folder_is_told(tmp_path) -> None:
    found, [told] = held_files([f"mirror:{tmp_path / 'gone'}", "arxiv"], [PAPER])
    assert (found, told.reason) == ({}, "the folder is not there")
