"""From a call to its answer: the ledger first, then one request at a time, within budget and limits, each in a row.

Belongs here: what happens around a request. Not here: the request itself, and what servers and their clients are
called (`gateway`).
"""

import asyncio
import os
import random
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import stamina

from generation.language_models.budgets import Budget, Reservation
from generation.language_models.calls import (
    Answer,
    Call,
    Message,
    ModelFailure,
    ModelSettings,
    NotInLedger,
    Purpose,
    TooLong,
)
from generation.language_models.failures import failure_of_outcome, failure_of_reply
from generation.language_models.ledger import Ledger
from generation.language_models.limits import Limits, Patience, limits_of
from generation.language_models.prices import cost
from generation.language_models.providers import endpoint, key_of, split_name
from generation.language_models.records import (
    OUTCOMES,
    REPLAYED,
    Outcome,
    Reply,
    as_json,
    base_row,
    cached_row,
    call_key,
    plain,
)
from generation.language_models.secrets import scrub
from generation.language_models.tokens import count_messages
from ingestion.errors import BadInput, LithouseError

PASSING = ("rate_limited", "unavailable", "timed_out")
"""Asked again, the server may answer."""
_FORMS = ("native", "tool", "prompted")
_UNSENT = Outcome("unavailable", was_sent=False)
_NEXT_FORM: dict[tuple[str, str, str], str] = {}
"""(model, host, form) → form that the server understands instead, as found out by this process."""
_UNREADABLE: dict[str, set[str] | None] = {}
"""host → calls that had something else than a reply, while none had one; None once one had."""
_SENDINGS_UNREADABLE, _CALLS_UNREADABLE = 2, 3
"""Sendings of such a call, since a proxy may fail once; and calls after which it is the wrong server."""


class _Passing(Exception):
    """A request that failed for a passing reason, for stamina."""

    def __init__(self, outcome: Outcome, sending: int) -> None:
        super().__init__(outcome.status)
        self.outcome, self.sending = outcome, sending


@dataclass
class _Joint:
    """A call on its way.

    Attributes:
        waiters: how many wait for it.
        is_sent: a request is with the server.
        is_given_up: nobody waited any more before it was sent; who asks now begins anew.
        is_told: one of the waiters was given what it cost; for the others it is read.
    """

    task: asyncio.Task | None = None
    waiters: int = 0
    is_sent: bool = False
    is_given_up: bool = False
    is_told: bool = False


@dataclass(frozen=True)
class _Got:
    reply: Reply
    cost: float | None
    was_read: bool


@dataclass
class _Sendings:
    """How often a call was sent, and since when it waits."""

    count: int = 0
    waits_since: float = field(default_factory=time.monotonic)


class Exchange(ABC):
    """Everything of a gateway but the request.

    Attributes:
        on_answer: called with each reply and its call, read or paid, also with those that are cut, declined or empty
            and raise an error after that.
    """

    def __init__(
        self,
        settings: ModelSettings,
        ledger: Ledger,
        *,
        budget: Budget | None = None,
        purpose: Purpose,
        replay: bool = False,
        progress: Callable[[Answer, Call], None] | None = None,
        environment: Mapping[str, str] = os.environ,
        patience: Patience | None = None,
    ) -> None:
        self.settings, self.purpose, self.on_answer = settings, purpose, progress
        self._ledger, self._replay, self._environment = ledger, replay, environment
        self._budget, self._patience = budget or Budget(), patience or Patience()
        self._server = endpoint(split_name(settings.name)[0], environment)
        self._limits: Limits = limits_of(settings, self._server.host)
        if self._budget.most_cost is not None and not replay and cost(settings, 1, 1) is None:
            raise BadInput(
                "no price is known for this model, so a budget in money cannot be kept",
                which=settings.name,
                advice="Give a budget in tokens, or the price in LITHOUSE_MODEL_PRICE (or LITHOUSE_MODEL_IS_FREE=1).",
            )

    def count(self, messages: Sequence[Message], schema: Mapping | None = None) -> int:
        """Tokens of a prompt for this model, at most."""
        return count_messages(self.settings, messages, schema)

    async def ask(self, call: Call) -> Answer:
        """The answer to a call, read from the ledger where it was made before.

        The same call at once is made once, by whichever event loop, thread or process comes first.

        Raises:
            ModelFailure: see `calls`.
        """
        key = call_key(self.settings, call)
        if reply := self._ledger.find(key, is_replaying=self._replay):
            return self._conclude(call, _Got(reply, 0.0, was_read=True))
        if self._replay:
            raise NotInLedger(
                "this call of the model was never made, so it cannot be replayed",
                which=f"{call.operation} of {call.item}, key {key[:16]}",
                advice="Run without --replay, or bring the ledger (tables/language_model_calls) of the lake it was made in.",
                key=key,
            )
        name = (id(asyncio.get_running_loop()), key)
        joint = self._ledger.pending.get(name)
        if joint is None or joint.is_given_up:
            joint = self._ledger.pending[name] = _Joint()
            joint.task = asyncio.create_task(self._obtain(call, key, joint))
            joint.task.add_done_callback(lambda _, joint=joint: self._forget(name, joint))
        joint.waiters += 1
        try:
            got = await asyncio.shield(joint.task)
        except asyncio.CancelledError:
            # A reply that is on its way is paid for: it is kept, whoever has stopped waiting.
            if joint.waiters == 1 and not joint.is_sent:
                joint.is_given_up = True
                joint.task.cancel()
            raise
        finally:
            joint.waiters -= 1
        got, joint.is_told = replace(got, cost=0.0, was_read=True) if joint.is_told else got, True
        return self._conclude(call, got)

    @abstractmethod
    async def _send(self, call: Call, form: str) -> Outcome:
        """Send one request; whatever comes of it is an outcome, unless nothing could be sent at all."""

    def _forget(self, name: tuple[int, str], joint: _Joint) -> None:
        if self._ledger.pending.get(name) is joint:
            del self._ledger.pending[name]
        if not joint.task.cancelled():
            joint.task.exception()  # where nobody waits any more, nobody must be told

    def _conclude(self, call: Call, got: _Got) -> Answer:
        reply = got.reply
        if got.was_read:
            self._ledger.keep(
                cached_row(self.settings, self.purpose, self._scrubbed(replace(call, messages=())), reply)
            )
        answer = Answer(reply.key, reply.text, got.was_read, reply.input_tokens, reply.output_tokens, got.cost)
        if self.on_answer and reply.status in OUTCOMES:
            self.on_answer(answer, call)
        if failure := failure_of_reply(self.settings, call, reply):
            raise failure
        return answer

    async def _obtain(self, call: Call, key: str, joint: _Joint) -> _Got:
        if reply := await self._ledger.claim(key):
            return _Got(reply, 0.0, was_read=True)
        try:
            return await self._pay(call, key, joint)
        except BaseException:
            with suppress(LithouseError):  # a claim of an ended process lapses; what went wrong before is what counts
                self._ledger.release(key)
            raise

    async def _pay(self, call: Call, key: str, joint: _Joint) -> _Got:
        counted = self.count(call.messages, call.schema)
        if counted + call.most_tokens > self.settings.window:
            raise TooLong(
                "prompt and reply would be longer than the model's window",
                which=f"{call.item}: {counted:,} tokens counted and {call.most_tokens:,} for the reply, "
                f"window of {self.settings.name} {self.settings.window:,}",
                advice="Give a larger window with LITHOUSE_MODEL_WINDOW if the server has one.",
                key=key,
            )
        sendings = _Sendings()
        async with self._limits.slots:
            while True:
                form = self._form()
                try:
                    got = await self._until_settled(call, key, joint, counted, form, sendings)
                except _Passing as error:
                    raise self._failure(call, key, error.outcome) from None
                if isinstance(got, _Got):
                    _UNREADABLE[self._server.host] = None
                    return got
                following = _FORMS[_FORMS.index(form) + 1 :]
                if got.cause != "form" or call.schema is None or not following:
                    raise self._failure(call, key, got)
                # The server does not know this way to ask for JSON; the row says so.
                _NEXT_FORM[self.settings.name, self._server.host, form] = following[0]

    def _failure(self, call: Call, key: str, outcome: Outcome) -> ModelFailure:
        unreadable = _UNREADABLE.setdefault(self._server.host, set()) if outcome.cause == "no_reply" else None
        if unreadable is not None:
            unreadable.add(key)
        is_wrong = unreadable is not None and len(unreadable) >= _CALLS_UNREADABLE
        return failure_of_outcome(self.settings, self._server, call, key, outcome, is_wrong_server=is_wrong)

    async def _until_settled(
        self, call: Call, key: str, joint: _Joint, counted: int, form: str, sendings: _Sendings
    ) -> _Got | Outcome:
        patience = self._patience
        async for attempt in stamina.retry_context(
            on=self._wait_before_next,
            attempts=patience.attempts,
            timeout=None,
            wait_initial=patience.first_wait,
            wait_max=patience.longest_wait,
            wait_jitter=patience.jitter,
        ):
            with attempt:
                if not joint.waiters:
                    joint.is_given_up = True
                    raise asyncio.CancelledError  # nobody wants it any more
                outcome, price = await self._request(call, key, joint, counted, form, sendings)
                if outcome.status in PASSING:
                    raise _Passing(outcome, sendings.count)
        if outcome.status in REPLAYED:
            return _Got(outcome.reply(key), price, was_read=False)
        return outcome

    async def _request(
        self, call: Call, key: str, joint: _Joint, counted: int, form: str, sendings: _Sendings
    ) -> tuple[Outcome, float | None]:
        """One request with its reservation, its row, and what it cost."""
        most = counted + call.most_tokens
        reservation = await self._budget.reserve(most, cost(self.settings, counted, call.most_tokens))
        outcome, price = _UNSENT, None
        try:
            await self._limits.wait(most)
            asked_at, started = datetime.now(UTC), time.monotonic()
            waited = started - sendings.waits_since
            outcome = Outcome("abandoned", error="nobody waited for the reply", is_billed_unknown=True)
            joint.is_sent = True
            try:
                outcome = self._clean(await self._send(call, form), counted)
            except LithouseError:
                outcome = _UNSENT  # no key, no such model: nothing left this machine
                raise
            except Exception as error:
                # A fault of ours or of a library, maybe behind a reply that is paid for: told, not sent again.
                told = self._scrub_error(f"{type(error).__name__}: {error}")
                outcome = replace(outcome, error=f"no reply could be read: {told}"[:1000])
                raise
            finally:
                joint.is_sent = False
                ended = time.monotonic()
                sendings.count += 1
                sendings.waits_since = ended
                price = self._price(outcome)
                if outcome.was_sent:
                    self._keep(call, key, outcome, price, sendings.count, asked_at, ended - started, waited)
        finally:
            self._settle(reservation, outcome, price)
        return outcome, price

    def _keep(
        self,
        call: Call,
        key: str,
        outcome: Outcome,
        price: float | None,
        sending: int,
        asked_at: datetime,
        seconds: float,
        waited: float,
    ) -> None:
        call = self._scrubbed(call)
        row = base_row(self.settings, self.purpose, call, key, asked_at) | {
            "origin": "paid",
            "status": outcome.status,
            "sending": sending,
            "parameters": as_json(dict(outcome.parameters)),
            "messages": as_json([{"role": message.role, "content": message.text} for message in call.messages]),
            "schema": None if call.schema is None else as_json(call.schema),
            "reply": outcome.text if outcome.status in REPLAYED else None,
            "finish_reason": outcome.finish_reason,
            "input_tokens": outcome.input_tokens,
            "output_tokens": outcome.output_tokens,
            "prompt_cached_tokens": outcome.prompt_cached_tokens,
            "usage_source": outcome.usage_source,
            "cost": price,
            "seconds": round(seconds, 6),
            "waited_seconds": round(max(waited, 0.0), 6),
            "error": outcome.error or None,
            "answered_at": datetime.now(UTC) if outcome.status != "abandoned" else None,
        }
        self._ledger.keep(row, outcome.reply(key) if outcome.status in REPLAYED else None)

    def _settle(self, reservation: Reservation, outcome: Outcome, price: float | None) -> None:
        tokens = (outcome.input_tokens or 0) + (outcome.output_tokens or 0)
        self._budget.settle(reservation, tokens, price, is_presumed=outcome.is_billed_unknown)

    def _price(self, outcome: Outcome) -> float | None:
        if outcome.input_tokens is None or outcome.output_tokens is None:
            return None
        return cost(
            self.settings,
            outcome.input_tokens,
            outcome.output_tokens,
            prompt_cached_tokens=outcome.prompt_cached_tokens or 0,
        )

    def _clean(self, outcome: Outcome, counted: int) -> Outcome:
        """Without secrets, and with tokens counted by us where the server gave none."""
        text, error = self._scrub(outcome.text), self._scrub_error(outcome.error)
        outcome = replace(outcome, sent_on_to=self._scrub_error(outcome.sent_on_to))
        if outcome.status in REPLAYED and outcome.status != "too_long" and outcome.input_tokens is None:
            written = self.count([Message("assistant", text)]) if text else 0
            outcome = replace(outcome, input_tokens=counted, output_tokens=written, usage_source="counted")
        return replace(outcome, text=text, error=error)

    def _scrub(self, text: str) -> str:
        return scrub(plain(text), self._environment)

    def _scrub_error(self, text: str) -> str:
        own_key = key_of(split_name(self.settings.name)[0], self._environment)
        return scrub(plain(text), self._environment, own_key=own_key)

    def _scrubbed(self, call: Call) -> Call:
        messages = tuple(replace(message, text=self._scrub(message.text)) for message in call.messages)
        return replace(call, messages=messages, item=self._scrub(call.item), reason=self._scrub(call.reason))

    def _form(self) -> str:
        form = self.settings.output
        while following := _NEXT_FORM.get((self.settings.name, self._server.host, form)):
            form = following
        return form

    def _wait_before_next(self, error: Exception) -> bool | float:
        """For stamina: whether to send again, and after how many seconds where the server says."""
        if not isinstance(error, _Passing):
            return False
        if error.outcome.cause == "unreachable" and error.sending >= self._patience.unreachable:
            return False
        if error.outcome.cause == "no_reply" and error.sending >= _SENDINGS_UNREADABLE:
            return False
        wait = error.outcome.retry_after
        if wait is None:
            return True
        if wait > self._patience.longest_retry_after:
            return False
        self._limits.pause(wait)
        return wait + random.uniform(0, min(self._patience.jitter, 0.1 * wait))  # noqa: S311
