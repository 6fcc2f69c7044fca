"""One paper as it is held, and typed answers for what is not."""

import pytest

from corpus.lookup import PaperNotFound, look_up
from corpus.sidetables import store_edges
from ingestion.errors import NotFound
from ingestion.sidedata import Edge

NOT_HELD = ("9999.99999", "2401.99998", "hep-th/9901001", "0112019", "nonsense", "", "10.1000/none", "local:00")


def test_id08_what_is_not_held_is_a_typed_not_found(lake, record, write_mirror, tmp_path, harvest) -> None:
    harvest(lake, write_mirror(tmp_path / "m", [record("2401.00001")]))
    for text in NOT_HELD:
        with pytest.raises(PaperNotFound) as missing:
            look_up(lake, text)
        assert isinstance(missing.value, NotFound)
        assert not missing.value.is_retryable


def test_id08_a_version_that_is_not_held_is_not_answered_with_the_base_paper(
    lake, record, write_mirror, tmp_path, harvest
) -> None:
    harvest(lake, write_mirror(tmp_path / "m", [record("2401.00001", day="2024-01-05"), record("2401.00002")]))
    with pytest.raises(PaperNotFound, match=r"version 999 of 2401\.00001 is not held\. Versions held: v1"):
        look_up(lake, "2401.00001v999")
    with pytest.raises(PaperNotFound, match="none by number"):
        look_up(lake, "2401.00002v1")


def test_id08_an_empty_lake_holds_nothing(lake) -> None:
    with pytest.raises(PaperNotFound, match="not held"):
        look_up(lake, "2401.00001")
    assert not lake.home.exists()


def test_a_paper_is_found_by_any_form_with_its_edges_and_sources(lake, record, write_mirror, tmp_path, harvest) -> None:
    harvest(lake, write_mirror(tmp_path / "m", [record("2401.00001", day="2024-01-05")]))
    pairs = [("2401.00001", "1706.03762"), ("2401.00001", "1512.03385"), ("2402.00002", "2401.00001")]
    store_edges(lake, "s", [Edge(*pair) for pair in pairs])
    for text in ("2401.00001", "arXiv:2401.00001v1", "https://arxiv.org/pdf/2401.00001v1"):
        found = look_up(lake, text)
        assert found["paper_id"] == "2401.00001"
    assert [r["cited_id"] for r in found["references"]] == ["1512.03385", "1706.03762"]
    assert [r["number"] for r in found["references"]] == [1, 2]
    assert found["citations"] == ["2402.00002"]
    assert (found["submitted_on"], found["document_status"]) == ("2024-01-05", None)
    assert found["versions"] == [{"number": 1, "created_at": "2024-01-05T00:00:00+00:00"}]
    assert found["sources"] == [f"mirror:{(tmp_path / 'm').resolve().as_posix()}"]


def test_where_sources_disagree_both_are_named_and_gaps_disagree_with_nothing(
    lake, record, write_mirror, tmp_path, harvest
) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    said = record("2401.00001", title="A  title", doi="10.1/X", abstract=None, categories="cs.CL")
    harvest(lake, write_mirror(one, [said, record("2401.00002")]))
    harvest(lake, write_mirror(two, [record("2401.00001", title="A title", doi="10.1/x", categories="cs.LG")]))
    assert look_up(lake, "2401.00002")["disagreements"] == []
    assert look_up(lake, "2401.00001")["disagreements"] == [
        {
            "field": "categories",
            "values": [{"source": f"mirror:{one}", "value": "cs.CL"}, {"source": f"mirror:{two}", "value": "cs.LG"}],
        }
    ]
