"""Texts that no one writes but that PDFs hold: they cost time in proportion to their length, not minutes.

Entries and marks are read outside the confined process, so a pattern that tries every division of a long run would
stop the whole run. The limit in CPU time is twenty times what each needs; what runs away needs a thousand times that.
"""

import time

import pytest

from corpus.passages import passages_of
from corpus.resolution_candidates import lookups_of
from ingestion.documents.structure.document import from_markdown, structured
from ingestion.documents.values import Block, RawDocument, ReferenceText, Run
from ingestion.references.fields import parse_entry
from ingestion.references.marks import contexts, find_marks
from ingestion.references.splitting import split_entries
from ingestion.sentences import split

pytestmark = pytest.mark.run

SECONDS = 5.0
LENGTH = 20_000
RUNS = {
    "capitals": "A", "small letters": "a", "hyphens": "Ab-", "digits": "1", "initials": "A. ", "glued initials": "A.",
    "particles": "van der d'", "van": "Van ", "names": "Dam, A., ", "years": "2001, ", "years in brackets": "(2001) ",
    "blanks": " ", "stops": ". ", "open brackets": "[1", "open parentheses": "(a ", "dois": "10.1234/",
    "addresses": "http://a.", "ideographs": "磨坊", "numbers": "3. ", "underscores": "_", "open formulas": "\\[ a ",
}  # fmt: skip
ENTRIES = [parse_entry(ReferenceText("1", "A. Dam and B. Weir. 2001. Mills of the valley. In Proc. of Water."))]


@pytest.fixture(autouse=True)
def _in_time():
    begun = time.process_time()
    yield
    assert time.process_time() - begun < SECONDS


@pytest.mark.parametrize("unit", RUNS.values(), ids=RUNS)
def test_long_runs_in_entries(unit):
    run = (unit * LENGTH)[:LENGTH]
    texts = (run, f"A. Dam, B. Weir, {run} x, 2001.", f"A. Dam. Mills of old. {run}x", f"arxiv:{run} {{x")
    for text in texts:
        fields = parse_entry(ReferenceText("", text))
        assert all(len(span) <= len(text) for span in lookups_of(fields).spans)
    found = split_entries([*texts, "[1] A. Dam. Mills. 2001. " + run])
    assert found.status in ("parsed", "unparsed")


@pytest.mark.parametrize("unit", RUNS.values(), ids=RUNS)
def test_long_runs_around_marks(unit):
    run = (unit * LENGTH)[:LENGTH]
    text = f"As Dam and Weir (2001) show. {run} x\n\nDam et al. ({run} x\n\nAs shown [1{run}; x\n\nMills turn [1]."
    marks = find_marks(text, ENTRIES)
    assert (0,) in {mark.entries for mark in marks}
    assert all(context.text == text[context.start : context.end] for context in contexts(text, marks))


@pytest.mark.parametrize("unit", RUNS.values(), ids=RUNS)
def test_long_runs_in_blocks(unit):
    run = (unit * LENGTH)[:LENGTH]
    runs = (
        Run("Mills "),
        Run(run),
        Run("12", ("superscript",)),
        Run(f"{run} x", ("bold",)),
        Run("a", ("superscript",)),
    )
    kinds = ("title", "heading", "text", "list", "reference", "footnote", "code")
    found = structured(RawDocument(1, tuple(Block(kind, runs, 1) for kind in kinds)))
    assert found.markdown


def test_a_list_in_one_text_a_list_without_an_end_and_a_list_with_labels():
    many = [
        f"A. Dam and B. Weir. Mills of valley V{n}. In Proceedings of the Water, {1980 + n % 40}." for n in range(3000)
    ]
    assert len(split_entries([" ".join(many)]).entries) == len(many)
    assert split_entries(["and the wheels of a valley go on and on"] * 3000).status == "unparsed"
    assert len(split_entries([f"[{n}] {text}" for n, text in enumerate(many, 1)]).entries) == len(many)


def test_marks_among_many_formulas():
    text = "Wheels turn $x_1$ (Dam and Weir, 2001), as others say [1]. " * 8000
    assert len(find_marks(text, ENTRIES, [(0, 60)])) == 2 * 8000 - 2


def test_a_paragraph_of_many_bold_titles_and_a_page_of_many_blocks():
    titles = tuple(run for _ in range(1000) for run in (Run("Methods", ("bold",)), Run(" Mills turn. ")))
    found = structured(RawDocument(1, (Block("text", titles, 1),)))
    assert len(found.sections) == 1000
    lines = [Block("text", (Run(f"Mill {n} turns."),), 1, (0.1, n / 4500, 0.9, n / 4500)) for n in range(3000)]
    found = structured(RawDocument(1, tuple(lines)))
    assert len(found.parts) == 3000


def test_passages_of_a_long_text_without_headings():
    found = from_markdown("\n\n".join(f"The mill number {n} turns in the water of the lake." for n in range(3000)))
    passages = passages_of(found, lambda text: len(text.split()))
    assert passages[-1].text.startswith("The mill number")


def test_tags_that_are_never_closed():
    found = from_markdown("Mills turn.\n\n" + "<table <details <!-- <img " * 2000)
    assert found.markdown.startswith("Mills turn.")


def test_sentences_that_do_not_end():
    assert len(split("mills turn; we saw it! " * 10_000)) == 1
