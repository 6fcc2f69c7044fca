"""What PDFium tells of a PDF before it is parsed: does it open, has it text.

Here: encryption, damage, pages, text layer, some of its pages as a file of their own. PDFium is large and reads whatever
people send: only confined processes call this.
"""

import contextlib
from collections.abc import Iterable, Sequence
from io import BytesIO
from pathlib import Path

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from ingestion.documents.statuses import Status

FEWEST_CHARACTERS_A_PAGE = 50
"""A scan with a stamp or a running title has fewer, a page of text hundreds."""
SAMPLED_PAGES = 10
_PASSWORD_ERRORS = (pdfium_c.FPDF_ERR_PASSWORD, pdfium_c.FPDF_ERR_SECURITY)


class Unreadable(Exception):
    """A PDF that cannot be parsed, with its status and the reason."""

    def __init__(self, status: Status, note: str) -> None:
        super().__init__(note)
        self.status = status
        self.note = note


def open_pdf(path: Path) -> pdfium.PdfDocument:
    """The opened file. One with an owner password only opens like any other.

    Raises:
        Unreadable: `encrypted`, `corrupt`.
    """
    try:
        pdf = pdfium.PdfDocument(path)
    except pdfium.PdfiumError as error:
        if error.err_code in _PASSWORD_ERRORS:
            raise Unreadable("encrypted", str(error)) from error
        raise Unreadable("corrupt", str(error)) from error
    if not len(pdf):
        pdf.close()
        raise Unreadable("corrupt", "the file has no pages")
    return pdf


def check_text_layer(pdf: pdfium.PdfDocument, most_pages: int) -> None:
    """Whether the first `most_pages` pages hold text: 50 characters a page on average, over a sample where it
    suffices. Pages with less but without images pass if they hold any: there would be nothing to recognise on them.

    Raises:
        Unreadable: `no_text_layer`; `corrupt`, where no page can be read.
    """
    count = min(len(pdf), most_pages)
    sample = sorted({round(i * (count - 1) / max(SAMPLED_PAGES - 1, 1)) for i in range(SAMPLED_PAGES)})
    if _average(found := _characters(pdf, sample)) >= FEWEST_CHARACTERS_A_PAGE:
        return
    if count > len(sample):
        found = _characters(pdf, range(count))
    if not found:
        raise Unreadable("corrupt", "no page of the file can be read")
    if (average := _average(found)) >= FEWEST_CHARACTERS_A_PAGE:
        return
    if not average or any(_has_image(pdf, number) for number in sample):
        raise Unreadable("no_text_layer", f"{average:.0f} characters a page on average, over {len(found)} pages")


def _characters(pdf: pdfium.PdfDocument, numbers: Iterable[int]) -> list[int]:
    counts = []
    for number in numbers:
        try:
            page = pdf[number]
            text = page.get_textpage()
        except pdfium.PdfiumError:
            continue  # a damaged page among good ones
        counts.append(text.count_chars())
        text.close()
        page.close()
    return counts


def _average(counts: list[int]) -> float:
    return sum(counts) / len(counts) if counts else 0.0


def _has_image(pdf: pdfium.PdfDocument, number: int) -> bool:
    try:
        page = pdf[number]
    except pdfium.PdfiumError:
        return False
    return any(True for _ in page.get_objects(filter=[pdfium_c.FPDF_PAGEOBJ_IMAGE], max_depth=3))


def readable_pages(pdf: pdfium.PdfDocument, most_pages: int) -> list[int]:
    """Which of the first `most_pages` pages PDFium can load, from 0: a file can have damaged pages among good ones."""
    found = []
    for number in range(min(len(pdf), most_pages)):
        with contextlib.suppress(pdfium.PdfiumError):
            pdf[number].close()
            found.append(number)
    return found


def extract(pdf: pdfium.PdfDocument, pages: Sequence[int]) -> bytes:
    """These pages, from 0, as a PDF of their own.

    Raises:
        Unreadable: `corrupt`, where they cannot be taken out.
    """
    part = pdfium.PdfDocument.new()
    try:
        part.import_pages(pdf, list(pages))
        saved = BytesIO()
        part.save(saved)
        return saved.getvalue()
    except pdfium.PdfiumError as error:
        raise Unreadable("corrupt", f"pages cannot be taken out of the file: {error}") from error
    finally:
        part.close()
