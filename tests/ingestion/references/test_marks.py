"""Citation marks in text and the sentences around them; the fault ids are those of the public fault list."""

import time
from functools import cache
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.documents.values import ReferenceText
from ingestion.references.fields import ReferenceFields, parse_entry
from ingestion.references.marks import contexts, find_marks


@cache
def numbered(count: int) -> list[ReferenceFields]:
    return [parse_entry(ReferenceText(str(n), f"A. Lovelace. Note {n}. In ACM, 1999.")) for n in range(1, count + 1)]


def entries(*texts: str, labels: tuple[str, ...] = ()) -> list[ReferenceFields]:
    return [parse_entry(ReferenceText(labels[i] if labels else "", text)) for i, text in enumerate(texts)]


NAMED = entries(
    "Ada Lovelace, Alan M. Turing, and Grace Hopper. 2019. Looms. In ACM.",  # 0
    "Ada Lovelace and Mary Somerville. 2019. Mills. In ACM.",  # 1
    "Grace Hopper. 2017a. Compilers. In ACM.",  # 2
    "Grace Hopper. 2017b. More compilers. In ACM.",  # 3
    "Aaron van den Oord, Yazhe Li, and Oriol Vinyals. 2018. Contrast. In ACM.",  # 4
    "Rami Al-Rfou, Dokook Choe, Noah Constant. 2018. Characters. In ACM.",  # 5
    "Emmy Noether. 1918. Invariants. In Proceedings.",  # 6
    "Mary Somerville. 2005. One. In ACM.",  # 7
    "Mary Somerville. 2005. Another. In ACM.",  # 8
)


def linked(text: str, among: list[ReferenceFields]) -> list[tuple[str, tuple[int, ...]]]:
    return [(text[m.start : m.end], m.entries) for m in find_marks(text, among)]


@pytest.mark.parametrize(
    ("text", "mark", "positions"),
    [
        ("as shown [12].", "[12]", (11,)),
        ("as shown [3, 5–7] before", "[3, 5–7]", (2, 4, 5, 6)),
        ("as shown [3,5-7,9] before", "[3,5-7,9]", (2, 4, 5, 6, 8)),
        ("as shown [1; 2] before", "[1; 2]", (0, 1)),
        ("as shown [ 4 ]", "[ 4 ]", (3,)),
        ("see [3, Theorem 2.1]", "[3, Theorem 2.1]", (2,)),
        ("see [3, p. 12]", "[3, p. 12]", (2,)),
    ],
)
def test_numbers(text, mark, positions):
    assert linked(text, numbered(12)) == [(mark, positions)]


def test_marks_in_a_row():
    assert linked("as shown [1][2] and [3], [4]", numbered(4)) == [
        ("[1]", (0,)),
        ("[2]", (1,)),
        ("[3]", (2,)),
        ("[4]", (3,)),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "a value in [0, 1] is drawn",
        "x ∈ [1, 2] holds",
        "in the interval [1, 2] only",
        "between [2, 5] and more",
        "with $a[1]$ and $x \\in [1,2]$ given",
        "the display $$ b_{[2]} = [1, 3] $$ says",
        "call `a[1]` or\n```\nx = [1, 2]\n```\n",
        "see [3](https://example.org/3) for more",
        "see ![1](figure.png) above",
        "at https://example.org/?q=[1] today",
        "beyond the list [13] and [5, 13]",
        "a range that runs backwards [7–5]",
    ],
)
def test_intervals_code_math_and_links_are_no_marks(text):
    assert linked(text, numbered(12)) == []


def test_an_index_is_no_mark_where_marks_are_set_off():
    assert linked("we set a[3] to x[1] as in [2].", numbered(4)) == [("[2]", (1,))]
    assert linked("as in Loom[3] and Mill[1].", numbered(4)) == [("[3]", (2,)), ("[1]", (0,))]


@pytest.mark.parametrize("text", ["as shown (?)", "as shown [?]", "by (?; ?) and [?, ?]", "by ? (?)", "[??]"])
@pytest.mark.parametrize("among", [numbered(3), NAMED, []], ids=["numbers", "names", "none"])
def test_ct14_marks_whose_entry_is_missing_invent_no_link(text, among):
    assert linked(text, among) == []


def test_ct14_without_a_list_nothing_is_linked():
    assert [positions for _, positions in linked("as [1] and (Hopper et al., 2017) show", [])] == []


@pytest.mark.parametrize(
    ("text", "mark", "positions"),
    [
        ("as known (Lovelace et al., 2019).", "(Lovelace et al., 2019)", (0,)),
        ("as known (Lovelace and Somerville, 2019).", "(Lovelace and Somerville, 2019)", (1,)),
        ("as known (Lovelace & Somerville, 2019).", "(Lovelace & Somerville, 2019)", (1,)),
        ("as known (Hopper, 2017a).", "(Hopper, 2017a)", (2,)),
        ("as known (Hopper, 2017a,b).", "(Hopper, 2017a,b)", (2, 3)),
        ("as known (see, e.g., Hopper, 2017b; van den Oord et al., 2018).", "(see, e.g., Hopper, 2017b; van den Oord et al., 2018)", (3, 4)),
        ("as known [Noether, 1918].", "[Noether, 1918]", (6,)),
        ("as known (Noether 1918, p. 3).", "(Noether 1918, p. 3)", (6,)),
        ("with it (Jacquard Loom Cards, Lovelace and Somerville, 2019).", "(Jacquard Loom Cards, Lovelace and Somerville, 2019)", (1,)),
        ("Noether (1918) shows", "Noether (1918)", (6,)),
        ("Lovelace et al. (2019) show", "Lovelace et al. (2019)", (0,)),
        ("Lovelace and Somerville (2019) show", "Lovelace and Somerville (2019)", (1,)),
        ("Noether's (1918) theorem", "Noether's (1918)", (6,)),
        ("in line with Al‐Rfou et al. (2018)", "Al‐Rfou et al. (2018)", (5,)),
        ("(the findings of Noether (1918))", "Noether (1918)", (6,)),
    ],
)  # fmt: skip
def test_authors_and_years(text, mark, positions):
    assert linked(text, NAMED) == [(mark, positions)]


@pytest.mark.parametrize(
    "text",
    [
        "as known (Somerville, 2005)",
        "as known (Hopper, 2017)",
        "as known (Curie et al., 2019)",
        "as known (Hopper et al., 2001)",
    ],
)
def test_an_ambiguous_or_unknown_mark_is_found_and_not_linked(text):
    assert [positions for _, positions in linked(text, NAMED)] == [()]


@pytest.mark.parametrize(
    "text", ["in May (2019) it began", "(since 2019)", "(version 2017a)", "the year 1918.", "Table 2 (2018)"]
)
def test_dates_are_no_marks(text):
    assert linked(text, NAMED) == []


def test_labels():
    among = entries("A. Lovelace. Looms. 1843.", "G. Hopper. Mills. 1952.", labels=("Lov43", "Hop52"))
    assert linked("as in [Lov43] and [Hop52, Lov43], not [Tur36]", among) == [
        ("[Lov43]", (0,)),
        ("[Hop52, Lov43]", (1, 0)),
    ]


def test_labels_of_the_list_itself_are_left_out_where_told():
    text = "As in [2].\n\n[1] A. Lovelace. Note 1.\n\n[2] A. Lovelace. Note 2."
    start = text.index("[1]")
    assert [m.start for m in find_marks(text, numbered(2), excluded=[(start, len(text))])] == [6]


def test_contexts_are_whole_sentences_each_once():
    text = (
        "Looms weave. As Lovelace et al. (2019) say, e.g. with cards, they weave patterns (Noether, 1918). "
        "No mark here.\n\nA new paragraph names Hopper (2017a)\nand goes on.\n\n| Loom (Noether, 1918) | 3 |\n| Mill | 4 |\n"
    )
    found = contexts(text, find_marks(text, NAMED))
    assert [(c.text, c.entries) for c in found] == [
        ("As Lovelace et al. (2019) say, e.g. with cards, they weave patterns (Noether, 1918).", (0, 6)),
        ("A new paragraph names Hopper (2017a)\nand goes on.", (2,)),
        ("| Loom (Noether, 1918) | 3 |", (6,)),
    ]
    assert all(text[c.start : c.end] == c.text for c in found)


@given(st.lists(st.integers(1, 30), min_size=1, max_size=6, unique=True))
def test_any_list_of_numbers_is_linked_to_its_entries(numbers):
    text = f"as shown [{', '.join(map(str, numbers))}]."
    assert linked(text, numbered(30)) == [(text[9:-1], tuple(n - 1 for n in numbers))]


@given(st.text(max_size=120))
def test_any_text_gives_marks_in_order_without_overlap(text):
    marks = find_marks(text, NAMED)
    assert all(a.end <= b.start for a, b in pairwise(marks))


@pytest.mark.parametrize(
    "piece", ["Aa ", "A, ", "Ada and ", "(Aa 19", "[1, ", "$ ", "` ", "](", "Lovelace et al. (2019) "]
)
def test_long_texts_are_read_in_reasonable_time(piece):
    started = time.process_time()
    find_marks(piece * 4000, NAMED + numbered(3))
    assert time.process_time() - started < 1.5
