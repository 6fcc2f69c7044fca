"""Surveys written by a model over HTTP: by a server that answers truthfully from the evidence, and by a real small model.

The truthful server can be held to every word; of the small model only structure is asked, never meaning.
"""

import json
import re
import shutil
from pathlib import Path

import pytest

pytestmark = pytest.mark.run

TOPIC, SLUG = "Retrieval-augmented generation", "retrieval-augmented-generation"
_SMALL_WINDOW = 3072
"""The smallest in which a neighbour stands beside a draft: the less it is shown, the sooner a small model is through."""
_TOKEN = re.compile(r"@(\d{4}\.\d{4,5})")
_PAID = """SELECT count(*) AS calls, sum(input_tokens)::BIGINT AS i, sum(output_tokens)::BIGINT AS o
    FROM language_model_calls WHERE origin = 'paid'"""


def _row(run, query: str) -> dict:
    told = run("sql", query, "--json")
    assert told.code == 0, told.err
    return told.json[0]


def _cited(path: str) -> set[str]:
    return set(_TOKEN.findall(Path(path).read_text(encoding="utf-8")))


def test_a_truthful_server_gives_a_complete_survey_that_a_copied_ledger_gives_again_byte_for_byte(
    demo, home, ask, run, scripted, tmp_path, tools
):
    demo.copy_to(home)
    server = scripted()
    told = ask(server, "survey", tools.topic, "--json")
    assert told.code == 0, told.err
    result, stats = told.json, server.stats()
    assert result["status"] == "complete"
    assert result["failures"] == []
    assert set(stats["statuses"]) == {"200"}
    assert stats["distinct_answered"] == stats["requests"], "a call was paid twice"
    paid = _row(run, _PAID)
    assert (paid["calls"], paid["i"], paid["o"]) == (
        stats["requests"],
        stats["prompt_tokens"],
        stats["completion_tokens"],
    )
    # Cards serve every edition, so the survey's own tokens are those of the other stages.
    own = _row(run, f"{_PAID} AND asset <> 'paper_cards'")
    assert (result["tokens"]["input"], result["tokens"]["output"]) == (own["i"], own["o"])
    assert _cited(result["paths"]["markdown"]) == set(result["references"])
    assert len(result["references"]) >= 36, "of 40 papers, all of which the server was shown"

    again = ask(server, "survey", tools.topic, "--json")
    assert again.json["stages_run"] == []
    assert server.count()["requests"] == stats["requests"]

    text = Path(result["paths"]["markdown"]).read_bytes()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    shutil.copytree(home / "tables", elsewhere / "tables")
    rebuilt = tools.lithouse(
        elsewhere, "survey", tools.topic, "--model", "openai:scripted", "--replay", "--force", "--json"
    )
    assert rebuilt.code == 0, rebuilt.err
    assert rebuilt.json["edition"] == result["edition"]
    assert Path(rebuilt.json["paths"]["markdown"]).read_bytes() == text
    assert server.count()["requests"] == stats["requests"]


def test_a_replay_of_what_was_never_asked_fails_and_names_the_call(small, ask, run):
    told = ask(None, "survey", TOPIC, "--replay", "--json")
    assert (told.code, told.json["error"]["kind"]) == (1, "NotInLedger")
    assert "Traceback" not in told.err


def test_a_real_small_model_gives_sections_whose_every_citation_resolves(demo, home, ask, run, local_model, tools):
    demo.copy_to(home)
    server = local_model(window=_SMALL_WINDOW)
    told = ask(
        server, "survey", tools.topic, "--pool", 8, "--window", _SMALL_WINDOW, "--concurrency", 1, "--json",
        model="openai:smollm2",
    )  # fmt: skip
    assert told.code in (0, 3), told.err
    result = told.json
    assert result["status"] == ("complete" if told.code == 0 else "partial")

    paid = _row(run, _PAID)
    assert (paid["i"], paid["o"]) == server.tokens(), "the ledger does not hold what the server counted"

    edition = f"topic = '{result['slug']}' AND edition = '{result['edition']}'"
    written = run("sql", f"SELECT * FROM survey_sentences WHERE {edition} AND kind = 'written'", "--json").json
    before = {s["section"] for s in written if s["cited_ids"] or any(c["action"] != "refused" for c in s["checks"])}
    assert len(before) >= result["expected"] / 2
    told = result["grounding"]
    checks = [
        action
        for s in written
        for action in {c["paper_id"]: c["action"] for c in s["checks"] if c["paper_id"]}.values()
    ]
    # Sentences and cells that were taken out whole are counted, and stand in no row.
    assert told["removed"] >= checks.count("removed")
    assert told["kept"] == sum(len(s["cited_ids"]) for s in written)
    assert told["cited"] == told["kept"] + told["removed"]
    assert told["refused"] >= checks.count("refused")

    pool = run("sql", f"SELECT paper_id FROM edition_papers WHERE {edition}", "--json").json
    assert _cited(result["paths"]["markdown"]) == set(result["references"])
    assert set(result["references"]) <= {row["paper_id"] for row in pool}


def test_the_plan_of_an_estimate_is_what_is_called_and_spends_nothing(small, ask, run, scripted):
    server = scripted()
    planned = ask(server, "survey", TOPIC, "--estimate", "--json")
    assert planned.code == 0, planned.err
    assert server.count()["requests"] == 0
    told = ask(server, "survey", TOPIC, "--json")
    assert told.code == 0, told.err
    called = {name: row["requests"] for name, row in server.stats()["operations"].items()}
    assert _calls_by_operation(planned.json) == called


def _calls_by_operation(plan: dict) -> dict[str, int]:
    counts: dict[str, int] = {}
    for row in plan["plan"]:
        counts[row["operation"]] = counts.get(row["operation"], 0) + row["calls"]
    return {name: n for name, n in counts.items() if n}


_FAULTS = [
    {"do": "status", "status": 429, "retry_after": 0.1, "every": 5, "first_time": True},
    {"do": "status", "status": 503, "every": 7, "first_time": True},
    {"do": "bad_json", "every": 6, "first_time": True},
    {"do": "truncate", "every": 9, "first_time": True},
    {"do": "chatter", "every": 2},
    {"do": "thinking", "every": 3},
    {"do": "foreign", "every": 4},
]


def test_with_faults_what_is_called_is_the_plan_and_the_repairs_and_retries_that_are_recorded(
    small, ask, run, scripted
):
    planned = ask(None, "survey", TOPIC, "--estimate", "--json").json
    server = scripted(rules=_FAULTS)
    told = ask(server, "survey", TOPIC, "--json")
    assert told.code in (0, 3), told.err
    stats = server.stats()
    assert {"429", "503"} <= set(stats["statuses"])
    rows = _row(
        run,
        """SELECT count(*) AS requests, count(*) FILTER (repairs IS NOT NULL AND sending = 1) AS repairs,
        count(*) FILTER (sending > 1) AS retries FROM language_model_calls WHERE origin = 'paid'""",
    )
    assert rows["requests"] == stats["requests"]
    assert rows["repairs"] > 0
    assert rows["retries"] > 0
    assert sum(_calls_by_operation(planned).values()) + rows["repairs"] + rows["retries"] == stats["requests"]
    text = Path(told.json["paths"]["markdown"]).read_text(encoding="utf-8")
    for trace in ("<think>", "```json", "Sure!", "9999.99999", "1234.56789"):
        assert trace not in text


def test_a_budget_is_never_exceeded_and_what_is_left_is_written_later_without_a_call_twice(small, ask, run, scripted):
    server = scripted(latency=0.05)
    estimate = ask(server, "survey", TOPIC, "--estimate", "--json").json
    whole = estimate["input_tokens"] + estimate["most_output_tokens"]
    spent, budgets = 0, []
    for _ in range(12):
        before = server.stats()
        budget = whole // 4
        told = ask(server, "survey", TOPIC, "--budget-tokens", budget, "--json")
        after = server.stats()
        spent = (
            after["prompt_tokens"] + after["completion_tokens"] - before["prompt_tokens"] - before["completion_tokens"]
        )
        budgets.append((told.code, spent, budget))
        assert spent <= budget, budgets
        if told.code == 0:
            break
        assert told.code == 3, told.err
        assert "budget" in (told.out + told.err).lower()
        assert "Traceback" not in told.err
    assert told.code == 0, budgets
    assert len(budgets) > 1, "the budget was no limit"
    final = server.stats()
    assert final["distinct_answered"] == final["requests"]
    assert json.loads(told.out)["status"] == "complete"


def test_a_survey_by_a_model_is_fresh_until_its_writer_would_write_another(small, ask, run, scripted):
    server = scripted()
    told = ask(server, "survey", TOPIC, "--window", "16000", "--json")
    assert told.code == 0, told.err
    (found,) = run("status", "--json").json["surveys"]
    # Asked as it was asked then: the window of now, which is another, is no cause.
    assert (found["state"], found["cause"]) == ("fresh", "")
