"""What is known of a table's approximate vector index: how it was made, how it is searched, what it finds.

Building and measuring it is `vector_guard`, searching it `vector_search`.
"""

import json
import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from ingestion.errors import BadInput

_FORMAT = 1
EXACT, APPROXIMATE = "exact", "IVF_RQ"


@dataclass(frozen=True)
class SearchOptions:
    """When search is approximate, and how good it has to be. Times: 384 dimensions, two cores, top 60.

    Attributes:
        min_rows: exact search below it. Exact and approximate took 15 and 9 ms at 10,000 rows, 30 and 12 at 20,000,
            177 and 10 at 50,000 (a busy machine; build 1.3 s at 20,000, 6 s at 254,515).
        exact_rows: exact search where the days admit at most so many rows: 35 ms for 2,500 of 254,515 by the index
            on days, 145 ms for 12,700, where the approximate one takes 20.
        bits: of each dimension in the index. With 1 bit and 2 × k rows compared exactly recall at 60 was .96,
            with 2 bits .995, with 4 .999 at three times the build.
        partition_rows: aimed at. 2,048, 4,096 and 8,192 differed by less than a millisecond.
        refine: times k rows are compared by their true vectors.
        narrow_share: where the days admit less, all partitions are searched: 5 % admitted had recall .97 with 20 of
            62 partitions and .997 with all, 13 and 19 ms.
        many: so, too, where more results are asked for: they lie in more partitions.
        floor, narrow_floor: recall at 60 that must be measured, else more partitions are searched, else the index is
            made again, else search stays exact.
        growth: times the rows it was made of, at which the index is made again.
        drift: share of rows written since the last measurement, at which it is measured again.
        sample: queries to measure with.
    """

    min_rows: int = 20_000
    exact_rows: int = 2_500
    bits: int = 2
    partition_rows: int = 4096
    refine: int = 2
    narrow_share: float = 0.1
    many: int = 256
    floor: float = 0.98
    narrow_floor: float = 0.95
    growth: float = 2.0
    drift: float = 0.1
    sample: int = 64

    def __post_init__(self) -> None:
        if self.bits not in range(1, 9) or min(self.partition_rows, self.refine, self.many, self.sample) < 1:
            raise BadInput("the options of the approximate index are out of range", which=str(self))
        if not (0 <= self.narrow_floor <= self.floor <= 1 and self.growth > 1 and self.drift > 0):
            raise BadInput("the options of the approximate index are out of range", which=str(self))


DEFAULTS = SearchOptions()
LADDER = (10, 20, 40, 80, 160)
"""Numbers of partitions to try; a table with fewer partitions than that is searched in all of them."""
ALL_PARTITIONS = 10_000


@dataclass(frozen=True)
class VectorIndex:
    """The record of an approximate index.

    Attributes:
        kind: `IVF_RQ`, or `exact` where no setting reached the floor.
        made_of: rows when it was made.
        drift: rows written since recall was measured.
        probes: partitions searched; where few rows are admitted, all.
        recall: share of rows admitted ("100%", "28%", "5%") → recall at 60 against exact search.
        version: Lance version when it was made; older ones are searched exactly.
    """

    kind: str
    made_of: int
    drift: int
    probes: int
    recall: dict[str, float]
    version: int

    def after(self, rows_written: int) -> "VectorIndex":
        return replace(self, drift=self.drift + rows_written)


def _path(folder: Path, name: str) -> Path:
    return folder / f"{name}.vectors.json"


def read(folder: Path, name: str) -> VectorIndex | None:
    """The record of the table's index; None where there is none that can be read: then search is exact."""
    try:
        record = json.loads(_path(folder, name).read_text(encoding="utf-8"))
        return VectorIndex(**record) if record.pop("format") == _FORMAT else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def write(folder: Path, name: str, record: VectorIndex) -> None:
    """Replace the record in one step."""
    target = _path(folder, name)
    draft = target.with_suffix(f".{os.getpid()}.tmp")
    draft.write_text(json.dumps({"format": _FORMAT, **asdict(record)}, indent=2, sort_keys=True), encoding="utf-8")
    draft.replace(target)


def remove(folder: Path, name: str) -> None:
    """Before an index is made again, and where there is no use for one: search is exact from here on."""
    _path(folder, name).unlink(missing_ok=True)
