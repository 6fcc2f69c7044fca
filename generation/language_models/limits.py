"""How many calls at once and how often: places, requests and tokens a minute, pauses a server asks for.

Limits hold for a model in the whole process, whichever stage or thread asks. Not here: what may be spent (`budgets`).
"""

import asyncio
import threading
import time
from collections import deque
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from aiolimiter import AsyncLimiter

from generation.language_models.budgets import Budget
from generation.language_models.calls import ModelSettings

__all__ = ["Budget", "Limits", "Patience", "Slots", "limits_of"]


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


class Limits:
    """The limits of one model."""

    def __init__(self, settings: ModelSettings) -> None:
        self.slots = Slots(settings.concurrency)
        self._settings = settings
        self._resumes_at = 0.0
        # aiolimiter's buckets belong to an event loop; each stage runs in one of its own.
        self._rates: WeakKeyDictionary[asyncio.AbstractEventLoop, _Rates] = WeakKeyDictionary()

    def pause(self, seconds: float) -> None:
        """Send nothing to the model for a while: its server asked for that."""
        self._resumes_at = max(self._resumes_at, time.monotonic() + seconds)

    async def wait(self, tokens: int) -> None:
        """Wait until a call of so many tokens may be sent."""
        loop = asyncio.get_running_loop()
        if loop not in self._rates:
            self._rates[loop] = _Rates(self._settings)
        await self._rates[loop].wait(tokens)
        while (left := self._resumes_at - time.monotonic()) > 0:
            await asyncio.sleep(left)


class _Rates:
    def __init__(self, settings: ModelSettings) -> None:
        self._requests = settings.requests_per_minute and AsyncLimiter(settings.requests_per_minute)
        self._tokens = settings.tokens_per_minute and AsyncLimiter(settings.tokens_per_minute)
        self._turn = asyncio.Lock()

    async def wait(self, tokens: int) -> None:
        # One at a time: aiolimiter lets small amounts pass large ones, which might then never have their turn.
        async with self._turn:
            if self._requests:
                await self._requests.acquire()
            if self._tokens:
                # More than a minute's tokens take several minutes' worth, and so go alone.
                left = tokens
                while left > 0:
                    part = min(left, self._tokens.max_rate)
                    await self._tokens.acquire(part)
                    left -= part


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
