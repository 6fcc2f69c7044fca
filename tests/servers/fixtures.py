"""The servers as pytest fixtures and for scripts: each in a process of its own, ended with the test.

`scripted(latency=.2, capacity=8, rules=[…])` starts one and gives its handle; `started` is the same without pytest.
"""

import contextlib
import json
import os
import selectors
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

_REPOSITORY = Path(__file__).resolve().parents[2]


@dataclass
class Server:
    """A running server: where it is, and what it says of itself."""

    port: int
    process: subprocess.Popen

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def base_url(self) -> str:
        """What OPENAI_BASE_URL has to be."""
        return f"{self.address}/v1"

    def stats(self) -> dict:
        """Counts, tokens and the time line (scripted servers only)."""
        return self.call("/stats")

    def count(self) -> dict[str, int]:
        """`requests`, `answered` and `in_process` alone, which is quick."""
        return self.call("/count")

    def tokens(self) -> tuple[int, int]:
        """Tokens of prompts and of replies as llama.cpp counts them itself; what it had kept of a prompt counts too."""
        counts = {}
        for line in self._get("/metrics").decode().splitlines():
            name, _, value = line.partition(" ")
            if name.startswith("llamacpp:"):
                counts[name.removeprefix("llamacpp:")] = float(value)
        prompt = counts["prompt_tokens_total"] + counts["prompt_tokens_cached_total"]
        return round(prompt), round(counts["tokens_predicted_total"])

    def _get(self, path: str) -> bytes:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(self.address + path, timeout=60) as answer:
            return answer.read()

    def change(self, **wanted: object) -> None:
        """Other rules, latency or capacity from now on."""
        self.call("/rules", wanted)

    def reset(self) -> None:
        self.call("/reset", {})

    def call(
        self, path: str, body: dict | None = None, headers: dict[str, str] | None = None, timeout: float = 60
    ) -> dict:
        """GET, or POST where there is a body; the JSON of the answer, with its status under "status" where it failed."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.address + path, data=data, headers=headers or {})
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=timeout) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as failed:
            return {**json.load(failed), "status": failed.code, "headers": dict(failed.headers)}

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()


def _first_line(process: subprocess.Popen, seconds: float) -> str:
    """The first line that the process prints; "" when it ends or says nothing in time."""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        if not selector.select(seconds):
            return ""
        return process.stdout.readline().strip()


@contextlib.contextmanager
def started(module: str = "scripted", seconds: float = 30, **options: object) -> Iterator[Server]:
    """`python -m tests.servers.MODULE --OPTION VALUE …`; lists and dicts are given as JSON."""
    arguments = []
    for name, value in options.items():
        text = json.dumps(value) if isinstance(value, list | dict) else str(value)
        arguments.append(f"--{name.replace('_', '-')}={text}")
    process = subprocess.Popen(
        [sys.executable, "-m", f"tests.servers.{module}", *arguments],
        cwd=_REPOSITORY,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL if module == "local_model" else None,  # llama.cpp tells of every step it takes
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    try:
        line = _first_line(process, seconds)
        if not line.isdigit():
            raise RuntimeError(f"the server {module} did not start: exit code {process.poll()}, it said {line!r}")
        yield Server(int(line), process)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def wait_until(holds: Callable[[], bool], seconds: float = 30) -> None:
    """Until it holds; TimeoutError after so many seconds."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            raise TimeoutError(f"it did not happen within {seconds:g} s")
        time.sleep(0.02)


@pytest.fixture
def scripted() -> Iterator[Callable[..., Server]]:
    """`scripted(latency=0.2, capacity=4, rules=[{"do": "status", "at": [3], "status": 429}])` → `Server`."""
    with contextlib.ExitStack() as stack:
        yield lambda **options: stack.enter_context(started("scripted", **options))


@pytest.fixture
def local_model() -> Iterator[Callable[..., Server]]:
    """`local_model(window=4096)` → `Server`: a real model of 135 million parameters, one request at a time."""
    with contextlib.ExitStack() as stack:
        yield lambda **options: stack.enter_context(started("local_model", **options))
