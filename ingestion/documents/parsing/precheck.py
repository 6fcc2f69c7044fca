"""What a file's bytes tell before anything opens it.

Here: size, hash, the marker of a PDF. Not here: what PDFium must be asked (`ingestion.documents.parsing.opening`).
"""

import hashlib
import stat
from dataclasses import dataclass
from pathlib import Path

from ingestion.documents.statuses import Status

MARKER_WITHIN_BYTES = 1024
"""Where readers look for `%PDF-`: junk before it is common."""
_CHUNK = 2**20


@dataclass(frozen=True)
class TakenIn:
    """A file's copy.

    Attributes:
        status: not None where the file need not be opened: `empty_file`, `not_pdf`, `too_large`.
        sha256: "" for `too_large`: the file was not read to its end.
    """

    status: Status | None
    sha256: str
    size_bytes: int
    note: str = ""


def take_in(path: Path, copy: Path, most_bytes: int) -> TakenIn:
    """Copy a file and look at its first bytes, never at its name. What is parsed is the copy, so that a file that
    changes meanwhile has the hash of what was read.

    Raises:
        OSError: the file cannot be read or the copy not be written.
    """
    found = path.stat()
    if not stat.S_ISREG(found.st_mode):  # reading a pipe would never end
        raise OSError(f"not a regular file: {path.name}")
    size = found.st_size
    if size > most_bytes:
        return TakenIn("too_large", "", size, f"{_megabytes(size)}, more than the {_megabytes(most_bytes)} allowed")
    digest, size, first = hashlib.sha256(), 0, b""
    with path.open("rb") as source, copy.open("xb") as target:
        while chunk := source.read(_CHUNK):
            first = first or chunk[:MARKER_WITHIN_BYTES]
            size += len(chunk)
            if size > most_bytes:
                return TakenIn("too_large", "", size, f"grew beyond {_megabytes(most_bytes)} while it was read")
            digest.update(chunk)
            target.write(chunk)
    if not size:
        return TakenIn("empty_file", digest.hexdigest(), 0)
    if b"%PDF-" not in first:
        return TakenIn("not_pdf", digest.hexdigest(), size, f"begins with {_shown(first)}")
    return TakenIn(None, digest.hexdigest(), size)


def _megabytes(size: int) -> str:
    return f"{size / 2**20:,.1f} MB"


def _shown(first: bytes) -> str:
    return repr(first.lstrip()[:40].decode("ascii", "backslashreplace"))
