"""The process that starts, limits, watches and ends the processes in which files are parsed.

Run by `ingestion.documents.parsing.confinement`, never imported by what parses. It has one thread, since it forks; it opens
no file of a paper. Its jobs end with it, and it ends when its parent does: on Linux by `PR_SET_PDEATHSIG` and
`PR_SET_CHILD_SUBREAPER` (`man 2 prctl`), which also brings processes home that a parser tried to leave behind; else
jobs are at least ended by their process group.
"""

import contextlib
import ctypes
import errno
import gc
import importlib
import json
import os
import resource
import selectors
import shutil
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from ingestion.documents.parsing.confinement import LOG, OUT_OF_MEMORY, OUTPUT_TOO_LONG, REPLY

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PARENT_CHECK_SECONDS = 1.0
_CPU_GRACE_SECONDS = 5  # between SIGXCPU, which ends a process, and SIGKILL, if it does not


@dataclass
class _Job:
    number: int
    started: float
    deadline: float
    is_overdue: bool = False


def main() -> None:
    """Serve the channel whose descriptor is given, until it closes or the parent is gone."""
    descriptor, parent, root, prepare = sys.argv[2:6]
    # The temporary folder has to go even when the parent was killed.
    try:
        _Warden(Connection(int(descriptor)), int(parent), prepare).serve()
    finally:
        shutil.rmtree(root, ignore_errors=True)


def function(name: str) -> Callable:
    """`module:function` → the function."""
    module, _, attribute = name.partition(":")
    return getattr(importlib.import_module(module), attribute)


class _Warden:
    def __init__(self, channel: Connection, parent: int, prepare: str) -> None:
        self._channel = channel
        self._parent = parent
        self._jobs: dict[int, _Job] = {}
        self._wake, self._waker = socket.socketpair()
        self._wake.setblocking(False)
        self._waker.setblocking(False)
        _prctl(_PR_SET_CHILD_SUBREAPER, 1)
        if prepare:
            function(prepare)()
        # What is imported now lives as long as we do: forked collectors need not look at it (nor copy its pages).
        gc.collect()
        gc.freeze()

    def serve(self) -> None:
        signal.set_wakeup_fd(self._waker.fileno())
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self._channel.send_bytes(b"ready")
        with selectors.DefaultSelector() as selector:
            selector.register(self._channel.fileno(), selectors.EVENT_READ)
            selector.register(self._wake, selectors.EVENT_READ)
            try:
                while os.getppid() == self._parent:
                    selector.select(self._patience())
                    self._drain_wake()
                    while self._channel.poll():
                        self._start(json.loads(self._channel.recv_bytes()))
                    self._end_overdue()
                    self._reap()
            except (EOFError, BrokenPipeError, ConnectionResetError):
                pass  # the parent has no more use for us
            finally:
                self._end_all()

    def _patience(self) -> float:
        nearest = min((job.deadline for job in self._jobs.values()), default=float("inf"))
        return max(0.0, min(_PARENT_CHECK_SECONDS, nearest - time.monotonic()))

    def _drain_wake(self) -> None:
        try:
            while self._wake.recv(4096):
                pass
        except BlockingIOError:
            pass

    def _start(self, message: dict) -> None:
        warden, now = os.getpid(), time.monotonic()
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                for end in (self._channel, self._wake, self._waker):
                    end.close()
                _confine(message, warden)
                code = _run(message)
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)
        self._jobs[pid] = _Job(message["job"], now, now + message["limits"]["wall_seconds"])

    def _end_overdue(self) -> None:
        for pid, job in self._jobs.items():
            if time.monotonic() >= job.deadline and not job.is_overdue:
                job.is_overdue = True
                _kill_group(pid)

    def _reap(self) -> None:
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if (job := self._jobs.pop(pid, None)) is None:
                continue
            cpu, peak = usage.ru_utime + usage.ru_stime, usage.ru_maxrss
            for left in _end_group(pid):
                cpu += left.ru_utime + left.ru_stime
                peak = max(peak, left.ru_maxrss)
            self._end_strays()
            ended = {
                "job": job.number,
                "exit_code": os.waitstatus_to_exitcode(status),
                "is_overdue": job.is_overdue,
                "seconds": time.monotonic() - job.started,
                "cpu_seconds": cpu,
                "peak_bytes": peak * (1 if sys.platform == "darwin" else 1024),
            }
            self._channel.send_bytes(json.dumps(ended).encode())

    def _end_strays(self) -> None:
        """Processes that left their job's group come to us when their parent ends."""
        try:
            children = Path(f"/proc/self/task/{os.getpid()}/children").read_text()
        except OSError:
            return  # not Linux: they do not come to us
        for pid in map(int, children.split()):
            if pid not in self._jobs:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    def _end_all(self) -> None:
        for pid in self._jobs:
            _kill_group(pid)
        self._jobs = {}
        with contextlib.suppress(ChildProcessError):
            while True:  # what ends may bring its own children home
                self._end_strays()
                os.wait()


def _kill_group(pid: int) -> None:
    for kill in (os.killpg, os.kill):  # the group is not there before the job's first step
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(pid, signal.SIGKILL)


def _end_group(pid: int) -> list[resource.struct_rusage]:
    """End what is left of a job's group, with the resources it used."""
    used = []
    with contextlib.suppress(ProcessLookupError, PermissionError):  # PermissionError: macOS, for zombies
        os.killpg(pid, signal.SIGKILL)
    try:
        while True:
            used.append(os.wait4(-pid, 0)[2])
    except ChildProcessError:
        return used


def _confine(message: dict, warden: int) -> None:
    """In the job: a session of its own, limits, no way to ask, a private folder."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != warden:  # it died before we asked to be told
        os._exit(1)
    os.umask(0o077)
    os.chdir(message["folder"])
    log = os.open(LOG, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (log, 1), (log, 2)):
        os.dup2(source, target)
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    os.environ["TMPDIR"] = message["folder"]
    limits = message["limits"]
    for kind, soft, grace in (
        (resource.RLIMIT_AS, limits["memory_bytes"], 0),
        (resource.RLIMIT_CPU, limits["cpu_seconds"], _CPU_GRACE_SECONDS),
        (resource.RLIMIT_FSIZE, limits["output_bytes"], 0),
        (resource.RLIMIT_CORE, 0, 0),
    ):
        most = resource.getrlimit(kind)[1]
        values = [value if most == resource.RLIM_INFINITY else min(value, most) for value in (soft, soft + grace)]
        resource.setrlimit(kind, tuple(values))


def _run(message: dict) -> int:
    """The exit code: 0 with a reply, one of the limits', 1 for errors, which the log ends with."""
    try:
        reply = function(message["task"])(Path(message["folder"]), message["options"])
        Path(REPLY).write_bytes(reply)
        return 0
    except MemoryError:
        return OUT_OF_MEMORY
    except BaseException as error:
        if isinstance(error, OSError) and error.errno == errno.EFBIG:
            return OUTPUT_TOO_LONG
        traceback.print_exc()
        return 1


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
