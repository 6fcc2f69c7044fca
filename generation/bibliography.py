"""The bibliography of a survey as BibTeX, rendered from table rows; the key is the paper id.

Titles and names are Unicode (biber and pandoc read UTF-8); TeX's special characters are escaped once, math is kept.
"""

import re
from collections.abc import Iterable

from generation.mathtext import outside_math
from generation.values import Paper
from ingestion.identity import PaperId, parse_paper_id

_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "%": r"\%", "&": r"\&", "#": r"\#", "_": r"\_", "$": r"\$",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
}  # fmt: skip
_SUMMARY_NOTE = "Text quoted: summary by the project, not the authors' abstract"


def bibtex(papers: Iterable[Paper]) -> str:
    """One entry a paper, in the order given; versions of record (DOI, journal) where known."""
    return "\n".join(_entry(paper) for paper in papers)


def _entry(paper: Paper) -> str:
    identity = parse_paper_id(paper.paper_id)
    fields = {
        "title": "{" + tex(paper.title) + "}",
        "author": " and ".join(
            [*("{" + tex(g) + "}" for g in paper.collaborations or ()), *map(_name, paper.authors or ())]
        ),
        "year": str(paper.year),
        "date": _date(paper),
        "journal": tex(paper.journal_ref or ""),
        "doi": paper.doi or "",
        **_eprint(paper, identity),
        "note": tex(_SUMMARY_NOTE) if paper.abstract_origin != "source" else "",
    }
    kind = "article" if paper.journal_ref else "misc"
    lines = [f"  {name} = {{{value}}}" for name, value in fields.items() if value]
    return f"@{kind}{{{paper.paper_id},\n" + ",\n".join(lines) + "\n}\n"


def _eprint(paper: Paper, identity: PaperId) -> dict[str, str]:
    if identity.scheme != "arxiv":
        return {"url": identity.url or ""}
    fields = {"eprint": paper.paper_id, "eprinttype": "arxiv", "archiveprefix": "arXiv"}
    if paper.primary_category:
        fields["primaryclass"] = paper.primary_category
    return {**fields, "url": identity.url or ""}


def _date(paper: Paper) -> str:
    """The day where it is known; else as much of it as the month in the id tells."""
    if paper.submitted_precision == "month":
        return f"{paper.submitted_latest:%Y-%m}"
    return paper.submitted_latest.isoformat()


def _name(name: str) -> str:
    """A name in reading order; one that BibTeX would take apart (a comma, the word and) is braced."""
    escaped = tex(name)
    return "{" + escaped + "}" if "," in name or re.search(r"\band\b", name, re.IGNORECASE) else escaped


def tex(text: str) -> str:
    """Unicode text as TeX: special characters escaped once, math kept as written."""
    return outside_math(text, _plain)


def _plain(text: str) -> str:
    return "".join(_SPECIAL.get(c, c) for c in text)
