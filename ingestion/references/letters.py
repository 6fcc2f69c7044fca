"""Letters of bibliography entries: repairs of what PDFs do to them, and the classes that patterns use.

Here: ligatures, stray accents, hyphens at line breaks. Not here: what the words mean (`names`, `fields`).
"""

import re
import unicodedata

UPPER = "".join(c for c in map(chr, range(0x41, 0x530)) if c.isupper())
"""Capitals of the Latin, Greek and Cyrillic alphabets, for a character class."""
LOWER = "".join(c for c in map(chr, range(0x61, 0x530)) if c.islower())
HYPHENS = "-\u2010\u2011\u00ad"

_BLANKS = re.compile(r"[\s~\u200b\u2060\ufeff]+")
_LIGATURES = re.compile("[\ufb00-\ufb06]")
# TeX fonts print accents as characters of their own: spacing accent → combining one.
_COMBINING = {
    "\u00a8": "\u0308", "\u00b4": "\u0301", "\u02ca": "\u0301", "\u02cb": "\u0300",
    "\u02c6": "\u0302", "\u02c7": "\u030c", "\u02d8": "\u0306", "\u02da": "\u030a", "\u02dc": "\u0303",
    "\u00b8": "\u0327", "\u00af": "\u0304", "\u02d9": "\u0307", "\u02dd": "\u030b", "\u02db": "\u0328",
}  # fmt: skip
_ACCENTS = "".join(_COMBINING)
_BEFORE = re.compile(rf"([{_ACCENTS}])(?:([{UPPER}{LOWER}])|\s([{LOWER}]))")  # "Lo¨ıc", "Citro¨ en"
_AFTER = re.compile(rf"([{UPPER}{LOWER}])([{_ACCENTS}])(?=\s[{UPPER}]|\s*[,.;)]|$)")  # "Andre´ Martins"
_DIAERESIS = re.compile(rf"(?<=[{UPPER}{LOWER}])([aeouAEOU])¨(?=[{LOWER}])(?![aeiouyı])")  # "Lo¨wner", not "Lo¨ıc"
_STRAY = re.compile(rf"\s?[{_ACCENTS}](?=\s|[.,;]|$)")
_TEX_QUOTES = re.compile(r"``|''")
_DOTLESS = {"ı": "i", "ȷ": "j"}
_BREAK = re.compile(rf"\b(\w+)(\u00ad\s*|[{HYPHENS}]\s+)([{LOWER}]\w*)")
_OPEN_HYPHEN = re.compile(rf"(?<=\w)([{HYPHENS}])\s(?=[{UPPER}\d])")  # "GPT- 4", "4443- 4458"
# Words before a hyphen that belongs to the word, not to the line break.
_HYPHENATED = frozenset(
    ("co", "non", "self", "semi", "multi", "cross", "zero", "one", "two", "three", "few", "many", "single", "end", "to",
     "of", "the", "state", "pre", "post", "anti", "quasi", "pseudo", "well", "high", "low", "long", "short", "large",
     "small", "fine", "coarse", "open", "closed", "real", "time", "fast", "deep", "data", "model", "task", "domain",
     "context", "knowledge", "graph", "text", "image", "speech", "video", "human", "machine", "question", "sequence",
     "off", "meta", "auto", "x", "t", "k", "n", "all", "any", "full", "half", "first", "second", "third", "higher",
     "lower", "instruction", "retrieval", "attention", "chain", "step", "policy", "object")
)  # fmt: skip
_SUSPENDED = frozenset(("and", "or", "to", "und", "vs"))


def repaired(text: str) -> str:
    """One line of composed characters without what line breaks and fonts left behind.

    "soft- ware" becomes "software", "co- located" "co-located"; "vulnera-bilities" stays, for nothing tells its
    hyphen from a true one (`ingestion.comparison.title_key` reads both alike). "Lo¨ıc" becomes "Loïc"; an accent
    that lost its letter goes.
    """
    line = text
    if not line.isascii():
        line = _LIGATURES.sub(lambda m: unicodedata.normalize("NFKC", m[0]), line)
    line = _TEX_QUOTES.sub('"', line)
    if not line.isascii():
        line = _AFTER.sub(lambda m: _joined_accent(m[1], m[2]), line)
        line = _DIAERESIS.sub(r"¨\1", line)
        line = _BEFORE.sub(_composed, line)
        line = _STRAY.sub("", line)
        line = unicodedata.normalize("NFC", line)
    line = _BLANKS.sub(" ", line).strip()
    line = _OPEN_HYPHEN.sub(r"\1", line)
    return _BREAK.sub(_joined, line)


def _composed(match: re.Match[str]) -> str:
    return _joined_accent(match[2] or match[3], match[1])


def _joined_accent(letter: str, accent: str) -> str:
    """The accented letter; the letter alone where there is no such letter, or none in names ("and¨ Oscar")."""
    letter = _DOTLESS.get(letter, letter)
    composed = unicodedata.normalize("NFC", letter + _COMBINING[accent])
    return composed if len(composed) == 1 else letter


def _joined(match: re.Match[str]) -> str:
    head, mark, tail = match.groups()
    if mark[0] == "\u00ad":
        return head + tail
    if tail in _SUSPENDED:  # "pre- and post-training"
        return match[0]
    # In "end-to- end" the word before has a hyphen already: so has this one.
    is_chain = match.string[match.start() - 1 : match.start()] in ("-", "\u2010", "\u2011")
    if is_chain or head.lower() in _HYPHENATED or not head.isalpha():
        return f"{head}-{tail}"
    return head + tail
