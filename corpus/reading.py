"""Files of papers read into the lake: parsed within limits, stored as they come.

Belongs here: the run over what is to do. Not here: what is to do (`corpus.document_choice`), how one file is parsed
(`ingestion.documents.parsing.files`), the rows (`corpus.document_rows`, `corpus.documents`).
"""

import hashlib
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from corpus.document_choice import Task, ToDo, to_do, unread_key
from corpus.document_rows import Read, Rows, rows_of, rows_without_file
from corpus.documents import store_documents
from corpus.hashing import sources_hash
from corpus.referencing import resolve_references
from corpus.snapshots import take_snapshot
from corpus.tables import Lake
from ingestion.documents.parsing.files import parse_files
from ingestion.documents.parsing.limits import Limits
from ingestion.documents.parsing.parsers import DEFAULT_PARSER, Parser, docvortex_parser, external_parser
from ingestion.documents.parsing.worker import judged
from ingestion.documents.raw_store import RawStore, document_of
from ingestion.documents.statuses import ParseOutcome
from ingestion.held_files import Unreachable

_COMMIT_FILES, _COMMIT_SECONDS = 16, 20.0
"""What a killed run loses at most; a commit of four tables costs about .2 s, a file about 5."""
_FILELESS_AT_ONCE = 2_000
_DECIDING = (
    "corpus/document_rows.py",
    "corpus/passages.py",
    "ingestion/sentences.py",
    "ingestion/comparison.py",
    "ingestion/identity.py",
    "ingestion/paper_key.py",
    "ingestion/references",
    "ingestion/documents/values.py",
    "ingestion/documents/structure",
)


@dataclass(frozen=True)
class Reader:
    """How files are read.

    Attributes:
        concurrency: files at once.
        limits: of one file; None for the parser's own.
        total_seconds: for all files of a run; None for no limit.
        most_files: read in one run, those of the best papers first; None for all.
    """

    parser: Parser
    concurrency: int = field(default_factory=lambda: os.cpu_count() or 1)
    limits: Limits | None = None
    total_seconds: float | None = None
    most_files: int | None = None


@dataclass(frozen=True)
class Reading:
    """What was read.

    Attributes:
        by_status: status → files.
        failures: (paper id, status, advice) of files that gave no text.
        fileless: papers that got a row without a file.
        unreachable: sources whose files cannot be listed.
    """

    by_status: Counter[str]
    failures: tuple[tuple[str, str, str], ...]
    fileless: int
    unreachable: tuple[Unreachable, ...]

    def __add__(self, other: "Reading") -> "Reading":
        return Reading(
            self.by_status + other.by_status,
            self.failures + other.failures,
            self.fileless + other.fileless,
            tuple(dict.fromkeys(self.unreachable + other.unreachable)),
        )

    @property
    def is_worth_another_look(self) -> bool:
        """A file gave no text: the paper may have another one."""
        return bool(self.failures)


def reader_named(name: str, most_files: int | None = None) -> Reader:
    """A reader by its parser: `docvortex`, `magic-pdf`, `mineru-kit` or `mineru-kit:TIER`.

    Raises:
        BadInput: there is no such parser or tier.
        PermanentFailure: the program is not installed.
    """
    program, _, tier = name.partition(":")
    if program == DEFAULT_PARSER and not tier:
        return Reader(docvortex_parser(), most_files=most_files)
    return Reader(external_parser(program, tier or None), most_files=most_files)


def derivation() -> str:
    """Version of the code that makes rows of what a parser says: the hash of its sources."""
    return sources_hash(_DECIDING)[:12]


def read_papers(
    lake: Lake,
    todo: ToDo,
    reader: Reader,
    count_tokens: Callable[[str], int],
    progress: Callable[[int, int], None] | None = None,
) -> Reading:
    """Read and store what is to do; what was read before an error or an interruption is stored too.

    Args:
        count_tokens: word pieces of a text, of the embedder that passages are sized for.
        progress: called with files done and files to do.

    Raises:
        PermanentFailure: the parser cannot work at all, e.g. its weights are absent.
    """
    fileless = [rows_without_file(paper, derivation(), datetime.now(UTC)) for paper in todo.fileless]
    for start in range(0, len(fileless), _FILELESS_AT_ONCE):
        store_documents(lake, fileless[start : start + _FILELESS_AT_ONCE])
    store = RawStore(lake.home / "raw" / "parsed")
    tasks = {task.held.path: task for task in todo.tasks}
    statuses: Counter[str] = Counter()
    failures: list[tuple[str, str, str]] = []
    waiting: list[Rows] = []
    last = time.monotonic()
    outcomes = _outcomes(tasks, reader, store)
    try:
        for done, (path, outcome) in enumerate(outcomes, start=1):
            task = tasks[path]
            if outcome.raw:
                store.put(outcome.sha256, reader.parser.name, reader.parser.tier, outcome.raw)
            waiting.append(rows_of(_read(task, outcome, reader), count_tokens, derivation(), datetime.now(UTC)))
            statuses[outcome.status] += 1
            if outcome.status != "parsed":
                failures.append((task.paper_id, outcome.status, outcome.advice))
            if len(waiting) >= _COMMIT_FILES or time.monotonic() - last > _COMMIT_SECONDS:
                store_documents(lake, waiting)
                waiting, last = [], time.monotonic()
            if progress:
                progress(done, len(tasks))
    finally:
        store_documents(lake, waiting)
    return Reading(statuses, tuple(failures), len(fileless), todo.unreachable)


def _outcomes(tasks: Mapping[Path, Task], reader: Reader, store: RawStore) -> Iterator[tuple[Path, ParseOutcome]]:
    """Of files that were parsed before, what our code makes of that now; then the others, as they are parsed."""
    to_parse = []
    for path, task in tasks.items():
        outcome = _made_again(task, reader, store)
        if outcome is None:
            to_parse.append(path)
        else:
            yield path, outcome
    yield from parse_files(
        to_parse, reader.parser, concurrency=min(reader.concurrency, max(len(to_parse), 1)),
        per_file_limits=reader.limits, total_seconds=reader.total_seconds,
    )  # fmt: skip


def _made_again(task: Task, reader: Reader, store: RawStore) -> ParseOutcome | None:
    """The outcome from what this parser said of the same content before; None where that is not kept.

    Hashing a file costs a thousandth of parsing it, and finds what a killed run had parsed and not stored.
    """
    started = time.monotonic()
    name, tier = (task.parser, task.tier) if task.parser else (reader.parser.name, reader.parser.tier)
    sha256 = task.sha256 or (_sha256(task.held.path) if store.holds(name, tier) else "")
    if not sha256 or (text := store.get(sha256, name, tier)) is None:
        return None
    try:
        reply = judged(document_of(text.payload, text.page_count), text.page_count, text.notes)
    except Exception:  # whatever it is, the parser's own process makes a status of it
        return None
    return ParseOutcome(
        reply.status, sha256, task.held.size_bytes, reply.document, text.page_count, name, tier,
        time.monotonic() - started, notes=reply.notes,
    )  # fmt: skip


def _sha256(path: Path) -> str:
    """Of a file; "" where it cannot be read, which its parsing will tell."""
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError:
        return ""


def _read(task: Task, outcome: ParseOutcome, reader: Reader) -> Read:
    return Read(
        task=task,
        sha256=outcome.sha256 or unread_key(task.held.source, task.held.file),
        status=outcome.status,
        is_retryable=outcome.is_retryable,
        advice=outcome.advice,
        notes=outcome.notes,
        parser=outcome.parser or reader.parser.name,
        tier=outcome.tier if outcome.parser else reader.parser.tier,
        page_count=outcome.page_count,
        seconds=outcome.seconds,
        document=outcome.document,
    )


@dataclass(frozen=True)
class OneText:
    """The text of one paper, or the status and advice where it has none; and what is to be told beside it."""

    markdown: str | None
    status: str
    advice: str
    notes: tuple[str, ...] = ()


def read_one(
    lake: Lake, paper_id: str, reader: Reader, count_tokens: Callable[[str], int], version: int | None = None
) -> OneText:
    """The newest text of a paper, whatever any topic's cutoff, or that of a version; its file is read if it was not yet.

    Withdrawn papers are read too, and failures that may have passed are tried again: somebody asked for this one.
    """
    notes: list[str] = []
    for _ in range(_MOST_FILES):
        todo = to_do(
            lake, [paper_id], None, derivation(), reader.parser.name, tier=reader.parser.tier, with_withdrawn=True,
            retry=not notes, version=version,
        )  # fmt: skip
        notes += [f"{u.source}: {u.reason}" for u in todo.unreachable]
        if todo.is_empty:
            break
        reading = read_papers(lake, todo, reader, count_tokens)
        notes += [f"{paper}: {status}. {advice}" for paper, status, advice in reading.failures]
        if not reading.is_worth_another_look:
            break
    resolve_references(lake, [paper_id], take_snapshot(lake).content_hash)
    rows = lake.read("documents", paper_id=paper_id).to_dicts()
    if version is not None:
        known = sorted({v for r in rows for v in _versions(r) if v})
        rows = [r for r in rows if version in _versions(r)]
        if not rows:
            told = ", ".join(f"v{v}" for v in known) or "none by number"
            return OneText(None, f"no file of version {version} is held", f"Versions read: {told}.", tuple(notes))
    rows.sort(key=lambda r: (r["status"] != "parsed", -(r["version"] or 0), r["sha256"]))
    if not rows:
        return OneText(None, "no file could be looked for", "Mount or restore the source's folder.", tuple(notes))
    best = rows[0]
    return OneText(best["markdown"], best["status"], best["advice"], tuple(dict.fromkeys([*notes, *best["notes"]])))


def _versions(row: dict) -> set[int | None]:
    """Versions whose file has the content of a row."""
    return {row["version"], *(copy["version"] for copy in row["copies"] or ())}


_MOST_FILES = 20
"""Versions of a paper tried one after another."""
