"""Run `lithouse` again and again in processes that need not import it: forked from this one, which has.

    python fork_driver.py

Reads lines of JSON, {"environment": {…}, "arguments": […]}; each starts a process in a session of its own, whose id is
printed. What it says is thrown away. Ends with its standard input.
"""

import json
import os
import signal
import sys

import openai  # noqa: F401  imported here, so that what is forked has it
import pydantic_ai.models.openai  # noqa: F401

from assets import refreshing, runs  # noqa: F401
from assets.cli import main


def _child(wanted: dict) -> None:
    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    os.environ.update(wanted["environment"])
    try:
        main(wanted["arguments"])
    except SystemExit as stop:
        os._exit(int(stop.code or 0))
    os._exit(1)


signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # ended ones vanish without being waited for
print("ready", flush=True)
for line in sys.stdin:
    pid = os.fork()
    if not pid:
        _child(json.loads(line))
    print(pid, flush=True)
