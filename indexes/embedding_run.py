"""Making the vectors that papers lack, commit by commit, beside other processes that do the same.

How a text becomes a vector is in `embedding`; which papers need one is asked by `paper_index`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from indexes import built_from as record
from indexes.embedding import TextEmbedder, embed_each, paper_text
from indexes.lance_table import KEY
from indexes.locking import alone
from indexes.text_table import TextTable
from indexes.updating import LOCK, versions
from indexes.vector_table import VectorTable

_COMMIT_ROWS = 256  # 7 s of embedding: what a killed run loses
_COMPACT_EVERY = 64  # commits; each is a small file that every search opens
_UNKNOWN = "not in the index"


@dataclass(frozen=True, slots=True)
class EmbedReport:
    """Papers embedded now, papers that had their vector, and (paper id, reason) of the others."""

    embedded: int
    reused: int
    skipped: list[tuple[str, str]]


def embed_missing(
    folder: Path,
    text: TextTable,
    vectors: VectorTable,
    embedder: TextEmbedder,
    paper_ids: Sequence[str],
    *,
    progress: Callable[[int, int], None] | None = None,
) -> EmbedReport:
    """`PaperIndex.embed`; see there.

    The lock is held from looking what lacks a vector to storing it, for one commit at a time: no text is embedded by
    two processes, and a refresh or a survey waits seconds, not for the whole run.
    """
    names = list(dict.fromkeys(paper_ids))
    with alone(folder, LOCK):
        text.see_latest()
        vectors.see_latest()
        vectors.require(embedder.identity)
        known = pl.DataFrame({KEY: names}, schema={KEY: pl.String}).join(
            text.keys(), on=KEY, how="left", maintain_order="left"
        )
        held = vectors.keys()
    skipped = [(name, _UNKNOWN) for name in known.filter(pl.col("content_hash").is_null())[KEY]]
    known = known.drop_nulls("content_hash")
    todo = known.join(held, on=[KEY, "content_hash"], how="anti", maintain_order="left")[KEY].to_list()
    reused, embedded, done = known.height - len(todo), 0, 0
    for number, start in enumerate(range(0, len(todo), _COMMIT_ROWS), start=1):
        part = todo[start : start + _COMMIT_ROWS]
        with alone(folder, LOCK):
            text.see_latest()
            vectors.see_latest()
            papers = text.papers(part)
            lacking = papers.join(vectors.states(part), on=[KEY, "content_hash"], how="anti", maintain_order="left")
            result = embed_each(embedder, [paper_text(*row) for row in lacking.select("title", "abstract").rows()])
            if result.positions:
                vectors.write(lacking[result.positions], result.vectors, embedder.identity)
            if number % _COMPACT_EVERY == 0:
                vectors.take_in()
        skipped += [(lacking[KEY][position], reason) for position, reason in result.skipped]
        gone = set(part).difference(papers[KEY])  # by a refresh meanwhile
        skipped += [(name, _UNKNOWN) for name in part if name in gone]
        embedded += len(result.positions)
        reused += papers.height - lacking.height  # embedded by another process meanwhile
        done += len(part)
        if progress:
            progress(done, len(todo))
    with alone(folder, LOCK):
        text.see_latest()
        vectors.see_latest()
        if embedded:
            vectors.take_in()
        vectors.bring_up_vectors()
        note_state(folder, text, vectors)
    return EmbedReport(embedded, reused, skipped)


def note_state(folder: Path, text: TextTable, vectors: VectorTable) -> None:
    """Let the record and the snapshot's tag name the tables' versions as they are; under the writer's lock."""
    built = record.read(folder)
    if built is None:
        return
    record.write(folder, replace(built, versions=versions(text, vectors), embedder=vectors.identity))
    if built.is_complete:
        for table in (text, vectors):
            table.tag(built.snapshot)
