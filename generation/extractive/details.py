"""What full texts say beyond abstracts: the sentences that stand behind a paper's own in a section.

Belongs here: telling what is more than the abstract says, and choosing among it. Not here: the sentences that make the
text of a section (`selection`), and where these come from (`fulltext`).
"""

import re
from collections.abc import Sequence

from generation.extractive.selection import FIGURE, Option, dullness, redundancy, roots
from generation.extractive.sentences import MoveName

_NUMERAL = re.compile(r"\d[\d.,]*\d")
_DETAIL_BONUS: dict[MoveName, float] = {"method": 0.1, "finding": 0.05, "open": 0.1}
_USUAL = re.compile(r"\b(?:usual|usually|standard|default|typical|typically|same|common|commonly)\b")
_NEW, _KNOWN = 0.5, 0.67
"""Share of stems that the abstract lacks from which a sentence says more than it, and cosine from which it does not."""

_DETAILS = 2
"""Details of one paper at most."""


def beyond_abstracts(options: Sequence[Option], chosen: Sequence[Option]) -> list[Option]:
    """The options without those of full texts that say what the abstract or a chosen sentence of the paper says."""
    texts = {o.sentence.text for o in chosen}
    said: dict[str, list[Option]] = {}
    for option in options:
        if not option.is_of_text or option.sentence.text in texts:
            said.setdefault(option.paper.paper_id, []).append(option)
    return [o for o in options if not o.is_of_text or _says_more(o, said.get(o.paper.paper_id, ()))]


def _says_more(option: Option, said: Sequence[Option]) -> bool:
    abstract = option.paper.abstract or ""
    stems = roots(option.sentence.text)
    is_new = len(stems - roots(abstract)) >= _NEW * len(stems)
    repeats = set(_NUMERAL.findall(option.sentence.text)) & set(_NUMERAL.findall(abstract))
    return is_new and not repeats and redundancy(option, said) < _KNOWN


def choose_details(options: Sequence[Option], chosen: Sequence[Option], most: int) -> list[Option]:
    """What the full texts of the chosen papers say besides: a mechanism, a figure, a limitation.

    Each paper gives one before any gives a second, which must do something else than the first.
    """
    papers = {o.paper.paper_id for o in chosen}
    texts = {o.sentence.text for o in chosen}
    left = [o for o in options if o.is_of_text and o.paper.paper_id in papers and o.sentence.text not in texts]
    ordered = sorted(left, key=lambda o: (-_detail_score(o), o.sentence.text))
    found: list[Option] = []
    for turn in range(_DETAILS):
        for option in ordered:
            own = [o for o in found if o.paper.paper_id == option.paper.paper_id]
            is_other = all(o.move != option.move for o in own)
            if len(own) == turn and is_other and redundancy(option, [*chosen, *found]) < _KNOWN and len(found) < most:
                found.append(option)
    return found


def _detail_score(option: Option) -> float:
    figure = 0.1 * bool(FIGURE.search(option.sentence.text))
    usual = 0.2 * bool(_USUAL.search(option.sentence.text))
    bonus = _DETAIL_BONUS.get(option.move, 0.0) + figure - usual
    return option.relevance + bonus - dullness(option) - 0.003 * option.words
