"""Asking until a reply fits: a bounded number of repairs, each of which tells the model what was wrong.

Rate limits, time-outs and the ledger are the gateway's; here only what stands in a reply matters.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from generation.language_models.calls import (
    Call,
    EmptyReply,
    Message,
    ModelFailure,
    Refused,
    Truncated,
    Unfit,
)
from generation.language_models.replies import Reading

Value = TypeVar("Value")

MOST_REPAIRS = 2
_LONGEST_SHOWN = 6000
"""Characters of a bad reply that are shown back."""

_MOST_REASONS = 8


@dataclass(frozen=True)
class Asked(Generic[Value]):
    """What came of a call and its repairs.

    Attributes:
        keys: ledger keys of all calls made; the one whose reply was taken last.
        problems: what remains wrong with it.
    """

    value: Value
    keys: tuple[str, ...]
    problems: tuple[str, ...] = ()


async def ask_for(
    gateway, call: Call, read: Callable[[str], Reading[Value]], most_repairs: int = MOST_REPAIRS
) -> Asked[Value]:
    """The value of a reply, asked for again while it does not fit; at the end the best there was.

    A cut reply is asked for again with more tokens where the window bears them, else shorter; an empty one as it was;
    one that refuses not at all. Tokens that a repair was given the following ones keep.

    Args:
        read: a reply's text → what it says, and its problems; raises Unfit, Truncated, EmptyReply or Refused.

    Raises:
        Refused: the model declined.
        Unfit, Truncated, EmptyReply: no reply could be used, to the last repair; says why.
        ModelFailure: as the gateway raises.
    """
    keys: list[str] = []
    best: tuple[Reading[Value], str] | None = None
    asked = call
    failure: ModelFailure | None = None
    for attempt in range(1, most_repairs + 2):
        key = text = ""
        try:
            answer = await gateway.ask(asked)
            key, text = answer.key, answer.text
            keys.append(key)
            reading = read(text)
        except Refused as error:
            if best:
                break
            raise _about(error, call, key) from error
        except (EmptyReply, Truncated, Unfit) as error:
            failure = error
            key, text = key or error.key, text or error.text
            if error.key and keys[-1:] != [error.key]:
                keys.append(error.key)
            reasons: tuple[str, ...] = (error.message,)
        else:
            if not reading.problems:
                return Asked(reading.value, tuple(keys))
            if best is None or len(reading.problems) < len(best[0].problems):
                best = reading, key
            reasons, failure = reading.problems, None
        if attempt <= most_repairs:
            asked = _again(gateway, call, asked, text, key, reasons, failure)
    if best:
        return Asked(best[0].value, (*(k for k in keys if k != best[1]), best[1]), best[0].problems)
    assert failure is not None
    raise _about(failure, call, keys[-1] if keys else "", f"after {most_repairs + 1} attempts") from failure


def _again(gateway, call: Call, asked: Call, text: str, key: str, reasons, failure: ModelFailure | None) -> Call:
    """The next attempt: the first call's messages, the bad reply where it helps, and what to do."""
    settings = gateway.settings
    attempt, reason = asked.attempt + 1, "; ".join(reasons[:_MOST_REASONS])
    told = {"repairs": key, "reason": reason, "attempt": attempt}
    if isinstance(failure, EmptyReply):
        return replace(call, **told, most_tokens=asked.most_tokens)
    if isinstance(failure, Truncated):
        most = min(asked.most_tokens * 2, settings.window - gateway.count(call.messages, call.schema))
        if most > asked.most_tokens:
            return replace(call, **told, most_tokens=most)
        text = ""
        wanted = "Your reply was cut off at its token limit. Answer again in half the length, and bring it to its end."
    else:
        said = "\n".join(f"- {r}" for r in reasons[:_MOST_REASONS])
        wanted = f"That reply cannot be used:\n{said}\nAnswer again, the whole reply, with this put right and nothing else changed."
    shown = (Message("assistant", text[:_LONGEST_SHOWN]),) if text and len(text) <= _LONGEST_SHOWN else ()
    for before in (shown, ()):
        messages = _turns(call.messages, before, wanted)
        room = settings.window - gateway.count(messages, call.schema)
        if room >= call.most_tokens:
            return replace(call, **told, messages=messages, most_tokens=min(asked.most_tokens, room))
    # The window holds no word more: the same again, as another attempt.
    return replace(call, **told, most_tokens=asked.most_tokens)


def _turns(messages: tuple[Message, ...], shown: tuple[Message, ...], wanted: str) -> tuple[Message, ...]:
    if shown:
        return (*messages, *shown, Message("user", wanted))
    *before, last = messages
    return (*before, replace(last, text=f"{last.text}\n\n{wanted}"))


def _about(error: ModelFailure, call: Call, key: str, more: str = "") -> ModelFailure:
    """The same failure with what it was asked for."""
    which = f"{call.operation} of “{call.item}”{f', {more}' if more else ''}"
    what = f"{error.what} ({error.which})" if error.which else error.what
    return type(error)(what, which=which, advice=error.advice, key=key or error.key, text=error.text)
