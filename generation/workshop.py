"""What the stages work with: the lake and its index as of now, and the part of it that a topic sees."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

import numpy as np

from corpus.snapshots import last_complete_cutoff, take_snapshot
from corpus.tables import Lake
from corpus.visibility import View
from generation.language_models.budgets import Budget
from generation.language_models.calls import Answer, Call
from generation.model_access import ModelAccess
from generation.topics import Topic
from indexes.paper_index import PaperIndex
from ingestion.errors import NotFound


class CallProgress:
    """Progress of a stage that asks a model: calls done of those planned; tokens and cost of the run so far.

    Attributes:
        planned: calls that the stage will make, without repairs.
    """

    def __init__(self, what: str, progress: Callable[..., None], budget: Budget) -> None:
        self.planned = 0
        self._what, self._progress, self._budget = what, progress, budget
        self._done = 0
        self._is_priced = True

    def __call__(self, answer: Answer, call: Call) -> None:
        self._done += 1
        self._is_priced = self._is_priced and answer.cost is not None
        cost = f"${self._budget.cost:.4f}" if self._is_priced else "cost unknown"
        detail = f"{call.operation}, {self._budget.tokens:,} tokens paid, {cost}"
        self._progress(self._what, self._done, max(self._done, self.planned), detail)


@dataclass
class Workshop:
    """What the stages work with: one lake, its index, and the sentences embedded so far.

    Attributes:
        progress: called with what is being done, items done, and items to do.
        access: how models may be asked.
    """

    home: Path
    progress: Callable[[str, int, int], None] | None = None
    access: ModelAccess = field(default_factory=ModelAccess)
    _embedded: dict[str, np.ndarray] = field(default_factory=dict)
    _index: PaperIndex | None = None
    _turn: threading.Lock = field(default_factory=threading.Lock)

    @property
    def lake(self) -> Lake:
        return Lake(self.home)

    @property
    def index(self) -> PaperIndex:
        """The index, checked against the corpus as it is now.

        Raises:
            NotFound, PermanentFailure: it is absent or was built from another corpus.
        """
        if self._index is None:
            index = PaperIndex.open(self.home / "index")
            index.require(take_snapshot(self.lake).content_hash)
            self._index = index
        return self._index

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Unit vectors of texts, each embedded once; may be called by several threads."""
        with self._turn:
            if new := [t for t in dict.fromkeys(texts) if t not in self._embedded]:
                self._embedded.update(zip(new, self.index.embedder.embed(new), strict=True))
        return np.stack([self._embedded[t] for t in texts])

    def tell(self, what: str) -> Callable[[int, int], None] | None:
        return (lambda done, total: self.progress(what, done, total)) if self.progress else None

    def tell_calls(self, asset: str, writer: str) -> CallProgress | None:
        """Tells of each answer of a model; None where nobody listens."""
        return CallProgress(f"{asset}: asking {writer}", self.progress, self.access.budget) if self.progress else None


def cutoff_of(lake: Lake, topic: Topic) -> date:
    """The day a topic is seen from: its own, or that of the last complete refresh.

    Raises:
        NotFound: the topic follows the corpus, which was never refreshed completely.
    """
    day = topic.cutoff or last_complete_cutoff(lake)
    if day is None:
        raise NotFound(
            "the corpus was never refreshed completely",
            advice="Run `lithouse refresh --source SOURCE --cutoff DAY`, or give the topic a --cutoff.",
        )
    return day


def view_of(lake: Lake, topic: Topic) -> View:
    """What the topic may see, at the table versions of this moment."""
    versions = tuple(sorted(lake.versions().items()))
    return View(lake, cutoff_of(lake, topic), topic.exclusions, topic.has_withdrawn, versions)
