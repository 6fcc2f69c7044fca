"""Contract of the ledger of language models: every request that was sent, and every answer that was read again."""

import dataframely as dy

from corpus.contracts.contract import UTC, Contract

_TOKENS = {"unit": "tokens"}


class LanguageModelCall(dy.Schema):
    call_id = dy.String(primary_key=True, description="Names the row.")
    key = dy.String(
        description="SHA-256 of model, deciding parameters, token limit, messages, schema and attempt: names the call."
    )
    day = dy.Date(description="UTC day on which it was asked. Partition key.")
    origin = dy.String(description="paid: a request was sent; cached: the reply was read from this table.")
    status = dy.String(
        description="answered, truncated, refused, empty, too_long, rate_limited, unavailable, timed_out, rejected or "
        "abandoned (sent, and nobody waited for the reply, or no reply could be read)."
    )
    model = dy.String(description="Model as asked for, PROVIDER:NAME.")
    provider = dy.String(description="What stands before the colon.")
    operation = dy.String(description="Template: draft, card, ….")
    template = dy.String(description="Hash of the template's file.")
    topic = dy.String(description="Topic key.")
    edition = dy.String(nullable=True, description="Edition id; null for what serves all editions (cards).")
    asset = dy.String(description="Stage: paper_cards, outline, digests, survey.")
    item = dy.String(description="What it was for, as a person would name it.")
    paper_id = dy.String(nullable=True, description="Where it was for one paper.")
    attempt = dy.Int32(description="1, or which repair of the same item it was.")
    sending = dy.Int32(
        nullable=True,
        description="Which sending of the call it was, from 1: rate limits, failures of the server and time-outs are "
        "sent again. Null on cached rows.",
    )
    repairs = dy.String(nullable=True, description="Key of the call whose reply could not be used.")
    repair_reason = dy.String(nullable=True, description="Why it could not.")
    parameters = dy.String(description="Temperature, seed, max_tokens and form of output as sent, JSON.")
    messages = dy.String(nullable=True, description="Messages as sent, JSON; null on cached rows.")
    schema = dy.String(
        nullable=True, description="JSON schema of the reply; null where the reply is text, and on cached rows."
    )
    reply = dy.String(nullable=True, description="What the model wrote, without its thinking; null on cached rows.")
    finish_reason = dy.String(nullable=True, description="Why the reply ended, as the server says: stop, length, ….")
    input_tokens = dy.Int64(nullable=True, description="Tokens sent; null where nothing was used.", metadata=_TOKENS)
    output_tokens = dy.Int64(
        nullable=True,
        description="Tokens of the reply, thinking included; null where there was none.",
        metadata=_TOKENS,
    )
    prompt_cached_tokens = dy.Int64(
        nullable=True, description="Of the tokens sent, those the server had in a cache of its own.", metadata=_TOKENS
    )
    usage_source = dy.String(nullable=True, description="Who counted the tokens: server, or counted (by us).")
    cost = dy.Float64(
        nullable=True,
        description="Cost; 0 on cached rows and for free models, null where no price is known or nothing was used.",
        metadata={"unit": "US dollars"},
    )
    seconds = dy.Float64(
        nullable=True, description="From sending to reply; null on cached rows.", metadata={"unit": "seconds"}
    )
    waited_seconds = dy.Float64(
        nullable=True,
        description="Before that, for a free place, a rate limit or the budget; null on cached rows.",
        metadata={"unit": "seconds"},
    )
    evidence = dy.List(dy.String(), description="Papers whose text the messages show, in order.")
    flagged = dy.List(dy.String(), description="Of these, papers whose text tries to instruct whoever reads it.")
    error = dy.String(nullable=True, description="What the server said; null where it answered.")
    asked_at = dy.Datetime(**UTC, description="When it was sent, or read again.")
    answered_at = dy.Datetime(**UTC, nullable=True, description="When the reply was there.")
    run_id = dy.String(nullable=True, description="Run it was made for.")


LANGUAGE_MODEL_CALLS = Contract(
    "language_model_calls", LanguageModelCall, "request to a language model, or answer read from the ledger", ("day",)
)
