"""Reading metadata files in the fields of the Kaggle arXiv snapshot, line by line, losing nothing.

Belongs here: files → frames of raw records, and the lines that had to be refused. Not here: where files lie
(`ingestion.mirror`, `ingestion.sidedata`) and what the values mean (`ingestion.identity`, `.dates`, `.cleanup`).

Fields: https://www.kaggle.com/datasets/Cornell-University/arxiv (id, authors, title, comments, journal-ref,
doi, categories, license, abstract, versions, update_date). Of fields that begin with `_`, which annotate a
data set, only `_date_kind` is read.
"""

import codecs
import gzip
import hashlib
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import orjson
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

BATCH_RECORDS = 20_000

_TEXT_FIELDS = {
    "id": "source_id",
    "title": "title",
    "abstract": "abstract",
    "authors": "authors",
    "categories": "categories",
    "comments": "comments",
    "journal-ref": "journal_ref",
    "doi": "doi",
    "license": "license",
    "update_date": "update_date",
    "_date_kind": "date_kind",
}
_VERSION = pl.Struct({"version": pl.String, "created": pl.String})
RAW_SCHEMA = pl.Schema(
    {
        **dict.fromkeys(_TEXT_FIELDS.values(), pl.String),
        "versions": pl.List(_VERSION),
        "source_file": pl.String,
        "source_line": pl.Int64,
    }
)
"""Columns of a frame of raw records: values as the source wrote them, and where they stood."""


@dataclass(frozen=True)
class SourceFile:
    """A file a source consists of: path relative to the source, SHA-256, size."""

    path: str
    sha256: str
    size_bytes: int


@dataclass(frozen=True)
class Refusal:
    """A record that cannot be kept, with the reason and the record itself."""

    source_file: str
    source_line: int
    raw_id: str | None
    reason: str
    raw: str


@dataclass(frozen=True)
class Failure:
    """An item that could not be read although the source says it has it."""

    item: str
    reason: str


@dataclass(frozen=True)
class RawBatch:
    """Records in file order, what was refused among them, and what could not be read."""

    frame: pl.DataFrame
    refusals: list[Refusal] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)


def describe_file(path: Path, root: Path) -> SourceFile:
    """Path relative to `root`, SHA-256 and size, read in bounded memory."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
    return SourceFile(path.relative_to(root).as_posix(), digest.hexdigest(), path.stat().st_size)


def read_records(path: Path, label: str, normalise: Callable[[dict], dict] | None = None) -> Iterator[RawBatch]:
    """Stream a `.jsonl`, `.jsonl.gz` or `.parquet` file as batches of raw records.

    Args:
        path: the file.
        label: its name in rows and messages.
        normalise: maps a JSON object of another shape to the snapshot's fields.

    Yields:
        RawBatch: a damaged file ends with a batch that holds the failure.
    """
    if path.name.endswith(".parquet"):
        yield from _read_parquet(path, label, normalise)
    else:
        yield from _read_jsonl(path, label, normalise)


def lines(path: Path, label: str) -> Iterator[tuple[int, bytes] | Failure]:
    """(number from 1, line) of each non-blank line; a damaged file ends with a Failure."""
    opener = gzip.open if path.name.endswith(".gz") else open
    number = 0
    try:
        with opener(path, "rb") as stream:
            for number, line in enumerate(stream, start=1):
                line = line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
                if line.strip():
                    yield number, line
    except (OSError, EOFError, zlib.error) as error:
        yield Failure(label, f"cannot be read after line {number}: {error}. Fetch the file again.")


def _read_jsonl(path: Path, label: str, normalise) -> Iterator[RawBatch]:
    rows: list[dict] = []
    refusals: list[Refusal] = []
    for item in lines(path, label):
        if isinstance(item, Failure):
            yield RawBatch(_frame(rows), refusals, [item])
            return
        number, line = item
        _sort(_object(line), normalise, label, number, line[:2000].decode("utf-8", "replace").strip(), rows, refusals)
        if len(rows) >= BATCH_RECORDS:
            yield RawBatch(_frame(rows), refusals)
            rows, refusals = [], []
    yield RawBatch(_frame(rows), refusals)


def _object(line: bytes) -> dict | str:
    """The JSON object of a line, or the reason why there is none."""
    try:
        found = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        return f"not valid JSON: {error}"
    return found if isinstance(found, dict) else f"not a JSON object but {type(found).__name__}"


def _sort(
    found: dict | str,
    normalise: Callable[[dict], dict] | None,
    label: str,
    number: int,
    raw: str,
    rows: list[dict],
    refusals: list[Refusal],
) -> None:
    """Put a record among the rows, or among the refusals."""
    if isinstance(found, str):
        refusals.append(Refusal(label, number, None, found, raw))
        return
    found = normalise(found) if normalise else found
    row, reason = _row(found)
    if reason:
        raw_id = str(found["id"]) if found.get("id") is not None else None
        refusals.append(Refusal(label, number, raw_id, reason, raw))
    else:
        rows.append({**row, "source_file": label, "source_line": number})


def _row(found: dict) -> tuple[dict, str]:
    """The raw record of a JSON object, and "" or the reason why it cannot be one."""
    row: dict = {}
    for name, column in _TEXT_FIELDS.items():
        value = found.get(name)
        if value is not None and not isinstance(value, str):
            return {}, f"field {name} is {type(value).__name__}, not text"
        row[column] = _storable(value)
    versions = found.get("versions")
    if versions is not None and not _are_versions(versions):
        return {}, "field versions is not a list of {version, created}"
    row["versions"] = [{"version": v.get("version"), "created": v.get("created")} for v in versions or []]
    return row, _missing(row)


def _missing(row: dict) -> str:
    for column in ("source_id", "title"):
        if not (row[column] or "").strip():
            return "no id" if column == "source_id" else "no title"
    return ""


def _are_versions(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(v, dict) and all(isinstance(v.get(k), str | None) for k in ("version", "created")) for v in value
    )


def _storable(value: str | None) -> str | None:
    """Lone surrogates cannot be written as UTF-8; the replacement character marks where one stood."""
    return None if value is None else value.encode("utf-8", "replace").decode("utf-8")


def _frame(rows: list[dict]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=RAW_SCHEMA)


def _read_parquet(path: Path, label: str, normalise) -> Iterator[RawBatch]:
    first = 1
    try:
        with pq.ParquetFile(path) as file:
            names = file.schema_arrow.names
            wanted = None if normalise else [n for n in (*_TEXT_FIELDS, "versions") if n in names]
            if not normalise and (unfit := _unfit(file.schema_arrow)):
                yield RawBatch(_frame([]), [], [Failure(label, unfit)])
                return
            for batch in file.iter_batches(BATCH_RECORDS, columns=wanted):
                if normalise:
                    yield _normalised_batch(batch.to_pylist(), label, first, normalise)
                else:
                    yield _parquet_batch(pl.from_arrow(batch), label, first)
                first += batch.num_rows
    except (OSError, pa.ArrowException) as error:
        text = " ".join(str(error).split()).rstrip(".")
        reason = f"cannot be read as Parquet after row {first - 1}: {text}. Fetch the file again."
        yield RawBatch(_frame([]), [], [Failure(label, reason)])


def _unfit(schema: pa.Schema) -> str:
    """Why a file's columns cannot be the snapshot's fields, or "". Numbers are not cast: ids would lose zeros."""
    if missing := [n for n in ("id", "title") if n not in schema.names]:
        return f"has no column {' and '.join(missing)}"
    kinds = {n: pl.Schema(pa.schema([schema.field(n)]))[n] for n in (*_TEXT_FIELDS, "versions") if n in schema.names}
    texts = (pl.String, pl.Categorical, pl.Enum, pl.Null)
    for name, kind in kinds.items():
        if name == "versions":
            fields = {f.name: f.dtype for f in getattr(_inner(kind), "fields", [])}
            texts_only = all(fields.get(n) in (pl.String, pl.Null) for n in ("version", "created"))
            if not (_inner(kind) == pl.Null or texts_only):
                return "column versions is not a list of {version, created}"
        elif not (isinstance(kind, texts) or (name == "update_date" and isinstance(kind, pl.Date | pl.Datetime))):
            return f"column {name} is {kind}, not text"
    return ""


def _inner(kind: pl.DataType) -> pl.DataType:
    return kind.inner if isinstance(kind, pl.List) else kind


def _normalised_batch(found: list[dict], label: str, first: int, normalise: Callable[[dict], dict]) -> RawBatch:
    rows: list[dict] = []
    refusals: list[Refusal] = []
    for number, record in enumerate(found, start=first):
        _sort(record, normalise, label, number, str(record)[:2000], rows, refusals)
    return RawBatch(_frame(rows), refusals)


def _parquet_batch(batch: pl.DataFrame, label: str, first: int) -> RawBatch:
    frame = batch.rename({n: c for n, c in _TEXT_FIELDS.items() if n in batch.columns and n != c})
    frame = frame.with_columns(
        pl.lit(label).alias("source_file"), pl.int_range(first, first + len(batch), dtype=pl.Int64).alias("source_line")
    )
    if isinstance(frame.schema.get("update_date"), pl.Date | pl.Datetime):
        frame = frame.with_columns(pl.col("update_date").dt.date().dt.to_string("iso"))
    absent = [pl.lit(None, dtype=t).alias(c) for c, t in RAW_SCHEMA.items() if c not in frame.columns]
    frame = frame.with_columns(absent)
    if _inner(frame.schema["versions"]) == pl.Null:
        versions = pl.lit([], dtype=RAW_SCHEMA["versions"])
    else:
        two = pl.struct(pl.element().struct.field(n).cast(pl.String) for n in ("version", "created"))
        versions = pl.col("versions").list.drop_nulls().list.eval(two).fill_null([])
    frame = frame.with_columns(versions.alias("versions"))
    frame = frame.select(pl.col(c).cast(t) for c, t in RAW_SCHEMA.items())
    bad = pl.any_horizontal(pl.col("source_id", "title").fill_null("").str.strip_chars() == "")
    refusals = [
        Refusal(label, row["source_line"], row["source_id"], _missing(row), str(row)[:2000])
        for row in frame.filter(bad).to_dicts()
    ]
    return RawBatch(frame.filter(~bad), refusals)
