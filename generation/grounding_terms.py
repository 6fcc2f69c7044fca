"""Numbers, names and words of a sentence, in forms in which two ways of writing one thing are equal.

Belongs here: what counts as a number or a key term, and when a text has it. Not here: what follows for a citation
(`grounding`).
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property, lru_cache

from generation.extractive.phrases import STOP_WORDS

_SCALES = {
    "k": 1e3, "K": 1e3, "thousand": 1e3, "M": 1e6, "million": 1e6, "B": 1e9, "billion": 1e9, "T": 1e12,
    "trillion": 1e12,
}  # fmt: skip
_NUMBER = re.compile(
    r"(?<![\w.])(?<![A-Za-z][-–_/])(?P<digits>\d{1,3}(?:[,\u202f\u2009]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)"
    r"(?P<share>\s?(?:%|\\%|percent\b|per cent\b))?"
    r"(?:(?:[ -]|\s)?(?P<scale>thousand|million|billion|trillion)\b|(?P<letter>[kKMBT])(?![A-Za-z]))?"
    r"(?!\d)(?!(?:st|nd|rd|th|[DdFf])\b)"
)
_NO_FIGURE = re.compile(
    r"\b(?:sections?|secs?\.|chapters?|figures?|figs?\.|tables?|tabs?\.|equations?|eqs?\.|appendix|algorithms?|"
    r"theorems?|lemmas?|steps?|stages?|phases?|parts?|levels?|versions?|v\.?|no\.)[ \u00a0]?\(?\d+(?:[.\-–]\d+)*\)?"
    r"|\(\d{1,2}\)|(?<![^\s(])\d{1,2}\)|^(?:\d{1,2}\.|\d{1,2}(?:\.\d+)+\.?) (?=(?-i:[A-Z]))",
    re.IGNORECASE,
)
"""Numbers that name a place or an item: Section 3.2, (2), Figure 6."""
_RANGE = re.compile(r"(\d)\s?(?:[-–]|to|and)\s?(?=(\d+(?:\.\d+)?)\s?(thousand|million|billion|trillion|[kMB])\b)")
_WORDS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "hundred": 100, "thousand": 1000,
    "twice": 2, "double": 2, "half": 50,
}  # fmt: skip
_WORD = re.compile(rf"\b(?:{'|'.join(_WORDS)})\b", re.IGNORECASE)
_LEAST_WORD = 3
"""Number words from here on are figures; "one" and "two" are hardly ever."""

_LEAST_FIGURE = 20

_TOKEN = re.compile(r"[^\W_](?:[\w+./'’-]*[\w+])?")
_PLURAL = re.compile(r"(?<=[A-Za-z0-9])(?:['’]?s)$")
_NOT_ALNUM = re.compile(r"[\W_]+")
_WORDLIKE = re.compile(r"[^\W_]+")
_PLAIN = re.compile(r"[a-z]{3,}")
_ENDING = re.compile(r"(?:ing|ed|es|s|ion|ions)$")
_LONGEST_ACRONYM = 7


@dataclass(frozen=True)
class Number:
    """A number as it is printed, and its value.

    Attributes:
        decimals: digits behind the point.
        is_exact: printed in digits; number words are hardly ever figures of a paper.
    """

    printed: str
    value: float
    decimals: int = 0
    is_exact: bool = True
    is_share: bool = False

    @property
    def is_figure(self) -> bool:
        """A figure that somebody measured or counted: a share, a decimal, from twenty on; "3 parts" is none."""
        return (
            self.is_exact and not self.is_year and (self.is_share or self.decimals > 0 or self.value >= _LEAST_FIGURE)
        )

    @property
    def is_year(self) -> bool:
        return self.printed.isdigit() and len(self.printed) == 4 and 1900 <= self.value <= 2100


def numbers(text: str) -> list[Number]:
    """The numbers of a text in order: "1,000" is 1000, "7B" and "7 billion" the same, "three" is 3.

    Digits that belong to a name (GPT-4, 3D, F1) are none.
    """
    text = _NO_FIGURE.sub(" ", text)
    spread = _RANGE.sub(r"\1\3 to ", text)  # "7-13B" are 7B and 13B
    found = [(m.start(), _number(m)) for m in _NUMBER.finditer(spread)]
    words = [(m.start(), Number(m.group(0), float(_WORDS[m.group(0).lower()]), is_exact=False)) for m in _WORD.finditer(spread)]  # fmt: skip
    return [number for _, number in sorted([*found, *words], key=lambda pair: pair[0])]


def _number(match: re.Match) -> Number:
    digits = re.sub(r"[,\u202f\u2009]", "", match.group("digits"))
    scale = _SCALES.get(match.group("scale") or match.group("letter") or "", 1.0)
    decimals = len(digits.partition(".")[2])
    return Number(match.group(0).strip(), round(float(digits) * scale, 9), decimals, True, bool(match.group("share")))


def terms(text: str) -> list[str]:
    """The key terms of a sentence, each once: acronyms, names in CamelCase, tokens of letters and digits."""
    found: dict[str, str] = {}
    for match in _TOKEN.finditer(text):
        token = _PLURAL.sub("", match.group(0).rstrip(".'’"))
        if is_term(token):
            found.setdefault(term_key(token), token)
    return list(found.values())


def is_term(token: str) -> bool:
    """Whether a token is a name that a text has or has not: BERT, ColBERT, GPT-4, T5, iPhone; not "Self" or "3D"."""
    letters = [c for c in token if c.isalpha()]
    if len(letters) < 2 and not (letters and letters[0].isupper() and any(c.isdigit() for c in token)):
        return False
    if any(c.isdigit() for c in token):
        return not token[0].isdigit()
    return any(
        sum(c.isupper() for c in part) >= 2 or any(c.isupper() for c in part[1:]) for part in re.split(r"[-/]", token)
    )


def term_key(token: str) -> str:
    """Letters and digits of a term, without case: GPT-4 = GPT4 = gpt-4."""
    return _NOT_ALNUM.sub("", token).casefold()


@dataclass(frozen=True)
class Wording:
    """A text as numbers and names are looked for in it.

    Attributes:
        years: that belong to it without being printed.
    """

    text: str
    years: frozenset[int] = frozenset()

    @cached_property
    def _values(self) -> frozenset[float]:
        return frozenset(n.value for n in numbers(self.text)) | {float(y) for y in self.years}

    @cached_property
    def _words(self) -> tuple[str, ...]:
        return tuple(w.casefold() for w in _WORDLIKE.findall(self.text))

    @cached_property
    def _keys(self) -> frozenset[str]:
        """Words, tokens as they stand, and two and three words joined: "fusion in decoder" has FusionInDecoder."""
        words = self._words
        tokens = (_PLURAL.sub("", m.group(0).rstrip(".'’")) for m in _TOKEN.finditer(self.text))
        keys = {term_key(t) for t in tokens} | set(words) | {_PLURAL.sub("", w) for w in words}
        for size in (2, 3):
            keys.update("".join(words[i : i + size]) for i in range(len(words) - size + 1))
        return frozenset(keys)

    @cached_property
    def _initials(self) -> str:
        return "".join(w[0] for w in self._words)

    def has_number(self, number: Number) -> bool:
        """Whether the number stands there, or one that rounds to it, or a share as a fraction."""
        if number.value in self._values:
            return True
        if number.is_share and round(number.value / 100, 9) in self._values:
            return True
        if not number.is_exact or number.value < 10 or number.value != round(number.value, number.decimals):
            return False
        return any(round(v, number.decimals) == number.value and v != int(v) for v in self._values)

    def has_term(self, term: str) -> bool:
        """Whether the term stands there, or the words that it abbreviates, or the parts of a compound of names."""
        key = term_key(term)
        if key in self._keys:
            return True
        if term.isupper() and 2 < len(key) <= _LONGEST_ACRONYM and key in self._initials:
            return True
        parts = [p for p in re.split(r"[-/]", term) if p]
        return len(parts) > 1 and all(not is_term(p) or self.has_term(p) for p in parts)


def missing_numbers(text: str, wordings: Collection[Wording]) -> list[Number]:
    """Numbers of a sentence that no wording has; number words below three are not looked for."""
    return [
        n
        for n in numbers(text)
        if (n.is_exact or n.value >= _LEAST_WORD) and not any(w.has_number(n) for w in wordings)
    ]


def missing_terms(text: str, wordings: Collection[Wording]) -> list[str]:
    """Key terms of a sentence that no wording has."""
    return [t for t in terms(text) if not any(w.has_term(t) for w in wordings)]


@lru_cache(maxsize=16384)
def roots(text: str) -> frozenset[str]:
    """The words that say something, without their endings."""
    return frozenset(_ENDING.sub("", w) for w in _PLAIN.findall(text.lower()) if w not in STOP_WORDS)
