"""Text of papers as fenced data: one block a paper, behind a fence that nobody who wrote one can have known.

The fence is a hash of all data in the prompt: the same prompt has the same fence, so that a call can be found in the
ledger again, and a paper that held its own fence would have another one. Every field is one line, so no paper can
open a field or a block of its own. Not here: which papers are shown, and how much of them (`model_writer.fitting`).
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace

from corpus.hashing import text_hash
from generation.prompting.instructions import withheld
from ingestion.sentences import split

_LENGTH = 16
_LINE_BREAKS = re.compile(r"[\s\u0085\u2028\u2029]+")
_INVISIBLE = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]")


@dataclass(frozen=True)
class ShownPassage:
    """A passage as shown; `number` is its position in the paper."""

    number: int
    page: int | None
    heading: str
    text: str


@dataclass(frozen=True)
class ShownPaper:
    """A paper as shown: cleaned, one line a field, without sentences that try to instruct.

    Attributes:
        submitted: year and month.
        notes: what its card says of its full text, as `findings, page 4: …`.
        flags: what was withheld: field and kind.
        cut: parts that were shortened or left out to fit: `abstract`, `passage 3`.
    """

    paper_id: str
    title: str
    submitted: str
    abstract: str
    passages: tuple[ShownPassage, ...] = ()
    notes: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    cut: tuple[str, ...] = ()

    @property
    def lines(self) -> tuple[str, ...]:
        """What stands between the fences."""
        told = [
            f"paper: {self.paper_id}",
            f"title: {self.title}",
            f"submitted: {self.submitted}",
            f"abstract: {self.abstract or '(none)'}",
        ]
        notes = (f"note ({place}): {text}" for place, _, text in (note.partition(": ") for note in self.notes))
        return (*told, *notes, *(_passage_line(p) for p in self.passages))


def shown_paper(
    paper_id: str,
    title: str,
    submitted: str,
    abstract: str | None,
    passages: Sequence[ShownPassage] = (),
    notes: Sequence[str] = (),
) -> ShownPaper:
    """A paper made fit to be shown, whole; what it was flagged for is kept."""
    flags: list[str] = []

    def safe(text: str, field: str) -> str:
        kept, found = withheld(text)
        flags.extend(f"{field}: {item.kind}" for item in found)
        return cleaned(kept)

    return ShownPaper(
        cleaned(paper_id),
        safe(title, "title"),
        submitted,
        safe(abstract or "", "abstract"),
        tuple(
            ShownPassage(p.number, p.page, safe(p.heading, f"heading of passage {p.number}").replace("”", '"'),
                         safe(p.text, f"passage {p.number}"))
            for p in passages
        ),
        tuple(safe(note, "note") for note in notes),
        tuple(dict.fromkeys(flags)),
    )  # fmt: skip


def cleaned(text: str) -> str:
    """A text on one line, without control characters, invisible characters and lone surrogates."""
    text = _LINE_BREAKS.sub(" ", _INVISIBLE.sub("", text))
    return "".join(c for c in text if unicodedata.category(c) not in ("Cc", "Cs", "Co")).strip()


def shortened(text: str, most: int) -> str:
    """The first whole sentences of a text in at most `most` characters; a first sentence that is longer ends at a word."""
    if len(text) <= most:
        return text
    ends = [end for _, end in split(text) if end <= most]
    if ends:
        return text[: ends[-1]].rstrip()
    return text[: max(most - 2, 0)].rsplit(" ", 1)[0].rstrip() + " …" if most > 2 else ""


def cut_to(paper: ShownPaper, *, abstract: int, passages: int = 0, passage: int = 0) -> ShownPaper:
    """The paper with at most so many characters of abstract, and so many passages of so many characters.

    Without passages it has no notes either: they speak of the full text.
    """
    kept = tuple(replace(p, text=shortened(p.text, passage)) for p in paper.passages[:passages])
    cut = ["abstract"] if len(paper.abstract) > abstract else []
    cut += [
        f"passage {p.number}"
        for i, p in enumerate(paper.passages)
        if i >= passages or len(kept[i].text) < len(p.text)
    ]  # fmt: skip
    notes = paper.notes if passages else ()
    cut += ["notes"] if len(notes) < len(paper.notes) else []
    return replace(paper, abstract=shortened(paper.abstract, abstract), passages=kept, notes=notes, cut=tuple(cut))


def fence_for(data: Sequence[str]) -> str:
    """16 hexadecimal digits that stand nowhere in the data."""
    whole = "\x1f".join(data)
    fence = text_hash(whole)[:_LENGTH]
    while fence in whole.lower():
        fence = text_hash(f"{fence}\x1f{whole}")[:_LENGTH]
    return fence


def fenced(kind: str, lines: Sequence[str], fence: str) -> str:
    """A block of data: `<paper-text FENCE>`, its lines, `</paper-text FENCE>`."""
    return "\n".join([f"<{kind} {fence}>", *lines, f"</{kind} {fence}>"])


def paper_blocks(papers: Sequence[ShownPaper], fence: str) -> str:
    """A block for each paper."""
    return "\n\n".join(fenced("paper-text", paper.lines, fence) for paper in papers)


def _passage_line(passage: ShownPassage) -> str:
    where = [f"page {passage.page}"] if passage.page else []
    where += [f"“{passage.heading}”"] if passage.heading else []
    place = f" ({', '.join(where)})" if where else ""
    return f"passage {passage.number}{place}: {passage.text}"
