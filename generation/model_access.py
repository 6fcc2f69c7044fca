"""Writers by name, and how those that ask a model may do so: what a run may spend, replay, window.

Belongs here: opening a writer for a stage, and closing what it holds. Not here: asking (`language_models`), writing
(`model_writer`, `extractive`).
"""

import asyncio
import json
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np

from corpus.tables import Lake
from generation.extractive.writer import ExtractiveWriter
from generation.language_models.budgets import Budget
from generation.language_models.calls import ModelSettings, Purpose, Spent
from generation.language_models.gateway import Gateway
from generation.language_models.ledger import Ledger
from generation.language_models.names import is_model_name, model_settings
from generation.model_writer.writer import ModelWriter
from generation.writing import Writer
from ingestion.errors import BadInput

EXTRACTIVE = "extractive"
Made = TypeVar("Made")


@dataclass(frozen=True)
class ModelAccess:
    """How models may be asked, shared by the stages of one run.

    Attributes:
        budget: what the run may spend, and has spent.
        replay: answers come from the ledger only.
        window: tokens of the model's window; None for what is known of the model.
        concurrency: calls at once; None for the environment's, or the default.
        verdicts: a model judges each written sentence beside the rules.
    """

    budget: Budget = field(default_factory=Budget)
    replay: bool = False
    window: int | None = None
    concurrency: int | None = None
    verdicts: bool = False


@dataclass
class OpenWriter:
    """A writer at work; `gateway` is None where it asks no model."""

    writer: Writer
    gateway: Gateway | None = None
    ledger: Ledger | None = None

    def run(self, work: Coroutine[None, None, Made]) -> Made:
        """Run a stage's coroutine to its end; clients live no longer than its event loop."""

        async def closing() -> Made:
            try:
                return await work
            finally:
                # What still asks when the work has failed must ask no more.
                others = asyncio.all_tasks() - {asyncio.current_task()}
                for task in others:
                    task.cancel()
                await asyncio.gather(*others, return_exceptions=True)
                if self.gateway:
                    await self.gateway.aclose()

        return asyncio.run(closing())

    def works_for(self, edition: str) -> None:
        """Calls from now on are made for this edition."""
        if self.gateway:
            self.gateway.purpose = replace(self.gateway.purpose, edition=edition)

    def flush(self) -> None:
        """Put what was asked so far into the ledger's table."""
        if self.ledger:
            self.ledger.flush()

    def spent(self, topic: str, edition: str) -> Spent:
        """What the edition took in all its runs; nothing where no model is asked."""
        return self.ledger.spent(topic=topic, edition=edition) if self.ledger else Spent()


def check_writer(name: str) -> None:
    """Refuse a name that is no writer.

    Raises:
        BadInput, NoSuchModel: with those there are.
    """
    if name == EXTRACTIVE:
        return
    if not is_model_name(name):
        raise BadInput(
            "there is no writer", which=name,
            advice="Writers: extractive, or a model as PROVIDER:NAME, such as openai:gpt-5-mini or ollama:qwen3.",
        )  # fmt: skip
    model_settings(name)


class _Unasked:
    """Stands for a gateway where only the writer's identity is asked for."""

    def __init__(self, settings: ModelSettings) -> None:
        self.settings = settings


def named_writer(name: str, embed: Callable[[Sequence[str]], np.ndarray], access: ModelAccess) -> Writer:
    """A writer by name; one that asks a model is good for its identity only, and reaches nothing.

    Raises:
        BadInput, NoSuchModel: there is none.
    """
    check_writer(name)
    if name == EXTRACTIVE:
        return ExtractiveWriter(embed)
    settings = model_settings(name, window=access.window, concurrency=access.concurrency)
    return ModelWriter(_Unasked(settings), embed, verdicts=access.verdicts)


def access_of(row: Mapping) -> ModelAccess:
    """How the model of a row of `surveys` was asked, as far as that decided the text."""
    writer = json.loads(row["parameters"])["writer"]
    return ModelAccess(window=writer.get("window"), verdicts=writer.get("verdicts", False))


@contextmanager
def open_writer(
    name: str,
    lake: Lake,
    embed: Callable[[Sequence[str]], np.ndarray],
    access: ModelAccess,
    purpose: Purpose,
    *,
    on_answer: Callable | None = None,
) -> Iterator[OpenWriter]:
    """A writer by name; what it paid for is in the ledger's table when it is closed.

    Args:
        embed: texts → unit vectors (n, d).
        on_answer: called with each answer and its call.

    Raises:
        BadInput, NoSuchModel: there is none.
    """
    check_writer(name)
    if name == EXTRACTIVE:
        yield OpenWriter(ExtractiveWriter(embed))
        return
    settings = model_settings(name, window=access.window, concurrency=access.concurrency)
    with Ledger.open(lake) as ledger:
        gateway = Gateway(
            settings, ledger, budget=access.budget, purpose=purpose, replay=access.replay, progress=on_answer
        )
        yield OpenWriter(ModelWriter(gateway, embed, verdicts=access.verdicts), gateway, ledger)
