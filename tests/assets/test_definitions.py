"""The definitions: what Dagster is shown, and asset checks that fail when they should."""

import os
import subprocess
import sys
from datetime import date
from pathlib import Path

import polars as pl
import pytest

_TABLES = ["arxiv_records", "citations", "human_outlines", "papers"]
_STAGES = ["topic_pool", "outline", "digests", "survey"]
_SURVEYS = ["topic_evidence", *_STAGES]
_TEXTS = {"topic_documents": "documents", "paper_cards": "paper_cards"}


@pytest.fixture(scope="module")
def graph():
    from assets.definitions import build_definitions

    return build_definitions().resolve_asset_graph()


def _checks(graph):
    return {(key.asset_key.to_user_string(), key.name) for key in graph.asset_check_keys}


def test_every_asset_has_a_description_a_group_and_its_upstreams(graph):
    nodes = {key.to_user_string(): graph.get(key) for key in graph.get_all_asset_keys()}
    assert set(nodes) == {*_TABLES, "corpus_snapshot", "paper_index", *_TEXTS, *_SURVEYS}
    for name, node in nodes.items():
        assert node.description, name
        assert node.group_name == ("surveys" if name in _SURVEYS else "texts" if name in _TEXTS else "corpus"), name
    parents = {name: {key.to_user_string() for key in node.parent_keys} for name, node in nodes.items()}
    assert parents["papers"] == {"arxiv_records"}
    assert parents["topic_evidence"] == {"paper_index", "citations"}
    assert parents["topic_pool"] == {"topic_evidence"}
    # Dagster's staleness looks one step up: what a changed pool makes stale has the evidence among its upstreams.
    assert parents["survey"] == {"topic_evidence", "digests"}
    assert parents["digests"] == {"topic_evidence", "outline"}
    assert parents["topic_documents"] == {"topic_evidence", "topic_pool"}
    assert parents["paper_cards"] == {"topic_evidence", "topic_documents"}
    assert parents["outline"] == {"topic_evidence", "topic_pool", "paper_cards", "human_outlines"}


def test_every_table_asset_shows_the_columns_of_its_contract(graph):
    from corpus.contracts.registry import CONTRACTS

    for key in graph.get_all_asset_keys():
        metadata = graph.get(key).metadata
        if table := metadata.get("dagster/table_name"):
            columns = metadata["dagster/column_schema"].columns
            assert [c.name for c in columns] == list(CONTRACTS[table].polars_schema)
            assert all(c.description for c in columns)


def test_every_table_has_its_contract_check_and_surveys_have_theirs(graph):
    checks = _checks(graph)
    assert {(name, "contract") for name in (*_TABLES, *_STAGES, "paper_cards")} <= checks
    tables = ("documents", "sections", "passages", "bibliography")
    assert {("topic_documents", f"{table}_contract") for table in tables} <= checks
    assert {
        ("papers", "papers_match_records"),
        ("paper_index", "index_matches_snapshot"),
        ("topic_documents", "parsed_documents_have_text"),
        ("topic_documents", "passages_stand_in_documents"),
        ("survey", "citations_have_rows"),
        ("survey", "none_after_the_cutoff"),
        ("survey", "no_uncited_reference"),
        ("survey", "no_empty_section"),
    } <= checks


def test_other_resources_replace_the_production_ones_and_keep_assets_and_checks(graph, tmp_path):
    from assets.definitions import build_definitions
    from assets.resources import House, SourceDesk

    other = build_definitions(house=House(tmp_path), desk=SourceDesk())
    assert _checks(other.resolve_asset_graph()) == _checks(graph)
    assert other.resolve_asset_graph().get_all_asset_keys() == graph.get_all_asset_keys()
    assert other.resources["house"].path == tmp_path


def test_partition_keys_are_months_topics_and_both_with_methods(graph):
    import dagster as dg

    from assets.partitions import months, survey_key

    assert months.get_first_partition_key() == "1991-07-01"
    assert str(survey_key("rag", "surveyforge")) == "surveyforge|rag"
    assert isinstance(graph.get(dg.AssetKey("survey")).partitions_def, dg.MultiPartitionsDefinition)
    assert graph.get(dg.AssetKey("arxiv_records")).backfill_policy == dg.BackfillPolicy.single_run()


def test_an_error_of_ours_survives_the_way_through_a_dagster_failure():
    import dagster as dg

    from assets.metadata import error_behind, failing_clearly
    from corpus.tables import LostRace
    from generation.pools import NoEvidence

    for error in (NoEvidence("nothing", which="x", advice="Do y."), LostRace("raced", which="papers", advice="Again.")):

        @failing_clearly
        def body(error=error):
            raise error

        with pytest.raises(dg.Failure) as failed:
            body()
        assert failed.value.description == error.message
        assert failed.value.allow_retries is error.is_retryable
        told = error_behind(failed.value.metadata)
        assert (type(told), told.message) == (type(error), error.message)
    assert error_behind({}) is None


@pytest.mark.run
def test_dagster_validates_the_definitions_without_a_lake(tools, tmp_path):
    from assets.home import dagster_environment

    (tmp_path / "dagster").mkdir()
    done = subprocess.run(
        [str(Path(sys.executable).with_name("dagster")), "definitions", "validate", "-w", "workspace.yaml"],
        cwd=tools.repository,
        env={**os.environ, **dagster_environment(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert not (tmp_path / "tables").exists(), "loading the definitions writes nothing"


# Each check, told of a fault that somebody put into the tables.


def _ask(name, home):
    from assets import checks
    from assets.resources import House

    return getattr(checks, name)(house=House(home))


def _change(home, table, column, value, *, where=None):
    """Give a column another value in all rows, or in the first that fits: only the contract is asked."""
    from corpus.tables import Lake

    lake = Lake(home)
    rows = lake.scan(table).collect().with_row_index("_row")
    first = rows.filter(where)["_row"][0] if where is not None else None
    chosen = pl.lit(True) if first is None else pl.col("_row") == first
    changed = rows.with_columns(pl.when(chosen).then(value).otherwise(pl.col(column)).alias(column)).drop("_row")
    lake.replace(table, changed, None)


_CITES = pl.col("cited_ids").list.len() > 0


@pytest.mark.run
class TestChecks:
    @pytest.mark.parametrize(
        "name",
        [
            "papers_match_records", "index_matches_snapshot", "citations_have_rows", "none_after_the_cutoff",
            "no_uncited_reference", "no_empty_section",
        ],
    )  # fmt: skip
    def test_passes_on_the_demo(self, demo, name):
        assert _ask(name, demo.home).passed

    def test_contracts_pass_on_the_demo(self, demo):
        from assets.checks import contract_checks
        from assets.resources import House

        for check in contract_checks:
            assert check(house=House(demo.home)).passed

    def test_a_citation_without_a_row_is_found(self, surveyed):
        _change(surveyed, "survey_sentences", "cited_ids", pl.lit(["2101.00001"]), where=_CITES)
        told = _ask("citations_have_rows", surveyed)
        assert not told.passed
        assert told.metadata["unknown"].value == ["2101.00001"]

    def test_a_citation_after_the_cutoff_is_found(self, surveyed, demo):
        _change(surveyed, "surveys", "cutoff", pl.lit(date(2024, 6, 30)))
        told = _ask("none_after_the_cutoff", surveyed)
        late = [p for p in demo.result["references"] if p >= "2407"]
        assert late
        assert not told.passed
        assert sorted(told.metadata["late"].value) == sorted(late)

    def test_an_uncited_reference_and_an_unlisted_citation_are_found(self, surveyed, demo):
        listed = demo.result["references"]
        held = "2101.00001"
        _change(surveyed, "surveys", "reference_ids", pl.lit([*listed[1:], held]))
        told = _ask("no_uncited_reference", surveyed)
        assert not told.passed
        assert set(told.metadata["uncited_or_unlisted"].value) == {listed[0], held}

    def test_an_empty_section_is_found(self, surveyed):
        _change(surveyed, "survey_sections", "words", pl.lit(0), where=pl.col("number") == "1")
        told = _ask("no_empty_section", surveyed)
        assert not told.passed
        assert [item.rpartition(" ")[2] for item in told.metadata["empty"].value] == ["1"]

    def test_an_index_of_another_snapshot_is_found(self, surveyed):
        _change(surveyed, "papers", "content_hash", pl.lit("0" * 32), where=pl.col("paper_id") == "2005.11401")
        told = _ask("index_matches_snapshot", surveyed)
        assert not told.passed
        assert told.metadata["corpus"].value != told.metadata["index"].value

    def test_a_paper_without_its_record_is_found(self, surveyed):
        from corpus.tables import Lake

        rows = Lake(surveyed).scan("arxiv_records").filter(pl.col("paper_id") != "2005.11401").collect()
        Lake(surveyed).replace("arxiv_records", rows, None)
        told = _ask("papers_match_records", surveyed)
        assert not told.passed
        assert told.metadata["without_counterpart"].value == ["2005.11401"]

    @pytest.mark.parametrize("is_equal", [True, False], ids=["row stored twice", "key stored twice"])
    def test_a_table_that_breaks_its_contract_is_found(self, surveyed, is_equal):
        from deltalake import DeltaTable, write_deltalake

        from assets.checks import contract_checks
        from assets.resources import House

        folder = str(surveyed / "tables" / "citations")
        row = pl.from_arrow(DeltaTable(folder).to_pyarrow_table()).head(1)
        if not is_equal:
            row = row.with_columns(pl.lit(["elsewhere"]).alias("sources"))
        write_deltalake(folder, row.to_arrow(), mode="append")
        told = [check(house=House(surveyed)) for check in contract_checks]
        assert [r.passed for r in told].count(False) == 1
        [broken] = [r for r in told if not r.passed]
        if is_equal:
            assert broken.metadata["doubled"].value == 1
        else:
            assert "citations" in broken.metadata["message"].value
