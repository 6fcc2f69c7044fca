"""Files read into the lake: rows by table, what a killed run keeps, what a better file replaces."""

import hashlib
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import polars as pl
import pytest

from corpus import reading
from corpus.document_choice import to_do
from corpus.documents import chosen_documents, document_markdown, rows_of_documents
from corpus.reading import read_one, read_papers
from corpus.referencing import resolve_references, unresolved_papers
from corpus.snapshots import take_snapshot
from corpus.visibility import View
from ingestion.documents.raw_store import RawText, packed
from ingestion.documents.statuses import ParseOutcome
from ingestion.documents.structure.document import from_markdown

CITING, CITED, BARE = "2401.00001", "2301.00002", "2401.00003"
TEXT = """# Sparse Memory Layers for Reading

## Abstract

We present a layer that reads from a sparse memory. It is trained end to end.

## 1 Introduction

Reading long texts needs memory. The first sparse layers were proposed by Noether [1]. They follow older work [2].

## 2 Method

### 2.1 Addressing

Each query reads three slots of the memory, as in [1]. The slots are found by hashing.

## References

[1] E. Noether. Sparse slots for reading machines. 2023. arXiv:2301.00002.

[2] S. Kovalevskaya. On rotating memories. Journal of Old Machines, 1999.
"""


class FakeParsing:
    """In place of `parse_files`: outcomes by file name, the files asked for, and a stop after some of them."""

    def __init__(self) -> None:
        self.outcomes: dict[str, ParseOutcome] = {}
        self.history: list[str] = []
        self.stop_after: int | None = None

    def __call__(self, files, parser, **options) -> Iterator[tuple[Path, ParseOutcome]]:
        for number, path in enumerate(files):
            if self.stop_after == number:
                raise KeyboardInterrupt
            self.history.append(path.name)
            yield path, self.outcomes[path.name]


def outcome(text: str | None, status: str = "parsed", **values) -> ParseOutcome:
    document = from_markdown(text) if text else None
    sha256 = hashlib.sha256(f"{text}{status}".encode()).hexdigest()
    return ParseOutcome(status, sha256, 8, document, page_count=2, parser="fake 1", **values)


@pytest.fixture
def parsing(monkeypatch) -> FakeParsing:
    fake = FakeParsing()
    monkeypatch.setattr(reading, "parse_files", fake)
    return fake


def count_tokens(text: str) -> int:
    return len(text.split())


@pytest.fixture
def mirror(lake, record, write_mirror, tmp_path, harvest) -> Path:
    folder = write_mirror(
        tmp_path / "m",
        [
            record(CITING, day="2024-01-05", title="Sparse memory layers for reading"),
            record(CITED, day="2023-01-05", title="Sparse slots for reading machines", authors="Emmy Noether"),
            record(BARE, day="2024-01-07"),
        ],
    )
    (folder / "pdf").mkdir()
    (folder / "pdf" / f"{CITING}v1.pdf").write_bytes(b"%PDF-1.5")
    harvest(lake, folder)
    return folder


def read(lake, reader, *papers: str, cutoff: date | None = None):
    todo = to_do(lake, papers or (CITING, CITED, BARE), cutoff, reading.derivation(), reader.parser.name)
    return read_papers(lake, todo, reader, count_tokens)


def view(lake) -> View:
    return View(lake, date(2024, 12, 31))


def test_a_file_becomes_document_sections_passages_and_entries(lake, mirror, parsing, reader) -> None:
    parsing.outcomes[f"{CITING}v1.pdf"] = outcome(TEXT, notes=("7 control characters removed",))
    report = read(lake, reader)
    assert (dict(report.by_status), report.fileless) == ({"parsed": 1}, 2)
    rows = {r["paper_id"]: r for r in lake.read("documents").to_dicts()}
    assert {p: r["status"] for p, r in rows.items()} == {
        CITING: "parsed",
        CITED: "abstract_only",
        BARE: "abstract_only",
    }
    document = rows[CITING]
    assert (document["version"], document["version_on"], document["page_count"]) == (1, date(2024, 1, 5), 2)
    assert (document["references_status"], document["reference_count"]) == ("parsed", 2)
    assert document["notes"] == ["7 control characters removed"]
    assert rows[BARE]["advice"]
    sections = lake.read("sections").sort("position").to_dicts()
    assert [(s["number"], s["title"], s["level"]) for s in sections][:4] == [
        (None, "Abstract", 1), ("1", "Introduction", 1), ("2", "Method", 1), ("2.1", "Addressing", 2),
    ]  # fmt: skip
    assert sections[3]["path"] == ["Method", "Addressing"]
    passages = lake.read("passages").to_dicts()
    assert len(passages) == document["passage_count"]
    for row in [*sections, *passages]:
        assert document["markdown"][row["start_char"] : row["end_char"]] == row["text"]
    assert "hashing" in next(p["text"] for p in passages if p["section_number"] == "2.1")


def test_entries_resolve_and_give_edges_with_the_sentences_that_cite(lake, mirror, parsing, reader) -> None:
    parsing.outcomes[f"{CITING}v1.pdf"] = outcome(TEXT)
    read(lake, reader)
    corpus = take_snapshot(lake).content_hash
    assert unresolved_papers(lake, [CITING, BARE], corpus) == [CITING]
    told = resolve_references(lake, [CITING, BARE], corpus)
    assert (told.entries, told.resolved, told.edges) == (2, 1, 1)
    first, second = lake.read("bibliography").sort("position").to_dicts()
    assert (first["cited_id"], first["method"], first["year"]) == (CITED, "arxiv_id", 2023)
    assert (second["cited_id"], second["certainty"]) == (None, 0.0)
    contexts = [
        "The first sparse layers were proposed by Noether [1].",
        "Each query reads three slots of the memory, as in [1].",
    ]
    assert [c["text"] for c in first["contexts"]] == contexts
    assert lake.read("citations").rows() == [(CITING, CITED, ["bibliography"], contexts)]
    version = lake.version("bibliography")
    assert resolve_references(lake, [CITING], corpus).entries == 0
    assert lake.version("bibliography") == version


def test_ct12_a_title_in_another_papers_list_changes_nothing_of_the_paper(lake, mirror, parsing, reader) -> None:
    before = lake.read("papers").sort("paper_id")
    parsing.outcomes[f"{CITING}v1.pdf"] = outcome(TEXT.replace("Sparse slots", "Quite other slots"))
    read(lake, reader)
    resolve_references(lake, [CITING], take_snapshot(lake).content_hash)
    assert lake.read("papers").sort("paper_id").equals(before)


def test_pd08_a_killed_run_keeps_what_was_read_and_the_next_one_reads_the_rest(lake, mirror, parsing, reader) -> None:
    for paper in (CITED, BARE):
        (mirror / "pdf" / f"{paper}v1.pdf").write_bytes(b"%PDF-1.5")
    names = [f"{p}v1.pdf" for p in (CITING, CITED, BARE)]
    parsing.outcomes = {name: outcome(TEXT + name) for name in names}
    parsing.stop_after = 2
    with pytest.raises(KeyboardInterrupt):
        read(lake, reader)
    parsing.stop_after = None
    read(lake, reader)
    assert parsing.history == names
    assert lake.read("documents")["paper_id"].sort().to_list() == sorted([CITING, CITED, BARE])
    read(lake, reader)
    assert parsing.history == names


def test_pd04_a_file_that_cannot_be_read_is_a_row_with_advice_and_the_next_version_is_read(
    lake, mirror, parsing, reader
) -> None:
    (mirror / "pdf" / f"{CITING}v2.pdf").write_bytes(b"%PDF-1.5")
    parsing.outcomes[f"{CITING}v2.pdf"] = outcome(None, "encrypted")
    parsing.outcomes[f"{CITING}v1.pdf"] = outcome(TEXT)
    told = read_one(lake, CITING, reader, count_tokens)
    assert told.markdown == from_markdown(TEXT).markdown
    assert "password" in told.notes[0]
    assert parsing.history == [f"{CITING}v2.pdf", f"{CITING}v1.pdf"]
    statuses = {r["version"]: (r["status"], bool(r["advice"])) for r in lake.read("documents").to_dicts()}
    assert statuses == {1: ("parsed", False), 2: ("encrypted", True)}


def test_a_paper_without_a_file_is_told_what_to_do(lake, mirror, parsing, reader) -> None:
    told = read_one(lake, BARE, reader, count_tokens)
    assert (told.markdown, told.status) == (None, "abstract_only")
    assert "mirror" in told.advice


def test_a_file_replaces_the_row_without_one_and_a_new_file_its_predecessor_only(lake, mirror, parsing, reader) -> None:
    read(lake, reader, BARE)
    path = mirror / "pdf" / f"{BARE}v1.pdf"
    path.write_bytes(b"%PDF-1.5")
    parsing.outcomes[path.name] = outcome(TEXT)
    read(lake, reader, BARE)
    assert lake.read("documents", paper_id=BARE)["status"].to_list() == ["parsed"]
    path.write_bytes(b"%PDF-1.6 ")
    parsing.outcomes[path.name] = outcome(TEXT.replace("three slots", "four slots"))
    read(lake, reader, BARE)
    assert parsing.history == [path.name] * 2
    rows = lake.read("documents", paper_id=BARE)
    assert len(rows) == 1
    assert "four slots" in rows["markdown"].item()
    assert lake.read("passages", paper_id=BARE)["sha256"].unique().to_list() == rows["sha256"].to_list()


def test_a_topic_reads_the_version_of_its_day(lake, record, write_mirror, tmp_path, harvest, parsing, reader) -> None:
    versions = [{"version": f"v{n}", "created": f"Fri, 0{n} Mar 2024 10:00:00 GMT"} for n in (1, 2)]
    folder = write_mirror(tmp_path / "two", [record(CITING, versions=versions)])
    (folder / "pdf").mkdir()
    for n in (1, 2):
        (folder / "pdf" / f"{CITING}v{n}.pdf").write_bytes(b"%PDF-1.5")
        parsing.outcomes[f"{CITING}v{n}.pdf"] = outcome(TEXT.replace("three", f"version {n}"))
    harvest(lake, folder)
    early, late = date(2024, 3, 1), date(2024, 3, 31)
    read(lake, reader, CITING, cutoff=early)
    read(lake, reader, CITING, cutoff=late)
    assert parsing.history == [f"{CITING}v1.pdf", f"{CITING}v2.pdf"]
    for day, version in ((early, 1), (late, 2)):
        chosen = chosen_documents(View(lake, day), [CITING])[CITING]
        assert (chosen.version, chosen.is_possibly_later) == (version, False)
        text = document_markdown(lake, CITING, chosen.id_month, chosen.sha256)
        assert f"version {version} slots" in text
        passages = rows_of_documents(View(lake, day), "passages", [chosen])
        assert passages["sha256"].unique().to_list() == [chosen.sha256]
    assert chosen_documents(View(lake, date(2024, 2, 1)), [CITING])[CITING].is_possibly_later


def test_ct14_a_text_without_a_list_says_so(lake, mirror, parsing, reader) -> None:
    text = TEXT[: TEXT.index("## References")].replace("[1]", "(?)").replace("[2]", "[?]")
    parsing.outcomes[f"{CITING}v1.pdf"] = outcome(text)
    read(lake, reader)
    row = lake.read("documents", paper_id=CITING).to_dicts()[0]
    assert (row["references_status"], row["reference_count"]) == ("missing", None)
    assert len(lake.read("bibliography")) == 0
    resolve_references(lake, [CITING], take_snapshot(lake).content_hash)
    assert lake.scan("citations").select(pl.len()).collect().item() == 0


def test_a_change_of_our_code_reads_what_the_parser_said_and_parses_nothing(
    lake, mirror, parsing, reader, monkeypatch
) -> None:
    raw = packed(RawText({"markdown": TEXT}, 2, ("3 control characters removed",)))
    parsing.outcomes[f"{CITING}v1.pdf"] = outcome(TEXT, raw=raw)
    read(lake, reader)
    before = lake.read("passages").sort("position")
    monkeypatch.setattr(reading, "derivation", lambda: "next")
    report = read(lake, reader)
    assert (dict(report.by_status), parsing.history) == ({"parsed": 1}, [f"{CITING}v1.pdf"])
    row = lake.read("documents", paper_id=CITING).to_dicts()[0]
    assert (row["derivation"], row["page_count"], row["notes"]) == ("next", 2, ["3 control characters removed"])
    assert lake.read("passages").sort("position").equals(before)


def test_what_is_kept_but_not_whole_is_parsed_again(lake, mirror, parsing, reader, monkeypatch) -> None:
    parsing.outcomes[f"{CITING}v1.pdf"] = outcome(TEXT, raw=packed(RawText({"markdown": TEXT}, 2, ()))[:-9])
    read(lake, reader)
    monkeypatch.setattr(reading, "derivation", lambda: "next")
    read(lake, reader)
    assert parsing.history == [f"{CITING}v1.pdf"] * 2
    assert lake.read("documents", paper_id=CITING)["derivation"].to_list() == ["next"]
