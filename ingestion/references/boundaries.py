"""Where an entry without label begins and ends.

Here: the signs by which a piece of a reference list opens, ends or goes on with an entry. Not here: labels (`labels`).
"""

import re
from bisect import bisect_left

from ingestion.references.letters import LOWER, UPPER
from ingestion.references.names import read_authors

_YEAR = re.compile(r"(?<![\d./])(?:1[89]|20)\d\d[a-z]?(?![\d/])")
_FURNITURE = re.compile(
    r"^\W*(?:\d{1,4}|[ivxlc]+|page \d+(?: of \d+)?|preprint\.?(?: under review\.?)?|under review[^.]{0,60}\.?|published as [^.]{0,80}"
    r"|arxiv:\S+(?: \[[\w.-]+\])?(?: \d+ \w+ \d{4})?)\W*$",
    re.I,
)
_GOES_ON = re.compile(
    rf"^(?:[{LOWER}\d(&,;:.\])–/]|https?://|In(?::|\s+the\b|\s+[{UPPER}\d])|arXiv|CoRR|URL\b|doi\b|DOI\b"
    r"|Proceedings\b|Advances in|Association for|Journal of|Transactions\b|IEEE\b|ACM\b|Springer|Elsevier|Curran|PMLR|Available\b|ISBN\b|ISSN\b"
    r"|Volume\b|Vol\.|Pages?\b|Pp?\.|Technical [Rr]eport|PhD|Accessed|Online\b|\[Online\]|Cited on|Conference\b|Workshop\b)"
)
_PARTICLE_START = re.compile(r"^(?:van|von|de|del|della|di|da|du|le|la|el|ten|ter|den|der|al-|d['’])\s*\S+")
_SHORT_REST = 25  # characters: a name that its other half, on the next page, would complete
_BREAKS_OFF = re.compile(
    r"(?:,|\b(?:and|&|van|von|der|den|de|del|la|le|di|da|du|[A-Z]\.|of|the|for|in|with|on|to))\s*\Z"
)
# Where another entry may open: after a stop, an address or glued to it.
_OPENING = re.compile(
    rf"(?:(?<=[.\])>/”\"\d])\s+|(?<=[.\])])|(?<=\S{{20}})\s+)(?=[{UPPER}]|(?:van|von|de|di|du|le|la) )"
)
_DATED = re.compile(r"\s*[.,]?\s*\(?(?:1[89]|20)\d\d[a-z]?\)?\s*[.,:)]")
_DATED_GROUP = re.compile(r"[^\W\d][\w+&-]{2,29}\.\s(?:1[89]|20)\d\d[a-z]?\.\s")  # "pdfplumber. 2023. …"
_LONGEST_LINE = 200  # characters of a running head
_TAIL = 300  # characters at the end of a text that tell how it ends
_LEAST_ENTRY = 30  # characters
_AHEAD = 2000  # characters that are read to see whether an entry opens
_SURELY_MORE = 1500  # characters, to read no long author list twice
_LOOKS_DONE = re.compile(r"(?:[.\])>/]|\d|https?://\S+)\s*\Z")


def is_furniture(text: str) -> bool:
    """A page number, a running head, a stamp."""
    line = text.strip()
    return len(line) <= _LONGEST_LINE and bool(_FURNITURE.match(line))


def begins_entry(text: str) -> bool:
    """Opens with an author list, a dash for the authors before, or a group's name and a year."""
    if re.match(r"[—–_-]{2,}|—", text) or _DATED_GROUP.match(text):
        return True
    authors = read_authors(text)
    if not authors.names:
        return False
    if len(authors.names) > 1 or authors.has_more:
        return True
    after = text[authors.end :]
    return bool(re.match(r"\s*[.,:(“\"]|\s+(?:1[89]|20)\d\d|\s+[{UPPER}]", after)) or "." in authors.names[0].printed


def continues_entry(text: str) -> bool:
    """Can only go on with the entry before: a venue, pages, an address, a word in lower case."""
    if _PARTICLE_START.match(text) and begins_entry(text):
        return False
    return bool(_GOES_ON.match(text)) and not begins_entry(text)


def is_complete(text: str) -> bool:
    """Has a year, says more than who and when, and ends as entries end."""
    if not (_looks_done(text) and _YEAR.search(text)):
        return False
    if len(text) > _SURELY_MORE:
        return True
    body = text[read_authors(text).end :]
    return sum(c.isalpha() for c in _DATED.sub("", body, count=1)) >= 6


def _looks_done(text: str) -> bool:
    return bool(_LOOKS_DONE.search(text, max(0, len(text) - _TAIL)))


def is_open(text: str) -> bool:
    """Breaks off within its author list or title: no year yet, and a comma, a particle or a name at its end."""
    if _looks_done(text) or _YEAR.search(text):
        return False
    return bool(_BREAKS_OFF.search(text, max(0, len(text) - _TAIL))) or read_authors(text).end > len(text) - _SHORT_REST


def unlabelled_starts(text: str) -> list[int]:
    """Positions at which entries open in a paragraph of a list without labels; the first is 0.

    A second entry needs an author list of its own with a year, after something that is complete.
    """
    starts = [0]
    years = [year.start() for year in _YEAR.finditer(text)]
    for opening in _OPENING.finditer(text):
        position = opening.end()
        later = bisect_left(years, position)
        if later == len(years):
            break
        before = text[starts[-1] : position].rstrip()
        has_year = later > 0 and years[later - 1] >= starts[-1]
        if len(before) < _LEAST_ENTRY or not has_year or not is_complete(before):
            continue
        if _opens_inside(text[starts[-1] : starts[-1] + _AHEAD], text[position : position + _AHEAD]):
            starts.append(position)
    return starts


def _opens_inside(whole: str, after: str) -> bool:
    authors = read_authors(after)
    if not authors.names:
        return False
    is_dated_list = bool(_DATED.match(whole[read_authors(whole).end :]))
    follows = after[authors.end :]
    if is_dated_list:
        return bool(_DATED.match(follows))
    # Venues and publishers read like one name ("Cambridge University Press. 2019"): several names, or initials.
    is_firm = len(authors.names) > 1 or authors.has_more or bool(re.match(rf"[{UPPER}]\.", authors.names[0].printed))
    return is_firm and bool(re.match(rf"\s*[.,:]\s*[{UPPER}“\"‘\d(]|\s*\((?:1[89]|20)\d\d|\s+[{UPPER}]", follows))
