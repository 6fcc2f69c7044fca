"""Marks of citation within a sentence of a full text, and where they can go without taking anything from anybody.

A mark may stand for the source of what is said ("X improves Y by 4 points (Reed et al., 2019)"): without it, another
paper's finding would become this paper's. So it goes only where it credits a thing by name (a collection, a model) in
a clause whose subject is the paper itself. Not here: the edit (`adaptation`).
"""

import re
from collections.abc import Collection

from generation.extractive.card_cues import SELF

MARKS = re.compile(r"\s?\[\d[\d,;–\s-]*\]|\s?\((?:see |e\.g\.,? |cf\. )?[A-Z][^()]*?\b(?:19|20)\d\d[a-z]?\b[^()]*\)")
"""What may be a mark: more than is one."""

_NAMES = r"[A-Z][\w'’-]+(?: et al\.,?| (?:and|&) [A-Z][\w'’-]+,?|,) (?:19|20)\d\d[a-z]?"
_PLAIN = re.compile(rf" ?(?:\[[1-9]\d{{0,2}}(?:, ?[1-9]\d{{0,2}})?\]|\({_NAMES}(?:; {_NAMES})?\))")
_MOST = 2
_NAMED = re.compile(
    r"(?<!^)[\w.+@-]*[A-Z][\w.+@-]*(?: (?:data ?sets?|benchmarks?|corpus|corpora|challenge|collections?|tasks?|models?|"
    r"metrics?|networks?|embeddings|weights))?$"
)
_FROM = re.compile(r"\b(?:by|following|after|per|from|of|in|to|with) (?:the )?\S+$")
_NEW_CLAUSE = re.compile(
    r"\b(?:that|which|who|whose|where|when|because|since|while|whereas|although|though|as|than|unlike|contrast|compared|"
    r"like|similar|if|whether)\b|[;:]"
)
_REPORTS = re.compile(
    r"\b(?:proposed|introduced|presented|reported|shown|noted|known|described|suggested|released|found (?:by|in)|follow\w*|"
    r"according|previous|prior|existing|recent\w*|has been|have been|was|were)\b"
)


def plain_marks(text: str) -> list[tuple[int, int]]:
    """Spans of the marks, each with the blank before it."""
    return [m.span() for m in _PLAIN.finditer(text)]


def without_marks(text: str) -> str:
    return _PLAIN.sub("", text)


def are_droppable(text: str, own: Collection[str]) -> bool:
    """Whether the sentence has marks, and is the paper's own statement and right without any of them.

    Args:
        own: names of the paper's own systems and data.
    """
    spans = plain_marks(text)
    if not 1 <= len(spans) <= _MOST or spans != [m.span() for m in MARKS.finditer(text)] or _REPORTS.search(text):
        return False
    own_name = re.compile("|".join(rf"(?<![\w-]){re.escape(name)}(?!\w)" for name in sorted(own)) or r"(?!)")
    for start, _ in spans:
        before = without_marks(text[:start])
        clause = _NEW_CLAUSE.split(before)[-1]
        subject = SELF.search(clause) or own_name.search(clause)
        if not _NAMED.search(before) or _FROM.search(before) or not subject:
            return False
    return not _NEW_CLAUSE.search(text[spans[-1][1] :])
