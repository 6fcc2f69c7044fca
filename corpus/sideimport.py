"""`lithouse import outlines|citations`: a side file as a source, with its row in `harvests`."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

from corpus.harvest import HarvestReport, record_harvest
from corpus.sidetables import SideChange, store_edges, store_outlines
from corpus.tables import Lake
from ingestion.errors import NotFound
from ingestion.records import describe_file
from ingestion.sidedata import SideData, read_edges, read_outlines


@dataclass(frozen=True)
class SideImport:
    """What an import read and changed."""

    report: HarvestReport
    side: SideData
    change: SideChange


def import_citations(lake: Lake, path: Path) -> SideImport:
    """Edges of a file into `citations`; a second import of the same file replaces what the first one said."""
    return _import(lake, path, "citations", read_edges, store_edges)


def import_outlines(lake: Lake, path: Path) -> SideImport:
    """Outlines of a file into `human_outlines`."""
    return _import(lake, path, "outlines", read_outlines, store_outlines)


def _import(lake: Lake, path: Path, kind: str, read, store) -> SideImport:
    path = path.resolve()
    if not path.is_file():
        raise NotFound("there is no file to import", which=str(path))
    side = read(path)
    source = f"import:{path.as_posix()}"
    report = HarvestReport(uuid4().hex, source, None, datetime.now(UTC), [describe_file(path, path.parent)])
    report.refusals, report.failures = side.refusals, side.failures
    report.read_files, report.side_count = {path.name}, len(side.rows)
    if side.failures:
        # A damaged file says less than it should: nothing it does not say is taken away.
        change = SideChange(0, 0, 0, is_committed=False)
    else:
        change = store(lake, source, side.rows)
        report.commits += change.is_committed
    record_harvest(lake, report)
    return SideImport(report, side, change)
