"""What a writer has to tell of its items, in an order that does not depend on when replies came.

Not here: what is told (`writer`, `grounding_rounds`), and where it is printed.
"""

import re
from collections import Counter
from dataclasses import dataclass, field

from generation.values import Failure


@dataclass
class Told:
    """Notes by item and operation: 2.9 before 2.10, whichever was written first.

    Attributes:
        taken_out: item → citations that went with a whole sentence, row or cell, since no paper bears it.
    """

    taken_out: Counter[str] = field(default_factory=Counter)
    _notes: list[tuple[str, str, Failure]] = field(default_factory=list)

    def add(self, item: str, operation: str, failure: Failure) -> None:
        """Tell of an item, as "2.10 Passages"."""
        self._notes.append((item, operation, failure))

    def in_order(self) -> list[Failure]:
        """All of it, by item, operation and words."""
        return [failure for *_, failure in sorted(self._notes, key=_place)]


def _place(told: tuple[str, str, Failure]) -> tuple:
    item, operation, failure = told
    return natural(item), operation, natural(failure.item), failure.reason


def natural(text: str) -> tuple[str | int, ...]:
    """A key that sorts numbers in a text by their value."""
    return tuple(int(part) if i % 2 else part for i, part in enumerate(re.split(r"(\d+)", text)))
