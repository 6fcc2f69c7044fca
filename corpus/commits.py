"""A table's log as files: its newest version, and what each commit added and removed.

Belongs here: what can be known by looking at the log's folder without opening the table, for which deltalake takes
milliseconds. Not here: what a version holds and every write (`corpus.tables`), what may be removed
(`corpus.maintenance`).
"""

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import unquote

_COMMIT = re.compile(r"^(\d{20})\.json$")


@dataclass(frozen=True)
class LogEntry:
    """One commit.

    Attributes:
        committed_at: by the committer's clock; by the file's time where the commit does not say.
        added, removed: data files, relative to the table's folder, as they are on disk.
    """

    version: int
    committed_at: datetime
    added: frozenset[str]
    removed: frozenset[str]


def newest_version(folder: Path) -> int | None:
    """Version of the newest commit in a table's folder; None where there is no table.

    A commit is one file that appears whole under its number, so the highest number is the newest version.
    """
    try:
        with os.scandir(folder / "_delta_log") as entries:
            return max((int(found[1]) for e in entries if (found := _COMMIT.match(e.name))), default=None)
    except FileNotFoundError:
        return None


def identity(folder: Path, version: int) -> tuple[int, ...] | None:
    """What tells this commit from one of the same number in a table made anew; None where its file is gone."""
    try:
        found = os.stat(folder / "_delta_log" / f"{version:020d}.json")
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size


def read_log(folder: Path) -> Iterator[LogEntry]:
    """All commits that are still in the log, oldest first."""
    log = folder / "_delta_log"
    for path in sorted(p for p in log.iterdir() if _COMMIT.match(p.name)):
        added, removed, stamp = set(), set(), None
        with path.open("rb") as lines:
            for line in lines:
                action = json.loads(line)
                if "add" in action:
                    added.add(unquote(action["add"]["path"]))
                elif "remove" in action:
                    removed.add(unquote(action["remove"]["path"]))
                elif "commitInfo" in action:
                    stamp = action["commitInfo"].get("timestamp")
        seconds = path.stat().st_mtime if stamp is None else stamp / 1000
        yield LogEntry(int(path.stem), datetime.fromtimestamp(seconds, UTC), frozenset(added), frozenset(removed))
