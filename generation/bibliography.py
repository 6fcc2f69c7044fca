"""The bibliography of a survey as BibTeX, rendered from table rows; the key is the paper id (`citations.bib_key`).

Titles and names are Unicode (biber and pandoc read UTF-8); entities of HTML are decoded first, TeX's special
characters are escaped once, math is kept. DOI and URL stand raw, as their fields want them.
"""

import html
import re
from collections.abc import Iterable

from generation.citations import bib_key
from generation.mathtext import outside_math
from generation.naming import name_parts
from generation.values import Paper
from ingestion.identity import PaperId, parse_paper_id

_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "%": r"\%", "&": r"\&", "#": r"\#", "_": r"\_", "$": r"\$",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
}  # fmt: skip
_YEAR = re.compile(r"(?<![\d.:/-])(?:19|20)\d\d(?![\d-])")
_YEARS_TO_PRINT = 15
"""Years a paper may take to its journal; a number further off is a page or a volume."""

_SUMMARY_NOTE = "Text quoted: summary by the project, not the authors' abstract"


def bibtex(papers: Iterable[Paper]) -> str:
    """One entry a paper, in the order given; versions of record (DOI, journal) where known."""
    return "\n".join(_entry(paper) for paper in papers)


def _entry(paper: Paper) -> str:
    identity = parse_paper_id(paper.paper_id)
    year = published_in(paper)
    fields = {
        "title": "{" + tex(decoded(paper.title)) + "}",
        "author": " and ".join(
            [*("{" + tex(decoded(g)) + "}" for g in paper.collaborations or ()), *map(_name, paper.authors or ())]
        ),
        "year": str(year or paper.year),
        "date": str(year or _date(paper)),
        "journal": tex(decoded(paper.journal_ref or "")),
        "doi": _raw(paper.doi or (identity.value.removeprefix("doi:") if identity.scheme == "doi" else "")),
        **_eprint(paper, identity),
        "note": tex(_SUMMARY_NOTE) if paper.abstract_origin != "source" else "",
    }
    kind = "article" if paper.journal_ref else "misc"
    lines = [f"  {name} = {{{value}}}" for name, value in fields.items() if value]
    return f"@{kind}{{{bib_key(paper.paper_id)},\n" + ",\n".join(lines) + "\n}\n"


def decoded(text: str) -> str:
    """Text with the entities of HTML, which some sources leave in titles and venues, as characters: `&amp;` → `&`."""
    return " ".join(html.unescape(text).split())


def published_in(paper: Paper) -> int | None:
    """Year of the version of record, where its venue names exactly one that can be."""
    years = {int(y) for y in _YEAR.findall(paper.journal_ref or "")}
    likely = {y for y in years if paper.year - 1 <= y <= paper.year + _YEARS_TO_PRINT}
    return likely.pop() if len(likely) == 1 else None


def _raw(url: str) -> str:
    """A field that is read as it stands; braces would end it, blanks break it."""
    return re.sub(r"[{}\\\s]", lambda m: f"%{ord(m.group(0)):02X}", url.strip())


def _eprint(paper: Paper, identity: PaperId) -> dict[str, str]:
    if identity.scheme != "arxiv":  # a DOI is no URL twice
        return {"url": _raw(identity.url or "")} if identity.scheme != "doi" else {}
    fields = {"eprint": paper.paper_id, "eprinttype": "arxiv", "archiveprefix": "arXiv"}
    if paper.primary_category:
        fields["primaryclass"] = paper.primary_category
    return {**fields, "url": _raw(identity.url or "")}


def _date(paper: Paper) -> str:
    """The day where it is known; else as much of it as the month in the id tells."""
    if paper.submitted_precision == "month":
        return f"{paper.submitted_latest:%Y-%m}"
    return paper.submitted_latest.isoformat()


def _name(name: str) -> str:
    """A name in reading order; `Hal Daumé III` as `Daumé, III, Hal`, or BibTeX takes the suffix for the surname.

    One that BibTeX would take apart (a comma, the word and) or that is no person's (an ampersand) is braced.
    """
    name = decoded(name)
    escaped = tex(name)
    if "," in name or "&" in name or re.search(r"\band\b", name, re.IGNORECASE):
        return "{" + escaped + "}"
    given, family, suffix = name_parts(name)
    return f"{tex(family)}, {suffix}, {tex(given)}" if suffix and given else escaped


def tex(text: str) -> str:
    """Unicode text as TeX: special characters escaped once, math kept as written."""
    return outside_math(text, _plain)


def _plain(text: str) -> str:
    return "".join(_SPECIAL.get(c, c) for c in text)
