"""Rows of the ledger and the key of a call: plain values, no table and no network."""

import hashlib
import json
import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any

import polars as pl

from corpus.contracts.language_models import LANGUAGE_MODEL_CALLS
from generation.language_models.calls import Call, ModelSettings, Purpose
from generation.language_models.providers import split_name

TABLE = LANGUAGE_MODEL_CALLS.name
OUTCOMES = ("answered", "truncated", "refused", "empty")
"""What asking the same again would give again: read from the ledger instead."""
REPLAYED = (*OUTCOMES, "too_long")
"""When replaying also what another window may change."""
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Reply:
    """What became of a call, as it is kept: enough to give the same answer or raise the same error again."""

    key: str
    status: str
    text: str
    finish_reason: str | None
    input_tokens: int
    output_tokens: int
    error: str | None


@dataclass(frozen=True)
class Outcome:
    """What one request came to.

    Attributes:
        status: of the ledger's row.
        cause: why it was rejected or not answered, where that decides what happens next: `key`, `model`, `quota`,
            `form` (it does not know this way to ask for JSON), `unreachable`, `redirect` (to `sent_on_to`), `no_reply`
            (what came is no reply of a model).
        was_sent: something left this machine, so that there is a row of it.
        is_billed_unknown: the server may have written a reply and may charge for it, but nobody saw it.
        retry_after: seconds the server asks to wait.
        sent_on_to: address the server names instead of its own.
        parameters: as sent.
    """

    status: str
    text: str = ""
    finish_reason: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    prompt_cached_tokens: int | None = None
    usage_source: str | None = None
    error: str = ""
    cause: str = ""
    was_sent: bool = True
    is_billed_unknown: bool = False
    retry_after: float | None = None
    sent_on_to: str = ""
    parameters: Mapping[str, object] = field(default_factory=dict)

    def reply(self, key: str) -> Reply:
        return Reply(
            key,
            self.status,
            self.text,
            self.finish_reason,
            self.input_tokens or 0,
            self.output_tokens or 0,
            self.error or None,
        )


def call_key(settings: ModelSettings, call: Call) -> str:
    """SHA-256 that names a call: of all that decides its reply, and of nothing else.

    The order of a schema's fields is kept, since models write them in that order.
    """
    parts = {
        "model": settings.name,
        "parameters": dict(sorted(settings.deciding.items())),
        "output": settings.output,
        "most_tokens": call.most_tokens,
        "messages": [[message.role, message.text] for message in call.messages],
        "schema": call.schema,
        "attempt": call.attempt,
    }
    return hashlib.sha256(json.dumps(parts, separators=(",", ":")).encode()).hexdigest()


def plain(text: str) -> str:
    """The text as UTF-8 can hold it: half characters, which models write as escapes, become U+FFFD."""
    return _SURROGATE.sub("\ufffd", text)


def base_row(settings: ModelSettings, purpose: Purpose, call: Call, key: str, asked_at: datetime) -> dict[str, Any]:
    """The columns that a call gives its rows, whatever becomes of it."""
    return {
        **dict.fromkeys(LANGUAGE_MODEL_CALLS.polars_schema),
        "call_id": uuid.uuid4().hex,
        "key": key,
        "day": asked_at.date(),
        "model": settings.name,
        "provider": split_name(settings.name)[0],
        "operation": call.operation,
        "template": call.template,
        "topic": purpose.topic,
        "edition": purpose.edition,
        "asset": purpose.asset,
        "item": plain(call.item),
        "paper_id": call.paper_id,
        "attempt": call.attempt,
        "repairs": call.repairs or None,
        "repair_reason": plain(call.reason) or None,
        "evidence": list(call.evidence),
        "flagged": list(call.flagged),
        "asked_at": asked_at,
        "run_id": purpose.run_id,
    }


def cached_row(settings: ModelSettings, purpose: Purpose, call: Call, reply: Reply) -> dict[str, Any]:
    """The row of an answer that was read from the ledger."""
    now = datetime.now(UTC)
    return base_row(settings, purpose, call, reply.key, now) | {
        "origin": "cached",
        "status": reply.status,
        "parameters": as_json({**settings.deciding, "max_tokens": call.most_tokens}),
        "finish_reason": reply.finish_reason,
        "input_tokens": reply.input_tokens,
        "output_tokens": reply.output_tokens,
        "cost": 0.0,
        "answered_at": now,
    }


def as_json(value: object) -> str:
    """Compact JSON that UTF-8 can hold."""
    return plain(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def to_text(row: Mapping[str, Any]) -> str:
    """A row as JSON, for the spool."""
    return as_json({n: v.isoformat() if isinstance(v, date | datetime) else v for n, v in row.items()})


def to_frame(rows: Sequence[str]) -> pl.DataFrame:
    """Rows of the spool as a frame of the table's columns."""
    values = [json.loads(text) for text in rows]
    for row in values:
        row["day"] = date.fromisoformat(row["day"])
        for column in ("asked_at", "answered_at"):
            row[column] = row[column] and datetime.fromisoformat(row[column])
    return pl.DataFrame(values, schema=LANGUAGE_MODEL_CALLS.polars_schema, orient="row")
