"""Whether the papers that a written sentence cites bear it, by rules that need no model and give the same every time.

Belongs here: the checks of a draft's citations, and taking out those that do not hold. Not here: what was shown of a
paper (`grounding_sources`), what a number or a name is (`grounding_terms`), where a quotation stands (`support`), a
model's verdict, and writing a sentence again.

Each citation gets a score, the mean of two values: the cosine of the sentence to the nearest sentence of the paper, or
to two neighbours; and the share of the sentence's words that one text of the paper has (abstract or passage, with the
title), rare words among the other papers shown counting more. Then:

ungrounded  the sentence has a figure that none of the papers it cites has; or the score is below `UNGROUNDED_BELOW`; or
            it is below `NAMELESS_BELOW` and no name of the sentence stands in any paper that it cites
grounded    the score is `GROUNDED_FROM` or more, and the cited papers have all numbers and names of the sentence
weak        all else

A sentence that cites nothing is refused where it states a figure, or a name that is neither in the topic and the
headings nor the field's own: it needs a paper.

Measured on 1,212 citations in sentences of seven human-written surveys that cite at most three works: each sentence
against the abstract of the paper it cites, against that of another paper of the same survey, and of another survey's,
with 30 other papers of the survey shown (packaged embedder):

                         ungrounded  weak  grounded   area under ROC: score  cosine alone
the paper that is cited        .05   .35       .60
another of the survey          .32   .61       .07                     .89           .85
one of another survey          .64   .35       .01                     .95           .95

The limits were chosen so that no more than one citation in twenty of those people gave is lost; of the 59 that are,
many rest on the full text (settings, figures), which was not shown here. They rise with the number of the paper's texts
that were shown, since the best of many is near to anything: with 1, 3, 6 and 10 texts more of the same field beside the
abstract, .04 to .05 of the papers cited and .24 to .22 of the exchanged ones are ungrounded, .59 to .54 and .09 to .12
grounded. Where a sentence cites one work only, the score's area is .94. On sentences that models wrote (AutoSurvey,
SurveyForge), whose own citations are partly wrong, it is .75 and .72, with .06 of their citations ungrounded and .16 of
the exchanged ones. So this removes what is plainly astray and no more: a wrong paper of the same topic is mostly only
called weak. Of sentences of abstracts with a figure put wrong, .95 were found, and none with its own figure.

What this cannot see: contradiction, and whatever is said with the paper's own words. A sentence that claims the
opposite of its paper is as near to it as one that repeats it, and counts as grounded. So does praise made of the
title's words (“X is the finest work on Y”): all of 304 such sentences. With a quarter of their weight for the title's
words 296 of them still do, since the cosine is high; asking that a quarter of the other words be the paper's finds 271,
but calls weak half of the citations that are rightly grounded now (.60 to .32). A model's verdict is asked for that.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from generation.grounding_sources import Source, SourceSentence, sources_of
from generation.grounding_terms import Number, Wording, missing_numbers, missing_terms, roots, terms
from generation.values import Check, SectionDraft, Sentence, Span, Verdict

__all__ = ["Counts", "Embed", "Source", "SourceSentence", "check_draft", "counts", "sources_of", "without_unborne"]

Embed = Callable[[Sequence[str]], np.ndarray]
"""Texts to unit vectors, (texts, dimensions)."""

UNGROUNDED_BELOW, NAMELESS_BELOW, GROUNDED_FROM = 0.16, 0.22, 0.34

NEEDS_A_PAPER = "no paper is cited for what it states"

RISE = 0.016
"""By which the limits rise when twice as many texts of the paper were shown: the best of many is near to anything."""

_SHARED = 3
"""A name that this many papers shown have is the field's, and tells nothing of the one that is cited."""

_EMBEDDED_OF_PASSAGES = 3
"""Sentences of passages that are embedded for a citation: those that share most rare words with the sentence. With 6 it
takes a quarter longer, and exchanged papers are told less well from those cited (area .82 against .83)."""

_GAIN_OF_TWO = 0.02
"""By which two neighbouring sentences must be nearer than the better one alone, to be shown together."""


@dataclass(frozen=True)
class Counts:
    """What became of the citations that a writer gave; one is a sentence × a paper.

    Attributes:
        cited: of papers that were shown, before grounding.
        kept: still there.
        removed: gone, since the paper does not bear the sentence, alone or together with it.
        refused: of papers that were not shown; they never were citations.
    """

    cited: int = 0
    kept: int = 0
    removed: int = 0
    refused: int = 0


def check_draft(
    draft: SectionDraft, sources: Mapping[str, Source], embed: Embed, *, allowed_terms: Iterable[str] = ()
) -> SectionDraft:
    """The draft with a check for each citation of its written sentences, and spans where the papers bear them best.

    A written sentence that cites nothing and states what needs a paper gets a check that refuses it, of paper "".
    Earlier checks stay only of what is no citation any more (removed and refused ones).

    Args:
        sources: of all evidence that the draft was written from, cited or not.
        embed: asked once, for all texts.
        allowed_terms: texts with names that any sentence may have, whatever its papers say: the topic, the headings.
    """
    judge = _Judge(sources, Wording(" ".join(allowed_terms)))
    if to_check := [s for s in draft.sentences() if s.kind == "written" and s.cited_ids]:
        # Two sentences may have the same words and cite other papers.
        judge.compared = {
            (s.text, p): judge.to_compare(s.text, p) for s in to_check for p in s.cited_ids if p in sources
        }
        texts = dict.fromkeys(s.text for s in to_check)
        texts |= dict.fromkeys(one.text for chosen in judge.compared.values() for one in chosen)
        judge.vectors = dict(zip(texts, np.asarray(embed(list(texts))), strict=True))
    paragraphs = tuple(
        tuple(judge.checked(s) if s.kind == "written" else s for s in paragraph) for paragraph in draft.paragraphs
    )
    return replace(draft, paragraphs=paragraphs)


def without_unborne(draft: SectionDraft) -> SectionDraft:
    """The draft without the citations whose last check says ungrounded; the sentences stay, their checks tell.

    Where a model gave its verdict after the rules, it is the last one.
    """
    paragraphs = tuple(tuple(_without_unborne(s) for s in paragraph) for paragraph in draft.paragraphs)
    return replace(draft, paragraphs=paragraphs)


def _without_unborne(sentence: Sentence) -> Sentence:
    last = {check.paper_id: i for i, check in enumerate(sentence.checks) if check.paper_id in sentence.cited_ids}
    gone = {paper_id: i for paper_id, i in last.items() if sentence.checks[i].verdict == "ungrounded"}
    if not gone:
        return sentence
    return replace(
        sentence,
        cited_ids=tuple(p for p in sentence.cited_ids if p not in gone),
        spans=tuple(span for span in sentence.spans if span.paper_id not in gone),
        checks=tuple(replace(c, action="removed") if i in gone.values() else c for i, c in enumerate(sentence.checks)),
    )


def counts(*drafts: SectionDraft, taken_out: int = 0) -> Counts:
    """What became of the citations of written sentences.

    Args:
        taken_out: citations that went with their whole sentence, row or cell, and stand in no draft.
    """
    written = [s for draft in drafts for s in draft.sentences() if s.kind == "written"]
    last = [{check.paper_id: check.action for check in s.checks if check.paper_id} for s in written]
    kept = sum(len(s.cited_ids) for s in written)
    removed, refused = (sum(list(actions.values()).count(what) for actions in last) for what in ("removed", "refused"))
    removed += taken_out
    return Counts(kept + removed, kept, removed, refused)


@dataclass
class _Judge:
    """The checks of one draft.

    Attributes:
        compared: (text of a sentence, paper that it cites) → sentences of the paper that may be the nearest.
        vectors: of all texts that are compared; they come after these are chosen.
    """

    sources: Mapping[str, Source]
    allowed: Wording
    compared: Mapping[tuple[str, str], Sequence[SourceSentence]] = field(default_factory=dict)
    vectors: Mapping[str, np.ndarray] = field(default_factory=dict)

    @cached_property
    def _holders(self) -> Counter[str]:
        """Word → papers shown that have it."""
        return Counter(word for source in self.sources.values() for word in source.roots)

    def to_compare(self, text: str, paper_id: str) -> list[SourceSentence]:
        """Sentences of a paper that may be the nearest, in order: its abstract, and of passages those alike in words."""
        source = self.sources[paper_id]
        weights = self._weights(text, (paper_id,))
        passages = [s for s in source.sentences if s.span.source == "passage"]
        alike = {s: sum(weights.get(w, 0.0) for w in roots(s.text)) for s in passages}
        kept = set(sorted(passages, key=alike.__getitem__, reverse=True)[:_EMBEDDED_OF_PASSAGES])
        return [s for s in source.sentences if s.span.source == "abstract" or s in kept]

    def checked(self, sentence: Sentence) -> Sentence:
        earlier = tuple(c for c in sentence.checks if c.paper_id and c.paper_id not in sentence.cited_ids)
        if not sentence.cited_ids:
            return replace(sentence, checks=(*earlier, *self._needing_a_paper(sentence)))
        wordings = [self.sources[p].wording for p in sentence.cited_ids if p in self.sources]
        numbers = missing_numbers(sentence.text, wordings)
        names = [n for n in missing_terms(sentence.text, [*wordings, self.allowed]) if not self._is_shared(n)]
        weights = self._weights(sentence.text, sentence.cited_ids)
        checks, spans = [], []
        for paper_id in sentence.cited_ids:
            similarity, span = self._nearest(sentence.text, self.compared.get((sentence.text, paper_id), ()))
            score = (similarity + self._share(weights, paper_id)) / 2
            verdict, reason = self._verdict(sentence, paper_id, score, numbers, names)
            checks.append(Check(paper_id, verdict, round(similarity, 3), reason))
            spans += [span] if span else []
        return replace(sentence, checks=(*earlier, *checks), spans=tuple(spans))

    def _needing_a_paper(self, sentence: Sentence) -> list[Check]:
        """A check that refuses a sentence without citations for the figures and names that it states."""
        figures = [n.printed for n in missing_numbers(sentence.text, [self.allowed]) if n.is_figure]
        names = [n for n in missing_terms(sentence.text, [self.allowed]) if not self._is_shared(n)]
        stated = dict.fromkeys([*figures, *names])
        return [Check("", "ungrounded", 0.0, f"{NEEDS_A_PAPER}: {', '.join(stated)}", "refused")] if stated else []

    def _is_shared(self, name: str) -> bool:
        return sum(source.wording.has_term(name) for source in self.sources.values()) >= _SHARED

    def _weights(self, text: str, cited_ids: Sequence[str]) -> dict[str, float]:
        """Word → how much it tells: few of the other papers shown have it."""
        cited = [self.sources[p] for p in cited_ids if p in self.sources]
        others = len(self.sources) - len(cited)
        held = {word: self._holders[word] - sum(word in source.roots for source in cited) for word in roots(text)}
        return {word: math.log((others + 2) / (count + 1)) for word, count in sorted(held.items())}

    def _share(self, weights: Mapping[str, float], paper_id: str) -> float:
        total = sum(weights.values())
        texts = self.sources[paper_id].roots_by_text if paper_id in self.sources else ()
        if not total:
            return 0.0
        return max((sum(v for word, v in weights.items() if word in text) for text in texts), default=0.0) / total

    def _nearest(self, text: str, compared: Sequence[SourceSentence]) -> tuple[float, Span | None]:
        """The cosine to the nearest sentence or two neighbours, and where they stand."""
        if not compared:
            return 0.0, None
        vectors = np.stack([self.vectors[s.text] for s in compared])
        cosines = vectors @ self.vectors[text]
        best = int(cosines.argmax())
        similarity, span = float(cosines[best]), compared[best].span
        for a, b in zip(range(len(compared) - 1), range(1, len(compared)), strict=True):
            if compared[a].place != compared[b].place or not 0 <= compared[b].span.start - compared[a].span.end < 3:
                continue
            both = vectors[a] + vectors[b]
            cosine = float(both @ self.vectors[text] / np.linalg.norm(both))
            if cosine > similarity + (_GAIN_OF_TWO if span is compared[best].span else 0.0):
                similarity, span = cosine, replace(compared[a].span, end=compared[b].span.end)
        return max(0.0, similarity), span

    def _verdict(
        self, sentence: Sentence, paper_id: str, score: float, numbers: Sequence[Number], names: Sequence[str]
    ) -> tuple[Verdict, str]:
        source = self.sources.get(paper_id)
        if source is None:
            return "ungrounded", "the paper was not shown to the writer"
        if not source.sentences:
            return "ungrounded", "no text of the paper was shown"
        if figures := [n.printed for n in numbers if n.is_figure]:
            return "ungrounded", f"not in what was shown of the cited papers: {', '.join(figures)}"
        score -= RISE * math.log2(len(source.roots_by_text))
        if score < UNGROUNDED_BELOW:
            return "ungrounded", "nothing that was shown of the paper is near"
        if score < NAMELESS_BELOW and names and len(names) == len(terms(sentence.text)):
            return "ungrounded", f"little is near, and it has none of the names: {', '.join(names)}"
        if missing := [*names, *(n.printed for n in numbers)]:
            return "weak", f"not in what was shown of the cited papers: {', '.join(missing)}"
        if score < GROUNDED_FROM:
            return "weak", "what was shown of the paper is near in part"
        return "grounded", ""
