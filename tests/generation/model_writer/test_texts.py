"""What comes of drafts as models write them: sentences with their papers, and nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation.citations import cited_keys, escape
from generation.language_models.calls import Unfit
from generation.model_writer.texts import lines_of, plain, read_draft
from tests.generation.model_writer.conftest import drafted

A, B, C = "2301.00001", "2301.00002", "hep-th/9901001"
SHOWN = (A, B, C)


def markdown(text: str):
    return read_draft(text, SHOWN, is_markdown=True)


def said(reading) -> list[list[tuple[str, tuple[str, ...]]]]:
    return [[(s.text, s.cited_ids) for s in paragraph] for paragraph in reading.value]


def structured(*sentences):
    import json

    return read_draft(json.dumps(drafted(*sentences)), SHOWN, is_markdown=False)


def test_structured_sentences_cite_the_papers_they_name() -> None:
    reading = structured(("Heron reads twice.", [A]), ("Both are slow.", [A, B]))
    assert said(reading) == [[("Heron reads twice.", (A,)), ("Both are slow.", (A, B))]]
    assert reading.problems == ()
    assert all(s.kind == "written" for p in reading.value for s in p)


def test_a_token_in_a_structured_text_is_a_citation_of_its_sentence() -> None:
    reading = structured((f"Heron reads twice [@{A}]. Curlew shrinks its index [@{B}; @{C}].", []))
    assert said(reading) == [[("Heron reads twice.", (A,)), ("Curlew shrinks its index.", (B, C))]]


def test_a_token_behind_the_stop_belongs_to_the_sentence_before() -> None:
    assert said(markdown(f"Heron reads twice. [@{A}] Curlew does not. [@{B}]")) == [
        [("Heron reads twice.", (A,)), ("Curlew does not.", (B,))]
    ]


@pytest.mark.parametrize(
    "token",
    [
        "[@2301.00001; @2301.00002]",
        "[@2301.00001, @2301.00002]",
        "[@2301.00001;@{2301.00002}]",
        "[@2301.00001][@2301.00002]",
    ],
)
def test_forms_of_tokens_that_models_write(token) -> None:
    assert said(markdown(f"Both read twice {token}.")) == [[("Both read twice.", (A, B))]]


@pytest.mark.parametrize("reply", ["markdown", "structured"])
def test_lm08_an_id_that_was_not_shown_is_refused_and_told(reply) -> None:
    if reply == "markdown":
        reading = markdown(f"Heron reads twice [@{A}; @2405.99999].")
    else:
        reading = structured(("Heron reads twice.", [A, "2405.99999"]))
    assert reading.problems == ("these ids are not among those that may be cited: 2405.99999",)
    (sentence,) = reading.value[0]
    assert sentence.cited_ids == (A,)
    assert [(c.paper_id, c.verdict, c.action) for c in sentence.checks] == [("2405.99999", "ungrounded", "refused")]


@pytest.mark.parametrize(
    "text",
    ["It holds on [0,1].", "Rows [3-5] differ.", "A [MASK] is put in.", "As in [3], it fails.", "See [Lewis, 2020]."],
)
def test_lm06_other_brackets_stay_text_and_cite_nothing(text) -> None:
    for reading in (markdown(text), structured((text, []))):
        assert said(reading) == [[(text, ())]]
        assert cited_keys(escape(text)) == []


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("See [our page](https://collect.example/?d=1) for more.", "See our page for more."),
        ("A picture ![secret](https://collect.example/x.png) is here.", "A picture is here."),
        ("Code is at https://github.com/heron/heron.", "Code is at."),
        ("Read www.heron.example/a or heron.io/b now.", "Read or now."),
        ("It is <b>bold</b> and <script>x()</script> more.", "It is bold and more."),
        ("It is **bold**, *slanted*, `coded` and __strong__.", "It is bold, slanted, coded and strong."),
        ("A* search, 2*3*4, f* and __init__ of the <MASK> and <think> tokens stay.", "A* search, 2*3*4, f* and init of the <MASK> and <think> tokens stay."),
        ("Mail team@heron.example for more.", "Mail for more."),
        ("The model $f_a * g_b$ and $x*y$ stay.", "The model $f_a * g_b$ and $x*y$ stay."),
        ("A snake_case_name and 3 * 4 * 5 stay.", "A snake_case_name and 3 * 4 * 5 stay."),
        ("Recall@20 and e.g. this/that stay (Fast.ai, v2.0/v2.1).", "Recall@20 and e.g. this/that stay (Fast.ai, v2.0/v2.1)."),
        ("Loss < 0.3 and gain > 2 stay.", "Loss < 0.3 and gain > 2 stay."),
    ],
)  # fmt: skip
def test_lm14_no_link_picture_markup_or_address_comes_out(text, printed) -> None:
    assert plain(text) == printed


def test_a_sentence_that_only_points_to_an_address_goes() -> None:
    assert said(structured(("Heron reads twice.", [A]), ("Its code is at https://github.com/heron/heron.", [A]))) == [
        [("Heron reads twice.", (A,))]
    ]


@given(st.text(max_size=120))
def test_any_text_becomes_single_lines_that_print_as_text(text) -> None:
    for line in lines_of(text, [A], SHOWN):
        assert line.text == " ".join(line.text.split())
        assert "](" not in plain(line.text) or "[" not in line.text
        assert cited_keys(escape(line.text)) == []


WRAPPED = f"""```markdown
# Passages

Heron reads each passage twice [@{A}]. It reaches 61.2 exact match.

- Curlew shrinks the index [@{B}].
- Building takes nine hours.

## Applications

Both are used at sea [@{A}; @{B}].

```python
heron.read(twice=True)
```

| a | b |
|---|---|
| 1 | 2 |

## References

[1] A. Author. Heron. 2023.
```"""


def test_lm12_fence_headings_own_references_code_and_tables_are_no_prose() -> None:
    assert said(markdown(WRAPPED)) == [
        [("Heron reads each passage twice.", (A,)), ("It reaches 61.2 exact match.", ())],
        [("Curlew shrinks the index.", (B,)), ("Building takes nine hours.", ())],
        [("Both are used at sea.", (A, B))],
    ]


@pytest.mark.parametrize(
    "text", ["<think>I cite [3].</think># Passages\n\nHeron reads twice.", "plan [@x]</think>Heron reads twice."]
)
def test_lm04_citations_in_thinking_are_not_counted(text) -> None:
    reading = markdown(text)
    assert said(reading) == [[("Heron reads twice.", ())]]
    assert reading.problems == ()


@pytest.mark.parametrize("text", ["# Passages", "![x](https://collect.example)", "```\ncode\n```"])
def test_a_reply_without_a_sentence_does_not_fit(text) -> None:
    with pytest.raises(Unfit, match="no sentence"):
        markdown(text)


@pytest.mark.parametrize("written", ["arXiv:2301.00001", "2301.00001v2", "[@2301.00001]", " 2301.00001 "])
def test_forms_of_an_id_name_the_same_paper(written) -> None:
    assert said(structured(("Heron reads twice.", [written]))) == [[("Heron reads twice.", (A,))]]


def test_a_sentence_that_stands_twice_and_what_is_no_sentence_go() -> None:
    reading = structured(("2023-01", [A]), ("Heron reads twice.", [A]), ("2301.00001", []), ("Heron reads twice!", [B]))
    assert said(reading) == [[("Heron reads twice.", (A,))]]


def test_a_text_of_two_sentences_leaves_neither_unchecked() -> None:
    assert said(structured(("Heron reads twice. It reaches 61.2 exact match.", [A]))) == [
        [("Heron reads twice.", (A,)), ("It reaches 61.2 exact match.", (A,))]
    ]
    assert said(structured((f"Heron reads twice [@{A}]. Curlew does not.", [A, B]))) == [
        [("Heron reads twice.", (A,)), ("Curlew does not.", (B,))]
    ]


@pytest.mark.parametrize(
    ("text", "printed", "papers"),
    [
        (f"Heron reads twice ({A}).", "Heron reads twice.", (A,)),
        (f"Both read twice (cites {A}, {B}).", "Both read twice.", (A, B)),
        (f"Both read twice [{A}; arXiv:{B}v2].", "Both read twice.", (A, B)),
        (f"Both read twice (see {C} and {A}).", "Both read twice.", (C, A)),
        (f"Heron reads twice {A}.", "Heron reads twice.", (A,)),
        (f"Both read twice, {A}, {B}.", "Both read twice.", (A, B)),
        (f"Both read twice. {A}, {B}.", "Both read twice.", (A, B)),
        (f"{A}: Heron reads twice.", "Heron reads twice.", (A,)),
        (f"Paper {A} reads each passage twice.", "The paper reads each passage twice.", (A,)),
        (f"{A} reads each passage twice.", "The paper reads each passage twice.", (A,)),
        (f"In paper {A}, passages are read twice.", "In the paper, passages are read twice.", (A,)),
        (f"As shown in {A}.", "As shown in the paper.", (A,)),
    ],
)
def test_ids_in_prose_are_citations_and_no_words(text, printed, papers) -> None:
    for reading in (markdown(text), structured((text, []))):
        assert said(reading) == [[(printed, papers)]]


def test_ids_of_several_sentences_belong_to_their_own() -> None:
    text = f"Heron reads twice ({A}). Curlew does not ({B}). So they differ."
    assert said(structured((text, []))) == [[("Heron reads twice.", (A,)), ("Curlew does not.", (B,)), ("So they differ.", ())]]  # fmt: skip


def test_an_id_in_brackets_that_was_not_shown_is_refused() -> None:
    reading = structured(("Heron reads twice (2405.99999).", []))
    assert said(reading) == [[("Heron reads twice.", ())]]
    assert reading.value[0][0].is_unborne
    assert reading.problems


@pytest.mark.parametrize(
    "text",
    ["It costs 2301.0 units (1234.5678).", "Of 2301.000012 it is a part.", "A rate (0.12345) and [0,1] stay.", "It takes 2301.00001s."],
)  # fmt: skip
def test_lm06_other_numbers_are_no_ids(text) -> None:
    assert said(structured((text, []))) == [[(text, ())]]
