"""The index over papers: update from a snapshot, full text, vectors made when needed, fused search.

The two tables are `text_table` and `vector_table`. Importing this module loads lancedb (about 1.5 s), so
commands import it where they need it. Which papers enter a topic's pool is decided in
`generation`; where the papers come from, in `corpus`.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import polars as pl

from indexes import built_from as record
from indexes.built_from import BuiltFrom
from indexes.embedded_table import usable_query
from indexes.embedding import TextEmbedder, refusal
from indexes.embedding_run import EmbedReport, embed_missing
from indexes.fusion import reciprocal_rank_fusion
from indexes.lance_table import KEY
from indexes.locking import alone
from indexes.maintenance import RETAIN, TableMaintenance, maintain
from indexes.predicates import Admission
from indexes.ranking import Hit, require_count
from indexes.registry_embedder import embedder_of
from indexes.text_table import TextTable
from indexes.updating import LOCK, IndexUpdate, update, versions
from indexes.vector_index import DEFAULTS, SearchOptions, VectorIndex
from indexes.vector_table import VectorTable
from ingestion.errors import BadInput, NotFound, PermanentFailure

__all__ = ["BuiltFrom", "EmbedReport", "Hit", "IndexUpdate", "PaperIndex"]

_FUSION_DEPTH = 100  # at least; on pool30k fusion had precision@60 .43, full text .39, dense .41
_MIN_COVERAGE = 0.5


class PaperIndex:
    """An index in a folder. Make one with `open`. Any number may read; writers wait for each other, also over
    processes.
    """

    def __init__(
        self,
        folder: Path,
        embedder: TextEmbedder | None,
        *,
        versions: Mapping[str, int] | None = None,
        options: SearchOptions = DEFAULTS,
    ) -> None:
        self.folder = folder
        self._embedder = embedder
        self._pinned = versions
        text, vectors = ((versions or {}).get(name) for name in ("paper_text", "paper_vectors"))
        self._text = TextTable(folder, version=text)
        self._vectors = VectorTable(folder, version=vectors, options=options)
        if versions is not None and vectors is None:
            self._vectors.hide()

    @classmethod
    def open(
        cls,
        folder: Path,
        *,
        embedder: TextEmbedder | None = None,
        create: bool = False,
        versions: Mapping[str, int] | None = None,
        tag: str | None = None,
        options: SearchOptions = DEFAULTS,
    ) -> "PaperIndex":
        """The index in the folder.

        Args:
            embedder: of the vectors; by default the one they were made by, loaded when first needed.
            create: allow a folder without an index, which the first `update` then makes.
            versions: read the tables as they were: table → Lance version, as a manifest names them. Without one of
                `paper_vectors` there are no vectors. Nothing can be written then.
            tag: the same by the snapshot that the index was built from.
            options: of the approximate index.

        Raises:
            NotFound: there is no index and `create` is False; no such version or tag.
            PermanentFailure: the vectors there were made by another embedder than the one given.
            BadInput: `versions` has no version of `paper_text`, or is given beside `tag`.
        """
        folder = Path(folder)
        if tag is not None:
            if versions is not None:
                raise BadInput("versions and a tag are both given", which=tag, advice="Give one of them.")
            versions = _tagged(folder, tag)
        if versions is not None and "paper_text" not in versions:
            raise BadInput("the versions name none of the full text table", which=", ".join(sorted(versions)))
        index = cls(folder, embedder, versions=versions, options=options)
        if not create and index._text.table is None:
            raise NotFound("there is no paper index", which=str(folder), advice="Run `lithouse refresh`.")
        if embedder is not None:
            index._vectors.require(embedder.identity)
        return index

    @property
    def built_from(self) -> BuiltFrom | None:
        """The record of the last update, None before the first one; see its `is_complete`."""
        return record.read(self.folder)

    def require(self, snapshot: str) -> None:
        """Refuse to be used for another snapshot than the one the index was built from.

        Raises:
            NotFound: the last update was not finished.
            PermanentFailure: the index is of another snapshot.
        """
        if self._pinned is None:
            record.require(self.folder, snapshot)
        elif (version := self._text.tags().get(snapshot)) != self._text.version:
            raise PermanentFailure(
                "the index was opened as of another snapshot",
                which=f"version {self._text.version} of the full text; snapshot {snapshot} is {version or 'not held'}",
            )

    def versions(self) -> dict[str, int]:
        """Lance table → version, for manifests."""
        return versions(self._text, self._vectors)

    def update(self, papers: Iterable[pl.DataFrame] | pl.DataFrame, *, snapshot: str) -> IndexUpdate:
        """Make the index equal to the papers: new and changed rows are written, others removed.

        Nothing is written where nothing differs. A killed update is repaired by the next one.

        Args:
            papers: all papers, in frames of any size with the columns paper_id, title, abstract (may be
                null), submitted_latest (Date), is_withdrawn (Boolean), content_hash; others are ignored.
            snapshot: content hash of the corpus that the papers are read from.

        Raises:
            BadInput: a column is missing or of another type, a value is null, an id comes twice, or the snapshot has
                other characters than letters, digits, dots and hyphens.
            TransientFailure: something else wrote to the index meanwhile.
        """
        self._refuse_pinned()
        return update(self.folder, self._text, self._vectors, papers, snapshot=snapshot)

    def tag(self, name: str) -> None:
        """Let the name stand for the tables as they are now; `open` takes it. `update` does this with its snapshot.

        Raises:
            PermanentFailure: the index was opened at fixed versions.
        """
        self._refuse_pinned()
        with alone(self.folder, LOCK):
            for table in (self._text, self._vectors):
                table.see_latest()
                table.tag(name)

    def tags(self) -> dict[str, dict[str, int]]:
        """Name → table → version."""
        found: dict[str, dict[str, int]] = {}
        for table in (self._text, self._vectors):
            for name, version in table.tags().items():
                found.setdefault(name, {})[table.name] = version
        return found

    def maintain(self, keep: Mapping[str, Collection[int]], *, retain: timedelta = RETAIN) -> list[TableMaintenance]:
        """`maintenance.maintain` for the two tables of papers.

        Args:
            keep: table → versions that stay readable, beside the newest.
        """
        self._refuse_pinned()
        done = maintain(self.folder, keep, retain=retain, tables=("paper_text", "paper_vectors"))
        self._text.see_latest()
        self._vectors.see_latest()
        return done

    def full_text(
        self,
        query: str,
        k: int,
        *,
        cutoff: date,
        excluded: Collection[str] = (),
        within: Collection[str] | None = None,
        with_withdrawn: bool = False,
    ) -> list[Hit]:
        """The k best papers by BM25 over title and abstract among those admitted; equal scores by id.

        Every character of the query is plain text: there are no operators, a hyphen separates words.

        Raises:
            BadInput: no word in the query, k below 1, or a cutoff that is no day.
        """
        return self._text.search(query, k, Admission(cutoff, excluded, within, with_withdrawn))

    def dense(
        self,
        query: str | np.ndarray,
        k: int,
        *,
        cutoff: date,
        excluded: Collection[str] = (),
        within: Collection[str] | None = None,
        with_withdrawn: bool = False,
        exact: bool = False,
    ) -> list[Hit]:
        """The k papers nearest to the query by cosine among those admitted that have a vector.

        Many vectors are searched through an approximate index (when and how well: `vector_index.SearchOptions`,
        `vector_index`), unless so few are admitted that comparing each is quicker.

        Args:
            query: a text, or a vector of float32 (dimensions,), which need not be normalised.
            exact: compare every admitted vector, however long that takes.

        Raises:
            BadInput: a blank text or unusable vector, k below 1, or a cutoff that is no day.
            PermanentFailure: the vectors were made by another embedder.
        """
        admission = Admission(cutoff, excluded, within, with_withdrawn)
        require_count(k)
        self._vectors.require(self.embedder.identity)
        return self._vectors.nearest(self._query_vector(query), k, admission, exact=exact)

    def search(
        self,
        query: str,
        k: int,
        *,
        cutoff: date,
        excluded: Collection[str] = (),
        within: Collection[str] | None = None,
        with_withdrawn: bool = False,
    ) -> list[Hit]:
        """Full text and dense search fused by reciprocal ranks; scores are those of the fusion.

        Vectors count only where at least half of the best full text hits have one: vectors made for
        another topic would otherwise lift that topic's papers to the top of every search.

        Raises:
            As `full_text` and `dense`.
        """
        require_count(k)
        options = {"excluded": excluded, "within": within, "with_withdrawn": with_withdrawn}
        depth = max(k, _FUSION_DEPTH)
        lexical = [hit.paper_id for hit in self.full_text(query, depth, cutoff=cutoff, **options)]
        rankings = [lexical]
        if self._vectors.count() and self._coverage(lexical) >= _MIN_COVERAGE:
            rankings.append([hit.paper_id for hit in self.dense(query, depth, cutoff=cutoff, **options)])
        return [Hit(*pair) for pair in reciprocal_rank_fusion(rankings)[:k]]

    def embed(self, paper_ids: Sequence[str], *, progress: Callable[[int, int], None] | None = None) -> EmbedReport:
        """Make the vectors that these papers lack for their current content.

        Stored every few hundred papers, so a killed run goes on where it was.

        Args:
            progress: called with papers done and papers to do, after each commit.

        Raises:
            PermanentFailure: the vectors there were made by another embedder; nothing is written.
            NotFound: model or tokenizer is not there.
        """
        self._refuse_pinned()
        return embed_missing(self.folder, self._text, self._vectors, self.embedder, paper_ids, progress=progress)

    def embed_all(self, *, progress: Callable[[int, int], None] | None = None) -> EmbedReport:
        """`embed` for every paper, and the approximate index in any case.

        Raises:
            As `embed`.
        """
        self._text.see_latest()
        return self.embed(sorted(self._text.keys()[KEY]), progress=progress)

    @property
    def vector_count(self) -> int:
        """Papers that have a vector."""
        return self._vectors.count()

    @property
    def vector_index(self) -> VectorIndex | None:
        """The record of the approximate index; None where every search is exact because vectors are few."""
        return self._vectors.vector_index

    def texts(self, paper_ids: Sequence[str]) -> pl.DataFrame:
        """paper_id, title, abstract (may be null) of those of the papers that are indexed, in the order given."""
        return self._text.papers(list(paper_ids)).select(KEY, "title", "abstract")

    def vectors(self, paper_ids: Sequence[str]) -> tuple[list[str], np.ndarray]:
        """Those of the papers that have a vector, in the order given without repeats, and float32 (m, d).

        Raises:
            PermanentFailure: the vectors were made by another embedder.
        """
        identity = self.embedder.identity
        self._vectors.require(identity)
        names = list(dict.fromkeys(paper_ids))
        found = {name: row for ids, rows in self._vectors.matrices(names) for name, row in zip(ids, rows, strict=True)}
        present = [name for name in names if name in found]
        empty = np.empty((0, identity.dimensions), dtype=np.float32)
        return present, np.stack([found[name] for name in present]) if present else empty

    @property
    def embedder(self) -> TextEmbedder:
        """The embedder of the vectors, loaded when first asked for; the packaged one where there are none."""
        if self._embedder is None:
            self._embedder = embedder_of(self._vectors.identity)
        return self._embedder

    def _query_vector(self, query: str | np.ndarray) -> np.ndarray:
        if isinstance(query, str):
            if reason := refusal(query):
                raise BadInput(f"the query cannot be embedded: {reason}", advice="Give at least one word.")
            return self.embedder.embed([query])[0]
        return usable_query(query, self.embedder.identity.dimensions)

    def _refuse_pinned(self) -> None:
        if self._pinned is not None:
            raise PermanentFailure("an index opened at fixed versions cannot be written", which=str(self.folder))

    def _coverage(self, paper_ids: Sequence[str]) -> float:
        """The share of the papers that have a vector; 1 for none, since there is nothing to outweigh."""
        if not paper_ids:
            return 1.0
        return sum(rows.num_rows for rows in self._vectors.rows(paper_ids, [KEY])) / len(paper_ids)


def _tagged(folder: Path, tag: str) -> dict[str, int]:
    versions = {
        table.name: held[tag] for table in (TextTable(folder), VectorTable(folder)) if tag in (held := table.tags())
    }
    if "paper_text" not in versions:
        raise NotFound("the index has no such tag", which=tag, advice="Tags are hashes of corpus snapshots.")
    return versions
