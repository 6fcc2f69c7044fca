"""A server of models on loopback that does what a test scripts, and gateways that ask it."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from corpus.tables import Lake
from generation.language_models import exchange
from generation.language_models.calls import Call, Message, Purpose
from generation.language_models.gateway import Gateway
from generation.language_models.ledger import Ledger
from generation.language_models.limits import Patience
from generation.language_models.names import model_settings

QUICK = Patience(attempts=5, first_wait=0.001, longest_wait=0.002, jitter=0.0, closing=2.0)
SCHEMA = {
    "title": "card",
    "type": "object",
    "properties": {"claim": {"type": "string", "maxLength": 40}},
    "required": ["claim"],
    "additionalProperties": False,
}


@dataclass
class Said:
    """What the server says to one request."""

    text: str = "An answer."
    status: int = 200
    error: str = ""
    code: str | None = None
    headers: dict[str, str] = field(default_factory=dict)
    finish: str = "stop"
    usage: tuple[int, int] | None = (11, 7)
    delay: float = 0.0
    refusal: str | None = None
    hangs_up: bool = False
    raw: str | None = None


@dataclass
class Request:
    path: str
    headers: dict[str, str]
    body: dict

    @property
    def prompt(self) -> str:
        return json.dumps(self.body)


class ModelServer(ThreadingHTTPServer):
    """Speaks the protocols of OpenAI, Anthropic and Google; `script` says what, by number (from 0) and request."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script: Callable[[int, Request], Said] = lambda number, request: Said()
        self.requests: list[Request] = []
        self.times: list[float] = []
        self.at_once = self.most_at_once = 0
        self.used = [0, 0]
        self.lock = threading.Lock()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def says(self, *said: Said) -> None:
        """Say these in order, the last one for ever."""
        self.script = lambda number, request: said[min(number, len(said) - 1)]

    def handle_error(self, *_: object) -> None:
        """Clients that hang up are part of the tests."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # headers and body are two writes, which would cost a delayed acknowledgement

    def log_message(self, *_: object) -> None: ...

    def do_POST(self) -> None:
        server: ModelServer = self.server
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        request = Request(self.path, {k.lower(): v for k, v in self.headers.items()}, body)
        with server.lock:
            number = len(server.requests)
            server.requests.append(request)
            server.times.append(time.monotonic())
            server.at_once += 1
            server.most_at_once = max(server.most_at_once, server.at_once)
        said = server.script(number, request)
        time.sleep(said.delay)
        with server.lock:
            server.at_once -= 1
            if said.status == 200 and said.usage and not said.hangs_up:
                server.used[0] += said.usage[0]
                server.used[1] += said.usage[1]
        if said.hangs_up:
            self.close_connection = True
            return
        if said.status != 200:
            answer = {"error": {"message": said.error, "code": said.code, "type": said.code}}
        elif "/messages" in self.path:
            answer = _anthropic(body, said)
        elif ":generateContent" in self.path:
            answer = _google(said)
        else:
            answer = _openai(body, said)
        data = (json.dumps(answer) if said.raw is None else said.raw).encode()
        self.send_response(said.status)
        for name, value in (
            {"Content-Type": "application/json", "Content-Length": str(len(data))} | said.headers
        ).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)


def _openai(body: dict, said: Said) -> dict:
    message = {"role": "assistant", "content": said.text}
    if said.refusal:
        message |= {"content": None, "refusal": said.refusal}
    elif body.get("tools"):
        called = {"name": body["tools"][0]["function"]["name"], "arguments": said.text}
        message = {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "1", "type": "function", "function": called}],
        }
    answer = {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": body["model"],
        "choices": [{"index": 0, "finish_reason": said.finish, "message": message}],
    }
    if said.usage:
        sent, written = said.usage
        answer["usage"] = {"prompt_tokens": sent, "completion_tokens": written, "total_tokens": sent + written}
    return answer


def _anthropic(body: dict, said: Said) -> dict:
    part: dict = {"type": "text", "text": said.text}
    if body.get("tools"):
        part = {"type": "tool_use", "id": "1", "name": body["tools"][0]["name"], "input": json.loads(said.text)}
    return {
        "id": "1",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": [part],
        "stop_reason": said.finish,
        "usage": {"input_tokens": said.usage[0], "output_tokens": said.usage[1]},
    }


def _google(said: Said) -> dict:
    return {
        "candidates": [{"content": {"role": "model", "parts": [{"text": said.text}]}, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": said.usage[0], "candidatesTokenCount": said.usage[1]},
    }


@pytest.fixture
def server() -> Iterator[ModelServer]:
    made = ModelServer()
    threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    yield made
    made.shutdown()
    made.server_close()


@pytest.fixture
def environment(server) -> dict[str, str]:
    """One that reaches the server, and in which the model is free."""
    return {"OPENAI_BASE_URL": f"{server.address}/v1", "LITHOUSE_MODEL_IS_FREE": "1"}


@pytest.fixture
def ledger(lake: Lake) -> Iterator[Ledger]:
    with Ledger.open(lake) as opened:
        yield opened


@pytest.fixture
def gateway(ledger, environment):
    """Gateways of the ledger: `gateway(model, variables=…, **options)`."""
    exchange._NEXT_FORM.clear()
    exchange._UNREADABLE.clear()

    def make(name: str = "openai:small", *, variables: dict | None = None, held: Ledger | None = None, **options):
        around = environment | (variables or {})
        options = {"purpose": Purpose("survey", "rag"), "patience": QUICK, "environment": around} | options
        return Gateway(model_settings(name, environment=around), held or ledger, **options)

    return make


@pytest.fixture
def call():
    """A call: `call("text", **fields)`."""

    def make(text: str = "Describe the paper.", **fields) -> Call:
        values = {"operation": "card", "template": "t1", "schema": None, "most_tokens": 100, "item": "2005.11401"}
        messages = (Message("system", "You read papers."), Message("user", text))
        return Call(**{**values, "messages": messages, **fields})

    return make


@pytest.fixture
def said():
    """What the server says: `said("text", **fields)`."""
    return Said


@pytest.fixture
def schema() -> dict:
    return SCHEMA
