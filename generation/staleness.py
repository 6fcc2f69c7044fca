"""Whether the pool that a survey was written from is the one its topic would get now, and which papers make the
difference.

Only compares: no table is written, and no more papers are embedded than the caller allows. What is due of a survey
beyond its pool is told by `stages` and `texts`.
"""

import contextlib
import json
import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass, replace

import polars as pl

from corpus.hashing import sources_hash, text_hash
from corpus.snapshots import last_complete_cutoff
from corpus.visibility import View
from generation.pools import NoEvidence, build_pool, pool_hash
from generation.topics import Topic
from generation.workshop import Workshop, view_of
from indexes.embedding import paper_text, refusal
from ingestion.errors import PermanentFailure

_NAMED = 5


class Unembedded(PermanentFailure):
    """Papers that may belong to the pool have no vector yet: the pool cannot be known without making them.

    Attributes:
        count: of such papers.
    """

    def __init__(self, what: str, *, which: str = "", advice: str = "", count: int = 0) -> None:
        super().__init__(what, which=which, advice=advice)
        self.count = count


@dataclass(frozen=True)
class Difference:
    """A topic's pool as it would be now against a pool of it that was kept.

    Attributes:
        entered, left, changed: ids, sorted; changed papers have other content than when the pool was kept.
        content_hash: of the pool as it would be now; None where that is not known.
        unknown: why it is not, "" where it is.
    """

    entered: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    content_hash: str | None = None
    unknown: str = ""

    def causes(self) -> list[str]:
        """In words, e.g. `2 entered: 2401.15884, 2402.00001`."""
        groups = {"entered": self.entered, "left": self.left, "changed": self.changed}
        return [
            f"{len(ids)} {verb}: {', '.join(ids[:_NAMED])}{' …' if len(ids) > _NAMED else ''}"
            for verb, ids in groups.items()
            if ids
        ]


@dataclass(frozen=True)
class Newer:
    """What a frozen topic would gain by the cutoff of the last complete refresh.

    Attributes:
        papers: later than the topic's cutoff, in the pool with the later one; sorted.
        without_vector: further candidates, of which nothing can be said yet.
    """

    papers: tuple[str, ...]
    without_vector: int


class FrugalIndex:
    """An index that embeds no more papers than allowed: comparing pools must not take the minutes of making one.

    Args:
        allowance: called with the number of papers that lack a vector; whether they may be embedded.
    """

    def __init__(self, index, view: View, allowance: Callable[[int], bool]) -> None:
        self._index, self._view, self._allowance = index, view, allowance

    def __getattr__(self, name: str):
        return getattr(self._index, name)

    def embed(self, paper_ids: Sequence[str], *, progress=None):
        """As `PaperIndex.embed` where the papers that lack a vector are few enough.

        Raises:
            Unembedded: they are not.
        """
        from indexes.paper_index import EmbedReport

        wanted = list(dict.fromkeys(paper_ids))
        with_vector = set(self._index.vectors(wanted)[0])
        missing = _embeddable(self._view, [p for p in wanted if p not in with_vector])
        if not missing:
            return EmbedReport(0, len(with_vector), [])
        if self._allowance(len(missing)):
            return self._index.embed(paper_ids, progress=progress)
        raise Unembedded(
            f"{len(missing)} {'paper that matches the topic has' if len(missing) == 1 else 'papers that match the topic have'} no vector yet",
            advice="`lithouse survey` makes them and finds out.",
            count=len(missing),
        )


def never(_count: int) -> bool:
    """An allowance of no paper."""
    return False


def compare(
    workshop: Workshop, topic: Topic, kept: pl.DataFrame, allowance: Callable[[int], bool] = never
) -> Difference:
    """The topic's pool as it would be now against the one that was kept.

    Args:
        kept: rows of `topic_pool`.
        allowance: see `FrugalIndex`.

    Raises:
        NoEvidence: there would be no pool.
        LithouseError: the corpus or the index cannot be used.
    """
    view = view_of(workshop.lake, topic)
    memory = Memory(workshop, view, topic, pool_hash(kept))
    held = memory.recall()
    if held and (held["content_hash"] or allowance is never):  # who may embed can find out
        return Difference(**held)
    try:
        index = FrugalIndex(workshop.index, view, allowance)
        pool = build_pool(view, index, topic, progress=workshop.tell("embedding papers"))
    except Unembedded as error:
        found = replace(_certain(view, kept), unknown=error.message)
        memory.keep(asdict(found), until_embedded=True)
        return found
    before, now = _contents(kept), _contents(pool.rows)
    found = Difference(
        tuple(sorted(now.keys() - before.keys())),
        tuple(sorted(before.keys() - now.keys())),
        tuple(sorted(p for p in now.keys() & before.keys() if now[p] != before[p])),
        pool.content_hash,
    )
    memory.keep(asdict(found))
    return found


def newer_papers(workshop: Workshop, topic: Topic) -> Newer | None:
    """What a frozen topic would gain by the cutoff of the last complete refresh; None where that is not later."""
    latest = last_complete_cutoff(workshop.lake)
    if topic.cutoff is None or latest is None or latest <= topic.cutoff:
        return None
    view = replace(view_of(workshop.lake, topic), cutoff=latest)
    memory = Memory(workshop, view, topic, "newer")
    if held := memory.recall():
        return Newer(**held)
    try:
        pool = build_pool(view, FrugalIndex(workshop.index, view, never), topic)
    except NoEvidence:
        return Newer((), 0)
    except Unembedded as error:
        found = Newer((), error.count)
        memory.keep(asdict(found), until_embedded=True)
        return found
    later = view.papers().filter(pl.col("submitted_latest") > topic.cutoff).select("paper_id")
    entered = later.filter(pl.col("paper_id").is_in(pool.rows["paper_id"].to_list())).collect()["paper_id"]
    found = Newer(tuple(sorted(entered)), 0)
    memory.keep(asdict(found))
    return found


class Memory:
    """What came of a comparison, kept beside the lake: building a pool takes seconds, and nothing of it may have changed.

    Kept with everything that decides it: corpus, edges, embedder, topic, cutoff, code, and `of`, what was compared with.
    """

    def __init__(self, workshop: Workshop, view: View, topic: Topic, of: str) -> None:
        self._index = workshop.index
        built = self._index.built_from
        code = sources_hash(("generation", "indexes", "corpus/visibility.py"))
        edges = dict(view.versions).get("citations")
        self._key = text_hash(f"{built and (built.snapshot, built.embedder)} {edges} {topic} {view.cutoff} {of} {code}")
        name = "newer" if of == "newer" else "pool"
        self._path = workshop.home / "compared" / f"{topic.key}.{name}.json"

    def recall(self) -> dict | None:
        """What was kept; None where it was not, or something that decides it has changed."""
        try:
            held = json.loads(self._path.read_text(encoding="utf-8"))
            is_same = held["key"] == self._key and held["until"] in (None, self._index.versions())
            return held["found"] if is_same else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def keep(self, found: dict, *, until_embedded: bool = False) -> None:
        """Keep it, where the lake can be written to; what lacked vectors only until the index gets some."""
        until = self._index.versions() if until_embedded else None
        draft = self._path.with_suffix(f".{os.getpid()}.tmp")
        with contextlib.suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            draft.write_text(json.dumps({"key": self._key, "until": until, "found": found}), encoding="utf-8")
            draft.replace(self._path)


def _certain(view: View, kept: pl.DataFrame) -> Difference:
    """What is certain without a pool: kept papers that the topic sees no more, or with other content."""
    held = view.papers().filter(pl.col("paper_id").is_in(kept["paper_id"].to_list()))
    now, before = _contents(held.select("paper_id", "content_hash").collect()), _contents(kept)
    return Difference(
        left=tuple(sorted(before.keys() - now.keys())),
        changed=tuple(sorted(p for p in now.keys() & before.keys() if now[p] != before[p])),
    )


def _contents(rows: pl.DataFrame) -> dict[str, str]:
    return dict(rows.select("paper_id", "content_hash").iter_rows())


def _embeddable(view: View, papers: Collection[str]) -> list[str]:
    """Those of the papers whose text an embedder takes; the others will never have a vector."""
    if not papers:
        return []
    rows = view.scan("papers").filter(pl.col("paper_id").is_in(list(papers))).select("paper_id", "title", "abstract")
    return [p for p, title, abstract in rows.collect().iter_rows() if not refusal(paper_text(title, abstract))]
