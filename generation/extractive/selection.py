"""Which sentences of which papers make the text of a section: near to its subject, new beside each other.

Belongs here: scoring and choosing. Not here: what a sentence may look like (`sentences`, `adaptation`) and the
order of the text (`prose`).
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np

from generation.extractive.adaptation import adapt
from generation.extractive.sentences import MoveName, usable
from generation.values import Paper, Sentence
from generation.writing import Evidence

Embed = Callable[[Sequence[str]], np.ndarray]

TOO_ALIKE = 0.82
"""Cosine above which two sentences say the same."""


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


def options_of(
    evidence: Sequence[Evidence],
    subject: np.ndarray,
    embed: Embed,
    avoid: Collection[str] = (),
    moves: Collection[MoveName] | None = None,
) -> list[Option]:
    """All sentences the papers offer, embedded in one call.

    Args:
        subject: unit vector of what the section is about.
        avoid: texts that stand elsewhere.
        moves: only sentences of these moves, None for all.
    """
    found: list[tuple[Paper, Sentence, MoveName, float]] = []
    seen = set(avoid)
    for item in evidence:
        for source in usable(item.paper):
            if moves is not None and source.move not in moves:
                continue
            sentence = adapt(source, item.paper)
            if sentence is not None and sentence.text not in seen:
                seen.add(sentence.text)
                found.append((item.paper, sentence, source.move, source.position))
    if not found:
        return []
    vectors = embed([sentence.text for _, sentence, _, _ in found])
    relevance = vectors @ subject
    return [
        Option(paper, sentence, move, position, vectors[i], float(relevance[i]))
        for i, (paper, sentence, move, position) in enumerate(found)
    ]


_MAIN_BONUS = {"method": 0.25, "finding": 0.1, "background": 0.0, "problem": -0.05, "open": -0.1}


def choose_main(options: Sequence[Option], paper_order: Sequence[str], most: int) -> list[Option]:
    """One sentence for each of up to `most` papers, in the papers' order: what the paper did or found."""
    chosen: list[Option] = []
    for paper_id in paper_order:
        if len(chosen) == most:
            break
        own = [o for o in options if o.paper.paper_id == paper_id]
        best = max(own, key=lambda o: (_main_score(o, chosen), -o.position), default=None)
        if best is not None and _redundancy(best, chosen) < TOO_ALIKE:
            chosen.append(best)
    return chosen


def _main_score(option: Option, chosen: Sequence[Option]) -> float:
    adapted = 0.05 if option.sentence.kind == "adapted" else 0.0
    length = -0.004 * max(0, option.words - 34)
    return (
        option.relevance
        + _MAIN_BONUS[option.move]
        + adapted
        + length
        - 0.3 * max(0.0, _redundancy(option, chosen) - 0.5)
    )


def choose_more(
    options: Sequence[Option], chosen: Sequence[Option], moves: Collection[MoveName], most: int, per_paper: int = 1
) -> list[Option]:
    """Further sentences of the given moves, most relevant first, none alike to what is chosen."""
    found: list[Option] = []
    taken = {o.sentence.text for o in chosen}
    for option in sorted(options, key=lambda o: (-_length_fit(o), o.sentence.text)):
        if len(found) == most:
            break
        same = sum(o.paper.paper_id == option.paper.paper_id for o in found)
        if option.move not in moves or option.sentence.text in taken or same >= per_paper:
            continue
        if _redundancy(option, [*chosen, *found]) < TOO_ALIKE:
            found.append(option)
    return found


def _length_fit(option: Option) -> float:
    return option.relevance - 0.004 * max(0, option.words - 32)


def _redundancy(option: Option, chosen: Sequence[Option]) -> float:
    return max((float(option.vector @ other.vector) for other in chosen), default=0.0)
