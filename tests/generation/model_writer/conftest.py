"""A gateway that answers from a script, and evidence to write from."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date

import pytest

from generation.cards import CardPassage
from generation.language_models.calls import Answer, Call, ModelSettings
from generation.model_writer.writer import ModelWriter
from generation.values import SectionDraft, Sentence
from generation.writing import DraftRequest, Evidence, EvidencePassage
from tests.generation.conftest import WordEmbedder

Scripted = str | dict | Exception | Callable[[Call], object]


@dataclass
class ScriptedGateway:
    """Answers in the order of its script; the last entry again and again."""

    settings: ModelSettings
    script: list[Scripted] = field(default_factory=list)
    history: list[Call] = field(default_factory=list)

    def count(self, messages, schema=None) -> int:
        text = "".join(m.text for m in messages) + (json.dumps(schema) if schema else "")
        return 8 * len(messages) + len(text) // 4

    async def ask(self, call: Call) -> Answer:
        self.history.append(call)
        assert self.count(call.messages, call.schema) + call.most_tokens <= self.settings.window
        said = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        if callable(said):
            said = said(call)
        if isinstance(said, Exception):
            raise said
        text = said if isinstance(said, str) else json.dumps(said)
        return Answer(f"key{len(self.history)}", text, False, 10, 10, None)


@pytest.fixture
def gateway():
    """`gateway(reply, reply, …, window=…, output=…)`"""

    def make(*script: Scripted, window: int = 32_000, output: str = "native") -> ScriptedGateway:
        return ScriptedGateway(ModelSettings("test:scripted", window, output), list(script))

    return make


TEXTS = {
    "2301.00001": ("Heron: Reading Twice", "Heron reads each passage twice before it answers. On TideQA it reaches 61.2 exact match, 4.1 points above the single-pass baseline. It needs two forward passes for every question."),
    "2301.00002": ("Curlew: Short Indexes", "Curlew stores one vector for eight sentences and so shrinks the index by 87%. Recall at twenty falls by 1.5 points on ShoreQA. Building the index takes nine hours on one machine."),
    "2301.00003": ("Dunlin: Asking Again", "Dunlin asks a second question when the first passage is poor. Its answers are right in 58.0% of the cases on TideQA. It remains unclear when asking again should stop."),
    "2301.00004": ("Knots of Evidence", "We join passages that name the same person into knots. Knots raise accuracy on ShoreQA from 40.3 to 47.9. The method fails for names with several bearers."),
}  # fmt: skip


@pytest.fixture
def evidence(make_paper):
    """Four papers; `evidence(2)` the first two of them."""

    def make(count: int = 4, **fields) -> tuple[Evidence, ...]:
        papers = [
            make_paper(
                p, title=title, abstract=abstract, submitted_on=date(2023, 1, 5), submitted_latest=date(2023, 1, 5)
            )
            for p, (title, abstract) in TEXTS.items()
        ]
        return tuple(Evidence(p, None, True, 0.9 - i / 10, **fields) for i, p in enumerate(papers[:count]))

    return make


@pytest.fixture
def passage():
    def make(text: str, position: int = 3, path: tuple[str, ...] = ("Method",)) -> EvidencePassage:
        return EvidencePassage(CardPassage(f"p{position}", path, "2", 4, text, position), "method")

    return make


OUTLINE = (
    ("1", "Introduction", "introduction"),
    ("2", "Reading", "body"),
    ("2.1", "Passages", "body"),
    ("2.2", "Indexes", "body"),
    ("3", "Conclusion", "conclusion"),
)


@pytest.fixture
def draft_request(evidence):
    def make(number: str = "2.1", title: str = "Passages", role: str = "body", shown=None, **fields) -> DraftRequest:
        shown = evidence() if shown is None else shown
        return DraftRequest(
            "Reading Passages", number, title, "How often they are read", role, shown, outline=OUTLINE, **fields
        )

    return make


@pytest.fixture
def writer(gateway):
    def make(*script, verdicts: bool = False, **more) -> ModelWriter:
        made = ModelWriter(gateway(*script, **more), WordEmbedder().embed, verdicts=verdicts)
        made.history = made._gateway.history
        return made

    return make


@pytest.fixture
def written():
    """A draft of written sentences: (text, ids), … in one paragraph."""

    def make(*sentences: tuple[str, tuple[str, ...]]) -> SectionDraft:
        said = tuple(Sentence("written", text, ids, calls=("first",)) for text, ids in sentences)
        return SectionDraft("2.1", "Passages", (said,))

    return make


def drafted(*sentences: tuple[str, list[str]]) -> dict:
    """A structured reply of one paragraph."""
    return {"paragraphs": [{"sentences": [{"text": text, "papers": papers} for text, papers in sentences]}]}


def headings(count: int, key: str = "sections", **fields) -> dict:
    """A structured reply of headings."""
    names = ["Reading Order", "Index Size", "Asking Again", "Joined Evidence", "Measured Accuracy", "Cost of Reading"]
    return {
        key: [
            {"title": names[i], "description": f"What is done about {names[i].lower()}.", "queries": [f"{names[i]} {w}" for w in ("one", "two", "three")], **fields}
            for i in range(count)
        ]
    }  # fmt: skip


def ids_in(text: str) -> list[str]:
    """Ids of the papers that a prompt shows."""
    return re.findall(r"^paper: (\S+)$", text, re.MULTILINE)
