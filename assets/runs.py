"""The one module that walks a topic's graph: what is due, and Dagster runs of exactly that.

Dagster's `materialize` never skips by itself, its staleness is not transitive, and an edge from months to an
unpartitioned asset is never checked. So: the corpus is compared with what its source says, the pool is rebuilt and
compared, and a stage runs only if its result is not in the lake for the edition that would come out now.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from assets.instance import open_instance, quiet
from assets.locks import changing_corpus, one_topic, using_corpus
from assets.refreshing import index_is_current
from assets.running import Progress, run
from assets.writer_config import writer_settings
from corpus.reading import Reader, reader_named
from corpus.tables import Lake
from generation import editions, stages, texts
from generation.editions import Edition
from generation.model_access import EXTRACTIVE, ModelAccess
from generation.model_writer.call_plan import Plan
from generation.outline_plans import as_json
from generation.pools import Pool, build_pool
from generation.topics import Topic
from generation.values import Outline
from generation.workshop import Workshop, cutoff_of, view_of
from ingestion.documents.parsing.parsers import DEFAULT_PARSER
from ingestion.errors import PermanentFailure

BY_TOPIC = ("topic_pool", "topic_documents", "paper_cards")
STAGES = ("outline", "digests", "survey")


@dataclass(frozen=True)
class Written:
    """A survey as asked for: its row, whether anything had to be computed, and what ran."""

    row: dict
    edition: Edition
    stages_run: tuple[str, ...]


@dataclass(frozen=True)
class Request:
    """How a topic's survey is asked for.

    Attributes:
        plan: the outline that a person gave; None where the method makes its own.
        parser: reads files that were not read yet, or that another parser could not read.
        most_files: read now, those of the best papers first; None for all.
        force: compute every stage again, and read files again whose last status may change.
        access: how models may be asked, and what the run may spend.
    """

    method: str
    writer: str
    parser: str = DEFAULT_PARSER
    most_files: int | None = None
    force: bool = False
    plan: Outline | None = None
    access: ModelAccess = field(default_factory=ModelAccess)

    @property
    def reader(self) -> Reader:
        return reader_named(self.parser, self.most_files)

    @property
    def reading(self) -> dict[str, object]:
        """Configuration of `topic_documents`."""
        return {"parser": self.parser, "retry": self.force, "most_files": self.most_files}


def survey(home: Path, topic: Topic, request: Request, progress: Progress | None = None) -> Written:
    """Materialize a topic's survey; what is done for the edition that would come out now is not done again.

    Raises:
        LithouseError: with the reason; finished stages stay.
    """
    with _at_work(home, topic, request, progress) as (workshop, topic):
        return _survey(workshop, topic, request)


def outline(home: Path, topic: Topic, request: Request, progress: Progress | None = None) -> Edition:
    """Materialize a topic up to its outline; the edition whose outline is then in the lake.

    Raises:
        LithouseError: as `survey`.
    """
    with _at_work(home, topic, request, progress) as (workshop, topic):
        _evidence(workshop, topic, request)
        desk = stages.open_desk(workshop, topic, request.method, request.writer)
        if editions.load_outline(workshop.lake, desk.edition) is None:
            _run_stages(workshop, topic, request, STAGES[:1])
        return desk.edition


def estimate(home: Path, topic: Topic, request: Request, progress: Progress | None = None) -> Plan:
    """The calls a model would still take for this survey; its pool and documents, which cost nothing, are made.

    Raises:
        LithouseError: as `survey`.
    """
    with _at_work(home, topic, request, progress) as (workshop, topic):
        due: tuple[str, ...] = ()
        if _pool_is_due(workshop, topic):
            due = BY_TOPIC[:2]
        elif texts.documents_due(workshop, topic, request.reader):
            due = BY_TOPIC[1:2]
        if due:
            run(home, due, progress, partition=topic.key, config={BY_TOPIC[1]: request.reading})
        return stages.plan_calls(workshop, topic, request.method, request.writer, request.plan)


@contextmanager
def _at_work(home: Path, topic: Topic, request: Request, progress: Progress | None) -> Iterator[tuple[Workshop, Topic]]:
    """The topic as it was first named, while this process has it for itself and the corpus stays as it is."""
    reader_named(request.parser, request.most_files)  # one that there is none of is refused before anything is done
    lake = Lake(home)
    cutoff_of(lake, topic)
    editions.store_topic(lake, topic, datetime.now(UTC))
    topic = editions.load_topic(lake, topic.key)  # "rag" is the topic first named "RAG", and keeps that title
    with _index_as_corpus(home, lake, progress), one_topic(home, topic.key):
        yield Workshop(home, progress, request.access), topic


@contextmanager
def _index_as_corpus(home: Path, lake: Lake, progress: Progress | None) -> Iterator[None]:
    """Corpus and index that fit and stay as they are meanwhile; a refresh under way is waited for.

    A refresh that was killed, or Dagster's between two steps, leaves an index that does not fit: it is updated here.
    """
    while True:
        with using_corpus(home):
            if index_is_current(home, lake):
                yield
                return
        with changing_corpus(home):
            if not index_is_current(home, lake):
                run(home, ("corpus_snapshot", "paper_index"), progress)


def _survey(workshop: Workshop, topic: Topic, request: Request) -> Written:
    lake = workshop.lake
    done = _evidence(workshop, topic, request)
    desk = stages.open_desk(workshop, topic, request.method, request.writer, plan=request.plan)
    # An outline that was made while a card could not be written would not come out again with the card.
    is_all_due = request.force or (request.writer != EXTRACTIVE and "paper_cards" in done)
    due = STAGES if is_all_due else _due(lake, desk.edition)
    if due:
        _run_stages(workshop, topic, request, due)
    row = editions.finished(lake, desk.edition)
    if row is None:
        raise PermanentFailure(
            "the survey's row is missing after its run", which=desk.edition.id, advice="Run again with --force."
        )
    return Written(row, desk.edition, (*done, *due))


def _run_stages(workshop: Workshop, topic: Topic, request: Request, names: tuple[str, ...]) -> None:
    config = writer_settings(request.writer, request.access)
    config |= {"outline": as_json(request.plan)} if request.plan else {}
    run(
        workshop.home, names, workshop.progress, partition=(topic.key, request.method),
        config=dict.fromkeys(names, config), access=request.access,
    )  # fmt: skip


def _evidence(workshop: Workshop, topic: Topic, request: Request) -> list[str]:
    """Make what is due of the topic's pool, documents and cards; what ran."""
    if request.force or _pool_is_due(workshop, topic):
        done = [*BY_TOPIC]
    else:
        done = [name for name, is_due in _texts_due(workshop, topic, request) if is_due]
    if done:
        config = {"topic_documents": request.reading, "paper_cards": writer_settings(request.writer, request.access)}
        config = {name: values for name, values in config.items() if name in done}
        run(workshop.home, done, workshop.progress, partition=topic.key, config=config, access=request.access)
    return done


def _pool_is_due(workshop: Workshop, topic: Topic) -> bool:
    held = workshop.lake.read("topic_pool", topic=topic.key)
    if not len(held):
        return True
    fresh = build_pool(view_of(workshop.lake, topic), workshop.index, topic, progress=workshop.tell("embedding papers"))
    if fresh.content_hash != stages.pool_hash(held):
        return True
    if fresh.embedded:  # so the last refresh could not tell, and told Dagster that; now it is known
        _tell_pool(workshop.home, topic.key, fresh)
    return False


def _tell_pool(home: Path, topic: str, pool: Pool) -> None:
    quiet()
    from assets.topic_evidence import pool_tags

    with open_instance(home) as instance:
        pool_tags(instance, topic, pool.content_hash, len(pool.rows))


def _texts_due(workshop: Workshop, topic: Topic, request: Request) -> Iterator[tuple[str, bool]]:
    """topic_documents and paper_cards, and whether they are due; new documents may make cards due."""
    documents = texts.documents_due(workshop, topic, request.reader)
    yield "topic_documents", documents
    yield "paper_cards", documents or texts.cards_due(workshop, topic, request.writer)


def _due(lake: Lake, edition: Edition) -> tuple[str, ...]:
    """Stages whose result is not in the lake, and all after the first of them.

    A survey that stopped where a rerun can go on (budget, no server) is written again: what was paid for stays paid.
    """
    row = editions.finished(lake, edition)
    if row and not row["is_resumable"]:
        return ()
    if editions.load_outline(lake, edition) is None:
        return STAGES
    return STAGES[1:] if editions.load_digests(lake, edition) is None else STAGES[2:]
