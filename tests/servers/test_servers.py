"""The servers that other tests rely on: the same question gets the same answer, latency and capacity are what was asked."""

import concurrent.futures
import json
import time

import pytest

from tests.servers.fixtures import scripted  # noqa: F401
from tests.servers.truthful import shortened

pytestmark = pytest.mark.run

_PAPERS = {
    "2101.00001": "We propose a compiler for sparse rows. It halves the memory of five programs. However, rows of one entry fail.",
    "2101.00002": "Caches of leaves are measured. Leaves that are asked for twice are kept, which saves 12 % of all reads.",
}


def _body(operation: str, part: dict, said: str = "Section: 2 Rows", fence: str = "0123456789abcdef") -> dict:
    shown = "\n".join(
        f"<paper-text {fence}>\npaper: {i}\ntitle: On {i}\nsubmitted: 2021-01\nabstract: {text}\n</paper-text {fence}>"
        for i, text in _PAPERS.items()
    )
    schema = {"title": operation, "type": "object", "properties": part}
    return {
        "model": "any",
        "messages": [
            {"role": "system", "content": f"Task: {operation}\n"},
            {"role": "user", "content": f"{shown}\n{said}"},
        ],
        "response_format": {"type": "json_schema", "json_schema": {"name": operation, "schema": schema}},
    }


def _strings(most: int, length: int = 300, **more) -> dict:
    return {"type": "array", "maxItems": most, "items": {"type": "string", "maxLength": length, **more}}


_TEXT = {"type": "string", "maxLength": 300}
_SENTENCE = {"type": "object", "properties": {"text": _TEXT, "papers": _strings(3, enum=list(_PAPERS))}}
_SENTENCES = {"type": "array", "maxItems": 5, "items": _SENTENCE}
_DRAFT = {
    "paragraphs": {
        "type": "array",
        "maxItems": 3,
        "items": {"type": "object", "properties": {"sentences": _SENTENCES}},
    }
}


def _ask(server, body: dict) -> dict:
    return server.call("/v1/chat/completions", body)


def _reply(answer: dict) -> dict:
    return json.loads(answer["choices"][0]["message"]["content"])


def test_a_draft_says_only_what_the_cited_paper_says_and_says_it_again_when_asked_again(scripted):  # noqa: F811
    server = scripted()
    first = _ask(server, _body("draft", _DRAFT))
    cited = set()
    for paragraph in _reply(first)["paragraphs"]:
        for sentence in paragraph["sentences"]:
            (paper,) = sentence["papers"]
            cited.add(paper)
            assert sentence["text"] in {shortened(s + ".") for s in _PAPERS[paper].rstrip(".").split(". ")}
    assert cited == set(_PAPERS)
    other_fence = _ask(server, _body("draft", _DRAFT, fence="fedcba9876543210"))
    assert _reply(other_fence) == _reply(first) == _reply(_ask(server, _body("draft", _DRAFT)))
    told = server.stats()
    assert (told["requests"], told["distinct_answered"]) == (3, 2)
    assert told["completion_tokens"] == 3 * first["usage"]["completion_tokens"]


def test_latency_is_kept_and_one_more_than_the_capacity_is_refused(scripted):  # noqa: F811
    server = scripted(latency=0.3, capacity=4)
    bodies = [_body("draft", _DRAFT, f"Section: {i}") for i in range(8)]
    begun = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda body: _ask(server, body), bodies))
    took = time.monotonic() - begun
    refused = [a for a in answers if "error" in a]
    assert {a["status"] for a in refused} == {429}
    assert all(float(a["headers"]["Retry-After"]) > 0 for a in refused)
    assert len(refused) == 4
    assert 0.3 <= took < 0.6
    assert all(0.29 <= e["end"] - e["start"] <= 0.4 for e in server.stats()["time_line"] if e["status"] == 200)


@pytest.mark.parametrize(
    ("rules", "finish", "holds"),
    [
        ([{"do": "truncate"}], "length", lambda text: not text.endswith("}")),
        (
            [{"do": "chatter"}, {"do": "thinking"}],
            "stop",
            lambda text: text.startswith("<think>") and "```json" in text,
        ),
        ([{"do": "empty"}], "stop", lambda text: not text.strip()),
        ([{"do": "lie"}], "stop", lambda text: "87.3 %" in text),
        ([{"do": "foreign"}], "stop", lambda text: "[@9999.99999]" in text),
    ],
    ids=["truncate", "chatter and thinking", "empty", "lie", "foreign"],
)
def test_a_rule_changes_the_reply_it_names_and_no_other(scripted, rules, finish, holds):  # noqa: F811
    server = scripted(rules=[{**rule, "at": [2]} for rule in rules])
    answers = [_ask(server, _body("draft", _DRAFT)) for _ in range(3)]
    changed = answers[1]["choices"][0]
    assert changed["finish_reason"] == finish
    assert holds(changed["message"]["content"])
    assert _reply(answers[0]) == _reply(answers[2])


def test_a_server_may_want_a_key_a_model_a_window_and_may_die(scripted):  # noqa: F811
    server = scripted(key="right", model="only", window=100)
    assert _ask(server, _body("draft", _DRAFT))["status"] == 401
    answer = server.call("/v1/chat/completions", _body("draft", _DRAFT), {"Authorization": "Bearer right"})
    assert (answer["status"], answer["error"]["code"]) == (404, "model_not_found")
    body = {**_body("draft", _DRAFT), "model": "only"}
    answer = server.call("/v1/chat/completions", body, {"Authorization": "Bearer right"})
    assert (answer["status"], answer["error"]["code"]) == (400, "context_length_exceeded")
    dying = scripted(rules=[{"do": "die", "at": [2]}])
    _ask(dying, _body("draft", _DRAFT))
    with pytest.raises((ConnectionError, OSError)):
        _ask(dying, _body("draft", _DRAFT))
    assert dying.process.wait(10) == 9


@pytest.mark.parametrize("way", ["tool", "prompted"])
def test_a_schema_is_understood_as_a_tool_and_in_the_prompt(scripted, way):  # noqa: F811
    server = scripted()
    native = _reply(_ask(server, _body("draft", _DRAFT)))
    body = _body("draft", _DRAFT)
    schema = body.pop("response_format")["json_schema"]["schema"]
    if way == "tool":
        body["tools"] = [{"type": "function", "function": {"name": "draft", "parameters": schema}}]
        call = _ask(server, body)["choices"][0]["message"]["tool_calls"][0]["function"]
        assert call["name"] == "draft"
        said = json.loads(call["arguments"])
    else:
        body["messages"][0]["content"] += f"\nAnswer with JSON of this schema:\n{json.dumps(schema)}"
        said = _reply(_ask(server, body))
    assert [s["papers"] for p in said["paragraphs"] for s in p["sentences"]] == [
        s["papers"] for p in native["paragraphs"] for s in p["sentences"]
    ]


def test_without_a_schema_the_reply_is_markdown_with_tokens(scripted):  # noqa: F811
    server = scripted()
    body = _body("draft", _DRAFT)
    del body["response_format"]
    text = _ask(server, body)["choices"][0]["message"]["content"]
    assert all(f"[@{paper}]" in text for paper in _PAPERS)
