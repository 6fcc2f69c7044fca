"""A survey as files: Markdown, page, LaTeX, PDF, Word, BibTeX, CSL-JSON, RIS.

Each format is made for itself: one that fails, or whose tool is missing, is told with advice, and the rest is there.
A file takes its place when it is whole. Not here: reading the survey from the lake (`reprinting`), the page (`page`),
the pictures (`pictures`), and how pandoc and typst are called (`rendering`).
"""

import os
import tempfile
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from generation.bibliography import bibtex
from generation.captions import picture_name
from generation.latex import latex
from generation.markdown import PICTURES_FOLDER, UNSOURCED, markdown
from generation.page import page
from generation.reference_lists import csl_json, ris
from generation.rendering import NUMERIC, RenderingFailed, pandoc, typeset
from generation.reprinting import Reprint
from generation.values import Survey
from ingestion.errors import BadInput, LithouseError

FORMATS = {
    "md": ".md",
    "html": ".html",
    "tex": ".tex",
    "pdf": ".pdf",
    "docx": ".docx",
    "bib": ".bib",
    "csl": ".csl.json",
    "ris": ".ris",
}
"""Format → what its file's name ends in."""

_NEEDS_BIB = ("tex",)
"""A .tex is of no use without its references."""

_PICTURE_KINDS = {"md": "svg", "tex": "pdf", "pdf": "svg", "docx": "png"}
"""How a format takes its pictures; Word shows no SVG that stands alone, TeX none at all."""

_PAGE_SETUP = """
#set par(justify: true)
#show heading: set block(above: 1.4em, below: 0.8em, sticky: true)
#show figure.where(kind: table): set block(breakable: true)
#show figure: set text(size: 0.86em)
#show figure: set par(justify: false)
#show table.cell: set align(left)
#show <refs>: set text(size: 0.9em)
#show <refs>: set par(justify: false, hanging-indent: 1.6em)
#show link: set text(fill: rgb("#0b4f94"))
#show math.equation: set text(font: "New Computer Modern Math")
"""


@dataclass(frozen=True)
class Made:
    """A file that is there: its format, or `picture` for one that others show."""

    format: str
    path: Path
    size: int


@dataclass(frozen=True)
class NotMade:
    """A format that could not be made, why, and what to do."""

    format: str
    reason: str
    advice: str


@dataclass(frozen=True)
class Exported:
    """What an export made and what it could not make."""

    made: tuple[Made, ...]
    not_made: tuple[NotMade, ...]


def formats_named(text: str) -> tuple[str, ...]:
    """The formats of a comma-separated list, each once, in the order of `FORMATS`.

    Raises:
        BadInput: one is unknown, or none is named.
    """
    wanted = {part.strip().lower().removeprefix(".") for part in text.split(",") if part.strip()}
    unknown = sorted(wanted - FORMATS.keys())
    if unknown or not wanted:
        raise BadInput(
            "there is no format", which=", ".join(unknown) or repr(text), advice=f"Formats: {','.join(FORMATS)}."
        )
    return tuple(name for name in FORMATS if name in wanted)


def export(
    edition: Reprint,
    folder: Path,
    formats: Collection[str] = tuple(FORMATS),
    *,
    told: Callable[[str, int, int], None] | None = None,
) -> Exported:
    """Write an edition to a folder, which is made where it is not there, as `SLUG.md`, `SLUG.pdf` and so on.

    Pictures lie in `pictures/SLUG-NAME`; LaTeX brings its .bib. A file of the same name is replaced, never added to.

    Args:
        edition: its topic's key names the files.
        told: called with what is being done, formats done, and formats to do.

    Raises:
        OSError: the folder cannot be written to.
    """
    folder.mkdir(parents=True, exist_ok=True)
    wanted = [name for name in FORMATS if name in formats]
    wanted += ["bib"] if "bib" not in wanted and any(name in wanted for name in _NEEDS_BIB) else []
    made, not_made = [], []
    with tempfile.TemporaryDirectory(prefix="lithouse-export-") as workplace:
        desk = _Desk(edition, Path(workplace), wanted)
        for count, name in enumerate(wanted):
            if told:
                told("exporting", count, len(wanted))
            try:
                content = _MAKERS[name](desk)
            except LithouseError as error:
                not_made.append(NotMade(name, _reason(error), f"{error.advice} {_ADVICE.get(name, '')}".strip()))
            else:
                made.append(_write(folder / f"{edition.facts.topic}{FORMATS[name]}", name, content))
        not_made += [NotMade(f"picture {n}", _reason(e), e.advice) for n, e in desk.undrawn.items()]
        for path, content in desk.files.items():
            made.append(_write(folder / path, "picture", content))
    return Exported(tuple(made), tuple(not_made))


def drawings(survey: Survey) -> tuple[dict[str, str], dict[str, LithouseError]]:
    """The survey's pictures as SVG by name, and those that cannot be drawn with the reason."""
    from generation.pictures import picture

    drawn: dict[str, str] = {}
    undrawn: dict[str, LithouseError] = {}
    for paragraph in (p for section in survey.sections for p in section.paragraphs):
        if (name := picture_name(paragraph)) and name not in drawn:
            try:
                drawn[name] = picture(paragraph[0])
            except LithouseError as error:
                undrawn[name] = error
    return drawn, undrawn


_ADVICE = {
    "pdf": "The .tex gives one too: lualatex, biber, lualatex twice.",
    "docx": "Word opens the .html too.",
}


@dataclass
class _Desk:
    """One export at work: what is printed, where drafts lie, and the picture files that the formats made so far need."""

    edition: Reprint
    folder: Path
    wanted: Sequence[str]
    files: dict[str, bytes] = field(default_factory=dict)
    undrawn: dict[str, LithouseError] = field(default_factory=dict)

    @cached_property
    def references(self) -> str:
        return bibtex(self.edition.papers)

    @cached_property
    def drawn(self) -> Survey:
        """The survey with the pictures that can be drawn; those lie in the folder as SVG."""
        drawn, self.undrawn = drawings(self.edition.survey)
        for name, svg in drawn.items():
            place = self.folder / f"{self._picture_names()}{name}.svg"
            place.parent.mkdir(exist_ok=True)
            place.write_text(svg, encoding="utf-8")
        sections = []
        for section in self.edition.survey.sections:
            kept = tuple(p for p in section.paragraphs if (name := picture_name(p)) is None or name in drawn)
            sections.append(replace(section, paragraphs=kept))
        return replace(self.edition.survey, sections=tuple(sections))

    def text(self, name: str, **options) -> str:
        """The survey as Markdown whose pictures are files of the kind that a format takes."""
        text = markdown(self.drawn, self.edition.papers, pictures=self._picture_names(), **options)
        for drawing in sorted((self.folder / PICTURES_FOLDER).glob(f"{self.edition.facts.topic}-*.svg")):
            other = self._converted(drawing, _PICTURE_KINDS[name])
            if name in ("md", "tex"):
                self.files[f"{PICTURES_FOLDER}/{other.name}"] = other.read_bytes()
            text = text.replace(f"({PICTURES_FOLDER}/{drawing.name})", f"({PICTURES_FOLDER}/{other.name})")
        return text

    def citing(self) -> list[str]:
        """Options of pandoc for formats in which citations are numbers."""
        bib = self.folder / "references.bib"
        bib.write_text(self.references, encoding="utf-8")
        return [
            "--citeproc", f"--bibliography={bib}", f"--csl={NUMERIC}", "--metadata=link-citations:true",
            "--metadata=lang:en", "--shift-heading-level-by=-1", f"--metadata=date:{self.line}",
            f"--resource-path={self.folder}",
        ]  # fmt: skip

    @property
    def line(self) -> str:
        """What is in hand: how many papers, up to which day, written how."""
        facts = self.edition.facts
        part = (
            f" In part: {facts.have} of {facts.expected} sections are written."
            if facts.is_partial and facts.have
            else ""
        )
        sentences = (s for section in self.edition.survey.sections for s in section.sentences())
        mark = f" No paper bears the sentences marked {UNSOURCED}." if any(s.is_unborne for s in sentences) else ""
        return (
            f"{facts.cited:,} papers cited of {facts.pool:,} in the pool, up to {facts.cutoff}.{part}{mark} Lithouse, "
            f"{facts.method}, {facts.writer} writer, edition {facts.edition}"
        )

    def _converted(self, drawing: Path, kind: str) -> Path:
        """The drawing as a file of this kind; itself where it cannot be converted, which newer readers show too."""
        other = drawing.with_suffix(f".{kind}")
        if other.exists():
            return other
        source = f'#set page(width: auto, height: auto, margin: 0pt)\n#image("{PICTURES_FOLDER}/{drawing.name}")'
        try:
            other.write_bytes(typeset(source, self.folder, kind=kind, made_at=self.edition.made_at))
        except RenderingFailed as error:
            self.undrawn[other.name] = error
            return drawing
        return other

    def _picture_names(self) -> str:
        return f"{PICTURES_FOLDER}/{self.edition.facts.topic}-"


def _md(desk: _Desk) -> str:
    bibliography = f"{desk.edition.facts.topic}{FORMATS['bib']}" if "bib" in desk.wanted else ""
    return desk.text("md", bibliography=bibliography)


def _html(desk: _Desk) -> str:
    told = desk.edition
    return page(told.survey, told.papers, told.facts, passage_texts=told.passage_texts, why=told.why)


def _tex(desk: _Desk) -> str:
    text = desk.text("tex", is_plain=True)
    return latex(text, desk.references, f"{desk.edition.facts.topic}{FORMATS['bib']}", desk.line)


def _pdf(desk: _Desk) -> bytes:
    setup = desk.folder / "setup.typ"
    setup.write_text(_PAGE_SETUP, encoding="utf-8")
    options = [*desk.citing(), "--standalone", f"--include-in-header={setup}", "--variable=papersize=a4"]
    options += ["--variable=mainfont=Libertinus Serif", "--variable=fontsize=10.5pt"]
    return typeset(pandoc(desk.text("pdf"), "typst", options=options), desk.folder, made_at=desk.edition.made_at)


def _docx(desk: _Desk) -> bytes:
    output = desk.folder / "survey.docx"
    pandoc(desk.text("docx"), "docx", options=desk.citing(), output=output)
    return output.read_bytes()


def _bib(desk: _Desk) -> str:
    return desk.references


def _csl(desk: _Desk) -> str:
    return csl_json(desk.references)


def _ris(desk: _Desk) -> str:
    return ris(desk.references)


_MAKERS: dict[str, Callable[[_Desk], str | bytes]] = {
    "md": _md, "html": _html, "tex": _tex, "pdf": _pdf, "docx": _docx, "bib": _bib, "csl": _csl, "ris": _ris,
}  # fmt: skip


def _write(path: Path, name: str, content: str | bytes) -> Made:
    """A file beside its place, then in it, so that nobody meets half of one."""
    data = content.encode("utf-8") if isinstance(content, str) else content
    path.parent.mkdir(exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_bytes(data)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    return Made(name, path, len(data))


def _reason(error: LithouseError) -> str:
    return f"{error.what}: {error.which}" if error.which else error.what
