"""How many calls at once and how often: places, requests and tokens a minute, pauses a server asks for.

Limits hold for a model in the whole process, whichever stage or thread asks. Not here: what may be spent (`budgets`).
"""

import asyncio
import threading
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass

from generation.language_models.calls import ModelSettings

_MINUTE = 60.0


@dataclass(frozen=True)
class Patience:
    """How often and how long a call that failed for a passing reason is tried again.

    Attributes:
        attempts: sendings of one call.
        first_wait, longest_wait: seconds before the second sending, and at most; they double, with jitter.
        jitter: seconds added at most.
        longest_retry_after: seconds a server may ask to wait; where it asks for more, the call is given up.
        unreachable: sendings where nothing listens at the address.
        closing: seconds that `aclose` waits for replies that are paid for but nobody waits for any more.
    """

    attempts: int = 5
    first_wait: float = 1.0
    longest_wait: float = 30.0
    jitter: float = 1.0
    longest_retry_after: float = 300.0
    closing: float = 20.0
    unreachable: int = 3


class Slots:
    """A number of places, given to who asked first, across event loops and threads."""

    def __init__(self, most: int) -> None:
        self._free = most
        self._lock = threading.Lock()
        self._queue: deque[asyncio.Future[None]] = deque()

    async def __aenter__(self) -> None:
        with self._lock:
            if self._free and not self._queue:
                self._free -= 1
                return
            turn = asyncio.get_running_loop().create_future()
            self._queue.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            with self._lock:
                if turn in self._queue:
                    self._queue.remove(turn)
            if turn.done() and not turn.cancelled():
                self._leave()
            raise

    async def __aexit__(self, *_: object) -> None:
        self._leave()

    def _leave(self) -> None:
        with self._lock:
            while self._queue:
                turn = self._queue.popleft()
                try:
                    turn.get_loop().call_soon_threadsafe(self._give, turn)
                except RuntimeError:  # its loop was closed meanwhile
                    continue
                return
            self._free += 1

    def _give(self, turn: asyncio.Future[None]) -> None:
        if turn.done():
            self._leave()
        else:
            turn.set_result(None)


class Minute:
    """How much of something was sent in the last minute; for one who holds a lock.

    No more than `most` within any minute, first come first served. What alone exceeds that goes when nothing of the
    last minute is left, and keeps the others waiting as many minutes as it is worth.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._sent: deque[tuple[float, int]] = deque()  # (until when it counts, how much), in order of time

    def next_time(self, amount: int, at: float) -> float:
        """When so much may be sent, at `at` (seconds) or later."""
        # What is only going to be sent counts too: so a small call does not pass a large one that waits.
        counted = [(until, held) for until, held in self._sent if until > at]
        excess = sum(held for _, held in counted) + min(amount, self._most) - self._most
        for until, held in counted:
            if excess <= 0:
                break
            excess -= held
            at = until
        return at

    def forget(self, now: float) -> None:
        """Drop what counts no more."""
        while self._sent and self._sent[0][0] <= now:
            self._sent.popleft()

    def add(self, amount: int, at: float) -> tuple[float, int]:
        """Count what will be sent at a time that `next_time` gave; returns what `remove` takes."""
        entry = at + _MINUTE * max(1.0, amount / self._most), min(amount, self._most)
        self._sent.append(entry)
        return entry

    def remove(self, entry: tuple[float, int]) -> None:
        """It was not sent after all."""
        with suppress(ValueError):
            self._sent.remove(entry)


class Limits:
    """The limits of one model, for all event loops and threads of this process."""

    def __init__(self, settings: ModelSettings) -> None:
        self.slots = Slots(settings.concurrency)
        self._requests = Minute(settings.requests_per_minute) if settings.requests_per_minute else None
        self._tokens = Minute(settings.tokens_per_minute) if settings.tokens_per_minute else None
        self._lock = threading.Lock()
        self._resumes_at = 0.0

    def pause(self, seconds: float) -> None:
        """Send nothing to the model for a while: its server asked for that."""
        with self._lock:
            self._resumes_at = max(self._resumes_at, time.monotonic() + seconds)

    async def wait(self, tokens: int) -> None:
        """Wait until a call of so many tokens may be sent, and count it."""
        amounts = [(minute, n) for minute, n in ((self._requests, 1), (self._tokens, tokens)) if minute]
        while True:
            with self._lock:
                now = time.monotonic()
                at = max(now, self._resumes_at)
                for minute, n in amounts:
                    minute.forget(now)
                    at = minute.next_time(n, at)
                entries = [(minute, minute.add(n, at)) for minute, n in amounts]
            try:
                while (left := at - time.monotonic()) > 0:
                    await asyncio.sleep(left)
            except asyncio.CancelledError:
                self._take_back(entries)
                raise
            if self._resumes_at <= time.monotonic():
                return
            self._take_back(entries)  # the server asked for a pause meanwhile

    def _take_back(self, entries: list[tuple[Minute, tuple[float, int]]]) -> None:
        with self._lock:
            for minute, entry in entries:
                minute.remove(entry)


_LIMITS: dict[tuple[object, ...], Limits] = {}
_LOCK = threading.Lock()


def limits_of(settings: ModelSettings, host: str) -> Limits:
    """The limits that all calls of this process to a model share."""
    key = (
        settings.name,
        host,
        settings.concurrency,
        settings.requests_per_minute,
        settings.tokens_per_minute,
    )
    with _LOCK:
        return _LIMITS.setdefault(key, Limits(settings))
