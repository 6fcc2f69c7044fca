"""The bibliography of the page: one entry a paper, from the values of `papers` alone; absent ones are left out.

The cards of citations show these entries, so each is complete: title, authors, venue, year, licence, links. Links
lead to arXiv and doi.org only and are made from ids. Not here: BibTeX and other formats (`bibliography`).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from markupsafe import Markup

from generation.page_body import inline_html
from generation.values import Paper, Survey
from ingestion.identity import parse_paper_id

_SHOWN_AUTHORS = 12
_CREATIVE = re.compile(r"creativecommons\.org/licenses/([a-z-]+)/(\d\.\d)", re.IGNORECASE)
_PUBLIC = re.compile(r"creativecommons\.org/(?:publicdomain/zero|licenses/publicdomain)", re.IGNORECASE)


@dataclass(frozen=True)
class Link:
    """A link of ours: where to, and what it says."""

    href: str
    text: str


@dataclass(frozen=True)
class Reference:
    """An entry as printed.

    Attributes:
        title: safe HTML.
        authors: "" where no source names any.
        places: (number of a section that cites it, number of the first sentence there).
    """

    number: int
    paper_id: str
    title: Markup
    authors: str
    venue: str
    year: int
    licence: str
    is_summary: bool
    links: tuple[Link, ...]
    places: tuple[tuple[str, int], ...]


def references(survey: Survey, papers: Sequence[Paper]) -> list[Reference]:
    """An entry for each paper, numbered in order of first citation."""
    by_id = {paper.paper_id: paper for paper in papers}
    ordered = [by_id[p] for p in survey.references if p in by_id]
    titles = _titles(ordered)
    places = _places(survey)
    return [
        Reference(
            number, paper.paper_id, title, authors(paper), " ".join((paper.journal_ref or "").split()), paper.year,
            licence(paper.license), paper.abstract_origin != "source", links(paper), places.get(paper.paper_id, ()),
        )
        for number, (paper, title) in enumerate(zip(ordered, titles, strict=True), start=1)
    ]  # fmt: skip


def authors(paper: Paper) -> str:
    """The names as they are known, groups first; of many, the first and how many more."""
    names = [*(paper.collaborations or ()), *(paper.authors or ())]
    more = len(names) - _SHOWN_AUTHORS
    if more > 1:
        return f"{', '.join(names[:_SHOWN_AUTHORS])} and {more:,} more"
    return ", ".join(names)


def licence(address: str | None) -> str:
    """What a licence is called: "CC BY 4.0" for its address, "" for none; an unknown one as it is given."""
    if not address:
        return ""
    if match := _CREATIVE.search(address):
        return f"CC {match.group(1).upper()} {match.group(2)}"
    if _PUBLIC.search(address):
        return "CC0" if "zero" in address.lower() else "public domain"
    if "arxiv.org/licenses/nonexclusive-distrib" in address.lower():
        return "arXiv non-exclusive licence"
    return address


def links(paper: Paper) -> tuple[Link, ...]:
    """To arXiv and to the version of record, where the ids name them."""
    identity = parse_paper_id(paper.paper_id)
    found = []
    if identity.scheme == "arxiv":
        found.append(Link(f"https://arxiv.org/abs/{quote(paper.paper_id)}", f"arXiv:{paper.paper_id}"))
    doi = paper.doi or (paper.paper_id.removeprefix("doi:") if identity.scheme == "doi" else "")
    if doi:
        found.append(Link(f"https://doi.org/{quote(doi)}", f"doi:{doi}"))
    return tuple(found)


def _titles(papers: Sequence[Paper]) -> list[Markup]:
    """Titles as safe HTML; only where one has a formula is pandoc asked."""
    titles = [" ".join(paper.title.split()) for paper in papers]
    formulas = [title for title in titles if "$" in title]
    rendered = dict(zip(formulas, inline_html(formulas), strict=True))
    return [Markup(rendered[t]) if t in rendered else Markup.escape(t) for t in titles]  # noqa: S704 - sanitized


def _places(survey: Survey) -> Mapping[str, tuple[tuple[str, int], ...]]:
    """Paper id → the sections that cite it, each with the number of the first sentence that does."""
    found: dict[str, dict[str, int]] = {}
    number = 0
    for section in survey.sections:
        for sentence in section.sentences():
            number += 1
            for paper_id in sentence.cited_ids:
                found.setdefault(paper_id, {}).setdefault(section.number, number)
    return {paper_id: tuple(sections.items()) for paper_id, sections in found.items()}
