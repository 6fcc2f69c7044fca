"""The data dictionary in docs/ is the one the contracts give."""

from pathlib import Path

import pytest

from corpus.contracts.registry import CONTRACTS
from corpus.dictionary import as_json, markdown

DOCS = Path(__file__).parents[2] / "docs" / "data_dictionary.md"


def test_the_data_dictionary_in_docs_is_current() -> None:
    assert DOCS.read_text(encoding="utf-8") == markdown(), "write it again: lithouse tables --markdown"


@pytest.mark.parametrize("name", CONTRACTS)
def test_each_table_says_its_key_its_partition_and_what_each_column_means(name) -> None:
    table = as_json(CONTRACTS[name])
    columns = {c["name"]: c for c in table["columns"]}
    assert table["key"]
    assert set(table["key"]) | set(table["partition_by"]) <= set(columns)
    assert all(c["description"] for c in columns.values())
    assert not any(columns[key]["is_nullable"] for key in (*table["key"], *table["partition_by"]))
    for column, facts in columns.items():
        assert facts["unit"] or not column.endswith("_count"), f"{name}.{column} needs a unit"
        assert "UTC" in facts["type"] or not column.endswith("_at"), f"{name}.{column} is no UTC time"
        assert facts["type"] == "bool" or not column.startswith(("is_", "has_"))
