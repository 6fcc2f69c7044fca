"""Files of papers → outcomes: any number of files, a fixed number at once, each within limits of its own.

Here: the run over many files, and what the end of a process means for its file. Not here: what was done before (the
caller keeps each outcome as it comes and gives only what is still to do), the choice of a parser
(`ingestion.documents.parsing.parsers`), processes (`confinement`) and what happens in them (`worker`, `external`).
"""

import errno
import re
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import ValidationError

from ingestion.documents.parsing.confinement import (
    LOG,
    OUT_OF_MEMORY,
    OUTPUT_TOO_LONG,
    REPLY,
    Confinement,
    Ended,
)
from ingestion.documents.parsing.limits import Limits, above_zero
from ingestion.documents.parsing.parsers import Parser
from ingestion.documents.parsing.precheck import take_in
from ingestion.documents.parsing.worker import INPUT, RAW, REPLY_FORM, Reply
from ingestion.documents.statuses import ParseOutcome, Status
from ingestion.errors import PermanentFailure, TransientFailure

_ALLOCATION_SIGNALS = frozenset((signal.SIGABRT, signal.SIGTRAP, signal.SIGILL))
"""How C++, Rust and PDFium end when they cannot have the memory they ask for."""
_ALLOCATION = re.compile(r"alloc|out of memory|MemoryError", re.IGNORECASE)
_NO_ROOM = frozenset((errno.ENOSPC, errno.EDQUOT))


@dataclass(frozen=True)
class _Running:
    path: Path
    folder: Path
    outcome: ParseOutcome
    limits: Limits
    is_cut_short: bool


def parse_file(path: Path, parser: Parser, *, limits: Limits | None = None) -> ParseOutcome:
    """What becomes of one file; see `parse_files`."""
    return next(parse_files([path], parser, per_file_limits=limits))[1]


def parse_files(
    files: Iterable[Path],
    parser: Parser,
    *,
    concurrency: int = 1,
    per_file_limits: Limits | None = None,
    total_seconds: float | None = None,
    progress: Callable[[Path], None] | None = None,
) -> Iterator[tuple[Path, ParseOutcome]]:
    """Each file with its outcome, as they end. No file can stop the others: what it breaks becomes its status.

    `files` is read as room appears, and at most `concurrency` files and outcomes are held. Closing the iterator ends
    what runs. Wall time is limited even while the caller is busy with an outcome.

    Args:
        per_file_limits: default: the parser's.
        total_seconds: for all files; those that run when it is up end as `timeout`, and so do those never begun, all
            marked as retryable. None: no limit.
        progress: called with each file as it is begun.

    Raises:
        BadInput: a setting is not above zero (before anything is done).
        PermanentFailure: the parser cannot work at all: its weights are absent.
        TransientFailure: no process can be started, or the temporary folder is full.
    """
    above_zero("concurrency", concurrency)
    if total_seconds is not None:
        above_zero("total_seconds", total_seconds)
    deadline = float("inf") if total_seconds is None else time.monotonic() + total_seconds
    return _parse(iter(files), parser, concurrency, per_file_limits or parser.limits, deadline, progress)


def _parse(
    files: Iterator[Path],
    parser: Parser,
    concurrency: int,
    limits: Limits,
    deadline: float,
    progress: Callable[[Path], None] | None,
) -> Iterator[tuple[Path, ParseOutcome]]:
    running: dict[int, _Running] = {}
    with Confinement(parser.prepare, parser.environment) as confinement:
        is_more = True
        while is_more or running:
            if is_more and len(running) < concurrency:
                if (path := next(files, None)) is None:
                    is_more = False
                    continue
                if progress is not None:
                    progress(path)
                begun = _begin(path, parser, limits, deadline, confinement)
                if isinstance(begun, ParseOutcome):
                    yield path, begun
                else:
                    job, entry = begun
                    running[job] = entry
                continue
            ended = confinement.wait()
            entry = running.pop(ended.job)
            outcome = _outcome(entry, ended, parser)
            confinement.discard(entry.folder)
            yield entry.path, outcome


def _begin(
    path: Path, parser: Parser, limits: Limits, deadline: float, confinement: Confinement
) -> ParseOutcome | tuple[int, _Running]:
    left = deadline - time.monotonic()
    if left <= 0:
        note = "not begun: the time for all files was up"
        return ParseOutcome("timeout", "", _size(path), notes=(note,), is_retryable=True)
    folder = confinement.folder()
    try:
        taken = take_in(path, folder / INPUT, limits.file_bytes)
    except FileNotFoundError:
        confinement.discard(folder)
        return ParseOutcome("not_yet", "", 0, notes=("the file is gone",), is_retryable=True)
    except OSError as error:
        confinement.discard(folder)
        if error.errno in _NO_ROOM or str(error.filename).startswith(str(folder)):
            raise TransientFailure(
                "A file cannot be copied for parsing",
                which=str(error),
                advice="Make room in the temporary folder (TMPDIR).",
            ) from error
        note = f"the file cannot be read: {error.strerror or error}"
        return ParseOutcome("corrupt", "", _size(path), notes=(note,), is_retryable=True)
    if taken.status is not None:
        confinement.discard(folder)
        return ParseOutcome(taken.status, taken.sha256, taken.size_bytes, notes=(taken.note,) if taken.note else ())
    outcome = ParseOutcome("timeout", taken.sha256, taken.size_bytes, parser=parser.name, tier=parser.tier)
    is_cut_short = left < limits.wall_seconds
    limits = replace(limits, wall_seconds=min(left, limits.wall_seconds))
    job = confinement.start(parser.task, folder, {**parser.options, "pages": limits.pages}, limits)
    return job, _Running(path, folder, outcome, limits, is_cut_short)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _outcome(entry: _Running, ended: Ended, parser: Parser) -> ParseOutcome:
    measured = replace(entry.outcome, seconds=ended.seconds, cpu_seconds=ended.cpu_seconds, peak_bytes=ended.peak_bytes)
    if ended.exit_code == 0 and not ended.is_overdue:
        reply = _reply(entry, parser)
        if reply.setup_fault is not None:
            what, which, advice = reply.setup_fault
            raise PermanentFailure(what, which=which, advice=advice)
        return replace(
            measured,
            status=reply.status,
            document=reply.document,
            page_count=reply.page_count,
            notes=reply.notes,
            raw=_raw(entry.folder),
        )
    status, note, is_retryable = _verdict(entry, ended, parser)
    return replace(measured, status=status, notes=(note,), is_retryable=is_retryable)


def _reply(entry: _Running, parser: Parser) -> Reply:
    """What a process that ended well wrote: nothing and garbage are failures too."""
    path = entry.folder / REPLY
    try:
        reply = REPLY_FORM.validate_json(path.read_bytes())
    except FileNotFoundError:
        return Reply("empty_text", notes=(f"{parser.name} ended without a result",))
    except ValidationError as error:
        return Reply("corrupt", notes=(f"{parser.name} gave a result that cannot be read: {_first_fault(error)}",))
    if (reply.document is not None) != (reply.status == "parsed"):
        return Reply("corrupt", notes=(f"{parser.name} gave a result that contradicts itself",))
    return reply


def _raw(folder: Path) -> bytes:
    try:
        return (folder / RAW).read_bytes()
    except FileNotFoundError:
        return b""


def _first_fault(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(map(str, first['loc']))} {first['msg']}".strip()[:200]


def _verdict(entry: _Running, ended: Ended, parser: Parser) -> tuple[Status, str, bool]:
    """Status, note and whether a rerun may differ, for a process that was ended or failed."""
    limits, name = entry.limits, parser.name
    gigabytes = f"{limits.memory_bytes / 2**30:g} GB"
    if ended.is_overdue:
        if entry.is_cut_short:
            return "timeout", f"stopped after {ended.seconds:.0f} s: the time for all files was up", True
        return "timeout", f"stopped after {limits.wall_seconds:g} s", False
    if ended.exit_code is None:
        return "too_large", "the process that watches over parsing was killed, perhaps for want of memory", True
    if ended.exit_code == OUT_OF_MEMORY:
        return "too_large", f"{name} needed more than {gigabytes} of memory", False
    if ended.exit_code in (OUTPUT_TOO_LONG, -signal.SIGXFSZ):
        return "too_large", f"{name} wrote more than {limits.output_bytes / 2**20:g} MB", False
    if ended.exit_code > 0:
        said = _last_line(entry.folder / LOG) or f"exit code {ended.exit_code}"
        return "corrupt", f"reading the file with {name} failed, perhaps by a fault of ours: {said}", False
    number = -ended.exit_code
    if number == signal.SIGXCPU:
        return "timeout", f"stopped after {limits.cpu_seconds:g} CPU seconds", False
    if number == signal.SIGKILL:
        return "too_large", f"{name} was killed by the system, most likely for want of memory", True
    ending = f"{name} crashed ({signal.Signals(number).name})"
    said = _last_line(entry.folder / LOG)
    if number in _ALLOCATION_SIGNALS or _ALLOCATION.search(said):
        return "too_large", f"{ending}, most likely for want of memory beyond {gigabytes}", False
    return "corrupt", f"{ending}{': ' if said else ''}{said}", False


def _last_line(log: Path) -> str:
    try:
        with log.open("rb") as stream:
            stream.seek(max(0, log.stat().st_size - 4096))
            lines = stream.read().decode("utf-8", "replace").strip().splitlines()
    except OSError:
        return ""
    return lines[-1].strip()[:300] if lines else ""
