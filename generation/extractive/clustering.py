"""Groups of vectors without names: deterministic, for paragraphs. Groups under headings are made by `grouping`."""

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
