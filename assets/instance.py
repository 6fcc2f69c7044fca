"""The Dagster instance of a home: opening it, and telling runs of killed commands from runs that go on."""

import logging
import os
import socket
import warnings
from pathlib import Path

from assets.home import dagster_environment

_PROCESS = "lithouse/process"


def open_instance(home: Path):
    """The instance of this home; its storage folder is made. Runs whose command was killed are told as failed."""
    import dagster as dg

    os.environ.update(dagster_environment(home))
    (home / "dagster").mkdir(parents=True, exist_ok=True)
    instance = dg.DagsterInstance.get()
    _close_dead_runs(instance)
    return instance


def process_tags() -> dict[str, str]:
    """Tags of a run that lives in this process."""
    return {_PROCESS: f"{socket.gethostname()}/{os.getpid()}"}


def _close_dead_runs(instance) -> None:
    """A killed command cannot say that its run ended, and an open run holds the one place that runs queue for."""
    from dagster import DagsterRunStatus, RunsFilter

    open_runs = [DagsterRunStatus.NOT_STARTED, DagsterRunStatus.STARTING, DagsterRunStatus.STARTED]
    for run in instance.get_runs(RunsFilter(statuses=open_runs)):
        host, _, number = run.tags.get(_PROCESS, "").partition("/")
        if host == socket.gethostname() and not _is_alive(int(number)):
            instance.report_run_failed(run, "The command was stopped from outside; run it again to go on.")


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def quiet() -> None:
    """Dagster's own notices are not for the reader of a survey."""
    from dagster import BetaWarning, PreviewWarning

    for category in (BetaWarning, PreviewWarning):
        warnings.filterwarnings("ignore", category=category)
    logging.getLogger("dagster").setLevel(logging.CRITICAL)
