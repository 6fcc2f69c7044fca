"""Documents of a pool: what is due once only, what the index follows, what a survey tells of its texts."""

from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import polars as pl
import pytest

from corpus import reading
from corpus.contracts.registry import CONTRACTS
from corpus.contracts.topics import TOPIC_POOL
from corpus.reading import Reader
from generation.card_store import card_keys
from generation.text_notes import notes_on_texts
from generation.texts import cards_due, documents_due, files_due, make_cards, make_documents
from generation.topics import define_topic
from generation.values import Paper
from generation.workshop import Workshop, view_of
from indexes.piece_index import PieceIndex
from ingestion.documents.parsing.parsers import Parser
from ingestion.documents.statuses import ParseOutcome
from ingestion.documents.structure.document import from_markdown

pytestmark = pytest.mark.run

A, B = "2301.00001", "2301.00002"
CUTOFF = date(2024, 12, 31)
LONG = "# On memory\n\n## 1 Introduction\n\nReading long texts needs memory, and slots of it are read by hashing.\n"


def outcome_of(path: Path) -> ParseOutcome:
    status, _, text = path.read_text().partition(" ")
    sha256 = f"of {text}"
    if status != "parsed":
        return ParseOutcome(status, sha256, 8)
    return ParseOutcome("parsed", sha256, 8, from_markdown(text), page_count=1)


@pytest.fixture
def topic():
    return define_topic("Memory", cutoff=CUTOFF)


@pytest.fixture
def reader() -> Reader:
    return Reader(Parser("fake 1", "nowhere:nothing"), concurrency=1)


@pytest.fixture
def workshop(library_of, topic, tmp_path, monkeypatch) -> Workshop:
    """Two papers in the pool, and a mirror at `tmp_path/m` that holds no file yet."""
    monkeypatch.setattr(reading, "parse_files", lambda files, *_, **__: ((f, outcome_of(f)) for f in files))
    papers = [{"paper_id": p, "title": f"Title {p}", "abstract": "We read memory."} for p in (A, B)]
    view, index = library_of(papers)
    lake = view.lake
    (tmp_path / "m" / "pdf").mkdir(parents=True)
    harvest(lake, f"mirror:{tmp_path / 'm'}")
    rows = [{**dict.fromkeys(TOPIC_POOL.polars_schema), "topic": topic.key, "paper_id": p, "rank": n, "query": "memory",
             "score": 1.0, "citation_count": 0, "reason": "found", "content_hash": "h"}
            for n, p in enumerate((A, B), start=1)]  # fmt: skip
    lake.replace("topic_pool", pl.DataFrame(rows, schema=TOPIC_POOL.polars_schema), None)
    return Workshop(tmp_path, _index=index)


def harvest(lake, source: str) -> None:
    schema = CONTRACTS["harvests"].polars_schema
    now = datetime(2024, 5, 1, tzinfo=UTC)
    counts = {c: 0 for c in schema if c.endswith("_count")}
    row = {**dict.fromkeys(schema), **counts, "harvest_id": source, "source": source, "status": "complete",
           "started_at": now, "finished_at": now, "months": [], "failures": [], "files": []}  # fmt: skip
    lake.append("harvests", pl.DataFrame([row], schema=schema))


def put(workshop: Workshop, name: str, content: str) -> None:
    (workshop.home / "m" / "pdf" / name).write_text(content)


def pieces(workshop: Workshop, cutoff: date = CUTOFF) -> int:
    index = PieceIndex(workshop.home / "index", "passages", workshop.index.embedder)
    return len(index.dense("memory", 5, cutoff=cutoff)) if index.count() else 0


def change_paper(workshop: Workshop, paper_id: str, **values: object) -> None:
    rows = workshop.lake.read("papers")
    is_it = pl.col("paper_id") == paper_id
    rows = rows.with_columns(pl.when(is_it).then(pl.lit(v)).otherwise(pl.col(c)).alias(c) for c, v in values.items())
    workshop.lake.replace("papers", rows, None)


def test_a_text_without_a_passage_to_search_is_not_due_for_ever(workshop, topic, reader) -> None:
    put(workshop, f"{A}v1.pdf", "parsed # A\n\nShort words\n")
    assert files_due(workshop, topic, reader) == 1
    made = make_documents(workshop, topic, reader)
    assert made.by_status == {"abstract_only": 1, "parsed": 1}
    assert workshop.lake.read("passages")["kind"].to_list() == ["fragment"]
    assert not documents_due(workshop, topic, reader)
    assert files_due(workshop, topic, reader) == 0


def test_a_corrected_date_reaches_the_rows_that_searches_filter_by(workshop, topic, reader) -> None:
    put(workshop, f"{A}v1.pdf", f"parsed {LONG}")
    make_documents(workshop, topic, reader)
    before = date(2024, 1, 1)
    assert (pieces(workshop, before), documents_due(workshop, topic, reader)) == (1, False)
    change_paper(workshop, A, submitted_latest=date(2024, 6, 1))
    assert documents_due(workshop, topic, reader)
    make_documents(workshop, topic, reader)
    assert (pieces(workshop, before), pieces(workshop)) == (0, 1)
    assert not documents_due(workshop, topic, reader)


def test_files_that_fail_alike_end(workshop, topic, reader) -> None:
    for number in (1, 2, 3):
        put(workshop, f"{A}v{number}.pdf", "empty_file ")
    make_documents(workshop, topic, reader)
    assert not documents_due(workshop, topic, reader)


def test_files_that_fail_count_among_those_that_may_be_read(workshop, topic, reader) -> None:
    for number in (1, 2, 3):
        put(workshop, f"{A}v{number}.pdf", f"empty_file {number}")
    made = make_documents(workshop, topic, replace(reader, most_files=2))
    assert dict(made.reading.by_status) == {"empty_file": 2}
    assert files_due(workshop, topic, reader) == 1


def notes(workshop: Workshop, topic) -> list[tuple[str, str]]:
    view = view_of(workshop.lake, topic)
    facts = dict.fromkeys(Paper.__dataclass_fields__) | {"content_hash": "h"}
    papers = [Paper(**{**facts, "paper_id": p}) for p in (A, B)]
    return [(n.item, n.reason) for n in notes_on_texts(view, card_keys(view, papers, "extractive", "1"))]


def test_a_text_that_may_be_later_than_the_cutoff_is_told(workshop, topic, reader) -> None:
    put(workshop, f"{A}v1.pdf", f"parsed {LONG}")
    make_documents(workshop, topic, reader)
    assert notes(workshop, topic) == []
    put(workshop, f"{B}v3.pdf", f"parsed {LONG}")
    make_documents(workshop, topic, reader)
    assert notes(workshop, topic) == [
        ("versions", f"1 paper was read in a version that may be later than 2024-12-31: {B}")
    ]


def test_files_without_text_are_told_with_advice(workshop, topic, reader) -> None:
    for paper in (A, B):
        put(workshop, f"{paper}v1.pdf", f"encrypted {paper}")
    make_documents(workshop, topic, reader)
    [(item, reason)] = notes(workshop, topic)
    assert item == "texts"
    assert f"2 papers were used by abstract alone, since the file gave no text (encrypted): {A}, {B}" in reason
    assert "password" in reason


def test_a_source_that_is_gone_is_told(workshop, topic, reader) -> None:
    source = f"mirror:{workshop.home / 'm'}"
    schema = CONTRACTS["arxiv_records"].polars_schema
    row = {**dict.fromkeys(schema), "source": source, "paper_id": A, "id_month": date(2023, 1, 1), "title": "T",
           "abstract_origin": "source", "harvest_id": source, "harvested_at": datetime.now(UTC), "content_hash": "c",
           "source_file": "metadata.jsonl", "source_line": 1, "source_id": A}  # fmt: skip
    workshop.lake.append("arxiv_records", pl.DataFrame([row], schema=schema))
    make_documents(workshop, topic, reader)
    (workshop.home / "m").rename(workshop.home / "moved")
    assert notes(workshop, topic) == [
        ("texts", f"files of {source} were not looked at for 1 of the papers: the folder is not there")
    ]


def test_topics_that_read_other_versions_of_a_paper_do_not_take_them_from_each_other(workshop, topic, reader) -> None:
    versions = [{"number": n, "created_at": datetime(2023, n, 1, tzinfo=UTC)} for n in (1, 2)]
    rows = workshop.lake.read("papers").to_dicts()
    schema = CONTRACTS["papers"].polars_schema
    workshop.lake.replace("papers", pl.DataFrame([{**r, "versions": versions} for r in rows], schema=schema), None)
    for number in (1, 2):
        put(
            workshop, f"{A}v{number}.pdf", f"parsed {LONG}We add {'one' if number == 1 else 'two'} more line of text.\n"
        )
    early = define_topic("Memory", cutoff=date(2023, 1, 20))
    pool = workshop.lake.read("topic_pool").with_columns(topic=pl.lit(early.key))
    workshop.lake.append("topic_pool", pool)
    for each in (topic, early):
        make_documents(workshop, each, reader)
        make_cards(workshop, each, "extractive")
    for each in (topic, early):
        assert not documents_due(workshop, each, reader)
        assert not cards_due(workshop, each, "extractive")
    put(workshop, f"{A}v1.pdf", f"parsed {LONG}We add another line of text.\n")
    make_documents(workshop, early, reader)
    assert not documents_due(workshop, topic, reader)
    index = PieceIndex(workshop.home / "index", "passages")
    assert len(index.sources([A])) == 2
