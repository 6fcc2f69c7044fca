"""Math that is printed as math, and what only looks like it."""

import pypandoc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation.bibliography import tex
from generation.citations import escape
from generation.mathtext import outside_math, printable


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x_1^2", r"x_1^2"),
        (r"\alpha \leq 5", r"\alpha \leq 5"),
        (r"{\rm RED}^{\rm FM}", r"{\mathrm{RED}}^{\mathrm{FM}}"),
        (r"\rm{P}(\bf{x})", r"\mathrm{P}(\mathbf{x})"),
        (r"B\toμ", r"B\to μ"),
        (r"{\Bbb R}^n", r"{\mathbb{R}}^n"),
    ],
)
def test_known_commands_are_math_and_older_ones_put_as_todays(source, expected):
    assert printable(source) == (True, expected)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (r"\unicode{x2013}", "–"),
        (r"6\unicode{x2030}", "6‰"),
        (r"\href{https://example.org/a}{\text{this url}}", "this url"),
        (r"\BERTBASE", r"$\BERTBASE$"),
        (r"\input{/etc/passwd}", r"$\input{/etc/passwd}$"),
        (r"\textbf{", r"$\textbf{$"),
        ("84% on A and 28%", "$84% on A and 28%$"),
        ('``hot"', '$``hot"$'),
    ],
)
def test_what_no_reader_knows_is_text(source, expected):
    assert printable(source) == (False, expected)


def test_ex01_text_in_dollars_is_escaped_like_other_text():
    assert tex(r"a $\BERT$ b") == r"a \$\textbackslash{}BERT\$ b"
    assert escape(r"a $\BERT$ b") == r"a \$\\BERT\$ b"
    assert (
        pypandoc.convert_text(escape(r"$\input{x}$ [0,1]"), "plain", format="markdown").strip() == r"$\input{x}$ [0,1]"
    )


@given(st.text(alphabet="ab $\\{}_^%μ≥", max_size=20))
def test_text_without_dollars_is_changed_as_a_whole_and_braces_stay_balanced(text):
    assert outside_math(text.replace("$", ""), str.upper) == text.replace("$", "").upper()
    is_math, inner = printable(text)
    if is_math:
        assert inner.replace(r"\{", "").count("{") == inner.replace(r"\}", "").count("}")
