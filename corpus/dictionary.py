"""The data dictionary, generated from the contracts."""

from corpus.contracts.contract import Contract
from corpus.contracts.registry import CONTRACTS

_HEAD = """# Data dictionary

Generated from the contracts by `lithouse tables --markdown`; a test keeps it current. Times are UTC.
"""


def markdown() -> str:
    """The whole dictionary as Markdown."""
    return _HEAD + "".join(_table(contract) for contract in CONTRACTS.values())


def _table(contract: Contract) -> str:
    lines = [
        f"\n## {contract.name}\n",
        f"One row per {contract.summary}. Key: {', '.join(contract.keys)}. "
        f"Partition: {', '.join(contract.partition_by) or 'none'}. Contract version {contract.version}.\n",
        "| column | type | null | unit | meaning |",
        "|---|---|---|---|---|",
    ]
    for name, kind, nullable, unit, description in contract.rows():
        lines.append(f"| {name} | {kind} | {'yes' if nullable else 'no'} | {unit} | {description} |")
    return "\n".join(lines) + "\n"


def as_json(contract: Contract) -> dict:
    """One table of the dictionary as an object."""
    names = ("name", "type", "is_nullable", "unit", "description")
    return {
        "table": contract.name,
        "summary": contract.summary,
        "key": list(contract.keys),
        "partition_by": list(contract.partition_by),
        "contract_version": contract.version,
        "columns": [dict(zip(names, row, strict=True)) for row in contract.rows()],
    }
