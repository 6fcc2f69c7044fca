"""Numbers of headings: reading and following."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.documents.structure.numbering import missing_between, numberings


@pytest.mark.parametrize(
    ("line", "number", "components", "title"),
    [
        ("3.1.2 Data", "3.1.2", (3, 1, 2), "Data"),
        ("3. Method", "3", (3,), "Method"),
        ("IV. RESULTS", "IV", (4,), "RESULTS"),
        ("A.2 Wheels", "A.2", (1, 2), "Wheels"),
        ("Appendix B: More mills", "B", (2,), "More mills"),
        ("1Introduction", "1", (1,), "Introduction"),
        ("B.1.3. Water", "B.1.3", (2, 1, 3), "Water"),
    ],
)
def test_numbers_are_read_off_their_titles(line, number, components, title):
    found, rest = numberings(line)[0]
    assert (found.text, found.components, found.level, rest) == (number, components, len(components), title)


@pytest.mark.parametrize("line", ["3D vision", "2023 was wet", "Wheels", "", "0.5 seconds", "IIX. Odd"])
def test_other_lines_bear_no_number(line):
    assert numberings(line) == []


@pytest.mark.parametrize(
    ("before", "after", "missing"),
    [
        ((0, 3, 1), (0, 3, 2), 0), ((0, 3, 1), (0, 4), 0), ((0, 3, 1), (0, 3, 1, 1), 0), ((0, 8), (1, 1), 0), ((), (0, 1), 0),
        ((0, 3), (0, 5), 1), ((0, 3), (0, 4, 1), 1), ((0, 3, 2), (0, 3, 2), None), ((1, 1), (0, 9), None),
    ],
)  # fmt: skip
def test_what_may_follow(before, after, missing):
    assert missing_between(before, after) == missing


_keys = st.lists(st.integers(1, 9), min_size=1, max_size=4).map(lambda parts: (0, *parts))


@given(_keys, _keys)
def test_following_is_an_order(one, other):
    assert (missing_between(one, other) is None) == (other <= one)
    assert missing_between(one, (*one, 1)) == 0
    assert missing_between(one, (*one[:-1], one[-1] + 1)) == 0


@given(st.lists(st.integers(1, 20), min_size=1, max_size=4))
def test_what_is_printed_is_read_back(parts):
    text = ".".join(map(str, parts))
    assert numberings(f"{text} Wheels")[0][0].components == tuple(parts)
