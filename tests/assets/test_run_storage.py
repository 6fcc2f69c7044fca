"""Dagster's history: many writers at once, cancelled runs, renamed assets, and as many events as months ask for."""

import json
import os
import sqlite3
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

import dagster as dg
import pytest
import yaml

_ENVIRONMENT = ("LITHOUSE_HOME", "LITHOUSE_DAGSTER_STORAGE", "DAGSTER_HOME", "DAGSTER_EVENT_BATCH_SIZE")
_DRIVER = Path(__file__).with_name("event_driver.py")


@pytest.fixture
def opened():
    """`opened(home)`: the home's instance, closed with the test; the environment is as before."""
    from contextlib import ExitStack

    from assets.instance import open_instance

    with pytest.MonkeyPatch.context() as patch, ExitStack() as stack:
        for name in _ENVIRONMENT:
            patch.setenv(name, "")
        yield lambda home: stack.enter_context(open_instance(home))


months = dg.MonthlyPartitionsDefinition("2000-01-01", end_date="2006-01-01")


@dg.asset(partitions_def=months, backfill_policy=dg.BackfillPolicy.single_run())
def by_month(context: dg.AssetExecutionContext) -> None:
    for key in context.partition_keys:
        context.add_asset_metadata({"month": key}, partition_key=key)


def _run_all_months(instance) -> dg.ExecuteInProcessResult:
    keys = months.get_partition_keys()
    job = dg.Definitions(assets=[by_month], executor=dg.in_process_executor).resolve_implicit_global_asset_job_def()
    tags = {"dagster/asset_partition_range_start": keys[0], "dagster/asset_partition_range_end": keys[-1]}
    loggers = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
    return job.execute_in_process(instance=instance, tags=tags, run_config=loggers)


def test_events_stored_together_are_those_that_dagsters_own_storage_would_have_stored(tmp_path, opened):
    ours = opened(tmp_path / "ours")
    assert type(ours.event_log_storage).__name__ == "EventLog"
    (tmp_path / "theirs").mkdir()
    theirs = dg.DagsterInstance.local_temp(str(tmp_path / "theirs"))
    told = []
    for instance in (ours, theirs):
        result = _run_all_months(instance)
        assert result.success
        log = instance.all_logs(result.run_id)
        kinds = [e.dagster_event.event_type_value for e in log if e.is_dagster_event]
        records = instance.fetch_materializations(by_month.key, limit=1000).records
        made = {r.partition_key: r.asset_materialization.metadata["month"].value for r in records}
        [entry] = instance.get_asset_records([by_month.key])
        last = entry.asset_entry.last_materialization_record.partition_key
        told.append(
            (
                kinds,
                made,
                last,
                instance.get_materialized_partitions(by_month.key),
                entry.asset_entry.last_run_id == result.run_id,
            )
        )
    assert told[0] == told[1]
    assert told[0][1] == {key: key for key in months.get_partition_keys()}


def test_dagsters_own_storage_reads_what_ours_wrote(tmp_path, opened):
    ours = opened(tmp_path / "home")
    run_id = _run_all_months(ours).run_id
    ours.dispose()
    theirs = dg.DagsterInstance.local_temp(str(tmp_path / "home" / "dagster"))
    assert theirs.get_run_by_id(run_id).is_success
    assert len(theirs.get_materialized_partitions(by_month.key)) == len(months.get_partition_keys())


def test_or05_one_run_at_a_time_is_configured(tools):
    told = yaml.safe_load((tools.repository / "dagster_home" / "dagster.yaml").read_text(encoding="utf-8"))
    assert told["concurrency"]["runs"]["max_concurrent_runs"] == 1


@pytest.mark.run
def test_or05_eight_processes_store_events_at_once_and_none_is_lost_or_hangs(tmp_path, opened):
    home = tmp_path / "home"
    done = subprocess.run(
        [sys.executable, str(_DRIVER), "8", "25"],
        env={**os.environ, "LITHOUSE_HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["codes"] == [0] * 8, done.stderr
    instance = opened(home)
    assert len(instance.get_materialized_partitions(dg.AssetKey("shared"))) == 8 * 25
    runs = instance.get_runs()
    assert [run.status for run in runs] == [dg.DagsterRunStatus.SUCCESS] * 8
    for run in runs:
        told = instance.all_logs(run.run_id, of_type=dg.DagsterEventType.ENGINE_EVENT)
        assert len(told) == 25


@pytest.mark.run
def test_or05_a_writer_waits_longer_for_another_than_sqlite_would(tmp_path, opened):
    instance = opened(tmp_path / "home")
    files = [tmp_path / "home" / "dagster" / "history" / p for p in ("runs/index.db", "runs.db")]
    holders = [sqlite3.connect(path, isolation_level=None, check_same_thread=False) for path in files]
    for holder in holders:
        holder.execute("BEGIN IMMEDIATE")

    def release() -> None:
        time.sleep(7)  # SQLite's own patience is 5 s
        for holder in holders:
            holder.execute("ROLLBACK")

    thread = threading.Thread(target=release)
    thread.start()
    instance.report_runless_asset_event(dg.AssetMaterialization("patient"))
    instance.add_dynamic_partitions("topics", ["patient"])
    thread.join()
    assert instance.get_latest_materialization_event(dg.AssetKey("patient")) is not None
    assert instance.get_dynamic_partitions("topics") == ["patient"]


@pytest.mark.run
def test_or07_a_cancelled_and_deleted_run_leaves_the_survey_as_the_good_run_made_it(demo, home, run, tools, opened):
    from assets.definitions import build_definitions

    demo.copy_to(home, with_runs=True)
    instance = opened(home)
    key, partition = dg.AssetKey("survey"), f"surveyforge|{tools.slug}"
    good = instance.fetch_materializations(dg.AssetRecordsFilter(key, asset_partitions=[partition]), limit=1).records[0]
    job = build_definitions().resolve_implicit_global_asset_job_def().get_subset(asset_selection={key})
    again = instance.create_run_for_job(
        job,
        tags={"dagster/partition": partition},
        asset_selection=frozenset({key}),
    )
    instance.report_run_canceling(again)
    instance.report_run_canceled(again)
    assert instance.get_run_by_id(again.run_id).status == dg.DagsterRunStatus.CANCELED
    instance.delete_run(again.run_id)
    assert instance.get_run_by_id(again.run_id) is None

    assert partition in instance.get_materialized_partitions(key)
    [entry] = instance.get_asset_records([key])
    assert entry.asset_entry.last_materialization_record.run_id == good.run_id
    [state] = run("status", "--json").json["surveys"]
    assert (state["state"], state["edition"]) == ("fresh", demo.result["edition"])
    assert run("survey", tools.topic, "--json").json["stages_run"] == []


@pytest.mark.run
def test_or06_a_renamed_asset_keeps_its_data_and_its_history_and_makes_nothing_due(demo, home, run, tools, monkeypatch):
    from assets import aliases

    demo.copy_to(home, with_runs=True)
    cards = run("sql", "SELECT count(*) AS n FROM paper_cards", "--json").json
    nodes = {n["id"]: n for n in run("lineage", tools.slug, "--json").json["children"][-1]["children"]}
    assert nodes["paper_cards"]["detail"]["name_then"] is None

    # Dagster's history as it would be had the asset been called `reading_cards` when the survey was made.
    for path in (home / "dagster" / "history" / "runs").glob("*.db"):
        with sqlite3.connect(path) as database:
            for table in ("event_logs", "asset_keys", "asset_event_tags"):
                database.execute(f"UPDATE {table} SET asset_key = replace(asset_key, 'paper_cards', 'reading_cards')")
            database.execute("UPDATE event_logs SET event = replace(event, 'paper_cards', 'reading_cards')")
    assert "paper_cards" not in {n["id"] for n in run("lineage", tools.slug, "--json").json["children"][-1]["children"]}

    monkeypatch.setitem(aliases.FORMER_NAMES, "reading_cards", "paper_cards")
    told = run("lineage", tools.slug, "--json").json
    nodes = {n["id"]: n for n in told["children"][-1]["children"]}
    assert nodes["paper_cards"]["detail"]["name_then"] == "reading_cards"
    assert "then named reading_cards" in run("lineage", tools.slug).out
    assert run("sql", "SELECT count(*) AS n FROM paper_cards", "--json").json == cards
    assert run("survey", tools.topic, "--json").json["stages_run"] == []


def test_or06_the_newest_materialization_under_any_name_is_found(tmp_path, opened, monkeypatch):
    from assets import aliases

    monkeypatch.setitem(aliases.FORMER_NAMES, "old", "new")
    assert aliases.names_of("new") == ("new", "old")
    instance = opened(tmp_path / "home")
    assert aliases.last_made(instance, "new", "a") is None
    instance.report_runless_asset_event(dg.AssetMaterialization("old", partition="a"))
    assert aliases.last_made(instance, "new", "a")[0] == "old"
    between = datetime.now(UTC)
    time.sleep(0.01)
    instance.report_runless_asset_event(dg.AssetMaterialization("new", partition="a"))
    assert aliases.last_made(instance, "new", "a")[0] == "new"
    assert aliases.last_made(instance, "new", "a", between)[0] == "old"
    assert aliases.last_made(instance, "new", "b") is None
