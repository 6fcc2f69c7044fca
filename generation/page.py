"""The survey as one HTML page that needs no other file and no network.

Survey values in, HTML text out. Markdown becomes sanitized HTML in `page_body`; the bibliography is made in
`page_references`, what the cards of citations show in `page_cards`, pictures in `pictures`. Style and script stand in
the page, named by their hashes in its Content-Security-Policy, so that nothing else can run or load.
"""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import jinja2
from markupsafe import Markup

from generation.captions import PICTURES
from generation.markdown import markdown
from generation.page_body import body_html
from generation.page_cards import as_json, card_data
from generation.page_references import references
from generation.pictures import picture
from generation.values import Paper, SectionDraft, Survey

_TEMPLATES = Path(__file__).parent / "templates"


@dataclass(frozen=True)
class ModelFacts:
    """What it took a model to write an edition, and what became of it.

    Attributes:
        cost: US dollars; None where no price is known.
        cited, kept, removed, refused: citations that it gave, and what became of them (`grounding.Counts`).
    """

    input_tokens: int
    output_tokens: int
    cached_tokens: int
    cost: float | None
    cited: int
    kept: int
    removed: int
    refused: int


@dataclass(frozen=True)
class PageFacts:
    """What the page's head and foot say: topic key, edition, method, cutoff, counts, what was read.

    Attributes:
        manifest: (table, version) pinned by the edition.
        have, expected: headings that were written, and that were to be; None where it is not known.
        is_resumable: the same command may write what is missing.
        model: None where no model wrote.
    """

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
    consulted: int | None = None
    manifest: tuple[tuple[str, int], ...] = ()
    have: int | None = None
    expected: int | None = None
    is_resumable: bool = False
    model: ModelFacts | None = None
    is_partial: bool = False


@dataclass(frozen=True)
class WhyRow:
    """Why a paper is in the survey.

    Attributes:
        section: number of the section it belongs to, "" for none.
        rank: place in the topic's pool, None for a paper the method asked for.
        similarity: cosine of its vector and the topic's, None where it has none.
        citation_count: citing papers the topic may see.
        reason: how it came into the pool.
        operations: those it was given to.
    """

    paper_id: str
    section: str
    rank: int | None
    similarity: float | None
    citation_count: int
    reason: str
    operations: tuple[str, ...]


def page(
    survey: Survey,
    papers: Sequence[Paper],
    facts: PageFacts,
    *,
    passage_texts: Mapping[str, str] | None = None,
    why: Sequence[WhyRow] = (),
) -> str:
    """The page.

    Args:
        survey: what to print.
        papers: its references.
        facts: of the edition.
        passage_texts: passage id → text, of the passages that spans lie in.
        why: rows of the table "Why these papers", in order; without any there is no table.

    Raises:
        RenderingFailed: pandoc failed, or a citation, a span or a picture leads nowhere.
        BadPicture: a picture's rows cannot be drawn.
    """
    texts = passage_texts or {}
    captions = {PICTURES[s.template]: s for d in survey.sections for s in d.sentences() if s.template in PICTURES and s.place == "caption"}  # fmt: skip
    pictures = {name: picture(caption, inline=True) for name, caption in captions.items()}
    entries = references(survey, papers)
    style, script = ((_TEMPLATES / name).read_text("utf-8") for name in ("page.css", "page.js"))
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(_TEMPLATES), autoescape=True, trim_blocks=True, lstrip_blocks=True)  # fmt: skip
    # What is marked as safe is ours, or was sanitized.
    return environment.get_template("page.html").render(
        title=survey.title,
        body=Markup(body_html(markdown(survey, papers, with_anchors=True), survey, pictures)),  # noqa: S704
        contents=_contents(survey.sections),
        kinds=[k for k in ("quoted", "adapted", "composed", "written") if any(s.kind == k for d in survey.sections for s in d.sentences())],
        references=entries,
        entries={entry.paper_id: entry for entry in entries},
        why=why,
        facts=facts,
        has_unborne=any(s.is_unborne for d in survey.sections for s in d.sentences()),
        data=Markup(as_json(card_data(survey, papers, texts, facts.edition))),  # noqa: S704
        cost=_dollars,
        style=Markup(style),  # noqa: S704
        script=Markup(script),  # noqa: S704
        policy=f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; base-uri 'none'; form-action 'none'",
    )  # fmt: skip


def _contents(sections: Sequence[SectionDraft]) -> list[tuple[SectionDraft, list[SectionDraft]]]:
    """First-level sections with what stands below each."""
    found: list[tuple[SectionDraft, list[SectionDraft]]] = []
    for section in sections:
        if section.level == 1 or not found:
            found.append((section, []))
        else:
            found[-1][1].append(section)
    return found


def _dollars(cost: float) -> str:
    """An amount as people write it; of small ones two digits that are not 0."""
    return f"${cost:,.2f}" if cost >= 0.1 or not cost else f"${cost:.2g}"


def _hash(text: str) -> str:
    """The source expression of an inline element in a Content-Security-Policy (CSP 3, section 2.3.1)."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
