"""Citation tokens: exact keys, nothing else in brackets touched."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generation.citations import UnknownCitation, bib_key, cited_keys, escape, paper_of_key, require_known, token
from ingestion.errors import BadInput

IDS = st.sampled_from(["2005.11401", "hep-th/9901001", "cs/0501001", "doi:10.1000/x_y", "doi:10.1016/s0004-3702(99)00052-1",
                       "doi:10.1002/(sici)1097;2-x", "local:0123456789abcdef"])  # fmt: skip


@given(st.lists(IDS, min_size=1, unique=True))
def test_a_token_reads_back_as_its_keys(ids):
    assert cited_keys(f"Said before {token(ids)}.") == ids


@settings(max_examples=15, deadline=None)  # each example starts pandoc
@given(st.lists(IDS, min_size=1, max_size=4, unique=True))
def test_pandoc_reads_the_same_keys(ids):
    import json

    import pypandoc

    parsed = json.loads(pypandoc.convert_text(f"Said {token(ids)}.", "json", format="markdown"))
    found = [c["citationId"] for block in parsed["blocks"] for i in block["c"] if i["t"] == "Cite" for c in i["c"][0]]
    assert found == [bib_key(i) for i in ids]
    assert [paper_of_key(key) for key in found] == ids


@pytest.mark.parametrize(
    "text", ["[0,1]", "[3-5]", "[MASK]", "[a](http://x.y)", "`[@a]`", "\\[@a]", "a@b.c", "[@]", "[1, 2; 3]"]
)
def test_other_brackets_are_no_citations(text):
    assert cited_keys(text) == []


@given(st.text(max_size=200))
def test_escaped_text_never_makes_a_citation(text):
    assert cited_keys(escape(text)) == []


@pytest.mark.parametrize(
    "text", ["a [@x; @y] b", "me@home", "[@2005.11401]", "#1 fan", "1. first", "*a* _b_ `c`", "<b>x</b>", "a~b^c^"]
)
def test_escaped_text_is_literal_for_pandoc(text):
    import pypandoc

    plain = pypandoc.convert_text(escape(text), "plain", format="markdown-smart", extra_args=["--wrap=none"]).strip()
    assert plain == text


def test_math_stays_math_and_dollars_stay_dollars():
    assert escape("$x_1$ costs $5 and $6") == r"$x_1$ costs \$5 and \$6"


def test_unknown_keys_are_refused_and_named():
    require_known("[@a.1] and [0,1]", {"a.1"})
    with pytest.raises(UnknownCitation, match=r"b\.2"):
        require_known("[@a.1; @b.2]", {"a.1"})


def test_keys_that_no_reader_could_parse_are_refused():
    with pytest.raises(BadInput, match="braces, brackets or blanks"):
        token(["a b"])
