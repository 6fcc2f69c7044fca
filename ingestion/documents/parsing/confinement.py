"""Processes in which files are parsed: one for each file, with limits, and nothing of it left afterwards.

Here: starting the warden, giving it jobs, hearing how they ended. Not here: what the jobs do; what their end means
for a file (`ingestion.documents.parsing.files`).

The warden (`ingestion.documents.parsing.warden`) is a process of its own that imports the parser once and forks for each
file, since importing docvortex costs 2.3 CPU seconds, as much as parsing six pages. It opens no file itself, so each
file meets a fresh process. Python's own fork server is not taken: it inherits the environment
with its secrets, imports the caller's main module, and knows no limits. All this needs POSIX.
"""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import Self

from ingestion.documents.parsing.limits import Limits
from ingestion.errors import TransientFailure

KEPT_ENVIRONMENT = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "LD_LIBRARY_PATH")
"""What parsers may see of our environment; secrets live in it."""
REPLY = "reply.json"
LOG = "log.txt"
OUT_OF_MEMORY = 75
OUTPUT_TOO_LONG = 76
"""Exit codes of a job that met the limit on memory or on what it writes, where Python noticed."""
_START_SECONDS = 120
_BOOT = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from ingestion.documents.parsing.warden import main; main()"


@dataclass(frozen=True)
class Ended:
    """How a job ended.

    Attributes:
        job: its number.
        exit_code: of its process; minus the number of the signal that ended it; None if its warden died with it.
        is_overdue: it was ended because its time was up.
        seconds, cpu_seconds: wall time; CPU time of its process and all that it started.
        peak_bytes: most resident memory of one of these.
    """

    job: int
    exit_code: int | None
    is_overdue: bool
    seconds: float
    cpu_seconds: float
    peak_bytes: int


class Confinement:
    """A context in which jobs run. Leaving it, or the death of this process, ends whatever still runs.

    Args:
        prepare: `module:function` that the warden calls once, to import what jobs need; "" for nothing.
        environment: names of variables, besides `KEPT_ENVIRONMENT`, that jobs see.
    """

    def __init__(self, prepare: str = "", environment: Collection[str] = ()) -> None:
        self._prepare = prepare
        names = (*KEPT_ENVIRONMENT, *environment)
        # More threads in the warden could not be forked, and each job has one core.
        threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        self._environment = threads | {name: os.environ[name] for name in names if name in os.environ}
        self._root: Path | None = None
        self._warden: subprocess.Popen | None = None
        self._channel: Connection | None = None
        self._running: set[int] = set()
        self._next = 0

    def __enter__(self) -> Self:
        self._root = Path(tempfile.mkdtemp(prefix="lithouse-parsing-"))
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stop()
        shutil.rmtree(self._root, ignore_errors=True)

    @property
    def warden_pid(self) -> int | None:
        """Of the warden, None before the first job."""
        return self._warden.pid if self._warden else None

    def folder(self) -> Path:
        """A new empty folder that only this user can read; `discard` it when its job has ended."""
        self._root.mkdir(mode=0o700, exist_ok=True)  # a warden that failed took it along
        return Path(tempfile.mkdtemp(prefix="job-", dir=self._root))

    def discard(self, folder: Path) -> None:
        shutil.rmtree(folder, ignore_errors=True)

    def start(self, task: str, folder: Path, options: Mapping[str, object], limits: Limits) -> int:
        """Start a job: `task` (`module:function`) with `folder` and `options` in a process of its own. What it returns
        (bytes) goes to the file `REPLY` in the folder, what it prints to `LOG`; the folder is its working folder.

        Returns the job's number.

        Raises:
            TransientFailure: the warden cannot be started.
        """
        if self._warden is None:
            self._launch()
        self._next += 1
        message = {"job": self._next, "task": task, "folder": str(folder), "options": dict(options)}
        with contextlib.suppress(OSError):  # it died; `wait` says so
            self._channel.send_bytes(json.dumps(message | {"limits": asdict(limits)}).encode())
        self._running.add(self._next)
        return self._next

    def wait(self) -> Ended:
        """The next job that ends. A warden that dies takes its jobs along; the next job gets a new one."""
        if not self._running:
            raise ValueError("no job is running")
        try:
            if self._channel is not None:
                ended = Ended(**json.loads(self._channel.recv_bytes()))
                self._running.discard(ended.job)
                return ended
        except (EOFError, OSError):
            self._stop()
        return Ended(self._running.pop(), None, is_overdue=False, seconds=0.0, cpu_seconds=0.0, peak_bytes=0)

    def _launch(self) -> None:
        ours, theirs = socket.socketpair()
        argv = [sys.executable, "-I", "-c", _BOOT, json.dumps(sys.path)]
        settings = [str(theirs.fileno()), str(os.getpid()), str(self._root), self._prepare]
        # Not in the root, which a warden that fails removes.
        with theirs, tempfile.TemporaryFile() as log:
            self._warden = subprocess.Popen(
                [*argv, *settings],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=[theirs.fileno()],
                env=self._environment,
                start_new_session=True,
            )
            theirs.close()
            self._channel = Connection(ours.detach())
            with contextlib.suppress(EOFError, OSError):
                if self._channel.poll(_START_SECONDS) and self._channel.recv_bytes() == b"ready":
                    return
            self._stop()
            log.seek(0)
            said = log.read().decode(errors="replace").strip().splitlines()
        raise TransientFailure(
            "The process that parses files does not start",
            which=said[-1] if said else "",
            advice="Check that docvortex and pypdfium2 are installed (pip install -e .).",
        )

    def _stop(self) -> None:
        if self._channel is not None:
            self._channel.close()  # the warden ends its jobs, then itself
        if self._warden is not None:
            try:
                self._warden.wait(timeout=10)
            except subprocess.TimeoutExpired:
                self._warden.kill()
                self._warden.wait()
        self._channel = self._warden = None
