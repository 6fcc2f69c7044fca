"""What a benchmark says: a figure beside its peer or limit from the same run, and the table of them.

Belongs here: the row, the ratio, the printing. Not here: measuring anything.
"""

import json
import os
import resource
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from statistics import median

COLLECTED = "LITHOUSE_FIGURES"
"""Environment variable: file to which figures are added as JSON lines."""
_HEADER = ("what", "figure", "beside", "ratio", "asked", "")


@dataclass(frozen=True)
class Figure:
    """One measured value.

    Attributes:
        what: what was measured, with its size.
        value: in `unit`.
        unit: "s", "ms", "MB", "rows/s", "" for a share.
        beside: the peer or limit it is compared with, "" for none.
        against: the peer's value in the same unit, measured in the same run; None for none.
        at_most, at_least: what the ratio value / against is asked to be (or the value, where there is no peer).
    """

    what: str
    value: float
    unit: str = "s"
    beside: str = ""
    against: float | None = None
    at_most: float | None = None
    at_least: float | None = None

    @property
    def ratio(self) -> float | None:
        """value / against; None where there is no peer."""
        return None if self.against is None else self.value / self.against

    @property
    def is_met(self) -> bool | None:
        """Whether the figure is as asked; None where nothing is asked."""
        if self.at_most is None and self.at_least is None:
            return None
        judged = self.value if self.ratio is None else self.ratio
        return (self.at_most is None or judged <= self.at_most) and (self.at_least is None or judged >= self.at_least)

    def cells(self) -> tuple[str, ...]:
        """The figure as a row of text, in the order of the table's header."""
        asked = " ".join(
            f"{sign} {limit:g}" for sign, limit in (("≤", self.at_most), ("≥", self.at_least)) if limit is not None
        )
        peer = "" if self.against is None else f"{_number(self.against)} {self.unit} {self.beside}".replace("  ", " ")
        verdict = {None: "", True: "met", False: "MISSED"}[self.is_met]
        ratio = "" if self.ratio is None else f"{self.ratio:.2f}"
        return self.what, f"{_number(self.value)} {self.unit}".strip(), peer or self.beside, ratio, asked, verdict


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def print_table(figures: Iterable[Figure], title: str = "") -> None:
    """Print the figures as a table on standard output; also keep them where `python -m benchmarks` collects them."""
    figures = list(figures)
    if collected := os.environ.get(COLLECTED):
        with open(collected, "a", encoding="utf-8") as file:
            file.writelines(json.dumps(asdict(figure)) + "\n" for figure in figures)
    rows = [_HEADER, *(figure.cells() for figure in figures)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(_HEADER))]
    if title:
        print(f"\n{title}")
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    sys.stdout.flush()


def p50_ms(call: Callable[[], object], repeats: int = 15, warm_up: int = 2) -> float:
    """Median wall time of a call in milliseconds, after warming up."""
    for _ in range(warm_up):
        call()
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        call()
        times.append(time.perf_counter() - started)
    return 1000 * median(times)


@contextmanager
def stopwatch() -> Iterator[Callable[[], float]]:
    """Seconds since the block was entered; after it, the seconds it took."""
    started = time.perf_counter()
    ended: list[float] = []
    yield lambda: (ended[0] if ended else time.perf_counter()) - started
    ended.append(time.perf_counter())


def peak_mb() -> float:
    """Peak resident memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
