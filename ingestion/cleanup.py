"""Raw metadata fields → clean values; a gap stays a gap.

Here: one function a field, and the evidence that a paper was withdrawn. Not here: reading sources; dates and
ids; how text is cleaned (`ingestion.cleaning`, `ingestion.tex`) and names are split (`ingestion.authors`).
"""

import re

from ingestion.authors import Authors, clean_authors
from ingestion.cleaning import clean_line, clean_paragraphs, is_gap
from ingestion.paper_key import ARCHIVES

__all__ = ["Authors", "clean_abstract", "clean_authors", "clean_categories", "clean_title", "is_withdrawn"]

_CATEGORY = re.compile(r"([a-z]+(?:-[a-z]+)?)(?:\.[A-Za-z]{2,}(?:-[a-z]+)?)?")
_PAPER = (
    r"(?:paper|article|submission|manuscript|pre-?print|e-?print|version|work|document|draft|note|report|thesis"
    r"|contribution)"
)
_VERB = r"(?:withdraw(?:n|ed)?|withdrew|retracted)"
_NOT_FROM_ELSEWHERE = r"(?!\s+from\s+(?!(?:the\s+)?(?:arxiv|publication|consideration)\b))"
_START = r"(?:^|(?<=[.;:,!?)\]])\s*|(?<=pages)\s+|(?<=page)\s+|(?<=figures)\s+|(?<=figure)\s+)"
_PASSIVE = (
    r"(?:(?:has|have|had)\s+(?:now\s+|since\s+)?(?:been\s+)?|is\s+(?:now\s+|being\s+|hereby\s+)?|was\s+)"
    rf"{_VERB}"
)
_BY_OWNER = r"(?:by\s+(?:the\s+|its\s+|all\s+)?(?:\w+\s+)?(?:authors?|arxiv|submitter|us|me)\b)"
_THIS_PAPER = rf"\bthis\s+{_PAPER},?\s+{_PASSIVE}\b{_NOT_FROM_ELSEWHERE}"
_BY_US = (
    r"\b(?:I|we|(?:the\s+)?authors?)\s+(?:(?:have|has|had|wish(?:es)?\s+to|would\s+like\s+to|want\s+to"
    rf"|decided\s+to|prefer\s+to|need\s+to|hereby)\s+)*(?:withdr[ae]wn?|retract(?:ed)?)\s+this\s+{_PAPER}\b"
)
_REMOVED = rf"\bthis\s+{_PAPER}\s+(?:has\s+been|was)\s+removed\s+by\s+arxiv\b"
_THE_PAPER = rf"{_START}the\s+{_PAPER}\s+{_PASSIVE}\s+{_BY_OWNER}"
_IN_ABSTRACT = re.compile(rf"{_THIS_PAPER}|{_BY_US}|{_REMOVED}|{_THE_PAPER}", re.I)
_IN_COMMENTS = re.compile(
    rf"{_THIS_PAPER}|{_BY_US}|{_REMOVED}"
    rf"|(?:{_START}(?:(?:the|our)\s+)?|\b(?-i:The)\s+){_PAPER}\s+(?:{_PASSIVE}|{_VERB})\b{_NOT_FROM_ELSEWHERE}"
    rf"|\bto\s+withdraw\s+(?:all\s+versions\s+of\s+)?(?:this|the|our)\s+{_PAPER}\b{_NOT_FROM_ELSEWHERE}"
    rf"|{_START}(?:temporarily\s+)?withdrawn?(?=\s*$|\s*[.!,;:()\[\]]"
    r"|\s+(?:by|due|because|since|as|for|pending|until|temporarily|owing|after|on|in\s+favou?r)\b)",
    re.I,
)
_WITHDRAWAL_WORDS = ("withdr", "retract", "removed by arxiv")
_SENTENCE_END = re.compile(r"[.!?](?=\s|$)|\n")
_MAX_EVIDENCE = 400


def clean_title(text: str | None) -> str | None:
    """The title in one line; None for a gap."""
    return clean_line(text)


def clean_abstract(text: str | None) -> str | None:
    """The abstract in paragraphs, separated by a blank line; None for a gap."""
    return clean_paragraphs(text)


def clean_categories(text: str | None) -> tuple[str, ...]:
    """arXiv categories in order (the first is the primary one), each once.

    Separators are blanks, commas and semicolons. MSC and ACM classes, which some sources append, and words
    between them are no categories: only names of an archive, with or without a subject class, are kept.
    """
    if is_gap(text):
        return ()
    tokens = dict.fromkeys(re.split(r"[\s,;]+", text))
    return tuple(t for t in tokens if (match := _CATEGORY.fullmatch(t)) and match[1] in ARCHIVES)


def is_withdrawn(comments: str | None, abstract: str | None) -> str | None:
    """The sentence that says this paper was withdrawn (comments first), None if none does.

    Papers about withdrawn papers or drugs do not count, nor does withdrawal of an earlier version or from a
    journal: the sentence must speak of this paper. In abstracts it must say "this paper"; in comments
    "Withdrawn due to …" is enough.
    """
    for text, pattern in ((comments, _IN_COMMENTS), (abstract, _IN_ABSTRACT)):
        # Most records mention nothing of the kind; cleaning them first would be the dear part.
        if text is None or not any(word in lowered for lowered in (text.lower(),) for word in _WITHDRAWAL_WORDS):
            continue
        clean = clean_paragraphs(text) or ""
        if match := pattern.search(clean):
            return _sentence(clean, match.start(), match.end())
    return None


def _sentence(text: str, start: int, end: int) -> str:
    begin = max((m.end() for m in _SENTENCE_END.finditer(text, 0, start + 1)), default=0)
    stop = _SENTENCE_END.search(text, end)
    return text[begin : stop.end() if stop else len(text)].strip()[:_MAX_EVIDENCE]
