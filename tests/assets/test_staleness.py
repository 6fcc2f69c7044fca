"""OR09 in Dagster: a refresh makes stale exactly the surveys whose pool changed, and only those would be rebuilt."""

from dataclasses import dataclass
from pathlib import Path

import pytest

pytestmark = pytest.mark.run

CHAIN = ["topic_pool", "topic_documents", "paper_cards", "outline", "digests", "survey"]
_STAGES = CHAIN[3:]
_ENVIRONMENT = ("LITHOUSE_HOME", "LITHOUSE_DAGSTER_STORAGE", "DAGSTER_HOME", "DAGSTER_EVENT_BATCH_SIZE")


@dataclass(frozen=True)
class Lake:
    """A home with two surveyed topics, a paper that only the first one sees, and a mirror that changes it."""

    home: Path
    first: str
    second: str
    paper: str
    news: Path


@pytest.fixture
def lake(demo, home, run, tools, tmp_path, sample_records) -> Lake:
    demo.copy_to(home, with_runs=True)
    told = run("survey", "Retrieval evaluation", "--cutoff", "2023-12-31", "--pool", "10", "--json")
    assert told.code == 0, told.err
    second = told.json["slug"]
    # Later than the second topic's cutoff: a paper that it sees may change its pool without being in it.
    paper = min(p for p in _ids(run, tools.slug) if p >= "2401")
    abstract = "Retrieval-augmented generation is reconsidered. We show that passages matter. Results improve by 9%."
    record = next(r for r in sample_records if r["id"] == paper)
    news = tools.write_mirror(tmp_path / "news", [{**record, "abstract": abstract}])
    return Lake(home, tools.slug, second, paper, news)


def _ids(run, topic: str) -> set[str]:
    return {
        r["paper_id"] for r in run("sql", f"SELECT paper_id FROM topic_pool WHERE topic = '{topic}'", "--json").json
    }


def _refresh(run, lake: Lake):
    told = run("refresh", "--source", f"mirror:{lake.news}", "--cutoff", "2024-12-31", "--json")
    assert told.code == 0, told.err
    return told.json


@pytest.fixture
def instance(lake):
    from assets.instance import open_instance

    with pytest.MonkeyPatch.context() as patch:
        for name in _ENVIRONMENT:
            patch.setenv(name, "")
        with open_instance(lake.home) as opened:
            yield opened


def _keys(topic: str) -> dict[str, str]:
    return {name: f"surveyforge|{topic}" if name in _STAGES else topic for name in CHAIN}


def _stale(instance, topic: str) -> dict[str, set[str]]:
    """Asset → upstreams that make it stale, by the resolver that Dagster's pages ask."""
    import dagster as dg
    from dagster._core.definitions.data_version import CachingStaleStatusResolver, StaleStatus
    from dagster._core.loader import LoadingContextForTest

    from assets.definitions import build_definitions

    graph = build_definitions().resolve_asset_graph()
    resolver = CachingStaleStatusResolver(instance, graph, LoadingContextForTest(instance))
    told = {}
    for name, key in _keys(topic).items():
        status = resolver.get_status(dg.AssetKey(name), key)
        assert status != StaleStatus.MISSING, (name, key)
        if status == StaleStatus.STALE:
            causes = resolver.get_stale_causes(dg.AssetKey(name), key)
            told[name] = {cause.dependency.asset_key.to_user_string() for cause in causes}
    return told


def _evidence(instance, topic: str) -> dict:
    import dagster as dg

    record = instance.get_latest_data_version_record(dg.AssetKey("topic_evidence"), partition_key=topic)
    return {name: value.value for name, value in record.asset_materialization.metadata.items()}


def test_or09_dagster_shows_the_topic_whose_pool_changed_as_stale_with_the_paper_and_no_other(lake, run, instance):
    assert _stale(instance, lake.first) == {}
    assert _stale(instance, lake.second) == {}
    _refresh(run, lake)
    assert _stale(instance, lake.first) == {name: {"topic_evidence"} for name in CHAIN}
    assert _stale(instance, lake.second) == {}
    told = _evidence(instance, lake.first)
    assert (told["state"], told["cause"], told["changed"]) == ("stale", f"1 changed: {lake.paper}", [lake.paper])
    assert _evidence(instance, lake.second)["state"] == "fresh"

    again = run("survey", lake.first, "--json")
    assert again.code == 0, again.err
    assert _stale(instance, lake.first) == {}


def test_the_check_of_the_index_names_the_surveys_that_a_refresh_made_stale(lake, run, instance):
    import dagster as dg

    run_id = _refresh(run, lake)["runs"][-1]
    events = instance.all_logs(run_id, of_type=dg.DagsterEventType.ASSET_CHECK_EVALUATION)
    found = {e.dagster_event.event_specific_data.check_name: e.dagster_event.event_specific_data for e in events}
    told = found["surveys_are_current"]
    assert not told.passed
    assert told.severity == dg.AssetCheckSeverity.WARN
    assert told.metadata["not_fresh"].value == {lake.first: f"stale: 1 changed: {lake.paper}"}
    assert told.metadata["topics"].value == 2


def test_a_refresh_that_only_moves_the_cutoff_makes_stale_who_follows_the_corpus(lake, run, instance, tools):
    source = f"mirror:{tools.sample}"
    told = run("refresh", "--source", source, "--cutoff", "2023-11-30", "--json").json
    assert (told["commits"], told["months_changed"], len(told["runs"])) == (0, [], 1)
    assert _evidence(instance, lake.first)["state"] == "stale"
    assert _stale(instance, lake.first).keys() == set(CHAIN)
    assert _stale(instance, lake.second) == {}, "frozen"
    assert run("refresh", "--source", source, "--cutoff", "2023-11-30", "--json").json["runs"] == []


def _requested(instance, cursor=None) -> tuple[dict[str, set[str]], object]:
    """Asset → partitions that the automation would rebuild, and the cursor for the next evaluation."""
    import dagster as dg

    from assets.definitions import build_definitions

    result = dg.evaluate_automation_conditions(build_definitions(), instance, cursor=cursor)
    found = {name: result.get_requested_partitions(dg.AssetKey(name)) for name in CHAIN}
    told = {name: {str(key) for key in keys} for name, keys in found.items() if keys}
    assert result.total_requested == sum(map(len, told.values())), "of the chain only"
    return told, result.cursor


def test_automation_would_rebuild_the_changed_topic_in_two_steps_and_nothing_else(lake, run, instance):
    from assets.runs import BY_TOPIC

    told, cursor = _requested(instance)
    assert told == {}, "nothing on the first look"
    told, cursor = _requested(instance, cursor)
    assert told == {}, "nothing changed"
    _refresh(run, lake)
    told, cursor = _requested(instance, cursor)
    assert told == {name: {lake.first} for name in BY_TOPIC}
    told, cursor = _requested(instance, cursor)
    assert told == {}, "asked for once"

    # The daemon's run of what was asked for.
    from assets.running import run as materialize

    materialize(lake.home, BY_TOPIC, None, partition=lake.first)
    told, cursor = _requested(instance, cursor)
    assert told == {name: {f"surveyforge|{lake.first}"} for name in _STAGES}
    materialize(lake.home, _STAGES, None, partition=(lake.first, "surveyforge"))
    told, cursor = _requested(instance, cursor)
    assert told == {}
    assert {s["topic"]: s["state"] for s in run("status", "--json").json["surveys"]} == {
        lake.first: "fresh",
        lake.second: "fresh",
    }


def test_automation_leaves_alone_what_the_command_line_has_rebuilt(lake, run, instance):
    _, cursor = _requested(instance)
    _refresh(run, lake)
    assert run("survey", lake.first).code == 0
    told, cursor = _requested(instance, cursor)
    assert told == {}
    assert run("survey", "Dense retrieval").code == 0, "a topic that was never surveyed"
    assert _requested(instance, cursor)[0] == {}
