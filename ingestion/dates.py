"""What dates mean: cutoffs, version dates, partial dates, and the day a paper counts as submitted.

Here: pure readings and the rules between them. All days are UTC days, all times aware and in UTC.
Not here: the month inside an id (`ingestion.identity.id_month`), and filtering tables by a cutoff.
"""

import re
from calendar import monthrange
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Literal

from ingestion.errors import BadInput

_AS_ARXIV_WRITES = re.compile(
    r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (\d{1,2}) ([A-Z][a-z]{2}) (\d{4}) (\d\d):(\d\d):(\d\d) GMT", re.ASCII
)
_MONTHS = dict(
    zip(["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"], range(1, 13), strict=True)
)
_CUTOFF_FORMS = "Write a day (2025-05-31), a month (2025-05), a year (2025) or arXiv's YYMM (2505)."


def parse_cutoff(text: str) -> date:
    """Reads a cutoff into an inclusive UTC day: everything up to the end of that day is admitted.

    - "2025-05-31" is that day; "2025-05" the last day of the month; "2025" the 31st of December.
    - Four digits are a year from 1991 to 2099, or arXiv's YYMM ("2505" is 2025-05-31, "9107" is 1991-07-31).
      "2001" to "2012" could be both and are refused.

    Raises:
        BadInput: ambiguous, impossible ("2025-13-01") or in no form above; the message says what to write.
    """
    tidy = text.strip()
    if match := re.fullmatch(r"([0-9]{4})-([0-9]{2})(?:-([0-9]{2}))?", tidy):
        year, month, day = match.groups()
        try:
            return date(int(year), int(month), int(day)) if day else _last_day(int(year), int(month))
        except ValueError:
            raise BadInput("the cutoff does not exist", which=repr(text), advice=_CUTOFF_FORMS) from None
    if re.fullmatch("[0-9]{4}", tidy):
        is_year = 1991 <= int(tidy) <= 2099
        is_month = 1 <= int(tidy[2:]) <= 12
        short_year, month = int(tidy[:2]), int(tidy[2:])
        if is_year and is_month:
            raise BadInput(
                "the cutoff is ambiguous",
                which=repr(text),
                advice=f"Write {tidy}-12-31 for the year or 20{tidy[:2]}-{tidy[2:]} for the month.",
            )
        if is_year:
            return date(int(tidy), 12, 31)
        if is_month:
            return _last_day((1900 if short_year >= 91 else 2000) + short_year, month)
    raise BadInput("the cutoff cannot be read", which=repr(text), advice=_CUTOFF_FORMS)


def parse_version_date(text: str | None) -> datetime | None:
    """Reads the time of a version: RFC 2822 ("Mon, 2 Apr 2007 19:18:42 GMT": OAI, Kaggle) or ISO 8601 (Atom).

    Aware and in UTC; a time without zone is taken as UTC, a bare ISO day as its midnight. None for what is
    neither and for what is coarser than a day, so that a gap stays a gap.
    """
    if not isinstance(text, str) or not (tidy := text.strip()):
        return None
    if (match := _AS_ARXIV_WRITES.fullmatch(tidy)) and (month := _MONTHS.get(match[2])):
        day, _, year, hour, minute, second = match.groups()
        try:  # ten times faster than the parser for every form of RFC 2822, which a snapshot calls millions of times
            return datetime(int(year), month, int(day), int(hour), int(minute), int(second), tzinfo=UTC)
        except ValueError:
            return None
    try:
        read = datetime.fromisoformat(tidy) if tidy[:4].isdigit() else parsedate_to_datetime(tidy)
        return read.replace(tzinfo=UTC) if read.tzinfo is None else read.astimezone(UTC)
    except (ValueError, OverflowError, TypeError, IndexError):
        return None


def first_version_date(versions: Iterable[Mapping[str, Any]] | None) -> date | None:
    """UTC day of version 1; None unless version 1 itself is listed with a date: a later one is no stand-in.

    Args:
        versions: rows with `version` ("v1", "1" or 1) and `created` (a form of `parse_version_date`).
    """
    for row in versions or ():
        if str(row.get("version") or "").strip().lower().removeprefix("v") == "1":
            created = row.get("created")
            read = created if isinstance(created, datetime) else parse_version_date(created)
            if read is not None:
                return (read if read.tzinfo is None else read.astimezone(UTC)).date()
    return None


@dataclass(frozen=True, slots=True)
class Submission:
    """When a paper was submitted, as surely as it is known.

    submitted_on: day of the first version, None unless known.
    submitted_latest: latest day it can have been; what a cutoff is compared with.
    precision: what `submitted_latest` rests on: the day itself, the announcement, or the month in the id.
    """

    submitted_on: date | None
    submitted_latest: date
    precision: Literal["day", "announced", "month"]


def submission(*, first_version: date | None, announced: date | None, id_month: date) -> Submission:
    """Applies the rule: the first version's day; else the earlier of announcement and month's end.

    Listings announce replacements again, so an announcement may be years late: the month in the id bounds it.
    A known first version is never bounded, it can lie in the month before its id's.

    Args:
        first_version: UTC day of version 1.
        announced: day of the listing, or of publication.
        id_month: any day of the month in the id.
    """
    if first_version is not None:
        return Submission(first_version, first_version, "day")
    month_end = _last_day(id_month.year, id_month.month)
    if announced is not None and announced <= month_end:
        return Submission(None, announced, "announced")
    return Submission(None, month_end, "month")


@dataclass(frozen=True, slots=True)
class PartialDate:
    """A date as finely as its source gave it: month and day are None where unknown, never 1 by default."""

    year: int
    month: int | None = None
    day: int | None = None

    @property
    def precision(self) -> Literal["year", "month", "day"]:
        return "year" if self.month is None else "month" if self.day is None else "day"

    @property
    def earliest_day(self) -> date:
        return date(self.year, self.month or 1, self.day or 1)

    @property
    def latest_day(self) -> date:
        month = self.month or 12
        return date(self.year, month, self.day) if self.day else _last_day(self.year, month)

    def admitted_by(self, cutoff: date) -> bool:
        """Whether it lies surely within the inclusive cutoff: its latest possible day does.

        "2018-01" is not admitted by 2018-01-15: undecided counts as later.
        """
        return self.latest_day <= cutoff

    def agrees_with(self, other: "PartialDate") -> bool:
        """Whether one is the other, only coarser."""
        pairs = zip((self.year, self.month, self.day), (other.year, other.month, other.day), strict=True)
        return all(mine == theirs or mine is None or theirs is None for mine, theirs in pairs)

    def __str__(self) -> str:
        """ISO 8601 with reduced precision: "2018", "2018-01", "2018-01-24"."""
        parts = [f"{self.year:04}"] + [f"{part:02}" for part in (self.month, self.day) if part is not None]
        return "-".join(parts)


def finest_date(parts: Iterable[Sequence[int | None] | None]) -> PartialDate | None:
    """Chooses among the dates that sources give for one event; None if there is none.

    The finest date wins among those that agree with the most of the others; between equals the later one,
    lest a cutoff admit a paper too early. The order of the parts does not matter; impossible ones are
    passed over.

    Args:
        parts: Crossref's `date-parts`: [year], [year, month], [year, month, day]; None, [], [None] are gaps.
    """
    dates = [read for part in parts if (read := _partial_date(part)) is not None]
    if not dates:
        return None
    return max(
        dates,
        key=lambda one: (
            sum(one.agrees_with(other) for other in dates),
            ("year", "month", "day").index(one.precision),
            one.latest_day,
        ),
    )


def _partial_date(part: Sequence[int | None] | None) -> PartialDate | None:
    known: list[int] = []
    for value in part or ():
        if not isinstance(value, int) or isinstance(value, bool):
            break
        known.append(value)
    if not known or len(known) > 3:
        return None
    try:
        read = PartialDate(*known)
        date(read.year, 1 if read.month is None else read.month, 1 if read.day is None else read.day)
    except ValueError:
        return None
    return read


def _last_day(year: int, month: int) -> date:
    first = date(year, month, 1)
    return first.replace(day=monthrange(first.year, first.month)[1])
