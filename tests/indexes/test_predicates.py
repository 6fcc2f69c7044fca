from datetime import UTC, date, datetime

import lancedb
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from indexes.predicates import admitted, one_of, quoted
from ingestion.errors import BadInput

NASTY = ["O'Neil", 'a"b', "a\\b", "a\\'b", "' OR '1'='1", "x'; --", "%", "_", "a\nb", "", "''", "\\", "é日本", "NULL"]


def matching(values: list[str], predicate: str) -> set[str]:
    schema = pa.schema([("paper_id", pa.string()), ("submitted_latest", pa.date32()), ("is_withdrawn", pa.bool_())])
    rows = pa.table([values, [date(2024, 1, 1)] * len(values), [False] * len(values)], schema=schema)
    table = lancedb.connect("memory://").create_table("t", rows)
    return set(table.search().where(predicate).limit(len(values)).to_arrow()["paper_id"].to_pylist())


@pytest.mark.parametrize("value", NASTY)
def test_vx07_a_value_with_quotes_or_backslash_matches_itself_and_nothing_else(value):
    assert matching(NASTY, one_of("paper_id", [value])) == {value}
    assert matching(NASTY, admitted(date(2024, 1, 1), excluded=[value])) == set(NASTY) - {value}
    assert matching(NASTY, admitted(date(2024, 1, 1), within=[value])) == {value}


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.text(st.characters(codec="utf-8")), min_size=1, max_size=6, unique=True), st.data())
def test_vx07_no_text_injects_a_predicate(values, data):
    chosen = data.draw(st.sets(st.sampled_from(values)))
    assert matching(values, one_of("paper_id", chosen)) == chosen
    assert matching(values, admitted(date(2024, 1, 1), excluded=chosen)) == set(values) - chosen


def test_excluded_wins_over_within():
    assert matching(["a", "b"], admitted(date(2024, 1, 1), within=["a", "b"], excluded=["a"])) == {"b"}
    assert matching(["a", "b"], admitted(date(2024, 1, 1), within=[])) == set()


def test_the_cutoff_is_inclusive():
    assert matching(["a"], admitted(date(2024, 1, 1))) == {"a"}
    assert matching(["a"], admitted(date(2023, 12, 31))) == set()


def test_predicates_do_not_depend_on_the_order_of_ids():
    assert one_of("paper_id", ["b", "a", "b"]) == one_of("paper_id", {"a", "b"}) == "paper_id IN ('a', 'b')"


@pytest.mark.parametrize("cutoff", ["2024-01-01", None, datetime(2024, 1, 1, tzinfo=UTC)])
def test_a_cutoff_that_is_no_day_is_refused(cutoff):
    with pytest.raises(BadInput, match="cutoff"):
        admitted(cutoff)


def test_one_string_in_place_of_several_ids_is_refused():
    with pytest.raises(BadInput, match="excluded"):
        admitted(date(2024, 1, 1), excluded="2401.00001")
    with pytest.raises(BadInput, match="within"):
        admitted(date(2024, 1, 1), within="2401.00001")


def test_a_lone_surrogate_is_refused():
    with pytest.raises(BadInput, match="Unicode"):
        quoted("\ud800")
