"""Where in a paper's text a quotation stands: exactly, nearly, or nowhere.

What is looked for is what a model says that a paper says. Only the words are compared: whether a passage bears a
statement that is put in other words is the matter of `grounding`.
"""

import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple

from rapidfuzz import fuzz

from generation.values import Span

Support = Literal["exact", "fuzzy", "unsupported"]

LEAST_SCORE = 0.9
"""Of a fuzzy match: 1 minus the share of characters that are inserted or left out (`rapidfuzz.fuzz.ratio`)."""

LEAST_FUZZY = 20
"""Letters that a quotation needs for a fuzzy match: of fewer, too many texts are like any other."""

_LEAST_PART = 3
"""Words of a part of a quotation with an ellipsis."""

_ELLIPSIS = re.compile(r"\s*(?:\[\s*(?:\.\.\.|…)\s*\]|\.\.\.|…)\s*")
_DASHES = "-\u2010\u2011\u2012\u2013\u2212"
_FORMS = str.maketrans(dict.fromkeys(_DASHES, "-") | dict.fromkeys("“”„‟«»″", '"') | dict.fromkeys("‘’‚‛`´′", "'"))
_IGNORED = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_NEGATION = re.compile(r"\b(?:not?|never|nor|neither|without|cannot|none)\b|n't\b")


@dataclass(frozen=True)
class SourceText:
    """A text of a paper that a quotation may come from.

    Attributes:
        passage_id, page: of a passage; None for an abstract.
    """

    text: str
    paper_id: str
    source: Literal["abstract", "passage"] = "abstract"
    passage_id: str | None = None
    page: int | None = None


@dataclass(frozen=True)
class Located:
    """Where a quotation stands.

    Attributes:
        spans: one; several where the quotation leaves something out between them; () where it stands nowhere.
        score: 1 for exact; of a fuzzy match how alike, from `LEAST_SCORE`; 0 for none.
    """

    spans: tuple[Span, ...]
    support: Support
    score: float


NOWHERE = Located((), "unsupported", 0.0)


def locate(quote: str, texts: Sequence[SourceText]) -> Located:
    """The place of a quotation in the first of the texts that has it, or in the one that nearly has it.

    Exact means the same characters but for white space, hyphenation (also at the ends of lines), the form of quotation
    marks, dashes and ligatures, and the case of the first letter. A fuzzy match begins and ends at words and has the
    numbers and the negations of the quotation: a misquoted figure is no support, however alike the words are. A
    quotation with an ellipsis is located by its parts, which must stand in one text and in order.
    """
    wanted = _wanted(quote)
    if not wanted:
        return NOWHERE
    for text in texts:
        if found := _exact(wanted, text):
            return Located((found,), "exact", 1.0)
    if (near := _fuzzy(wanted, texts)) is not NOWHERE:
        return near
    parts = [part for part in _ELLIPSIS.split(quote) if part.strip(" .,;:")]
    if len(parts) > 1 and all(len(part.split()) >= _LEAST_PART for part in parts):
        return max((_in_parts(parts, text) for text in texts), key=lambda found: found.score, default=NOWHERE)
    return NOWHERE


def _in_parts(parts: Sequence[str], text: SourceText) -> Located:
    found = [locate(part, [text]) for part in parts]
    spans = tuple(span for one in found for span in one.spans)
    is_ordered = all(a.end <= b.start for a, b in pairwise(spans))
    if any(one is NOWHERE for one in found) or not is_ordered:
        return NOWHERE
    is_exact = all(one.support == "exact" for one in found)
    return Located(spans, "exact" if is_exact else "fuzzy", min(one.score for one in found))


class _Folded(NamedTuple):
    """A text in the form that is compared, and for each of its characters the place in the text."""

    text: str
    starts: tuple[int, ...]

    def span(self, start: int, end: int, source: SourceText) -> Span:
        """Characters of the text itself, with the marks that belong to the last letter."""
        first, last = self.starts[start], self.starts[end - 1] + 1
        while last < len(source.text) and unicodedata.combining(source.text[last]):
            last += 1
        return Span(source.paper_id, first, last, source.source, source.passage_id, source.page)


@lru_cache(maxsize=1024)
def _fold(text: str) -> _Folded:
    """One blank for any white space, hyphens between letters gone, forms of one sign alike."""
    characters: list[str] = []
    starts: list[int] = []
    is_hyphen_open = False  # behind a letter: dropped, with the white space that follows it, if a letter follows
    for place, original in enumerate(text):
        if original in _IGNORED:
            continue
        for sign in unicodedata.normalize("NFKD", original.translate(_FORMS)):
            sign = sign.translate(_FORMS)
            if sign.isspace():
                if is_hyphen_open or (characters and characters[-1] == " "):
                    continue
                sign = " "
            elif sign == "-" and characters and characters[-1].isalpha():
                is_hyphen_open = True
                continue
            elif is_hyphen_open:
                is_hyphen_open = False
            characters.append(sign)
            starts.append(place)
    return _Folded("".join(characters), tuple(starts))


def _wanted(quote: str) -> str:
    """The quotation as it is looked for: folded, without marks around it."""
    return _fold(quote.strip().strip("\"'“”‘’«»").lstrip(_DASHES)).text.strip()


def _exact(wanted: str, source: SourceText) -> Span | None:
    folded = _fold(source.text)
    first = wanted[0]
    for form in dict.fromkeys((wanted, first.upper() + wanted[1:], first.lower() + wanted[1:])):
        spans = (folded.span(place, place + len(form), source) for place in _places(form, folded.text))
        found = None
        for span in spans:
            if _is_whole(source.text, span.start, span.end):
                return span
            found = found or span
        if found and len(form) >= LEAST_FUZZY:  # a word that is cut off in a long quotation is a slip
            return found
    return None


def _places(form: str, text: str) -> Iterator[int]:
    place = text.find(form)
    while place >= 0:
        yield place
        place = text.find(form, place + 1)


def _is_whole(text: str, start: int, end: int) -> bool:
    """Whether no word is cut at either end."""
    is_begun = start > 0 and text[start - 1].isalnum() and text[start].isalnum()
    is_open = end < len(text) and text[end].isalnum() and text[end - 1].isalnum()
    return not is_begun and not is_open


def _fuzzy(wanted: str, texts: Sequence[SourceText]) -> Located:
    if sum(c.isalpha() for c in wanted) < LEAST_FUZZY:
        return NOWHERE
    best, folded_quote = NOWHERE, wanted.lower()
    for source in texts:
        folded = _fold(source.text)
        text = folded.text.lower()
        if len(text) != len(folded.text) or len(text) < LEAST_SCORE * len(wanted):
            continue  # shorter than what is looked for: the text would be found in the quotation
        cutoff = 100 * max(best.score, LEAST_SCORE - 0.05)  # what is snapped to words may gain
        found = fuzz.partial_ratio_alignment(folded_quote, text, score_cutoff=cutoff)
        if found is None or found.dest_end <= found.dest_start:
            continue
        start, end = _snapped(text, found.dest_start, found.dest_end, folded_quote)
        score = fuzz.ratio(folded_quote, text[start:end]) / 100
        if score >= LEAST_SCORE and score > best.score and _says_as_much(folded_quote, text[start:end]):
            best = Located((folded.span(start, end, source),), "fuzzy", min(score, 0.999))
    return best


def _snapped(text: str, start: int, end: int, wanted: str) -> tuple[int, int]:
    """The pair of word ends near [start, end) that is most alike what is wanted."""
    edges = [m.start() for m in re.finditer(r"\b", text[max(0, start - 30) : end + 30])]
    edges = [edge + max(0, start - 30) for edge in edges]
    closing = [e for e in edges if e and text[e - 1].isalnum()]
    opening = [e for e in edges if e < len(text) and text[e].isalnum()]
    # A quotation keeps its final stop.
    closing += [e + 1 for e in closing if e < len(text) and text[e] in ".!?)" and wanted[-1] == text[e]]
    begins, ends = _near(opening, start), _near(sorted(closing), end)
    pairs = [(b, e) for b in begins for e in ends if b < e]
    return max(pairs, key=lambda pair: fuzz.ratio(wanted, text[pair[0] : pair[1]]), default=(start, end))


def _near(edges: Sequence[int], place: int) -> Sequence[int]:
    at = bisect_left(edges, place)
    return edges[max(0, at - 2) : at + 2]


def _says_as_much(quote: str, text: str) -> bool:
    """Whether a quotation has the numbers and the negations of what it is to quote."""
    return all(Counter(p.findall(quote)) == Counter(p.findall(text)) for p in (_NUMBER, _NEGATION))
