"""A source read once: which records stand, and what a cutoff keeps of them. Nothing is written to tables.

Belongs here: keys of all files → one key a paper. Not here: keys of one file (`corpus.source_keys`), what is held
(`corpus.harvest`).
"""

import tempfile
import weakref
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from uuid import uuid4

import polars as pl

from corpus.contracts.sources import ARXIV_RECORDS
from corpus.harvest_report import HarvestReport, Source
from corpus.hashing import text_hash
from corpus.keyed import one_per_paper, refusal, within
from corpus.source_keys import KEYS, FileKeys, RecordStore
from ingestion.errors import TransientFailure
from ingestion.records import Failure, SourceFile


@dataclass
class Reading:
    """A source read once: keys of the records that stand, and the report that the harvest fills.

    Attributes:
        keys: columns of `corpus.source_keys.KEYS`, one row a paper, within the cutoff.
    """

    keys: pl.DataFrame
    report: HarvestReport
    store: RecordStore
    files: list[FileKeys]

    def records(self, keys: pl.DataFrame) -> pl.DataFrame:
        """Rows of `arxiv_records` for these keys; month, and version where it is given, as the keys say."""
        report, store = self.report, self.store
        found = store.records(keys)
        given = keys.select("source_file", "source_line", pl.col("id_month").alias("_month"))
        found = found.join(given, on=["source_file", "source_line"], how="left", maintain_order="left").with_columns(
            pl.col("_month").alias("id_month"),
            pl.lit(report.source).alias("source"),
            pl.lit(report.harvest_id).alias("harvest_id"),
            pl.lit(report.started_at).cast(pl.Datetime("us", "UTC")).alias("harvested_at"),
        )
        return found.select(list(ARXIV_RECORDS.polars_schema))

    def told(self, keys: pl.DataFrame) -> list[dict]:
        """Keys with `source_id` and `title`, for telling of refusals."""
        return list(self.store.told(self.files, keys))

    def close(self) -> None:
        """Remove what was spooled to disk."""
        self.store.close()


def read_source(
    source: Source, *, cutoff: date | None, now: datetime | None = None, workspace: Path | None = None
) -> Reading:
    """Read what a source says: of files that are as they were, the kept keys; of others every record, once.

    Args:
        source: what to read.
        cutoff: inclusive UTC day. Id months up to its month are kept whole; of later months only records whose
            first version is within it. None keeps everything.
        now: time of the harvest, for tests.
        workspace: folder that keeps keys from one harvest to the next (`raw/harvests` of a home); None keeps none.

    Raises:
        TransientFailure: a file changed while it was read.
    """
    workspace = workspace if getattr(source, "keeps_keys", True) else None
    folder = workspace or Path(tempfile.mkdtemp(prefix="lithouse-harvest-"))
    store = RecordStore(source, folder / text_hash(source.name))
    report = HarvestReport(uuid4().hex, source.name, cutoff, now or datetime.now(UTC), source.files())
    described = {file.path: file for file in report.files}
    files = [store.keys_of(described[name]) for name in source.record_files]
    _refuse_change(source, store, described, files)
    for found in files:
        report.failures += found.failures
        report.refusals += found.refusals
    report.read_files = set(source.record_files)
    # No record knows of a day to come, whatever it names.
    named = max((f.as_of for f in files if f.as_of), default=None)
    report.as_of = named and min(named, report.started_at.date())
    keys, doubled = one_per_paper(pl.concat([pl.DataFrame(schema=KEYS), *(f.keys for f in files)]))
    report.all_ids = keys["paper_id"]
    if not (len(report.all_ids) or report.failures):
        report.failures.append(Failure(source.name, "gives not one readable record. See rejected_records."))
    keys = within(keys, cutoff)
    report.seen = keys["paper_id"]
    report.months = sorted(keys["id_month"].unique())
    report.watermark = report.months[-1] if report.months else None
    reading = Reading(keys, report, store, files)
    report.refusals += [
        refusal(row, f"paper {row['paper_id']} is given again, newer or later, in {row['_file']}, line {row['_line']}")
        for row in reading.told(doubled)
    ]
    store.sweep(files)
    # Whoever forgets to close a reading leaves nothing behind all the same.
    weakref.finalize(reading, _tidy, store, None if workspace else folder)
    return reading


def _refuse_change(source: Source, store: RecordStore, described: dict[str, SourceFile], files: list[FileKeys]) -> None:
    """Keys are kept under the hash that a file had before it was read: another one then must not have been read."""
    if not store.spools:
        return
    changed = [file.path for file in source.files() if described.get(file.path) != file]
    if not changed:
        return
    for found in files:
        found.forget()
    store.close()
    raise TransientFailure(
        "a file of the source changed while it was read",
        which=", ".join(changed),
        advice="Nothing was written; run this again.",
    )


def _tidy(store: RecordStore, folder: Path | None) -> None:
    store.close()
    if folder:
        import shutil

        shutil.rmtree(folder, ignore_errors=True)
