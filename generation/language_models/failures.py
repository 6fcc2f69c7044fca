"""What a reply or a failed request means to whoever asked: an error of `calls`, the same from server and ledger."""

from generation.language_models.calls import (
    Call,
    EmptyReply,
    ModelFailure,
    ModelSettings,
    NoSuchModel,
    OutOfBudget,
    Overloaded,
    Refused,
    Rejected,
    TooLong,
    Truncated,
    Unreachable,
    Unreadable,
    WrongKey,
    WrongServer,
)
from generation.language_models.providers import PROVIDERS, Endpoint, split_name
from generation.language_models.records import Outcome, Reply

_SHOWN = 300
"""Characters of what a server or model wrote that an error shows."""


def failure_of_reply(settings: ModelSettings, call: Call, reply: Reply) -> ModelFailure | None:
    """Why a reply is none to use; None where it is."""
    rest = {"key": reply.key, "text": reply.text}
    match reply.status:
        case "truncated":
            return Truncated(
                f"the reply ended at its limit of {call.most_tokens:,} tokens",
                which=call.item,
                advice="A part of a reply is not used.",
                **rest,
            )
        case "refused":
            said = (reply.text or reply.error or "")[:_SHOWN]
            return Refused("the model declined to answer", which=f"{call.item}: {said}" if said else call.item, **rest)
        case "empty":
            return EmptyReply("the model's reply is empty", which=call.item, **rest)
        case "too_long":
            return TooLong(
                "the server says that the prompt is longer than its window",
                which=f"{call.item}: {(reply.error or '')[:_SHOWN]}",
                advice=f"Set LITHOUSE_MODEL_WINDOW to what the server has; {settings.window:,} tokens were assumed.",
                **rest,
            )
    return None


def failure_of_outcome(
    settings: ModelSettings, server: Endpoint, call: Call, key: str, outcome: Outcome, *, is_wrong_server: bool = False
) -> ModelFailure:
    """What a request that brought no reply ends in, after all its sendings.

    Args:
        is_wrong_server: no call to this server had a reply, so that this one's is no accident.
    """
    provider = split_name(settings.name)[0]
    known = PROVIDERS[provider]
    shown = outcome.error[:_SHOWN]
    said = f": {shown}" if shown else ""
    match outcome.cause:
        case "key":
            return WrongKey(
                f"{server.host} does not accept the key",
                which=f"{settings.name}{said}",
                advice=f"Look at {' or '.join(known.keys)}.",
                key=key,
            )
        case "model":
            return NoSuchModel(
                f"{server.host} has no such model",
                which=f"{settings.name}{said}",
                advice="Look at its list of models, and at the address"
                + (f" in {known.address_variable}." if known.address_variable else "."),
                key=key,
            )
        case "quota":
            return OutOfBudget(
                f"the account's quota at {server.host} is used up",
                which=f"{settings.name}{said}",
                advice="What is done is kept: run the command again when the account has credit.",
                key=key,
            )
        case "unreachable":
            return Unreachable(
                "no server answers",
                which=f"{server.host}{said}",
                advice="Is it running, and is the network there? What is done is kept."
                + (f" Its address is in {known.address_variable}." if known.address_variable else ""),
                key=key,
            )
        case "redirect":
            return WrongServer(
                f"{server.host} sends requests on to {outcome.sent_on_to}, where prompts and keys are not sent unasked",
                which=settings.name,
                advice=f"Set {known.address_variable} to that address if it is meant."
                if known.address_variable
                else "Is a proxy or a login page between here and the provider?",
                key=key,
            )
        case "no_reply":
            failure = WrongServer if is_wrong_server else Unreadable
            return failure(
                f"{server.host} answers, but not with a chat completion{f' ({shown})' if shown else ''}",
                which=settings.name if is_wrong_server else call.item,
                advice=f"Look at {known.address_variable}: is it a server of models, and is its path right (often /v1)?"
                if known.address_variable
                else "Run the command again later.",
                key=key,
            )
    if outcome.status == "rejected":
        return Rejected(f"{server.host} does not take this request", which=f"{call.item}{said}", key=key)
    told = {
        "rate_limited": f"{server.host} limits the rate of requests",
        "timed_out": f"{server.host} gave no reply within {settings.timeout:g} s",
    }.get(outcome.status, f"{server.host} fails")
    if outcome.retry_after:
        told += f" and asks to wait {outcome.retry_after:,.0f} s"
    return Overloaded(
        told,
        which=f"{call.item}{said}",
        advice="Run the command again later, or with a lower LITHOUSE_MODEL_CONCURRENCY.",
        key=key,
    )
