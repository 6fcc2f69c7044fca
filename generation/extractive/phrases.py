"""Key phrases: word sequences of titles that name what a group of papers has in common.

Belongs here: finding phrases and their display form. Not here: choosing headings among them (`headings`).
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

STOP_WORDS = frozenset(
    """a about above across after against all along also among an and any are as at based be because been before being
    between both but by can case could do does down during each either enable enabling every few for from further get
    given had has have how however if in into is it its itself just less let like made make making many may more most
    much must near need no nor not now of off on once one only onto or other our out over own per rather really same
    should since so some still such than that the their them then there these they this those through thus to too
    toward towards under unless until up upon us use used using versus very via vs was we well were what when where
    whether which while who whom whose why will with within without would you your""".split()
)
GENERIC = frozenset(
    """analysis analyses analyzing approach approaches application applications method methods model models modeling system
    systems framework frameworks study studies survey surveys review reviews paper papers novel new efficient effective simple
    better improve improved improving improvement improvements enhance enhanced enhancing towards case task tasks data dataset
    datasets technique techniques learning language large neural deep problem problems challenge challenges opportunity
    opportunities performance result results experimental general
    universal unified high low fast scalable robust powerful comprehensive overview introduction tutorial perspective
    perspectives position report technical open good great best first second two three multiple different various via
    exploring exploration understanding investigating investigation rethinking revisiting leveraging building boosting
    empirical automatic automated advancing advances recent end need needs attention all you know work works way ways
    llm llms ai generation generative text information knowledge content tool tools
    strategy strategies process design development state art level real world time don make really help do matter good""".split()
)
_BREAK = re.compile(r"[:;,.?!()\[\]{}\"“”—–/|]|\s-+\s")
WORD = re.compile(r"[^\W_](?:[\w'’+-]*[\w+])?")


@dataclass(frozen=True)
class Phrase:
    """A phrase with its display form and the papers whose titles hold it.

    Attributes:
        closed: share of its occurrences that a stop word, punctuation or the end follows: "language model" in
            "language model for code" is closed, "language" in it is not.
        opened: the same for what goes before.
    """

    key: tuple[str, ...]
    text: str
    paper_ids: frozenset[str]
    closed: float
    opened: float


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Enough of a stemmer to make singular and plural one, and "retrieving" and "retrieval" two."""
    word = word.lower().replace("’", "'").removesuffix("'s")
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def content_stems(text: str) -> frozenset[str]:
    """Stems of the words that carry meaning."""
    return frozenset(
        stem(w) for part in WORD.findall(text) for w in part.split("-") if w and w.lower() not in STOP_WORDS
    )


def phrases(titles: Mapping[str, str], longest: int = 4) -> list[Phrase]:
    """All phrases of one to `longest` words that neither begin nor end with a stop word, by key.

    Args:
        titles: paper id → title.
    """
    papers: dict[tuple[str, ...], set[str]] = defaultdict(set)
    forms: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    ends: Counter[tuple[str, ...]] = Counter()
    starts: Counter[tuple[str, ...]] = Counter()
    for paper_id, title in titles.items():
        for part in _BREAK.split(title):
            words = WORD.findall(part)
            stops = [w.lower() in STOP_WORDS for w in words]
            for start, size in (
                (i, n) for i in range(len(words)) for n in range(1, longest + 1) if i + n <= len(words)
            ):
                end = start + size
                if stops[start] or stops[end - 1]:
                    continue
                key = tuple(stem(w) for w in words[start:end])
                papers[key].add(paper_id)
                forms[key][" ".join(words[start:end])] += 1
                ends[key] += end == len(words) or stops[end]
                starts[key] += start == 0 or stops[start - 1]
    return [
        Phrase(key, _usual(forms[key]), frozenset(ids), ends[key] / total, starts[key] / total)
        for key, ids in sorted(papers.items())
        if (total := forms[key].total())
    ]


def spoken_of(
    keys: Iterable[tuple[str, ...]], texts: Mapping[str, str], longest: int = 4
) -> dict[tuple[str, ...], set[str]]:
    """Which texts hold each phrase, by one pass over the texts."""
    wanted = set(keys)
    found: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for name, text in texts.items():
        words = [stem(w) for w in WORD.findall(text)]
        for start in range(len(words)):
            for size in range(1, min(longest, len(words) - start) + 1):
                key = tuple(words[start : start + size])
                if key in wanted:
                    found[key].add(name)
    return found


def _usual(forms: Counter[str]) -> str:
    """The commonest spelling; among equals the one with fewest capitals, since those may be a title's or a typo's."""
    return min(forms.items(), key=lambda item: (-item[1], sum(c.isupper() for c in item[0]), item[0]))[0]


def headline(text: str) -> str:
    """Title case that keeps what is written in capitals ("GPT-4", "HyDE") and leaves small words small."""
    words = text.split()
    shaped = []
    for i, word in enumerate(words):
        if word.lower() in STOP_WORDS and 0 < i < len(words) - 1:
            shaped.append(word.lower())
        elif re.fullmatch(r"[A-Z]{2}[a-z]{4,}", word):  # "COmprehension": a title that spells out its acronym
            shaped.append(word.capitalize())
        elif any(c.isupper() for c in word[1:]) or any(c.isdigit() for c in word):
            shaped.append(word if word[0].isupper() or any(c.isupper() for c in word[1:]) else word.capitalize())
        else:
            shaped.append(
                "-".join(
                    p[:1].upper() + p[1:] if p.lower() not in STOP_WORDS or not j else p
                    for j, p in enumerate(word.split("-"))
                )
            )
    return " ".join(shaped)


def is_telling(key: Iterable[str], topic_stems: frozenset[str]) -> bool:
    """Whether a phrase says something of its own: a word that is neither generic nor the topic's."""
    return any(part not in topic_stems and part not in GENERIC and len(part) > 1 and not part.isdigit()
               for word in key for part in word.split("-"))  # fmt: skip
