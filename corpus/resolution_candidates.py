"""Which held papers come into question for bibliography entries: one pass over `papers`, whatever their number.

Here: the keys that entries are looked up by, and the papers that have one of them. Not here: the verdict on a pair
(`corpus.resolution_verdict`).
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import polars as pl

from corpus.title_keys import title_key as title_key_of_column
from ingestion.comparison import author_key, title_key
from ingestion.references.fields import ReferenceFields, looks_like_venue

BLOCK = 16
"""Letters at the start or the end of the key that a near title shares."""
_MIN_NEAR = 20
_MIN_SPAN, _MAX_SPAN = 12, 250  # letters of a title that may be recognised in an entry's text
_MAX_STARTS, _MAX_ENDS = 10, 8
_DELIMITER = re.compile(
    r"(?P<firm>[.?!][”\"’)]*)(?=\s|$)|(?P<quote>[“”\"]|(?<=\s)‘|’(?=[\s,.]|$))|(?P<soft>[,;:])(?=\s)|(?P<round>\s\()"
)


@dataclass(frozen=True)
class HeldPaper:
    """What is compared of a held paper.

    Attributes:
        key: normal form of the title.
        authors: names as held; () where no author is known.
        year: of its first version, or the latest it can be.
        doi: lower case, None where unknown.
    """

    paper_id: str
    title: str
    key: str
    authors: tuple[str, ...]
    year: int
    doi: str | None

    @cached_property
    def surnames(self) -> tuple[str, ...]:
        """Last words of the authors' names in normal form, in order."""
        return tuple(author_key(name.split()[-1]) for name in self.authors if name.strip())

    @cached_property
    def words(self) -> tuple[str, ...]:
        return title_words(self.title)

    @cached_property
    def word_set(self) -> frozenset[str]:
        return frozenset(self.words)


@dataclass(frozen=True)
class Lookups:
    """An entry's keys.

    Attributes:
        title: of the parsed title, "" where there is none.
        spans: of stretches of its text that may be the title where the parsed one is not.
    """

    title: str
    spans: tuple[str, ...]

    @property
    def start(self) -> str:
        return self.title[:BLOCK] if len(self.title) >= _MIN_NEAR else ""

    @property
    def end(self) -> str:
        return self.title[-BLOCK:] if len(self.title) >= _MIN_NEAR else ""


@dataclass
class Candidates:
    """Held papers by everything an entry can name them with."""

    by_id: dict[str, HeldPaper] = field(default_factory=dict)
    by_doi: dict[str, list[HeldPaper]] = field(default_factory=lambda: defaultdict(list))
    by_key: dict[str, list[HeldPaper]] = field(default_factory=lambda: defaultdict(list))
    by_start: dict[str, list[HeldPaper]] = field(default_factory=lambda: defaultdict(list))
    by_end: dict[str, list[HeldPaper]] = field(default_factory=lambda: defaultdict(list))

    def add(self, paper: HeldPaper) -> None:
        self.by_id[paper.paper_id] = paper
        if paper.doi:
            self.by_doi[paper.doi].append(paper)
        if paper.key:
            self.by_key[paper.key].append(paper)
        if len(paper.key) >= _MIN_NEAR:
            self.by_start[paper.key[:BLOCK]].append(paper)
            self.by_end[paper.key[-BLOCK:]].append(paper)

    def near(self, lookups: Lookups) -> list[HeldPaper]:
        """Papers whose title begins or ends like the entry's, each once."""
        found = {p.paper_id: p for p in self.by_start.get(lookups.start, ()) if lookups.start}
        found |= {p.paper_id: p for p in self.by_end.get(lookups.end, ()) if lookups.end}
        return list(found.values())


def title_words(title: str) -> tuple[str, ...]:
    """Words of a title without case and accents, for comparing titles word by word."""
    folded = "".join(c for c in unicodedata.normalize("NFKD", title.casefold()) if not unicodedata.combining(c))
    return tuple(re.findall(r"[^\W_]+", folded))


def lookups_of(fields: ReferenceFields) -> Lookups:
    """The keys to look an entry up by; none for what is no reference."""
    if not fields.is_reference:
        return Lookups("", ())
    return Lookups(title_key(fields.title or ""), tuple(_spans(fields)))


def find_candidates(entries: Sequence[ReferenceFields], lookups: Sequence[Lookups], papers: pl.LazyFrame) -> Candidates:
    """The held papers that have any of the entries' ids or keys.

    Args:
        entries, lookups: entry by entry.
        papers: columns of the table `papers`. It is read once, as a stream; only what is found is kept in memory.
    """
    ids = {i for e in entries for i in e.arxiv_ids} | {f"doi:{d}" for e in entries for d in e.dois}
    dois = {d for e in entries for d in e.dois}
    keys = {x.title for x in lookups} | {span for x in lookups for span in x.spans}
    starts, ends = {x.start for x in lookups}, {x.end for x in lookups}
    key = pl.col("key")
    is_near = (key.str.len_chars() >= _MIN_NEAR) & (
        key.str.head(BLOCK).is_in(_series(starts)) | key.str.tail(BLOCK).is_in(_series(ends))
    )
    named = pl.col("paper_id").is_in(_series(ids)) | pl.col("doi").is_in(_series(dois)).fill_null(False)
    found = (
        papers.select(
            "paper_id",
            "title",
            "authors",
            pl.col("doi").str.to_lowercase(),
            title_key_of_column(pl.col("title")).alias("key"),
            pl.coalesce("submitted_on", "submitted_latest").dt.year().alias("year"),
        )
        .filter(named | key.is_in(_series(keys)) | is_near)
        .sort("paper_id")
        .collect(engine="streaming")
    )
    candidates = Candidates()
    for row in found.iter_rows(named=True):
        authors = tuple(row["authors"] or ())
        candidates.add(HeldPaper(row["paper_id"], row["title"], row["key"], authors, row["year"], row["doi"]))
    return candidates


def _series(values: set[str]) -> pl.Series:
    return pl.Series(sorted(values - {""}), dtype=pl.String).implode()


def _spans(fields: ReferenceFields) -> list[str]:
    """Keys of stretches between delimiters that may be a whole title, other than the parsed title.

    A stretch inside the parsed title is none unless a venue follows it: a shorter title that another one begins or ends
    with is no match.
    """
    text = fields.text
    body = max((text.find(n.printed) + len(n.printed) for n in fields.authors[-1:]), default=0)
    marks = list(_DELIMITER.finditer(text, body))
    starts, read, is_among_names = [body], body, True
    for mark in marks:
        is_among_names = is_among_names and _is_names(text[read : mark.start()])
        read = mark.end()
        if mark["firm"] or mark["quote"] or not fields.authors or is_among_names:
            starts.append(read)
        if len(starts) == _MAX_STARTS:
            break
    title = title_key(fields.title or "")
    spans = []
    for start in starts:
        ends = [m for m in marks if m.start() > start][:_MAX_ENDS]
        for mark in [*ends, None]:
            end = mark.start() if mark else len(text)
            if mark and mark["soft"] and (mark["soft"] == ":" or not looks_like_venue(text[mark.end() :])):
                continue
            span = title_key(text[start:end])
            if not _MIN_SPAN <= len(span) <= _MAX_SPAN or span == title:
                continue
            if span in title and not (mark and looks_like_venue(text[mark.end() :])):
                continue
            spans.append(span)
    return spans


def _is_names(text: str) -> bool:
    """Nothing but names, initials and "and" in it: the title has not begun."""
    words = re.findall(r"[^\W\d_]+", text)
    return all(
        w[0].isupper() or w in ("and", "et", "al", "van", "von", "de", "der", "den", "di", "da", "la") for w in words
    )
