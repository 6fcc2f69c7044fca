"""Rows of the ledger for tests that read it."""

from datetime import UTC, datetime

import polars as pl

from corpus.contracts.registry import CONTRACTS
from corpus.tables import Lake

ASKED = datetime(2025, 1, 2, 3, 4, 5, tzinfo=UTC)


def write_calls(lake: Lake, *rows: dict) -> None:
    """Rows with sensible values; each needs a key."""
    schema = CONTRACTS["language_model_calls"].polars_schema
    known = {
        "day": ASKED.date(), "origin": "paid", "status": "answered", "model": "test:a-model", "provider": "test",
        "operation": "draft", "template": "t" * 12, "topic": "topic", "edition": "e1", "asset": "survey",
        "item": "2.1 Retrieval", "attempt": 1, "parameters": "{}", "evidence": [], "flagged": [], "asked_at": ASKED,
        "answered_at": ASKED, "input_tokens": 100, "output_tokens": 20, "cost": 0.5, "messages": "[]", "reply": "{}",
    }  # fmt: skip
    full = [{**dict.fromkeys(schema), **known, "call_id": f"c{i}", **row} for i, row in enumerate(rows)]
    lake.replace("language_model_calls", pl.DataFrame(full, schema=schema), None)
