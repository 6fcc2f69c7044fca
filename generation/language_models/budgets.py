"""What may be spent: `Budget`, shared by the stages of one run.

Before a call all it may use is reserved, after it what it did use is counted, so that calls at once never exceed the
budget together. Not here: how many calls at once and how often (`limits`).
"""

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass

from generation.language_models.calls import OutOfBudget


@dataclass(frozen=True)
class Reservation:
    """What a call that was sent may use."""

    tokens: int
    cost: float


class Budget:
    """What one run may spend in tokens, in money, or both; with neither there is no limit.

    Used from several event loops and threads.

    Args:
        most_tokens: sent and written, of calls that are paid for.
        most_cost: US dollars.
    """

    def __init__(self, most_tokens: int | None = None, most_cost: float | None = None) -> None:
        self.most_tokens, self.most_cost = most_tokens, most_cost
        self.tokens, self.cost = 0, 0.0
        self.presumed_tokens = 0
        self._held_tokens, self._held_cost = 0, 0.0
        self._lock = threading.Lock()
        self._waiting: list[Callable[[], None]] = []

    async def reserve(self, tokens: int, cost: float | None) -> Reservation:
        """Hold what a call may use, once that is sure not to exceed the budget.

        While other calls hold what would be exceeded it waits for them, since most use less than they may.

        Args:
            tokens: prompt as counted, and the most that the reply may have.
            cost: US dollars for these; None only where there is no limit in money.

        Raises:
            OutOfBudget: even if all calls that are on their way cost nothing, this one may exceed it.
        """
        wanted = Reservation(tokens, cost or 0.0)
        while True:
            with self._lock:
                if not self._exceeds(wanted, 0, 0.0) and not self._exceeds(wanted, self._held_tokens, self._held_cost):
                    self._held_tokens += wanted.tokens
                    self._held_cost += wanted.cost
                    return wanted
                if self._exceeds(wanted, 0, 0.0):
                    raise self._refusal(wanted)
                loop = asyncio.get_running_loop()
                settled = asyncio.Event()
                self._waiting.append(lambda loop=loop, event=settled: loop.call_soon_threadsafe(event.set))
            await settled.wait()

    def settle(self, reservation: Reservation, tokens: int, cost: float | None, *, is_presumed: bool = False) -> None:
        """Give back a reservation, and count what the call used.

        Args:
            reservation: of the call.
            tokens, cost: used.
            is_presumed: nobody said what was used: a time-out, a lost connection. All of it is counted.
        """
        with self._lock:
            self._held_tokens -= reservation.tokens
            self._held_cost -= reservation.cost
            self.tokens += reservation.tokens if is_presumed else tokens
            self.cost += reservation.cost if is_presumed else (cost or 0.0)
            self.presumed_tokens += reservation.tokens if is_presumed else 0
            waiting, self._waiting = self._waiting, []
        for wake in waiting:
            try:
                wake()
            except RuntimeError:  # its loop was closed meanwhile
                continue

    def _exceeds(self, wanted: Reservation, held_tokens: int, held_cost: float) -> bool:
        if self.most_tokens is not None and self.tokens + held_tokens + wanted.tokens > self.most_tokens:
            return True
        # A millionth of a cent is rounding.
        return self.most_cost is not None and self.cost + held_cost + wanted.cost > self.most_cost + 1e-8

    def _held(self, amount: str) -> str:
        return f" and {amount} more held for requests that are on their way" if self._held_tokens else ""

    def _refusal(self, wanted: Reservation) -> OutOfBudget:
        told = []
        if self.most_tokens is not None:
            told.append(
                f"{self.tokens:,} of {self.most_tokens:,} tokens are spent{self._held(f'{self._held_tokens:,}')}, "
                f"{self.most_tokens - self.tokens - self._held_tokens:,} are left, and the next call may need {wanted.tokens:,}"
            )
        if self.most_cost is not None:
            told.append(
                f"${self.cost:.4f} of ${self.most_cost:.4f} are spent{self._held(f'${self._held_cost:.4f}')}, "
                f"${max(self.most_cost - self.cost - self._held_cost, 0.0):.4f} are left, and the next call may need ${wanted.cost:.4f}"
            )
        if self.presumed_tokens:
            told.append(f"{self.presumed_tokens:,} tokens are presumed for requests that were never answered")
        return OutOfBudget(
            "the next call to the model may exceed the budget",
            which="; ".join(told),
            advice="What is done is kept: run the command again with a larger budget to go on.",
        )
