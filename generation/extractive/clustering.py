"""Groups of papers by their vectors: deterministic, no group of strays."""

import numpy as np


def ward(matrix: np.ndarray, count: int) -> np.ndarray:
    """Labels 0…count-1 of the rows by Ward's agglomeration (deterministic, unlike k-means)."""
    from sklearn.cluster import AgglomerativeClustering

    count = max(1, min(count, len(matrix)))
    if count == 1 or len(matrix) < 2:
        return np.zeros(len(matrix), dtype=int)
    return AgglomerativeClustering(n_clusters=count, linkage="ward").fit_predict(matrix)


def centroids(matrix: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Unit centroids (groups, d), label order."""
    sums = np.stack([matrix[labels == g].sum(axis=0) for g in range(labels.max() + 1)])
    return sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-12)


def settle(matrix: np.ndarray, start: np.ndarray, *, smallest: int, rounds: int = 4) -> np.ndarray:
    """Labels after spherical k-means from given centroids; groups smaller than `smallest` join their nearest.

    Labels are renumbered without gaps.
    """
    centres = start
    labels = np.argmax(matrix @ centres.T, axis=1)
    for _ in range(rounds):
        labels = _compact(labels)
        centres = centroids(matrix, labels)
        labels = np.argmax(matrix @ centres.T, axis=1)
    labels = _compact(labels)
    while labels.max() > 0:
        sizes = np.bincount(labels)
        small = int(np.argmin(sizes))
        if sizes[small] >= smallest:
            break
        centres = centroids(matrix, labels)
        nearness = matrix[labels == small] @ centres.T
        nearness[:, small] = -np.inf
        labels[labels == small] = np.argmax(nearness, axis=1)
        labels = _compact(labels)
    return labels


def _compact(labels: np.ndarray) -> np.ndarray:
    return np.unique(labels, return_inverse=True)[1]
