"""Hand-written papers, an embedder that hashes words, and a library without a lake."""

import hashlib
import re
from collections.abc import Sequence
from datetime import date
from types import SimpleNamespace

import numpy as np
import pytest
import sklearn.cluster  # noqa: F401 - loaded here, so that no test waits for it

from generation.library import Retrieved
from generation.topics import define_topic
from generation.values import Paper

_DIMENSIONS = 256


def embed(texts: Sequence[str]) -> np.ndarray:
    """Unit vectors of hashed words, the same on every machine."""
    matrix = np.zeros((len(texts), _DIMENSIONS))
    for row, text in enumerate(texts):
        for word in re.findall(r"[a-z]+", text.lower()):
            matrix[row, int(hashlib.sha256(word[:6].encode()).hexdigest(), 16) % _DIMENSIONS] += 1.0
    return matrix / np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), 1e-12)


def make_paper(
    paper_id: str = "2101.00001",
    title: str = "A Study of Things",
    abstract: str | None = "",
    authors: tuple[str, ...] | None = ("Ada Reed", "Bo Stone", "Cy Lake"),
    **more,
) -> Paper:
    values = {
        "abstract_origin": "source", "collaborations": None, "submitted_on": date(2021, 1, 1),
        "submitted_latest": date(2021, 1, 1), "submitted_precision": "day", "content_hash": paper_id,
        "similarity": 0.6,
    } | more  # fmt: skip
    return Paper(paper_id, title, abstract, authors=authors, **values)


_THEMES = {
    "Query Rewriting": (
        "search queries", "user questions are short and ambiguous", "rewrites a question before search",
        ("Query Rewriting for Short Questions", "Learned Query Rewriting", "Conversational Query Rewriting",
         "Query Rewriting with Feedback", "Stepwise Query Rewriting"),
    ),
    "Knowledge Graphs": (
        "graph structure", "triples are incomplete and noisy", "walks over entities and relations",
        ("Reasoning over Knowledge Graphs", "Noisy Knowledge Graphs", "Sparse Knowledge Graphs for Answers",
         "Temporal Knowledge Graphs", "Paths in Knowledge Graphs"),
    ),
    "Code Completion": (
        "program repositories", "functions depend on distant files", "collects definitions from a repository",
        ("Repository Code Completion", "Code Completion across Files", "Typed Code Completion",
         "Code Completion for Libraries", "Lazy Code Completion"),
    ),
    "Image Captioning": (
        "pictures and captions", "captions describe rare objects badly", "borrows captions of similar pictures",
        ("Image Captioning with Neighbours", "Rare Objects in Image Captioning", "Small Models for Image Captioning",
         "Multilingual Image Captioning", "Audio beside Image Captioning"),
    ),
}  # fmt: skip


_ODD = """
amber basalt cedar dune ember fjord garnet harbor indigo juniper kelp lagoon marble nectar onyx prairie quartz raven
saffron tundra umber velvet walnut xenon yarrow zephyr birch coral delta echo falcon glacier heron iris jasper kite lark
maple nickel olive pearl quill ridge sage thistle ursa violet willow yucca zinc acorn bison cobalt daisy elm fern grove
hazel ivory jade
""".split()  # noqa: SIM905
"""Words that make the sentences of twenty papers differ from each other."""


_METHODS = (
    "We propose {name}, a scheme that {doing} with little memory.",
    "To address this gap, we propose {name}, trained on clicks so that it {doing}.",
    "In this paper, we propose {name}, whose lightweight planner {doing} before anybody asks.",
    "This paper proposes {name}, an agent rewarded for brevity that {doing}.",
    "We also propose {name}, built around contrastive pairs, where one tower {doing}.",
)
_FINDINGS = (
    "Experiments on {one} data show that {name} outperforms strong baselines by {gain}%.",
    "Across four languages, {name} improves accuracy by {gain}% over supervised rivals.",
    "Human judges prefer {name}, which reduces latency by {gain}% on phones.",
    "Our method achieves {gain}% higher recall than lexical matching in {one} trials.",
    "Ablations demonstrate that half of the gains, {gain}%, come from {two} negatives.",
)
_OPEN = (
    "How {one} users would react remains an open question.",
    "Evaluation beyond {two} English remains unexplored in every theme.",
    "Why {three} noise matters is still poorly understood.",
    "Scaling towards {one} streams remains a major challenge for industry.",
    "Privacy of {two} logs deserves further research.",
)


def themed_papers() -> list[Paper]:
    """Twenty papers on four themes, five each, with abstracts of background, method, finding and open problem."""
    papers = []
    for theme, (subject, problem, doing, titles) in _THEMES.items():
        for i, title in enumerate(titles):
            name = f"{title.split()[0][:4]}{theme[:2].upper()}{i}"
            one, two, three = _ODD[3 * len(papers) : 3 * len(papers) + 3]
            words = {"name": name, "doing": doing, "one": one, "two": two, "three": three, "gain": i + 3.5}
            rest = " ".join(kind[i].format(**words) for kind in (_METHODS, _FINDINGS, _OPEN))
            abstract = f"{theme} concerns {subject} of {one} {two} {three} records, where {problem}. {rest}"
            papers.append(
                make_paper(
                    f"20{10 + i}.0{len(papers):04d}", title, abstract,
                    authors=(f"Ann {theme.split()[0]}{'abcde'[i]}", "Bo Stone", "Cy Lake"),
                    submitted_latest=date(2010 + i, 3, 1 + len(papers)), citation_count=i,
                    similarity=0.5 + 0.01 * i,
                )
            )  # fmt: skip
    return papers


class SmallLibrary:
    """What `SurveyForge` reads of a library, over papers in memory."""

    is_for_a_model = False

    def __init__(self, papers: Sequence[Paper], title: str = "Retrieval") -> None:
        self.topic = define_topic(title)
        self.view = SimpleNamespace(cutoff=date(2024, 1, 1), has_withdrawn=False, hidden_ids=list)
        self.admitted_count = self.held_count = len(papers)
        self.consulted = {p.paper_id for p in papers}
        self.heading_counts: dict[str, int] = {}
        self._papers = {p.paper_id: p for p in papers}
        self._vectors = dict(zip(self._papers, embed([f"{p.title}\n{p.abstract}" for p in papers]), strict=True))

    @property
    def pool(self) -> tuple[str, ...]:
        return tuple(self._papers)

    def best(self, count: int) -> tuple[str, ...]:
        return self.pool[:count]

    def standing(self, paper_id: str) -> float:
        return 1.0 - self.pool.index(paper_id) / len(self.pool)

    def papers(self, paper_ids: Sequence[str]) -> list[Paper]:
        return [self._papers[p] for p in paper_ids]

    def paper(self, paper_id: str) -> Paper:
        return self._papers[paper_id]

    def vectors(self, paper_ids: Sequence[str]) -> tuple[list[str], np.ndarray]:
        names = [p for p in paper_ids if p in self._vectors]
        return names, np.stack([self._vectors[n] for n in names]) if names else np.zeros((0, _DIMENSIONS))

    def search(self, query: str, k: int, within=None) -> list[Retrieved]:
        names, matrix = self.vectors(self.pool if within is None else list(within))
        scores = np.round(matrix @ embed([query])[0], 6)
        return [Retrieved(n, float(-s)) for s, n in sorted(zip(-scores, names, strict=True))[:k]]

    def human_outlines(self, count: int) -> list:
        return []

    def card(self, paper_id: str) -> None:
        return None

    def search_passages(self, queries: Sequence[str], within) -> dict:
        return {}

    def consult(self, operation: str, paper_ids, reason: str) -> None:
        pass


@pytest.fixture
def embedder():
    return embed


@pytest.fixture
def paper_of():
    return make_paper


@pytest.fixture
def papers() -> list[Paper]:
    return themed_papers()


@pytest.fixture
def library(papers) -> SmallLibrary:
    return SmallLibrary(papers)
