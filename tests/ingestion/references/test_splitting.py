"""Reference lists into entries; the fault ids are those of the public fault list."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.references.fields import parse_entry
from ingestion.references.splitting import split_entries

# Entries of works that exist, each written in four ways.
ACL = [
    "Ada Lovelace. 1843. Sketch of the analytical engine. In Scientific Memoirs, pages 666–731.",
    "Alan M. Turing and Alonzo Church. 1937. Computability and definability. Journal of Symbolic Logic, 2(4):153–163.",
    "Grace Hopper, Jean Bartik, and Betty Holberton. 1952. The education of a computer. In Proceedings of the ACM.",
    "Claude E. Shannon. 1948. A mathematical theory of communication. Bell System Technical Journal, 27:379–423.",
]
PLAIN = [
    "A. Lovelace. Sketch of the analytical engine. In Scientific Memoirs, pages 666–731, 1843.",
    "A. M. Turing and A. Church. Computability and definability. Journal of Symbolic Logic, 2(4):153–163, 1937.",
    "G. Hopper, J. Bartik, and B. Holberton. The education of a computer. In Proceedings of the ACM, 1952.",
    "C. E. Shannon. A mathematical theory of communication. Bell System Technical Journal, 27:379–423, 1948.",
]
FORMS = {"acl": ACL, "plain": PLAIN}


def texts(lines: list[str] | str) -> list[str]:
    return [entry.reference.text for entry in split_entries(lines).entries]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("label", ["[{}] ", "- [{}] ", "{}. ", "* {}. ", "({}) ", "{} "])
def test_ct13_numbered_lists_give_their_entries_without_labels(form, label):
    entries = FORMS[form]
    split = split_entries([label.format(n) + text for n, text in enumerate(entries, start=1)])
    assert split.status == "parsed"
    assert [e.reference.text for e in split.entries] == entries
    assert [e.reference.label for e in split.entries] == ["1", "2", "3", "4"]
    assert [e.paragraph for e in split.entries] == [0, 1, 2, 3]


@pytest.mark.parametrize("form", FORMS)
def test_ct13_a_list_without_numbers(form):
    split = split_entries(FORMS[form])
    assert [e.reference.text for e in split.entries] == FORMS[form]
    assert {e.reference.label for e in split.entries} == {""}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("label", ["[{}] ", "{}. ", ""])
def test_ct13_a_whole_list_on_one_line(form, label):
    entries = FORMS[form]
    line = " ".join(label.format(n) + text for n, text in enumerate(entries, start=1))
    split = split_entries(line)
    assert [e.reference.text for e in split.entries] == entries
    assert {e.paragraph for e in split.entries} == {0}


def test_ct13_entries_glued_without_a_blank():
    line = "".join(f"[{n}] {text}" for n, text in enumerate(ACL, start=1))
    assert texts(line) == ACL


def test_ct13_a_list_that_cannot_be_split_is_reported_and_not_an_empty_one():
    prose = "We thank everyone who helped. The engine weaves patterns. It does so without a loom or a pattern book."
    split = split_entries([prose, prose.replace("engine", "machine"), prose.replace("loom", "card")])
    assert split.status == "unparsed"
    assert split.entries == ()


@pytest.mark.parametrize("nothing", ["", "\n \n", [], ["References"], ["## REFERENCES", "", "17"]])
def test_ct14_no_list_is_missing(nothing):
    split = split_entries(nothing)
    assert (split.status, split.entries) == ("missing", ())


def test_ct11_a_sentence_among_the_entries_is_text_of_its_own_and_no_reference():
    prompt = "You are a careful assistant. Read the passage below and answer with one of the given options."
    split = split_entries([f"[{n}] {text}" for n, text in enumerate(ACL, start=1)] + [prompt])
    assert [e.reference.text for e in split.entries] == [*ACL, prompt]
    fields = [parse_entry(reference) for reference in split.references]
    assert [f.is_reference for f in fields] == [True] * 4 + [False]


@pytest.mark.parametrize("label", ["[{}] ", "{}. ", ""])
@pytest.mark.parametrize("broken_before", ["analytical", "In Scientific", "pages", "1843."])
def test_an_entry_broken_over_two_paragraphs_is_one(label, broken_before):
    first = label.format(1) + ACL[0]
    head, tail = first.split(broken_before)
    rest = [label.format(n) + text for n, text in enumerate(ACL[1:], start=2)]
    split = split_entries([head.strip(), broken_before + tail, *rest])
    assert [e.reference.text for e in split.entries] == ACL
    assert [e.paragraph for e in split.entries] == [0, 2, 3, 4]


def test_a_word_hyphenated_between_two_paragraphs_is_mended():
    head, tail = ACL[3].split("mathematical")
    assert texts([ACL[0], f"{head}mathe-", f"matical{tail}", ACL[2]]) == [ACL[0], ACL[3], ACL[2]]


@pytest.mark.parametrize("label", ["[{}] ", "{}. ", ""])
def test_two_entries_in_one_paragraph_are_two(label):
    labelled = [label.format(n) + text for n, text in enumerate(ACL, start=1)]
    split = split_entries([labelled[0], f"{labelled[1]} {labelled[2]}", labelled[3]])
    assert [e.reference.text for e in split.entries] == ACL
    assert [e.paragraph for e in split.entries] == [0, 1, 1, 2]


@pytest.mark.parametrize("labels", [["Lov43", "TC37", "HBH52", "Sha48"], ["Lov+43", "TC37a", "Hop52", "Sha1948"]])
def test_alphabetic_labels(labels):
    split = split_entries([f"[{label}] {text}" for label, text in zip(labels, PLAIN, strict=True)])
    assert [e.reference.label for e in split.entries] == labels
    assert [e.reference.text for e in split.entries] == PLAIN


def test_short_entries_glued_to_the_next_are_told_apart():
    short = "Engine. Engine corpus base, 2020."
    assert texts([PLAIN[0], f"{short} {PLAIN[1]}", PLAIN[2]]) == [PLAIN[0], short, PLAIN[1], PLAIN[2]]


def test_numbers_in_brackets_and_years_inside_an_entry_are_no_labels():
    text = "Ada Lovelace. 1843. On the engine, with a note on [2] and [3]. 12. In Memoirs 2, pages 3. 4."
    split = split_entries([f"[1] {text}", f"[2] {ACL[1]}", f"[3] {ACL[2]}"])
    assert [e.reference.text for e in split.entries] == [text, *ACL[1:3]]


def test_a_label_that_the_parser_lost_costs_one_entry_and_not_the_list():
    lines = [f"[{n}] {text}" for n, text in enumerate(ACL * 3, start=1)]
    lines[5] = lines[5].removeprefix("[6] ")
    split = split_entries(" ".join(lines))
    assert [e.reference.label for e in split.entries] == [str(n) for n in range(1, 13) if n != 6]


def test_a_text_with_wrapped_lines_and_blank_lines_between_entries():
    wrapped = "\n\n".join(text.replace(". ", ".\n", 2) for text in ACL)
    assert texts(wrapped) == ACL


def test_page_numbers_and_running_lines_are_left_out():
    lines = [ACL[0], "12", ACL[1], "Preprint. Under review.", ACL[2]]
    split = split_entries(lines)
    assert [e.reference.text for e in split.entries] == ACL[:3]
    assert [e.paragraph for e in split.entries] == [0, 2, 4]


def test_software_cited_by_its_name_is_an_entry():
    names = [
        "difference. 1843. difference. https://example.org/difference.",
        "engine. 1843. engine. https://example.org/e.",
    ]
    assert texts([ACL[0], *names, ACL[1]]) == [ACL[0], *names, ACL[1]]


@given(st.lists(st.sampled_from(ACL), min_size=2, max_size=30))
def test_any_numbered_list_has_as_many_entries_as_numbers(chosen):
    lines = [f"[{n}] {text}" for n, text in enumerate(chosen, start=1)]
    assert texts(lines) == texts(" ".join(lines)) == chosen


@given(st.lists(st.text(max_size=80), max_size=8))
def test_any_text_gives_a_status_and_loses_no_entry_in_silence(lines):
    split = split_entries(lines)
    assert (split.status == "parsed") == bool(split.entries)
    assert all(0 <= e.paragraph < len(lines) for e in split.entries)
    assert [e.paragraph for e in split.entries] == sorted(e.paragraph for e in split.entries)
