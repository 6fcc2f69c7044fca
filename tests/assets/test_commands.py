"""The command line as a whole: help, usage, exit codes, errors, and flags that mean what they say. Nothing slow."""

import gzip
import json
import subprocess
import sys

import pytest

from assets.cli import COMMANDS

_HELP_ALONE = """
import sys
from assets.cli import main
try:
    main(sys.argv[1:])
except SystemExit as stop:
    code = stop.code
heavy = [name for name in ("dagster", "lancedb", "polars", "duckdb", "sklearn", "onnxruntime") if name in sys.modules]
print("HEAVY", code, heavy)
"""


def test_help_of_the_group_names_every_command(run):
    told = run("--help")
    assert told.code == 0
    for name, line in COMMANDS.items():
        assert name in told.out
        assert line.split()[0] in told.out


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_help_of_a_command_says_what_it_does_and_makes_nothing(run, home, name):
    told = run(name, "--help")
    assert told.code == 0
    assert told.out.startswith(f"Usage: lithouse {name} ")
    assert len(told.out.splitlines()) > 4
    assert not home.exists()


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["survey", "--help"], ["refresh", "--help"]])
def test_help_imports_nothing_heavy(arguments):
    done = subprocess.run([sys.executable, "-c", _HELP_ALONE, *arguments], capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines()[-1] == "HEAVY 0 []", done.stdout + done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["nosuch"],
        ["survey"],
        ["refresh", "--source", "mirror:x"],
        ["refresh", "--cutoff", "2024-01-01"],
        ["refresh", "--source", "mirror:x", "--cutoff", "2025-13-01"],
        ["search", "rag", "-k", "0"],
        ["survey", "rag", "--method", "nosuch"],
        ["survey", "rag", "--model", "nosuch"],
        ["survey", "rag", "--pool", "0"],
        ["lineage", "rag", "--sentence", "1", "--section", "2"],
        ["lineage", "rag", "--sentence", "x"],
        ["sql", "SELECT 1", "--format", "parquet"],
        ["sql", "SELECT 1", "--json", "--format", "csv"],
        ["import", "nosuch", "x.jsonl"],
        ["ui", "--port", "0"],
    ],
    ids=" ".join,
)
def test_wrong_usage_exits_2_and_makes_nothing(run, home, arguments):
    told = run(*arguments)
    assert told.code == 2
    assert "Usage:" in told.err
    assert "Traceback" not in told.err
    assert not home.exists()


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        (["refresh", "--source", "mirror:nosuch", "--cutoff", "2024-01-01"], "NotFound"),
        (["refresh", "--source", "ftp:x", "--cutoff", "2024-01-01"], "BadInput"),
        (["import", "papers", "nosuch.jsonl"], "NotFound"),
        (["import", "citations", "nosuch.jsonl"], "NotFound"),
        (["survey", "rag"], "NotFound"),
        (["search", "rag"], "NotFound"),
        (["lineage", "rag"], "NotFound"),
        (["tables", "nosuch"], "NotFound"),
        (["survey", "rag", "--include", "no id"], "UnreadableId"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_what_fails_on_an_empty_home_exits_1_with_an_error_object(run, arguments, kind):
    told = run(*arguments, "--json")
    assert told.code == 1
    error = told.json["error"]
    assert error["kind"] == kind
    assert error["what"]
    assert error["is_retryable"] is False
    assert told.err.startswith("Error: ")
    assert len(told.err.splitlines()) == 1


def test_status_of_an_empty_home_says_what_to_do(run, home):
    told = run("status")
    assert told.code == 0
    assert "lithouse demo" in told.out
    assert run("status", "--json").json == {"home": str(home), "tables": {}, "months": [], "surveys": []}


@pytest.mark.parametrize(
    "wanted", [["paper", "9999.99999"], ["paper", "2311.09476v999"], ["paper", "2101.00001"], ["paper", "0112019"]]
)
def test_id08_a_paper_or_version_not_held_is_a_typed_error(held, run, wanted):
    told = run(*wanted, "--json")
    assert told.code == 1
    assert told.json["error"]["kind"] == "PaperNotFound"
    assert "title" not in told.json
    assert "Traceback" not in told.err


def test_id08_a_version_not_held_names_those_held(held, run):
    assert "Versions held: v1" in run("paper", "2311.09476v999").err


@pytest.mark.parametrize("form", ["2311.09476", "2311.09476v1", "https://arxiv.org/abs/2311.09476", "arXiv:2311.09476"])
def test_a_paper_is_found_by_every_form_of_its_id(held, run, form):
    found = run("paper", form, "--json").json
    assert found["paper_id"] == "2311.09476"
    assert {
        "paper_id", "latest_version", "versions", "title", "authors", "submitted_on", "is_withdrawn", "document_status",
        "references", "citations",
    } <= found.keys()  # fmt: skip
    assert found["document_status"] is None
    assert all(r.keys() >= {"number", "text", "cited_id"} for r in found["references"])


def test_citations_and_references_of_papers_mirror_each_other(held, run, tools, small_mirror):
    edge = tools.read_lines(small_mirror / "citations.jsonl")[0]
    assert edge["cited_id"] in [r["cited_id"] for r in run("paper", edge["citing_id"], "--json").json["references"]]
    assert edge["citing_id"] in run("paper", edge["cited_id"], "--json").json["citations"]


@pytest.mark.parametrize(
    ("given", "day"),
    [
        ("2505", "2025-05-31"),
        ("2025-05", "2025-05-31"),
        ("2025-05-31", "2025-05-31"),
        ("2024", "2024-12-31"),
        ("2402", "2024-02-29"),
    ],
)
def test_ex05_a_cutoff_means_the_day_it_states(given, day):
    from assets.commands.options import Cutoff

    assert Cutoff().convert(given, None, None).isoformat() == day


@pytest.mark.parametrize("given", ["2025-13-01", "2025-02-30", "soon", "", "20250531x", "-1"])
def test_ex05_an_impossible_cutoff_is_refused(run, given):
    told = run("search", "rag", f"--cutoff={given}")
    assert told.code == 2
    assert "--cutoff" in told.err


@pytest.mark.parametrize(
    ("argument", "is_json"),
    [("--json", True), ("--json=True", True), ("--json=yes", True), ("--json=False", False), ("--json=0", False)],
)
def test_ex05_a_flag_with_a_value_means_the_value(held, run, argument, is_json):
    told = run("paper", "2311.09476", argument)
    assert told.code == 0
    assert told.out.lstrip().startswith("{") is is_json


@pytest.mark.parametrize("arguments", [["survey", "rag", "--force=maybe"], ["paper", "2311.09476", "--json=2"]])
def test_ex05_a_flag_value_that_is_neither_true_nor_false_is_wrong_usage(run, arguments):
    told = run(*arguments)
    assert told.code == 2
    assert "maybe" in told.err or "json" in told.err.lower() or "boolean" in told.err


def test_ex05_after_two_dashes_a_flag_is_text(held, run):
    told = run("sql", "--json", "--", "--force=False")
    assert told.code == 1
    assert told.json["error"]["kind"] == "QueryRefused"


@pytest.mark.parametrize("title", ["", "   ", "!?", "\t\n"])
def test_or04_a_topic_without_a_letter_is_refused_before_anything_is_done(run, home, title):
    told = run("survey", title, "--json")
    assert told.code == 1
    assert told.json["error"]["kind"] == "BadTopic"
    assert not home.exists()


def test_tables_describe_every_column_with_type_and_meaning(held, run):
    from corpus.contracts.registry import CONTRACTS

    told = run("tables", "--json").json
    assert [t["table"] for t in told] == list(CONTRACTS)
    assert all(c["description"] for t in told for c in t["columns"])
    assert "10 rows" in next(line for line in run("tables").out.splitlines() if line.startswith("papers"))
    one = run("tables", "papers")
    assert all(column in one.out for column in CONTRACTS["papers"].polars_schema)


@pytest.mark.run
def test_a_truncated_gzip_is_told_as_partial_and_what_was_read_stays(run, home, tools, sample_records, tmp_path):
    mirror = tmp_path / "mirror"
    mirror.mkdir()
    lines = "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in sample_records[-6:])
    whole = gzip.compress(lines.encode())
    (mirror / "metadata.jsonl.gz").write_bytes(whole[: len(whole) * 2 // 3])
    told = run("refresh", "--source", f"mirror:{mirror}", "--cutoff", "2024-12-31", "--json")
    assert told.code == 3
    assert told.json["status"] == "partial"
    assert told.json["failures"][0]["item"].endswith("metadata.jsonl.gz")
    assert "Not read: " in told.err
    assert 0 < told.json["rows_added"] < 6
    (mirror / "metadata.jsonl.gz").write_bytes(whole)
    again = run("refresh", "--source", f"mirror:{mirror}", "--cutoff", "2024-12-31", "--json")
    assert (again.code, again.json["status"]) == (0, "complete")
    assert told.json["rows_added"] + again.json["rows_added"] == 6
