"""SurveyForge's retrieval: memory-bound search for each leaf (MR), temporal-aware reranking (TRE), a home for each paper.

Source: SurveyForge (ACL 2025), section 3.2. TRE works on each sub-query, as in the paper; the public code reranks a
subsection's union. Not here: the outline, and what is written from what was retrieved (`surveyforge`).
"""

from collections.abc import Collection, Sequence
from dataclasses import replace

from generation.homes import settled_homes, starting_homes
from generation.library import Library
from generation.reranking import Candidate, rerank, window_of
from generation.surveyforge_options import SurveyForgeOptions
from generation.values import DigestEntry, Digests, Outline, OutlineNode

SMALL_POOL = 100
"""Papers in a pool of which all are discussed."""

_BEST_SHARE = 0.65
"""Of the papers the outline is made from, the best ones, which are discussed somewhere in any case."""


def retrieved(outline: Outline, library: Library, options: SurveyForgeOptions) -> Digests:
    """For each leaf of the body what its sub-queries find in the topic's memory, each paper at home at one leaf."""
    leaves = [n for n in outline.leaves() if n.role == "body"]
    # What a person's heading found may lie behind the best; the method's own memories lie among them.
    memory = (p for n in outline.nodes for p in n.memory)
    within = tuple(dict.fromkeys([*library.best(options.outline_papers), *memory]))
    entries = [e for leaf in leaves for e in _of_leaf(leaf, library, within, options)]
    memories = {n.number: frozenset(n.memory) for n in outline.nodes}
    names, matrix = library.vectors(within)
    share = 1.0 if len(library.pool) <= SMALL_POOL else _BEST_SHARE
    homes = settled_homes(starting_homes(entries, memories), names, matrix, memories, share)
    found = {(e.number, e.paper_id) for e in entries}
    joined = {p: n for p, n in homes.items() if (n, p) not in found}
    entries += [e for leaf in leaves for e in _joining(leaf, library, joined, entries, options)]
    return Digests(tuple(replace(e, is_home=homes.get(e.paper_id) == e.number) for e in entries))


def _joining(
    node: OutlineNode,
    library: Library,
    joined: dict[str, str],
    entries: Sequence[DigestEntry],
    options: SurveyForgeOptions,
) -> list[DigestEntry]:
    """Papers that settled under a node without being among those its queries kept, ranked behind them."""
    papers = [p for p, number in joined.items() if number == node.number]
    query = f"{node.title} {(node.queries or (node.description or node.title,))[0]}"
    last = sum(e.number == node.number for e in entries)
    return [
        DigestEntry(
            node.number, hit.paper_id, last + i, query, hit.similarity,
            window_of(library.paper(hit.paper_id).submitted_latest, anchor_year=options.anchor_year),
            library.paper(hit.paper_id).citation_count, False,
        )
        for i, hit in enumerate(library.search(query, len(papers), papers), start=1)
    ]  # fmt: skip


def _of_leaf(
    node: OutlineNode, library: Library, within: Collection[str], options: SurveyForgeOptions
) -> list[DigestEntry]:
    best: dict[str, DigestEntry] = {}
    for sub_query in node.queries or (node.description or node.title,):
        query = f"{node.title} {sub_query}"
        hits = library.search(query, options.retrieved_per_query, within)
        similarity = {h.paper_id: h.similarity for h in hits}
        candidates = [_candidate(library, h.paper_id) for h in hits]
        kept = rerank(candidates, options.kept_per_query, rounding=options.rounding, anchor_year=options.anchor_year)
        for item in kept:
            score = similarity[item.paper_id]
            if item.paper_id not in best or score > best[item.paper_id].similarity:
                paper = library.paper(item.paper_id)
                best[item.paper_id] = DigestEntry(
                    node.number, item.paper_id, 0, query, score, item.window, paper.citation_count, False
                )
    ordered = sorted(best.values(), key=lambda e: (-e.similarity, e.paper_id))
    return [replace(e, rank=rank) for rank, e in enumerate(ordered, start=1)]


def _candidate(library: Library, paper_id: str) -> Candidate:
    paper = library.paper(paper_id)
    # A month is no day, but it lies in one window: only works without any date would be undated.
    return Candidate(paper_id, paper.submitted_latest, paper.citation_count)
