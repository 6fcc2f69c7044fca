"""A server of the OpenAI chat protocol that answers by script: truthfully from the evidence, late, falsely or not at all.

    python -m tests.servers.scripted [--port 0] [--latency 0.2] [--capacity 8] [--key KEY] [--model NAME] [--window N]
                                     [--rules '[{"do": "status", "at": [3], "status": 429, "retry_after": 1}]']
                                     [--log FILE]

Prints its port as the first line. Besides POST /v1/chat/completions and GET /v1/models there are GET /stats (counts,
tokens, the time line), GET /count (the counts alone), POST /rules (other rules, latency or capacity from now on) and POST /reset (counts to zero).
Capacity counts requests in process: one more is refused with 429. Head and body leave in one write, so that no delayed
acknowledgement adds to the latency.
"""

import argparse
import asyncio
import json
import os
import time
from collections import Counter
from dataclasses import asdict, dataclass, field

import h11

from tests.servers import faults
from tests.servers.asked import Asked, read_request, tokens
from tests.servers.truthful import as_text, reply


@dataclass
class Entry:
    """A request in the time line; times in seconds since the server started, `end` None while it is in process."""

    number: int
    operation: str
    key: str
    start: float
    end: float | None = None
    status: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    at_once: int = 0
    papers: list[str] = field(default_factory=list)
    did: list[str] = field(default_factory=list)


@dataclass
class Scripted:
    """The state of one server; options as on its command line."""

    latency: float = 0.0
    capacity: int = 0
    key: str = ""
    model: str = ""
    window: int = 0
    rules: list[faults.Rule] = field(default_factory=list)
    log: str = ""
    started: float = field(default_factory=time.monotonic)
    entries: list[Entry] = field(default_factory=list)
    in_process: int = 0
    bodies: Counter = field(default_factory=Counter)

    def now(self) -> float:
        return time.monotonic() - self.started

    def stats(self) -> dict:
        done = [e for e in self.entries if e.status == 200]
        operations: dict[str, dict[str, int]] = {}
        for e in self.entries:
            row = operations.setdefault(e.operation, Counter())
            row["requests"] += 1
            row["answered"] += e.status == 200
            row["prompt_tokens"] += e.prompt_tokens
            row["completion_tokens"] += e.completion_tokens
        return {
            "requests": len(self.entries),
            "answered": len(done),
            "statuses": dict(Counter(str(e.status) for e in self.entries)),
            "prompt_tokens": sum(e.prompt_tokens for e in self.entries),
            "completion_tokens": sum(e.completion_tokens for e in self.entries),
            "most_at_once": max((e.at_once for e in self.entries), default=0),
            "operations": operations,
            "distinct_answered": len({e.key for e in done}),
            "did": dict(Counter(name for e in self.entries for name in e.did)),
            "time_line": [asdict(e) for e in self.entries],
        }

    def change(self, wanted: dict) -> None:
        """New rules, latency or capacity; what is not named stays."""
        if "rules" in wanted:
            self.rules = [faults.Rule(**rule) for rule in wanted["rules"]]
        for name in ("latency", "capacity", "key", "model", "window"):
            if name in wanted:
                setattr(self, name, wanted[name])

    async def chat(self, body: dict, authorization: str) -> tuple[int, dict, dict] | None:
        """Status, body and headers of the answer; None to close the connection without one."""
        begun = time.monotonic()
        asked = read_request(body)
        entry = Entry(
            len(self.entries) + 1, asked.operation, asked.key, self.now(), papers=[p.paper_id for p in asked.papers]
        )
        self.entries.append(entry)
        before = self.bodies[asked.key]
        self.bodies[asked.key] += 1
        self.in_process += 1
        entry.at_once = self.in_process
        try:
            answer = await self._answer(asked, body, authorization, entry, before, begun)
        finally:
            self.in_process -= 1
            entry.end = self.now()
        entry.status = answer[0] if answer else -1
        if self.log:
            with open(self.log, "a", encoding="utf-8") as file:
                file.write(json.dumps({**asdict(entry), "body": body, "answer": answer and answer[1]}) + "\n")
        return answer

    async def _answer(self, asked: Asked, body: dict, authorization: str, entry: Entry, before: int, begun: float):
        if self.key and authorization != f"Bearer {self.key}":
            return _refusal(401, "Incorrect API key provided.", "invalid_api_key")
        if self.model and body.get("model") != self.model:
            return _refusal(404, f"The model `{body.get('model')}` does not exist.", "model_not_found")
        if self.capacity and self.in_process > self.capacity:
            return _refusal(429, "Too many requests at once.", "rate_limit_exceeded", 0.05)
        chosen = [rule for rule in self.rules if rule.befalls(asked, before)]
        entry.did += [rule.do for rule in chosen if rule.do in faults.ON_THE_WIRE]
        by_name = {rule.do: rule for rule in chosen}
        if "die" in by_name:
            os._exit(9)
        if "close" in by_name:
            return None
        if rule := by_name.get("status"):
            return _refusal(rule.status, rule.message, "scripted", rule.retry_after)
        if "stall" in by_name:
            await asyncio.sleep(86_400)
        if self.window and asked.prompt_tokens + (asked.most_tokens or 0) > self.window:
            said = f"This model's maximum context length is {self.window} tokens, you asked for more."
            return _refusal(400, said, "context_length_exceeded")
        made = faults.Reply(as_text(reply(asked)))
        faults.change(asked, made, set(by_name))
        entry.did += list(made.did)
        _limit(made, asked.most_tokens)
        entry.prompt_tokens = asked.prompt_tokens
        entry.completion_tokens = tokens(made.text)
        wait = self.latency + (by_name["delay"].seconds if "delay" in by_name else 0.0)
        await asyncio.sleep(max(0.0, wait - (time.monotonic() - begun)))
        return 200, _completion(asked, made, body, entry), {}


def _limit(made: faults.Reply, most: int | None) -> None:
    """No reply is longer than was asked for; one that is cut says so."""
    if most and tokens(made.text) > most:
        made.text, made.finish = made.text[: 4 * most], "length"


def _refusal(status: int, message: str, code: str, retry_after: float | None = None):
    headers = {} if retry_after is None else {"Retry-After": f"{retry_after:g}"}
    return status, {"error": {"message": message, "type": code, "param": None, "code": code}}, headers


def _completion(asked: Asked, made: faults.Reply, body: dict, entry: Entry) -> dict:
    message: dict = {"role": "assistant", "content": made.text}
    if made.refusal is not None:
        message = {"role": "assistant", "content": None, "refusal": made.refusal}
    elif asked.way == "tool" and made.text.strip():
        call = {"name": body["tools"][0]["function"]["name"], "arguments": made.text}
        message = {"role": "assistant", "content": None}
        message["tool_calls"] = [{"id": f"call_{asked.key}", "type": "function", "function": call}]
    finish = "tool_calls" if "tool_calls" in message and made.finish == "stop" else made.finish
    return {
        "id": f"chatcmpl-{asked.key}",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": body.get("model", ""),
        "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}],
        "usage": {
            "prompt_tokens": entry.prompt_tokens,
            "completion_tokens": entry.completion_tokens,
            "total_tokens": entry.prompt_tokens + entry.completion_tokens,
        },
    }


async def _route(server: Scripted, request: h11.Request, data: bytes) -> tuple[int, dict, dict] | None:
    place = (request.method.decode(), request.target.decode().partition("?")[0])
    headers = {name.decode(): value.decode() for name, value in request.headers}
    match place:
        case ("POST", "/v1/chat/completions"):
            try:
                return await server.chat(json.loads(data), headers.get("authorization", ""))
            except (ValueError, KeyError, TypeError) as wrong:
                return _refusal(400, f"{type(wrong).__name__}: {wrong}", "invalid_request_error")
        case ("GET", "/v1/models"):
            listed = [{"id": server.model or "scripted", "object": "model", "created": 1, "owned_by": "tests"}]
            return 200, {"object": "list", "data": listed}, {}
        case ("GET", "/stats"):
            return 200, server.stats(), {}
        case ("GET", "/count"):
            answered = sum(e.status == 200 for e in server.entries)
            return 200, {"requests": len(server.entries), "answered": answered, "in_process": server.in_process}, {}
        case ("POST", "/rules"):
            server.change(json.loads(data))
            return 200, {}, {}
        case ("POST", "/reset"):
            server.entries, server.bodies = [], Counter()
            return 200, {}, {}
    return _refusal(404, f"Nothing at {place[0]} {place[1]}.", "not_found")


async def _connected(server: Scripted, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """All requests of one connection, one after the other."""
    connection = h11.Connection(h11.SERVER)
    request, data = None, b""
    try:
        while True:
            event = connection.next_event()
            if event is h11.NEED_DATA:
                connection.receive_data(await reader.read(1 << 16))
            elif isinstance(event, h11.Request):
                request, data = event, b""
            elif isinstance(event, h11.Data):
                data += bytes(event.data)
            elif isinstance(event, h11.EndOfMessage):
                answer = await _route(server, request, data)
                if answer is None:
                    return
                writer.write(_rendered(connection, *answer))
                await writer.drain()
                if connection.our_state is not h11.DONE:
                    return
                connection.start_next_cycle()
            else:  # closed, or half a request
                return
    except (ConnectionError, h11.RemoteProtocolError):
        return
    finally:
        writer.close()


def _rendered(connection: h11.Connection, status: int, body: dict, headers: dict[str, str]) -> bytes:
    data = json.dumps(body).encode()
    listed = [("content-type", "application/json"), ("content-length", str(len(data))), *headers.items()]
    response = h11.Response(status_code=status, headers=listed)
    return b"".join(
        part or b""
        for part in (connection.send(response), connection.send(h11.Data(data)), connection.send(h11.EndOfMessage()))
    )


async def serve(server: Scripted, port: int) -> None:
    listening = await asyncio.start_server(lambda r, w: _connected(server, r, w), "127.0.0.1", port, backlog=2048)
    print(listening.sockets[0].getsockname()[1], flush=True)
    async with listening:
        await listening.serve_forever()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds from the request's end to the answer")
    parser.add_argument("--capacity", type=int, default=0, help="requests at once; 0 for no limit")
    parser.add_argument("--key", default="", help="the only key that is accepted")
    parser.add_argument("--model", default="", help="the only model there is")
    parser.add_argument("--window", type=int, default=0, help="tokens of prompt and reply; 0 for no limit")
    parser.add_argument("--rules", type=json.loads, default=[], help="JSON list of faults (faults.Rule)")
    parser.add_argument("--log", default="", help="file for each request and answer, as JSON lines")
    given = vars(parser.parse_args())
    port, rules = given.pop("port"), given.pop("rules")
    asyncio.run(serve(Scripted(**given, rules=[faults.Rule(**rule) for rule in rules]), port))


if __name__ == "__main__":
    main()
