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
from generation.extractive.adaptation import adapt, names_speaker
from generation.extractive.fulltext import sentences_in_full
from generation.extractive.introducing import named_in
from generation.extractive.leaning import Leaning, leaning
from generation.extractive.phrases import content_stems, root
from generation.extractive.refusals import is_vacuous, says_nothing
from generation.extractive.sentences import MoveName, SourceSentence, own_name, whole_sentences
from generation.extractive.speakers import Manner
from generation.misprints import is_unclear, joined_words
from generation.naming import short_authors
from generation.values import Paper, Sentence, Span
from generation.writing import Evidence, EvidencePassage

Embed = Callable[[Sequence[str]], np.ndarray]

TOO_ALIKE = 0.8
"""Cosine above which two sentences say the same."""

_ALIKE_IN_GENERAL = 0.7
"""The same for general sentences, which abstracts of one field share almost word for word."""

_EARLY = 0.3
_USUAL_WORDS, _FAR = 23, 12
"""Words of a usual sentence of an abstract, and how far from it a length gains."""

_FEW = 8
"""Papers up to which each is told of, whatever its abstract offers."""

_STUB = 9
"""Words below which a sentence without a figure says little."""
FIGURE = re.compile(r"\d+(?:\.\d+)?\s?(?:%|points|times|x\b|×)")


@dataclass(frozen=True)
class Option:
    """A sentence a paper offers, ready to be printed.

    Attributes:
        vector: unit vector of its text.
        relevance: cosine to the subject.
        source: the sentence it was made from, to be worded again where it stands.
        leaning: what must stand before it.
    """

    paper: Paper
    sentence: Sentence
    move: MoveName
    position: float
    vector: np.ndarray
    relevance: float
    source: SourceSentence
    leaning: Leaning

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
        return (
            not names_speaker(self.sentence)
            and not FIGURE.search(self.sentence.text)
            and not (own and own in self.sentence.text)
        )


def options_of(
    evidence: Sequence[Evidence],
    subject: np.ndarray,
    embed: Embed,
    about: str,
    avoid: Collection[Span] = (),
    moves: Collection[MoveName] | None = None,
    *,
    with_leaning: bool = False,
) -> list[Option]:
    """The sentences the papers offer, embedded in one call; of a paper's, those nearest to `about` in words.

    Args:
        subject: unit vector of what the section is about.
        about: the same in words; embedding every sentence of every abstract would take minutes.
        avoid: spans that are printed elsewhere.
        moves: only sentences of these moves, None for all.
        with_leaning: also sentences that need another of their paper before them.
    """
    words = frozenset(root(s) for s in content_stems(about))
    found: dict[str, tuple[Paper, Sentence, SourceSentence, Leaning]] = {}
    for item in evidence:
        fitting = [
            offer
            for offer in _offers(item.paper, item.card, item.passages)
            if offer[0].span not in avoid
            and (moves is None or offer[0].move in moves)
            and (with_leaning or offer[2].is_free)
        ]
        for source, sentence, needs in _shortlist(fitting, words):
            found.setdefault(sentence.text, (item.paper, sentence, source, needs))
    if not found:
        return []
    vectors = embed(list(found))
    relevance = np.round(vectors @ subject, 6)
    return [
        Option(paper, sentence, source.move, source.position, vectors[i], float(relevance[i]), source, needs)
        for i, (paper, sentence, source, needs) in enumerate(found.values())
    ]


_Offer = tuple[SourceSentence, Sentence, Leaning]

_SHORTLIST: dict[MoveName, int] = {"method": 3, "finding": 2, "background": 1, "problem": 1, "open": 1}
_SHORTLIST_IN_FULL: dict[MoveName, int] = {"method": 4, "finding": 4, "open": 2}


def _shortlist(offers: Sequence[_Offer], words: frozenset[str]) -> list[_Offer]:
    """A few sentences of each move, of abstract and full text, those that share most words with the subject.

    Of the abstract's those that may be said first of their paper are preferred to those that lean on another.

    They come in the abstract's order, those of the full text in that of their card and passages.
    """
    kept: list[_Offer] = []
    for source, sizes in (("abstract", _SHORTLIST), ("passage", _SHORTLIST_IN_FULL)):
        for move, most in sizes.items():
            own = [o for o in offers if o[0].move == move and o[0].span.source == source]
            kept += sorted(own, key=lambda o: (-_aptness(o, words), o[0].position))[:most]
    return sorted(kept, key=lambda o: o[0].position)


def _aptness(offer: _Offer, words: frozenset[str]) -> float:
    source, _, needs = offer
    return len(words & roots(source.text)) + 1.5 * bool(needs.introduces) + 0.5 * needs.is_free


@lru_cache(maxsize=16384)
def roots(text: str) -> frozenset[str]:
    return frozenset(root(s) for s in content_stems(text))


@lru_cache(maxsize=8192)
def _offers(paper: Paper, card: PaperCard | None, passages: tuple[EvidencePassage, ...]) -> tuple[_Offer, ...]:
    """Each sentence of a paper that can be printed, with its source; a paper is evidence of many sections."""
    found = []
    unclear = joined_words([paper.abstract or ""], [paper.title])
    for source in (*whole_sentences(paper), *sentences_in_full(paper, card, passages)):
        if says_nothing(source.text) or is_unclear(source.text, unclear):
            continue
        follows = False
        sentence = adapt(source, paper, Manner(by_name=True))
        if sentence is None and short_authors(paper) is None:
            follows = True
            sentence = adapt(source, paper, Manner(follows=True))
        is_stub = sentence and names_speaker(sentence) and len(sentence.text.split()) < _STUB - 1
        if sentence is not None and not (is_stub and not re.search(r"\d", sentence.text)):
            needs = leaning(
                source, sentence.text, paper, names_speaker=names_speaker(sentence), follows=follows,
                is_changed=any(e.name == "drop report" for e in sentence.edits),
                is_owner_named=any(e.name == "name the owner" for e in sentence.edits),
            )  # fmt: skip
            found.append((source, sentence, needs))
    return tuple(found)


_MAIN_BONUS = {"method": 0.35, "finding": 0.1, "background": -0.25, "problem": -0.25, "open": -0.3}


def choose_main(options: Sequence[Option], paper_order: Sequence[str], most: int) -> list[Option]:
    """One sentence for each of up to `most` papers, in the papers' order: what the paper did or found."""
    offers: dict[str, list[Option]] = {}
    for option in options:
        offers.setdefault(option.paper.paper_id, []).append(option)
    chosen: list[Option] = []
    has_choice = len(paper_order) > most
    is_short = len(paper_order) <= min(most, _FEW)
    for paper_id in paper_order:
        if len(chosen) == most:
            break
        own = [o for o in offers.get(paper_id, []) if o.leaning.is_free]
        if not own and not has_choice:
            own = [o for o in offers.get(paper_id, []) if short_authors(o.paper) or not o.leaning.on_paper]
        fresh = [o for o in own if redundancy(o, chosen) < TOO_ALIKE] or ([] if has_choice else own)
        best = max(fresh, key=lambda o: (_main_score(o, chosen), -o.position), default=None)
        # Where there is a choice of papers, one whose abstract says nothing of its own is passed over.
        if best is not None and (best.move in ("method", "finding") or is_short):
            chosen.append(best)
    return chosen


def _main_score(option: Option, chosen: Sequence[Option]) -> float:
    adapted = 0.05 if option.sentence.kind == "adapted" else 0.0
    crowd = 0.3 * max(0.0, redundancy(option, chosen) - 0.45)
    # Among long sentences a short one is welcome.
    short = _uncommon_length(option)
    # An abstract says what a paper is about; a sentence from within it takes that place where it fits much better.
    inner = 0.3 if option.is_of_text else 0.0
    short += 0.12 * bool(option.leaning.introduces)
    return option.relevance + _MAIN_BONUS[option.move] + adapted + short - inner - crowd - dullness(option)


def _uncommon_length(option: Option) -> float:
    """Text reads better where short sentences stand among long ones: abstracts' are all alike."""
    return 0.018 * min(abs(option.words - _USUAL_WORDS), _FAR) * (1.0 if option.words < _USUAL_WORDS else 0.8)


_TRIES = re.compile(
    r"\b(?:seeks?|aims?|attempts?|tr(?:y|ies)|endeavou?rs?|strives?) to\b|(?:presents?|gives?|provides?|conducts?|offers?) (?:an?|the first|the) (?:[\w-]+ )?(?:study|analysis|overview|investigation|examination|review|discussion|survey|"
    r"comparison)|introduces? the (?:background|history|basics?)\b|two (?:key )?(?:components|stages|steps|phases|parts)\b"
)


def dullness(option: Option) -> float:
    """Long sentences, such as could stand in any abstract, and such as only say what was tried."""
    stub = 0.3 * (option.words < _STUB and not FIGURE.search(option.sentence.text))
    return (
        stub
        + 0.15 * bool(_TRIES.search(option.sentence.text))
        + 0.004 * max(0, option.words - 42)
        + (0.2 if is_vacuous(option.sentence.text) else 0.0)
    )


_FINDINGS: frozenset[MoveName] = frozenset(["finding"])


def choose_findings(
    options: Sequence[Option], chosen: Sequence[Option], most: int, moves: Collection[MoveName] = _FINDINGS
) -> list[Option]:
    """What papers found (or did) beyond their main sentence, one a paper, figures first."""
    main = {o.paper.paper_id: o for o in chosen}
    taken = {o.sentence.text for o in chosen}
    fitting = [
        o
        for o in options
        if o.move in moves and not o.is_of_text and o.paper.paper_id in main and o.sentence.text not in taken
        and can_follow(o, main[o.paper.paper_id])
    ]  # fmt: skip
    return _spread(sorted(fitting, key=lambda o: (-_finding_score(o), o.sentence.text)), chosen, most)


def can_follow(option: Option, main: Option) -> bool:
    """Whether a sentence may stand behind the first of its paper: what it leans on is there."""
    needs = option.leaning
    if option.position <= main.position or needs.uses - named_in(main.sentence.text, needs.uses):
        return False
    if needs.on_last:
        one, other = main.source.span, option.source.span
        return one.source == other.source == "abstract" and 0 <= other.start - one.end <= 2
    return not needs.on_paper or main.move == "method"


def _finding_score(option: Option) -> float:
    return (
        option.relevance
        + 0.12 * bool(FIGURE.search(option.sentence.text))
        - dullness(option)
        - 0.005 * option.words
        + _uncommon_length(option)
    )


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
    """Nearness to what is written about, standing in the topic, and a little for papers others build on and surveys."""
    survey = 0.08 if any(w in item.paper.title.lower() for w in ("survey", "review")) else 0.0
    return item.similarity + 1.5 * item.standing + 0.06 * float(np.log1p(item.paper.citation_count)) + survey
