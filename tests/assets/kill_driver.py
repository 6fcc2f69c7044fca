"""Run `lithouse` and send SIGKILL to its own process at a named moment, as a power cut would.

    python kill_driver.py TARGET NUMBER before|after [NAME=VALUE …] -- ARGUMENTS OF lithouse
    python kill_driver.py SECONDS seconds [NAME=VALUE …] -- ARGUMENTS OF lithouse

TARGET is `module:function` or `module:Class.method`; with `@text` only calls that have the text among their arguments
count. NUMBER is the call that kills, before or after it is made. NAME=VALUE sets an integer constant `module:NAME`.
"""

import importlib
import os
import signal
import sys
import threading


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _place(path: str) -> tuple[object, str]:
    module, _, name = path.partition(":")
    owner: object = importlib.import_module(module)
    *outer, last = name.split(".")
    for part in outer:
        owner = getattr(owner, part)
    return owner, last


def kill_at(target: str, number: int, moment: str) -> None:
    path, _, text = target.partition("@")
    owner, name = _place(path)
    real, calls = getattr(owner, name), 0

    def wrapped(*args, **kwargs):
        nonlocal calls
        if text and not any(isinstance(a, str) and a == text for a in args):
            return real(*args, **kwargs)
        calls += 1
        if calls == number and moment == "before":
            _die()
        result = real(*args, **kwargs)
        if calls == number:
            _die()
        return result

    setattr(owner, name, wrapped)


def main() -> None:
    at = sys.argv.index("--")
    plan, arguments = sys.argv[1:at], sys.argv[at + 1 :]
    constants = [p for p in plan if "=" in p]
    steps = [p for p in plan if "=" not in p]
    for constant in constants:
        path, _, value = constant.partition("=")
        owner, name = _place(path)
        setattr(owner, name, int(value))
    from assets import refreshing, runs  # noqa: F401  what takes seconds to import must not use up the time of a timed kill
    from assets.cli import main as lithouse

    if steps[1] == "seconds":
        timer = threading.Timer(float(steps[0]), _die)
        timer.daemon = True
        timer.start()
    else:
        kill_at(steps[0], int(steps[1]), steps[2])
    lithouse(arguments)


main()
