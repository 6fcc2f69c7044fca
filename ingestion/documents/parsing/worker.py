"""What happens to a file in its confined process, with docvortex as the parser.

Here: from the file to the reply: checks, parts of long files, the parser's call. Not here: limits (the process has
them), the repair of what the parser says (`ingestion.documents.structure.document`).
"""

import errno
import importlib
import logging
import pkgutil
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from ingestion.documents.statuses import Status
from ingestion.documents.values import Document

if TYPE_CHECKING:
    import pypdfium2 as pdfium

    from ingestion.documents.raw_store import RawText

INPUT = "input.pdf"
RAW = "raw.json.gz"
"""What the parser said, as `ingestion.documents.raw_store` packs it."""
PART_PAGES = 60
"""Longer files are parsed in parts of this size: docvortex holds 12 MB a page until it is done."""
_PACKAGES = ("docvortex.document.pdf", "docvortex.analyzers.native.pdf", "docvortex.postprocess")
_MODULES = (
    # docvortex imports these at its first PDF.
    "docvortex._native",
    "docvortex.analyzers.native.models",
    "docvortex.document.page_range",
    "docvortex.metadata",
    "importlib.readers",
    "PIL.ImageFile",
    "pypdf.filters",
    # Ours.
    "ingestion.documents.structure.destinations",
    "ingestion.documents.structure.docvortex_blocks",
    "ingestion.documents.parsing.opening",
    "ingestion.documents.raw_store",
)
_UNWRITABLE = re.compile("[\x00\ud800-\udfff]")
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")


@dataclass(frozen=True)
class Reply:
    """What a confined process says of its file.

    Attributes:
        document: not None exactly if `status` is `parsed`.
        notes: what was cut or repaired, or why there is no document.
        setup_fault: what is wrong with the parser itself, what it said, and advice; then the status means nothing.
    """

    status: Status
    page_count: int | None = None
    document: Document | None = None
    notes: tuple[str, ...] = ()
    setup_fault: tuple[str, str, str] | None = None


REPLY_FORM = TypeAdapter(Reply)


def prepare() -> None:
    """Import what parsing needs, without opening a PDF: PDFium with fonts in use must not be forked."""
    for name in _PACKAGES:
        package = importlib.import_module(name)
        for module in pkgutil.walk_packages(package.__path__, f"{name}."):
            importlib.import_module(module.name)
    for name in _MODULES:
        importlib.import_module(name)
    hold_back_chatter()


def hold_back_chatter() -> None:
    """docvortex tells each table and each doubtful style at debug level; pypdfium2 warns of what docvortex does."""
    from loguru import logger

    logger.remove()
    logger.add(sys.stderr, level="ERROR")
    logging.getLogger("pypdfium2").setLevel(logging.ERROR)


def parse(folder: Path, options: dict) -> bytes:
    """A job: parse `INPUT` in `folder`. Options: `pages`, the most to read. Returns a `Reply` as JSON."""
    from docvortex.document.pdf import initialize_pdfium_runtime

    from ingestion.documents.parsing.opening import Unreadable, check_text_layer, open_pdf

    initialize_pdfium_runtime()  # its fonts have to be there before PDFium first asks for one
    page_count = None
    try:
        pdf = open_pdf(folder / INPUT)
        page_count = len(pdf)
        check_text_layer(pdf, options["pages"])
        text = _raw(pdf, folder / INPUT, options["pages"])
    except Unreadable as error:
        return written(Reply(error.status, page_count, notes=(error.note,)))
    return told(folder, text)


def told(folder: Path, text: "RawText") -> bytes:
    """The reply to what a parser said, which is left in `RAW` for the caller to keep."""
    from ingestion.documents.raw_store import document_of, packed

    (folder / RAW).write_bytes(packed(text))
    return written(judged(document_of(text.payload, text.page_count), text.page_count, text.notes))


def judged(document: Document, page_count: int | None, notes: Sequence[str]) -> Reply:
    """`parsed` if the document holds any text below its headings, else `empty_text`."""
    notes = (*notes, *document.notes)
    if any(c.isalnum() for part in document.parts for c in document.markdown[part.start : part.end]):
        return Reply("parsed", page_count, document, notes)
    return Reply("empty_text", page_count, notes=(*notes, "the parser found no text"))


def written(reply: Reply) -> bytes:
    """`reply` as JSON."""
    return REPLY_FORM.dump_json(reply)


def _raw(pdf: "pdfium.PdfDocument", path: Path, most_pages: int) -> "RawText":
    from ingestion.documents.parsing.opening import readable_pages
    from ingestion.documents.raw_store import RawText
    from ingestion.documents.structure.destinations import read_destinations

    page_count = len(pdf)
    read = min(page_count, most_pages)
    notes = [f"pages 1–{read:,} of {page_count:,}"] if read < page_count else []
    numbers = readable_pages(pdf, read)
    if damaged := sorted(set(range(read)) - set(numbers)):
        notes.append(f"left out, damaged: {'page' if len(damaged) == 1 else 'pages'} {_listed(damaged)}")
    payload = {
        "document": {"pages": list(_pages(pdf, path, numbers))},
        "page_count": page_count,
        "title": pdf.get_metadata_value("Title"),
        "destinations": [[d.name, d.page, d.x, d.y] for d in read_destinations(pdf) if d.page <= read],
    }
    payload, removed = writable(payload)
    if removed:
        notes.append(f"{removed} NUL characters and lone surrogates removed")
    return RawText(payload, page_count, tuple(notes))


def _listed(numbers: Sequence[int]) -> str:
    shown = ", ".join(str(number + 1) for number in numbers[:10])
    return f"{shown} and {len(numbers) - 10} more" if len(numbers) > 10 else shown


def _pages(pdf: "pdfium.PdfDocument", path: Path, numbers: Sequence[int]) -> Iterator[dict]:
    """These pages as docvortex describes them, with their numbers in the whole file."""
    from ingestion.documents.parsing.opening import extract

    if len(numbers) == len(pdf) <= PART_PAGES:
        yield from docvortex_pages(path.read_bytes())
        return
    for start in range(0, len(numbers), PART_PAGES):
        part = numbers[start : start + PART_PAGES]
        for page in docvortex_pages(extract(pdf, part)):
            yield page | {"page_idx": part[page["page_idx"]]}


def docvortex_pages(data: bytes) -> list[dict]:
    """A PDF's pages as docvortex describes them, without crops of figures and formulas, which we do not keep.

    docvortex has no setting for these. It renders them in a session that it asks the document for; this document
    gives it one that renders nothing, which spares a second process with all its imports.

    Raises:
        Unreadable: `corrupt`, where docvortex fails.
        MemoryError: there is not enough.
    """
    import docvortex
    from docvortex.document.pdf import PDFDocument

    from ingestion.documents.parsing.opening import Unreadable

    class Uncropped(PDFDocument):
        def get_render_session(self, **_: object) -> _NoCrops:
            return _NoCrops()

    document = None
    try:
        document = Uncropped(data)
        return docvortex.parse(document, parse_mode="txt").to_dict()["pages"]
    except MemoryError:
        raise
    except Exception as error:  # whatever a parser of 130,000 lines may raise
        if isinstance(error, OSError) and error.errno == errno.ENOMEM:
            raise MemoryError from error
        raise Unreadable("corrupt", f"docvortex failed: {type(error).__name__}: {error}") from error
    finally:
        if document is not None:
            document.close()


class _NoCrops:
    """In place of `docvortex.document.pdf.PDFRenderSession`."""

    def validate_input(self, data: bytes) -> None:
        pass

    def render(self, start: int, end: int, *, prepared_crops: list, timeout: float | None = None) -> list[list[tuple]]:
        return [[(index, None) for index, _ in page] for page in prepared_crops]


def writable(value: Any) -> tuple[Any, int]:
    """`value` without NUL and surrogates in its strings, which no file format takes; surrogate pairs become their
    character. And how many characters went. Other control characters go where text is cleaned."""
    removed = 0

    def clean(item: Any) -> Any:
        nonlocal removed
        if isinstance(item, str):
            if not _UNWRITABLE.search(item):
                return item
            paired = _PAIR.sub(lambda m: m[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le"), item)
            text, count = _UNWRITABLE.subn("", paired)
            removed += count
            return text
        if isinstance(item, list):
            return [clean(entry) for entry in item]
        if isinstance(item, dict):
            return {key: clean(entry) for key, entry in item.items()}
        return item

    return clean(value), removed
