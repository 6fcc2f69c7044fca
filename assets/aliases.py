"""Assets that were renamed, and where their materializations are found.

What a survey is made from lies in tables, and what is due is judged by these (`assets.runs`): a renamed asset loses
nothing and makes nothing due. Only Dagster's history goes by names; here is the one place that knows the former ones.
"""

from datetime import datetime

import dagster as dg

FORMER_NAMES: dict[str, str] = {}
"""Former name → name now. Whoever renames an asset adds a line."""


def names_of(asset: str) -> tuple[str, ...]:
    """The asset's name now, and those it had."""
    return (asset, *sorted(former for former, now in FORMER_NAMES.items() if now == asset))


def last_made(
    instance: dg.DagsterInstance, asset: str, partition: str | None, before: datetime | None = None
) -> tuple[str, dg.EventLogRecord] | None:
    """The newest materialization of an asset under any of its names, and that name; None where there is none.

    Args:
        before: only such as were made before it (UTC).
    """
    found = []
    for name in names_of(asset):
        wanted = dg.AssetRecordsFilter(
            asset_key=dg.AssetKey(name),
            asset_partitions=[partition] if partition else None,
            before_timestamp=before.timestamp() if before else None,
        )
        found += [(name, record) for record in instance.fetch_materializations(wanted, limit=1).records]
    return max(found, key=lambda pair: pair[1].timestamp, default=None)
