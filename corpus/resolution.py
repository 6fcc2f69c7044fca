"""Bibliography entries → papers: by an id in the text, else by title and author or year.

Here: the order in which the ways are tried, and the outcome with method and certainty. Not here: the look-up
(`corpus.resolution_candidates`), the comparison (`corpus.resolution_verdict`), what an entry says
(`ingestion.references.fields`), and edges (`corpus.citing`). What is ambiguous stays unresolved, with the reason.
Nothing here changes a paper: a title that another's reference list gives it is compared and forgotten.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import polars as pl

from corpus.resolution_candidates import Candidates, HeldPaper, Lookups, find_candidates, lookups_of, title_words
from corpus.resolution_verdict import (
    Pair,
    are_related,
    compare,
    compare_authors,
    difference,
    is_near_match,
    may_be_near,
)
from ingestion.comparison import title_key
from ingestion.references.fields import ReferenceFields

Method = Literal["arxiv_id", "doi", "title", "recognised_title", "near_title", "unverified_id", "ambiguous", "none"]
"""`recognised_title`: a held title stands whole in the entry, where the parser had seen another or none. `near_title`,
`unverified_id`, `ambiguous`: see `detail`; the last two never have a `cited_id`."""

NEAR_CERTAINTY = 0.7
_SURE = 0.95
"""Certainty from which an author or the whole title has been seen to agree."""


@dataclass(frozen=True)
class Resolution:
    """What an entry was found to be.

    Attributes:
        cited_id: key of the cited paper; None where it is not known.
        method: what the outcome rests on.
        certainty: 0 to 1, of `cited_id`; 0 where there is none.
        detail: the reason, or what does not quite agree, for people; "" where all is plain.
        candidates: keys that came into question but were not taken.
        is_held: `cited_id` is in `papers`.
    """

    cited_id: str | None
    method: Method
    certainty: float = 0.0
    detail: str = ""
    candidates: tuple[str, ...] = ()
    is_held: bool = True


def resolve_entries(entries: Sequence[ReferenceFields], papers: pl.LazyFrame) -> list[Resolution]:
    """Resolve the entries of any number of documents in one pass over `papers`.

    Args:
        entries: parsed entries. A few hundred documents at once keep memory low and share the pass.
        papers: the table `papers` (`paper_id`, `title`, `authors`, `doi`, `submitted_on`, `submitted_latest` are read).

    Returns:
        One resolution for each entry, in order.
    """
    lookups = [lookups_of(fields) for fields in entries]
    candidates = find_candidates(entries, lookups, papers)
    return [_resolve(f, look, candidates) for f, look in zip(entries, lookups, strict=True)]


def _resolve(fields: ReferenceFields, lookups: Lookups, candidates: Candidates) -> Resolution:
    if not fields.is_reference:
        return Resolution(None, "none", detail="this is no reference")
    by_id = _by_id(fields, candidates)
    if by_id is not None and by_id.cited_id is not None and by_id.is_held and by_id.certainty >= _SURE:
        return by_id
    by_title = _by_title(fields, lookups, candidates)
    if by_id is None:
        return by_title
    if by_title.cited_id in (None, by_id.cited_id):
        return by_id
    # The title's paper is held and something besides its title agrees; for the id's paper nothing does, or little.
    named = by_id.cited_id or ", ".join(by_id.candidates)
    is_known = by_id.is_held and by_id.method != "ambiguous"
    if is_known and by_title.certainty < _SURE:
        both = (*(by_id.candidates or (named,)), by_title.cited_id)
        return Resolution(None, "ambiguous", detail=f"its id names {named}, its title another", candidates=both)
    detail = f"the entry names {named}, which is {'another paper' if is_known else 'not held'}"
    return Resolution(by_title.cited_id, by_title.method, by_title.certainty, detail, (named,))


def _by_id(fields: ReferenceFields, candidates: Candidates) -> Resolution | None:
    """What the ids in the text lead to; None where it has none."""
    named: list[tuple[Literal["arxiv_id", "doi"], str, list[HeldPaper]]] = []
    for paper_id in fields.arxiv_ids:
        named.append(("arxiv_id", paper_id, [candidates.by_id[paper_id]] if paper_id in candidates.by_id else []))
    for doi in fields.dois:
        own = candidates.by_id.get(f"doi:{doi}")
        named.append(("doi", f"doi:{doi}", [own] if own else candidates.by_doi.get(doi, [])))
    if not named:
        return None
    held = [(method, paper, _speaks_for(fields, paper)) for method, _, papers in named for paper in papers]
    best = max((says for *_, says in held), default=0.0)
    if best > 0:
        chosen = {paper.paper_id: method for method, paper, says in held if says == best}
        if len(chosen) > 1:
            return Resolution(None, "ambiguous", detail="its ids name different papers", candidates=tuple(chosen))
        (paper_id, method), *_ = chosen.items()
        return Resolution(paper_id, method, best)
    unverified = [paper for _, paper, _ in held]
    unheld = [(method, name) for method, name, papers in named if not papers]
    if unverified:
        titles = "; ".join(f"{p.paper_id} is {p.title!r}" for p in unverified)
        ids = tuple(p.paper_id for p in unverified)
        return Resolution(
            None, "unverified_id", detail=f"title and authors are not those of its id: {titles}", candidates=ids
        )
    method, name = unheld[0]
    if len({name for _, name in unheld if not name.startswith("doi:")}) > 1:
        names = tuple(name for _, name in unheld)
        return Resolution(None, "ambiguous", detail="it has several ids, of papers not held", candidates=names)
    return Resolution(name, method, 0.9, "not held, so neither title nor authors were compared", is_held=False)


def _speaks_for(fields: ReferenceFields, paper: HeldPaper) -> float:
    """How sure it is that an id in the entry is meant for the entry's work; 0 if title and authors both speak against it."""
    key, text = title_key(fields.title or ""), title_key(fields.text)
    if key == paper.key or (len(paper.key) > 12 and paper.key in text):
        return 1.0
    if fields.title and difference(title_words(fields.title), paper.words) is not None:
        return 0.97
    if compare_authors(fields, paper) == "agree":
        return 0.95
    if fields.title and are_related(title_words(fields.title), paper.words):
        return 0.9
    has_nothing = not fields.title and not (fields.authors and paper.surnames)
    return 0.9 if has_nothing else 0.0


def _by_title(fields: ReferenceFields, lookups: Lookups, candidates: Candidates) -> Resolution:
    same = [compare(fields, paper) for paper in candidates.by_key.get(lookups.title, ()) if lookups.title]
    if any(pair.certainty for pair in same):
        return _one_of(fields, same, "title", 0.0)
    spans = {p.paper_id: p for span in lookups.spans for p in candidates.by_key.get(span, ())}
    recognised = [pair for pair in (compare(fields, paper) for paper in spans.values()) if pair.certainty]
    if recognised:
        # The longest title that stands in the text: others may be parts of it.
        longest = max(len(pair.paper.key) for pair in recognised)
        recognised = [pair for pair in recognised if len(pair.paper.key) == longest]
        return _one_of(fields, recognised, "recognised_title", 0.05)
    if same:
        ids = tuple(pair.paper.paper_id for pair in same)
        return Resolution(None, "none", detail="; ".join(pair.reason for pair in same[:3]), candidates=ids)
    return _near(fields, lookups, candidates)


def _one_of(fields: ReferenceFields, pairs: Sequence[Pair], method: Method, malus: float) -> Resolution:
    """The one pair that agrees best; ambiguous where two agree alike."""
    best = max(pair.certainty for pair in pairs)
    alike = [pair for pair in pairs if pair.certainty == best]
    if len(alike) > 1 and fields.year is not None:
        same_year = [pair for pair in alike if pair.paper.year == fields.year]
        alike = same_year or alike
    others = tuple(pair.paper.paper_id for pair in pairs if pair is not alike[0])
    if len(alike) > 1:
        ids = tuple(pair.paper.paper_id for pair in alike)
        return Resolution(None, "ambiguous", detail="several papers have this title and agree alike", candidates=ids)
    (pair,) = alike
    detail = f"printed year {fields.year}, first version {pair.paper.year}" if pair.year == "differ" else ""
    return Resolution(pair.paper.paper_id, method, round(best - malus, 2), detail, others)


def _near(fields: ReferenceFields, lookups: Lookups, candidates: Candidates) -> Resolution:
    if not fields.title:
        return Resolution(None, "none", detail="it has no title that could be read")
    near = []
    words = title_words(fields.title)
    distinct = frozenset(words)
    for paper in candidates.near(lookups):
        if may_be_near(distinct, paper) and (found := difference(words, paper.words)) is not None:
            near.append((compare(fields, paper), found))
    linked = [(pair, found) for pair, found in near if is_near_match(pair, found)]
    ids = tuple(pair.paper.paper_id for pair, _ in near)
    if len(linked) == 1:
        ((pair, found),) = linked
        detail = f"near match: the printed title is {pair.paper.title!r} {found}".rstrip()
        others = tuple(i for i in ids if i != pair.paper.paper_id)
        return Resolution(pair.paper.paper_id, "near_title", NEAR_CERTAINTY, detail, others)
    if near:
        told = "; ".join(f"{pair.paper.title!r} {found} ({pair.paper.paper_id})" for pair, found in near[:3])
        return Resolution(None, "near_title", detail=f"only near matches: the printed title is {told}", candidates=ids)
    return Resolution(None, "none", detail="no held paper has this title")
