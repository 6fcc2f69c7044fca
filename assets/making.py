"""Which materializations of Dagster's a survey came from, for its lineage."""

from datetime import UTC, datetime
from pathlib import Path

from generation.lineage import Node

_BY_TOPIC = ("topic_pool", "topic_documents", "paper_cards")
_BY_METHOD = ("outline", "digests", "survey")


def assets_of(home: Path, row: dict) -> list[Node]:
    """A node for each asset of the survey that Dagster's storage knows: when, by which run, under which name.

    Args:
        row: of `surveys`.
    """
    if not (home / "dagster").is_dir():
        return []
    from assets.aliases import last_made
    from assets.instance import open_instance, quiet
    from assets.partitions import survey_key

    quiet()
    keys = dict.fromkeys(_BY_TOPIC, row["topic"]) | dict.fromkeys(
        _BY_METHOD, str(survey_key(row["topic"], row["method"]))
    )
    nodes = []
    with open_instance(home) as instance:
        end = instance.get_run_record_by_id(row["run_id"])
        before = datetime.fromtimestamp(end.end_time, UTC) if end and end.end_time else None
        for asset, key in keys.items():
            if found := last_made(instance, asset, key, before):
                name, record = found
                then = "" if name == asset else f", then named {name}"
                made_at = datetime.fromtimestamp(record.timestamp, UTC)
                label = f"materialized {made_at:%Y-%m-%d %H:%M} UTC{then}"
                detail = {"run": record.run_id, "partition": key, "name_then": None if name == asset else name}
                nodes.append(Node("asset", asset, label, detail))
    return nodes
