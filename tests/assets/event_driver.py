"""Eight processes that store events in one Dagster instance at the same moment.

    python event_driver.py PROCESSES EVENTS

Prints one line of JSON: how each process ended, and the seconds it took. LITHOUSE_HOME names the home.
"""

import json
import os
import sys
import time
from pathlib import Path

import dagster as dg
from dagster._core.events import DagsterEvent, DagsterEventType, EngineEventData

from assets.instance import open_instance

home, processes, events = Path(os.environ["LITHOUSE_HOME"]), int(sys.argv[1]), int(sys.argv[2])


@dg.op
def nothing() -> None: ...


@dg.job
def eight_steps() -> None:
    nothing()


def _write(number: int) -> None:
    with open_instance(home) as instance:  # all at once, so that each may be the one that makes the databases
        run = instance.create_run_for_job(eight_steps)
        while time.time() < start:
            time.sleep(0.001)
        for event in range(events):
            instance.report_engine_event(f"{number}/{event}", run, EngineEventData())
            made = dg.AssetMaterialization("shared", partition=f"{number}-{event}")
            instance.report_runless_asset_event(made)
        instance.report_dagster_event(
            DagsterEvent(DagsterEventType.PIPELINE_SUCCESS.value, "eight_steps", message="done"), run.run_id
        )


start = time.time() + 3
children = []
for number in range(processes):
    child = os.fork()
    if child == 0:
        try:
            _write(number)
        except BaseException as error:
            print(repr(error), file=sys.stderr, flush=True)
            os._exit(1)
        os._exit(0)
    children.append(child)
codes = [os.waitpid(child, 0)[1] for child in children]
print(json.dumps({"codes": codes, "seconds": round(time.time() - start, 1)}))
