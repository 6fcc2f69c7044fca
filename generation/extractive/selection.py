"""Which sentences of which papers make the text of a section: near to its subject, new beside each other.

Belongs here: scoring and choosing. Not here: what a sentence may look like (`sentences`, `adaptation`, `standing`), what
full texts add behind these sentences (`details`), and the order of the text (`arranging`).
"""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from generation.cards import PaperCard
from generation.extractive.adaptation import adapt
from generation.extractive.fulltext import sentences_in_full
from generation.extractive.phrases import content_stems, root
from generation.extractive.sentences import MoveName, SourceSentence, own_name, whole_sentences
from generation.values import Paper, Sentence, Span
from generation.writing import Evidence, EvidencePassage

Embed = Callable[[Sequence[str]], np.ndarray]

TOO_ALIKE = 0.8
"""Cosine above which two sentences say the same."""

_ALIKE_IN_GENERAL = 0.7
"""The same for general sentences, which abstracts of one field share almost word for word."""

_EARLY = 0.3
FIGURE = re.compile(r"\d+(?:\.\d+)?\s?(?:%|points|times|x\b|×)")
_NAMING = {"name the authors", "name the author", "name the owner", "name the paper"}
_VACUOUS = re.compile(
    r"\b(?:future (?:research |work )?(?:directions?|avenues?|work|research)|promising directions?|"
    r"comprehensive (?:overview|review|survey)|extensive (?:experiments|evaluations?|quantitative)[^.]{0,30}(?:conduct|"
    r"perform|carried)|(?:conduct|perform)\w* (?:extensive|comprehensive|thorough)|organi[sz]ed as|rest of|we hope|"
    r"serves? to facilitate|rapidly (?:changing|evolving)|(?:impressive|remarkable|"
    r"significant) (?:\w+ )?(?:performance|capabilit\w+|abilit\w+|success|promise|achievements?)|huge popularity|"
    r"insights into|shed\w* light|paves? the way|effectiveness of (?:the|their)|aims? to (?:conduct|provide)|"
    r"(?:conduct|provide)s? an? (?:\w+ )?survey|opens? up|in recent years|considerable attention|"
    r"significant attention)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Option:
    """A sentence a paper offers, ready to be printed.

    Attributes:
        vector: unit vector of its text.
        relevance: cosine to the subject.
    """

    paper: Paper
    sentence: Sentence
    move: MoveName
    position: float
    vector: np.ndarray
    relevance: float

    @property
    def words(self) -> int:
        return len(self.sentence.text.split())

    @property
    def is_of_text(self) -> bool:
        """Whether it stands in the full text, not in the abstract."""
        return self.sentence.spans[0].source == "passage"

    @property
    def is_general(self) -> bool:
        """Whether it speaks of the matter, not of what somebody did: early in its abstract, in nobody's name."""
        return self.move in ("background", "problem") and self.position < _EARLY and self.is_impersonal

    @property
    def is_impersonal(self) -> bool:
        """Whether it names neither people nor the paper's own system, and measures nothing."""
        own = own_name(self.paper)
        names = any(e.name in _NAMING for e in self.sentence.edits)
        return not names and not FIGURE.search(self.sentence.text) and not (own and own in self.sentence.text)


def options_of(
    evidence: Sequence[Evidence],
    subject: np.ndarray,
    embed: Embed,
    about: str,
    avoid: Collection[Span] = (),
    moves: Collection[MoveName] | None = None,
) -> list[Option]:
    """The sentences the papers offer, embedded in one call; of a paper's, those nearest to `about` in words.

    Args:
        subject: unit vector of what the section is about.
        about: the same in words; embedding every sentence of every abstract would take minutes.
        avoid: spans that are printed elsewhere.
        moves: only sentences of these moves, None for all.
    """
    words = frozenset(root(s) for s in content_stems(about))
    found: dict[str, tuple[Paper, Sentence, MoveName, float]] = {}
    for item in evidence:
        fitting = [
            (source, sentence)
            for source, sentence in _offers(item.paper, item.card, item.passages)
            if source.span not in avoid and (moves is None or source.move in moves)
        ]
        for source, sentence in _shortlist(fitting, words):
            found.setdefault(sentence.text, (item.paper, sentence, source.move, source.position))
    if not found:
        return []
    vectors = embed(list(found))
    relevance = np.round(vectors @ subject, 6)
    return [Option(*offer, vectors[i], float(relevance[i])) for i, offer in enumerate(found.values())]


_SHORTLIST: dict[MoveName, int] = {"method": 2, "finding": 2, "background": 1, "problem": 1, "open": 1}
_SHORTLIST_IN_FULL: dict[MoveName, int] = {"method": 4, "finding": 4, "open": 2}


def _shortlist(
    offers: Sequence[tuple[SourceSentence, Sentence]], words: frozenset[str]
) -> list[tuple[SourceSentence, Sentence]]:
    """A few sentences of each move, of abstract and full text, those that share most words with the subject.

    They come in the abstract's order, those of the full text in that of their card and passages.
    """
    kept: list[tuple[SourceSentence, Sentence]] = []
    for source, sizes in (("abstract", _SHORTLIST), ("passage", _SHORTLIST_IN_FULL)):
        for move, most in sizes.items():
            own = [o for o in offers if o[0].move == move and o[0].span.source == source]
            kept += sorted(own, key=lambda o: (-len(words & roots(o[0].text)), o[0].position))[:most]
    return sorted(kept, key=lambda o: o[0].position)


@lru_cache(maxsize=16384)
def roots(text: str) -> frozenset[str]:
    return frozenset(root(s) for s in content_stems(text))


@lru_cache(maxsize=8192)
def _offers(
    paper: Paper, card: PaperCard | None, passages: tuple[EvidencePassage, ...]
) -> tuple[tuple[SourceSentence, Sentence], ...]:
    """Each sentence of a paper that can be printed, with its source; a paper is evidence of many sections."""
    sources = [*whole_sentences(paper), *sentences_in_full(paper, card, passages)]
    adapted = ((source, adapt(source, paper)) for source in sources)
    return tuple((source, sentence) for source, sentence in adapted if sentence is not None)


_MAIN_BONUS = {"method": 0.35, "finding": 0.1, "background": -0.25, "problem": -0.25, "open": -0.3}


def choose_main(options: Sequence[Option], paper_order: Sequence[str], most: int) -> list[Option]:
    """One sentence for each of up to `most` papers, in the papers' order: what the paper did or found."""
    offers: dict[str, list[Option]] = {}
    for option in options:
        offers.setdefault(option.paper.paper_id, []).append(option)
    chosen: list[Option] = []
    has_choice = len(paper_order) > most
    for paper_id in paper_order:
        if len(chosen) == most:
            break
        own = offers.get(paper_id, [])
        fresh = [o for o in own if redundancy(o, chosen) < TOO_ALIKE] or ([] if has_choice else own)
        best = max(fresh, key=lambda o: (_main_score(o, chosen), -o.position), default=None)
        # Where there is a choice of papers, one whose abstract says nothing of its own is passed over.
        if best is not None and (best.move in ("method", "finding") or not has_choice):
            chosen.append(best)
    return chosen


def _main_score(option: Option, chosen: Sequence[Option]) -> float:
    adapted = 0.05 if option.sentence.kind == "adapted" else 0.0
    crowd = 0.3 * max(0.0, redundancy(option, chosen) - 0.45)
    # Among long sentences a short one is welcome.
    short = 0.1 if option.words <= 15 else 0.0
    # An abstract says what a paper is about; a sentence from within it takes that place where it fits much better.
    inner = 0.3 if option.is_of_text else 0.0
    return option.relevance + _MAIN_BONUS[option.move] + adapted + short - inner - crowd - dullness(option)


def dullness(option: Option) -> float:
    """Long sentences and such as could stand in any abstract."""
    return 0.004 * max(0, option.words - 42) + (0.2 if _VACUOUS.search(option.sentence.text) else 0.0)


def choose_findings(options: Sequence[Option], chosen: Sequence[Option], most: int) -> list[Option]:
    """What papers found beyond their main sentence, one a paper, figures first."""
    main = {o.paper.paper_id: o for o in chosen}
    taken = {o.sentence.text for o in chosen}
    fitting = [
        o
        for o in options
        if o.move == "finding" and not o.is_of_text and o.paper.paper_id in main and o.sentence.text not in taken
        and main[o.paper.paper_id].position < o.position
    ]  # fmt: skip
    return _spread(sorted(fitting, key=lambda o: (-_finding_score(o), o.sentence.text)), chosen, most)


def _finding_score(option: Option) -> float:
    return option.relevance + 0.12 * bool(FIGURE.search(option.sentence.text)) - dullness(option) - 0.003 * option.words


def choose_general(
    options: Sequence[Option], chosen: Sequence[Option], most: int, centre: np.ndarray | None = None
) -> list[Option]:
    """Sentences that speak of the matter, one a paper, nearest to the subject (and to `centre`) first."""

    def score(option: Option) -> float:
        near = 0.0 if centre is None else float(np.round(option.vector @ centre, 6))
        early = 0.1 * (1 - option.position)
        return (
            option.relevance
            + near
            + early
            + 0.04 * (option.move == "problem")
            - dullness(option)
            - 0.004 * option.words
        )

    fitting = [o for o in options if o.is_general]
    ordered = sorted(fitting, key=lambda o: (-score(o), o.sentence.text))
    return _spread(ordered, chosen, most, _ALIKE_IN_GENERAL)


def choose_any(options: Sequence[Option], chosen: Sequence[Option], most: int) -> list[Option]:
    """The most relevant sentences that are not chosen yet, one a paper."""
    ordered = sorted(options, key=lambda o: (-o.relevance + dullness(o), o.sentence.text))
    return _spread(ordered, chosen, most)


def choose_definition(options: Sequence[Option], topic_roots: Collection[str]) -> Option | None:
    """A sentence that says what the topic is or why it matters: the topic's words are its subject."""

    def score(option: Option) -> float:
        opening = [root(part) for part in re.findall(r"[a-z]+", option.sentence.text.lower())[:6]]
        named = len(set(opening) & set(topic_roots)) / max(len(set(topic_roots)), 1)
        # "Textbook question answering" is not question answering.
        named *= 1.0 if opening[:1] and opening[0] in topic_roots else 0.6
        defines = bool(_DEFINES.search(option.sentence.text))
        near = 0.5 * option.paper.similarity + 0.05 * float(np.log1p(option.paper.citation_count))
        return option.relevance + near + 0.4 * named + 0.3 * defines - 0.2 * option.position - dullness(option)

    # What stands within a text, such as a limitation, opens no section.
    fitting = [o for o in options if o.is_impersonal and not o.is_of_text]
    return max(fitting, key=lambda o: (score(o), o.sentence.text), default=None)


_DEFINES = re.compile(
    r"\b(?:is an?|are an?|refers? to|combines?|couples?|augments?|enhances?|integrates?|enables?|aims? (?:to|at)|"
    r"allows?|extends?|incorporates?|has (?:become|emerged)|have (?:become|emerged))\b",
    re.IGNORECASE,
)


def redundancy(option: Option, chosen: Sequence[Option]) -> float:
    """Cosine to the most similar of the chosen sentences."""
    return max((float(option.vector @ other.vector) for other in chosen), default=0.0)


def _spread(
    ordered: Sequence[Option], chosen: Sequence[Option], most: int, too_alike: float = TOO_ALIKE
) -> list[Option]:
    """The first of the ordered that are new beside what is chosen and beside each other, one a paper."""
    found: list[Option] = []
    taken = {o.sentence.text for o in chosen}
    papers: set[str] = set()
    for option in ordered:
        if len(found) == most:
            break
        if option.paper.paper_id in papers or option.sentence.text in taken:
            continue
        if redundancy(option, [*chosen, *found]) < too_alike:
            found.append(option)
            papers.add(option.paper.paper_id)
    return found


def weight(item: Evidence) -> float:
    """Nearness, and a little for papers others build on and for surveys."""
    survey = 0.08 if any(w in item.paper.title.lower() for w in ("survey", "review")) else 0.0
    return item.similarity + 0.06 * float(np.log1p(item.paper.citation_count)) + survey
