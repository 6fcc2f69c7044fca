"""What a topic may see of the lake: papers within its cutoff, edges and outlines of such papers, nothing excluded.

Excluded papers are hidden by id and by normalised title, so that a second record of the same work cannot bring
them back; an edge counts only if its citing paper is visible; an outline of unknown id only if its title is that of
a visible paper.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date

import polars as pl

from corpus.citing import FROM_TEXT
from corpus.tables import Lake
from corpus.title_keys import title_key
from ingestion.identity import id_month


@dataclass(frozen=True)
class View:
    """The part of the lake that a topic may see, at fixed table versions.

    Attributes:
        cutoff: inclusive UTC day, compared with `submitted_latest`.
        exclusions: canonical ids hidden from the topic.
        has_withdrawn: withdrawn papers are visible too.
        versions: table → version to read; tables it does not name are read at their newest.
    """

    lake: Lake
    cutoff: date
    exclusions: tuple[str, ...] = ()
    has_withdrawn: bool = False
    versions: tuple[tuple[str, int], ...] = ()

    def scan(self, table: str) -> pl.LazyFrame:
        return self.lake.scan(table, dict(self.versions).get(table))

    def hidden_ids(self) -> list[str]:
        """Exclusions, and every paper whose title is that of an excluded one."""
        if not self.exclusions:
            return []
        papers = self.scan("papers").select("paper_id", title_key(pl.col("title")).alias("key"))
        keys = papers.filter(pl.col("paper_id").is_in(list(self.exclusions)), pl.col("key") != "").select("key")
        twins = papers.join(keys, on="key", how="semi").select("paper_id").collect().to_series().to_list()
        return sorted({*self.exclusions, *twins})

    def papers(self, hidden: Collection[str] | None = None) -> pl.LazyFrame:
        """Visible papers, all columns."""
        hidden = self.hidden_ids() if hidden is None else hidden
        frame = self.scan("papers").filter(pl.col("submitted_latest") <= self.cutoff)
        if not self.has_withdrawn:
            frame = frame.filter(~pl.col("is_withdrawn"))
        return frame.filter(~pl.col("paper_id").is_in(list(hidden))) if hidden else frame

    def edges(
        self,
        hidden: Collection[str] | None = None,
        *,
        with_texts: bool = False,
        citing: Collection[str] | None = None,
        cited: Collection[str] | None = None,
    ) -> pl.LazyFrame:
        """Edges between visible papers: citing_id, cited_id.

        Args:
            citing, cited: only edges from these papers, or to these; where neither is given, all.
            with_texts: also those that only the papers' own texts give. Whose text has been read depends on which
                surveys were made before, so a pool that counted them would depend on it too (ADR 6).
        """
        edges = self.scan("citations").select("citing_id", "cited_id", "sources")
        ends = [
            pl.col(column).is_in(list(ids))
            for column, ids in (("citing_id", citing), ("cited_id", cited))
            if ids is not None
        ]
        if ends:
            # Read now: in one plan with the rest, the sources of every edge are looked at, which doubles the time.
            edges = edges.filter(pl.any_horizontal(ends)).collect(engine="streaming").lazy()
        if not with_texts:
            edges = edges.filter(pl.col("sources").list.set_difference([FROM_TEXT]).list.len() > 0)
        edges = edges.select("citing_id", "cited_id")
        ids = self.papers(hidden).select("paper_id")
        edges = edges.join(ids, left_on="citing_id", right_on="paper_id", how="semi")
        return edges.join(ids, left_on="cited_id", right_on="paper_id", how="semi")

    def citation_counts(
        self, hidden: Collection[str] | None = None, *, of: Collection[str] | None = None
    ) -> pl.LazyFrame:
        """paper_id, citation_count: visible papers that cite it, of edges that sources give; `of` None for all."""
        return (
            self.edges(hidden, cited=of)
            .group_by(pl.col("cited_id").alias("paper_id"))
            .agg(pl.len().cast(pl.Int64).alias("citation_count"))
        )

    def outlines(self, hidden: Collection[str] | None = None) -> pl.DataFrame:
        """Visible human outlines, one row each: outline_id, title (may be null), headings, levels, submitted_latest.

        The date is the paper's where we hold it, else the last day of its id's month: the latest it can be.
        """
        hidden = self.hidden_ids() if hidden is None else hidden
        rows = (
            self.scan("human_outlines")
            .sort("outline_id", "position")
            .group_by("outline_id", maintain_order=True)
            .agg(
                pl.col("paper_id").first(),
                pl.col("title").first(),
                pl.col("heading").alias("headings"),
                pl.col("level").alias("levels"),
                pl.col("content_hash").first(),
            )
            .collect()
        )
        if not len(rows):
            return rows.with_columns(pl.lit(None, dtype=pl.Date).alias("submitted_latest"))
        held = self.scan("papers").select(
            "paper_id",
            pl.col("title").alias("held_title"),
            "submitted_latest",
            "is_withdrawn",
            title_key(pl.col("title")).alias("key"),
        )
        wanted = rows["paper_id"].drop_nulls().unique()
        by_id = held.filter(pl.col("paper_id").is_in(wanted.to_list())).drop("key").collect()
        named = rows.filter(pl.col("paper_id").is_not_null()).join(by_id, on="paper_id", how="left")
        month_ends = pl.Series([_month_end(paper_id) for paper_id in named["paper_id"]], dtype=pl.Date)
        named = named.with_columns(
            pl.col("submitted_latest").fill_null(month_ends), pl.coalesce("held_title", "title").alias("title")
        ).drop("held_title")
        named = named.filter(pl.col("submitted_latest") <= self.cutoff, ~pl.col("paper_id").is_in(list(hidden)))
        if not self.has_withdrawn:
            named = named.filter(~pl.col("is_withdrawn").fill_null(False))
        excluded = held.filter(pl.col("paper_id").is_in(list(hidden)), pl.col("key") != "").select("key")
        named = named.with_columns(title_key(pl.col("title")).alias("key")).filter(
            ~pl.col("key").fill_null("").is_in(excluded.collect().to_series().to_list())
        )
        named = named.drop("is_withdrawn")
        unnamed = rows.filter(pl.col("paper_id").is_null()).with_columns(title_key(pl.col("title")).alias("key"))
        visible = (
            self.papers(hidden)
            .select(title_key(pl.col("title")).alias("key"), "submitted_latest")
            .filter(pl.col("key").is_in(unnamed["key"].to_list()), pl.col("key") != "")
            .group_by("key")
            .agg(pl.col("submitted_latest").min())
            .collect()
        )
        unnamed = unnamed.join(visible, on="key")
        both = pl.concat([named.select(sorted(named.columns)), unnamed.select(sorted(named.columns))])
        return both.drop("key").sort("outline_id")


def _month_end(paper_id: str) -> date | None:
    month = id_month(paper_id)
    return month and (date(month.year + month.month // 12, month.month % 12 + 1, 1) - date.resolution)
