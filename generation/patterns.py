"""Human outlines as patterns: which ones lie nearest to a topic (SurveyForge, section 3.1), and what all call things."""

import random
import re
from collections.abc import Callable, Sequence

import numpy as np
import polars as pl

from generation.values import Pattern

_LEXICAL_CANDIDATES = 200
_MIN_SECTIONS = 3
_TEXT_HEADINGS = 20
_MOST_WORDS = 5
_NO_LETTERS = r"[^a-z0-9]+"
_PLURAL = r"\b([a-z]{2,}[^suia\W\d])s\b"


def nearest_patterns(
    outlines: pl.DataFrame, query: str, count: int, embed: Callable[[Sequence[str]], np.ndarray]
) -> list[Pattern]:
    """The `count` outlines nearest to the query, nearest first; ties by id.

    Words narrow thousands of outlines to a few hundred, embeddings rank those. An outline is compared by its
    title and first headings; one with fewer than three sections shows no structure and is left out.

    Args:
        outlines: as `corpus.visibility.View.outlines` gives them.
        query: the topic.
        embed: texts → unit vectors.
    """
    rows = [r for r in outlines.sort("outline_id").to_dicts() if sum(lv == 1 for lv in r["levels"]) >= _MIN_SECTIONS]
    if not rows:
        return []
    texts = [_text(r) for r in rows]
    chosen = _lexical(texts, query)
    if not chosen:
        return []
    vectors = embed([texts[i] for i in chosen])
    scores = vectors @ embed([query])[0]
    order = sorted(
        zip(chosen, scores, strict=True), key=lambda pair: (-round(float(pair[1]), 6), rows[pair[0]]["outline_id"])
    )
    return [
        Pattern(
            rows[i]["outline_id"],
            rows[i]["title"] or "",
            tuple(zip(rows[i]["levels"], rows[i]["headings"], strict=True)),
            rows[i]["submitted_latest"],
            round(float(score), 6),
        )
        for i, score in order[:count]
    ]


def _text(row: dict) -> str:
    return ". ".join([*([row["title"]] if row["title"] else []), *row["headings"][:_TEXT_HEADINGS]])


def _lexical(texts: list[str], query: str) -> list[int]:
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(stop_words="english", sublinear_tf=True)
    try:
        matrix = vectorizer.fit_transform(texts)
    except ValueError:  # nothing but stop words
        return []
    scores = (matrix @ vectorizer.transform([query]).T).toarray().ravel()
    order = np.argsort(-scores, kind="stable")[:_LEXICAL_CANDIDATES]
    return [int(i) for i in order if scores[i] > 0]


def heading_counts(outlines: pl.DataFrame) -> dict[str, int]:
    """In how many outlines each heading of up to five words stands, by its plain form (`plain_heading`).

    What many surveys of any field have as a heading names a concept; what none has is often a torn phrase.

    Args:
        outlines: as `corpus.visibility.View.outlines` gives them.
    """
    if not len(outlines):
        return {}
    plain = (
        pl.col("headings").str.to_lowercase().str.replace_all(_NO_LETTERS, " ").str.replace_all(_PLURAL, "${1}")
        .str.strip_chars()
    )  # fmt: skip
    rows = outlines.lazy().select("outline_id", "headings").explode("headings").select("outline_id", plain).unique()
    rows = rows.filter(pl.col("headings").str.count_matches(" ").lt(_MOST_WORDS) & pl.col("headings").ne(""))
    return dict(rows.group_by("headings").len().collect().iter_rows())


def plain_heading(text: str) -> str:
    """A heading without case, punctuation and plurals: "Graph-based Methods" → "graph based method"."""
    return re.sub(_PLURAL, r"\1", re.sub(_NO_LETTERS, " ", text.lower())).strip()


def draw_patterns(near: Sequence[Pattern], chunks: int, each: int, rng: random.Random) -> list[list[Pattern]]:
    """Patterns for each chunk, drawn without reuse until all were used once."""
    drawn, deck = [], []
    for _ in range(chunks):
        hand: list[Pattern] = []
        while len(hand) < min(each, len(near)):
            if not deck:
                deck = rng.sample(list(near), len(near))
            card = deck.pop()
            if card not in hand:
                hand.append(card)
        drawn.append(hand)
    return drawn


def newest_first(pattern: Pattern) -> tuple:
    """Sort key: the most recent outline first, undated ones last."""
    day = pattern.submitted_latest
    return (-(day.toordinal() if day else 0), pattern.outline_id)
