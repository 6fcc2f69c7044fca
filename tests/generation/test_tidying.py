"""Drafts that do not know of each other become one text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation.drafting import assembled
from generation.tidying import (
    contents,
    fitted,
    merged,
    near_duplicates,
    tidied,
    unwrapped,
    without_references,
    without_twins,
)
from generation.topics import define_topic
from generation.values import Outline, OutlineNode, SectionDraft, Sentence

SHARED = (
    "Retrieval gives a model access to documents that it was not trained on, and so its answers can be checked "
    "against a source that anybody can open and read for themselves."
)
REWORDED = SHARED.replace("documents", "texts").replace("anybody", "anyone")
OTHER = (
    "Contrastive training draws a question and its passage together while other passages of the batch are pushed away "
    "from both, which needs large batches or a queue of older ones."
)


def draft(number: str, title: str, *paragraphs: str, kind: str = "written") -> SectionDraft:
    return SectionDraft(number, title, tuple((Sentence(kind, p),) for p in paragraphs), number)


WRAPPED = """```markdown
# Dense Retrieval

Vectors are compared.

## Training

```python
# not a heading
loss = 1
```

## References

1. A paper.

### Of the appendix

2. Another.
```
"""


def test_lm12_fence_and_own_references_go_and_levels_fit():
    text = tidied(WRAPPED, 3)
    assert text == (
        "### Dense Retrieval\n\nVectors are compared.\n\n#### Training\n\n```python\n# not a heading\nloss = 1\n```"
    )
    assert contents(text) == ((3, "Dense Retrieval"), (4, "Training"))
    assert tidied(text, 3) == text, "what is tidy stays"


@pytest.mark.parametrize(
    "text",
    ["```python\nx = 1\n```", "```\nx = 1\n```\n\nText.", "Text.\n\n```\n# a comment\n```", "~~~\ncode\n~~~"],
    ids=["python", "first", "last", "tildes"],
)
def test_lm12_a_real_code_block_stays(text):
    assert unwrapped(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "```\n# A\n\nText.\n```",
        "```md\n# A\n\nText.\n```\n",
        "~~~markdown\n# A\n\nText.\n~~~",
        "```markdown\n# A\n\nText.",
    ],
    ids=["bare", "md", "tildes", "not-closed"],
)
def test_lm12_a_wrapping_goes_in_all_its_forms(text):
    assert unwrapped(text) == "# A\n\nText."


def test_lm12_references_end_at_the_next_heading_of_their_level():
    text = "## A\n\nText.\n\n### 5. References\n\n[1] X\n\n### B\n\nMore.\n\nReferences\n----------\n\n[2] Y"
    assert contents(without_references(text)) == ((2, "A"), (3, "B"))
    assert "[1]" not in without_references(text)
    assert "[2]" not in without_references(text)


def test_lm12_levels_end_at_six_and_text_without_headings_stays():
    assert contents(fitted("# A\n\n### B\n\n###### C", 4)) == ((4, "A"), (6, "B"), (6, "C"))
    assert contents(fitted("Title\n=====\n\nText.", 2)) == ((2, "Title"),)
    assert fitted("Text # no heading.", 3) == "Text # no heading."


def test_lm11_repeated_headings_and_paragraphs_are_merged_and_told():
    first = f"## Retrieval\n\n{SHARED}\n\n### Applications\n\nIn law.\n\n## Conclusion\n\nRetrieval helps."
    second = f"## Generation\n\n{OTHER}\n\n### Applications\n\nIn medicine.\n\n{REWORDED}\n\n### 3. Conclusion\n\nSo does generation."
    result = merged([first, second])
    assert contents(result.text) == ((2, "Retrieval"), (3, "Applications"), (2, "Generation"), (2, "Conclusion"))
    assert "In law.\n\nIn medicine." in result.text
    assert result.text.endswith("Retrieval helps.\n\nSo does generation.")
    assert SHARED in result.text
    assert REWORDED not in result.text
    assert len(result.notes) == 3
    assert any("“Applications” stood more than once" in n for n in result.notes)


def test_lm11_one_introduction_in_front_of_all():
    result = merged(
        ["# A\n\nText one.", "# 1 Introduction\n\nFirst.", "# Introduction\n\nSecond.\n\n# Conclusions\n\nEnd."]
    )
    assert contents(result.text) == ((1, "1 Introduction"), (1, "A"), (1, "Conclusions"))
    assert "First.\n\nSecond." in result.text


def test_lm11_twins_are_found_though_words_differ_and_others_are_none():
    assert near_duplicates([SHARED, OTHER, REWORDED, "", "", "Short.", "short"]) == {2: 0, 6: 5}
    half = (
        " ".join(SHARED.split()[:20])
        + " And then it goes on to say something else about the training of encoders at scale."
    )
    assert near_duplicates([SHARED, half]) == {1: 0}
    assert near_duplicates([SHARED, "Retrieval gives a model access to documents, and that is all."]) == {}


def test_lm11_the_survey_that_is_assembled_says_nothing_twice():
    topic = define_topic("RAG")
    nodes = [OutlineNode("1", "Introduction", "", "introduction"), OutlineNode("2", "Retrieval"),
             OutlineNode("2.1", "Applications"), OutlineNode("3", "Generation"), OutlineNode("3.1", "Applications"),
             OutlineNode("3.2", "Twin"), OutlineNode("4", "Retrieval"), OutlineNode("4.1", "Applications"),
             OutlineNode("5", "Conclusion", "", "conclusion")]  # fmt: skip
    drafts = {
        "1": draft("1", "", "It is about retrieval."), "2": draft("2", "", SHARED), "2.1": draft("2.1", "", "In law."),
        "3": draft("3", "", OTHER), "3.1": draft("3.1", "", "In medicine."), "3.2": draft("3.2", "", REWORDED),
        "4": draft("4", "", "More on it."), "4.1": draft("4.1", "", "In schools."), "5": draft("5", "", "It helps."),
    }  # fmt: skip
    survey, notes = assembled(topic, Outline(tuple(nodes)), drafts)
    assert [(s.number, s.title) for s in survey.sections] == [
        ("1", "Introduction"), ("2", "Retrieval"), ("2.1", "Applications"), ("3", "Generation"),
        ("3.1", "Applications in Generation"), ("4", "Conclusion"),
    ]  # fmt: skip
    said = {s.number: [x.text for x in s.sentences()] for s in survey.sections}
    assert said["2"] == [SHARED, "More on it."]
    assert said["2.1"] == ["In law.", "In schools."]
    assert survey.sections[4].outline_number == "3.1"
    assert {n.item.split()[0] for n in notes} == {"3.1", "3.2", "4", "4.1"}


def test_composed_sentences_and_pictures_are_nobodys_repetition():
    caption = Sentence("composed", SHARED, place="caption")
    row = Sentence("quoted", OTHER, place="table")
    sections = [
        draft("1", "A", SHARED, kind="composed"),
        draft("2", "B", SHARED, kind="composed"),
        SectionDraft("3", "C", ((caption, row), (caption, row))),
    ]
    assert without_twins(sections) == (tuple(sections), [])


@given(st.text(alphabet="ab #`\n-=~", max_size=60), st.integers(1, 4))
def test_tidying_twice_is_tidying_once(text, level):
    once = tidied(text, level)
    assert contents(tidied(once, level)) == contents(once)
    assert not contents(once) or min(at for at, _ in contents(once)) == level
