"""Key terms: the words that tell a topic's first papers from the rest of the corpus, for a second full text query.

Only counts words; which papers are first, and what is done with the query, is decided in `pool_candidates`.
"""

import zlib

import polars as pl

from generation.extractive.phrases import STOP_WORDS

_WORD = r"\p{L}[\p{L}\p{M}\p{N}]+"  # as full text search splits: a hyphen separates, numbers alone say nothing
_LEAST_PAPERS = 2  # a word of one paper is that paper's, not the topic's


def key_terms(first: pl.DataFrame, others: pl.DataFrame, count: int) -> list[str]:
    """The words that the first papers use more than others do, strongest first.

    Words are scored by their part of the Kullback-Leibler divergence between the two sets of papers,
    ``f * ln(f / b)`` with the shares of papers that contain them, as in Carpineto, de Mori, Romano and Bigi, "An
    information-theoretic approach to automatic query expansion" (ACM TOIS 19, 2001).

    Args:
        first, others: title, abstract (may be null).
        count: of words at most; stop words, and words of fewer than two of the first papers, do not count.
    """
    if not len(first):
        return []
    shares = (
        _paper_counts(first)
        .rename({"papers": "first"})
        .join(_paper_counts(others).rename({"papers": "others"}), on="term", how="left")
    )
    here = pl.col("first") / len(first)
    there = (pl.col("others").fill_null(0) + 0.5) / (len(others) + 1)
    eligible = (pl.col("first") >= _LEAST_PAPERS) & ~pl.col("term").is_in(list(STOP_WORDS))
    scored = shares.filter(eligible).with_columns((here * (here / there).log()).round(9).alias("score"))
    strongest = scored.filter(pl.col("score") > 0).sort(["score", "term"], descending=[True, False])
    return strongest["term"].head(count).to_list()


def sample_of(paper_ids: pl.Series, size: int) -> list[str]:
    """A sample that hardly changes when papers come and go: the ids with the lowest checksums."""
    checks = pl.Series((zlib.crc32(paper_id.encode()) for paper_id in paper_ids), dtype=pl.UInt32)
    frame = pl.DataFrame({"check": checks, "paper_id": paper_ids})
    return frame.bottom_k(size, by=["check", "paper_id"]).sort("check", "paper_id")["paper_id"].to_list()


def _paper_counts(papers: pl.DataFrame) -> pl.DataFrame:
    """term, papers: in how many of them it occurs."""
    text = pl.concat_str("title", pl.col("abstract").fill_null(""), separator=" ").str.to_lowercase()
    words = papers.select(text.str.extract_all(_WORD).list.unique().alias("term")).explode("term").drop_nulls()
    return words.group_by("term").agg(pl.len().alias("papers"))
