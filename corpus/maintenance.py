"""Upkeep of the tables: migration, compaction, checkpoints, and removal of files that no version needs.

A version is kept if a survey's manifest pins it, if it is the newest, or if it was the newest at any time within the
grace, since a reader (a survey at work) may still have it open. Rows are never deleted: old editions stay. Not here:
how Delta is written (`corpus.tables`), the index (`indexes.maintenance`).
"""

import itertools
import os
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from corpus.commits import LogEntry, read_log
from corpus.contracts.registry import CONTRACTS
from corpus.tables import COMPACTED_BYTES, Lake
from ingestion.errors import LithouseError, NotFound

GRACE = timedelta(hours=24)
"""Longer than any survey takes, reading thousands of papers in full included: its manifest is written at its end."""
_ORPHAN_AGE = timedelta(hours=24)
"""A file that no commit names is a dead writer's, or that of one at work."""
INDEX = "index/"
"""Manifests name versions of the index's tables by this prefix."""


@dataclass(frozen=True)
class TableUpkeep:
    """What was done to one table; of a dry run, what would be.

    Attributes:
        files_before, files_after, bytes_before, bytes_after: data files on disk, of all versions.
        joined, written: files of the newest version that were joined, and what they became.
        versions_kept, versions_removed: versions that can be read afterwards; that could before and no longer can.
        migrated_from: contract version the rows were migrated from, None for none.
        pins_lost: pinned versions that could not be read before anything was done.
        failure: why something was left undone; "" where all is done.
    """

    table: str
    files_before: int
    files_after: int
    bytes_before: int
    bytes_after: int
    joined: int = 0
    written: int = 0
    versions_kept: int = 0
    versions_removed: int = 0
    pins_lost: tuple[int, ...] = ()
    migrated_from: int | None = None
    seconds: float = 0.0
    failure: str = ""


@dataclass
class _Log:
    """A table's commits, replayed: which files each version that is still in the log consists of."""

    versions: dict[int, frozenset[str]] = field(default_factory=dict)
    committed_at: dict[int, datetime] = field(default_factory=dict)

    @classmethod
    def read(cls, folder: Path) -> "_Log":
        """Where older code let the log's beginning expire, files from before it count for no version."""
        log, files = cls(), frozenset()
        for entry in read_log(folder):
            files = _after(files, entry)
            log.versions[entry.version] = files
            log.committed_at[entry.version] = entry.committed_at
        return log

    @property
    def files(self) -> set[str]:
        """Every file that any commit named."""
        return set().union(*self.versions.values())

    def readable(self, held: Collection[str]) -> set[int]:
        return {version for version, files in self.versions.items() if files <= held}


def _after(files: frozenset[str], entry: LogEntry) -> frozenset[str]:
    return (files - entry.removed) | entry.added if entry.added or entry.removed else files


def pinned_versions(lake: Lake) -> dict[str, set[int]]:
    """Table, or `index/NAME`, → versions that the manifest of any edition names."""
    pins: dict[str, set[int]] = {}
    for manifest in lake.scan("surveys").select("manifest").collect().to_series():
        for entry in manifest:
            pins.setdefault(entry["table"], set()).add(entry["version"])
    return pins


def maintain(
    lake: Lake,
    *,
    grace: timedelta = GRACE,
    is_dry_run: bool = False,
    now: datetime | None = None,
    tell: Callable[[str], None] = lambda table: None,
) -> list[TableUpkeep]:
    """Upkeep of every table there is, one after the other; a table that cannot be served is told and left as it is.

    Args:
        grace: how long a version that was overtaken is kept for readers that may have it open; 0 only where nothing
            else runs.
        is_dry_run: nothing is changed.
        tell: called with each table's name before its turn.
    """
    pins, done = pinned_versions(lake), []
    for name in CONTRACTS:
        if lake.version(name) is not None:
            tell(name)
            done.append(_serve(lake, name, pins.get(name, ()), grace, is_dry_run, now))
    return done


def _serve(
    lake: Lake, name: str, pins: Collection[int], grace: timedelta, is_dry_run: bool, now: datetime | None
) -> TableUpkeep:
    started, folder = time.perf_counter(), lake.folder(name).resolve()
    before = dict(_data_files(folder))
    joined, written, migrated_from, failures = 0, 0, None, []
    try:
        held = lake.contract_version(name)
        migrated_from = None if held == CONTRACTS[name].version else held
        if is_dry_run:
            joined, written = _joinable(lake.file_uris(name))
        else:
            lake.migrate(name)
            lake.keep_log(name)
            compaction = lake.compact(name)
            joined, written = compaction.joined, compaction.written
            lake.checkpoint(name)
    except Exception as error:  # whatever Delta meets on disk: what can be removed, and other tables, are served
        failures.append(_told(error))
    log, disk = _Log.read(folder), dict(_data_files(folder))
    readable = log.readable(disk.keys())
    kept = _kept_versions(log, pins, (now or datetime.now(UTC)) - grace)
    removable, lost = {}, set()
    try:
        needed, lost = _needed(lake, name, folder, kept, log)
        removable = _removable(folder, needed, log.files, disk)
    except Exception as error:
        failures.append(_told(error))
    if not is_dry_run:
        for path in removable:
            (folder / path).unlink(missing_ok=True)
    left = {path: size for path, size in disk.items() if path not in removable}
    return TableUpkeep(
        name,
        len(before),
        len(left),
        sum(before.values()),
        sum(left.values()),
        joined,
        written,
        versions_kept=len(log.readable(left.keys())),
        versions_removed=len(readable - log.readable(left.keys())),
        pins_lost=tuple(sorted(lost & set(pins))),
        migrated_from=migrated_from,
        seconds=round(time.perf_counter() - started, 3),
        failure=" ".join(failures),
    )


def _told(error: Exception) -> str:
    if isinstance(error, LithouseError):
        return error.message
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}. Check disk space and permissions."


def _kept_versions(log: _Log, pins: Collection[int], since: datetime) -> set[int]:
    """Pinned versions, the newest, and those that were the newest at any time since."""
    ordered = sorted(log.versions)
    overtaken_at = {version: log.committed_at[after] for version, after in itertools.pairwise(ordered)}
    return {*pins, ordered[-1], *(version for version, at in overtaken_at.items() if at >= since)}


def _needed(lake: Lake, name: str, folder: Path, kept: Collection[int], log: _Log) -> tuple[set[str], set[int]]:
    """Files of the kept versions, by Delta and by our own reading of the log; and those that cannot be read."""
    needed, lost = set(), set()
    for version in kept:
        needed |= log.versions.get(version, frozenset())
        try:
            needed.update(os.path.relpath(uri, folder) for uri in lake.file_uris(name, version))
        except NotFound:
            lost.add(version)
    return needed, lost


def _removable(folder: Path, needed: set[str], known: set[str], disk: Mapping[str, int]) -> dict[str, int]:
    """Files that no kept version has: those some commit named, and those of dead writers once they are old."""
    oldest = time.time() - _ORPHAN_AGE.total_seconds()
    return {
        path: size
        for path, size in disk.items()
        if path not in needed and (path in known or (folder / path).stat().st_mtime < oldest)
    }


def _joinable(files: Collection[str]) -> tuple[int, int]:
    """Files that a compaction would join, and about how many they would become."""
    joined = written = 0
    by_folder: dict[str, list[int]] = {}
    for path in files:
        if (size := os.path.getsize(path)) < COMPACTED_BYTES:
            by_folder.setdefault(os.path.dirname(path), []).append(size)
    for sizes in by_folder.values():
        becomes = -(-sum(sizes) // COMPACTED_BYTES)
        if len(sizes) > becomes:
            joined, written = joined + len(sizes), written + becomes
    return joined, written


def _data_files(folder: Path) -> Iterator[tuple[str, int]]:
    """Files below a table's folder, relative to it, with their sizes in bytes; the log is none of them."""
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != "_delta_log"]
        for name in names:
            path = os.path.join(parent, name)
            try:
                yield os.path.relpath(path, folder), os.stat(path).st_size
            except FileNotFoundError:  # another process removed it meanwhile
                continue
