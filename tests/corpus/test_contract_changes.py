"""Contracts that change: additions need nothing, anything else a migration; what was, stays as it was."""

from datetime import date

import dataframely as dy
import polars as pl
import pytest

from corpus.contracts.contract import Contract
from corpus.contracts.migrations import MIGRATIONS
from corpus.contracts.registry import CONTRACTS
from corpus.dictionary import as_json
from corpus.maintenance import maintain
from corpus.query import query
from corpus.tables import ContractBreach, Lake
from ingestion.errors import PermanentFailure

_IDS = {"arxiv": dy.String(), "doi": dy.String(nullable=True)}


class Note(dy.Schema):
    paper_id = dy.String(primary_key=True, description="Paper.")
    month = dy.Date(description="Month.")
    external_ids = dy.Struct(_IDS, description="Ids elsewhere.")
    stars = dy.Int32(description="Judgement.")


class NoteWithMore(Note):
    external_ids = dy.Struct({**_IDS, "pmid": dy.String(nullable=True)}, description="Ids elsewhere.")
    tldr = dy.String(nullable=True, description="One sentence.")


class NoteWithScore(dy.Schema):
    paper_id = dy.String(primary_key=True, description="Paper.")
    month = dy.Date(description="Month.")
    external_ids = dy.Struct(_IDS, description="Ids elsewhere.")
    score = dy.Float64(description="Judgement from 0 to 1.")
    tldr = dy.String(nullable=True, description="One sentence.")


_OLD = Contract("notes", Note, "note on a paper", ("month",))
_MORE = Contract("notes", NoteWithMore, "note on a paper", ("month",))
_RAISED = Contract("notes", NoteWithScore, "note on a paper", ("month",), version=2)


def to_score(notes: pl.LazyFrame) -> pl.LazyFrame:
    """Stars from 0 to 5 become a score from 0 to 1."""
    return notes.with_columns((pl.col("stars") / 5).alias("score")).drop("stars")


def note(paper_id: str, stars: int) -> pl.DataFrame:
    row = {"paper_id": paper_id, "month": date(2024, 1, 1), "external_ids": {"arxiv": paper_id, "doi": None}}
    return pl.DataFrame([row | {"stars": stars}], schema=_OLD.polars_schema)


@pytest.fixture
def now(monkeypatch):
    """`now(contract)`: from here on Lithouse knows this contract of the table `notes`."""
    return lambda contract: monkeypatch.setitem(CONTRACTS, "notes", contract)


@pytest.fixture
def old(lake: Lake, now) -> Lake:
    """A lake that older code wrote: two versions of `notes`."""
    now(_OLD)
    lake.append("notes", note("a", 5))
    lake.append("notes", note("b", 2))
    return lake


def test_tb10_an_older_lake_is_read_with_nulls_and_takes_rows_with_and_without_the_new(old: Lake, now) -> None:
    now(_MORE)
    assert old.read("notes").sort("paper_id").select("external_ids", "tldr").rows() == [
        ({"arxiv": "a", "doi": None, "pmid": None}, None),
        ({"arxiv": "b", "doi": None, "pmid": None}, None),
    ]
    with_it = pl.DataFrame(
        [
            {
                "paper_id": "c",
                "month": date(2024, 1, 1),
                "external_ids": {"arxiv": "c", "doi": None, "pmid": "7"},
                "stars": 1,
                "tldr": "Short.",
            }
        ],
        schema=_MORE.polars_schema,
    )
    old.append("notes", with_it)
    lacking = with_it.drop("tldr").with_columns(paper_id=pl.lit("d"))
    old.append("notes", lacking)
    rows = old.read("notes").sort("paper_id")
    assert rows["tldr"].to_list() == [None, None, "Short.", None]
    assert [ids["pmid"] for ids in rows["external_ids"]] == [None, None, "7", "7"]
    sql = "SELECT paper_id, tldr, external_ids.pmid AS pmid FROM notes ORDER BY 1"
    assert (
        query(old, sql).to_pylist()
        == rows.select("paper_id", "tldr", pl.col("external_ids").struct.field("pmid")).to_dicts()
    )


def test_tb10_versions_before_an_addition_are_read_as_of_then(old: Lake, now) -> None:
    now(_MORE)
    old.replace(
        "notes",
        note("z", 0)
        .with_columns(pl.lit(None, pl.String).alias("tldr"))
        .drop("external_ids")
        .with_columns(
            pl.Series("external_ids", [{"arxiv": "z", "doi": None, "pmid": "9"}], _MORE.polars_schema["external_ids"])
        ),
        None,
    )
    then = query(old, "SELECT paper_id, tldr, external_ids.pmid AS pmid FROM notes", as_of={"notes": 1})
    assert then.to_pylist() == [{"paper_id": "a", "tldr": None, "pmid": None}]
    assert old.scan("notes", 2).collect().sort("paper_id")["tldr"].to_list() == [None, None]


def test_tb10_a_new_table_is_empty_in_an_older_lake(lake: Lake, edges, now) -> None:
    lake.append("citations", edges(("a", "b")))
    now(_MORE)
    assert lake.read("notes").schema == _MORE.polars_schema
    assert query(lake, "SELECT count(tldr) AS n FROM notes").to_pylist() == [{"n": 0}]


def test_tb10_older_code_reads_and_writes_a_lake_that_newer_code_added_to(old: Lake, now) -> None:
    now(_MORE)
    frame = (
        note("c", 1)
        .drop("external_ids")
        .with_columns(
            pl.Series("external_ids", [{"arxiv": "c", "doi": None, "pmid": "7"}], _MORE.polars_schema["external_ids"]),
            tldr=pl.lit("Short."),
        )
    )
    old.append("notes", frame)
    now(_OLD)
    assert old.read("notes").sort("paper_id")["stars"].to_list() == [5, 2, 1]
    old.append("notes", note("d", 3))
    now(_MORE)
    assert old.read("notes").sort("paper_id")["tldr"].to_list() == [None, None, "Short.", None]


def test_tb10_the_dictionary_tells_contract_and_version() -> None:
    told = as_json(_RAISED)
    assert told["contract_version"] == 2
    assert [c["name"] for c in told["columns"]] == ["paper_id", "month", "external_ids", "score", "tldr"]


def test_a_raised_contract_without_a_migration_is_refused_with_advice(old: Lake, now) -> None:
    now(_RAISED)
    for refused in (lambda: old.read("notes"), lambda: old.row_count("notes"), lambda: query(old, "FROM notes")):
        with pytest.raises(PermanentFailure, match="version 1, this Lithouse knows version 2 and no migration") as told:
            refused()
        assert "new LITHOUSE_HOME" in told.value.advice
    (done,) = maintain(old)
    assert "no migration" in done.failure


def test_a_raised_contract_is_read_through_its_migration_at_once(old: Lake, now, monkeypatch) -> None:
    now(_RAISED)
    monkeypatch.setitem(MIGRATIONS, ("notes", 1), to_score)
    assert old.read("notes").sort("paper_id").select("paper_id", "score", "tldr").rows() == [
        ("a", 1.0, None),
        ("b", 0.4, None),
    ]
    found = query(old, "SELECT paper_id, score, typeof(month) AS t FROM notes ORDER BY 1").to_pylist()
    assert found == [{"paper_id": "a", "score": 1.0, "t": "DATE"}, {"paper_id": "b", "score": 0.4, "t": "DATE"}]
    with pytest.raises(PermanentFailure, match="lithouse maintain"):
        old.append("notes", to_score(note("c", 1).lazy()).collect())
    assert old.version("notes") == 2


def test_maintain_migrates_once_and_older_versions_stay_readable(old: Lake, now, monkeypatch) -> None:
    now(_RAISED)
    monkeypatch.setitem(MIGRATIONS, ("notes", 1), to_score)
    (done,) = maintain(old)
    assert (done.migrated_from, done.failure) == (1, "")
    assert old.contract_version("notes") == 2
    assert (old.contract_version("notes", 2), old.contract_version("notes", 0)) == (1, 1)
    rows = old.read("notes").sort("paper_id")
    assert rows["score"].to_list() == [1.0, 0.4]
    old.append("notes", to_score(note("c", 3).lazy()).collect())
    assert old.read("notes").sort("paper_id")["score"].to_list() == [1.0, 0.4, 0.6]
    then = query(old, "SELECT paper_id, score FROM notes", as_of={"notes": 1}).to_pylist()
    assert then == [{"paper_id": "a", "score": 1.0}]
    (again,) = maintain(old)
    assert again.migrated_from is None
    assert old.read("notes").sort("paper_id")["score"].to_list() == [1.0, 0.4, 0.6], "and never twice"


def test_code_older_than_a_migration_is_refused_what_it_wrote(old: Lake, now, monkeypatch) -> None:
    now(_RAISED)
    monkeypatch.setitem(MIGRATIONS, ("notes", 1), to_score)
    maintain(old)
    now(_OLD)
    for refused in (lambda: old.read("notes"), lambda: old.append("notes", note("c", 1))):
        with pytest.raises(PermanentFailure, match="contract version 2, this Lithouse knows version 1"):
            refused()


def test_several_migrations_follow_one_another(old: Lake, now, monkeypatch) -> None:
    now(Contract("notes", NoteWithScore, "note on a paper", ("month",), version=3))
    monkeypatch.setitem(MIGRATIONS, ("notes", 1), to_score)
    monkeypatch.setitem(MIGRATIONS, ("notes", 2), lambda notes: notes.with_columns(pl.col("score") / 2))
    assert old.read("notes").sort("paper_id")["score"].to_list() == [0.5, 0.2]


def test_a_migration_whose_rows_break_the_contract_writes_nothing(old: Lake, now, monkeypatch) -> None:
    now(_RAISED)
    monkeypatch.setitem(MIGRATIONS, ("notes", 1), lambda notes: notes.with_columns(pl.lit("high").alias("score")))
    (done,) = maintain(old)
    assert "score is String" in done.failure
    assert old.contract_version("notes") == 1
    monkeypatch.setitem(MIGRATIONS, ("notes", 1), lambda notes: notes)
    (done,) = maintain(old)
    assert "gives no column: score" in done.failure
    with pytest.raises(PermanentFailure, match="gives no column"):
        old.read("notes")


def test_every_contract_is_at_the_version_its_migrations_lead_to() -> None:
    for table, held in MIGRATIONS:
        assert held < CONTRACTS[table].version
    for contract in CONTRACTS.values():
        assert all((contract.name, held) in MIGRATIONS for held in range(1, contract.version))


def test_a_frame_of_the_older_shape_is_refused_by_a_raised_contract(old: Lake, now, monkeypatch) -> None:
    now(_RAISED)
    monkeypatch.setitem(MIGRATIONS, ("notes", 1), to_score)
    maintain(old)
    with pytest.raises(ContractBreach, match="stars"):
        old.append("notes", note("c", 1))
