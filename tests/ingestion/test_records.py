"""Reading metadata files: nothing lost, nothing cast, damage told."""

import datetime
import gzip
import json
from pathlib import Path

import polars as pl
import pytest

from ingestion.records import BATCH_RECORDS, RAW_SCHEMA, RawBatch, describe_file, read_records


def read(path: Path, normalise=None) -> RawBatch:
    """All batches as one."""
    batches = list(read_records(path, path.name, normalise))
    return RawBatch(
        pl.concat([b.frame for b in batches]),
        [r for b in batches for r in b.refusals],
        [f for b in batches for f in b.failures],
    )


@pytest.fixture
def write(tmp_path: Path):
    def put(content: bytes | str, name: str = "metadata.jsonl") -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return put


def test_values_stay_as_the_source_wrote_them(write, record) -> None:
    given = record("arXiv:2401.00001v2", "2024-01-05", title=" Deep\n  nets ", doi="", comments=None)
    row = read(write(json.dumps(given) + "\n")).frame.to_dicts()[0]
    assert (row["source_id"], row["title"], row["doi"], row["comments"]) == (given["id"], " Deep\n  nets ", "", None)
    assert row["versions"] == given["versions"]
    assert (row["source_file"], row["source_line"]) == ("metadata.jsonl", 1)


def test_annotations_of_a_data_set_are_not_read(write, record) -> None:
    given = record("2401.00001", _date_kind="announced", _membership="x", _citations=9, _tags=["answer"])
    frame = read(write(json.dumps(given))).frame
    assert frame.schema == RAW_SCHEMA
    assert frame["date_kind"].to_list() == ["announced"]
    assert "answer" not in str(frame.to_dicts())


def test_lines_are_numbered_as_in_the_file_and_blank_ones_skipped(write) -> None:
    found = read(write('\n{"id": "a", "title": "A"}\r\n  \n{bad\n{"id": "b", "title": "B"}'))
    assert found.frame["source_line"].to_list() == [2, 5]
    assert [(r.source_line, r.raw) for r in found.refusals] == [(4, "{bad")]
    assert found.failures == []


def test_a_byte_order_mark_does_not_cost_the_first_record(write) -> None:
    assert read(write(b'\xef\xbb\xbf{"id": "a", "title": "A"}\n')).frame["source_id"].to_list() == ["a"]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "not valid JSON"),
        ("null", "not a JSON object but NoneType"),
        ('"text"', "not a JSON object but str"),
        ('{"id": NaN, "title": "x"}', "not valid JSON"),
        ('{"title": "x"}', "no id"),
        ('{"id": " ", "title": "x"}', "no id"),
        ('{"id": "a"}', "no title"),
        ('{"id": "a", "title": null}', "no title"),
        ('{"id": 2412.00010, "title": "x"}', "field id is float, not text"),
        ('{"id": 9901001, "title": "x"}', "field id is int, not text"),
        ('{"id": "a", "title": ["x"]}', "field title is list, not text"),
        ('{"id": "a", "title": "x", "versions": {"version": "v1"}}', "field versions is not"),
        ('{"id": "a", "title": "x", "versions": ["v1"]}', "field versions is not"),
        ('{"id": "a", "title": "x", "versions": [{"version": 1}]}', "field versions is not"),
        ("\\xff\\xfe", "not valid JSON"),
    ],
)
def test_a_line_that_is_no_record_is_refused_with_the_reason(write, line, reason) -> None:
    found = read(write(line.encode().decode("unicode_escape").encode("latin-1") if "\\x" in line else line))
    assert found.frame.is_empty()
    assert [r.reason.startswith(reason) for r in found.refusals] == [True], found.refusals
    assert found.failures == []


def test_a_refused_record_is_kept_to_two_thousand_characters(write) -> None:
    found = read(write(json.dumps({"id": "a", "abstract": "x" * 9000})))
    assert len(found.refusals[0].raw) == 2000
    assert found.refusals[0].raw_id == "a"


def test_id12_a_number_for_an_id_is_refused_in_parquet_too(tmp_path) -> None:
    path = tmp_path / "metadata.parquet"
    pl.DataFrame({"id": [2412.00010], "title": ["x"]}).write_parquet(path)
    found = read(path)
    assert found.frame.is_empty()
    assert "column id is Float64, not text" in found.failures[0].reason


def test_id12_zeros_survive_jsonl_and_parquet_alike(tmp_path, write) -> None:
    ids = ["2412.00010", "2412.00011", "0704.0001", "1501.00001"]
    frame = pl.DataFrame({"id": ids, "title": ["T"] * 4})
    frame.write_parquet(tmp_path / "metadata.parquet")
    lines = write("".join(json.dumps(row) + "\n" for row in frame.to_dicts()))
    assert read(lines).frame["source_id"].to_list() == ids
    assert read(tmp_path / "metadata.parquet").frame["source_id"].to_list() == ids


PARQUET = {
    "no update_date": ({}, None, []),
    "dates": ({"update_date": [datetime.date(2020, 1, 2)]}, "2020-01-02", []),
    "times": ({"update_date": [datetime.datetime(2020, 1, 2, 23, tzinfo=datetime.UTC)]}, "2020-01-02", []),
    "all null": ({"update_date": [None], "versions": [None]}, None, []),
    "empty lists": ({"versions": [[]]}, None, []),
    "null among versions": (
        {"versions": [[None, {"version": "v1", "created": "x"}]]},
        None,
        [{"version": "v1", "created": "x"}],
    ),
    "more about versions": (
        {"versions": [[{"size": 3, "created": None, "version": "v1"}]]},
        None,
        [{"version": "v1", "created": None}],
    ),
}


@pytest.mark.parametrize("case", PARQUET)
def test_parquet_columns_in_their_usual_types_are_read(tmp_path, case) -> None:
    columns, update_date, versions = PARQUET[case]
    path = tmp_path / "metadata.parquet"
    pl.DataFrame({"id": ["a"], "title": ["A"], **columns}).write_parquet(path)
    row = read(path).frame.to_dicts()[0]
    assert (row["update_date"], row["versions"]) == (update_date, versions)


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"id": ["a"]}, "has no column title"),
        ({"x": [1]}, "has no column id and title"),
        ({"id": ["a"], "title": ["A"], "authors": [["B"]]}, "column authors is List"),
        ({"id": ["a"], "title": ["A"], "versions": ["v1"]}, "column versions is not a list"),
        (
            {"id": ["a"], "title": ["A"], "versions": [[{"version": 1, "created": "x"}]]},
            "column versions is not a list",
        ),
    ],
)
def test_parquet_columns_of_other_types_are_a_failure_never_cast(tmp_path, columns, reason) -> None:
    path = tmp_path / "metadata.parquet"
    pl.DataFrame(columns).write_parquet(path)
    found = read(path)
    assert found.frame.is_empty()
    assert reason in found.failures[0].reason


def test_rows_of_parquet_without_id_or_title_are_refused_by_row(tmp_path) -> None:
    path = tmp_path / "metadata.parquet"
    pl.DataFrame({"id": ["a", None, "c"], "title": ["A", "B", " "]}).write_parquet(path)
    found = read(path)
    assert found.frame["source_line"].to_list() == [1]
    assert [(r.source_line, r.raw_id, r.reason) for r in found.refusals] == [(2, None, "no id"), (3, "c", "no title")]


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.999])
def test_a_damaged_parquet_file_is_a_failure(tmp_path, share) -> None:
    path = tmp_path / "metadata.parquet"
    pl.DataFrame({"id": ["a"] * 500, "title": ["A"] * 500}).write_parquet(path)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    found = read(path)
    assert len(found.failures) == 1
    assert "Fetch the file again." in found.failures[0].reason


def test_a_truncated_gz_gives_what_can_be_read_and_a_failure(write) -> None:
    lines = "".join(json.dumps({"id": f"2401.{n:05d}", "title": f"{n * 7919}"}) + "\n" for n in range(5000))
    whole = gzip.compress(lines.encode())
    found = read(write(whole[: len(whole) // 2], "metadata.jsonl.gz"))
    assert 0 < found.frame.height < 5000
    assert found.frame["source_id"].to_list() == [f"2401.{n:05d}" for n in range(found.frame.height)]
    assert found.refusals == []
    assert f"after line {found.frame.height}" in found.failures[0].reason


@pytest.mark.parametrize(
    "content",
    # Without mtime the bytes, and with them the test's name, would differ from one second to the next.
    [b"no gzip at all\n", gzip.compress(b'{"id": "a", "title": "A"}\n', mtime=0)[:-6]],
    ids=["plain text", "cut short"],
)
def test_what_is_no_whole_gzip_is_a_failure(write, content) -> None:
    assert len(read(write(content, "metadata.jsonl.gz")).failures) == 1


def test_large_files_come_in_batches_that_lose_nothing(write) -> None:
    count = BATCH_RECORDS * 2 + 1
    path = write("".join(f'{{"id": "{n}", "title": "T"}}\n' for n in range(count)))
    sizes = [b.frame.height for b in read_records(path, "m")]
    assert sizes == [BATCH_RECORDS, BATCH_RECORDS, 1]


def test_a_file_is_described_by_path_hash_and_size(write, tmp_path) -> None:
    described = describe_file(write(b"abc"), tmp_path)
    assert (described.path, described.size_bytes) == ("metadata.jsonl", 3)
    assert described.sha256 == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
