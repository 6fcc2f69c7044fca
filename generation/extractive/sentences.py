"""Sentences of papers as material for a survey, those of abstracts first of all: where they stand, what they do, whether they are whole.

Belongs here: rhetorical roles, and the refusal of what is no whole sentence. Not here: where sentences end
(`ingestion.sentences`), turning "we" into names (`adaptation`), what points elsewhere (`standing`), sentences of
full texts (`fulltext`), and choosing among sentences (`selection`).
"""

import re
from dataclasses import dataclass
from typing import Literal

from generation.values import Paper, Span
from ingestion.sentences import split

MoveName = Literal["background", "problem", "method", "finding", "open"]

MIN_WORDS, MAX_WORDS = 7, 48

_THIS_PAPER = re.compile(
    r"^(?:this|the present|our) (?:paper|work|article|study|survey|review|thesis|report)\b", re.IGNORECASE
)
# A lost full stop: the next sentence begins in mid-sentence.
_RUN_ON = re.compile(
    r"[a-z)] (?:Specifically|Moreover|Furthermore|However|In addition|Additionally|Finally|Experiments|Extensive|We|"
    r"Our|This)\b|\. (?:Specifically|Moreover|Furthermore|However|In addition|Additionally|Finally|We|Our|This|The|It)\b"
)
# Structured abstracts label their parts.
_LABEL = re.compile(r"^[A-Z][A-Za-z/ &]{2,24}: ")
_MARKUP = re.compile(r"[\\{}]|\$|\[\d|\(\d{4}\)|…|\.\.\.|^\W|\bet al\b")
_MOVES: tuple[tuple[MoveName, re.Pattern[str]], ...] = (
    ("open", re.compile(
        r"\b(?:(?:remains?|is still|are still|is|are)(?: still| yet| also)? (?:an? |largely |mostly |relatively |very |one of the )*(?:open (?:problems?|"
        r"questions?|challenges?|issues?|research \w+)|unclear|under-?explored|unexplored|under-?studied|less explored|unanswered|unsolved|unresolved|"
        r"not (?:yet |well |fully |clearly )+(?:understood|explored|studied|known|established|solved)|(?:poorly|little) (?:understood|explored|studied))|"
        r"remains? (?:an? |largely |mostly |very |still |highly )*(?:(?:key |major |significant |critical |fundamental |great |big |considerable |"
        r"formidable |research |long-?standing |persistent |primary |important )*(?:challenges?|problems?|questions?|bottlenecks?|obstacles?|issues?)|"
        r"challenging|difficult|unknown|elusive|limited|hard|an issue|to be)|"
        r"still (?:struggle|suffer|lag|fall|lack|fail|face|cannot|need)s?\b|(?:has|have) (?:not (?:yet )?been|yet to be|never been) "
        r"(?:well |fully |thoroughly |systematically |formally |extensively |properly |\w+ly )?(?:explored|studied|investigated|examined|addressed|solved|"
        r"understood|established|evaluated|considered|resolved|demonstrated|throughout investigated)|(?:deserves?|needs?|requires?|calls? for|warrants?) "
        r"(?:\w+ )?(?:further|more|additional|future) (?:research|work|study|investigation|attention|exploration)|"
        r"little is known|is (?:still )?lacking|are (?:still )?lacking)\b", re.IGNORECASE)),
    ("finding", re.compile(
        r"\b(?:outperform\w*|achiev\w+|show\w* that|demonstrat\w+|experiment\w*|results?|improv\w+|state-of-the-art|"
        r"surpass\w*|find that|found that|reveal\w*|observe\w*|reduc\w+|increas\w+|gains?|accuracy|significantly|"
        r"empirical\w*|exceed\w*|comparable|competitive|beats?|match(?:es)?|evidence that|suggest\w* that|confirm\w*|"
        r"yield\w*)\b|\d+(?:\.\d+)?\s?%", re.IGNORECASE)),
    ("method", re.compile(
        r"\b(?:propos\w+|introduc\w+|present\w*|develop\w*|design\w*|(?:we|the authors) (?:use|build|train|study|"
        r"explore|investigate|describe|construct|combine|extend|formulate|employ|leverage|create|collect|define|apply|"
        r"adopt|devise|examine|analy[sz]e|evaluate|compare|benchmark|review|survey|provide|offer|argue|consider)|"
        r"consists? of|is based on|framework that|method that|model that|approach that)\b", re.IGNORECASE)),
    ("problem", re.compile(
        r"\b(?:however|challeng\w+|problem\w*|difficult\w*|lack\w*|suffer\w*|limit(?:ed|ation|ations|s)|fail\w*|costly|"
        r"expensive|hallucinat\w+|struggl\w+|issue\w*|hinder\w*|prone to|unable|bottleneck\w*|risk\w*|vulnerab\w+|"
        r"despite|although)\b",
        re.IGNORECASE)),
)  # fmt: skip


_PATTERN = dict(_MOVES)
_FINDING = _PATTERN["finding"]
_EARLY = 0.2
_SPEAKS = re.compile(
    r"\b(?:we|our|the authors|this (?:paper|work|article|study|survey|review)|(?:experiments?|evaluations?|analys[ie]s)(?: \S+){0,8}? "
    r"(?:shows?|demonstrates?|reveals?|indicates?|suggests?|confirms?|verif(?:y|ies)|validates?|proves?)|(?:our|experimental|empirical) results|results (?:show|on|demonstrate|indicate|suggest|of|reveal))\b",
    re.IGNORECASE,
)
_OF_OTHERS = re.compile(
    r"(?:recent(?:ly)?|existing|previous|prior|current|earlier|traditional|conventional|many|most|several|numerous|"
    r"large language models?|pre-?trained|researchers|in recent years|state-of-the-art|standard|existing)\b",
    re.IGNORECASE,
)
# "HyDE has …", "RECOMP shortens …": a system's name as the subject says what it does.
_NAME_FIRST = re.compile(
    r"(?!(?:LLM|RAG|PLM|LM|QA|NLP|AI|KG|KB|GPT)s?\b)[A-Za-z][\w-]*[A-Z0-9][\w+-]* (?!is a challeng)[a-z]+s\b"
)
# Who acts, concludes or has just solved something does not state what is open.
_ACTS = re.compile(
    r"\b(?:we|our|us|the authors|this (?:paper|work|article|study|survey|review|thesis|report)|outperform\w*|conclude\w*|discuss\w*|highlight\w*|"
    r"study|address(?:es|ed)?|motivated|motivating|to fill|propose\w*|introduce\w*|results? (?:show|indicate|suggest|reveal|demonstrate)\w*|"
    r"find(?:s|ings)? that|found that|\(\d\))\b|\(\d\)|:",
    re.IGNORECASE,
)
_WE_PROPOSE = re.compile(r"\b(?:we|the authors) (?:propose|introduce|present|develop)\b", re.IGNORECASE)


@dataclass(frozen=True)
class SourceSentence:
    """A whole sentence of an abstract, or of a full text.

    Attributes:
        span: where it stands.
        text: the span's text.
        move: what it does there.
        position: share of the abstract before it, 0 to 1; a sentence of a full text has a place as if in one.
    """

    span: Span
    text: str
    move: MoveName
    position: float

    @property
    def words(self) -> int:
        return len(self.text.split())


def whole_sentences(paper: Paper) -> list[SourceSentence]:
    """The sentences of a paper's abstract that are whole and of readable length, in order."""
    text = paper.abstract or ""
    own = own_name(paper)
    return [
        SourceSentence(
            Span(paper.paper_id, start, end),
            text[start:end],
            move(text[start:end], own, start / len(text)),
            start / len(text),
        )
        for start, end in split(text)
        if is_whole(text[start:end])
    ]


def own_name(paper: Paper) -> str | None:
    """The name a paper gives its contribution: what stands before the colon of its title, if it looks like a name."""
    head, colon, _ = paper.title.partition(":")
    head = head.strip()
    is_name = colon and len(head.split()) == 1 and any(c.isupper() for c in head[1:]) and head not in _NO_NAMES
    return head if is_name and re.fullmatch(r"[\w+-]+", head) else None


_NO_NAMES = {"LLM", "LLMs", "RAG", "QA", "NLP", "AI", "GPT", "PLMs"}


def move(sentence: str, own: str | None = None, position: float = 1.0) -> MoveName:
    """What a sentence does, by its cues; background where there are none.

    Args:
        own: name of the paper's contribution: a sentence that begins with it says what it is or does.
        position: share of the abstract before the sentence.
    """
    if _PATTERN["open"].search(sentence) and not _ACTS.search(sentence) and not (own and own in sentence):
        return "open"
    if own and sentence.startswith(own) and not _FINDING.search(sentence):
        return "method"
    if _NAME_FIRST.match(sentence) and not _FINDING.search(sentence):
        return "method"
    if _THIS_PAPER.match(sentence) or _WE_PROPOSE.search(sentence):
        return "method"
    if (
        not _SPEAKS.search(sentence)
        and (position < _EARLY or _OF_OTHERS.match(sentence))
        and not (own and own in sentence)
    ):
        # What abstracts say first, or of others, is what they start from, whatever words it has.
        return "problem" if _PATTERN["problem"].search(sentence) or _PATTERN["open"].search(sentence) else "background"
    return next((name for name, pattern in _MOVES if name != "open" and pattern.search(sentence)), "background")


def is_whole(sentence: str, most_words: int = MAX_WORDS) -> bool:
    """Whether a sentence is one: closed, balanced, without markup, of readable length."""
    return (
        MIN_WORDS <= len(sentence.split()) <= most_words
        and sentence.endswith((".", ".”", '."'))
        and (sentence[0].isupper() or sentence[0].isdigit())
        and not _MARKUP.search(sentence)
        and not _RUN_ON.search(sentence)
        and not _LABEL.match(sentence)
        and all(sentence.count(a) == sentence.count(b) for a, b in ("()", "[]", "“”"))
        and sentence.count('"') % 2 == 0
    )
