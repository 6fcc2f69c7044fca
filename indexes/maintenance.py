"""Upkeep of the index's tables: small files joined, versions that nobody needs removed with their files.

Which versions are needed is told by who keeps manifests; here are the tables, their versions and their bytes.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

from indexes import built_from as record
from indexes.lance_table import LanceTable
from indexes.locking import alone
from indexes.vector_guard import note_drift
from ingestion.errors import BadInput

TABLES = {"paper_text": "papers", "paper_vectors": "papers", "passages": "passages", "cards": "cards"}
"""Lance table → the lock under which it is written."""
RETAIN = timedelta(hours=1)
"""How long an unpinned version stays for who may be reading it: a survey pins what it read when it ends."""


@dataclass(frozen=True, slots=True)
class TableMaintenance:
    """What upkeep did to one table.

    Attributes:
        version: the newest, after it.
        versions_kept: those that can be opened: pinned ones, young ones, the newest.
        versions_removed: those that no longer can.
        versions_missing: pinned ones that were not there before, so somebody else had removed them.
        bytes_before, bytes_after: of all the table's files.
    """

    table: str
    version: int
    versions_kept: tuple[int, ...]
    versions_removed: tuple[int, ...]
    versions_missing: tuple[int, ...]
    bytes_before: int
    bytes_after: int


def maintain(
    folder: Path,
    pinned: Mapping[str, Collection[int]],
    *,
    retain: timedelta = RETAIN,
    tables: Collection[str] = tuple(TABLES),
) -> list[TableMaintenance]:
    """Join small files of every table in the index's folder and remove versions that are not pinned.

    A table that does not exist is left out. Waits for whoever writes to a table. Can be killed at any moment and
    run again: what is pinned stays readable throughout.

    Args:
        pinned: Lance table → versions that manifests name; the newest version is always kept, and so is what
            `built_from` names.
        retain: versions that were the newest within this time stay too.
        tables: only these.

    Raises:
        BadInput: `pinned` names something that is no table of the index.
        TransientFailure: no space or no permission.
        PermanentFailure: a table's files are damaged.
    """
    if unknown := sorted(set(pinned) - set(TABLES)):
        raise BadInput(
            "pinned versions are of a table that the index does not have",
            which=", ".join(unknown),
            advice=f"Its tables are {', '.join(TABLES)}.",
        )
    return [
        done
        for name, lock in TABLES.items()
        if name in tables
        and (done := _maintain(Path(folder), name, lock, set(pinned.get(name, ())), retain)) is not None
    ]


def _maintain(folder: Path, name: str, lock: str, pinned: set[int], retain: timedelta) -> TableMaintenance | None:
    table = LanceTable(folder, name)
    if table.table is None:
        return None
    with alone(folder, lock):
        table.see_latest()
        before, size = table.versions(), table.size()
        built = record.read(folder)
        noted = built.versions.get(name) if built else None
        keep = pinned | ({noted} if noted is not None else set())
        was_newest = table.version
        note_drift(table)  # rows that now enter an approximate index count for when it is measured again
        table.compact()
        if built and noted == was_newest != table.version:  # only the files changed: the record goes along
            record.write(folder, replace(built, versions={**built.versions, name: table.version}))
            if built.is_complete:  # else the rows are not yet those of the snapshot that it names
                table.tag(built.snapshot)
            keep = pinned
        removed = table.remove_versions(keep, retain=retain)
        return TableMaintenance(
            name,
            table.version,
            tuple(table.versions()),
            tuple(removed),
            tuple(sorted(pinned - set(before))),
            size,
            table.size(),
        )
