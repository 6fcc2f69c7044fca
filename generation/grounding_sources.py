"""What was shown of a paper, sentence by sentence, as what may bear a sentence that cites it.

Values and how they are made of evidence. Whether they bear anything is decided in `grounding`.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from generation.grounding_terms import Wording, roots
from generation.values import Span
from generation.writing import Evidence
from ingestion.sentences import split


@dataclass(frozen=True)
class SourceSentence:
    """A sentence of a paper's abstract or of a passage.

    Attributes:
        span: where it stands.
    """

    text: str
    span: Span

    @property
    def place(self) -> tuple[str, str | None]:
        """The text it is of: the abstract, or a passage."""
        return self.span.source, self.span.passage_id


@dataclass(frozen=True)
class Source:
    """What a writer may have been shown of a paper.

    Attributes:
        sentences: of the abstract, then of the card and the passages.
        text: title and all that was shown, for what is looked up by its letters.
        title: as it is.
        years: of the paper itself, which may be told without standing in the text.
    """

    paper_id: str
    sentences: tuple[SourceSentence, ...]
    text: str
    title: str = ""
    years: frozenset[int] = frozenset()

    @cached_property
    def wording(self) -> Wording:
        return Wording(self.text, self.years)

    @cached_property
    def roots(self) -> frozenset[str]:
        return roots(self.text)

    @cached_property
    def roots_by_text(self) -> tuple[frozenset[str], ...]:
        """Words of the abstract and of each passage, with the title's: a longer paper is not likelier to have them."""
        found: dict[tuple[str, str | None], set[str]] = {}
        for sentence in self.sentences:
            found.setdefault(sentence.place, set()).update(roots(sentence.text))
        return tuple(frozenset(words | roots(self.title)) for words in found.values())


def sources_of(evidence: Iterable[Evidence]) -> dict[str, Source]:
    """Paper id → what a writer may have been shown of it: title, abstract, passages, and the paper's
    words behind its card."""
    found: dict[str, Source] = {}
    for shown in evidence:
        paper = shown.paper
        abstract = paper.abstract or ""
        sentences = {s.span: s for s in _sentences(abstract, Span(paper.paper_id, 0, len(abstract)))}
        texts = [paper.title, abstract]
        for one in shown.passages:
            passage = one.passage
            whole = Span(paper.paper_id, 0, len(passage.text), "passage", passage.passage_id, passage.page)
            sentences |= {s.span: s for s in _sentences(passage.text, whole)}
            texts.append(passage.text)
        for text, span in shown.quotes:
            sentences.setdefault(span, SourceSentence(text, span))
            texts.append(text)
        for _, item in shown.card.items() if shown.card else ():
            # What a model says of a paper does not bear anything; only where the paper says it in these words.
            if len(item.spans) == 1 and item.support == "exact" and len(item.text) == _length(item.spans[0]):
                sentences.setdefault(item.spans[0], SourceSentence(item.text, item.spans[0]))
                texts.append(item.text)
        if before := found.get(paper.paper_id):
            sentences = {s.span: s for s in before.sentences} | sentences
            texts = [before.text, *(t for t in texts if t not in before.text)]
        years = frozenset({paper.year, paper.year + 1})  # proceedings often appear in the next
        found[paper.paper_id] = Source(paper.paper_id, tuple(sentences.values()), "\n".join(texts), paper.title, years)
    return found


def _length(span: Span) -> int:
    return span.end - span.start


def _sentences(text: str, whole: Span) -> Iterable[SourceSentence]:
    for start, end in split(text):
        if any(c.isalpha() for c in text[start:end]):
            yield SourceSentence(text[start:end], replace(whole, start=start, end=end))
