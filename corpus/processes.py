"""Processes of this machine: whether one is alive, and pure work spread over all cores."""

import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import TypeVar

Given, Made = TypeVar("Given"), TypeVar("Made")


def is_alive(process: int) -> bool:
    """Whether there is a process of this number, of any user."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def in_processes(work: Callable[[Given], Made], parts: Sequence[Given]) -> Iterator[Made]:
    """Results of `work` for each part, in order, computed by one process a core.

    Args:
        work: a function of a module, so that it can be named to another process.
        parts: what can be pickled; all of them are held, so give no more than memory allows.

    Raises:
        Whatever `work` raises.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if min(cores, len(parts)) < 2:
        yield from map(work, parts)
        return
    context = multiprocessing.get_context("spawn")  # polars and Arrow have threads, which fork does not survive
    count = min(cores, len(parts))
    with ProcessPoolExecutor(count, context, initializer=_end_with, initargs=(os.getpid(),)) as pool:
        yield from pool.map(work, parts)


def _end_with(parent: int) -> None:
    """End this process once its parent is gone: a killed parent cannot tell its workers to stop."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
