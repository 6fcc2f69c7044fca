"""Key phrases: word sequences of titles that may name what papers have in common, and how they are spelled.

Belongs here: finding phrases, comparing them by stems, their display form. Not here: which phrases are concepts
(`concepts`) and which of them divide a set of papers (`grouping`).
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

Key = tuple[str, ...]
"""Stems of a phrase, hyphenated words in parts: "Open-Domain QA" and "open domain QA" are one."""

STOP_WORDS = frozenset(
    """a about above across after against all along also among an and any are as at based be because been before being
    between both but by can case could do does down during each either enable enabling every few for from further get
    given had has have how however if in into is it its itself just less let like made make making many may more most
    much must near need no nor not now of off on once one only onto or other our out over own per rather really same
    should since so some still such than that the their them then there these they this those through thus to too
    toward towards under unless until up upon us use used using versus very via vs was we well were what when where
    whether which while who whom whose why will with within without would you your""".split()  # noqa: SIM905 - a list of words is read and sorted as text
)
_BREAK = re.compile(r"[:;,.?!()\[\]{}\"“”—–/|]|\s-+\s")
WORD = re.compile(r"[^\W_](?:[\w'’+-]*[\w+])?")
_LONGEST = 4


@dataclass(frozen=True)
class Phrase:
    """A phrase with its usual spelling and the papers whose titles hold it.

    Attributes:
        closed: share of its occurrences that end there: "language model" in "language model for code" is closed,
            "language" in it is not.
        led: share of its occurrences that one and the same word goes before: "base question answering" is led by
            "knowledge" throughout, so it is a part of a phrase and none itself.
    """

    key: Key
    text: str
    paper_ids: frozenset[str]
    closed: float
    led: float


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Enough of a stemmer to make singular and plural one, and "retrieving" and "retrieval" two."""
    word = word.lower().replace("’", "'").removesuffix("'s")
    if len(word) > 5 and word.endswith(("sses", "ches", "shes", "xes")):
        return word[:-2]
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


@lru_cache(maxsize=65536)
def key_of(text: str) -> Key:
    """The stems of a text in order."""
    return tuple(s for word in WORD.findall(text) for part in word.split("-") if part for s in _spelled_out(part))


def _spelled_out(word: str) -> tuple[str, ...]:
    """The stems of a word; "QA" is so common that both of its spellings must be one."""
    return ("question", "answering") if word == "QA" else (stem(word),)


def content_stems(text: str) -> frozenset[str]:
    """Stems of the words that carry meaning."""
    return frozenset(part for part in key_of(text) if part not in STOP_WORDS)


def phrases(titles: Mapping[str, str]) -> list[Phrase]:
    """Phrases of one to four words that neither begin nor end with a stop word, by key.

    Args:
        titles: paper id → title.
    """
    papers: dict[Key, set[str]] = defaultdict(set)
    forms: dict[Key, Counter[str]] = defaultdict(Counter)
    ends: Counter[Key] = Counter()
    before: dict[Key, Counter[str]] = defaultdict(Counter)
    for paper_id, title in titles.items():
        for part in _BREAK.split(title):
            words = WORD.findall(part)
            stops = [w.lower() in STOP_WORDS for w in words]
            parts = [key_of(w) for w in words]
            for start in range(len(words)):
                for end in range(start + 1, min(start + _LONGEST, len(words)) + 1):
                    if stops[start] or stops[end - 1]:
                        continue
                    text = " ".join(words[start:end])
                    key = tuple(s for stems in parts[start:end] for s in stems)
                    papers[key].add(paper_id)
                    forms[key][text] += 1
                    ends[key] += end == len(words) or stops[end]
                    if start and not stops[start - 1]:
                        before[key][parts[start - 1][-1]] += 1
    return [
        Phrase(
            key, _usual(forms[key]), frozenset(ids), ends[key] / forms[key].total(),
            max(before[key].values(), default=0) / forms[key].total(),
        )
        for key, ids in sorted(papers.items())
    ]  # fmt: skip


def root(part: str) -> str:
    """What is left of a stem when its ending does not count: "retrieval" and "retriever" are one."""
    return part[:6]


def spoken_of(keys: Iterable[Key], texts: Mapping[str, str]) -> dict[Key, set[str]]:
    """Which texts hold each phrase, the last of several words in any form, by one pass over the texts."""
    by_last: dict[str, list[Key]] = defaultdict(list)
    for key in dict.fromkeys(keys):
        by_last[root(key[-1])].append(key)
    found: dict[Key, set[str]] = defaultdict(set)
    for name, text in texts.items():
        stems = key_of(text)
        for end, last in enumerate(stems, start=1):
            for key in by_last.get(root(last), ()):
                size = len(key)
                if size <= end and (stems[end - size : end - 1] == key[:-1] if size > 1 else last == key[0]):
                    found[key].add(name)
    return found


def plural_forms(keys: Iterable[Key], texts: Iterable[str]) -> dict[Key, str]:
    """The plural of the last word of phrases that are often met in the plural: headings name kinds of things."""
    by_last: dict[str, list[Key]] = defaultdict(list)
    for key in dict.fromkeys(keys):
        by_last[key[-1]].append(key)
    plain: Counter[Key] = Counter()
    plural: dict[Key, Counter[str]] = defaultdict(Counter)
    for text in texts:
        words = [part.lower() for word in WORD.findall(text) for part in word.split("-") if part and part != "QA"]
        stems = tuple(stem(w) for w in words)
        for end, last in enumerate(stems, start=1):
            for key in by_last.get(last, ()):
                if len(key) <= end and stems[end - len(key) : end] == key:
                    if words[end - 1] == last:
                        plain[key] += 1
                    else:
                        plural[key][words[end - 1]] += 1
    return {
        key: _usual(forms)
        for key, forms in plural.items()
        if forms.total() >= 2 and forms.total() >= 0.2 * (forms.total() + plain[key])
    }


def in_plural(text: str, last: str) -> str:
    """The phrase with its last word in the given plural, in the phrase's own spelling where that is a plural."""
    head, blank, word = text.rpartition(" ")
    if word.lower().endswith(last):
        return text
    start, hyphen, end = word.rpartition("-")
    if sum(c.isupper() for c in end) > 1:  # "CNN" → "CNNs"
        return f"{text}s"
    return f"{head}{blank}{start}{hyphen}{last}"


def _usual(forms: Counter[str]) -> str:
    """The commonest spelling; among equals the one with fewest capitals, since those may be a title's or a typo's."""
    return min(forms.items(), key=lambda item: (-item[1], sum(c.isupper() for c in item[0]), item[0]))[0]


def headline(text: str) -> str:
    """Title case that keeps what is written in capitals ("GPT-4", "HyDE") and leaves small words small.

    A text of several words in capitals throughout ("QUERY REWRITER") is a style of its source and is set anew.
    """
    words = text.split()
    if len(words) > 1 and text.isupper():
        words = text.lower().split()
    return " ".join(_shaped(w, 0 < i < len(words) - 1) for i, w in enumerate(words))


def _shaped(word: str, is_inner: bool) -> str:
    if word.lower() in STOP_WORDS and is_inner:
        return word.lower()
    if re.fullmatch(r"[A-Z]{2}[a-z]{4,}", word):  # "COmprehension": a title that spells out its acronym
        return word.capitalize()
    parts = word.split("-")
    return "-".join(
        part
        if any(c.isupper() for c in part[1:]) or (part.lower() in STOP_WORDS and j)
        else part[:1].upper() + part[1:]
        for j, part in enumerate(parts)
    )
