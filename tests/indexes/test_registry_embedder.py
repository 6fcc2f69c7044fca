"""Embedders of LanceDB's registry, over HTTP against a server on this machine that speaks OpenAI's protocol."""

import json
import threading
import zlib
from datetime import date
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
import stamina

from indexes import registry_embedder
from indexes.embedding import Embedder, EmbedderIdentity
from indexes.paper_index import PaperIndex
from indexes.registry_embedder import ATTEMPTS, RegistryEmbedder, embedder_named, embedder_of
from ingestion.errors import BadInput, NotFound, PermanentFailure, TransientFailure

pytestmark = pytest.mark.run


DAY = date(2024, 12, 31)
KEY = "sk-secret-of-this-test"
NAME = "openai:a-model"
PAPERS = [(f"2401.{n:05}", f"Owls of region {n}", None) for n in range(150)]


def vector(text: str) -> list[float]:
    words = np.zeros(16)
    for word in text.lower().split():
        words[zlib.crc32(word.encode()) % 16] += 3
    return words.tolist()


class Server(ThreadingHTTPServer):
    """`/v1/embeddings`; the statuses in `troubles` are given first, one to a request."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.troubles: list[int] = []
        self.requests: list[dict] = []
        self.keys: set[str] = set()


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append(asked)
        self.server.keys.add(self.headers["Authorization"])
        if self.server.troubles:
            status = self.server.troubles.pop(0)
            body = {"error": {"message": f"trouble with {self.headers['Authorization']}", "type": "trouble"}}
        elif self.path != "/v1/embeddings":
            status, body = 404, {}
        else:
            status = 200
            rows = [{"object": "embedding", "index": n, "embedding": vector(t)} for n, t in enumerate(asked["input"])]
            body = {
                "object": "list",
                "model": asked["model"],
                "data": rows,
                "usage": {"prompt_tokens": 1, "total_tokens": 1},
            }
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        if status == 429:
            self.send_header("Retry-After", "0.05")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_) -> None:
        """Nothing: the requests are kept."""


@pytest.fixture
def server(monkeypatch):
    server = Server()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{server.server_port}/v1")
    with stamina.set_testing(True, attempts=ATTEMPTS):  # no waiting between attempts
        yield server
    server.shutdown()
    thread.join()
    server.server_close()


def test_papers_are_embedded_over_http_through_a_429_and_a_500(server, tmp_path, frame):
    server.troubles = [429, 500]
    index = PaperIndex.open(tmp_path / "index", embedder=RegistryEmbedder(NAME), create=True)
    index.update(frame(PAPERS), snapshot="first")
    report = index.embed_all()
    assert (report.embedded, report.skipped) == (150, [])
    assert server.keys == {f"Bearer {KEY}"}
    assert {request["model"] for request in server.requests} == {"a-model"}
    sent = [text for request in server.requests for text in request["input"] if text.startswith("Owls")]
    assert len(sent) - len(set(sent)) <= 64  # the batch that met the troubles was sent again, nothing else
    names, vectors = index.vectors([paper[0] for paper in PAPERS])
    assert len(names) == 150
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert index.dense("owls of region 7", 1, cutoff=DAY)[0].score == pytest.approx(1, abs=1e-5)


def test_the_table_remembers_the_embedder_and_no_secret(server, tmp_path, frame):
    index = PaperIndex.open(tmp_path / "index", embedder=RegistryEmbedder(NAME), create=True)
    index.update(frame(PAPERS[:3]), snapshot="first")
    index.embed_all()
    later = PaperIndex.open(tmp_path / "index")
    assert later.embedder.identity == EmbedderIdentity(NAME, "", 0, 16)
    assert later.embed_all().reused == 3
    assert later.dense("owls", 3, cutoff=DAY)
    for path in (tmp_path / "index").rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert KEY.encode() not in content
            assert str(server.server_port).encode() + b"/v1" not in content
    with pytest.raises(PermanentFailure, match=r"openai:a-model \(16 dimensions\).*minilm-int8"):
        PaperIndex.open(tmp_path / "index", embedder=Embedder())


@pytest.mark.parametrize(
    ("status", "times", "error", "message", "requests"),
    [
        (503, ATTEMPTS, TransientFailure, "did not answer in 6 attempts.*HTTP 503", ATTEMPTS),
        (401, 1, PermanentFailure, "refused the request.*HTTP 401", 1),
        (404, 1, PermanentFailure, "refused the request.*HTTP 404", 1),
    ],
)
def test_troubles_that_last_are_explained_once_and_show_no_key(
    server, tmp_path, frame, caplog, capfd, status, times, error, message, requests
):
    index = PaperIndex.open(tmp_path / "index", embedder=RegistryEmbedder(NAME, 16), create=True)
    index.update(frame(PAPERS), snapshot="first")
    server.troubles = [status] * times
    with pytest.raises(error, match=message) as caught:
        index.embed_all()
    assert len(server.requests) == requests
    printed = "".join(capfd.readouterr())
    assert KEY not in repr(caught.value) + caught.value.message + caplog.text + printed
    assert printed == ""
    assert index.vector_count == 0


@pytest.mark.parametrize(
    ("asked", "waited"),
    [("7", 7.0), ("0.5", 0.5), ("3600", 60.0), ("Wed, 21 Oct 2015 07:28:00 GMT", True), (None, True)],
)
def test_a_server_that_says_how_long_to_wait_is_heard(asked, waited):
    class TooMany(Exception):
        status_code = 429
        response = type("Response", (), {"headers": {"retry-after": asked} if asked else {}})()

    assert registry_embedder._wait(TooMany()) == waited
    assert registry_embedder._wait(ValueError("a fault of ours")) is False


def test_a_text_the_provider_refuses_costs_only_itself(server, monkeypatch):
    from indexes.embedding import embed_each

    def refusing(self) -> None:
        length = int(self.headers["Content-Length"])
        body = self.rfile.read(length)
        if b"cursed" in body:
            self.server.troubles = [400]
        self.headers.replace_header("Content-Length", str(length))
        self.rfile = __import__("io").BytesIO(body)
        real(self)

    real = Handler.do_POST
    monkeypatch.setattr(Handler, "do_POST", refusing)
    result = embed_each(RegistryEmbedder(NAME, 16), ["fine", "a cursed text", "also fine"])
    assert result.positions == [0, 2]
    assert [position for position, _ in result.skipped] == [1]


def test_without_a_key_the_environment_is_asked_for(monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(NotFound, match="OPENAI_API_KEY"):
        RegistryEmbedder(NAME, 16).embed(["text"])


@pytest.mark.parametrize("name", ["openai", "openai:", "nobody:model", "minilm-int8:x", "open-clip:x", ""])
def test_embedders_that_do_not_exist_are_refused_with_those_that_do(name):
    with pytest.raises(BadInput, match=r"no such embedder.*minilm-int8.*ollama.*openai"):
        embedder_named(name)


def test_what_a_table_says_gives_its_embedder():
    assert embedder_named("minilm-int8") == embedder_of(None) == Embedder()
    assert embedder_of(EmbedderIdentity("minilm-int8", "a" * 64, 64, 384)) == Embedder(max_tokens=64)
    assert embedder_of(EmbedderIdentity(NAME, "", 0, 16)).identity == EmbedderIdentity(NAME, "", 0, 16)
    assert embedder_of(EmbedderIdentity("fake", "f" * 64, 128, 32)) == Embedder()
