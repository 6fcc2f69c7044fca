"""What the pool builder finds of a topic's benchmark references, beside one dense query, full text and their fusion.

    python -m benchmarks.pool_retrieval [--data DIR] [--surveys] [--ablations]

The corpus are the 30,000 papers of `pool30k`, harvested into a fresh lake from the source's own fields. Pools are built
first, while no paper has a vector but those that the builder asks for; vectors are the ones that `pool30k` gives, so
nothing waits for the model. Then every paper gets its vector, and the other ways search among all of them.

Truth: the references of four SurveyBench topics, queried by the topic's name. The builder's options were chosen on
other topics: those of `SURVEYS`, whose truth is what the survey cites (`--surveys`). `--ablations` prints both with
options changed one at a time.
"""

import argparse
import gzip
import json
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from statistics import mean

import numpy as np
import polars as pl

from benchmarks.figures import Figure, peak_mb, print_table, stopwatch
from corpus.derivation import derive_papers
from corpus.harvest import commit_records, read_source
from corpus.snapshots import take_snapshot
from corpus.tables import Lake
from corpus.visibility import View
from generation.pools import PoolOptions, build_pool
from generation.topics import DEFAULT_POOL_SIZE, define_topic
from indexes.embedding import Embedder, paper_text
from indexes.paper_index import PaperIndex
from ingestion.mirror import open_mirror

RECALL_RATIO, PRECISION_RATIO = 1.15, 1.0
FILES = ("papers_until_2022", "papers_2023_2024", "papers_2025", "papers_2026")
CUTOFF = date(2026, 12, 31)
SHOWN = 60
"""Papers that a writer is shown of one subsection (SurveyForge's K)."""

TOPICS = (
    "Retrieval-Augmented Generation for Large Language Models",
    "Evaluation of Large Language Models",
    "Generative Diffusion Models",
    "Graph Neural Networks",
)
SURVEYS = {
    "2201.05337": "Controllable Text Generation Using Transformer-based Pre-trained Language Models",
    "2204.10365": "Bias in Pre-trained Neural Language Models",
    "2209.00099": "Efficient Methods for Natural Language Processing",
    "2212.04634": "Open-world Story Generation with Structured Knowledge Enhancement",
    "2301.00234": "In-context Learning",
    "2301.07499": "Modern Object Segmentation Approaches",
    "2303.18223": "Large Language Models",
    "2304.09854": "Transformer-Based Visual Segmentation",
    "2306.05817": "How Can Recommender Systems Benefit from Large Language Models",
    "2307.12966": "Aligning Large Language Models with Human",
    "2308.06767": "Deep Neural Network Pruning",
    "2308.07107": "Large Language Models for Information Retrieval",
    "2309.00770": "Bias and Fairness in Large Language Models",
    "2309.01029": "Explainability for Large Language Models",
    "2309.07864": "Large Language Model Based Agents",
    "2310.19852": "AI Alignment",
    "2402.17525": "Diffusion Model-Based Image Editing",
    "2404.00929": "Multilingual Large Language Models: Corpora, Alignment, and Bias",
    "2404.13501": "Memory Mechanism of Large Language Model-based Agents",
    "2404.14294": "Efficient Inference for Large Language Models",
    "2404.16789": "Continual Learning of Large Language Models",
    "2405.10825": "Large Language Models for Telecommunications",
    "2406.00515": "Large Language Models for Code Generation",
    "2406.06852": "Backdoor Attacks and Defenses in Large Language Models",
    "2407.03993": "Natural Language Counterfactual Generation",
    "2407.06204": "Mixture of Experts in Large Language Models",
    "2407.15186": "Large Language Models for Text-to-SQL Tasks",
    "2408.02085": "Data Assessment and Selection for Instruction Tuning of Language Models",
    "2408.08921": "Graph Retrieval-Augmented Generation",
    "2412.05579": "LLMs-as-Judges: LLM-based Evaluation Methods",
    "2504.15585": "LLM(-Agent) Full Stack Safety",
    "2508.21148": "Scientific Large Language Models",
}
"""Surveys on other topics whose references lie in pool30k (at least 37 each): arXiv id → topic, the title without the
words that say it is a survey."""

ABLATIONS = {
    "no second query": {"key_terms": 0},
    "50 key terms": {"key_terms": 50},
    "200 key terms": {"key_terms": 200},
    "words counted in 1,000 papers": {"background": 1000},
    "20 first papers": {"first_papers": 20},
    "80 first papers": {"first_papers": 80},
    "first papers of 300 hits": {"first_share": 0.1},
    "first papers of 2,000 hits": {"first_share": 2 / 3},
    "2,000 candidates": {"candidates_per_place": 4 / 3},
    "4,000 candidates": {"candidates_per_place": 8 / 3},
    "no paper refused as off the topic": {"min_likeness": -1.0},
}


@dataclass(frozen=True)
class Question:
    """A topic and the papers that should be found."""

    title: str
    references: frozenset[str]


@dataclass(frozen=True)
class Score:
    """Share of the references among the first 1,500 papers; share of the first 60 papers that are references."""

    recall: float
    precision: float


class GivenVectors:
    """The packaged embedder for whom the papers' vectors were made before.

    Attributes:
        given: text of a paper → its vector.
    """

    def __init__(self, given: dict[str, np.ndarray]) -> None:
        self._embedder = Embedder()
        self.identity = self._embedder.identity
        self.given = given

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        if not all(text in self.given for text in texts):
            return self._embedder.embed(texts)
        return np.stack([self.given[text] for text in texts])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    default = os.environ.get("LITHOUSE_SHARED_DATA") or Path(__file__).parents[2] / "shared" / "data"
    parser.add_argument("--data", type=Path, default=default)
    parser.add_argument("--surveys", action="store_true", help="also the topics on which the options were chosen")
    parser.add_argument("--ablations", action="store_true", help="also with options changed one at a time")
    given = parser.parse_args()
    print_table(figures(given.data, surveys=given.surveys, ablations=given.ablations), "pool retrieval")


def figures(data: Path, *, surveys: bool = False, ablations: bool = False) -> list[Figure]:
    """Build lake and index, ask every question every way, print the topics, and return the means."""
    sets = {"benchmark": benchmark_questions(data)}
    if surveys:
        sets["surveys"] = survey_questions(data)
    with tempfile.TemporaryDirectory(prefix="lithouse-benchmark-") as folder:
        lake = load_lake(data, Path(folder))
        index = load_index(lake, data, Path(folder) / "index")
        return _measured(View(lake, CUTOFF), index, sets, ABLATIONS if ablations else {})


def benchmark_questions(data: Path) -> list[Question]:
    pool = _pool_ids(data)
    folders = {title: data / "surveybench" / title.replace(" ", "_") for title in TOPICS}
    return [
        Question(title, pool.intersection(json.loads((folder / "benchmark_references.json").read_text())))
        for title, folder in folders.items()
    ]


def survey_questions(data: Path) -> list[Question]:
    pool = _pool_ids(data)
    with gzip.open(data / "citation_edges.jsonl.gz") as lines:
        edges = pl.read_ndjson(lines.read()).select("citing_arxiv_id", "cited_arxiv_id")
    cited = dict(edges.group_by("citing_arxiv_id").agg("cited_arxiv_id").iter_rows())
    return [Question(title, pool.intersection(cited[survey]) - {survey}) for survey, title in SURVEYS.items()]


def load_lake(data: Path, home: Path) -> Lake:
    """The papers of pool30k as a mirror, harvested; of the annotations only the kind of the date is read."""
    mirror = home / "mirror"
    mirror.mkdir()
    ids = pl.scan_parquet(data / "pool30k" / "ids.parquet").select(pl.col("paper_id").alias("id"))
    for number, name in enumerate(FILES, start=1):
        source = pl.scan_parquet(data / "arxiv_metadata" / f"{name}.parquet")
        own = [c for c in source.collect_schema().names() if not c.startswith("_") or c == "_date_kind"]
        source.select(own).join(ids, on="id", how="semi").sink_parquet(mirror / f"metadata_{number}.parquet")
    lake = Lake(home)
    commit_records(lake, read_source(open_mirror(mirror), cutoff=None))
    derive_papers(lake)
    return lake


def load_index(lake: Lake, data: Path, folder: Path) -> PaperIndex:
    """The index of the papers, without vectors; its embedder has them."""
    papers = lake.scan("papers").collect()
    with np.load(data / "pool30k" / "vectors_int8.npz") as stored:
        vectors = (stored["vectors"] * stored["scale"]).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    rows = dict(zip(pl.read_parquet(data / "pool30k" / "ids.parquet")["paper_id"], vectors, strict=True))
    texts = papers.select("paper_id", "title", "abstract").iter_rows()
    embedder = GivenVectors({paper_text(title, abstract): rows[paper_id] for paper_id, title, abstract in texts})
    index = PaperIndex.open(folder, embedder=embedder, create=True)
    index.update(papers, snapshot=take_snapshot(lake).content_hash)
    return index


def _measured(
    view: View, index: PaperIndex, sets: dict[str, list[Question]], ablations: dict[str, dict]
) -> list[Figure]:
    asked = [question for questions in sets.values() for question in questions]
    pools, embedded = {}, []
    for question in asked:
        pool = build_pool(view, index, define_topic(question.title))
        pools[question] = pool.rows
        embedded.append(pool.embedded)
    index.embed_all()
    with stopwatch() as seconds:
        again = {question: build_pool(view, index, define_topic(question.title)).rows for question in asked}
    found = []
    for name, questions in sets.items():
        ways = {
            "one dense query": [_dense(view, index, q) for q in questions],
            "full text": [
                _score(_ids(index.full_text(q.title, DEFAULT_POOL_SIZE, cutoff=CUTOFF)), q) for q in questions
            ],
            "fusion": [_score(_ids(index.search(q.title, DEFAULT_POOL_SIZE, cutoff=CUTOFF)), q) for q in questions],
            "pool builder": [_score(pools[q]["paper_id"].to_list(), q) for q in questions],
        }
        _print_topics(name, questions, ways)
        found += _means(name, ways)
        for change, options in ablations.items():
            ways = {"one dense query": ways["one dense query"]} | {
                f"pool builder, {change}": [
                    _pooled(view, index, q, replace(PoolOptions(), **options)) for q in questions
                ]
            }
            found += [replace(figure, at_least=None) for figure in _means(name, ways)]
    differing = sum(not pools[q].equals(again[q]) for q in asked)
    return [
        *found,
        Figure("pools that differ where every paper has a vector", differing, "", at_most=0),
        Figure("papers embedded for a first pool, most", max(embedded), "papers", "candidates asked", 3000.0, at_most=1.34),
        Figure("a pool where its papers have vectors, mean", seconds() / len(asked)),
        Figure("peak memory, vectors given included", peak_mb(), "MB"),
    ]  # fmt: skip


def _means(name: str, ways: dict[str, list[Score]]) -> list[Figure]:
    dense = ways["one dense query"]
    figures = []
    for way, scores in ways.items():
        if scores is dense:
            continue
        asks = name == "benchmark" and way == "pool builder"
        for measure, limit in (("recall", RECALL_RATIO), ("precision", PRECISION_RATIO)):
            value, peer = (mean(getattr(score, measure) for score in s) for s in (scores, dense))
            depth = DEFAULT_POOL_SIZE if measure == "recall" else SHOWN
            what = f"{name} ({len(scores)} topics) {measure}@{depth}: {way}"
            figures.append(Figure(what, value, "", "one dense query", peer, at_least=limit if asks else None))
    return figures


def _dense(view: View, index: PaperIndex, question: Question) -> Score:
    return _score(_ids(index.dense(question.title, DEFAULT_POOL_SIZE, cutoff=CUTOFF, exact=True)), question)


def _pooled(view: View, index: PaperIndex, question: Question, options: PoolOptions) -> Score:
    return _score(
        build_pool(view, index, define_topic(question.title), options=options).rows["paper_id"].to_list(), question
    )


def _ids(hits) -> list[str]:
    return [hit.paper_id for hit in hits]


def _score(ids: Sequence[str], question: Question) -> Score:
    references = question.references
    found = len(references & set(ids[:DEFAULT_POOL_SIZE]))
    return Score(found / len(references), len(references & set(ids[:SHOWN])) / SHOWN)


def _print_topics(name: str, questions: list[Question], ways: dict[str, list[Score]]) -> None:
    print(f"\n{name}: recall@{DEFAULT_POOL_SIZE} / precision@{SHOWN}")
    print("  ".join([f"{'topic':<60}{'references':>11}", *(f"{way:>16}" for way in ways)]))
    for number, question in enumerate(questions):
        cells = (f"{s[number].recall:>9.3f} / {s[number].precision:.2f}" for s in ways.values())
        print("  ".join([f"{question.title[:60]:<60}{len(question.references):>11}", *(f"{c:>16}" for c in cells)]))


def _pool_ids(data: Path) -> frozenset[str]:
    return frozenset(pl.read_parquet(data / "pool30k" / "ids.parquet")["paper_id"])


if __name__ == "__main__":
    main()
