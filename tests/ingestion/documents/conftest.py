"""PDFs made by hand, and parsers that behave badly on purpose."""

import zlib
from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path

import pytest

from ingestion.documents.parsing.limits import Limits
from ingestion.documents.parsing.parsers import Parser


def make_pdf(pages: Sequence[bytes], *, image: bool = False, compress: bool = False, packed: bool = False) -> bytes:
    """A PDF whose pages have these content streams (`packed`: compressed already); with `image` each may draw the
    one-pixel image `Im`."""
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", b"", b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    resources = b"/Font << /F1 3 0 R >>"
    if image:
        header = b"/Type /XObject /Subtype /Image /Width 1 /Height 1 /BitsPerComponent 8 /ColorSpace /DeviceGray"
        objects.append(_stream(b"\x80", header))
        resources += b" /XObject << /Im 4 0 R >>"
    kids = []
    for content in pages:
        content = zlib.compress(content) if compress else content
        filtered = _stream(content, b"/Filter /FlateDecode" if compress or packed else b"")
        objects.append(filtered)
        place = b"/MediaBox [0 0 612 792] /Resources << %s >> /Contents %d 0 R" % (resources, len(objects))
        objects.append(b"<< /Type /Page /Parent 2 0 R %s >>" % place)
        kids.append(b"%d 0 R" % len(objects))
    objects[1] = b"<< /Type /Pages /Count %d /Kids [%s] >>" % (len(kids), b" ".join(kids))
    out, offsets = b"%PDF-1.5\n", []
    for number, content in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    trailer = b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, len(out))
    return out + b"xref\n0 %d\n0000000000 65535 f \n%s%s" % (len(objects) + 1, table, trailer)


def _stream(data: bytes, header: bytes = b"") -> bytes:
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(data), header, data)


def make_bomb(size: int) -> bytes:
    """A one-page PDF of some kilobytes whose content stream unpacks to `size` bytes."""
    packer, blanks = zlib.compressobj(1), b" " * 2**20
    packed = [packer.compress(make_prose(1)), *(packer.compress(blanks) for _ in range(size // 2**20)), packer.flush()]
    return make_pdf([b"".join(packed)], packed=True)


def make_maze(count: int) -> bytes:
    """A small one-page PDF with `count` scraps of text on top of each other: docvortex compares each with each."""
    rolled = ((i * 7919) % 600 for i in range(count))
    scraps = (b"BT /F1 %d Tf %d %d Td (ab) Tj ET" % (4 + i % 17, x, (i * 104729) % 790) for i, x in enumerate(rolled))
    return make_pdf([b"\n".join(scraps)], compress=True)


def make_page(*lines: str) -> bytes:
    """A content stream with these lines of text, from the top of the page."""
    shown = [line.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)") for line in lines]
    each = (b"BT /F1 10 Tf 72 %d Td (%s) Tj ET" % (720 - 14 * i, s.encode("latin-1")) for i, s in enumerate(shown))
    return b"\n".join(each)


def make_prose(number: int) -> bytes:
    """A page of prose that tells its number."""
    lines = (f"This is line {i} of page {number}, long enough to be taken for a line of prose." for i in range(30))
    return make_page(*lines)


def locked(data: bytes, **passwords: str) -> bytes:
    """The same PDF with `user_password` or `owner_password`."""
    from pypdf import PdfReader, PdfWriter

    writer = PdfWriter(clone_from=PdfReader(BytesIO(data)))
    writer.encrypt(**({"user_password": ""} | passwords), algorithm="RC4-128")
    saved = BytesIO()
    writer.write(saved)
    return saved.getvalue()


@pytest.fixture
def pdf_file(tmp_path: Path) -> Callable[..., Path]:
    """Writes a PDF: `pdf_file("a.pdf", page, …)`, or any bytes: `pdf_file("a.pdf", data=…)`."""

    def write(name: str, *pages: bytes, data: bytes | None = None, **options: bool) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(make_pdf(pages or [make_prose(1)], **options) if data is None else data)
        return path

    return write


TASKS = '''
"""Jobs that behave as files make real parsers behave; the file says how."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from ingestion.documents.structure.document import from_markdown
from ingestion.documents.parsing.worker import judged, written


def ready():
    pass


def parse(folder, options):
    words = (folder / "input.pdf").read_bytes().split(b"do:", 1)[1:]
    return globals()[words[0].split()[0].decode() if words else "text"](folder, options)


def text(folder, options):
    content = "# A title\\n\\n## 1 Introduction\\n\\nSome words of a paper."
    return written(judged(from_markdown(content), 1, []))


def no_text(folder, options):
    return written(judged(from_markdown("# A title"), 244, []))


def hang(folder, options):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        time.sleep(60)


def burn(folder, options):
    while True:
        pass


def eat(folder, options):
    held = []
    while True:
        held.append(bytearray(2**24))


def abort(folder, options):
    os.abort()


def crash(folder, options):
    os.kill(os.getpid(), signal.SIGSEGV)


def killed(folder, options):
    os.kill(os.getpid(), signal.SIGKILL)


def nothing(folder, options):
    os._exit(0)


def garbage(folder, options):
    return b"%!\\xff\\x00 not what was asked for"


def contradiction(folder, options):
    return b'{"status": "parsed"}'


def fail(folder, options):
    raise RuntimeError("the page tree bites its tail")


def flood(folder, options):
    return b"x" * 2**26


def kill_the_warden(folder, options):
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(60)


def leave_children(folder, options):
    code = "import os, sys, time; os.setsid() if len(sys.argv) > 2 else None; "
    code += "open(sys.argv[1], 'a').write(f'{os.getpid()}\\\\n'); time.sleep(60)"
    note = options["note"]
    for extra in ([], ["apart"]):
        subprocess.Popen([sys.executable, "-c", code, note, *extra])
    while not Path(note).is_file() or len(Path(note).read_text().split()) < 2:
        time.sleep(0.01)
    return text(folder, options)


def hang_with_children(folder, options):
    leave_children(folder, options)
    hang(folder, options)


def tell(folder, options):
    content = f"stdin {sys.stdin.read()!r} secret {os.environ.get('LITHOUSE_SECRET')} group {os.getpgid(0) == os.getpid()}"
    content += f" folder {os.getcwd() == str(folder)} mode {oct(os.stat(folder).st_mode & 0o777)}"
    return written(judged(from_markdown(content), 1, []))
'''


@pytest.fixture
def bad_parser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Parser]:
    """A parser that does what its file says after `do:` (see `TASKS`), with tight limits."""
    folder = tmp_path / "tasks"
    folder.mkdir()
    (folder / "bad_tasks.py").write_text(TASKS, encoding="utf-8")
    monkeypatch.syspath_prepend(folder)

    def make(**limits: float) -> Parser:
        tight = Limits(**({"wall_seconds": 20, "memory_bytes": 2**30} | limits))
        return Parser(
            "bad 1.0",
            "bad_tasks:parse",
            prepare="bad_tasks:ready",
            options={"note": str(tmp_path / "note")},
            limits=tight,
        )

    return make


@pytest.fixture
def order(pdf_file: Callable[..., Path]) -> Callable[[str], Path]:
    """A file that makes `bad_parser` do something: `order("hang")`."""

    def write(word: str, name: str | None = None) -> Path:
        return pdf_file(f"{name or word}.pdf", data=b"%PDF-1.5\ndo:" + word.encode() + b" now\n")

    return write
