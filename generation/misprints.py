"""What the printing of a paper, or the reading of its file, broke in a sentence.

Belongs here: words joined at a line's end, footnote marks grown into words, escapes and placeholders of the parser.
Not here: formulas and marks of citation, which are right where they stand but not in a survey (`cards`).
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from functools import cache, lru_cache

from indexes.tokens import load_tokenizer

_WORD = re.compile(r"(?<![\w-])[A-Za-z][a-z]{8,}(?![\w-])")
_ANY_WORD = re.compile(r"(?<![\w-])[A-Za-z]+(?:-[A-Z]+)*(?![\w])")
_EXPLAINED = re.compile(r"[a-z]\w* \(([A-Z][A-Za-z-]{0,5}[A-Z])s?\)")
_ALL_WORDS = re.compile(r"[a-z]+")
_LEAST = 4
"""Letters of the shorter part of a joined word: shorter ones are parts of anything."""

_SMALL = frozenset({"and", "the", "for", "not"})
"""Shorter hind parts that are words all the same; no English word ends so by chance behind another."""

_SHORT = 5
"""Letters up to which a part must be in the vocabulary as it is: short pieces are forms of anything."""

_SELDOM = 2
"""Times a word is joined by chance; what comes more often is written so."""

# What makes a form of a word; without it the word may need its "e" back.
_FORMS = ("s", "es", "d", "ed", "r", "er", "ers", "or", "ors", "ly", "ally", "ing", "ting", "ning", "ping", "ings", "ion",
          "ions", "ation", "ations", "al", "able", "ible", "ive", "ity", "ness", "ized", "ised", "ally", "ment", "ments",
          "ful", "less", "ism", "ist", "ists", "ization", "isation", "izations", "izing", "ising", "izes", "izer", "izable",
          "ability", "bility", "ically", "ising", "ily", "ted", "ned", "ped", "sing", "ancy", "ency", "ance", "ence", "ary", "ory")  # fmt: skip

# Fore parts that English writes without a hyphen, and hind parts that make one word of two.
_FORE = frozenset(
    """
    pre re un non sub super inter intra multi over under out up down back fore cross semi auto micro macro meta hyper anti
    counter mis dis en para bench snap white crowd tree common lower upper proof wave filter bottle key full type hash check
    soft hard light with any some every no through work time life data note book web hand head land side
    """.split()  # noqa: SIM905 - a list of words is read and sorted as text
)
_HIND = frozenset(
    """
    like wise less ward wards able ability work works time times book books line lines word words point points less ship
    hood land man men house room side fold where thing things body one ever up down out over in on off set sets ness ful
    writing written board path paths flow flows step steps size sized scale
    """.split()  # noqa: SIM905
)

_LEFT = re.compile(
    r"\\|\[(?:equation|formula|figure|table|image|math)\]|\uFFFD|[\u00ad\ufb00-\ufb06]|"
    # A footnote's digit behind a word or its stop: "facts.1", "models2 are"; names like GPT2 and BM25 have capitals.
    r"[a-z]{3}[.,;:)]\d{1,2}(?=\s|$)|(?<![\w.-])[a-z]{4,}\d{1,2}(?=[\s,;]|\.(?:\s|$))|"
    # A lost subscript ("TAPASBASE"), marks of footnotes, blanks before a stop and none before a number, halves of a word.
    r"\b[A-Z]{2,}(?:BASE|LARGE|SMALL|MEDIUM|TINY)\b|[\u2020\u2021\u00a7\u00b6*]|\s[,;.](?:\s|$)|"
    r"[a-z≥≤∼]\.\d|[a-z]- (?!and\b|or\b|to\b)[a-z]"
)


def is_misprinted(text: str) -> bool:
    """Whether something of the page or of the parser is left in the sentence."""
    return bool(_LEFT.search(text))


def is_unclear(text: str, unclear: Collection[str]) -> bool:
    """Whether the sentence has a word that it leaves unclear.

    Args:
        unclear: words of the paper that `unclear_words` found.
    """
    words = {w[:-1] if w[-1] == "s" and w[:-1].isupper() else w for w in _ANY_WORD.findall(text)}
    return any(w.lower() in unclear or (w in unclear and f"({w}" not in text) for w in words)


def unclear_words(texts: Sequence[str], known: Sequence[str] = ()) -> frozenset[str]:
    """Words of a paper that a single sentence leaves unclear: joined ones, and abbreviations explained elsewhere.

    Args:
        texts: of the paper's file.
        known: its title and abstract.
    """
    explained = {m for text in texts for m in _EXPLAINED.findall(text)}
    abbreviations = {w for w in explained if not any(w in _ANY_WORD.findall(text) for text in known)}
    return joined_words(texts, known) | abbreviations


def joined_words(texts: Iterable[str], known: Iterable[str] = ()) -> frozenset[str]:
    """Words of a paper that lost a hyphen or a blank at the end of a line: "sequencealigned".

    Such a word comes once or twice, is neither a piece of the packaged vocabulary nor a form or a usual compound of one,
    is in no text that was not read from a file, and falls into two words of the vocabulary or of the paper. Of 3,918
    sentences of 13 papers the rule refuses 44; 19 hold such a word, the others a rare compound or a name.

    Args:
        texts: of the paper's file.
        known: titles and abstracts, which no reading of a file has broken.
    """
    counts: Counter[str] = Counter()
    candidates: set[str] = set()
    for text in texts:
        counts.update(_ALL_WORDS.findall(text.lower()))
        candidates.update(w.lower() for w in _WORD.findall(text))
    held = {w for text in known for w in _ALL_WORDS.findall(text.lower())}
    own = held | {w for w, n in counts.items() if n > _SELDOM}
    parts = {w for w in own if len(w) >= _SHORT}
    return frozenset(w for w in candidates - own if not _is_word(w) and _falls_apart(w, parts))


def _falls_apart(word: str, own: Collection[str]) -> bool:
    for cut in range(_LEAST, len(word)):
        fore, hind = word[:cut], word[cut:]
        if len(hind) < _LEAST and hind not in _SMALL:
            continue
        are_words = all(part in own or _is_word(part) for part in (fore, hind))
        if are_words and fore not in _FORE and hind not in _HIND:
            return True
    return False


@lru_cache(maxsize=1 << 16)
def _is_word(word: str) -> bool:
    """Whether the vocabulary has the word, one that it is a form of, or either behind a fore part."""
    if _is_piece(word):
        return True
    if len(word) <= _SHORT:
        return False  # short pieces are forms of anything
    stems = [word[: -len(form)] for form in _FORMS if word.endswith(form)]
    if any(len(stem) >= _LEAST and (_is_piece(stem) or _is_piece(stem + "e")) for stem in stems):
        return True
    return any(
        word.startswith(fore) and len(word) - len(fore) > _SHORT and _is_word(word[len(fore) :]) for fore in _FORE
    )


@lru_cache(maxsize=1 << 16)
def _is_piece(word: str) -> bool:
    """Whether the vocabulary of the packaged embedder has the word whole."""
    return len(_tokenizer()(word, 8)) == 3


@cache
def _tokenizer():
    return load_tokenizer()
