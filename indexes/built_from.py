"""The record beside the index: which corpus snapshot it was built from, and whether it was finished.

The record is taken away (marked unfinished) before the first write of an update and written last, so a
killed update is never mistaken for an index.
"""

import json
import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from indexes.embedding import EmbedderIdentity
from ingestion.errors import NotFound, PermanentFailure

_FILE = "built_from.json"
_FORMAT = 1


@dataclass(frozen=True)
class BuiltFrom:
    """What an index was built from.

    Attributes:
        snapshot: content hash of the corpus snapshot (of the last finished or of the unfinished update).
        rows: papers in the full text table.
        versions: Lance table → version.
        embedder: of the vectors; None while there are none.
        is_complete: False between the first write of an update and its end.
    """

    snapshot: str
    rows: int
    versions: dict[str, int]
    embedder: EmbedderIdentity | None = None
    is_complete: bool = True


def read(folder: Path) -> BuiltFrom | None:
    """The record, or None where there is none that can be read (then the next update repairs)."""
    try:
        record = json.loads((folder / _FILE).read_text(encoding="utf-8"))
        if record.pop("format") != _FORMAT:
            return None
        embedder = record.pop("embedder")
        return BuiltFrom(**record, embedder=EmbedderIdentity(**embedder) if embedder else None)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def write(folder: Path, record: BuiltFrom) -> None:
    """Replace the record in one step; does nothing if it already says the same."""
    if read(folder) == record:
        return
    target = folder / _FILE
    draft = target.with_suffix(f".{os.getpid()}.tmp")
    with draft.open("w", encoding="utf-8") as file:
        json.dump({"format": _FORMAT, **asdict(record)}, file, indent=2, sort_keys=True)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(target)


def mark_unfinished(folder: Path, snapshot: str) -> None:
    """Before the first write of an update: from here on the index is of no snapshot."""
    before = read(folder) or BuiltFrom(snapshot, 0, {})
    write(folder, replace(before, snapshot=snapshot, is_complete=False))


def require(folder: Path, snapshot: str) -> None:
    """Refuse an index that is not of this snapshot.

    Raises:
        NotFound: there is no finished index.
        PermanentFailure: it was built from another snapshot.
    """
    record = read(folder)
    if record is None or not record.is_complete:
        started = f"an update to snapshot {record.snapshot} was not finished" if record else "it has no record"
        raise NotFound("the paper index is not finished", which=started, advice="Run `lithouse refresh` again.")
    if record.snapshot != snapshot:
        raise PermanentFailure(
            "the paper index was built from another snapshot of the corpus",
            which=f"index {record.snapshot}, corpus {snapshot}",
            advice="Run `lithouse refresh`.",
        )
