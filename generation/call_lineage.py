"""Calls to language models as steps of a sentence's lineage, and what an edition's calls came to.

Reads the ledger, which holds every request and every answer read again. Where a lake has no ledger, or not the call,
that is said. Not here: writing the ledger (`language_models.ledger`), and the rest of the tree (`lineage`).
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

import polars as pl

from corpus.tables import Lake
from generation.lineage_nodes import Node

_LEDGER = "language_model_calls"
_SHOWN = (
    "key", "origin", "status", "model", "operation", "template", "edition", "item", "attempt", "repairs",
    "repair_reason", "finish_reason", "input_tokens", "output_tokens", "cost", "seconds", "evidence", "flagged", "error",
    "asked_at",
)  # fmt: skip
_DEEPEST = 8
"""Repairs of repairs that are followed."""


class Calls:
    """The ledger's rows of some calls and of those that they repaired, without prompts and replies.

    Args:
        keys: of the calls.
        edition: that the calls are told of: whether it paid for them.
    """

    def __init__(self, lake: Lake, keys: Iterable[str], edition: str) -> None:
        self._edition = edition
        self._rows: dict[str, list[dict]] = {}
        self.has_ledger = lake.version(_LEDGER) is not None
        wanted = set(keys) if self.has_ledger else set()
        for _ in range(_DEEPEST):
            wanted -= self._rows.keys()
            if not wanted:
                break
            found = lake.scan(_LEDGER).filter(pl.col("key").is_in(sorted(wanted))).select(_SHOWN).collect()
            self._rows |= {key: [] for key in wanted}
            for row in found.sort("asked_at").to_dicts():
                self._rows[row["key"]].append(row)
            wanted = {row["repairs"] for key in wanted for row in self._rows[key] if row["repairs"]}

    def rows(self) -> list[dict]:
        """All rows of the edition, by time."""
        rows = [row for rows in self._rows.values() for row in rows if row["edition"] in (self._edition, None)]
        return sorted(rows, key=lambda row: row["asked_at"])

    def node(self, key: str, depth: int = 0) -> Node:
        """A call: what was asked by which template of which model, what it took, what it was shown, what it repaired."""
        rows = self._rows.get(key, [])
        if not rows:
            where = "the ledger has no such call" if self.has_ledger else "this lake has no ledger of calls"
            return Node("call", key, where)
        sent = [row for row in rows if row["origin"] == "paid"]
        row = next((r for r in reversed(sent) if r["status"] == "answered"), (sent or rows)[-1])
        own = [r for r in rows if r["edition"] in (self._edition, None)]
        is_paid = any(r["origin"] == "paid" for r in own)
        detail = {
            "operation": row["operation"],
            "template": row["template"],
            "model": row["model"],
            "item": row["item"],
            "status": row["status"],
            "origin": "paid" if is_paid else "cached",
            "input_tokens": row["input_tokens"],
            "output_tokens": row["output_tokens"],
            "cost": _cost(sent),
            "asked_at": row["asked_at"].isoformat(),
            "seconds": row["seconds"],
            "sent": len(sent),
            "evidence": row["evidence"],
            "flagged": row["flagged"],
            "attempt": row["attempt"],
            "repair_reason": row["repair_reason"],
            "error": row["error"],
            "query": f"SELECT messages, reply FROM {_LEDGER} WHERE key = '{key}' AND origin = 'paid'",  # noqa: S608
        }
        tokens = f"{row['input_tokens'] or 0:,} tokens in, {row['output_tokens'] or 0:,} out"
        attempt = f", attempt {row['attempt']}" if row["attempt"] > 1 else ""
        label = f"{row['operation']} by {row['model']}{attempt}: {tokens}, {detail['origin']}"
        node = Node("call", key, label, detail)
        if row["repairs"] and depth < _DEEPEST:
            repaired = self.node(row["repairs"], depth + 1)
            repaired.label = f"repaired: {repaired.label}"
            node.children.append(repaired)
        return node


def checks(sentence: Mapping) -> list[Node]:
    """The checks of a written sentence's row of `survey_sentences`."""
    return [
        Node(
            "check",
            check["paper_id"],
            f"{check['verdict']}, {check['action']}" + (f": {check['reason']}" if check["reason"] else ""),
            {key: check[key] for key in ("verdict", "similarity", "reason", "action", "judge")},
        )
        for check in sentence.get("checks") or ()
    ]


def keys_of(sentences: Iterable[Mapping]) -> list[str]:
    """Ledger keys of the calls that wrote rows of `survey_sentences`, each once."""
    return list(dict.fromkeys(key for sentence in sentences for key in sentence.get("calls") or ()))


def spent_by_edition(lake: Lake, topic: str, edition: str) -> Node | None:
    """What the calls of an edition came to, by operation; None where it made none."""
    if lake.version(_LEDGER) is None:
        return None
    rows = lake.scan(_LEDGER).filter((pl.col("topic") == topic) & (pl.col("edition") == edition)).select(_SHOWN)
    return spent(rows.collect().sort("asked_at").to_dicts(), edition)


def spent(rows: Sequence[Mapping], edition: str) -> Node | None:
    """Tokens and cost of rows of the ledger by operation, paid and cached apart; None where there are no rows."""
    if not rows:
        return None
    operations = dict.fromkeys(row["operation"] for row in rows)
    children = [_spent_node("operation", name, [r for r in rows if r["operation"] == name]) for name in operations]
    total = _spent_node("language model calls", edition, rows)
    total.children = children
    return total


def _spent_node(kind: str, name: str, rows: Sequence[Mapping]) -> Node:
    paid = [row for row in rows if row["origin"] == "paid"]
    detail = {
        "paid_calls": len(paid),
        "cached_calls": len(rows) - len(paid),
        "input_tokens": _sum(paid, "input_tokens"),
        "output_tokens": _sum(paid, "output_tokens"),
        "cached_tokens": _sum([r for r in rows if r["origin"] != "paid"], "input_tokens", "output_tokens"),
        "cost": _cost(paid),
        "models": sorted({row["model"] for row in rows}),
    }
    label = (
        f"{detail['paid_calls']:,} paid and {detail['cached_calls']:,} cached, {detail['input_tokens']:,} tokens in, "
        f"{detail['output_tokens']:,} out, cost {detail['cost']}"
    )
    return Node(kind, name, label, detail)


def _sum(rows: Collection[Mapping], *columns: str) -> int:
    return sum(row[column] or 0 for row in rows for column in columns)


def _cost(paid: Collection[Mapping]) -> float | str:
    """US dollars; "unknown" where tokens were used at no known price."""
    used = [row for row in paid if row["input_tokens"] or row["output_tokens"]]
    if any(row["cost"] is None for row in used):
        return "unknown"
    return round(sum((row["cost"] for row in used), 0.0), 6)
