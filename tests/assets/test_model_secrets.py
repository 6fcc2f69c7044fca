"""A key, a secret-looking value of the environment and a proxy's password stand in nothing that is kept or said."""

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.run

TOPIC = "Retrieval-augmented generation"
_SECRETS = {
    "OPENAI_API_KEY": "sk-proj-Xk3vQ9mWq2LwZt7RbN4c",
    "FAKE_SERVICE_TOKEN": "tok_5f2b9c1e7a3d4886bd10",
    "HTTPS_PROXY": "http://someone:pr0xy-Pa55-phrase@127.0.0.1:9",
    "HTTP_PROXY": "http://someone:pr0xy-Pa55-phrase@127.0.0.1:9",
}
_HIDDEN = ("sk-proj-Xk3vQ9mWq2LwZt7RbN4c", "tok_5f2b9c1e7a3d4886bd10", "pr0xy-Pa55-phrase")


@pytest.fixture
def environment(monkeypatch) -> dict[str, str]:
    """The secrets in the environment, and no proxy of this machine."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in _SECRETS.items():
        monkeypatch.setenv(name, value)
    return {**os.environ}


def _texts(home: Path):
    """Name and content of everything under home: files as bytes, tables and databases also as what they say."""
    import duckdb

    for path in sorted(p for p in home.rglob("*") if p.is_file()):
        yield path.relative_to(home).as_posix(), path.read_bytes()
        if path.suffix == ".parquet":
            rows = duckdb.sql(f"SELECT * FROM read_parquet('{path}', hive_partitioning=false)").fetchall()
            yield f"{path.name} as rows", repr(rows).encode()
        if path.suffix in (".db", ".sqlite"):
            with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
                for line in database.iterdump():
                    yield f"{path.name} as SQL", line.encode()


def _assert_hidden(home: Path, *said: str) -> None:
    found = [(name, secret) for name, content in _texts(home) for secret in _HIDDEN if secret.encode() in content]
    assert not found
    assert not [secret for secret in _HIDDEN for text in said if secret in text]


def test_no_secret_is_kept_or_said_by_a_survey(small, home, environment, scripted):
    server = scripted(rules=[{"do": "bad_json", "every": 5, "first_time": True}])
    done = subprocess.run(
        [sys.executable, "-m", "assets.cli", "survey", TOPIC, "--model", "openai:scripted"],
        capture_output=True,
        text=True,
        timeout=200,
        env={**environment, "NO_PROXY": "127.0.0.1", "LITHOUSE_HOME": str(home), "OPENAI_BASE_URL": server.base_url},
    )
    assert done.returncode in (0, 3), done.stderr
    assert server.count()["answered"] > 10
    _assert_hidden(home, done.stdout, done.stderr)


def test_no_secret_is_kept_or_said_when_the_server_says_it_back(small, home, run, environment, scripted, monkeypatch):
    said = f"Incorrect API key provided: {_HIDDEN[0]} ({_HIDDEN[1]})"
    server = scripted(rules=[{"do": "status", "status": 401, "message": said}])
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    told = run("survey", TOPIC, "--model", "openai:scripted", "--json")
    assert told.code == 1
    assert server.count()["requests"] >= 1
    assert "Incorrect API key provided" in told.err, "what the server said helps"
    _assert_hidden(home, told.out, told.err)


def test_no_secret_is_kept_or_said_when_the_proxy_is_not_there(small, home, run, environment, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://someone:pr0xy-Pa55-phrase@models.invalid/v1")
    told = run("survey", TOPIC, "--model", "openai:scripted", "--json")
    assert told.code == 1
    assert "models.invalid" in told.err
    _assert_hidden(home, told.out, told.err)
