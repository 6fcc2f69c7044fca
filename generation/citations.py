"""Citation tokens in drafts: pandoc's `[@key; @key]` with the paper id as key, and nothing else.

A token that names no paper shown to the writer is refused, never guessed; other text in brackets (`[0,1]`,
`[3-5]`, links, code) is never touched. Foreign surveys, whose numbers must be resolved, are read elsewhere.
Syntax: https://pandoc.org/MANUAL.html#citation-syntax
"""

import re
from collections.abc import Collection, Sequence

from generation.mathtext import outside_math
from ingestion.errors import BadInput

_PLAIN_KEY = re.compile(r"^[A-Za-z0-9_](?:[A-Za-z0-9_]|[:.#$%&+?<>~/-](?=[A-Za-z0-9_]))*$")
_TOKEN = re.compile(r"\[(@(?:\{[^{}\]]+\}|[^\s\[\];{}]+)(?:; @(?:\{[^{}\]]+\}|[^\s\[\];{}]+))*)\]")
_UNREADABLE = re.compile(r"[^A-Za-z0-9_:./-]+")
_SPECIAL = re.compile(r"([\\`*_{}\[\]<|~^@$]|-(?=-)|(?<=-)-)")


class UnknownCitation(BadInput):
    """A token names a paper that was not shown to the writer."""


def token(paper_ids: Sequence[str]) -> str:
    """The token for papers in order, "" for none: `[@2005.11401; @hep-th/9901001]`."""
    if not paper_ids:
        return ""
    return "[" + "; ".join("@" + _key(paper_id) for paper_id in paper_ids) + "]"


def _key(paper_id: str) -> str:
    if re.search(r"[{}\[\]\s]", paper_id):
        raise BadInput("a citation key cannot hold braces, brackets or blanks", which=paper_id)
    key = bib_key(paper_id)
    return key if _PLAIN_KEY.match(key) else "{" + key + "}"


def bib_key(paper_id: str) -> str:
    """The key of a paper in texts and bibliographies: its id, where pandoc, BibTeX and biber can read that.

    Old DOIs hold parentheses, commas and angle brackets, on which biber stops: such a character stands as `+` and two
    hexadecimal digits, `doi:10.1016/S0005-1098+2897+2900109-3`.
    """
    return _UNREADABLE.sub(lambda m: "".join(f"+{byte:02X}" for byte in m.group(0).encode()), paper_id)


def paper_of_key(key: str) -> str:
    """The paper id of a key."""
    return re.sub(
        r"(?:\+[0-9A-F]{2})+", lambda m: bytes.fromhex(m.group(0).replace("+", "")).decode("utf-8", "replace"), key
    )


def cited_keys(markdown: str) -> list[str]:
    """Papers of all tokens in order of first citation."""
    keys: dict[str, None] = {}
    for match in _TOKEN.finditer(_without_code(markdown)):
        for part in match.group(1).split("; "):
            keys[paper_of_key(part.removeprefix("@").removeprefix("{").removesuffix("}"))] = None
    return list(keys)


def require_known(markdown: str, shown: Collection[str]) -> None:
    """Refuse tokens that name papers outside `shown`.

    Raises:
        UnknownCitation: with the keys.
    """
    if unknown := [key for key in cited_keys(markdown) if key not in shown]:
        raise UnknownCitation("a citation names a paper that was not shown", which=", ".join(unknown))


def escape(text: str) -> str:
    """Text taken from papers as literal pandoc Markdown: every `@`, bracket and mark escaped, math kept.

    An even, tight pair of `$` is math and stays as written; any other `$` is a dollar.
    """
    return outside_math(text, _escape_plain)


def _escape_plain(text: str) -> str:
    text = _SPECIAL.sub(r"\\\1", text)
    # "1. x", "+ x", "> x" or "# x" at the start of a line would open a list, a quotation or a heading.
    text = re.sub(r"^(\s*)([>#+-])", r"\1\\\2", text)
    return re.sub(r"^(\s*\d+)([.)])(?=\s)", r"\1\\\2", text)


def _without_code(markdown: str) -> str:
    return re.sub(r"(`+)(?:.|\n)*?\1", "", re.sub(r"\\.", "", markdown))
