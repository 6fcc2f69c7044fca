"""Whether surveys cite what surveys of the topic cite: SAM-R beside full text, one dense query, and chance; and drift.

    python -m benchmarks.survey_references [--data DIR] [--edges with|without] [--topics rag evaluation] [--home DIR]

The corpus are all papers of `arxiv_metadata` up to 2022 and of 2023 to 2024, seen from 2024-03-31; the human surveys that
are compared are excluded. Truth: the benchmark references of SurveyBench. (a) is the survey, (b) as many papers by one
full text query of the title, (c) as many by one dense query among the papers that the pool builder embedded, (d) as many
at random. SAM-R as the public code counts it: ids without version; only references earlier than the latest benchmark
reference count, so that |T'| says how many and `excluded` how many not; recall is over all benchmark references.

Drift: share of the cited papers nearer to the topic than the pool's median, and share of a section's papers nearer to
their own section's centroid than to any other's. Both over the papers that a section cites, those that it shares with
another section counted in each.
"""

import argparse
import json
import os
import random
import re
import tempfile
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np

from assets.refreshing import refresh
from assets.runs import survey
from assets.sources import open_source
from benchmarks.figures import Figure, print_table
from corpus.sideimport import import_citations, import_outlines
from corpus.tables import Lake
from generation.pool_candidates import PoolOptions, find_candidates
from generation.pool_ranking import ordered
from generation.topics import define_topic
from generation.workshop import Workshop, view_of

CUTOFF = date(2024, 3, 31)
FILES = ("papers_until_2022.parquet", "papers_2023_2024.parquet")


@dataclass(frozen=True)
class Compared:
    """A topic, its folder in SurveyBench, the human surveys of it, and what was published: (matched, |T'|)."""

    title: str
    folder: str
    surveys: tuple[str, ...]
    human: tuple[int, int]
    surveyforge: tuple[int, int]


TOPICS = {
    "rag": Compared(
        "Retrieval-Augmented Generation for Large Language Models",
        "Retrieval-Augmented_Generation_for_Large_Language_Models",
        ("2312.10997", "2402.19473"), (103, 190), (37, 85),
    ),
    "evaluation": Compared(
        "Evaluation of Large Language Models",
        "Evaluation_of_Large_Language_Models",
        ("2307.03109", "2310.19736"), (99, 214), (39, 116),
    ),
    "gnn": Compared("Graph Neural Networks", "Graph_Neural_Networks", ("2012.08752",), (199, 345), (41, 126)),
}  # fmt: skip
"""Published counts: SurveyForge's first run and the human survey, from the released lists of references."""


@dataclass(frozen=True)
class SamR:
    """References of a survey beside the benchmark's: matched, kept (|T'|), excluded by the date filter, recall."""

    matched: int
    kept: int
    excluded: int
    recall: float

    @property
    def share(self) -> float:
        return self.matched / self.kept if self.kept else 0.0

    def __str__(self) -> str:
        return (
            f"SAM-R {self.share:.3f}  matched {self.matched:3d}  kept {self.kept:3d}  excluded {self.excluded:2d}  "
            f"recall {self.recall:.3f}"
        )


def sam_r(references: Sequence[str], benchmark: Collection[str]) -> SamR:
    """SAM-R of a list of references.

    Args:
        references, benchmark: arXiv ids without version; those of the old style, and of other works, do not count.
    """
    truth = {p: at for p in benchmark if (at := _place(p))}
    latest = max(truth.values())
    kept = [p for p in references if (at := _place(p)) and at < latest]
    matched = sum(p in truth for p in kept)
    return SamR(matched, len(kept), len(references) - len(kept), matched / len(truth))


def _place(paper_id: str) -> tuple[str, int] | None:
    found = re.fullmatch(r"(\d{4})\.(\d{4,5})", paper_id)
    return (found[1], int(found[2])) if found else None


@dataclass(frozen=True)
class Drift:
    """Shares of papers: nearer to the topic than the pool's median; nearer to their own section than to another."""

    on_topic: float
    in_section: float


def drift(query: np.ndarray, pool: np.ndarray, cited: np.ndarray, sections: Sequence[np.ndarray]) -> Drift:
    """Drift of a survey.

    Args:
        query: unit vector of the topic (d,).
        pool, cited: unit vectors (n, d) of the pool's and the cited papers.
        sections: unit vectors (m, d) of the papers of each section.
    """
    median = float(np.median(pool @ query))
    centroids = np.stack([_unit(section.mean(axis=0)) for section in sections])
    own = [int(np.argmax(centroids @ vector)) == i for i, section in enumerate(sections) for vector in section]
    return Drift(float(np.mean(cited @ query > median)), float(np.mean(own)))


def _unit(vector: np.ndarray) -> np.ndarray:
    return vector / max(float(np.linalg.norm(vector)), 1e-12)


def compare(home: Path, data: Path, compared: Compared, label: str) -> list[Figure]:
    """Make the topic's survey in `home`, print the lists' SAM-R, and give the figures that something is asked of."""
    topic = define_topic(compared.title, cutoff=CUTOFF, exclusions=compared.surveys)
    row = survey(home, topic, "surveyforge", "extractive").row
    workshop = Workshop(home)
    view = view_of(workshop.lake, topic)
    references = list(row["reference_ids"])
    benchmark = set(
        json.loads((data / "surveybench" / compared.folder / "benchmark_references.json").read_text("utf-8"))
    )
    query = workshop.index.embedder.embed([topic.query])[0]
    found = find_candidates(view, workshop.index, topic, query, view.hidden_ids(), PoolOptions())
    names, matrix = workshop.index.vectors(found.paper_ids)
    dense = ordered(dict(zip(names, map(float, matrix @ query), strict=True)))
    visible = sorted(view.papers(view.hidden_ids()).select("paper_id").collect().to_series())
    count = len(references)
    lists = {
        "survey": references,
        "full text": found.by_text[:count],
        "one dense query": dense[:count],
        "at random": random.Random(0).sample(visible, count),  # noqa: S311 - a sample, not a secret
    }
    print(f"\n{compared.title}, {label}: {row['admitted_count']:,} admitted, {count} references")
    scores = {name: sam_r(ids, benchmark) for name, ids in lists.items()}
    for name, score in scores.items():
        print(f"  {name:18} {score}")
    for name, (matched, kept) in {"SurveyForge, published": compared.surveyforge, "human": compared.human}.items():
        print(f"  {name:22} SAM-R {matched / kept:.3f}  matched {matched}  kept {kept}")
    pool = workshop.index.vectors(workshop.lake.read("topic_pool", topic=topic.key)["paper_id"].to_list())[1]
    rows = workshop.lake.read("survey_sections", topic=topic.key, edition=row["edition"]).to_dicts()
    turned = drift(query, pool, workshop.index.vectors(references)[1], _sections(workshop, rows))
    best = max(("full text", "one dense query"), key=lambda name: scores[name].share)
    name = f"{compared.title[:24]}…, {label}"
    return [
        Figure(f"{name}: SAM-R", scores["survey"].share, "", best, scores[best].share, at_least=1.0),
        Figure(f"{name}: recall", scores["survey"].recall, "", best, scores[best].recall),
        Figure(f"{name}: references", count, "", at_least=100),
        Figure(f"{name}: nearer to the topic than the pool's median", turned.on_topic, "", at_least=0.6),
        Figure(f"{name}: nearest to their own section", turned.in_section, "", at_least=0.7),
    ]


def _sections(workshop: Workshop, rows: Sequence[dict]) -> list[np.ndarray]:
    """Vectors of the papers of each top-level section of the body, its parts' included."""
    papers: dict[str, dict[str, None]] = {}
    for row in rows:
        papers.setdefault(row["number"].split(".")[0], {}).update(dict.fromkeys(row["paper_ids"]))
    framing = [r["number"] for r in rows if r["title"] in ("Introduction", "Open Problems", "Conclusion")]
    found = [workshop.index.vectors(list(ids))[1] for number, ids in papers.items() if number not in framing and ids]
    return [matrix for matrix in found if len(matrix)]


def figures(data: Path, edges: bool, topics: Sequence[str], home: Path) -> list[Figure]:
    """Refresh the corpus into `home` where it is not there, import human outlines (the method draws on them) and, where
    asked, citation edges; then compare the topics."""
    if not (home / "tables" / "papers").exists():
        with tempfile.TemporaryDirectory() as source:
            for name in FILES:
                (Path(source) / name).symlink_to(data / "arxiv_metadata" / name)
            refresh(home, open_source(f"snapshot:{source}"), CUTOFF)
        for path in sorted((data / "survey_outlines").glob("*.jsonl.gz")):
            import_outlines(Lake(home), path)
        if edges:
            import_citations(Lake(home), data / "citation_edges.jsonl.gz")
    label = "with edges" if edges else "without edges"
    return [figure for name in topics for figure in compare(home, data, TOPICS[name], label)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("LITHOUSE_SHARED_DATA"))
    parser.add_argument("--edges", choices=("with", "without", "both"), default="both")
    parser.add_argument("--topics", nargs="+", choices=tuple(TOPICS), default=["rag", "evaluation"])
    parser.add_argument("--home", type=Path, help="keep the lakes here, as `with` and `without`")
    given = parser.parse_args()
    if given.data is None:
        parser.error("give --data or LITHOUSE_SHARED_DATA")
    made: list[Figure] = []
    with tempfile.TemporaryDirectory(prefix="lithouse-references-") as scratch:
        for kind in ("without", "with"):
            if given.edges in (kind, "both"):
                home = (given.home or Path(scratch)) / kind
                made += figures(Path(given.data), kind == "with", given.topics, home)
    print_table(made, "References of surveys beside the benchmark's")


if __name__ == "__main__":
    main()
