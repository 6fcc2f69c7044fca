"""The normal form of titles over columns is that of single titles."""

import unicodedata

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.title_keys import title_key as key_of_column
from ingestion.comparison import title_key


def of_column(titles: list[str | None]) -> list[str | None]:
    frame = pl.DataFrame({"title": titles}, schema={"title": pl.String})
    return frame.select(key_of_column(pl.col("title")))["title"].to_list()


def folds_as_it_lowers(letter: str) -> bool:
    """All but Cherokee, whose letters fold into capitals, and characters that fold into several."""
    return letter.casefold() == letter.lower() or letter in "ßẞςſ"


LETTERS = st.characters(codec="utf-8", categories=["L", "M", "N", "P", "S", "Z"], max_codepoint=0x2FFF).filter(
    folds_as_it_lowers
)


@pytest.mark.parametrize(
    "title",
    [
        "BERT: Pre-training of Deep Bidirectional Transformers",
        "Straße, Müller, Ødegård, Łukasz, Đặng, Þór, œuvre, ŋ, ħ, ısı",
        "$O(n^2)$ ½ ² ™ ℝ ﬁne",
        "हिन्दी भाषा, русский язык, 中文标题, العربية, ελληνικός",
        "",
        "…!?",
    ],
)
def test_titles_of_all_kinds(title):
    assert of_column([title]) == [title_key(title)]


@given(st.lists(st.text(LETTERS, max_size=30), min_size=1, max_size=8))
def test_any_title(titles):
    titles = [unicodedata.normalize("NFC", title) for title in titles]
    assert of_column(titles) == [title_key(title) for title in titles]


def test_no_title_has_no_key():
    assert of_column([None]) == [None]
