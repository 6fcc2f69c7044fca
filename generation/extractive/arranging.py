"""From chosen sentences to paragraphs in a readable order.

A paragraph moves from the general to the particular: what the matter is, then what was done about it in order of
time, a finding directly behind the sentence of the paper it belongs to.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from generation.extractive.adaptation import adapt, with_pronoun
from generation.extractive.clustering import centroids, ward
from generation.extractive.connecting import by_contrast, later, on_the_same, topic_sentence
from generation.extractive.selection import Option, choose_general, roots
from generation.extractive.sharing import WEAK_ROOTS, Shared, counted, shared_names, shared_phrase
from generation.extractive.speakers import Manner
from generation.naming import short_authors
from generation.values import Paper, Paragraph, Sentence

_PAPERS = 4
"""Papers of a paragraph at most."""

_SENTENCES = 6
"""Sentences of a paragraph at most."""

_LEAST_SENTENCES = 3
_TIED = 3
"""Papers a phrase must tie to make a paragraph."""

_SHARED_ROOTS = 2
"""Roots of words an opener shares with a sentence it opens."""

_OPENER_WORDS = 32


def grouped(chosen: Sequence[Option], vectors: Mapping[str, np.ndarray | None]) -> list[list[Option]]:
    """Groups of two to four neighbouring papers where there are so many, older groups first, each in order of time."""
    if not chosen:
        return []
    matrix = np.stack([_place(o, vectors) for o in chosen])
    labels = _without_singles(matrix, ward(matrix, -(-len(chosen) // 3)))
    groups: list[list[Option]] = []
    for label in range(labels.max() + 1):
        members = sorted((o for o, own in zip(chosen, labels, strict=True) if own == label), key=_day)
        count = -(-len(members) // _PAPERS)
        groups += [members[i * len(members) // count : (i + 1) * len(members) // count] for i in range(count)]
    return sorted(groups, key=lambda g: (_median_day(g), _day(g[0])))


@dataclass(frozen=True)
class Setting:
    """What a leaf's paragraphs are arranged in.

    Attributes:
        turn: the leaf's place among the headings of the body, so that neighbours are worded otherwise.
        taken: words of heading and topic.
        around: papers of the leaf's evidence.
        headings: all headings of the survey.
    """

    turn: int = 0
    taken: tuple[str, ...] = ()
    around: tuple[Paper, ...] = ()
    headings: tuple[str, ...] = ()

    @property
    def heading_roots(self) -> tuple[frozenset[str], ...]:
        return tuple(roots(heading) for heading in self.headings)

    @property
    def roots(self) -> frozenset[str]:
        return roots(" ".join(self.taken))


@dataclass(frozen=True)
class Theme:
    """Papers of a paragraph, and the phrase they share where they were put together for it."""

    options: tuple[Option, ...]
    shared: Shared | None = None


def themed(chosen: Sequence[Option], vectors: Mapping[str, np.ndarray | None], setting: Setting) -> list[Theme]:
    """Paragraphs by what papers share: first those that a phrase ties, then neighbours, older ones first.

    Among so many papers that they make several paragraphs, no more than half are put together by phrases.
    """
    left = list(chosen)
    themes: list[Theme] = []
    said: set[str] = set()
    while len(left) >= _TIED and len(left) * 2 > len(chosen):
        shared = shared_phrase([o.paper for o in left], setting.around, setting.roots, setting.heading_roots, said)
        if shared is None:
            break
        said.add(shared.text)
        spoken = roots(shared.text)
        members = [
            o
            for o in left
            if o.paper.paper_id in shared.paper_ids and spoken <= roots(f"{o.paper.title} {o.source.text}")
        ]
        if len(members) < _TIED:
            continue  # the abstracts have the phrase, but nothing that is printed here
        if len(members) > _PAPERS:
            members = sorted(members, key=lambda o: (-o.relevance, o.paper.paper_id))[:_PAPERS]
        told = counted(shared.text, [o.paper for o in members], any_case=True)
        themes.append(Theme(tuple(sorted(members, key=_day)), told))
        left = [o for o in left if o not in members]
    themes += [Theme(tuple(group)) for group in grouped(left, vectors)]
    return sorted(themes, key=lambda t: (_median_day(t.options), _day(t.options[0])))


def paragraphs(
    themes: Sequence[Theme],
    findings: Sequence[Option],
    offered: Sequence[Option],
    setting: Setting,
) -> list[Paragraph]:
    """One paragraph a theme: what its papers are about, then each paper's sentences in order of time.

    Args:
        findings: sentences to stand behind their paper's.
        offered: sentences openers may be taken from.
    """
    printed: list[Paragraph] = []
    used = [o for theme in themes for o in theme.options] + list(findings)
    common = _common_roots(used) | setting.roots
    wording = Wording(setting.turn)
    openers, told = 0, 0
    for blocks, shared in _evened([(_blocks(t.options, findings), t.shared) for t in themes]):
        group = [block[0] for block in blocks]
        opener = []
        if not shared and not any(o.is_general for o in group) and 2 * openers <= len(printed):
            opener = _opener(group, offered, used, common)
        openers += bool(opener)
        used += opener
        sentences = worded([[o] for o in opener] + blocks, wording, common)
        if shared:
            sentences.insert(0, topic_sentence(shared, 3 * setting.turn + told))
            told += 1
        printed.append(tuple(sentences))
    return printed


@dataclass
class Wording:
    """What a leaf has said so far of how it words things.

    Attributes:
        turn: grows with each sentence.
        is_timed: whether the paragraph before told how much time had passed.
    """

    turn: int
    is_timed: bool = False


def worded(blocks: Sequence[Sequence[Option]], wording: Wording, common: frozenset[str]) -> list[Sentence]:
    """The sentences of a paragraph as they stand beside each other, tied where the data bears it.

    Args:
        blocks: the options of each paper, one paper after the other.
        common: roots of words that tell nothing in this section.
    """
    printed: list[Sentence] = []
    last: Option | None = None
    is_timed = wording.is_timed
    wording.is_timed = False
    for block in blocks:
        for place, option in enumerate(block):
            sentence = _worded(option, place > 0, printed[-1] if printed else None, wording)
            if last is not None and place == 0:
                tied = by_contrast(last, option, sentence, common) or on_the_same(
                    sentence, printed[-1], [s.text for s in shared_names([last.paper, option.paper], least=2)]
                )
                if tied is None and not is_timed and not wording.is_timed and not option.is_general:
                    tied = later(sentence, last.paper, option.paper, is_year_told=_tells_year(printed[-1]))
                    wording.is_timed = tied is not None
                sentence = tied or sentence
            printed.append(sentence)
            last = option
    return printed


def _worded(option: Option, follows: bool, before: Sentence | None, wording: Wording) -> Sentence:
    """The option's sentence in the wording that fits behind the one before."""
    paper, known = option.paper, short_authors(option.paper)
    follows = follows and before is not None and before.cited_ids == (paper.paper_id,)
    begins_alike = before is not None and before.kind == "adapted" and bool(_WITH_AUTHORS.match(before.text))
    by_name = known is None or begins_alike or wording.turn % 2 == 0
    wording.turn += 1
    for manner in (Manner(follows, wording.turn, by_name), Manner(follows, wording.turn), Manner(follows=follows)):
        sentence = adapt(option.source, paper, manner)
        if sentence is not None:
            break
    else:
        return option.sentence
    if follows and known and any(known[0] in e.after or e.after.endswith("They") for e in before.edits):
        return with_pronoun(sentence)
    return sentence


def _tells_year(sentence: Sentence) -> bool:
    return any(row.name == "year" for row in sentence.rows)


_WITH_AUTHORS = re.compile(r"[A-Z][\w’'-]+(?: [A-Z][\w’'-]+)*(?: et al\.| and [A-Z][\w’'-]+)? [a-z]+ ")


def _blocks(group: Sequence[Option], findings: Sequence[Option]) -> list[list[Option]]:
    """Each paper's sentences as they stand in its abstract, the papers in the group's order, general ones first."""
    ordered = [o for o in group if o.is_general] + [o for o in group if not o.is_general]
    return [
        [main, *sorted((f for f in findings if f.paper.paper_id == main.paper.paper_id), key=lambda o: o.position)]
        for main in ordered
    ]


_Blocks = list[list[Option]]


def _evened(themes: Sequence[tuple[_Blocks, Shared | None]]) -> list[tuple[_Blocks, Shared | None]]:
    """Paragraphs of three to six sentences where the papers allow: long ones are cut, stubs join a neighbour."""
    parts: list[tuple[_Blocks, Shared | None]] = []
    for blocks, shared in themes:
        count = -(-_size(blocks) // (_SENTENCES - bool(shared)))
        for i in range(count):
            piece = blocks[i * len(blocks) // count : (i + 1) * len(blocks) // count]
            parts.append((piece, None if i else shared))
    joined: list[tuple[_Blocks, Shared | None]] = []
    for blocks, shared in (p for p in parts if p[0]):
        last = joined[-1] if joined else None
        is_stub = last and not shared and not last[1] and min(_size(blocks), _size(last[0])) < _LEAST_SENTENCES
        if is_stub and _size(blocks) + _size(last[0]) <= _SENTENCES:
            joined[-1] = (sorted(last[0] + blocks, key=lambda b: (not b[0].is_general, _day(b[0]))), None)
        else:
            joined.append((blocks, shared))
    return joined


def _size(blocks: _Blocks) -> int:
    return sum(len(block) for block in blocks)


def _opener(
    group: Sequence[Option], offered: Sequence[Option], used: Sequence[Option], common: frozenset[str]
) -> list[Option]:
    """A general sentence on what at least two of the group's papers are about, if one of them has any."""
    ids = {o.paper.paper_id for o in group}
    told = [roots(f"{o.paper.title} {o.source.text}") - common - WEAK_ROOTS for o in group]

    def is_shared(option: Option) -> bool:
        own = roots(option.sentence.text) - common
        return (
            sum(len(own & other) >= _SHARED_ROOTS for other in told) >= min(2, len(group))
            and option.words <= _OPENER_WORDS
            and not _HYPE.search(option.sentence.text)
        )

    own = [o for o in offered if o.paper.paper_id in ids and o.leaning.is_free and is_shared(o)]
    return choose_general(own, used, 1, np.mean([o.vector for o in group], axis=0))


_HYPE = re.compile(
    r"\b(?:impressive|remarkable|excellent|superior|strong|promising|great|significant|outstanding|unprecedented|powerful|"
    r"(?:huge|tremendous|notable|considerable|wide|growing|increasing|much|extensive) (?:attention|interest|success|progress|potential)|"
    r"(?:have|has) (?:emerged|shown|demonstrated|achieved|become|gained|attracted|revolutioni[sz]ed|received|drawn|garnered|made|"
    r"led|significantly|recently)|(?:is|are) (?:becoming|an? (?:important|crucial|essential|fundamental|popular|key|vital|significant|critical))|"
    r"plays? an?|in recent years|recently|state-of-the-art|with the)\b",
    re.IGNORECASE,
)


def _common_roots(options: Sequence[Option]) -> frozenset[str]:
    """Roots of words that a third of the leaf's sentences have."""
    counts = Counter(root for o in options for root in roots(o.source.text))
    return frozenset(root for root, count in counts.items() if count > max(2, len(options) / 3))


def in_time(chosen: Sequence[Option]) -> list[Option]:
    return sorted(chosen, key=_day)


def flowing(sentences: Sequence[Sentence]) -> Paragraph:
    """The sentences with "They" where the one before has just named the same paper's authors."""
    printed: list[Sentence] = []
    for sentence in sentences:
        before = printed[-1] if printed else None
        names_them = (
            before is not None and before.cited_ids == sentence.cited_ids and before.text.startswith(_subject(sentence))
        )
        printed.append(with_pronoun(sentence) if names_them and _subject(sentence) else sentence)
    return tuple(printed)


def _subject(sentence: Sentence) -> str:
    """The authors' name with which an adapted sentence begins."""
    named = [e.after for e in sentence.edits if e.name == "name the authors"]
    return named[0] if named and sentence.text.startswith(named[0]) else ""


def _without_singles(matrix: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Labels without groups of one: such a paper joins the group it is nearest to."""
    labels = labels.copy()
    while labels.max() > 0:
        sizes = np.bincount(labels)
        alone = np.flatnonzero(sizes == 1)
        if not len(alone):
            break
        nearness = matrix[labels == alone[0]][0] @ centroids(matrix, labels).T
        nearness[alone[0]] = -np.inf
        labels[labels == alone[0]] = int(np.argmax(nearness))
        labels = np.unique(labels, return_inverse=True)[1]
    return labels


def _median_day(group: Sequence[Option]) -> float:
    return float(np.median([o.paper.submitted_latest.toordinal() for o in group]))


def _day(option: Option) -> tuple:
    return (option.paper.submitted_latest, option.paper.paper_id)


def _place(option: Option, vectors: Mapping[str, np.ndarray | None]) -> np.ndarray:
    found = vectors.get(option.paper.paper_id)
    return option.vector if found is None else found
