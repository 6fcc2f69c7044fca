"""The authors at the beginning of a bibliography entry, in whatever order names and initials are printed.

Here: where the list ends, the names and their surnames. Not here: author fields of metadata (`ingestion.authors`).
"""

import re
from dataclasses import dataclass

from ingestion.references.letters import LOWER, UPPER

_PARTICLES = (
    "van der|van den|van de|von der|de la|de los|de las|dos|del|della|van|von|der|den|de|di|da|du|la|le|el|al|bin|ibn"
    "|ben|ten|ter|zu|zur|af|av|st\\.|d'"
)
_PARTICLE = re.compile(rf"(?:(?:{_PARTICLES})(?:\s+|(?<=')))+", re.I)
# It ends where its letters end, and is of bounded length: else a long run of capitals had too many divisions.
_WORD = (
    rf"(?:[{LOWER}]{{1,3}}['’-])?[{UPPER}](?:[{UPPER}{LOWER}'’`´*\-\u2010\u2011]{{0,40}}[{UPPER}{LOWER}])?"
    rf"(?!['’`´*\-\u2010\u2011]?[{UPPER}{LOWER}]{{2}}|[{UPPER}{LOWER}])[*†‡]?"
)
_LONG = rf"(?![{UPPER}](?![{UPPER}{LOWER}'’\-\u2010\u2011])){_WORD}"  # no lone initial
# Atomic: "van der" is not tried as "van" and "der" again.
_SURNAME = rf"(?>(?:{_PARTICLES})\s+|d['’]){{0,4}}{_WORD}(?:[ ]{_WORD}){{0,2}}"
_INITIAL = rf"[{UPPER}][{LOWER}]?\."
# Atomic: what it took it keeps, else lists of initials could be divided in thousands of ways.
# Only the first may have two letters ("Yu."): "V. Li." ends in a surname.
_INITIALS = rf"(?>{_INITIAL}(?:(?:\s?[-\u2010\u2011]\s?|\s)?(?:[{UPPER}{LOWER}]\.|[{UPPER}](?![{UPPER}{LOWER}])))*)"
_BARE = rf"[{UPPER}](?:[-\s]?[{UPPER}]){{0,2}}(?![{UPPER}{LOWER}.])"
_SUFFIX = r"(?:,?\s+(?:Jr\.?|Sr\.?|II|III|IV)(?=[\s,.;&]|$))?"
_TOKEN = rf"(?:{_INITIALS}|{_WORD}|(?:{_PARTICLES})|d['’]|\({_WORD}\)|[“\"]{_WORD}[”\"])"
_SEPARATOR = re.compile(
    r"\s*(?:,\s*:\s*,\s*|[;,]\s*(?:(?:and|und|et|&)(?:\s+|(?=[A-Z]))|)|\s(?:and|und|&)\s+|\s*(?:\.\.\.|…)\s*)\s*"
)
_ET_AL = re.compile(r"[,;]?\s*(?:(?:and|&)\s+)?(?:et\s+al\b\.?|others\b\.?|\.\.\.$)", re.I)

# "A. N. Vaswani", "Ashish Vaswani": a name whose last word is the surname.
_AFTER_NAME = r"(?=\s*(?:[,;:.(\"“]|\sand\s|\s&\s|\set\s+al|$|\s(?:19|20)\d\d))"
_DIRECT = re.compile(rf"(?:{_TOKEN}[\s-]{{0,2}}){{1,5}}?{_LONG}{_SUFFIX}{_AFTER_NAME}")
_SINGLE = re.compile(rf"{_LONG}{_AFTER_NAME}")
_INVERTED = re.compile(
    rf"(?P<surname>{_SURNAME}){_SUFFIX}\s*,\s*(?P<given>(?:{_WORD}\s+)?{_INITIALS}|{_BARE}){_SUFFIX}(?![{LOWER}])"
)
# "Liu, Yinhan": whole given names after the comma, told from "First Last, First Last" by its single words.
_INVERTED_WHOLE = re.compile(
    rf"(?P<surname>(?>(?:{_PARTICLES})\s+){{0,4}}{_WORD}),\s*(?P<given>{_WORD}(?:[\s-]+(?:{_INITIALS}|{_WORD}|{_BARE})){{0,2}}){_SUFFIX}"
    r"(?=\s*(?:[,;:.(]|\sand\s|\s&\s|$))"
)
_TRAILING = re.compile(
    rf"(?P<surname>{_SURNAME})\s+(?P<given>{_INITIALS}|{_BARE}){_SUFFIX}(?=\s*(?:[,;:.(&“\"]|\sand\s|$|\set\s|\s(?:19|20)\d\d)|\s[{UPPER}][{LOWER}])"
)
_LONE_LETTERS = re.compile(rf"(?:{_WORD}\s){{1,2}}(?:{_INITIALS}\s)?[{UPPER}](?:\s[{UPPER}])?(?=\s*,)")  # "Xing W"
_ODD_PIECE = re.compile(r"[^\W\d](?:[^\W\d]|[ .'’-]){1,40}?(?=,\s)")
_GROUP = re.compile(
    rf"(?:(?:[Tt]he|for the|on behalf of the)\s+)?(?:[{UPPER}][\w+&/’'-]*\s+(?:(?:and|of|for|the|on)\s+)?){{1,6}}?"
    r"(?:Collaborations?|[Cc]ollaborations?|Consortium|Team|[Tt]eam|Group|Institute|Organi[sz]ation|Union|Foundation|Committee"
    r"|Project|AI|Inc\.?|Labs?)"
    r"(?:\s*\([A-Za-z]+\))?(?=\s*(?:[,;:.(]|\sand\s|$))"
)
_NEVER_NAMES = frozenset(
    ("in", "the", "on", "of", "for", "to", "with", "from", "towards", "toward", "how", "what", "why",
     "are", "does", "using", "proceedings", "arxiv", "preprint", "learning", "journal", "advances", "via",
     "deep", "neural", "language", "networks", "models", "we", "this", "url", "doi",
     "available", "phys", "proc", "commun", "lett", "rev", "press", "math", "sci", "nature", "science", "note", "figure",
     "table", "appendix", "step", "university", "springer", "chem", "appl", "comput", "biol", "mol", "theor", "nucl",
     "astrophys", "stat", "geom", "topol", "algebra", "geophys", "mech", "funct", "anal", "eng", "opt", "amer", "soc")
)  # fmt: skip

_SURE = 3  # names after which an odd piece is more likely a name misprinted than the title


@dataclass(frozen=True)
class Name:
    """A person or group as printed, and the part that sorts ("van den Oord" for "Aaron van den Oord")."""

    printed: str
    surname: str


@dataclass(frozen=True)
class AuthorList:
    """Names in the printed order; the list takes characters [0, end) of the text.

    Attributes:
        has_more: ends in "et al.".
    """

    names: tuple[Name, ...]
    end: int
    has_more: bool = False


def read_authors(text: str) -> AuthorList:
    """The author list that `text` begins with; no names and end 0 where it begins with something else.

    Three orders: "A. Vaswani" or "Ashish Vaswani", "Vaswani, A.", "Vaswani A". One list keeps one order, but for the
    last name after "and". The order that reads the most names wins.
    """
    lists = [_read(text, form) for form in ("inverted", "direct", "trailing", "whole")]
    return max(lists, key=lambda found: (len(found.names) + found.has_more, found.end))


def _read(text: str, form: str) -> AuthorList:
    names: list[Name] = []
    position = end = 0
    has_initials = False
    while True:
        after_and = bool(re.search(r"(?:\band|&|\bund)\s*\Z", text[max(0, position - 6) : position]))
        found = _one(text, position, form, has_initials and not after_and, after_and and bool(names))
        if found is None and len(names) >= _SURE and form == "direct" and not after_and:
            found = _odd(text, position)
        if found is None:
            break
        name, end = found
        if not names:
            has_initials = form == "direct" and bool(re.match(_INITIALS, name.printed))
        names.append(name)
        if more := _ET_AL.match(text, end):
            return AuthorList(tuple(names), more.end(), has_more=True)
        separator = _SEPARATOR.match(text, end)
        if separator is None or separator.end() == end:
            break
        position = separator.end()
    if form == "whole" and len(names) < 2:
        return AuthorList((), 0)
    return AuthorList(tuple(names), end if names else 0)


def _one(text: str, position: int, form: str, needs_initials: bool, is_last: bool) -> tuple[Name, int] | None:
    if (match := _GROUP.match(text, position)) and not re.match(r"(?:in|the art)\b", match[0], re.I):
        return Name(match[0], match[0]), match.end()
    patterns = {"inverted": _INVERTED, "trailing": _TRAILING, "whole": _INVERTED_WHOLE}
    if pattern := patterns.get(form):
        match = pattern.match(text, position)
        if match is not None and _is_name(match["surname"]):
            return Name(match[0].strip(), match["surname"]), match.end()
        if not is_last:
            return None
        needs_initials = False
    match = _DIRECT.match(text, position) or _SINGLE.match(text, position)
    if match is None and position:
        match = _LONE_LETTERS.match(text, position)
    if match is None:
        return None
    printed = match[0].strip()
    words = printed.split()
    if not _is_name(printed) or (needs_initials and "." not in printed and not _goes_on(text, match.end())):
        return None
    # A single word is a name only as the last one ("…, and Plato") or before a year.
    is_firm = not position and re.fullmatch(rf"\w+[{LOWER}-]\w*[{UPPER}]\w*|[{UPPER}]{{4,}}", printed)  # OpenAI, NVIDIA
    if len(words) < 2 and not (is_last or is_firm or re.match(r"\s*[.,]?\s*\(?(?:19|20)\d\d", text[match.end() :])):
        return None
    return Name(printed, surname_of(printed)), match.end()


def _odd(text: str, position: int) -> tuple[Name, int] | None:
    """A piece that does not look like a name, between names that do: "Huan ang Gao", "Xianyu"."""
    match = _ODD_PIECE.match(text, position)
    if match is None or len(match[0].split()) > 4 or not _goes_on(text, match.end()):
        return None
    return Name(match[0], surname_of(match[0])), match.end()


def _goes_on(text: str, end: int) -> bool:
    """Another name follows: "Z. Z. Ren, Zhihong Shao, Junxiao Song" is one list, "J. Pardon, Quantum Gravity, Phys." none."""
    separator = _SEPARATOR.match(text, end)
    after = _DIRECT.match(text, separator.end()) if separator and separator.end() > end else None
    return after is not None and len(after[0].split()) > 1 and _is_name(after[0])


def surname_of(name: str) -> str:
    """The surname in "Aaron van den Oord", "R. Salakhutdinov Jr.", "Vaswani, Ashish" or "Vaswani A."."""
    if "," in name and not re.search(r",\s*(?:Jr|Sr|II|III|IV)\b", name):
        return name.partition(",")[0].strip()
    words = re.sub(_SUFFIX + r"\Z", "", name.strip()).split()
    while len(words) > 1 and re.fullmatch(rf"{_INITIALS}|{_BARE}", words[-1]):
        words.pop()
    start = len(words) - 1
    while start > 1 and _PARTICLE.fullmatch(words[start - 1] + " "):
        start -= 1
    return " ".join(words[start:]) if words else ""


def _is_name(printed: str) -> bool:
    words = re.findall(rf"[{UPPER}{LOWER}'’-]+", printed)
    return (
        bool(words)
        and any(len(w) > 1 for w in words)
        and not any(len(w) > 1 and w.lower() in _NEVER_NAMES for w in words)
    )
