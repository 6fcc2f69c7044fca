"""One writer at a time for each part of the index, also over processes.

Readers never wait: they read the version they opened.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from ingestion.errors import TransientFailure

_LOG = logging.getLogger(__name__)
_PATIENCE = 0.3
"""Seconds of waiting that are not worth a word."""


@contextmanager
def alone(folder: Path, name: str) -> Iterator[None]:
    """Wait until no other process or thread writes the part of the index called `name`.

    Who holds it for one commit after another lets others in between: whoever waits stands in a queue of one, which
    must be passed for the next commit.

    Lance lets two writers insert the same key, and refuses one of two that compact at once. Whoever waited finds what
    the other wrote and need not do it again. The lock is the operating system's: it ends with its process, however
    that ends. Not reentrant.

    Raises:
        TransientFailure: the lock's file cannot be made (no space, no permission).
    """
    path = folder / f"{name}.lock"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(path, is_singleton=False)
        with FileLock(path.with_suffix(".queue.lock"), is_singleton=False):
            try:
                lock.acquire(timeout=_PATIENCE)
            except Timeout:
                _LOG.warning("Waiting: another process writes to the index (%s).", name)
                lock.acquire(timeout=-1)
    except OSError as error:
        raise TransientFailure(
            "the index cannot be locked for writing",
            which=f"{path}: {error.strerror or error}",
            advice="Check disk space and permissions, and run this again.",
        ) from error
    try:
        yield
    finally:
        lock.release()
