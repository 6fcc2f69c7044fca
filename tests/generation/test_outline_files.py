"""Outlines that people edit: what is read, what is told, what is kept."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation.outline_files import BadOutline, outline_markdown, read_outline, read_outline_file
from generation.outline_plans import PERSON, as_json, completed, from_json, numbered, planned
from generation.values import Outline, OutlineNode

BASE = Outline(
    (
        OutlineNode("1", "Introduction", "What it is about", "introduction"),
        OutlineNode(
            "2", "Retrieval", "Finding passages", "body", ("sparse retrieval",), ("a", "b"), ("h1",), "key phrases"
        ),
        OutlineNode(
            "2.1", "Dense Retrieval", "Vectors", "body", ("dense", "contrastive"), ("b",), ("h1",), "human outline"
        ),
        OutlineNode("3", "Evaluation", "", "body", ("benchmarks",), ("c",), (), "key phrases"),
        OutlineNode("4", "Open Problems", "What is unsolved", "open_problems"),
        OutlineNode("5", "Conclusion", "What it holds", "conclusion"),
    )
)
EDITION = "rag/surveyforge@0123456789ab"


class Pool:
    """A library of papers a, b, c … that finds those whose letter stands in the query, most often first."""

    pool = tuple("abcdefgh")

    def search(self, query, k):
        found = [(query.count(p), p) for p in self.pool if p in query]
        hits = sorted(found, key=lambda f: (-f[0], f[1]))[:k]
        return [type("Hit", (), {"paper_id": p, "similarity": n / 10}) for n, p in hits]


def edited(text: str, base: Outline | None = BASE) -> Outline:
    return planned(read_outline(text).nodes, "RAG", base)


def shape(outline: Outline) -> list[tuple[str, str]]:
    return [(n.number, n.title) for n in outline.nodes]


def test_what_is_printed_reads_back_as_it_was():
    text = outline_markdown(BASE, "RAG --> agents", EDITION)
    file = read_outline(text)
    assert file.notes == ()
    assert file.edition == EDITION
    assert "lithouse survey rag --outline FILE" in text
    assert planned(file.nodes, "RAG", BASE) == BASE


def test_kept_headings_keep_their_papers_wherever_they_go():
    plan = edited("# Evaluation\n## dense retrieval\n# New things\nabout: one; two\n# Retrieval\n- other query\n")
    assert shape(plan) == [("1", "Introduction"), ("2", "Evaluation"), ("2.1", "dense retrieval"), ("3", "New things"),
                           ("4", "Retrieval"), ("5", "Open Problems"), ("6", "Conclusion")]  # fmt: skip
    dense, new, retrieval = plan.node("2.1"), plan.node("3"), plan.node("4")
    assert (dense.memory, dense.queries, dense.heading_origin) == (("b",), ("dense", "contrastive"), "human outline")
    assert (retrieval.memory, retrieval.queries) == (("a", "b"), ("other query",))
    assert (new.memory, new.heading_origin) == ((), PERSON)


def test_a_renamed_heading_with_its_queries_keeps_its_papers():
    plan = edited(
        "# Finding Texts\nqueries:\n- sparse retrieval\n# Retrievers of a kind\nqueries: benchmarks\n# Evaluation\n"
    )
    assert plan.node("2").memory == ("a", "b")
    assert plan.node("2").heading_origin == PERSON
    assert plan.node("3").memory == (), "Evaluation itself is still there"
    assert plan.node("4").memory == ("c",)


def test_there_is_one_introduction_and_one_conclusion_under_any_name():
    plan = edited("# Where We Are\nrole: conclusion\n# What This Is\nrole: Introduction\n# Retrieval\n")
    assert [(n.title, n.role) for n in plan.nodes] == [
        ("What This Is", "introduction"), ("Retrieval", "body"), ("Open Problems", "open_problems"),
        ("Where We Are", "conclusion"),
    ]  # fmt: skip
    without_base = edited("# Retrieval\n# Conclusions\n", None)
    assert [n.role for n in without_base.nodes] == ["introduction", "body", "open_problems", "conclusion"]
    assert without_base.nodes[0].description == "What RAG is about"
    told = read_outline("# Conclusion\n# Retrieval\n# Introduction\n").notes
    assert told == ("the introduction stands first, open problems and the conclusion last",)


@pytest.mark.parametrize(
    "text",
    [
        "1. Introduction\n2. Retrieval\n2.1 Dense Retrieval\n3 Evaluation\n",
        "# Outline\n\n## Introduction\n## Retrieval\n### Dense Retrieval\n## Evaluation",
        "```markdown\n# 1. Introduction\n# 2. Retrieval\n## 2.1. **Dense Retrieval** {#x}\n# 3. Evaluation ##\n```\n",
        "---\ntitle: x\n---\n\n# Introduction\r\n# 7 Retrieval\r\n## 1.9 Dense Retrieval\r\n---\r\n# Evaluation\r\n",
        "# Introduction\n# Retrieval\n### Dense Retrieval\n# Evaluation\n",
    ],
    ids=["numbers", "title", "fence", "front-matter", "level-skipped"],
)
def test_headings_are_read_in_the_forms_people_and_models_write(text):
    file = read_outline(text)
    assert file.notes == ()
    assert shape(Outline(file.nodes)) == [
        ("1", "Introduction"), ("2", "Retrieval"), ("2.1", "Dense Retrieval"), ("3", "Evaluation"),
    ]  # fmt: skip


def test_every_line_that_is_not_read_is_named_with_its_number():
    text = "Sure! Here it is:\n<!-- a\ncomment -->\n# Retrieval\n| a | b |\n```\n# code\n\n```\nAbout vectors.\n# References\n"
    file = read_outline(text)
    assert file.notes == (
        "line 1 is not read: Sure! Here it is:",
        "line 5 is not read: | a | b |",
        "line 7 is not read: # code",
        "line 11: “References” has its own place, and is no section",
    )
    assert file.nodes[0].description == "About vectors."


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "the outline is empty"),
        (" \n\n", "the outline is empty"),
        ("just words\nand more\n", "no heading"),
        ("# Introduction\n# Conclusion\n", "names no section of its own"),
        ("# A\n# B\n## B1\n### B2\n", "line 4: “B2” is a third level"),
        ("# A\n# B\n# a\n", "line 3: the heading “a” stands at line 1 already"),
        ("# A\n# B\nrole: introduction\n# Introduction\n", "line 4: the role introduction stands at line 2 already"),
        ("# A\nrole: preface\n", "line 1: “preface” is no role; roles: introduction"),
        ("# A\n# C\n## B\nrole: conclusion\n", "line 3: a subsection cannot be the conclusion"),
        ("# A\n# !?\n", "line 2: a heading without a word"),
        (f"# A\n# {'long ' * 60}\n", "line 2: a heading of 299 characters"),
        ("## A\n# B\n# C\n", "line 1: the subsection “A” stands in no section"),
    ],
)
def test_an_outline_that_cannot_be_used_says_why_and_where(text, told):
    with pytest.raises(BadOutline, match=told.replace("?", r"\?")):
        read_outline(text)


def test_all_faults_are_told_at_once_and_bytes_are_no_outline(tmp_path):
    with pytest.raises(BadOutline, match=r"line 2: .*; line 3: "):
        read_outline("# A\n# A\n# ??\n")
    file = tmp_path / "x.md"
    file.write_bytes(b"# \xff\xfe\x00")
    with pytest.raises(BadOutline, match="no UTF-8 text"):
        read_outline_file(file)


def test_new_headings_get_sub_queries_and_papers_and_lost_papers_are_dropped():
    plan = edited("# hhh gg\nabout: one; two.\n# Evaluation\n# Retrieval\n")
    gone = Outline(tuple(n for n in plan.nodes))
    outline = completed(gone, Pool(), 100)
    new = next(n for n in outline.nodes if n.title == "hhh gg")
    assert new.queries == ("one", "two")
    assert new.memory[:2] == ("h", "g")
    assert outline.node("4").memory == ("a", "b"), "kept as it was"
    small = type("Small", (Pool,), {"pool": ("b", "h")})()
    assert completed(gone, small, 100).node("4").memory == ("b",)
    assert completed(gone, Pool(), 1).node("2").memory == ("h",)
    assert all(n.queries for n in outline.nodes if n.role == "body")
    assert outline.nodes[0].memory == ()


def test_a_plan_goes_through_text_unchanged():
    assert from_json(as_json(BASE)) == BASE
    assert as_json(from_json(as_json(BASE))) == as_json(BASE)


def test_more_than_nine_sections_keep_their_order():
    plan = edited("".join(f"# Section {c}\n## Part {c}\n" for c in "abcdefghijkl"))
    assert [n.title for n in plan.nodes if n.role == "body" and n.level == 1] == [
        f"Section {c}" for c in "abcdefghijkl"
    ]
    assert plan.nodes[-1].number == "15"
    assert numbered(plan.nodes) == plan.nodes


@given(st.text(alphabet="#ab 1.\n-`:|<", max_size=60))
def test_any_text_is_an_outline_or_a_told_fault(text):
    with contextlib.suppress(BadOutline):
        file = read_outline(text)
        assert len({n.number for n in file.nodes}) == len(file.nodes)
        assert any(n.role == "body" for n in file.nodes)
        assert read_outline(outline_markdown(Outline(file.nodes), "T", EDITION)).nodes == file.nodes
