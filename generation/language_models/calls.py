"""A call to a language model and what can become of it: values and errors, no network and no table.

ModelFailure (a LithouseError)    a call that gave nothing to use
├── for one item: the stage goes on without it
│   ├── Overloaded                rate limits, 5xx and time-outs to the last attempt (retryable)
│   ├── TooLong                   the server says that the prompt is longer than its window
│   ├── Truncated                 the reply ended at its token limit
│   ├── Refused                   the model or its filter declined
│   ├── EmptyReply                nothing but blanks or thinking; asked for again as another attempt, and then final
│   ├── Rejected                  the server will not take this request, and would not if it were sent again
│   ├── Unreadable                what the server sent is no reply of a model (retryable)
│   └── Unfit                     the reply is not what was asked for, after all repairs
└── fatal: every further call would end the same way, so the stage stops
    ├── WrongKey                  no key, or the server does not accept it
    ├── NoSuchModel               provider or model unknown
    ├── Unreachable               no server answers (retryable)
    ├── WrongServer               what answers serves no models, or sends requests on to another address
    ├── OutOfBudget               the next call may exceed what may be spent (retryable)
    ├── WindowTooSmall            not even the shortest prompt of an operation fits the model's window
    ├── NotInLedger               replaying, and this call was never made
    └── LedgerFull                the reply cannot be kept: the disk is full
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from ingestion.errors import LithouseError


@dataclass(frozen=True)
class Message:
    """One message of a conversation; `text` as rendered."""

    role: Literal["system", "user", "assistant"]
    text: str


@dataclass(frozen=True)
class Call:
    """What is asked of a model.

    Attributes:
        operation: name of the template: `draft`, `card`, ….
        template: hash of the template's file, so that a changed prompt is another call.
        schema: bounded JSON schema of the reply (an object); None where the reply is text.
        most_tokens: that the reply may have.
        item: what it is for, as a person would name it: `2.1 Dense Retrieval`, a paper id.
        paper_id: where it is for one paper (cards).
        evidence: papers whose text the messages show, in order.
        flagged: of these, papers whose text tries to instruct whoever reads it.
        attempt: 1, or which repair of the same item this is; part of the ledger's key, so that a reply which was empty
            can be asked for again.
        repairs: ledger key of the call whose reply could not be used; "" for a first attempt.
        reason: why it could not.
    """

    operation: str
    template: str
    messages: tuple[Message, ...]
    schema: Mapping | None
    most_tokens: int
    item: str
    paper_id: str | None = None
    evidence: tuple[str, ...] = ()
    flagged: tuple[str, ...] = ()
    attempt: int = 1
    repairs: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Answer:
    """A reply that came to its end; told of to `on_answer` also where it was cut, declined or empty.

    Attributes:
        key: of the ledger; names the call for good.
        text: as the model wrote it, without its thinking.
        is_cached: it was read from the ledger.
        cost: US dollars paid for it now; None where no price is known, 0 where it is cached.
    """

    key: str
    text: str
    is_cached: bool
    input_tokens: int
    output_tokens: int
    cost: float | None


@dataclass(frozen=True)
class Purpose:
    """What calls are made for: columns of the ledger.

    Attributes:
        asset: Dagster asset: `paper_cards`, `outline`, `digests`, `survey`.
        edition: id; None for what serves all editions (cards).
    """

    asset: str
    topic: str
    edition: str | None = None
    run_id: str | None = None


@dataclass(frozen=True)
class Spent:
    """Tokens and money of calls, paid and cached apart.

    Attributes:
        cost: US dollars; None where the price of any paid call is unknown.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost: float | None = 0.0
    calls: int = 0
    cached_calls: int = 0


class ModelFailure(LithouseError):
    """A call that gave nothing to use.

    Attributes:
        is_fatal: every further call would end the same way.
        key: of the ledger, "" where nothing was asked.
        text: what the model wrote before, where it wrote something.
    """

    is_fatal = False

    def __init__(self, what: str, *, which: str = "", advice: str = "", key: str = "", text: str = "") -> None:
        super().__init__(what, which=which, advice=advice)
        self.key = key
        self.text = text


class Overloaded(ModelFailure):
    """Rate limits, 5xx and time-outs to the last attempt."""

    is_retryable = True


class TooLong(ModelFailure):
    """The server says that the prompt is longer than its window."""


class Truncated(ModelFailure):
    """The reply ended at its token limit; a part of it is no reply."""


class Refused(ModelFailure):
    """The model or its filter declined to answer."""


class EmptyReply(ModelFailure):
    """Nothing but blanks or thinking.

    Another attempt is another call and may be answered; the same call is not made again, so that after the last attempt
    an empty reply is final.
    """


class Rejected(ModelFailure):
    """The server will not take this request (4xx), and would not if it were sent again."""


class Unreadable(ModelFailure):
    """What the server sent is no reply of a model: a web page, nothing, fields that are not there."""

    is_retryable = True


class Unfit(ModelFailure):
    """The reply is not what was asked for, after all repairs."""


class FatalFailure(ModelFailure):
    """Every further call would end the same way."""

    is_fatal = True


class WrongKey(FatalFailure):
    """No key, or the server does not accept it."""


class NoSuchModel(FatalFailure):
    """Provider or model unknown."""


class Unreachable(FatalFailure):
    """No server answers."""

    is_retryable = True


class WrongServer(FatalFailure):
    """What answers at the address serves no models, or sends requests on to another address."""


class OutOfBudget(FatalFailure):
    """The next call may exceed what may be spent; what is done is kept."""

    is_retryable = True
    exit_code = 3


class WindowTooSmall(FatalFailure):
    """Not even the shortest prompt of an operation fits the model's window."""


class NotInLedger(FatalFailure):
    """Replaying, and this call was never made."""


class LedgerFull(FatalFailure):
    """The reply cannot be kept: the disk is full."""


@dataclass(frozen=True)
class ModelSettings:
    """How a model is asked, from its name and the environment; what decides the text is in `deciding`.

    Attributes:
        name: `PROVIDER:NAME`.
        window: tokens that prompt and reply may have together.
        output: how structured replies are asked for.
        token_margin: counted tokens are multiplied by this, since not every model's tokenizer is known.
        concurrency: calls at once.
        per_minute: requests, tokens a minute; None for no limit.
        timeout: seconds for one reply.
        is_local: the model runs on this machine or is said to be free: its price is 0.
        price: US dollars a million tokens of input and output, as the environment says; None to look it up.
        price_list: provider whose published prices hold for the server that is asked; None where none do.
        notes: what was assumed, for people: a window that nothing names, a price that is not known.
    """

    name: str
    window: int
    output: Literal["native", "tool", "prompted"] = "native"
    token_margin: float = 1.0
    temperature: float = 0.0
    seed: int = 0
    concurrency: int = 8
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    timeout: float = 180.0
    is_local: bool = False
    price: tuple[float, float] | None = None
    price_list: str | None = None
    notes: tuple[str, ...] = ()
    deciding: Mapping[str, object] = field(default_factory=dict)
