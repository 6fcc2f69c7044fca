"""One Dagster run of named assets, in this process.

Belongs here: how a run is started and how its failure is told. Not here: which assets are due (`assets.runs` for a
topic's survey, `assets.refreshing` for the corpus).
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from pathlib import Path

from assets.instance import open_instance, process_tags, quiet
from corpus.harvest import Source
from generation.model_access import ModelAccess
from ingestion.errors import LithouseError, PermanentFailure

Progress = Callable[[str, int, int], None]


def run(
    home: Path,
    names: Sequence[str],
    progress: Progress | None,
    *,
    months: tuple[date, date] | None = None,
    partition: str | tuple[str, str] | None = None,
    config: Mapping[str, Mapping] | None = None,
    source: Source | None = None,
    reading=None,
    access: ModelAccess | None = None,
) -> str:
    """One Dagster run of the named assets with their checks; its id.

    Args:
        config: asset → its configuration.
        access: how models may be asked.

    Raises:
        LithouseError: the one that failed the run, or a failure with Dagster's message.
    """
    quiet()
    from assets.definitions import build_definitions
    from assets.partitions import FIRST_MONTH, month_key, survey_key, topics
    from assets.resources import House, SourceDesk

    desk = SourceDesk(source, reading)
    definitions = build_definitions(house=House(home, progress, access), desk=desk)
    job = definitions.resolve_implicit_global_asset_job_def()
    tags, key = process_tags(), None
    if isinstance(partition, tuple):
        key = survey_key(*partition)
    elif partition:
        key = partition
    elif months or "arxiv_records" in names:
        first, last = months or (FIRST_MONTH, FIRST_MONTH)
        tags |= {
            "dagster/asset_partition_range_start": month_key(max(first, FIRST_MONTH)),
            "dagster/asset_partition_range_end": month_key(max(last, FIRST_MONTH)),
        }
    run_config: dict = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
    if config:
        run_config["ops"] = {name: {"config": dict(values)} for name, values in config.items()}
    with open_instance(home) as instance:
        if partition:
            topic = partition[0] if isinstance(partition, tuple) else partition
            instance.add_dynamic_partitions(topics.name, [topic])
        import dagster as dg

        result = job.execute_in_process(
            instance=instance,
            partition_key=key,
            tags=tags,
            asset_selection=[dg.AssetKey(name) for name in names],
            run_config=run_config,
            raise_on_error=False,
        )
        if not result.success:
            raise _reason(result)
        return result.run_id


def _reason(result) -> LithouseError:
    """The error behind a failed run, in our own words where it was ours."""
    from assets.metadata import error_behind

    for event in result.all_events:
        if not event.is_step_failure:
            continue
        data = event.step_failure_data
        if data.user_failure_data and (told := error_behind(data.user_failure_data.metadata)):
            return told
        error = data.error
        while error and error.cause:
            error = error.cause
        if error and error.cls_name == "DagsterExecutionInterruptedError":
            raise KeyboardInterrupt  # Dagster catches the person's Ctrl-C and calls it a failed step
        text = " ".join((error.message if error else "unknown").split())
        return PermanentFailure(
            f"asset {event.step_key} failed", which=text[:600], advice=f"Run {result.run_id} in `lithouse ui`."
        )
    return PermanentFailure("the run failed before any asset", which=result.run_id, advice="See `lithouse ui`.")
