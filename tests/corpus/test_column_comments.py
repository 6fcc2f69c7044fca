"""Descriptions of columns in tables that were made before these were put better."""

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from corpus.contracts.registry import CONTRACTS
from corpus.tables import Lake

_CITATIONS = CONTRACTS["citations"].arrow_schema


def comments(lake: Lake) -> dict[str, str | None]:
    fields = DeltaTable(str(lake.folder("citations"))).schema().fields
    return {f.name: f.metadata.get("comment") for f in fields}


@pytest.mark.parametrize("write", ["append", "replace"])
def test_tb10_a_table_with_older_descriptions_takes_rows_and_keeps_them(lake: Lake, edges, write) -> None:
    older = [f.with_metadata({"comment": "As it was said before."}) for f in _CITATIONS if f.name != "contexts"]
    lake.folder("citations").mkdir(parents=True)
    DeltaTable.create(str(lake.folder("citations")), pa.schema(older))
    if write == "append":
        lake.append("citations", edges(("a", "b")))
    else:
        lake.replace("citations", edges(("a", "b")), {"citing_id": "a"})
    lake.replace("citations", edges(("c", "d")), {"citing_id": "c"})
    assert sorted(lake.read("citations")["citing_id"]) == ["a", "c"]
    told = comments(lake)
    came_later = _CITATIONS.field("contexts").metadata[b"comment"].decode()
    assert told.pop("contexts") == came_later
    assert set(told.values()) == {"As it was said before."}
