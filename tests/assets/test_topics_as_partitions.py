"""Topics as dynamic partitions: odd titles, keys given by hand, and many topics of which some have no evidence."""

import re

import pytest

pytestmark = pytest.mark.run

ODD = ["LLM | RAG, [survey] a...b", "../../x", "/etc/x", "hep-th/9901001", "0.94-to-0.95", "2412.00001", "2412.00002"]


@pytest.fixture
def instance(home, monkeypatch):
    from assets.instance import open_instance

    for name in ("LITHOUSE_HOME", "LITHOUSE_DAGSTER_STORAGE", "DAGSTER_HOME"):
        monkeypatch.setenv(name, "")
    with open_instance(home) as opened:
        yield opened


def test_or03_titles_named_in_dagster_get_the_keys_of_the_command_line(small, home, instance):
    from dagster import PartitionKeyRange
    from dagster._core.definitions.partitions.context import partition_loading_context

    from assets.definitions import build_definitions
    from assets.partitions import topics
    from assets.resources import House
    from corpus.tables import Lake
    from generation.topics import define_topic

    job = build_definitions(house=House(home)).resolve_job_def("name_topic")
    for title in ODD:
        config = {"ops": {"register_topic": {"config": {"title": title}}}}
        assert job.execute_in_process(run_config=config, instance=instance).success
    keys = instance.get_dynamic_partitions("topics")
    assert keys == [define_topic(title).key for title in ODD]
    assert len(set(keys)) == len(ODD)
    assert all(re.fullmatch(r"[a-z0-9-]+", key) for key in keys)
    held = Lake(home).read("topics")
    assert dict(held.select("topic", "title").iter_rows()) == dict(zip(keys, ODD, strict=True))
    with partition_loading_context(dynamic_partitions_store=instance):
        assert list(topics.get_partition_keys_in_range(PartitionKeyRange(keys[1], keys[3]))) == keys[1:4]


@pytest.mark.parametrize("title", [ODD[0], "0.94-to-0.95"])
def test_or03_an_odd_title_is_surveyed_under_its_key_alone(small, home, run, title):
    told = run("survey", title, "--include", "2311.09476,2310.11511", "--json")
    if told.code:  # no paper is about these words: a reason, not a crash
        assert told.json["error"]["kind"] in ("NoEvidence", "NotFound")
    else:
        assert re.fullmatch(r"[a-z0-9-]+", told.json["slug"])
    made = [p.name for p in (home / "exports").iterdir()] if (home / "exports").is_dir() else []
    assert all(re.fullmatch(r"[a-z0-9-]+", name) for name in made)
    assert sorted(p.name for p in home.parent.iterdir()) == ["home"]


def test_or08_of_twenty_topics_three_without_evidence_fail_with_reasons_and_only_they_run_again(small, home):
    from assets import runs
    from generation.pools import NoEvidence
    from generation.topics import define_topic

    hopeless = ["lattice glueballs", "mitochondrial phylogeny of beetles", "tariffs on steel"]
    titles = [f"Retrieval-augmented generation, part {number}" for number in range(1, 18)]
    order = [*titles[:5], hopeless[0], *titles[5:11], hopeless[1], *titles[11:], hopeless[2]]

    def everything() -> tuple[dict[str, tuple], dict[str, str]]:
        done, failed = {}, {}
        for title in order:
            try:
                done[title] = runs.survey(
                    home, define_topic(title, pool_size=6), runs.Request("surveyforge", "extractive")
                ).stages_run
            except NoEvidence as error:
                failed[title] = error.message
        return done, failed

    done, failed = everything()
    assert sorted(done) == sorted(titles)
    assert all(stages for stages in done.values())
    assert sorted(failed) == sorted(hopeless)
    assert all(title in reason and "admitted" in reason for title, reason in failed.items())
    again, failed_again = everything()
    assert again == dict.fromkeys(titles, ())
    assert failed_again == failed
