"""What a request to a chat model asks for, as a server can read it: operation, schema, evidence, what else is said.

Belongs here: reading a request body. Not here: any reply (truthful.py), anything of HTTP (scripted.py).
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

_BLOCK = re.compile(r"<paper-text ([0-9a-f]{16})>\n(.*?)\n?</paper-text \1>", re.DOTALL)
_OTHER = re.compile(r"<([a-z-]+) ([0-9a-f]{16})>\n(.*?)\n?</\1 \2>", re.DOTALL)
_FIELD = re.compile(r"^(paper|title|submitted|abstract|note \([^\n:]*|passage \d+[^\n:]*):[ \t]*", re.MULTILINE)
_TASK = re.compile(r"^\s*Task:\s*([a-z_]+)")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9(\"“$])")


@dataclass(frozen=True)
class ShownPaper:
    """A paper of the evidence; `texts` are its abstract and passages in the order shown."""

    paper_id: str
    title: str
    texts: tuple[str, ...]

    def sentences(self) -> list[str]:
        found = [s.strip() for text in self.texts for s in _SENTENCE_END.split(" ".join(text.split()))]
        whole = [s for s in found if len(s.split()) >= 5 and s[-1] in ".!?"]
        return list(dict.fromkeys(whole or [s for s in found if s] or [f"{self.title}."]))


@dataclass(frozen=True)
class Asked:
    """One request.

    Attributes:
        operation: from `Task: …` or the schema's title; "" where neither is there.
        schema: of the reply; None where the reply is text.
        way: how the schema was sent.
        papers: evidence shown, in order; a paper shown in several blocks once.
        outside: what the request says outside all fences; the system's part is not in it.
        others: contents of fences around other things than papers (drafts, outlines, sentences).
        key: hash of the body.
        prompt_tokens: by this server's fixed rule, a token for every four characters of messages and schema.
    """

    operation: str
    schema: Mapping | None
    way: str
    papers: tuple[ShownPaper, ...]
    outside: str
    others: tuple[str, ...]
    everything: str
    key: str
    prompt_tokens: int
    most_tokens: int | None

    @property
    def choice(self) -> int:
        """A number that depends on nothing but what is asked, whatever the fences are."""
        said = [self.operation, self.outside, *self.others, *(p.paper_id for p in self.papers)]
        return int(hashlib.sha256("\n".join(said).encode()).hexdigest()[:8], 16)


def tokens(text: str) -> int:
    return -(-len(text) // 4)


def read_request(body: Mapping) -> Asked:
    """The request in a body of `POST /v1/chat/completions`."""
    texts = [(m["role"], _content(m)) for m in body["messages"]]
    everything = "\n".join(text for _, text in texts)
    schema, way, sent = _schema(body, everything)
    task = next((m[1] for _, text in texts if (m := _TASK.match(text))), "")
    operation = task or str((schema or {}).get("title", ""))
    blocks = _BLOCK.findall(everything)
    said = _BLOCK.sub("", "\n".join(text for role, text in texts if role != "system"))
    return Asked(
        operation=operation,
        schema=schema,
        way=way,
        papers=tuple(_papers(text for _, text in blocks)),
        outside=_OTHER.sub("", said),
        others=tuple(match[2] for match in _OTHER.findall(said)),
        everything=everything,
        key=hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()[:16],
        prompt_tokens=sum(tokens(text) for _, text in texts) + sent,
        most_tokens=body.get("max_completion_tokens") or body.get("max_tokens"),
    )


def _content(message: Mapping) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)


def _schema(body: Mapping, everything: str) -> tuple[Mapping | None, str, int]:
    wanted = body.get("response_format") or {}
    if wanted.get("type") == "json_schema":
        schema = {"title": wanted["json_schema"].get("name", ""), **wanted["json_schema"]["schema"]}
        return schema, "native", tokens(json.dumps(schema))
    for tool in body.get("tools") or ():
        function = tool["function"]
        return {"title": function["name"], **function["parameters"]}, "tool", tokens(json.dumps(function))
    return next(_schemas_in(everything), None), "prompted", 0


def _schemas_in(text: str) -> Iterator[Mapping]:
    """JSON schemas of objects that stand in the text."""
    decoder = json.JSONDecoder()
    if '"properties"' not in text:
        return
    for start in re.finditer(r"\{\s*\"", text):
        try:
            value, _ = decoder.raw_decode(text, start.start())
        except ValueError:
            continue
        if isinstance(value, dict) and "properties" in value:
            yield value
            return


def _papers(blocks: Iterator[str]) -> Iterator[ShownPaper]:
    found: dict[str, tuple[str, list[str]]] = {}
    for block in blocks:
        parts = _FIELD.split(block)
        current = ""
        for name, value in zip(parts[1::2], parts[2::2], strict=True):
            value = value.strip()
            if name == "paper":
                current = value
                found.setdefault(current, ("", []))
            elif current and name == "title":
                found[current] = (value, found[current][1])
            elif current and value and name != "submitted" and not name.startswith("note"):
                found[current][1].append(value)
    for paper_id, (title, texts) in found.items():
        yield ShownPaper(paper_id, title, tuple(texts))
