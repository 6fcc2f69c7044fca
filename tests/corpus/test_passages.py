"""Passages: exact spans, nothing lost, nothing cut that need not be, each in its section and of its kind."""

from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus.passages import Passage, passage_ids, passages_of
from ingestion.documents.values import Document, Part, PartKind, Section

OTHERS = ("equation", "code", "footnote", "reference", "figure")


def count_words(text: str) -> int:
    """Stands for the tokenizer where a test sets sizes by hand."""
    return len(text.split())


@dataclass
class Draft:
    """Builds a document part by part."""

    text: str = ""
    sections: list[Section] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)

    def heading(self, title: str, number: str | None = None, level: int = 1) -> "Draft":
        self._close()
        self.text += f"{'#' * (level + 1)} {title}\n\n"
        self.sections.append(Section(number, title, level, 1, len(self.text), len(self.text)))
        return self

    def part(self, kind: PartKind, text: str, page: int | None = 1, gap: str = "\n\n") -> "Draft":
        if kind == "list" and not text.startswith("1. "):
            self.text += "- "  # parsers' items begin behind their marker
        start = len(self.text)
        self.text += text
        self.parts.append(Part(kind, start, len(self.text), page))
        self.text += gap
        return self

    def _close(self) -> None:
        if self.sections:
            last = self.sections[-1]
            self.sections[-1] = Section(last.number, last.title, last.level, last.page, last.start, len(self.text))

    def document(self) -> Document:
        self._close()
        return Document("T", self.text, tuple(self.sections), tuple(self.parts), (), "missing", 3)


def sentence(words: int, name: str = "Word") -> str:
    return " ".join([name, *(f"w{i}" for i in range(words - 1))]) + "."


def texts(passages: list[Passage]) -> list[str]:
    return [p.text for p in passages]


PARAGRAPH = "Dense vectors find passages by meaning. Words find them by letter. Both together find most of them."


def test_a_paragraph_that_fits_is_one_passage_with_its_place():
    document = (
        Draft().heading("Method", "3").heading("Search", "3.1", 2).part("paragraph", PARAGRAPH, page=2).document()
    )
    (passage,) = passages_of(document, count_words)
    assert (passage.position, passage.section, passage.kind, passage.page) == (1, 1, "prose", 2)
    assert (passage.section_number, passage.section_path) == ("3.1", ("Method", "Search"))
    assert passage.text == document.markdown[passage.start : passage.end] == PARAGRAPH


def test_section_path_forgets_what_is_not_above():
    draft = Draft().heading("A", level=1).heading("B", level=2).heading("C", level=2).part("paragraph", PARAGRAPH)
    draft.heading("D", level=1).part("paragraph", PARAGRAPH)
    assert [p.section_path for p in passages_of(draft.document(), count_words)] == [("A", "C"), ("D",)]


def test_a_long_paragraph_gives_passages_of_like_size_cut_at_sentences():
    text = " ".join(sentence(10, f"S{i}") for i in range(9))
    found = passages_of(Draft().heading("M").part("paragraph", text).document(), count_words, limit=50)
    assert [count_words(p.text) for p in found] in ([40, 50], [50, 40])
    assert all(p.text.endswith(".") and p.text.startswith("S") for p in found)


def test_short_paragraphs_are_joined_and_long_ones_are_not():
    short, long = sentence(20), sentence(70)
    draft = Draft().heading("M").part("paragraph", short).part("paragraph", short, page=2)
    joined = passages_of(draft.document(), count_words)
    assert texts(joined) == [f"{short}\n\n{short}"]
    assert joined[0].page == 1
    apart = Draft().heading("M").part("paragraph", sentence(55)).part("paragraph", long)
    assert texts(passages_of(apart.document(), count_words)) == [sentence(55), long]


def test_a_passage_ends_with_its_section():
    draft = Draft().heading("A").part("paragraph", sentence(8)).heading("B").part("paragraph", sentence(8, "Next"))
    assert texts(passages_of(draft.document(), count_words)) == [sentence(8), sentence(8, "Next")]


@pytest.mark.parametrize("kind", OTHERS)
def test_what_stands_between_two_paragraphs_is_in_no_passage(kind):
    draft = Draft().heading("M").part("paragraph", sentence(8)).part(kind, "between 1 2 3 a b c")
    draft.part("paragraph", sentence(8, "Next"))
    assert texts(passages_of(draft.document(), count_words)) == [sentence(8), sentence(8, "Next")]


def test_captions_and_tables_are_passages_of_their_own_kind():
    table = "| model | score |\n|---|---|\n" + "| a | 1 |\n" * 60
    draft = Draft().heading("R").part("paragraph", sentence(8)).part("caption", "Table 1: Scores of the models.")
    draft.part("table", table.strip(), page=2).part("paragraph", sentence(9))
    found = passages_of(draft.document(), count_words)
    assert [p.kind for p in found] == ["prose", "caption", "table", "prose"]
    assert found[2].text == table.strip()
    assert [p.position for p in found] == [1, 2, 3, 4]


def test_a_long_sentence_is_cut_at_clauses():
    text = f"{sentence(12)[:-1]}, and {sentence(10, 'then')[:-1]}; {sentence(12, 'last')}"
    found = passages_of(Draft().heading("M").part("paragraph", text).document(), count_words, limit=23)
    assert [p.text[-1] for p in found] == [";", "."]


def test_a_word_is_never_cut():
    url = "https://example.org/" + "x" * 400
    found = passages_of(Draft().heading("M").part("paragraph", f"See {url} there.").document(), len, limit=40)
    assert any(url in p.text for p in found)


def test_text_without_blanks_is_cut_at_its_own_stops():
    found = passages_of(
        Draft().heading("M").part("paragraph", "检索增强生成，效果很好。" * 8).document(), len, limit=50
    )
    assert {p.text[-1] for p in found} <= set("，。")
    assert max(len(p.text) for p in found) <= 50


def test_list_items_stay_whole_and_markers_end_nothing():
    items = "\n".join(f"{i}. {sentence(12, f'Item{i}')}" for i in range(1, 7))
    found = passages_of(Draft().heading("M").part("list", items).document(), count_words, limit=30)
    assert all(p.text.split(" ")[0].rstrip(".").isdigit() for p in found)
    assert "\n".join(texts(found)) == items


def test_items_that_follow_each_other_are_joined_with_their_markers():
    draft = Draft().heading("M").part("paragraph", "Our questions are:")
    draft.part("list", sentence(12), gap="\n").part("list", sentence(12, "Next"), page=2)
    (passage,) = passages_of(draft.document(), count_words)
    assert passage.text == f"Our questions are:\n\n- {sentence(12)}\n- {sentence(12, 'Next')}"
    assert passage.page == 1


@pytest.mark.parametrize("text", ["where", "(3)", "Lovelace and Turing", "1 2 3 4 5 6 7"])
def test_what_says_too_little_is_kept_as_a_fragment(text):
    draft = Draft().heading("M").part("paragraph", text).part("equation", "x = 1").part("paragraph", PARAGRAPH)
    assert [p.kind for p in passages_of(draft.document(), count_words)] == ["fragment", "prose"]


def test_a_short_line_beside_prose_is_part_of_it():
    draft = Draft().heading("M").part("paragraph", "Our questions are:").part("paragraph", sentence(20))
    assert [p.kind for p in passages_of(draft.document(), count_words)] == ["prose"]


def test_names_above_the_first_heading_are_a_fragment_and_an_abstract_there_is_prose():
    names = "Ada Lovelace, Alan Turing, Grace Hopper; University of Somewhere and Another"
    draft = Draft().heading("").part("paragraph", names).part("footnote", "1 Equal").part("paragraph", PARAGRAPH)
    assert [p.kind for p in passages_of(draft.document(), count_words)] == ["fragment", "prose"]


def test_a_document_without_text_has_no_passages():
    assert passages_of(Draft().document(), count_words) == []


def test_ids_outlive_a_repair_elsewhere_and_tell_equal_texts_apart():
    def ids(first: str, sha256: str = "ab" * 32) -> list[str]:
        draft = Draft().heading("A").part("paragraph", first).heading("B").part("paragraph", PARAGRAPH)
        found = passages_of(draft.heading("C").part("paragraph", PARAGRAPH).document(), count_words)
        return passage_ids("2005.11401", sha256, found)

    before, after = ids("A broken hyphe- nation in the text."), ids("A broken hyphenation in the text.")
    assert before[0] != after[0]
    assert before[1:] == after[1:]
    assert len(set(before)) == 3
    assert all(i.startswith("2005.11401/") and len(i) == len("2005.11401/") + 16 for i in before)
    assert not set(before) & set(ids("A broken hyphe- nation in the text.", sha256="cd" * 32))


words = st.text(alphabet=st.sampled_from("abAZé9.,;:()!?-中。，"), min_size=1, max_size=12)
bodies = st.lists(st.tuples(words, st.sampled_from([" ", "\n", "  ", ". ", ", "])), min_size=1, max_size=25).map(
    lambda pairs: "".join(word + blank for word, blank in pairs)
)
kinds = st.sampled_from(["paragraph", "paragraph", "list", "caption", "table", *OTHERS, "heading"])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(kinds, bodies), max_size=6), st.integers(3, 40))
def test_nothing_is_lost_doubled_or_carried_over_a_border(pieces, limit):
    draft = Draft()
    for kind, text in pieces:
        draft = draft.heading(text.replace("\n", " ")) if kind == "heading" else draft.part(kind, text)
    document = draft.document()
    passages = passages_of(document, count_words, limit)

    markers = {part.start - 2 for part in document.parts if part.kind == "list"}

    def letters(start: int, end: int) -> list[int]:
        return [i for i in range(start, end) if not document.markdown[i].isspace() and i not in markers]

    covered = {
        kind: [i for p in passages if p.kind in kind for i in letters(p.start, p.end)]
        for kind in (("prose", "fragment"), ("caption",), ("table",))
    }
    held = {("prose", "fragment"): ("paragraph", "list"), ("caption",): ("caption",), ("table",): ("table",)}
    for kind, part_kinds in held.items():
        expected = [i for part in document.parts if part.kind in part_kinds for i in letters(part.start, part.end)]
        assert sorted(covered[kind]) == expected
    for p in passages:
        assert p.text == document.markdown[p.start : p.end] == p.text.strip() != ""
        if p.section is not None:
            section = document.sections[p.section]
            assert section.start <= p.start <= p.end <= section.end
        assert p.kind == "table" or count_words(p.text) <= limit
    assert [p.position for p in passages] == list(range(1, len(passages) + 1))
    assert [p.start for p in passages] == sorted(p.start for p in passages)
