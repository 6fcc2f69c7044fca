"""Every public fault we know of has a test that exists, or the title of the issue that will bring one."""

import ast
import csv
import json
import os
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
TITLES = {"live sources"}


def rows() -> list[dict]:
    with (TESTS / "faults.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


@cache
def functions(path: Path) -> frozenset[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def test_each_fault_names_tests_that_exist_or_an_issue():
    for row in rows():
        assert row["nodes"] or row["issue"] in TITLES, f"{row['id']} has neither a test nor a known issue"
        for node in row["nodes"].split():
            path, _, name = node.partition("::")
            assert (TESTS / path).is_file(), f"{row['id']}: no file {path}"
            assert name in functions(TESTS / path), f"{row['id']}: no test {name} in {path}"


def test_no_fault_is_listed_twice():
    ids = [row["id"] for row in rows()]
    assert len(ids) == len(set(ids))


def test_all_known_cases_are_listed():
    """The cases lie beside the shared data, in `cases/public_faults.jsonl`."""
    shared = Path(os.environ.get("LITHOUSE_SHARED_DATA") or TESTS.parents[1] / "shared" / "data")
    cases = shared.parent / "cases" / "public_faults.jsonl"
    if not cases.is_file():
        pytest.skip("the shared fault cases (cases/public_faults.jsonl beside the shared data) are absent")
    known = {json.loads(line)["id"] for line in cases.read_text(encoding="utf-8").splitlines() if line.strip()}
    assert known == {row["id"] for row in rows()}
