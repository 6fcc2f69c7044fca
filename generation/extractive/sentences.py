"""Sentences of abstracts as material for a survey: where they stand, what they do, whether they stand alone.

Belongs here: splitting, rhetorical roles, and the refusal of sentences that cannot leave their abstract. Not here:
turning "we" into names (`adaptation`) and choosing among sentences (`selection`).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from generation.values import Paper, Span

MoveName = Literal["background", "problem", "method", "finding", "open"]

MIN_WORDS, MAX_WORDS = 9, 48

_DANGLING = re.compile(
    r"^(?:(?:and|but|or|so|yet|also|then|however|moreover|furthermore|therefore|thus|hence|additionally|finally|besides|"
    r"instead|meanwhile|nevertheless|nonetheless|consequently|as a result|in contrast|in particular|for example|"
    r"for instance|specifically|in addition|to this end|to address|to solve|to tackle|to overcome|to mitigate|"
    r"to bridge|to fill|to remedy|to alleviate|to achieve this|to do so|to that end|with this|in doing so|"
    r"by doing so|in this way|similarly|likewise|conversely|on the other hand|"
    r"first|firstly|second|secondly|third|thirdly|lastly|next|overall)\b[ ,]+)*"
    r"(?:this|these|those|that|it|its|they|their|them|such|he|she|his|her|both|each|either|neither|one|ones|another|"
    r"others|all|some|many of (?:these|them)|most of (?:these|them)|none|the (?:former|latter|same|above|resulting|"
    r"proposed|other|two|three|four|five|key|core|main|whole|former|idea|approach|method|methods|model|models|system|"
    r"framework|algorithm|algorithms|technique|code|codes|data|dataset|datasets|results|result|experiments|experimental|"
    r"paper|problem|task|tasks|goal|aim|reason|solution|challenge|new|novel|first|second|third|last|final|benchmark|"
    r"architecture|approaches|network|pipeline|evaluation|source|findings|study|survey|review|work|article|authors|"
    r"learned|introduced|developed|presented|best|improvement|improvements|gains|gap|need|success|effectiveness|"
    r"process|procedure|analysis|tool|toolkit|library|package|strategy|component|components|module|modules|latter|"
    r"question|questions|issue|issues|answer|training|retriever|generator|reader))\b(?! of [A-Z])",
    re.IGNORECASE,
)
_EARLY_POINTER = re.compile(
    r"^(?:[^\s.]+\s+){0,6}(?:(?:this|these|those|such|the (?:proposed|resulting|aforementioned|same|above)) (?!as\b|that\b)[a-z]|next steps)",
    re.IGNORECASE,
)
_THIS_PAPER = re.compile(
    r"^(?:this|the present|our) (?:paper|work|article|study|survey|review|thesis|report)\b", re.IGNORECASE
)
_REFERS_ELSEWHERE = re.compile(
    r"https?:|www\.|github|huggingface|\barxiv\b|project page|\bcode (?:is|are|and|will|can)\b|\bavailable (?:at|on|from|here)\b|"
    r"publicly available|\bopen-?source[ds]? (?:the|our|all)|\brelease (?:the|our|all)|\bmade (?:public|available)|"
    r"\b(?:above|aforementioned|following|as follows|former|latter|below|see|fig(?:ure)?\.?|table|section|appendix|supplement\w*|"
    r"chapter|theorem|lemma|eq)\b \d|\b(?:aforementioned|as follows|the following|the former|the latter|mentioned above|"
    r"described above|in this setting|in this way|this end|this gap|this problem|this issue|these issues|these problems|"
    r"these challenges|this challenge|these limitations|this limitation|this question|these questions|this goal|these goals|"
    r"to this|of this paper|this talk|this chapter|this thesis|this (?:dataset|task|benchmark|problem|model|method|approach|"
    r"framework|setting|corpus|technique|strategy|architecture|system|issue|challenge|study|work|paper))\b",
    re.IGNORECASE,
)
# A lost full stop: the next sentence begins in mid-sentence.
_RUN_ON = re.compile(
    r"[a-z)] (?:Specifically|Moreover|Furthermore|However|In addition|Additionally|Finally|Experiments|Extensive|We|Our|This)\b"
)
_MARKUP = re.compile(r"[\\{}]|\$|\[\d|\(\d{4}\)|…|\.\.\.|^\W|\bet al\b")
_MOVES: tuple[tuple[MoveName, re.Pattern[str]], ...] = (
    ("open", re.compile(
        r"\b(?:remains? (?:an? )?(?:open|unclear|under-?explored|unexplored|challenging|difficult|unknown|elusive|limited|"
        r"largely|a (?:major|key|significant|critical|fundamental)? ?(?:challenge|problem|question|bottleneck))|open (?:problems?|questions?|"
        r"challenges?|issues?)|future (?:work|research|directions?)|(?:are|is|still) (?:not yet|poorly|little) (?:understood|explored|studied)|"
        r"still (?:struggle|suffer|face|lag|fall|lack|fail)s?|further research|under-?explored|less explored|little is known|"
        r"has (?:not|yet) (?:been|to be)|unresolved|limitations? of (?:current|existing))", re.IGNORECASE)),
    ("finding", re.compile(
        r"\b(?:outperform\w*|achiev\w+|show\w* that|demonstrat\w+|experiment\w*|results?|improv\w+|state-of-the-art|surpass\w*|"
        r"find that|found that|reveal\w*|observe\w*|reduc\w+|increas\w+|gains?|accuracy|significantly|empirical\w*|"
        r"exceed\w*|evidence that|suggest\w* that|confirm\w*|yield\w*)\b|\d+(?:\.\d+)?\s?%", re.IGNORECASE)),
    ("method", re.compile(
        r"\b(?:propos\w+|introduc\w+|present\w*|develop\w*|design\w*|we (?:use|build|train|study|explore|investigate|describe|"
        r"construct|combine|extend|formulate|employ|leverage|create|collect|define|apply|adopt|devise|examine|analy[sz]e|"
        r"evaluate|compare|benchmark|review|survey|provide|offer|argue|consider)|consists? of|is based on|"
        r"framework that|method that|model that|approach that)\b", re.IGNORECASE)),
    ("problem", re.compile(
        r"\b(?:however|challeng\w+|problem\w*|difficult\w*|lack\w*|suffer\w*|limit(?:ed|ation|ations|s)|fail\w*|costly|expensive|"
        r"hallucinat\w+|struggl\w+|issue\w*|hinder\w*|prone to|unable|bottleneck\w*|risk\w*|vulnerab\w+|despite|although)\b",
        re.IGNORECASE)),
)  # fmt: skip


@dataclass(frozen=True)
class SourceSentence:
    """A sentence of an abstract that can stand alone once its subject is named.

    Attributes:
        span: where it stands.
        text: the span's text.
        move: what it does in the abstract.
        position: share of the abstract before it, 0 to 1.
    """

    span: Span
    text: str
    move: MoveName
    position: float

    @property
    def words(self) -> int:
        return len(self.text.split())


def split(text: str) -> list[tuple[int, int]]:
    """Sentence spans [start, end) of a text; decimals, "et al." and "[1, 2]" do not end a sentence."""
    return list(_split(text))


@lru_cache(maxsize=4096)
def _split(text: str) -> tuple[tuple[int, int], ...]:
    import blingfire

    spans: list[tuple[int, int]] = []
    for paragraph in re.finditer(r"[^\n]+(?:\n(?!\n)[^\n]+)*", text):
        _, offsets = blingfire.text_to_sentences_and_offsets(paragraph.group(0))
        for start, end in offsets:
            spans.append((paragraph.start() + start, paragraph.start() + end))
    return tuple(_join_broken(text, spans))


def _join_broken(text: str, spans: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Join a sentence to the next where the stop was none: after an abbreviation, before a small letter or a digit."""
    pending: tuple[int, int] | None = None
    for start, end in spans:
        if pending is not None:
            before, after = text[pending[0] : pending[1]], text[start:end]
            cut = re.search(
                r"(?:\b(?:et al|e\.g|i\.e|vs|cf|resp|approx|Fig|Eq|Sec|Dr|No|St|w\.r\.t|a\.k\.a)\.|[^.!?…”\")])$",
                before,
            )
            if "\n\n" not in text[pending[1] : start] and (cut or re.match(r"[a-z\d%,;]", after)):
                pending = (pending[0], end)
                continue
            yield pending
        pending = (start, end)
    if pending is not None:
        yield pending


def usable(paper: Paper) -> list[SourceSentence]:
    """The sentences of a paper's abstract that can be quoted or adapted, in order."""
    text = paper.abstract or ""
    found = []
    for start, end in split(text):
        sentence = text[start:end]
        if not stands_alone(sentence):
            continue
        span = Span(paper.paper_id, start, end)
        found.append(SourceSentence(span, sentence, move(sentence, _own_name(paper)), start / max(len(text), 1)))
    return found


def _own_name(paper: Paper) -> str | None:
    """The name a paper gives its contribution: what stands before the colon of its title, if it looks like a name."""
    head, colon, _ = paper.title.partition(":")
    return head.strip() if colon and len(head.split()) <= 2 and any(c.isupper() for c in head[1:]) else None


def move(sentence: str, own_name: str | None = None) -> MoveName:
    """What a sentence does, by its cues; background where there are none.

    Args:
        own_name: name of the paper's contribution: a sentence that begins with it says what it is or does.
    """
    if own_name and sentence.startswith(own_name) and not _MOVES[1][1].search(sentence):
        return "method"
    if _THIS_PAPER.match(sentence) or re.search(
        r"\bwe (?:propose|introduce|present|develop)\b", sentence, re.IGNORECASE
    ):
        return "method"
    return next((name for name, pattern in _MOVES if pattern.search(sentence)), "background")


def stands_alone(sentence: str) -> bool:
    """Whether a sentence can leave its abstract: whole, of readable length, pointing at nothing outside itself."""
    words = sentence.split()
    if not MIN_WORDS <= len(words) <= MAX_WORDS or not sentence.endswith((".", ".”", '."')):
        return False
    if (
        _MARKUP.search(sentence)
        or _RUN_ON.search(sentence)
        or _REFERS_ELSEWHERE.search(_after_subject(sentence))
        or not _balanced(sentence)
    ):
        return False
    if not _THIS_PAPER.match(sentence) and _EARLY_POINTER.match(sentence):
        return False
    if not (sentence[0].isupper() or sentence[0].isdigit()):
        return False
    return bool(_THIS_PAPER.match(sentence)) or not _DANGLING.match(sentence)


def _after_subject(sentence: str) -> str:
    """The sentence without an opening that names the paper itself, which an edit will replace."""
    opening = re.match(
        r"(?:in |through(?:out)? )?(?:this|our|the present) (?:paper|work|article|study|survey|review)\b,?",
        sentence,
        re.IGNORECASE,
    )
    return sentence[opening.end() :] if opening else sentence


def _balanced(text: str) -> bool:
    return all(text.count(a) == text.count(b) for a, b in ("()", "[]", "“”")) and text.count('"') % 2 == 0
