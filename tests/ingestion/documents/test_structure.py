"""Blocks → documents: the faults of public trackers, and what holds for any input."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from ingestion.documents.structure.document import from_markdown, structured
from ingestion.documents.structure.rendering import escaped
from ingestion.documents.values import Block, Box, Destination, Document, RawDocument, Run

PROSE = "Mills grind the grain of the valley, and the water that drives them comes from the lake above."


def block(text: str, kind: str = "text", page: int = 1, box: Box | None = None, styles: tuple[str, ...] = ()) -> Block:
    return Block(kind, (Run(text, styles),), page, box)


def document(*blocks: Block, destinations: tuple[Destination, ...] = (), title: str = "") -> Document:
    return structured(RawDocument(max((b.page or 1 for b in blocks), default=1), blocks, destinations, title))


def outline(found: Document) -> list[tuple[int, str | None, str]]:
    return [(s.level, s.number, s.title) for s in found.sections if s.title]


def text_of(found: Document, kind: str = "paragraph") -> list[str]:
    return [found.markdown[p.start : p.end] for p in found.parts if p.kind == kind]


def test_pd01_levels_come_from_the_numbering():
    found = from_markdown(
        f"# 3 Method\n\n{PROSE}\n\n# 3.1 Setup\n\n# 3.1.2 Data\n\n{PROSE}\n\n# References\n\n[1] A. Dam. Mills. 2001.\n"
    )
    assert outline(found) == [(1, "3", "Method"), (2, "3.1", "Setup"), (3, "3.1.2", "Data"), (1, None, "References")]
    assert "#### 3.1.2 Data" in found.markdown


def test_pd01_unnumbered_papers_get_no_false_tree():
    found = from_markdown(
        f"# Mills\n\n## Introduction\n\n{PROSE}\n\n## The old mills\n\n{PROSE}\n\n## Conclusion\n\n{PROSE}\n"
    )
    assert found.title == "Mills"
    assert {level for level, _, _ in outline(found)} == {1}


@pytest.mark.parametrize("known_places", [True, False])
def test_pd02_a_running_title_is_one_title_and_text_goes_on_across_pages(known_places):
    blocks = [
        block("Water Mills", "title", 1, (0.3, 0.1, 0.7, 0.13)),
        block("1 Introduction", "heading", 1, (0.1, 0.2, 0.3, 0.22)),
    ]
    for page in range(1, 11):
        blocks.append(block("Water Mills", "heading", page, (0.4, 0.04, 0.6, 0.06)))
        blocks.append(block(f"the wheel number {page} turns without an end", page=page, box=(0.1, 0.3, 0.9, 0.9)))
    if known_places:
        found = document(*blocks)
    else:
        found = from_markdown("\n\n".join(f"# {b.text}" if b.kind in ("title", "heading") else b.text for b in blocks))
    assert found.title == "Water Mills"
    assert outline(found) == [(1, "1", "Introduction")]
    assert len(text_of(found)) == 1
    assert found.markdown.count("Water Mills") == 1


def test_pd06_control_characters_and_lone_surrogates_are_removed_and_counted():
    found = document(block("Mills\x00 and \ud800wheels\x1b turn."))
    assert text_of(found) == ["Mills and wheels turn."]
    assert found.notes == ("3 control characters removed",)
    assert found.markdown.encode()


_COLUMNS = [
    block("Across the page stands what the paper is about.", box=(0.1, 0.1, 0.9, 0.2)),
    block("The left column begins here.", box=(0.1, 0.25, 0.48, 0.5)),
    block("The left column ends here.", box=(0.1, 0.55, 0.48, 0.9)),
    block("The right column begins here.", box=(0.52, 0.25, 0.9, 0.5)),
    block("The right column ends here.", box=(0.52, 0.55, 0.9, 0.9)),
]


@pytest.mark.parametrize("order", [(0, 1, 2, 3, 4), (0, 1, 3, 2, 4), (0, 3, 4, 1, 2), (4, 3, 2, 1, 0)], ids=str)
def test_pd07_two_columns_are_read_one_after_the_other(order):
    assert text_of(document(*(_COLUMNS[i] for i in order))) == [b.text for b in _COLUMNS]


@pytest.mark.parametrize(
    "entries",
    [
        ["[1] A. Dam. Mills of old. Water Press, 2001.", "[2] B. Weir. Wheels. Water Press, 2002.", "[3] C. Lock. Gates. 2003."],
        ["- [1] A. Dam. Mills of old. Water Press, 2001.", "- [2] B. Weir. Wheels. Water Press, 2002.", "- [3] C. Lock. Gates. 2003."],
        ["[1] A. Dam. Mills of old. Water Press, 2001. [2] B. Weir. Wheels. Water Press, 2002. [3] C. Lock. Gates. 2003."],
        ["Anna Dam. 2001. Mills of old. Water Press.", "Bert Weir. 2002. Wheels of today. Water Press.", "Carl Lock. 2003. Gates and doors. Journal of Locks."],
    ],
    ids=["brackets", "bullets", "one line", "author-year"],
)  # fmt: skip
def test_ct13_every_form_of_list_gives_its_entries(entries):
    found = from_markdown(f"# 1 Introduction\n\n{PROSE}\n\n# References\n\n" + "\n\n".join(entries))
    assert found.references_status == "parsed"
    assert len(found.references) == 3
    assert len(text_of(found, "reference")) == 3


@pytest.mark.parametrize("text", ["Mills turn (?). Wheels turn as well (?, ?).", PROSE])
def test_ct14_no_list_is_missing_and_nothing_is_invented(text):
    found = from_markdown(f"# 1 Introduction\n\n{text}\n")
    assert (found.references, found.references_status) == ((), "missing")


def test_headings_glued_into_a_paragraph_are_taken_out():
    runs = (
        Run("3 Method", ("bold",)),
        Run(" "),
        Run("3.1 Setup", ("bold",)),
        Run(f" {PROSE} "),
        Run("3.2 Data", ("bold",)),
        Run(f" {PROSE}"),
    )
    found = document(
        block("2 Related work", "heading"),
        block(PROSE),
        Block("text", runs, 1),
        block("4 Results", "heading"),
        block(PROSE),
    )
    assert outline(found) == [
        (1, "2", "Related work"),
        (1, "3", "Method"),
        (2, "3.1", "Setup"),
        (2, "3.2", "Data"),
        (1, "4", "Results"),
    ]
    assert text_of(found) == [PROSE] * 4


def test_numbers_that_break_the_sequence_are_no_headings():
    found = document(
        block("1 Introduction", "heading"), block(PROSE), block("7 Wheels turn", "heading"), block(PROSE),
        block("1.1 Scope", "heading"), block(PROSE), block("12.5 30.1", "heading"), block("2 Method", "heading"), block(PROSE),
    )  # fmt: skip
    assert [number for _, number, _ in outline(found)] == ["1", "1.1", "2"]
    assert "7 Wheels turn" in found.markdown


def test_roman_sections_hold_lettered_subsections():
    titles = ["I. INTRODUCTION", "II. METHOD", "A. Wheels", "B. Water", "III. RESULTS", "A. Grain", "IV. CONCLUSION"]
    found = document(*(b for title in titles for b in (block(title, "heading"), block(PROSE))))
    assert [(level, number) for level, number, _ in outline(found)] == [
        (1, "I"), (1, "II"), (2, "A"), (2, "B"), (1, "III"), (2, "A"), (1, "IV"),
    ]  # fmt: skip


def test_number_and_title_and_second_lines_in_blocks_of_their_own():
    found = document(
        block("1", "heading", box=(0.1, 0.1, 0.12, 0.12)), block("Introduction", "heading", box=(0.14, 0.1, 0.3, 0.12)),
        block(PROSE, box=(0.1, 0.15, 0.9, 0.2)),
        block("1.1 What the mills of the", "heading", box=(0.1, 0.3, 0.5, 0.32)),
        block("valley grind", "heading", box=(0.1, 0.325, 0.3, 0.345)), block(PROSE, box=(0.1, 0.4, 0.9, 0.5)),
        block("2 Method", "heading", box=(0.1, 0.6, 0.3, 0.62)), block(PROSE, box=(0.1, 0.65, 0.9, 0.7)),
    )  # fmt: skip
    assert [title for _, _, title in outline(found)] == ["Introduction", "What the mills of the valley grind", "Method"]


def test_destinations_start_references_where_labels_are_absent():
    lines = [
        "Anna Dam and Bert Weir. 2001. Mills of the upper",
        "Valley. Water Press.",
        "Carl Lock. 2003. Gates and doors. Journal of Locks.",
    ]
    boxes = [(0.1, 0.2 + 0.1 * i, 0.9, 0.22 + 0.1 * i) for i in range(3)]
    cites = (Destination("cite.dam2001", 1, 0.1, 0.197), Destination("cite.lock2003", 1, 0.1, 0.397))
    found = document(
        block("References", "heading", box=(0.1, 0.1, 0.3, 0.12)),
        *map(lambda t, b: block(t, box=b), lines, boxes),
        destinations=cites,
    )
    assert [entry.key for entry in found.references] == ["dam2001", "lock2003"]
    assert found.references[0].text.endswith("upper Valley. Water Press.")


def test_words_at_line_ends_keep_the_hyphen_the_document_gives_them():
    found = document(
        block("A water-driven wheel is a minimal mill, and water-driven wheels are old."),
        block("The mini-", box=(0.1, 0.8, 0.48, 0.9)), block("mal waterdriven wheel turns.", box=(0.52, 0.1, 0.9, 0.2)),
    )  # fmt: skip
    assert text_of(found)[-1] == "The minimal water-driven wheel turns."


@pytest.mark.parametrize(
    ("text", "mended"),
    [
        ("The state-of-the-art mill, a stateof-the-art wheel.", "The state-of-the-art mill, a state-of-the-art wheel."),
        ("Prediction and prediction need pre-diction.", "Prediction and prediction need prediction."),
        (
            "Re-milled is remilled is remilled, re-milled or remilled.",
            "Re-milled is remilled is remilled, re-milled or remilled.",
        ),
        ("İki-İki is two, and İkiİki is one.", "İki-İki is two, and İkiİki is one."),
    ],
    ids=["half lost", "brought by a line", "both are meant", "letters of two"],
)
def test_hyphens_follow_the_documents_own_spelling(text, mended):
    assert text_of(document(block(text))) == [mended]


@pytest.mark.parametrize(
    ("raw", "clean"),
    [("the ﬁrst ﬂow", "the first flow"), ("Lo¨ıc and Montr ´ eal", "Loïc and Montréal"), ("Anna ¨ Xu", "Anna Xu")],
)
def test_ligatures_and_spaced_accents(raw, clean):
    assert text_of(document(block(raw))) == [clean]


def test_footnote_marks_go_and_exponents_stay():
    runs = (
        Run("The wheel turns"),
        Run("3", ("superscript",)),
        Run(" in R"),
        Run("2", ("superscript",)),
        Run(" or 10"),
        Run("4", ("superscript",)),
        Run("."),
    )
    assert text_of(document(Block("text", runs, 1))) == ["The wheel turns in R^2 or 10^4."]


def test_captions_stand_after_the_paragraph_they_interrupt():
    found = document(
        block("The wheels of the valley turn all through the", page=1),
        block("Figure 3: A wheel.", page=1),
        block("winter and the spring.", page=2),
    )
    assert text_of(found) == ["The wheels of the valley turn all through the winter and the spring."]
    assert [p.label for p in found.parts if p.kind == "caption"] == ["Figure 3"]


def test_a_formula_without_characters_leaves_a_mark_of_its_own():
    found = document(block("The speed is"), Block("equation", (), 1), block("where v is the speed."))
    assert [p.kind for p in found.parts] == ["paragraph", "equation", "paragraph"]
    assert text_of(found, "equation") == ["[equation]"]


_words = st.text(st.sampled_from(list("aB1 .#*_`|<>[]()\\-+=~&;!:éﬁ´\n\x00\ud800")), max_size=30)
_boxes = st.none() | st.tuples(*[st.floats(0, 1)] * 2).map(
    lambda p: (p[0] * 0.5, p[1] * 0.9, p[0] * 0.5 + 0.4, p[1] * 0.9 + 0.05)
)
_texts = _words | st.sampled_from(
    ["1 Wheels", "1.1 Mills turn", "2 Water", "References", "[1] A. Dam. Mills. 2001.", "A Lakes", PROSE]
)
_blocks = st.builds(
    Block,
    kind=st.sampled_from(["title", "heading", "text", "list", "reference", "figure", "equation", "code", "footnote", "furniture"]),
    runs=st.lists(st.builds(Run, _texts, st.sampled_from([(), ("bold",), ("superscript",)])), max_size=3).map(tuple),
    page=st.integers(1, 3), box=_boxes, continues=st.booleans(),
)  # fmt: skip


@settings(max_examples=120, deadline=None)
@given(
    st.lists(_blocks, max_size=14),
    st.sampled_from([(), (Destination("cite.a", 1, 0.1, 0.5), Destination("section.1", 1))]),
)
def test_ranges_of_sections_and_parts_are_in_order_and_inside_the_text(blocks, destinations):
    found = structured(RawDocument(3, tuple(blocks), destinations))
    found.markdown.encode()
    ends = 0
    for section in found.sections:
        assert ends <= section.start <= section.end <= len(found.markdown)
        ends = section.end
        assert section.level >= 1
    ends = 0
    for part in found.parts:
        assert ends <= part.start < part.end
        ends = part.end
        assert any(s.start <= part.start and part.end <= s.end for s in found.sections)
        assert found.markdown[part.start : part.end].strip() == found.markdown[part.start : part.end]
    assert structured(RawDocument(3, tuple(blocks), destinations)) == found


@settings(max_examples=300, deadline=None)
@given(st.text(st.sampled_from(list("ab1 .#*_`|<>[](){}\\-+=~&;!:\"'^$")), max_size=40))
def test_escaped_text_is_rendered_as_it_is(text):
    plain = " ".join(text.split())
    tokens = MarkdownIt("commonmark").enable("table").parse(escaped(text))
    shown = "".join(c.content for t in tokens for c in (t.children or ()) if c.type in ("text", "text_special"))
    kinds = {t.type for t in tokens} - {"inline"}
    # A number with a stop opens a list, which shows the number all the same.
    if "ordered_list_open" not in kinds:
        assert kinds <= {"paragraph_open", "paragraph_close"}
        assert shown == plain
