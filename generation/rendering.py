"""Pandoc and typst, called: text of one format as another, and typst sources as PDF or PNG.

Both come with the installation and need no network. Not here: which formats a survey is exported in (`exporting`), and
the page (`page`).
"""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from ingestion.errors import PermanentFailure

_TEMPLATES = Path(__file__).parent / "templates"
NUMERIC = _TEMPLATES / "numeric.csl"


class RenderingFailed(PermanentFailure):
    """A tool is missing, or could not make a format."""


def pandoc(
    text: str, target: str, *, source: str = "markdown", options: Sequence[str] = (), output: Path | None = None
) -> str:
    """Text as another of pandoc's formats; "" where it goes to a file.

    Args:
        options: of pandoc's command line.
        output: for formats that are no text.

    Raises:
        RenderingFailed: pandoc is missing or fails.
    """
    try:
        import pypandoc

        return pypandoc.convert_text(
            text,
            target,
            format=source,
            extra_args=["--quiet", "--wrap=none", *options],
            outputfile=str(output) if output else None,
        )
    except (ImportError, OSError) as error:
        raise RenderingFailed(
            "pandoc cannot be started", which=_line(error), advice="Install it with `pip install pypandoc-binary`."
        ) from error
    except RuntimeError as error:
        raise RenderingFailed(f"pandoc could not make {target}", which=_line(error)) from error


def typeset(source: str, folder: Path, *, kind: str = "pdf", made_at: datetime | None = None) -> bytes:
    """A typst source as `pdf` or `png`.

    Args:
        folder: what the source's pictures are relative to; nothing outside of it is read.
        made_at: the PDF's date, so that one source gives the same bytes at any time.

    Raises:
        RenderingFailed: typst is missing or refuses the source.
    """
    try:
        import typst
    except ImportError as error:
        raise RenderingFailed(
            "typst, which sets the pages, is not installed", advice="Install it with `pip install typst`."
        ) from error
    stamp = {"timestamp": int(made_at.timestamp())} if made_at else {}
    try:
        main = folder / "main.typ"
        main.write_text(source, encoding="utf-8")
        return typst.compile(main, root=folder, format=kind, ppi=200 if kind == "png" else None, **stamp)
    except typst.TypstError as error:
        raise RenderingFailed("typst could not set the text", which=_line(error)) from error


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())[:300]
