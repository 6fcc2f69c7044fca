"""Filters in LanceDB's SQL dialect, all built by one quoting function.

No other module writes a literal into a predicate. Which papers to leave out is decided above.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import date, datetime

from ingestion.errors import BadInput


def quoted(value: str) -> str:
    """The value as a string literal.

    In this dialect only the apostrophe is special inside apostrophes (doubled); double quotes and
    backslashes stand for themselves. That is tested against LanceDB by a property test.

    Raises:
        BadInput: a lone surrogate, which no UTF-8 text can hold.
    """
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise BadInput("the text is not valid Unicode", which=ascii(value)) from error
    return "'" + value.replace("'", "''") + "'"


def one_of(column: str, values: Iterable[str]) -> str:
    """``column IN (…)``, with values in order and without repeats; never true for no values."""
    literals = [quoted(value) for value in sorted(set(values))]
    return f"{column} IN ({', '.join(literals)})" if literals else "false"


def admitted(
    cutoff: date,
    *,
    excluded: Collection[str] = (),
    within: Collection[str] | None = None,
    with_withdrawn: bool = False,
) -> str:
    """The predicate over a table with paper_id, submitted_latest and is_withdrawn.

    Args:
        cutoff: last admitted day, inclusive, UTC.
        excluded: paper ids to leave out, also where `within` names them.
        within: only these paper ids; None for all.
        with_withdrawn: keep withdrawn papers.

    Raises:
        BadInput: the cutoff is no plain day (a time of day would need a time zone).
    """
    if not isinstance(cutoff, date) or isinstance(cutoff, datetime):
        raise BadInput("the cutoff is not a day", which=repr(cutoff), advice="Give a date such as 2024-03-31.")
    for name, ids in (("excluded", excluded), ("within", within)):
        if isinstance(ids, str):  # a str is a collection of str: its letters would be taken for ids
            raise BadInput(f"`{name}` must be several paper ids, not one string", which=ids, advice=f"Give [{ids!r}].")
    parts = [f"submitted_latest <= DATE '{cutoff.isoformat()}'"]
    if not with_withdrawn:
        parts.append("is_withdrawn = false")
    if within is not None:
        parts.append(one_of("paper_id", set(within).difference(excluded)))
    elif excluded:
        parts.append(f"NOT ({one_of('paper_id', excluded)})")
    return " AND ".join(parts)


@dataclass(frozen=True)
class Admission:
    """What a search may see; see `admitted`, which also says what is refused."""

    cutoff: date
    excluded: Collection[str] = ()
    within: Collection[str] | None = None
    with_withdrawn: bool = False
    where: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        where = admitted(self.cutoff, excluded=self.excluded, within=self.within, with_withdrawn=self.with_withdrawn)
        object.__setattr__(self, "where", where)
