"""A harvest's own row, and the rows of what it refused.

Belongs here: `harvests` and `rejected_records`. Not here: the records (`corpus.harvest`).
"""

from datetime import UTC, datetime

import polars as pl

from corpus.contracts.sources import HARVESTS, REJECTED_RECORDS
from corpus.harvest_report import HarvestReport
from corpus.tables import Lake


def open_harvest(lake: Lake, report: HarvestReport, run_id: str) -> None:
    """Write the harvest's row as `open` before its records: these then have a harvest even if the run dies."""
    _write_row(lake, report, "open", run_id or None)


def record_harvest(lake: Lake, report: HarvestReport, run_id: str | None = None) -> None:
    """Write the refusals of the source and the harvest's row; the row comes last and says that all is in place."""
    record_refusals(lake, report)
    _write_row(lake, report, report.status, run_id)


def _write_row(lake: Lake, report: HarvestReport, status: str, run_id: str | None) -> None:
    covers = report.covers or (None, None, None)
    row = {
        "harvest_id": report.harvest_id,
        "source": report.source,
        "cutoff": report.cutoff,
        "started_at": report.started_at,
        "finished_at": datetime.now(UTC),
        "months": report.months,
        "watermark": report.watermark,
        "have_count": len(report.seen) + report.side_count,
        "expected_count": None,
        "added_count": len(report.added),
        "changed_count": len(report.changed),
        "unchanged_count": report.unchanged_count,
        "removed_count": len(report.removed),
        "rejected_count": len(report.refusals),
        "commit_count": report.commits,
        "status": status,
        "failures": [{"item": f.item, "reason": f.reason} for f in report.failures],
        "files": [{"path": f.path, "sha256": f.sha256, "size_bytes": f.size_bytes} for f in report.files],
        "run_id": run_id,
        "as_of": report.as_of,
        "records_version": covers[0],
        "papers_version": covers[1],
        "derivation": covers[2],
    }
    frame = pl.DataFrame([row], schema=HARVESTS.polars_schema)
    lake.replace("harvests", frame, {"harvest_id": report.harvest_id})


def record_refusals(lake: Lake, report: HarvestReport) -> None:
    """Make `rejected_records` hold what this source's files hold that was refused.

    Refusals of files that were not read now, since they are as they were, stay; so do those of damaged files.
    """
    schema = REJECTED_RECORDS.polars_schema
    rows = [
        {
            "source": report.source,
            "source_file": r.source_file,
            "source_line": r.source_line,
            "raw_id": r.raw_id,
            "reason": r.reason,
            "raw": r.raw,
            "rejected_at": report.started_at,
        }
        for r in report.refusals
    ]
    keys = ["source_file", "source_line"]
    held = lake.read("rejected_records", source=report.source)
    same = [c for c in schema if c != "rejected_at"]
    fresh = (
        pl.DataFrame(rows, schema=schema)
        .unique(keys, keep="first", maintain_order=True)
        .join(held.rename({"rejected_at": "_before"}), on=same, how="left", nulls_equal=True)
        .with_columns(pl.coalesce("_before", "rejected_at").alias("rejected_at"))
        .drop("_before")
    )
    staying = [*_unchanged_files(lake, report) - report.read_files, *(f.item for f in report.failures)]
    stayed = held.filter(pl.col("source_file").is_in(staying)).join(fresh, on=keys, how="anti")
    frame = pl.concat([fresh, stayed.select(fresh.columns)]).sort(keys)
    if frame.equals(held.select(frame.columns).sort(keys)):
        return
    lake.replace("rejected_records", frame, {"source": report.source})
    report.commits += 1


def _unchanged_files(lake: Lake, report: HarvestReport) -> set[str]:
    """Files that are byte for byte what they were at the source's last finished harvest."""
    finished = lake.scan("harvests").filter(pl.col("source") == report.source, pl.col("status") != "open")
    last = finished.sort("finished_at").tail(1).collect()
    before = {(f["path"], f["sha256"]) for files in last["files"] for f in files}
    return {f.path for f in report.files if (f.path, f.sha256) in before}
