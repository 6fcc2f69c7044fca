"""At which node each paper is at home, so that it is discussed once, among its like.

A paper may be evidence for many nodes. It starts where its heading was made from it, else where its section was, else
where a query found it nearest; then papers settle at the node whose papers they are nearest to. Not here: what is retrieved for a node (`surveyforge`).
"""

from collections.abc import Mapping, Sequence

import numpy as np

from generation.values import DigestEntry

_FITS = 0.5
"""Cosine from which a paper that no heading was made from starts at home under one."""

_HELD = 0.05
"""What it adds to the cosine of paper and node that the node's heading was made from the paper."""

_LEAST_PAPERS = 3
_FAR_SHARE = 0.2
"""Share of the papers that made a heading, the farthest ones, whose nearness is too little for a paper to join."""


def starting_homes(entries: Sequence[DigestEntry], memories: Mapping[str, frozenset[str]]) -> dict[str, str]:
    """Paper → node, for papers that a heading or its section was made from, or that a query found near.

    Args:
        entries: what was retrieved for each node.
        memories: node → papers its heading was made from; top-level nodes too.
    """

    def belongs(entry: DigestEntry) -> tuple[bool, bool, float]:
        return (
            entry.paper_id in memories.get(entry.number, ()),
            entry.paper_id in memories.get(entry.number.split(".")[0], ()),
            entry.similarity,
        )

    best: dict[str, DigestEntry] = {}
    for entry in entries:
        if entry.paper_id not in best or belongs(entry) > belongs(best[entry.paper_id]):
            best[entry.paper_id] = entry
    return {p: e.number for p, e in best.items() if any(belongs(e)[:2]) or e.similarity >= _FITS}


def settled_homes(
    homes: Mapping[str, str],
    names: Sequence[str],
    matrix: np.ndarray,
    memories: Mapping[str, frozenset[str]],
    best_share: float,
) -> dict[str, str]:
    """Paper → node after settling; papers without a vector stay where they were, and those near no node get none.

    The centre of a node are the papers that its heading was made from, so that a heading does not drift to what
    happens to lie beside it; a paper joins where it is not farther from the centre than most of these. The best
    papers of a topic are at home somewhere, near or not. A node with fewer than three papers is dissolved.

    Args:
        homes: where papers start.
        names, matrix: papers that may be at home, the topic's best first, and their unit vectors (n, d).
        memories: node → papers its heading was made from.
        best_share: of the names, those that always get a home.
    """
    nodes = sorted(set(homes.values()))
    if not nodes or not len(names):
        return dict(homes)
    at = {p: i for i, p in enumerate(names)}
    made_from = {node: [p for p in names if p in memories.get(node, ())] for node in nodes}  # in one order: sums differ
    started = {node: [p for p in names if homes.get(p) == node] for node in nodes}
    seeds = [made_from[n] if len(made_from[n]) >= _LEAST_PAPERS else started[n] for n in nodes]
    near = np.round(matrix @ _centres(seeds, at, matrix).T, 6)
    floors = [
        float(np.quantile(near[[at[p] for p in own], k], _FAR_SHARE)) if own else 2.0 for k, own in enumerate(seeds)
    ]
    held = np.array([[_HELD * (p in made_from[node]) for node in nodes] for p in names])
    best = np.argmax(near + held, axis=1)
    found = {
        p: nodes[best[i]]
        for p, i in at.items()
        if i < best_share * len(names) or near[i, best[i]] >= floors[best[i]] or p in seeds[best[i]]
    }
    return {p: n for p, n in homes.items() if p not in at} | _dissolved(found, nodes, at, near)


def _dissolved(homes: dict[str, str], nodes: Sequence[str], at: Mapping[str, int], near: np.ndarray) -> dict[str, str]:
    """Homes without nodes of fewer than three papers, unless none has more; their papers go to the next nearest."""
    sizes = {node: sum(n == node for n in homes.values()) for node in nodes}
    kept = [i for i, node in enumerate(nodes) if sizes[node] >= _LEAST_PAPERS]
    if not kept:
        return homes
    return {
        p: n if sizes[n] >= _LEAST_PAPERS else nodes[max(kept, key=lambda i: near[at[p], i])] for p, n in homes.items()
    }


def _centres(groups: Sequence[Sequence[str]], at: Mapping[str, int], matrix: np.ndarray) -> np.ndarray:
    """Unit vectors (groups, d), the mean of each group's papers; an empty group is near nothing."""
    centres = np.zeros((len(groups), matrix.shape[1]))
    for row, members in enumerate(groups):
        if members:
            centres[row] = matrix[[at[p] for p in members]].mean(axis=0)
    return centres / np.maximum(np.linalg.norm(centres, axis=1, keepdims=True), 1e-12)
