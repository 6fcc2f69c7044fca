"""Parameters of SurveyForge, with what the paper and its public code set them to."""

from dataclasses import dataclass

from generation.reranking import Rounding

OUTLINE_PAPERS = 450
"""Papers of a pool that an outline is made from, and of which a model writes cards (ADR 11)."""


@dataclass(frozen=True)
class SurveyForgeOptions:
    """Parameters of the method.

    Attributes:
        outline_papers: papers the outline is made from, and the memory M in which sub-queries search: the best of the
            pool by relevance and citations (the paper: the 1,500 retrieved; half of these and more are not about the
            topic itself, and cited they make its survey one of its neighbours, `benchmarks/survey_references.py`).
        section_count: body sections; 0 for nine where 300 papers or more are read, else by their number and the human
            patterns.
        subsection_count: subsections of a section at most.
        chunk_size: papers in one rough outline (the paper: about 30,000 tokens of abstracts).
        patterns_near, patterns_per_chunk: human outlines to draw from, and drawn for each chunk.
        patterns_merge_near, patterns_merge: nearest outlines, and how many of their most recent guide the merge.
        memory_size: papers shown when sub-queries are made (MS).
        retrieved_per_query: papers retrieved for one sub-query (MR).
        kept_per_query: K of the temporal-aware reranking.
        rounding: of its shares.
        anchor_year: first year of its windows.
        seed: of the samples.
    """

    outline_papers: int = OUTLINE_PAPERS
    section_count: int = 0
    subsection_count: int = 7
    chunk_size: int = 110
    patterns_near: int = 20
    patterns_per_chunk: int = 5
    patterns_merge_near: int = 10
    patterns_merge: int = 5
    memory_size: int = 120
    retrieved_per_query: int = 100
    kept_per_query: int = 60
    rounding: Rounding = "largest_remainder"
    anchor_year: int = 2012
    seed: int = 0
