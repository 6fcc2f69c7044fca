"""When the entries of reference lists are compared again: after a change of the corpus, or of the code that compares."""

from datetime import date

import polars as pl
import pytest

from corpus import referencing
from corpus.contracts.registry import CONTRACTS
from corpus.referencing import resolve_references, unresolved_papers
from corpus.snapshots import take_snapshot

CITING, CITED = "2401.00001", "2301.00002"


@pytest.fixture
def listed(lake, record, write_mirror, tmp_path, harvest):
    """A lake in which one paper's list names another by its id."""
    records = [record(CITING, day="2024-01-05"), record(CITED, day="2023-01-05", title="Sparse slots for reading")]
    harvest(lake, write_mirror(tmp_path / "m", records))
    schema = CONTRACTS["bibliography"].polars_schema
    row = {
        **dict.fromkeys(schema), "paper_id": CITING, "sha256": "ab", "position": 1, "id_month": date(2024, 1, 1),
        "label": "1", "text": "A. Lovelace. Sparse slots for reading. 2023. arXiv:2301.00002.", "authors": [], "urls": [],
        "method": "unresolved", "certainty": 0.0, "detail": "", "contexts": [],
    }  # fmt: skip
    lake.append("bibliography", pl.DataFrame([row], schema=schema))
    return lake


def test_entries_are_compared_once_for_a_corpus_and_a_code(listed, monkeypatch) -> None:
    corpus = take_snapshot(listed).content_hash
    assert resolve_references(listed, [CITING], corpus).resolved == 1
    assert unresolved_papers(listed, [CITING], corpus) == []
    assert unresolved_papers(listed, [CITING], "another corpus") == [CITING]
    monkeypatch.setattr(referencing, "sources_hash", lambda names: "another code")
    assert unresolved_papers(listed, [CITING], corpus) == [CITING]
    resolve_references(listed, [CITING], corpus)
    assert unresolved_papers(listed, [CITING], corpus) == []
