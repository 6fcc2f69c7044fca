"""Who may do what at once, over processes: the command line, Dagster's runs, and several of each.

The corpus and its index change together, and a survey needs them to fit: so whoever changes the corpus is alone, and
surveys are made side by side, but each topic by one process at a time. Reading commands take no lock. Whoever must
wait says so on standard error, and then finds done what the other has done. The locks are the operating system's:
they end with their process, however that ends.
"""

import functools
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, ReadWriteLock, Timeout

from ingestion.errors import BadInput, TransientFailure

_FOLDER = "locks"
_PATIENCE = 0.3
"""Seconds of waiting that are not worth a word."""


@contextmanager
def changing_corpus(home: Path) -> Iterator[None]:
    """Alone with the corpus and its index; to be nested at will, but not within `using_corpus`.

    Raises:
        TransientFailure: the lock's file cannot be made.
    """
    lock = _corpus(home)
    _wait(lock.acquire_write, "surveys are being made, or another process changes the corpus")
    try:
        yield
    finally:
        lock.release()


@contextmanager
def using_corpus(home: Path) -> Iterator[None]:
    """The corpus and its index stay as they are meanwhile; any number at once, nested or within nothing.

    Raises:
        TransientFailure: the lock's file cannot be made.
    """
    lock = _corpus(home)
    _wait(lock.acquire_read, "another process refreshes the corpus")
    try:
        yield
    finally:
        lock.release()


@contextmanager
def one_topic(home: Path, key: str) -> Iterator[None]:
    """The only process at this topic; within `using_corpus`, never around it.

    Raises:
        TransientFailure: the lock's file cannot be made.
    """
    if not re.fullmatch(r"[a-z0-9-]+", key):
        raise BadInput("not the key of a topic", which=key)
    with _telling(home):
        lock = FileLock(_folder(home) / f"topic-{key}.lock", is_singleton=True)
    _wait(lock.acquire, f"another process is at the topic {key}")
    try:
        yield
    finally:
        lock.release()


def alone_with_corpus(body):
    """For assets of the corpus: a step of Dagster's has the corpus for itself. The resource `house` says which."""

    @functools.wraps(body)
    def wrapped(*args, **kwargs):
        with changing_corpus(kwargs["house"].path):
            return body(*args, **kwargs)

    return wrapped


def _corpus(home: Path) -> ReadWriteLock:
    with _telling(home):
        return ReadWriteLock(_folder(home) / "corpus.lock")


def _folder(home: Path) -> Path:
    folder = home.resolve() / _FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _wait(acquire, what: str) -> None:
    try:
        acquire(timeout=_PATIENCE)
    except Timeout:
        print(f"Waiting: {what}.", file=sys.stderr, flush=True)
        acquire(timeout=-1)


@contextmanager
def _telling(home: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise TransientFailure(
            "the lake cannot be locked for writing",
            which=f"{error.filename or home}: {error.strerror or error}",
            advice="Check disk space and permissions, and run this again.",
        ) from error
