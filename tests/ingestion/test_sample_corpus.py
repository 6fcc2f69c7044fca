"""The sample corpus: whole, in the project's own words, and true to arXiv's metadata."""

import gzip
import json
import re
from pathlib import Path

import polars as pl
import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
SAMPLE = REPOSITORY / "ingestion" / "sample"
EDGE_FILES = ("citation_edges.jsonl.gz", "topic_rag/edges.jsonl.gz")
FIELDS = [
    "id", "submitter", "authors", "title", "comments", "journal-ref", "doi", "report-no", "categories",
    "license", "abstract", "versions", "update_date", "_date_kind",
]  # fmt: skip


def read_lines(name: str) -> list[dict]:
    return [json.loads(line) for line in (SAMPLE / name).read_text(encoding="utf-8").splitlines()]


def sentences(text: str) -> list[str]:
    return re.split(r"(?<=[.!?])\s+", text.strip())


def runs(text: str, length: int) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text.lower())
    return {tuple(words[i : i + length]) for i in range(len(words) - length + 1)}


def undo_printed_escapes(authors: str) -> str:
    r"""Turn `K\xFCttler` into `Küttler` and drop the `\ \ ` of folded lines, as the sample does."""
    unfolded = authors.replace("\\ ", "")
    return re.sub(r"\\(?:x([0-9A-F]{2})|u([0-9A-F]{4}))", lambda m: chr(int(m[1] or m[2], 16)), unfolded)


@pytest.fixture(scope="module")
def papers() -> list[dict]:
    return read_lines("metadata.jsonl")


@pytest.fixture(scope="module")
def source(papers, shared_data) -> dict[str, dict]:
    """What the shared arXiv metadata says of the sample's papers, by id."""
    folder = shared_data / "arxiv_metadata"
    files = [folder / f"papers_{years}.parquet" for years in ("until_2022", "2023_2024")]
    ids = [paper["id"] for paper in papers]
    frames = [pl.scan_parquet(file).filter(pl.col("id").is_in(ids)).collect() for file in files]
    return {row["id"]: row for row in pl.concat(frames, how="diagonal_relaxed").iter_rows(named=True)}


def test_forty_papers_with_unique_ids(papers):
    assert len(papers) == 40
    assert len({paper["id"] for paper in papers}) == 40


def test_records_have_the_snapshot_fields_and_no_other_annotation(papers):
    assert [list(paper) for paper in papers] == [FIELDS] * len(papers)


def test_every_abstract_has_two_to_four_sentences(papers):
    assert {paper["id"] for paper in papers if not 2 <= len(sentences(paper["abstract"])) <= 4} == set()


def test_no_sentence_occurs_twice(papers):
    every = [sentence for paper in papers for sentence in sentences(paper["abstract"])]
    assert len(every) == len(set(every))


def test_mirror_marks_the_abstracts_as_ours():
    mirror = json.loads((SAMPLE / "mirror.json").read_text(encoding="utf-8"))
    assert mirror["name"] == "lithouse-sample"
    assert mirror["abstract_origin"] == "summary by the project"


def test_citations_are_distinct_and_stay_within_the_sample(papers):
    ids = {paper["id"] for paper in papers}
    edges = [(edge["citing_id"], edge["cited_id"]) for edge in read_lines("citations.jsonl")]
    assert len(edges) == len(set(edges))
    assert all(citing != cited and {citing, cited} <= ids for citing, cited in edges)


def test_bibliographic_fields_equal_the_source(papers, source):
    """Only the escapes printed in two author fields of the source are undone."""
    fields = [field for field in FIELDS if field != "abstract"]
    for paper in papers:
        expected = {field: source[paper["id"]][field] for field in fields}
        expected["authors"] = undo_printed_escapes(expected["authors"])
        assert {field: paper[field] for field in fields} == expected


def test_every_citation_is_in_the_shared_edges(shared_data):
    files = [shared_data / name for name in EDGE_FILES]
    known = pl.concat([pl.read_ndjson(gzip.decompress(file.read_bytes())) for file in files], how="diagonal_relaxed")
    pairs = set(known.select("citing_arxiv_id", "cited_arxiv_id").iter_rows())
    assert {(edge["citing_id"], edge["cited_id"]) for edge in read_lines("citations.jsonl")} <= pairs


def test_no_abstract_copies_eight_words_of_the_real_one(papers, source):
    shared = {p["id"]: runs(p["abstract"], 8) & runs(source[p["id"]]["abstract"], 8) for p in papers}
    assert {paper_id: found for paper_id, found in shared.items() if found} == {}
