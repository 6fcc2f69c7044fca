"""docvortex within limits, over many files, over long files, and over what real files do to it."""

import gc
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.documents.parsing import worker
from ingestion.documents.parsing.files import parse_file, parse_files
from ingestion.documents.parsing.limits import Limits
from ingestion.documents.parsing.parsers import Parser, docvortex_parser
from ingestion.documents.structure.document import from_markdown

from .conftest import locked, make_bomb, make_maze, make_page, make_pdf, make_prose

# --- without processes ---


@pytest.mark.parametrize(
    ("text", "clean", "removed"),
    [("a\0b", "ab", 1), ("x\ud800y", "xy", 1), ("\ud83d\ude00", "😀", 0), ("\udc00\0", "", 2), ("naïve", "naïve", 0)],
)
def test_pd06_what_no_file_format_takes_is_removed_and_counted(text, clean, removed):
    assert worker.writable({"pages": [{"content": [text], "page_idx": 0}]}) == (
        {"pages": [{"content": [clean], "page_idx": 0}]},
        removed,
    )


@given(st.text(st.characters(codec=None), max_size=50))
def test_pd06_any_text_can_be_written_afterwards(text):
    clean, removed = worker.writable([text])
    clean[0].encode("utf-8")
    assert "\0" not in clean[0]
    assert (removed == 0) == (len(clean[0].encode("utf-16-le")) == len(text.encode("utf-16-le", "surrogatepass")))


@pytest.mark.parametrize("markdown", ["", "# A title", "# A title\n\n## 1 Heading\n\n", "# A title\n\n…\n\n***"])
def test_pd12_a_document_without_words_below_its_headings_is_no_success(markdown):
    reply = worker.judged(from_markdown(markdown), 244, ["pages 1–244 of 300"])
    assert (reply.status, reply.document, reply.page_count) == ("empty_text", None, 244)
    assert reply.notes[0] == "pages 1–244 of 300"


def test_replies_survive_the_way_back():
    reply = worker.judged(
        from_markdown("# A title\n\n## 1 One\n\nWords [@x].\n\n## References\n\n[1] A. B. C."), 3, ["n"]
    )
    assert worker.REPLY_FORM.validate_json(worker.written(reply)) == reply


# --- with docvortex ---


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> dict:
    """Outcomes of small files of every kind, from one run."""
    folder = tmp_path_factory.mktemp("files")
    one = make_pdf([make_prose(1)])
    scan = make_pdf([b"q 600 0 0 700 0 0 cm /Im Do Q"] * 3, image=True)
    files = {
        "prose": one,
        "edge": make_pdf([b"BT /F1 9 Tf 300 30 Td (7) Tj ET"]),
        "locked": locked(one, user_password="secret"),
        "owned": locked(one, owner_password="secret"),
        "cut": one[:400],
        "scan": scan,
        "blank": make_pdf([b""] * 244),
        "page": b"<html>not here</html>",
        "nothing": b"",
        "long": make_pdf([make_prose(number) for number in range(1, 131)], compress=True),
        "damaged": make_pdf(list(map(make_prose, range(1, 4)))).replace(b" 7 0 R ", b" 0 0 R ", 1),
    }
    for name, data in files.items():
        (folder / f"{name}.pdf").write_bytes(data)
    limits = Limits(wall_seconds=120, pages=100, memory_bytes=2**30)
    found = parse_files([folder / f"{name}.pdf" for name in files], docvortex_parser(), per_file_limits=limits)
    return {path.stem: outcome for path, outcome in found}


@pytest.mark.run
def test_pd04_each_kind_of_file_has_its_status(rows):
    statuses = {name: rows[name].status for name in ("locked", "cut", "scan", "blank", "page", "nothing")}
    assert statuses == {
        "locked": "encrypted", "cut": "corrupt", "scan": "no_text_layer", "blank": "no_text_layer",
        "page": "not_pdf", "nothing": "empty_file",
    }  # fmt: skip
    assert [name for name in statuses if not rows[name].advice] == []


@pytest.mark.run
@pytest.mark.parametrize("name", ["prose", "owned"])
def test_text_is_parsed_with_its_page_and_its_parser(rows, name):
    outcome = rows[name]
    assert (outcome.status, outcome.page_count, outcome.parser) == ("parsed", 1, docvortex_parser().name)
    assert "line 29 of page 1" in outcome.document.markdown
    assert {part.page for part in outcome.document.parts} == {1}
    assert outcome.cpu_seconds > 0
    assert outcome.peak_bytes > 2**20
    assert outcome.notes == ()


@pytest.mark.run
def test_pd03_a_few_words_at_the_edge_that_the_parser_leaves_out_are_empty_text(rows):
    assert (rows["edge"].status, rows["edge"].document) == ("empty_text", None)


@pytest.mark.run
def test_pd12_pages_without_text_are_no_success(rows):
    assert (rows["blank"].page_count, rows["blank"].document) == (244, None)


@pytest.mark.run
def test_pd10_long_files_are_parsed_in_parts_joined_in_order_up_to_a_cap(rows):
    outcome = rows["long"]
    assert (outcome.status, outcome.page_count, outcome.notes) == ("parsed", 130, ("pages 1–100 of 130",))
    text = outcome.document.markdown
    places = [text.find(f"line 3 of page {number},") for number in range(1, 101)]
    assert places == sorted(places)
    assert places[0] > 0
    assert "of page 101" not in text
    pages = {part.page for part in outcome.document.parts}
    assert (min(pages), max(pages), len(pages)) == (1, 100, 100)


@pytest.mark.run
def test_damaged_pages_are_left_out_with_a_note(rows):
    outcome = rows["damaged"]
    assert (outcome.status, outcome.page_count, outcome.notes) == ("parsed", 3, ("left out, damaged: page 2",))
    assert {part.page for part in outcome.document.parts} == {1, 3}


@pytest.mark.run
def test_pd09_real_files_that_hang_the_parser_or_eat_memory_cost_their_limit_and_nothing_else(pdf_file):
    files = [
        pdf_file("bomb.pdf", data=make_bomb(2**29)),
        pdf_file("maze.pdf", data=make_maze(20_000)),
        pdf_file("prose.pdf"),
    ]
    assert all(file.stat().st_size < 3 * 2**20 for file in files)
    # Each file with the one limit that it runs into: a fast machine would find the maze too large before its time.
    small, short = Limits(memory_bytes=400 * 2**20), Limits(wall_seconds=5)
    bomb, prose = (o for _, o in parse_files([files[0], files[2]], docvortex_parser(), per_file_limits=small))
    assert (bomb.status, "memory" in bomb.notes[0], bomb.peak_bytes < 400 * 2**20) == ("too_large", True, True)
    assert prose.status == "parsed"
    maze, prose = (o for _, o in parse_files(files[1:], docvortex_parser(), per_file_limits=short))
    assert (maze.status, maze.notes) == ("timeout", ("stopped after 5 s",))
    assert prose.status == "parsed"


@pytest.mark.run
def test_the_calling_process_never_loads_what_opens_files():
    code = "import sys, ingestion.documents.parsing.files; print({'pypdfium2', 'docvortex'} & set(sys.modules))"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "set()"


@pytest.mark.run
def test_pd08_memory_does_not_grow_with_the_number_of_files(order, bad_parser):
    """Sixty files; the outcomes are not kept, and neither are the runner's own traces of them."""
    files: Iterator[Path] = (order("text", f"{number:02}") for number in range(60))
    counts, held = [], []
    for _, outcome in parse_files(files, bad_parser(), concurrency=2):
        assert outcome.status == "parsed"
        counts.append(outcome.sha256)
        del outcome
        gc.collect()
        held.append(sum(1 for item in gc.get_objects() if type(item).__name__ in ("Document", "_Running", "Reply")))
    assert len(counts) == 60
    assert max(held[10:]) <= max(held[:10])


@pytest.mark.run
def test_figures_and_formulas_are_not_rendered_in_a_second_process(tmp_path):
    """docvortex starts one for crops, unless the document it is given has a session of its own."""
    code = """
import sys
from ingestion.documents.parsing import worker
worker.prepare()
from docvortex.document.pdf import render_session
pages = worker.docvortex_pages(open(sys.argv[1], "rb").read())
print([block["type"] for page in pages for block in page["blocks"]], len(render_session._all_workers))
"""
    picture = b"q 300 0 0 300 100 100 cm /Im Do Q " + make_page("Figure 1: A picture of one pixel, as large as can be.")
    (tmp_path / "a.pdf").write_bytes(make_pdf([make_prose(1) + picture], image=True))
    said = subprocess.run([sys.executable, "-c", code, tmp_path / "a.pdf"], capture_output=True, text=True, check=True)
    assert "image" in said.stdout
    assert said.stdout.strip().endswith(" 0")


@pytest.mark.run
@pytest.mark.parametrize(
    ("raised", "status", "said"),
    [
        ("RuntimeError('no such glyph')", "corrupt", "docvortex failed: RuntimeError: no such glyph"),
        ("OSError(12, 'Cannot allocate memory')", "too_large", "needed more than 4 GB of memory"),
        ("MemoryError()", "too_large", "needed more than 4 GB of memory"),
    ],
)
def test_what_docvortex_raises_becomes_a_status(tmp_path, monkeypatch, pdf_file, raised, status, said):
    code = f"""
from ingestion.documents.parsing.worker import parse, prepare

def broken():
    prepare()
    import docvortex
    def fail(*_, **__):
        raise {raised}
    docvortex.parse = fail
"""
    (tmp_path / "broken_docvortex.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    parser = Parser("docvortex 0", "broken_docvortex:parse", prepare="broken_docvortex:broken")
    outcome = parse_file(pdf_file("a.pdf"), parser)
    assert (outcome.status, said in outcome.notes[0]) == (status, True)


@pytest.mark.run
def test_modules_are_imported_before_the_first_file(tmp_path):
    """Each process would import again what `prepare` forgot."""
    code = """
import sys
from pathlib import Path
from ingestion.documents.parsing import worker
worker.prepare()
before = set(sys.modules)
worker.parse(Path(sys.argv[1]), {"pages": 10})
print(sorted(set(sys.modules) - before))
"""
    (tmp_path / worker.INPUT).write_bytes(make_pdf([make_prose(1)]))
    said = subprocess.run([sys.executable, "-c", code, tmp_path], capture_output=True, text=True, check=True)
    late = [name for name in eval(said.stdout) if not name.startswith(("encodings.", "importlib.", "pypdf._codecs"))]
    assert late == []


# --- with the shared files ---


@pytest.mark.run
def test_pd04_the_shared_odd_files_have_their_statuses(shared_data):
    names = ("bad/empty", "bad/encrypted", "bad/html_as_pdf", "bad/scanned", "bad/truncated", "mineru_small_ocr")
    files = [shared_data / "pdfs" / f"{name}.pdf" for name in (*names, "2206.01062_pg3_password")]
    statuses = [outcome.status for _, outcome in parse_files(files, docvortex_parser())]
    assert statuses == [
        "empty_file", "encrypted", "not_pdf", "no_text_layer", "corrupt", "no_text_layer", "encrypted",
    ]  # fmt: skip


@pytest.mark.run
def test_pd09_a_paper_that_takes_longer_than_its_limit_is_a_timeout(shared_data):
    paper = shared_data / "mirror" / "pdf" / "2112.04426v1.pdf"
    outcome = parse_file(paper, docvortex_parser(), limits=Limits(wall_seconds=2))
    assert (outcome.status, outcome.document, outcome.parser) == ("timeout", None, docvortex_parser().name)
    assert 2 <= outcome.seconds < 3


@pytest.mark.run
def test_a_paper_that_needs_more_than_its_memory_is_too_large(shared_data):
    paper = shared_data / "mirror" / "pdf" / "2112.04426v1.pdf"
    outcome = parse_file(paper, docvortex_parser(), limits=Limits(memory_bytes=300 * 2**20))
    assert (outcome.status, outcome.document) == ("too_large", None)
    assert "memory" in outcome.notes[0]


def test_the_embedded_parser_names_its_version():
    name, _, number = docvortex_parser().name.partition(" ")
    assert (name, number.split(".")[0].isdigit(), isinstance(docvortex_parser(), Parser)) == ("docvortex", True, True)
