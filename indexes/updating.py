"""How an index is made equal to the papers of a snapshot, writing only what differs.

What is searched in it belongs to `paper_index`; the record of what it was built from to `built_from`.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from indexes import built_from as record
from indexes.built_from import BuiltFrom
from indexes.lance_table import KEY, STATE, LanceTable, require_tag_name
from indexes.locking import alone
from indexes.text_table import SCHEMA, TextTable
from indexes.vector_table import VectorTable
from ingestion.errors import BadInput, TransientFailure

LOCK = "papers"
"""Under which both tables are written; see `locking`."""
_BATCH_ROWS = 20_000  # about 30 MB of titles and abstracts
_TYPES = dict(pl.DataFrame(SCHEMA.empty_table()).schema)


@dataclass(frozen=True, slots=True)
class IndexUpdate:
    """What an update did, in papers; `stale_vectors` is how many vectors lost their paper or its content."""

    snapshot: str
    added: int
    changed: int
    removed: int
    unchanged: int
    stale_vectors: int

    @property
    def is_changed(self) -> bool:
        return bool(self.added or self.changed or self.removed or self.stale_vectors)


def update(
    folder: Path,
    text: TextTable,
    vectors: VectorTable,
    papers: Iterable[pl.DataFrame] | pl.DataFrame,
    *,
    snapshot: str,
) -> IndexUpdate:
    """`PaperIndex.update`; see there. Holds the keys of all papers in memory, and one batch of texts."""
    require_tag_name(snapshot)
    with alone(folder, LOCK):
        return _update(folder, text, vectors, papers, snapshot)


def _update(
    folder: Path, text: TextTable, vectors: VectorTable, papers: Iterable[pl.DataFrame] | pl.DataFrame, snapshot: str
) -> IndexUpdate:
    text.make()
    text.see_latest()
    vectors.see_latest()
    before = text.keys()
    doubled = before.filter(pl.col(KEY).is_duplicated())[KEY].unique().to_list()
    previous = record.read(folder)
    is_dirty = previous is None or not previous.is_complete or bool(doubled)
    if doubled:  # left by two updates at once; LanceDB refuses to merge into them
        record.mark_unfinished(folder, snapshot)
        text.delete(doubled)
        before = before.filter(~pl.col(KEY).is_in(doubled))
    held, seen = set(before[KEY]), set[str]()
    added = changed = 0
    for frame in _frames(papers):
        _refuse_repeats(frame, seen)
        differing = frame.join(before, on=[KEY, *STATE], how="anti")
        fresh, updated = differing.join(before, on=KEY, how="anti"), differing.join(before, on=KEY, how="semi")
        for rows, are_new in ((fresh, True), (updated, False)):
            if rows.height:
                record.mark_unfinished(folder, snapshot)
                text.write(rows, are_new=are_new)
        added, changed = added + fresh.height, changed + updated.height
    removed = sorted(held - seen)
    if removed:
        record.mark_unfinished(folder, snapshot)
        text.delete(removed)
    text.finish(is_changed=is_dirty or bool(added or changed or removed))
    stale = vectors.follow(text.keys())
    if (count := text.count()) != len(seen):
        raise TransientFailure(
            f"the index holds {count} papers instead of {len(seen)}",
            which="something else wrote to it",
            advice="Run `lithouse refresh` again, alone.",
        )
    record.write(folder, BuiltFrom(snapshot, len(seen), versions(text, vectors), vectors.identity))
    for table in (text, vectors):
        table.tag(snapshot)
    return IndexUpdate(snapshot, added, changed, len(removed), len(seen) - added - changed, stale)


def versions(*tables: LanceTable) -> dict[str, int]:
    """Lance table → version, of those that there are."""
    return {table.name: table.version for table in tables if table.version is not None}


def _frames(papers: Iterable[pl.DataFrame] | pl.DataFrame) -> Iterator[pl.DataFrame]:
    for frame in [papers] if isinstance(papers, pl.DataFrame) else papers:
        yield from (_checked(part) for part in frame.iter_slices(_BATCH_ROWS))


def _checked(frame: pl.DataFrame) -> pl.DataFrame:
    found = frame.schema
    if wrong := [
        f"{name}: {found.get(name, 'missing')}, not {t}" for name, t in _TYPES.items() if found.get(name) != t
    ]:
        raise BadInput("papers to index have other columns", which="; ".join(wrong))
    frame = frame.select(list(_TYPES))
    required = [name for name in _TYPES if name != "abstract"]
    nulls = frame.filter(pl.any_horizontal(pl.col(required).is_null())).head(3)
    if nulls.height:
        raise BadInput("papers to index lack a value", which=str(nulls.select(required).rows()))
    return frame


def _refuse_repeats(frame: pl.DataFrame, seen: set[str]) -> None:
    names = frame[KEY]
    if repeated := sorted({*seen.intersection(names), *names.filter(names.is_duplicated())}):
        raise BadInput("a paper comes twice", which=", ".join(repeated[:5]), advice="Reduce to one row per paper.")
    seen.update(names)
