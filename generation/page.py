"""The survey as one HTML page: pandoc renders and numbers, nh3 sanitizes, a template of ours frames."""

import re
from dataclasses import dataclass
from pathlib import Path

import jinja2
import nh3

from generation.bibliography import bibtex
from generation.markdown import markdown
from generation.values import Paper, Survey
from ingestion.errors import PermanentFailure

_TEMPLATES = Path(__file__).parent / "templates"
_TAGS = {
    "a", "b", "blockquote", "br", "code", "div", "em", "h1", "h2", "h3", "h4", "i", "li", "ol", "p", "section", "span",
    "strong", "sub", "sup", "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
_ATTRIBUTES = {"*": {"id", "class", "role", "data-cites"}, "a": {"href"}}


class RenderingFailed(PermanentFailure):
    """Pandoc could not render the survey."""


@dataclass(frozen=True)
class PageFacts:
    """What the page's head and foot say: topic key, edition, method, cutoff, counts."""

    topic: str
    edition: str
    method: str
    writer: str
    cutoff: str
    admitted: int
    pool: int
    cited: int
    has_summaries: bool
    notes: tuple[tuple[str, str], ...]


def page(survey: Survey, papers: list[Paper], facts: PageFacts) -> str:
    """A page that needs no other file and no network.

    Args:
        survey: what to print.
        papers: its references, in order.
        facts: of the edition.
    """
    body = _rendered(markdown(survey, papers, with_anchors=True), bibtex(papers))
    headings = [(s.number, s.title, s.level) for s in survey.sections]
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(_TEMPLATES), autoescape=True)
    return environment.get_template("page.html").render(
        title=survey.title,
        body=body,
        headings=headings,
        facts=facts,
        styles=(_TEMPLATES / "page.css").read_text("utf-8"),
    )


def _rendered(text: str, references: str) -> str:
    """Sanitized HTML of the Markdown with numbered citations."""
    import tempfile

    import pypandoc

    with tempfile.TemporaryDirectory(prefix="lithouse-page-") as folder:
        bib = Path(folder) / "references.bib"
        bib.write_text(references, encoding="utf-8")
        options = [
            "--citeproc",
            f"--bibliography={bib}",
            f"--csl={_TEMPLATES / 'numeric.csl'}",
            "--metadata=link-citations:true",
            "--mathml",
            "--wrap=none",
        ]
        try:
            html = pypandoc.convert_text(text, "html5", format="markdown", extra_args=options)
        except RuntimeError as error:
            raise RenderingFailed("pandoc could not render the page", which=str(error)[:300]) from error
    if missing := re.search(r'class="[^"]*citeproc-not-found[^"]*"[^>]*data-reference-id="([^"]+)"', html):
        raise RenderingFailed("a citation has no entry in the bibliography", which=missing.group(1))
    return nh3.clean(
        html, tags=_TAGS | _MATHML, attributes=_ATTRIBUTES, url_schemes={"https", "http"}, link_rel="noopener"
    )


_MATHML = {
    "math",
    "mi",
    "mn",
    "mo",
    "mrow",
    "msup",
    "msub",
    "msubsup",
    "mfrac",
    "msqrt",
    "mtext",
    "mover",
    "munder",
    "semantics",
}
