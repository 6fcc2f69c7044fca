"""Files in odd states: equal ones under several names, unreadable ones, corrected dates, kept words that are none."""

import gzip
import hashlib
import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from corpus import reading
from corpus.document_choice import to_do
from corpus.documents import chosen_documents
from corpus.reading import Reader, read_one, read_papers
from corpus.visibility import View
from ingestion.documents.parsing.parsers import Parser
from ingestion.documents.raw_store import RawText, packed
from ingestion.documents.statuses import ParseOutcome
from ingestion.documents.structure.document import from_markdown

pytestmark = pytest.mark.run

PAPER = "2401.00001"
TEXT = "# On memory\n\n## 1 Introduction\n\nReading long texts needs memory, and slots of it are read by hashing.\n"


class Parsing:
    """In place of `parse_files`: the outcome follows from the file's content, which names a status or is a text."""

    def __init__(self) -> None:
        self.history: list[str] = []

    def __call__(self, files, parser, **options) -> Iterator[tuple[Path, ParseOutcome]]:
        for path in files:
            self.history.append(path.name)
            text = path.read_text()
            sha256 = hashlib.sha256(text.encode()).hexdigest()
            status, _, rest = text.partition(" ")
            if status == "parsed":
                words = TEXT + rest
                raw = packed(RawText({"markdown": words}, 2, ()))
                yield path, ParseOutcome("parsed", sha256, 8, from_markdown(words), page_count=2, raw=raw)
            elif status == "unreadable":
                yield path, ParseOutcome("corrupt", "", 8, is_retryable=True)
            elif status == "scan" and parser.name == "ocr":
                raw = packed(RawText({"markdown": TEXT}, 2, ()))
                yield path, ParseOutcome("parsed", sha256, 8, from_markdown(TEXT), page_count=2, raw=raw)
            else:
                yield path, ParseOutcome("no_text_layer" if status == "scan" else status, sha256, 8)


@pytest.fixture
def parsing(monkeypatch) -> Parsing:
    fake = Parsing()
    monkeypatch.setattr(reading, "parse_files", fake)
    return fake


VERSIONS = [{"version": f"v{n}", "created": f"Fri, 0{n} Mar 2024 10:00:00 GMT"} for n in (1, 2, 3)]


@pytest.fixture
def mirror(lake, record, write_mirror, tmp_path, harvest) -> Path:
    folder = write_mirror(tmp_path / "m", [record(PAPER, versions=VERSIONS)])
    (folder / "pdf").mkdir()
    harvest(lake, folder)
    return folder


def put(mirror: Path, **contents: str) -> None:
    for name, content in contents.items():
        (mirror / "pdf" / f"{PAPER}{name if name != 'bare' else ''}.pdf").write_text(content)


def count_tokens(text: str) -> int:
    return len(text.split())


def read_all(lake, reader, cutoff: date | None = None, **options) -> int:
    """Runs until nothing is to do; how many it took. Fails where that never comes."""
    for number in range(12):
        todo = to_do(lake, [PAPER], cutoff, reading.derivation(), reader.parser.name, **options)
        if todo.is_empty:
            return number
        read_papers(lake, todo, reader, count_tokens)
        options = {}
    pytest.fail("there is always something to do")


@pytest.mark.parametrize("content", ["encrypted", "empty_file", "unreadable", "too_large"])
def test_equal_files_that_cannot_be_read_are_each_tried_once(lake, mirror, parsing, reader, content) -> None:
    put(mirror, v1=content, v2=content, v3=content)
    read_all(lake, reader)
    assert sorted(parsing.history) == [f"{PAPER}v{n}.pdf" for n in (1, 2, 3)]
    assert read_all(lake, reader) == 0


def test_a_file_that_could_not_be_hashed_keeps_its_row_beside_the_next_ones_text(lake, mirror, parsing, reader) -> None:
    put(mirror, v2="unreadable", v1="parsed")
    read_all(lake, reader)
    assert parsing.history == [f"{PAPER}v2.pdf", f"{PAPER}v1.pdf"]
    rows = {r["version"]: r["status"] for r in lake.read("documents").to_dicts()}
    assert rows == {1: "parsed", 2: "corrupt"}
    put(mirror, v2="parsed again")
    assert read_one(lake, PAPER, reader, count_tokens).markdown.strip().endswith("again")
    assert {r["version"]: r["status"] for r in lake.read("documents").to_dicts()} == {1: "parsed", 2: "parsed"}


def test_a_copy_of_a_text_under_another_version_is_known_from_the_earlier_one(lake, mirror, parsing, reader) -> None:
    put(mirror, v2="parsed")
    read_all(lake, reader)
    put(mirror, v1="parsed")
    read_all(lake, reader, cutoff=date(2024, 3, 1))
    [row] = lake.read("documents").to_dicts()
    assert (row["version"], [c["version"] for c in row["copies"]]) == (1, [2])
    assert not chosen_documents(View(lake, date(2024, 3, 1)), [PAPER])[PAPER].is_possibly_later
    assert read_all(lake, reader) == 0
    put(mirror, v2="parsed with more words")
    read_all(lake, reader)
    assert sorted(lake.read("documents")["version"]) == [1, 2]


def test_a_file_that_is_gone_leaves_the_paper_with_its_abstract(lake, mirror, parsing, reader) -> None:
    put(mirror, v1="unreadable")
    read_all(lake, reader)
    (mirror / "pdf" / f"{PAPER}v1.pdf").unlink()
    read_all(lake, reader)
    assert lake.read("documents")["status"].to_list() == ["abstract_only"]


def test_a_corrected_day_of_a_version_decides_what_a_topic_reads(
    lake, mirror, record, write_mirror, harvest, parsing, reader
) -> None:
    put(mirror, v1="parsed one", v2="parsed two")
    early = date(2024, 3, 2)
    read_all(lake, reader, cutoff=early)
    assert chosen_documents(View(lake, early), [PAPER])[PAPER].version == 2
    days = ("Fri, 01 Mar", "Sat, 01 Jun", "Mon, 03 Jun")
    later = [{"version": f"v{n}", "created": f"{day} 2024 10:00:00 GMT"} for n, day in enumerate(days, start=1)]
    write_mirror(mirror, [record(PAPER, versions=later)])
    harvest(lake, mirror)
    read_all(lake, reader, cutoff=early)
    chosen = chosen_documents(View(lake, early), [PAPER])[PAPER]
    assert (chosen.version, chosen.is_possibly_later) == (1, False)


def test_what_another_parser_read_is_made_again_from_its_words(lake, mirror, parsing, reader, monkeypatch) -> None:
    put(mirror, v1="scan")
    read_all(lake, reader)
    assert lake.read("documents")["status"].to_list() == ["no_text_layer"]
    other = Reader(Parser("ocr", "nowhere:nothing", "standard"), concurrency=1)
    read_all(lake, other, tier="standard")
    monkeypatch.setattr(reading, "derivation", lambda: "next")
    read_all(lake, reader)
    [row] = lake.read("documents").to_dicts()
    assert (row["status"], row["parser"], row["tier"], row["derivation"]) == ("parsed", "ocr", "standard", "next")
    assert len(parsing.history) == 2


def test_another_tier_is_another_parser(lake, mirror, parsing, reader) -> None:
    put(mirror, v1="empty_text")
    read_all(lake, reader)
    assert to_do(lake, [PAPER], None, reading.derivation(), reader.parser.name, tier="standard").tasks


@pytest.mark.parametrize(
    "said", [b"null", b"[1, 2]", b'[{"pages": 3}, 2, []]', b'[{"markdown": 7}, 2, []]', b'["x", 2, []]']
)
def test_kept_words_of_another_form_are_parsed_again(lake, mirror, parsing, reader, monkeypatch, said) -> None:
    put(mirror, v1="parsed")
    read_all(lake, reader)
    [kept] = (lake.home / "raw").rglob("*.json.gz")
    kept.write_bytes(gzip.compress(said))
    monkeypatch.setattr(reading, "derivation", lambda: "next")
    read_all(lake, reader)
    assert (lake.read("documents")["status"].to_list(), len(parsing.history)) == (["parsed"], 2)


def test_all_code_that_makes_rows_decides_over_them() -> None:
    root = Path(reading.__file__).parents[1]
    named = {
        f for name in reading._DECIDING for f in ([root / name] if name.endswith(".py") else (root / name).glob("*.py"))
    }
    assert all(f.is_file() for f in named)
    used = {
        root / f"{found[1].replace('.', '/')}.py"
        for f in named
        for found in re.finditer(r"^from ((?:corpus|ingestion)[.\w]+) import", f.read_text(), re.MULTILINE)
    }
    says_nothing = {
        "corpus/document_choice.py",
        "corpus/hashing.py",
        "ingestion/documents/statuses.py",
        "ingestion/errors.py",
    }
    assert {str(f.relative_to(root)) for f in used - named} <= says_nothing


def test_the_text_of_a_version_is_the_one_of_that_version(lake, mirror, parsing, reader) -> None:
    put(mirror, v1="parsed one", v2="parsed two")

    def text(version: int | None) -> str:
        told = read_one(lake, PAPER, reader, count_tokens, version)
        return told.markdown.split()[-1] if told.markdown else f"{told.status}. {told.advice}"

    assert (text(1), parsing.history) == ("one", [f"{PAPER}v1.pdf"])
    assert text(None) == text(2) == "two"
    assert text(3) == "no file of version 3 is held. Versions read: v1, v2."
    assert sorted(lake.read("documents")["status"]) == ["parsed", "parsed"]
