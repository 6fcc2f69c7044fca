"""A finished edition out of the lake again, as it was written: at the table versions that its manifest pins.

So an edition is printed and exported with the titles, names and DOIs it was written with, even where the corpus has
changed since. Not here: formats (`exporting`), and writing the rows (`editions`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import polars as pl

from corpus.tables import Lake
from generation import editions
from generation.library import paper_of
from generation.page import ModelFacts, PageFacts, WhyRow
from generation.values import Failure, Paper, Survey
from ingestion.errors import NotFound


@dataclass(frozen=True)
class Reprint:
    """An edition with everything that any format prints of it.

    Attributes:
        papers: the survey's references, in order.
        passage_texts: passage id → text, of the passages that sentences lie in.
        why: a row for each cited paper, in the order of the references.
        made_at: when the edition was finished.
    """

    survey: Survey
    papers: tuple[Paper, ...]
    facts: PageFacts
    passage_texts: Mapping[str, str]
    why: tuple[WhyRow, ...]
    made_at: datetime


def load_reprint(lake: Lake, row: Mapping) -> Reprint:
    """What any format prints of a row of `surveys`.

    Raises:
        As `load_survey`.
    """
    survey, papers = load_survey(lake, row)
    texts = passage_texts(lake, survey, pinned(row))
    why = why_rows(lake, row["topic"], row["edition"], survey, pinned(row))
    return Reprint(survey, tuple(papers), facts_of(row, papers), texts, why, row["created_at"])


def load_survey(lake: Lake, row: Mapping) -> tuple[Survey, list[Paper]]:
    """The survey of a row of `surveys`, and the papers it cites in the order of its references.

    Raises:
        NotFound: a cited paper is not in the version of `papers` that the edition pins.
    """
    versions = pinned(row)
    sections = editions.load_sections(lake, row["topic"], row["edition"], versions)
    failures, notes = (tuple(Failure(f["item"], f["reason"]) for f in row[name]) for name in ("failures", "notes"))
    survey = Survey(row["title"], sections, failures, notes)
    return survey, _papers(lake, row["topic"], survey.references, versions)


def pinned(row: Mapping) -> dict[str, int]:
    """Table → version, as the manifest of a row of `surveys` has them."""
    return {m["table"]: m["version"] for m in row["manifest"]}


def facts_of(row: Mapping, papers: Sequence[Paper]) -> PageFacts:
    """What the page tells of an edition, from its row."""
    return PageFacts(
        row["topic"],
        row["edition"],
        row["method"],
        row["writer"],
        row["cutoff"].isoformat(),
        row["admitted_count"],
        row["pool_count"],
        row["cited_count"],
        any(p.abstract_origin != "source" for p in papers),
        tuple((n["item"], n["reason"]) for n in (*row["failures"], *row["notes"])),
        row["consulted_count"],
        tuple(sorted(pinned(row).items())),
        row["have_count"],
        row["expected_count"],
        bool(row["is_resumable"]),
        _model(row),
        row["status"] == "partial",
    )


def _model(row: Mapping) -> ModelFacts | None:
    if row["grounding"] is None:
        return None
    spent = (row[name] for name in ("input_tokens", "output_tokens", "cached_tokens", "cost"))
    return ModelFacts(*spent, **row["grounding"])


def passage_texts(lake: Lake, survey: Survey, versions: Mapping[str, int]) -> dict[str, str]:
    """Passage id → text, of the passages that the survey's sentences lie in."""
    spans = [span for section in survey.sections for s in section.sentences() for span in s.spans]
    wanted = sorted({span.passage_id for span in spans if span.passage_id})
    if not wanted:
        return {}
    rows = lake.scan("passages", versions.get("passages")).filter(pl.col("passage_id").is_in(wanted))
    return dict(rows.select("passage_id", "text").collect().iter_rows())


def why_rows(lake: Lake, topic: str, edition: str, survey: Survey, versions: Mapping[str, int]) -> tuple[WhyRow, ...]:
    """Why each cited paper is in the survey, in the order of the references; its section is the first to cite it."""
    at: dict[str, str] = {}
    for section in survey.sections:
        for paper_id in section.cited_ids:
            at.setdefault(paper_id, section.number)
    papers = lake.read("edition_papers", version=versions.get("edition_papers"), topic=topic, edition=edition)
    held = {r["paper_id"]: r for r in papers.to_dicts()}
    pool = {
        r["paper_id"]: r for r in lake.read("topic_pool", version=versions.get("topic_pool"), topic=topic).to_dicts()
    }
    return tuple(_why(p, at[p], held.get(p, {}), pool.get(p, {})) for p in survey.references)


def _why(paper_id: str, section: str, own: Mapping, pooled: Mapping) -> WhyRow:
    return WhyRow(
        paper_id,
        section,
        pooled.get("rank"),
        pooled.get("similarity"),
        pooled.get("citation_count") or 0,
        pooled.get("reason") or own.get("reason") or "",
        tuple(own.get("operations") or ()),
    )


def _papers(lake: Lake, topic: str, wanted: Sequence[str], versions: Mapping[str, int]) -> list[Paper]:
    pool = lake.scan("topic_pool", versions.get("topic_pool")).filter(pl.col("topic") == topic)
    counts = pool.select("paper_id", "citation_count", "similarity")
    held = lake.scan("papers", versions.get("papers")).filter(pl.col("paper_id").is_in(list(wanted)))
    rows = {r["paper_id"]: r for r in held.join(counts, on="paper_id", how="left").collect().to_dicts()}
    if gone := [p for p in wanted if p not in rows]:
        raise NotFound("papers that the survey cites are not held", which=", ".join(gone[:5]), advice="Survey again.")
    return [paper_of({**rows[p], "citation_count": rows[p]["citation_count"] or 0}) for p in wanted]
