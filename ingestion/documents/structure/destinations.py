"""Named link destinations of a PDF, as LaTeX's hyperref writes them: `section.3`, `cite.vaswani2017`, `figure.2`.

Here: reading them with their places. Not here: what they say of headings and references (see `headings` and
`reference_list`), opening files.
"""

import ctypes
from collections.abc import Iterator

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from ingestion.documents.values import Destination

MOST_DESTINATIONS = 20_000
"""A PDF can name any number; books have some thousands."""
_LONGEST_NAME_BYTES = 1_000


def read_destinations(pdf: pdfium.PdfDocument) -> list[Destination]:
    """The file's named destinations in its own order; x and y are None where it leaves them open.

    At most `MOST_DESTINATIONS`. Names that cannot be read, and places on no page, are left out.
    """
    page_boxes: dict[int, tuple[float, float, float, float]] = {}
    found = []
    for name, destination in _named(pdf):
        page = pdfium_c.FPDFDest_GetDestPageIndex(pdf.raw, destination)
        if not 0 <= page < len(pdf):
            continue
        if page not in page_boxes:
            page_boxes[page] = _visible_box(pdf, page)
        x, y = _place(destination)
        found.append(Destination(name, page + 1, *_fractions(x, y, page_boxes[page])))
    return found


def _named(pdf: pdfium.PdfDocument) -> Iterator[tuple[str, object]]:
    for index in range(min(pdfium_c.FPDF_CountNamedDests(pdf.raw), MOST_DESTINATIONS)):
        size = ctypes.c_long(0)
        pdfium_c.FPDF_GetNamedDest(pdf.raw, index, None, ctypes.byref(size))
        if not 0 < size.value <= _LONGEST_NAME_BYTES:
            continue
        buffer = ctypes.create_string_buffer(size.value)
        destination = pdfium_c.FPDF_GetNamedDest(pdf.raw, index, buffer, ctypes.byref(size))
        name = buffer.raw.decode("utf-16-le", errors="replace").rstrip("\0")
        if destination and name:
            yield name, destination


def _place(destination: object) -> tuple[float | None, float | None]:
    """In points from the lower left corner of the page's own coordinates."""
    has_x, has_y, has_zoom = (pdfium_c.FPDF_BOOL() for _ in range(3))
    x, y, zoom = (pdfium_c.FS_FLOAT() for _ in range(3))
    given = pdfium_c.FPDFDest_GetLocationInPage(destination, has_x, has_y, has_zoom, x, y, zoom)
    if not given:
        return None, None
    return x.value if has_x.value else None, y.value if has_y.value else None


def _visible_box(pdf: pdfium.PdfDocument, index: int) -> tuple[float, float, float, float]:
    page = pdf[index]
    try:
        return page.get_cropbox()
    finally:
        page.close()


def _fractions(
    x: float | None, y: float | None, box: tuple[float, float, float, float]
) -> tuple[float | None, float | None]:
    left, bottom, right, top = box
    width, height = right - left, top - bottom
    if width <= 0 or height <= 0:
        return None, None
    across = None if x is None else min(max((x - left) / width, 0.0), 1.0)
    down = None if y is None else min(max((top - y) / height, 0.0), 1.0)
    return across, down
