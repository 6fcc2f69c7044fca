"""The README keeps its word: two commands, one line each; queries that run; commands that exist."""

import re
from pathlib import Path

import pytest

from assets.cli import COMMANDS

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
QUERIES = [q.replace('\\"', '"') for q in re.findall(r'^\$ lithouse sql "(.+)"$', README, re.MULTILINE)]


def test_there_are_two_commands_of_one_line_each():
    blocks = re.findall(r"^```sh\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 2
    assert all(len(block.strip().splitlines()) == 1 for block in blocks)
    assert blocks[0].strip().endswith("lithouse demo")
    assert "-m pytest" in blocks[1]


def test_every_command_it_names_exists():
    named = set(re.findall(r"`lithouse ([a-z]+)", README)) | set(
        re.findall(r"^\$ lithouse ([a-z]+)", README, re.MULTILINE)
    )
    assert named >= {"demo", "survey", "refresh", "sql", "lineage", "status", "ui"}
    assert named <= set(COMMANDS)


def test_it_shows_five_queries_and_what_the_files_gave():
    assert len(QUERIES) == 6


@pytest.mark.run
@pytest.mark.parametrize("query", QUERIES)
def test_its_queries_run_on_the_demo(surveyed, run, query):
    told = run("sql", query, "--json")
    assert told.code == 0, told.err
    assert told.json


@pytest.mark.run
def test_its_second_topic_is_surveyed(surveyed, run):
    topic = re.search(r'^\$ lithouse survey "(.+)"$', README, re.MULTILINE).group(1)
    told = run("survey", topic, "--json")
    assert told.code == 0, told.err
    assert told.json["sections"] >= 4
    assert topic in README
