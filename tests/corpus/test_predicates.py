"""Values in predicates: whatever a name holds, exactly its rows are replaced."""

from datetime import UTC, date, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from corpus.query import query
from corpus.tables import Lake, predicate
from ingestion.errors import BadInput

# What polars, Arrow and Delta can store at all: any text but lone surrogates.
NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
NASTY = ["O'Neil", 'say "x"', "back\\slash", "''", "a' OR '1'='1", "%_", "日本", "a\nb", "x\x00y", "\\'", "--", "/* */"]


def refusals(*sources: str, reason: str = "r") -> pl.DataFrame:
    return pl.DataFrame(
        {
            "source": list(sources),
            "source_file": ["f"] * len(sources),
            "source_line": [1] * len(sources),
            "raw_id": [None] * len(sources),
            "reason": [reason] * len(sources),
            "raw": ["x"] * len(sources),
            "rejected_at": [datetime(2024, 1, 1, tzinfo=UTC)] * len(sources),
        },
        schema_overrides={"raw_id": pl.String, "rejected_at": pl.Datetime("us", "UTC")},
    )


def round_trip(lake: Lake, name: str) -> None:
    """Replace the rows of one name beside those of a neighbour that differs by a quote."""
    other = name + "'"
    lake.replace("rejected_records", refusals(name, other, reason="first"), None)
    lake.replace("rejected_records", refusals(name, reason="second"), {"source": name})
    rows = lake.read("rejected_records")
    assert dict(rows.select("source", "reason").iter_rows()) == {name: "second", other: "first"}
    assert lake.read("rejected_records", source=name)["reason"].to_list() == ["second"]


@pytest.mark.parametrize("name", NASTY)
def test_vx07_quotes_and_backslashes_in_a_name_replace_only_its_rows(lake: Lake, name) -> None:
    round_trip(lake, name)
    literal = name.replace("'", "''")
    if "\x00" not in name:
        found = query(lake, f"SELECT reason FROM rejected_records WHERE source = '{literal}'").to_pylist()
        assert found == [{"reason": "second"}]


@given(name=NAMES)
@example(name="O'Neil")
@settings(max_examples=15, deadline=None)
def test_vx07_any_name_replaces_only_its_rows(name) -> None:
    with TemporaryDirectory() as folder:
        round_trip(Lake(Path(folder)), name)


@given(name=NAMES)
def test_vx07_a_literal_ends_where_its_value_ends(name) -> None:
    inner = predicate({"source": name}).removeprefix("source = '").removesuffix("'")
    assert inner.replace("''", "") == name.replace("'", "")
    assert "'" not in inner.replace("''", "")


@pytest.mark.parametrize("topic", ["o'neil", 'say "x"', "a\\b", "a/b", "a=b", "100%", "a b", "é", "007", ".."])
def test_vx07_a_partition_value_with_signs_replaces_only_its_part(lake: Lake, sections, topic) -> None:
    lake.replace("survey_sections", sections("rag", "stays"), {"topic": "rag"})
    lake.replace("survey_sections", sections(topic, "first"), {"topic": topic})
    lake.replace("survey_sections", sections(topic, "second"), {"topic": topic})
    assert dict(lake.read("survey_sections").select("topic", "title").iter_rows()) == {"rag": "stays", topic: "second"}
    found = query(lake, "SELECT topic, title FROM survey_sections ORDER BY title").to_pylist()
    assert found == [{"topic": topic, "title": "second"}, {"topic": "rag", "title": "stays"}]
    files = [Path(uri) for uri in lake.file_uris("survey_sections")]
    assert all(lake.folder("survey_sections").resolve() in file.resolve().parents for file in files)


def test_predicates_join_columns_and_name_every_value() -> None:
    where = {"source": "o'neil", "id_month": [date(2024, 1, 1), date(2024, 2, 1)], "n": 3, "is_x": True}
    assert predicate(where) == (
        "source = 'o''neil' AND id_month IN ('2024-01-01', '2024-02-01') AND n = 3 AND is_x = true"
    )


@pytest.mark.parametrize("value", [None, 1.5, b"x", {"a": 1}.items(), [None]])
def test_values_without_a_literal_are_refused(value) -> None:
    with pytest.raises(BadInput):
        predicate({"source": value})
