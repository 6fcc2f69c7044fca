"""From chosen sentences to paragraphs in a readable order.

A paragraph moves from the general to the particular: what the matter is, then what was done about it in order of
time, a finding directly behind the sentence of the paper it belongs to.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from generation.extractive.adaptation import with_pronoun
from generation.extractive.clustering import centroids, ward
from generation.extractive.selection import Option, choose_general
from generation.values import Paragraph, Sentence

_PAPERS = 4
"""Papers of a paragraph at most."""

_SENTENCES = 6
"""Sentences of a paragraph at most."""


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
    return sorted(
        groups, key=lambda g: (float(np.median([o.paper.submitted_latest.toordinal() for o in g])), _day(g[0]))
    )


def paragraphs(
    groups: Sequence[Sequence[Option]], findings: Sequence[Option], offered: Sequence[Option]
) -> list[Paragraph]:
    """One paragraph a group; its opener is a general sentence of one of its papers, if it offers any.

    Args:
        findings: sentences to stand behind their paper's.
        offered: sentences openers may be taken from.
    """
    printed: list[Paragraph] = []
    used = [o for group in groups for o in group] + list(findings)
    for group in groups:
        ids = {o.paper.paper_id for o in group}
        own = [o for o in offered if o.paper.paper_id in ids]
        centre = np.mean([o.vector for o in group], axis=0)
        context = [o for o in group if o.is_general]
        opener = [] if context else choose_general(own, used, 1, centre)
        used += opener
        order = [*opener, *context]
        for option in (o for o in group if not o.is_general):
            further = [f for f in findings if f.paper.paper_id == option.paper.paper_id]
            order += sorted([option, *further], key=lambda o: o.position)
        # A finding of a paper whose only other sentence is general closes what that one opened.
        order += [f for f in findings if f.paper.paper_id in {o.paper.paper_id for o in context}]
        printed += [flowing([o.sentence for o in part]) for part in _cut(order)]
    return printed


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


def _cut(order: list[Option]) -> list[list[Option]]:
    """A long paragraph in equal parts, never between two sentences of one paper."""
    count = -(-len(order) // _SENTENCES)
    parts: list[list[Option]] = []
    for left in range(count, 1, -1):
        at = round(len(order) / left)
        while at < len(order) and order[at].paper.paper_id == order[at - 1].paper.paper_id:
            at += 1
        parts.append(order[:at])
        order = order[at:]
    return [p for p in (*parts, order) if p]


def _day(option: Option) -> tuple:
    return (option.paper.submitted_latest, option.paper.paper_id)


def _place(option: Option, vectors: Mapping[str, np.ndarray | None]) -> np.ndarray:
    found = vectors.get(option.paper.paper_id)
    return option.vector if found is None else found
