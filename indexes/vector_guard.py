"""Making a table's approximate index, and the guard on what it finds.

Stored vectors, moved a little, are the queries; their true neighbours are found by comparing all rows in one pass.
"""

from collections.abc import Iterator
from datetime import date

import numpy as np
from lancedb.index import Bitmap, BTree, IvfRq

from indexes import vector_index
from indexes.lance_embedding import VECTOR, vectors_of
from indexes.lance_table import LanceTable
from indexes.predicates import Admission
from indexes.vector_index import ALL_PARTITIONS, APPROXIMATE, EXACT, LADDER, SearchOptions, VectorIndex
from indexes.vector_search import Searcher, index_name

DEPTH = 60
"""Recall is measured at this many results: what the writers are shown at once."""
SHARES = (1.0, 0.28, 0.05)
"""Of the rows admitted, for which recall is measured."""
_NOISE = 0.35  # length of what is added to a stored vector to make a query: cosine .94 to it
_BATCH = 8192


def bring_up(table: LanceTable, options: SearchOptions) -> VectorIndex | None:
    """Make, check or make again the index of a table whose rows have changed; call it under the writer's lock.

    Returns:
        The record as it is now; None where the table is small enough to be searched exactly.
    """
    rows = table.count()
    if rows < options.min_rows:
        vector_index.remove(table.folder, table.name)
        return None
    record = vector_index.read(table.folder, table.name)
    is_missing = record is None or index_name(table) is None
    if is_missing or rows >= options.growth * record.made_of or rows * options.growth <= record.made_of:
        return _make(table, options)
    if record.drift <= options.drift * rows:
        return record
    measured = _measured(table, options, record.made_of, record.version)
    return _make(table, options) if measured.kind == EXACT else _written(table, measured)


def note_drift(table: LanceTable) -> None:
    """Count the rows that are not in the index yet, before they are taken into it; `bring_up` looks at the sum."""
    record = vector_index.read(table.folder, table.name)
    if record is None or (name := index_name(table)) is None:
        return
    with table.reading():
        unindexed = table.table.index_stats(name).num_unindexed_rows
    if unindexed:
        vector_index.write(table.folder, table.name, record.after(unindexed))


def _make(table: LanceTable, options: SearchOptions) -> VectorIndex:
    """A fresh index and its measured record. Until the record is there search is exact."""
    vector_index.remove(table.folder, table.name)
    with table.writing():
        table.table.create_index("submitted_latest", config=BTree())
        table.table.create_index("is_withdrawn", config=Bitmap())
        table.table.create_index(
            VECTOR,
            config=IvfRq(distance_type="cosine", num_bits=options.bits, target_partition_size=options.partition_rows),
        )
    return _written(table, _measured(table, options, table.count(), table.version or 0))


def _written(table: LanceTable, record: VectorIndex) -> VectorIndex:
    vector_index.write(table.folder, table.name, record)
    return record


def _measured(table: LanceTable, options: SearchOptions, made_of: int, version: int) -> VectorIndex:
    """The least number of partitions with which recall reaches the floors, and the recall."""
    searcher = Searcher(table, options)
    queries = _queries(table, options.sample)
    cutoffs = {share: None if share == 1 else table.days.cutoff(share) for share in SHARES}
    truth = nearest_exactly(table, queries, [date.max if c is None else c for c in cutoffs.values()])
    expected = dict(zip(cutoffs, truth, strict=True))

    def recall(share: float, probes: int) -> float:
        admission = Admission(cutoffs[share] or date.max)
        found = [searcher.approximate(query, DEPTH, admission, probes=probes) for query in queries]
        hits = [
            len(names & {hit.paper_id for hit in ranked}) / len(names)
            for names, ranked in zip(expected[share], found, strict=True)
            if names
        ]
        return round(float(np.mean(hits)), 4) if hits else 1.0

    measured: dict[float, float] = {}
    probes = 0
    for probes in (*LADDER, ALL_PARTITIONS):
        for share in SHARES:
            is_narrow = share < options.narrow_share
            if not is_narrow or share not in measured:  # narrow ones search all partitions, whatever `probes` is
                measured[share] = recall(share, ALL_PARTITIONS if is_narrow else probes)
        if all(measured[share] >= options.floor for share in SHARES if share >= options.narrow_share):
            break
    floors = [options.floor if share >= options.narrow_share else options.narrow_floor for share in SHARES]
    is_good = all(measured[share] >= floor for share, floor in zip(SHARES, floors, strict=True))
    shown = {f"{share:.0%}": measured[share] for share in SHARES}
    return VectorIndex(APPROXIMATE if is_good else EXACT, made_of, 0, probes, shown, version)


def _queries(table: LanceTable, count: int) -> np.ndarray:
    """Stored vectors spread over the table, moved a little; the same ones for the same table."""
    rows = table.count()
    places = np.unique(np.linspace(0, rows - 1, min(count, rows)).astype(np.int64)).tolist()
    with table.reading():
        stored = vectors_of(table.table.take_offsets(places).select([VECTOR]).to_arrow())
    noise = np.random.default_rng(len(stored)).standard_normal(stored.shape).astype(np.float32)
    return stored + _NOISE * noise / np.linalg.norm(noise, axis=1, keepdims=True)


def nearest_exactly(table: LanceTable, queries: np.ndarray, cutoffs: list[date]) -> list[list[set[str]]]:
    """The keys of each query's `DEPTH` nearest rows that are not withdrawn, for each cutoff, in one pass over the rows.

    One product of all queries with each batch of rows takes 1 s for 254,515 rows; LanceDB's exact search .4 s a query.
    """
    unit = queries / np.linalg.norm(queries, axis=1, keepdims=True)
    lasts = [np.datetime64(cutoff, "D") for cutoff in cutoffs]
    best = [(np.empty((len(unit), 0), np.float32), np.empty((len(unit), 0), object)) for _ in lasts]
    for names, days, withdrawn, matrix in _batches(table):
        scores = unit @ matrix.T
        for number, last in enumerate(lasts):
            # `date.max` means no cutoff, and then nobody is asked whether a paper was withdrawn.
            held = ~withdrawn & (days <= last)
            merged = np.hstack([best[number][0], scores[:, held]])
            keys = np.hstack([best[number][1], np.broadcast_to(names[held], (len(unit), int(held.sum())))])
            if merged.shape[1] > DEPTH:
                kept = np.argpartition(-merged, DEPTH - 1, axis=1)[:, :DEPTH]
                merged, keys = np.take_along_axis(merged, kept, 1), np.take_along_axis(keys, kept, 1)
            best[number] = merged, keys
    return [[set(row) for row in keys] for _, keys in best]


def _batches(table: LanceTable) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
    """Keys, days, withdrawals and unit vectors of all rows, in slices."""
    columns = [table.key, "submitted_latest", "is_withdrawn", VECTOR]
    with table.reading():
        for batch in table.table.search().select(columns).to_batches(_BATCH):
            matrix = vectors_of(batch)
            yield (
                np.array(batch[table.key].to_pylist(), dtype=object),
                batch["submitted_latest"].to_numpy(zero_copy_only=False),
                batch["is_withdrawn"].to_numpy(zero_copy_only=False),
                matrix / np.linalg.norm(matrix, axis=1, keepdims=True),
            )
