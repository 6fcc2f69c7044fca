"""The keys of a source's records, file by file, kept beside the lake; and the records themselves, spooled to disk.

A harvest decides by keys (paper, month, version, content hash) and needs whole records only of what is new. So the
keys of a file are kept as long as its bytes, and the code that made them, are the same: harvesting an unchanged file
reads nothing of it, and a file in which little changed is read once, in bounded memory.

Belongs here: files → keys and spooled records. Not here: which of several records of a paper stands
(`corpus.source_reading`), what is held (`corpus.harvest`).
"""

import os
import shutil
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from uuid import uuid4

import orjson
import polars as pl

from corpus.harvest_report import Source
from corpus.hashing import sources_hash, text_hash
from corpus.keyed import FIRST_DAY, NEWEST, first_days, hashed, keyed_records, named_day, newest_version
from corpus.processes import is_alive
from ingestion.errors import TransientFailure
from ingestion.records import RAW_SCHEMA, Failure, Refusal, SourceFile

KEYS = pl.Schema(
    {
        "paper_id": pl.String,
        "id_month": pl.Date,
        NEWEST: pl.Int32,
        FIRST_DAY: pl.Date,
        "content_hash": pl.String,
        "source_file": pl.String,
        "source_line": pl.Int64,
    }
)
"""Columns of keys: newest version the record knows (null for none) and the day of its first version (null unless
known) beside what names it. On disk they have `source_id` and `title` too, for telling of refusals."""

_TOLD = {"source_id": pl.String, "title": pl.String}
_SPOOLED = pl.Schema(
    {
        **RAW_SCHEMA,
        "paper_id": pl.String,
        "version": pl.Int32,
        "id_month": pl.Date,
        "abstract_origin": pl.String,
        "content_hash": pl.String,
    }
)
_CODE = ("corpus/source_keys.py", "corpus/keyed.py", "corpus/hashing.py", "ingestion/records.py", "ingestion/identity.py",
         "ingestion/paper_key.py", "ingestion/dates.py")  # fmt: skip
_OLD_SECONDS = 24 * 3600
"""Since their last use, after which keys of other bytes are swept: no harvest still reads them."""


@dataclass(frozen=True)
class FileKeys:
    """What a file of a source says, in keys.

    Attributes:
        path: where the keys lie with `source_id` and `title`.
        as_of: newest day that any of its records names.
    """

    keys: pl.DataFrame
    path: Path
    refusals: list[Refusal]
    failures: list[Failure]
    as_of: date | None

    def forget(self) -> None:
        """Do not keep them for another harvest."""
        _beside(self.path).unlink(missing_ok=True)


@dataclass
class RecordStore:
    """Keys and records of one source's files, below a folder of the home.

    Attributes:
        folder: `raw/harvests/<hash of the source's name>`.
        spools: file → folder of its records' parts, of those read by this process.
    """

    source: Source
    folder: Path
    spools: dict[str, Path] = field(default_factory=dict)

    def keys_of(self, file: SourceFile) -> FileKeys:
        """Keys of a file: as kept, or read now."""
        path = self.folder / f"{self._name(file)}.parquet"
        if kept := _kept(path):
            return kept
        self.folder.mkdir(parents=True, exist_ok=True)
        return self._read(file, path)

    def records(self, keys: pl.DataFrame) -> pl.DataFrame:
        """Whole records of these keys (columns of `arxiv_records` but the harvest's), in no order.

        Args:
            keys: with `source_file`, `source_line`, `paper_id` and the month that the record said (`said_month`, else
                `id_month`); files that are not spooled yet are read for it.

        Raises:
            TransientFailure: a file changed since its keys were read.
        """
        files = keys["source_file"].unique().to_list()
        for name in files:
            if name not in self.spools:
                self._spool(name)
        months = keys["said_month" if "said_month" in keys.columns else "id_month"].unique().sort()
        place = ["source_file", "source_line", "paper_id"]
        parts = [pl.scan_parquet(self.spools[name] / "*.parquet", schema=_SPOOLED, glob=True) for name in sorted(files)]
        if not parts:
            return pl.DataFrame(schema=_SPOOLED)
        found = (
            pl.concat(parts)
            .filter(pl.col("id_month").is_between(months[0], months[-1]))
            .join(keys.lazy().select(place), on=place, how="semi")
            .collect(engine="streaming")
        )
        if found.height != keys.height:
            raise TransientFailure(
                f"{keys.height - found.height} records are no longer where they were read",
                which=", ".join(sorted(files)),
                advice="A file of the source changed meanwhile; run this again.",
            )
        return found

    def close(self) -> None:
        """Remove the spooled records; keys stay."""
        for folder in self.spools.values():
            shutil.rmtree(folder, ignore_errors=True)
        self.spools.clear()

    def sweep(self, current: Iterable[FileKeys]) -> None:
        """Remove keys that no harvest reads any more, and spools that killed harvests left."""
        kept = {path for keys in current for path in (keys.path, _beside(keys.path))}
        for path in self.folder.iterdir() if self.folder.is_dir() else ():
            if path.name.startswith("spool-"):
                if not is_alive(int(path.name.split("-")[1])):
                    shutil.rmtree(path, ignore_errors=True)
            elif path not in kept and _age(path) > _OLD_SECONDS:
                path.unlink(missing_ok=True)

    def _name(self, file: SourceFile) -> str:
        return text_hash(f"{file.path} {file.sha256} {self.source.abstract_origin} {sources_hash(_CODE)}")

    def _spool(self, name: str) -> None:
        self.spools[name] = self._new_spool()
        for number, batch in enumerate(self.source.read(name)):
            self._write_part(name, number, self._said(keyed_records(batch.frame)[0]))

    def _new_spool(self) -> Path:
        folder = self.folder / f"spool-{os.getpid()}-{uuid4().hex}"
        folder.mkdir(parents=True)
        return folder

    def _said(self, records: pl.DataFrame) -> pl.DataFrame:
        return hashed(records.with_columns(pl.lit(self.source.abstract_origin).alias("abstract_origin")))

    def _write_part(self, name: str, number: int, records: pl.DataFrame) -> None:
        if records.height or number == 0:
            part = self.spools[name] / f"{number:06d}.parquet"
            # By month, so that a harvest which needs one month opens few row groups.
            records.select(list(_SPOOLED)).sort("id_month").write_parquet(part, compression="lz4", row_group_size=2_000)

    def _read(self, file: SourceFile, path: Path) -> FileKeys:
        """Read a file once: its records go to the spool, its keys beside the lake."""
        self.spools[file.path] = self._new_spool()
        frames = [pl.DataFrame(schema={**KEYS, **_TOLD})]
        refusals: list[Refusal] = []
        failures: list[Failure] = []
        as_of: date | None = None
        for number, batch in enumerate(self.source.read(file.path)):
            records, refused = keyed_records(batch.frame)
            records = self._said(records)
            failures += batch.failures
            refusals += [*batch.refusals, *refused]
            records = records.with_columns(first_days(records), newest_version().alias(NEWEST))
            as_of = max((d for d in (as_of, named_day(records)) if d), default=None)
            frames.append(records.select([*KEYS, *_TOLD]).with_columns(pl.col("title").str.slice(0, 300)))
            self._write_part(file.path, number, records)
        keys = pl.concat(frames)
        found = FileKeys(keys.select(list(KEYS)), path, refusals, failures, as_of)
        _keep(found, keys)
        return found

    def told(self, files: list[FileKeys], keys: pl.DataFrame) -> Iterator[dict]:
        """`source_id` and `title` of keys, for telling of refusals; rows of `keys` with both."""
        if keys.is_empty():
            return
        place = ["source_file", "source_line"]
        known = pl.scan_parquet([f.path for f in files]).select(*place, *_TOLD)
        yield from keys.lazy().join(known, on=place, how="left", maintain_order="left").collect().iter_rows(named=True)


def _keep(found: FileKeys, keys: pl.DataFrame) -> None:
    """Keys first, then the rest: a file that cannot be read whole has keys for this harvest only."""
    draft = found.path.with_suffix(f".{os.getpid()}.tmp")
    keys.write_parquet(draft, compression="zstd")
    draft.replace(found.path)
    beside = _beside(found.path)
    if found.failures:
        beside.unlink(missing_ok=True)
        return
    rest = {"refusals": [vars(r) for r in found.refusals], "as_of": found.as_of and found.as_of.isoformat()}
    draft = beside.with_suffix(f".{os.getpid()}.tmp")
    draft.write_bytes(orjson.dumps(rest))
    draft.replace(beside)


def _kept(path: Path) -> FileKeys | None:
    """Keys kept of a file; None where there are none, or none that can be read: then the file is read again."""
    try:
        rest = orjson.loads(_beside(path).read_bytes())
        keys = pl.read_parquet(path, columns=list(KEYS))
        as_of = date.fromisoformat(rest["as_of"]) if rest["as_of"] else None
        for used in (path, _beside(path)):
            used.touch()  # another harvest that sweeps sees that they are in use
        return FileKeys(keys, path, [Refusal(**r) for r in rest["refusals"]], [], as_of)
    except (OSError, ValueError, KeyError, TypeError, pl.exceptions.PolarsError):
        return None


def _beside(path: Path) -> Path:
    return path.with_suffix(".json")


def _age(path: Path) -> float:
    try:
        return time.time() - path.stat().st_mtime
    except FileNotFoundError:
        return 0.0
