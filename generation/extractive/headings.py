"""Headings that name a concept of the field: chosen among key phrases of titles and headings of human outlines.

Groups are named together, so that a heading fits its own group better than the others and none comes twice.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from generation.extractive.phrases import Phrase, content_stems, headline, is_telling, phrases, spoken_of
from generation.values import Paper, Pattern

_COMMON_HEADING = re.compile(
    r"\b(?:introduction|conclusions?|concluding|related work|background|preliminar\w+|discussions?|references|overview|"
    r"summary|appendix|acknowledg\w+|future|outlook|abstract|motivation|contributions?|notation|definitions?|others?|"
    r"results?|experiments?|methods?|methodology|datasets?|perspectives?|challenges|limitations|taxonomy|scope|"
    r"organi[sz]ation|survey|review|open problems?|remarks|setup|formulation|miscellaneous)\b",
    re.IGNORECASE,
)
_CANDIDATES = 40
_MAX_WORDS = 6
_SINGLE_WORD_SHARE = 0.25


@dataclass(frozen=True)
class Heading:
    """A heading with its origin: the outline whose heading it is, or None for a key phrase."""

    text: str
    pattern: str | None
    support: int

    @property
    def origin(self) -> str:
        return f"human outline {self.pattern}" if self.pattern else "key phrases"


@dataclass(frozen=True)
class _Candidate:
    text: str
    stems: frozenset[str]
    coverage: np.ndarray  # share of each group's papers that speak of it
    support: np.ndarray  # papers of each group that speak of it
    pattern: str | None


def name_groups(
    groups: Sequence[Sequence[Paper]],
    centres: np.ndarray,
    topic: str,
    patterns: Sequence[Pattern],
    embed: Callable[[Sequence[str]], np.ndarray],
    taken: Sequence[str] = (),
) -> list[Heading]:
    """One heading for each group, in order.

    Args:
        groups: papers of each group.
        centres: unit centroids (groups, d).
        topic: the topic's title, whose words alone make no heading.
        patterns: human outlines whose headings are candidates.
        embed: texts → unit vectors.
        taken: headings that stand elsewhere.
    """
    topic_stems = content_stems(topic)
    candidates = _from_titles(groups, topic_stems) + _from_patterns(groups, patterns, topic_stems)
    if not candidates:
        return [_fallback(group, i) for i, group in enumerate(groups)]
    nearness = embed([c.text for c in candidates]) @ centres.T
    coverage = np.stack([c.coverage for c in candidates])
    human = np.array([c.pattern is not None for c in candidates], dtype=float)[:, None]
    score = _own_margin(nearness, 0.7) + 0.35 * nearness + 0.6 * _own_margin(coverage, 0.8) + 0.06 * human
    score = np.where(coverage > 0, score, -np.inf)
    return _assign(groups, candidates, score, taken)


def key_queries(group: Sequence[Paper], topic: str, count: int, others: Sequence[Paper] = ()) -> list[str]:
    """Phrases that a group's titles share and others' do not, best first: what to search for under a heading."""
    topic_stems = content_stems(topic)
    found = _from_titles([group, others] if others else [group], topic_stems)
    ranked = sorted(found, key=lambda c: (-c.coverage[0] + (c.coverage[1] if others else 0.0), c.text))
    chosen: list[_Candidate] = []
    for candidate in ranked:
        if candidate.support[0] and not any(candidate.stems <= c.stems or c.stems <= candidate.stems for c in chosen):
            chosen.append(candidate)
        if len(chosen) == count:
            break
    return [c.text for c in chosen]


def _own_margin(values: np.ndarray, weight: float) -> np.ndarray:
    """Each group's value less a share of the best of the other groups."""
    if values.shape[1] == 1:
        return values.copy()
    order = np.sort(values, axis=1)
    best, second = order[:, -1:], order[:, -2:-1]
    rival = np.where(values == best, second, best)
    return values - weight * rival


def _assign(groups, candidates: list[_Candidate], score: np.ndarray, taken: Sequence[str]) -> list[Heading]:
    """Best pairs first; a heading that shares most of its words with one already given is passed over."""
    used = [content_stems(t) for t in taken]
    chosen: dict[int, Heading] = {}
    pairs = [(score[c, g], -len(candidates[c].text), c, g) for c in range(len(candidates)) for g in range(len(groups))]
    for value, _, c, g in sorted(pairs, key=lambda p: (-p[0], p[1], p[2], p[3])):
        candidate = candidates[c]
        if g in chosen or value == -np.inf or any(_alike(candidate.stems, u) for u in used):
            continue
        chosen[g] = Heading(headline(candidate.text), candidate.pattern, int(candidate.support[g]))
        used.append(candidate.stems)
    for g, group in enumerate(groups):
        if g not in chosen:
            chosen[g] = _fallback(group, g)
    return [chosen[g] for g in range(len(groups))]


def _alike(a: frozenset[str], b: frozenset[str]) -> bool:
    return bool(a and b) and len(a & b) / min(len(a), len(b)) > 0.5


def _fallback(group: Sequence[Paper], number: int) -> Heading:
    """The title of the most cited paper names a group that nothing else names."""
    best = min(group, key=lambda p: (-p.citation_count, p.paper_id))
    return Heading(headline(re.split(r"[:?]", best.title)[0]), None, 1)


def _from_titles(groups: Sequence[Sequence[Paper]], topic_stems: frozenset[str]) -> list[_Candidate]:
    """Phrases of titles, counted in titles and, for less, in abstracts: a concept is spoken of beyond the titles."""
    place = {p.paper_id: g for g, group in enumerate(groups) for p in group}
    sizes = np.array([max(len(group), 1) for group in groups], dtype=float)
    known = [
        p
        for p in phrases({p.paper_id: p.title for group in groups for p in group})
        if is_telling(p.key, topic_stems) and _well_formed(p)
    ]
    texts = {p.paper_id: f"{p.title} . {p.abstract or ''}" for group in groups for p in group}
    spoken_in = spoken_of((p.key for p in known), texts)
    ranked: list[_Candidate] = []
    for phrase in known:
        in_titles = np.bincount([place[i] for i in phrase.paper_ids], minlength=len(groups)).astype(float)
        spoken = np.bincount([place[i] for i in spoken_in[phrase.key]], minlength=len(groups)).astype(float)
        # One paper is no evidence that a concept names a group, and one word is a concept only where many say it.
        if spoken.max() < 2 or (len(phrase.key) == 1 and (in_titles / sizes).max() < _SINGLE_WORD_SHARE):
            continue
        shape = 1.0 if 2 <= len(phrase.key) <= 3 or "-" in phrase.text else 0.7
        coverage = shape * (0.5 * in_titles + 0.5 * spoken) / sizes
        ranked.append(_Candidate(phrase.text, content_stems(phrase.text), coverage, spoken, None))
    found: dict[str, _Candidate] = {}
    for group in range(len(groups)):
        own = sorted(ranked, key=lambda c: (-c.coverage[group], -len(c.stems), c.text))
        found |= {candidate.text: candidate for candidate in own[:_CANDIDATES]}
    return list(found.values())


_ENDS_BADLY = re.compile(
    r"(?:ed|ly|ful|ous|ive|able|ible|ical|ary|based|aware|driven|centric|enhanced|guided|augmented|specific|domain|free|trained|shot|hop|step|scale|term|end|wide|level|source|modal)$",
    re.IGNORECASE,
)
_BEGINS_BADLY = re.compile(
    r"^(?:improv|enhanc|leverag|explor|toward|bridg|revisit|rethink|unlock|unleash|empower|enabl|boost|advanc|mitigat|address|"
    r"understand|investigat|assess|evaluat|build|mak|us|do|is|are|can|how|what|when|why|does|benchmark|scal|teach|mak|"
    r"predict|measur|reduc|detect|align|adapt|combin|integrat|incorporat|optimi[sz])(?:e|es|ed|ing|s)?$",
    re.IGNORECASE,
)


def _well_formed(phrase: Phrase) -> bool:
    """A noun phrase, as far as its ends tell: no participle at the end, no gerund of doing at the start."""
    words = phrase.text.split()
    if phrase.closed < 0.5 or phrase.opened < 0.3:
        return False
    if _BEGINS_BADLY.match(words[0]) or (_ENDS_BADLY.search(words[-1]) and not words[-1].isupper()):
        return False
    if len(words) == 1 and (len(words[0]) < 4 or words[0].endswith("ing")):
        return False
    return not any(w.isdigit() for w in words)


def _from_patterns(
    groups: Sequence[Sequence[Paper]], patterns: Sequence[Pattern], topic_stems: frozenset[str]
) -> list[_Candidate]:
    texts = [[content_stems(f"{p.title} {p.abstract or ''}") for p in group] for group in groups]
    found: dict[frozenset[str], _Candidate] = {}
    for pattern in patterns:
        for level, heading in pattern.headings:
            words = heading.split()
            stems = content_stems(heading)
            if level > 2 or not 1 <= len(words) <= _MAX_WORDS or _COMMON_HEADING.search(heading) or stems in found:
                continue
            if not re.fullmatch(r"[\w\s,&+'’()/-]+", heading) or not is_telling(stems, topic_stems):
                continue
            support = np.array([sum(stems <= t for t in group) for group in texts], dtype=float)
            coverage = support / np.array([max(len(g), 1) for g in texts])
            if support.max() >= 2:
                found[stems] = _Candidate(heading, stems, coverage, support, pattern.outline_id)
    return list(found.values())
