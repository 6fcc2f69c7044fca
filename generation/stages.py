"""The stages of a survey as functions over the lake: pool, outline, digests, survey.

Each reads what the stage before stored and stores its own result in one go, so that any of them can be the first
thing a new process does. Dagster assets and the command line call these; no one else does the work.
"""

import os
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import polars as pl

from corpus.contracts.registry import CONTRACTS
from corpus.hashing import text_hash
from corpus.snapshots import take_snapshot
from generation import editions
from generation.bibliography import bibtex
from generation.editions import Edition
from generation.grounding import counts
from generation.language_models.calls import Call, Purpose
from generation.language_models.records import call_key
from generation.library import Library, open_library
from generation.markdown import PICTURES_FOLDER, markdown
from generation.model_access import EXTRACTIVE, OpenWriter, named_writer, open_writer
from generation.model_writer.call_plan import Plan, Planner, outline_calls, survey_calls
from generation.outline_plans import PERSON, as_json, completed
from generation.page import page
from generation.pictures import drawn
from generation.pools import NoEvidence, Pool, build_pool, pool_hash
from generation.reprinting import facts_of, passage_texts, pinned, why_rows
from generation.surveyforge import SurveyForge
from generation.text_notes import notes_on_texts
from generation.texts import carded, cards_hash, cards_of, cards_to_write, with_card_failures
from generation.topics import Topic
from generation.values import Failure, Outline, Paper, Survey
from generation.workshop import CallProgress, Workshop, view_of
from generation.writing import Writer
from indexes.piece_index import piece_versions
from ingestion.errors import BadInput, NotFound

METHODS = {"surveyforge": SurveyForge}

_WRITTEN = (
    "outlines", "digests", "edition_papers", "survey_sections", "survey_sentences", "language_model_calls",
)  # fmt: skip


def method_named(name: str):
    """A method by name.

    Raises:
        BadInput: there is none.
    """
    if name not in METHODS:
        raise BadInput("there is no method", which=name, advice=f"Methods: {', '.join(METHODS)}.")
    return METHODS[name]()


def make_pool(workshop: Workshop, topic: Topic) -> tuple[Pool, bool]:
    """Build the topic's pool; store it if its papers or their content changed, and say whether they did."""
    lake = workshop.lake
    pool = build_pool(view_of(lake, topic), workshop.index, topic, progress=workshop.tell("embedding papers"))
    held = lake.read("topic_pool", topic=topic.key)
    if len(held) and pool_hash(held) == pool.content_hash:
        return pool, False
    lake.replace("topic_pool", pool.rows, {"topic": topic.key})
    return pool, True


@dataclass
class Desk:
    """An edition at work: its library, method and writer; `plan` is the outline that a person gave, if one did."""

    edition: Edition
    library: Library
    method: object
    opened: OpenWriter
    manifest: dict[str, int]
    plan: Outline | None = None

    @property
    def writer(self) -> Writer:
        return self.opened.writer

    def plan_progress(self, calls: int) -> None:
        """Tell the stage's progress how many calls are to come."""
        told = self.opened.gateway.on_answer if self.opened.gateway else None
        if isinstance(told, CallProgress):
            told.planned = calls


def open_desk(
    workshop: Workshop,
    topic: Topic,
    method_name: str,
    writer_name: str,
    *,
    plan: Outline | None = None,
    outline_hash: str = "",
) -> Desk:
    """The edition that the stored pool, the texts and the outlines of now would give; no model is asked at it.

    Args:
        plan: the outline that a person gave (`outline_plans.planned`), None where the method makes its own.
        outline_hash: of such a plan, for who only asks which edition it would be.

    Raises:
        NoEvidence: the topic has no pool.
    """
    writer = named_writer(writer_name, workshop.embed, workshop.access)
    return _desk(workshop, topic, method_name, OpenWriter(writer), plan, outline_hash)


@contextmanager
def working_desk(
    workshop: Workshop,
    topic: Topic,
    method_name: str,
    writer_name: str,
    asset: str,
    *,
    plan: Outline | None = None,
    run_id: str | None = None,
) -> Iterator[Desk]:
    """`open_desk` with a writer that may ask a model; its calls are recorded as this asset's.

    Raises:
        As `open_desk`.
    """
    purpose = Purpose(asset, topic.key, run_id=run_id)
    told = workshop.tell_calls(asset, writer_name)
    with open_writer(writer_name, workshop.lake, workshop.embed, workshop.access, purpose, on_answer=told) as opened:
        desk = _desk(workshop, topic, method_name, opened, plan)
        opened.works_for(desk.edition.id)
        yield desk


def _desk(
    workshop: Workshop, topic: Topic, method_name: str, opened: OpenWriter, plan: Outline | None, outline_hash: str = ""
) -> Desk:
    lake, method, writer = workshop.lake, method_named(method_name), opened.writer
    rows = lake.read("topic_pool", topic=topic.key)
    if not len(rows):
        raise NoEvidence("the topic has no pool", which=topic.title, advice="Materialize topic_pool first.")
    view = view_of(lake, topic)
    library = open_library(view, workshop.index, topic, rows)
    library.card_keys = cards_of(view, carded(library.papers(library.pool), writer), writer)
    library.is_for_a_model = writer.asks_a_model
    hashed = text_hash(as_json(plan))[:12] if plan else outline_hash
    edition = Edition(
        topic, method.name, writer.name, editions.parameters_of(method, writer, hashed), view.cutoff, pool_hash(rows),
        cards_hash(library.card_keys), editions.patterns_hash(method.patterns(library)),
    )  # fmt: skip
    # All tables, so that SQL as of the edition shows one state of the lake; its own row tells when it was finished.
    manifest = {t: v for t, v in view.versions if t != "surveys"}
    index = workshop.index.versions() | piece_versions(workshop.index.folder)
    manifest |= {f"index/{name}": version for name, version in index.items()}
    return Desk(edition, library, method, opened, manifest, plan)


def plan_calls(workshop: Workshop, topic: Topic, method_name: str, writer_name: str, plan: Outline | None) -> Plan:
    """The calls that a survey will still take of a model; nothing is asked and nothing stored but free evidence.

    Raises:
        BadInput: the writer asks no model.
        NoEvidence: the topic has no pool.
    """
    if writer_name == EXTRACTIVE:
        raise BadInput("this writer asks no model, so there is nothing to estimate", which=writer_name)
    with working_desk(workshop, topic, method_name, writer_name, "estimate", plan=plan) as desk:
        row = editions.finished(workshop.lake, desk.edition)
        if row and not row["is_resumable"]:
            return Plan((), 0.0)
        desk.library.card_keys = {}  # cards that are not written yet are not looked for
        gateway, ledger = desk.opened.gateway, desk.opened.ledger

        def is_answered(call: Call) -> bool:
            return ledger.find(call_key(gateway.settings, call)) is not None

        def answered(operation: str) -> int:
            first = {"operation": operation, "attempt": 1, "status": "answered", "origin": "paid"}
            return ledger.spent(topic=topic.key, edition=desk.edition.id, **first).calls

        planner = Planner(gateway.settings, gateway.count, is_answered, answered)
        outline = plan or editions.load_outline(workshop.lake, desk.edition)
        due = cards_to_write(workshop, topic, desk.writer)
        return planner.plan(topic, desk.library, desk.method, due, outline, verdicts=workshop.access.verdicts)


def make_outline(workshop: Workshop, desk: Desk) -> None:
    """The person's outline where one was given, with papers for its new headings; else the method's."""
    if desk.plan:
        outline = completed(desk.plan, desk.library, desk.method.options.memory_size)
        memory = dict.fromkeys(p for node in outline.nodes for p in node.memory)
        desk.library.consult("outline", memory, "retrieved for a heading of the edited outline")
        editions.store_consulted(workshop.lake, desk.edition, desk.library.consulted, desk.library.pool)
        editions.store_outline(workshop.lake, desk.edition, outline, PERSON)
        return
    desk.plan_progress(outline_calls(desk.library, desk.method, desk.writer) if desk.writer.asks_a_model else 0)
    outline = desk.opened.run(desk.method.outline(desk.edition.topic, desk.library, desk.writer))
    editions.store_consulted(workshop.lake, desk.edition, desk.library.consulted, desk.library.pool)
    editions.store_outline(workshop.lake, desk.edition, outline)


def make_digests(workshop: Workshop, desk: Desk) -> None:
    """Raises NotFound where the outline is not stored, NoEvidence where nothing was retrieved."""
    outline = _needed(editions.load_outline(workshop.lake, desk.edition), "outline", desk)
    digests = desk.opened.run(desk.method.digests(desk.edition.topic, outline, desk.library, desk.writer))
    if not digests.entries:
        raise NoEvidence("nothing was retrieved for any section", which=desk.edition.topic.title)
    editions.store_consulted(workshop.lake, desk.edition, desk.library.consulted, desk.library.pool)
    editions.store_digests(workshop.lake, desk.edition, digests)


def make_survey(workshop: Workshop, desk: Desk, run_id: str | None = None) -> dict:
    """Draft, print and store the survey; its row in `surveys` comes last. Returns the row."""
    started = time.monotonic()
    lake, edition, library = workshop.lake, desk.edition, desk.library
    outline = _needed(editions.load_outline(lake, edition), "outline", desk)
    digests = _needed(editions.load_digests(lake, edition), "digests", desk)
    # Earlier stages may have had desks of their own.
    library.consulted = editions.load_consulted(lake, edition) | library.consulted
    if desk.writer.asks_a_model:
        desk.plan_progress(survey_calls(outline, verdicts=workshop.access.verdicts))
    survey = desk.opened.run(desk.method.survey(edition.topic, outline, digests, library, desk.writer))
    survey = replace(survey, notes=(*survey.notes, *notes_on_texts(library.view, library.card_keys)))
    survey = with_card_failures(survey, library)
    if not survey.references:
        if not any(s.checks for section in survey.sections for s in section.sentences()):
            raise NoEvidence("no sentence could be cited", which=edition.topic.title)
        told = Failure("citations", "no paper bears a sentence that cites it, so all citations were removed")
        survey = replace(survey, failures=(*survey.failures, told))
    editions.store_consulted(lake, edition, library.consulted, library.pool, survey.references)
    editions.store_text(lake, edition, survey.sections)
    desk.opened.flush()  # the manifest pins the ledger with the calls that wrote the text
    spent = desk.opened.spent(edition.topic.key, edition.id)
    written = {table: lake.version(table) for table in _WRITTEN if lake.version(table) is not None}
    row = {
        "topic": edition.topic.key,
        "edition": edition.id,
        "title": edition.topic.title,
        "method": edition.method,
        "writer": edition.writer,
        "parameters": edition.parameters,
        "cutoff": edition.cutoff,
        "admitted_count": library.admitted_count,
        "pool_count": len(library.pool),
        "consulted_count": int(
            lake.read("edition_papers", topic=edition.topic.key, edition=edition.id)["is_consulted"].sum()
        ),
        "cited_count": len(survey.references),
        "section_count": sum(s.level == 1 for s in survey.sections),
        "sentence_count": sum(1 for s in survey.sections for _ in s.sentences()),
        "reference_ids": list(survey.references),
        "manifest": [{"table": t, "version": v} for t, v in sorted({**desk.manifest, **written}.items())],
        "corpus_hash": take_snapshot(lake).content_hash,
        "pool_hash": edition.pool_hash,
        "cards_hash": edition.cards_hash,
        "full_text_count": sum(key.document is not None for key in library.card_keys.values()),
        "status": "partial" if survey.failures else "complete",
        "failures": [{"item": f.item, "reason": f.reason} for f in survey.failures],
        "notes": [{"item": f.item, "reason": f.reason} for f in survey.notes],
        "paths": _paths(edition),
        "have_count": survey.have_count,
        "expected_count": survey.expected_count,
        "is_resumable": any(f.is_retryable for f in survey.failures),
        "grounding": asdict(counts(*survey.sections, taken_out=desk.writer.taken_out))
        if desk.writer.asks_a_model
        else None,
        "input_tokens": spent.input_tokens,
        "output_tokens": spent.output_tokens,
        "cached_tokens": spent.cached_tokens,
        "cost": spent.cost,
        "seconds": 0.0,
        "run_id": run_id,
        "created_at": datetime.now(UTC),
    }
    print_survey(workshop, row, survey, library.papers(survey.references))
    row["seconds"] = round(time.monotonic() - started, 3)
    frame = pl.DataFrame([row], schema=CONTRACTS["surveys"].polars_schema)
    lake.replace("surveys", frame, {"topic": edition.topic.key, "edition": edition.id})
    return row


_PRINTED = {"markdown": "survey.md", "html": "index.html", "bibtex": "references.bib"}


def _paths(edition: Edition) -> dict[str, str]:
    """Kind → path of what is printed of an edition, relative to home."""
    place = Path("exports") / edition.topic.key / edition.method / edition.id
    return {kind: (place / name).as_posix() for kind, name in _PRINTED.items()}


def print_survey(workshop: Workshop, row: Mapping, survey: Survey, papers: Sequence[Paper]) -> None:
    """Write Markdown with its pictures, BibTeX and page to the edition's own folder.

    The folder is filled beside its place and moved there whole, so that no reader meets half of it.

    Args:
        row: of `surveys`, not stored yet.
        survey, papers: the edition's text, and its references in order.

    Raises:
        BadPicture, RenderingFailed: something cannot be drawn or rendered.
    """
    target = (workshop.home / row["paths"]["markdown"]).parent
    fresh = target.with_name(f".{target.name}.{os.getpid()}")
    for left in target.parent.glob(f".{target.name}.*"):  # of a run that died while printing
        shutil.rmtree(left, ignore_errors=True)
    (fresh / PICTURES_FOLDER).mkdir(parents=True)
    versions = pinned(row)
    texts = passage_texts(workshop.lake, survey, versions)
    why = why_rows(workshop.lake, row["topic"], row["edition"], survey, versions)
    html = page(survey, list(papers), facts_of(row, papers), passage_texts=texts, why=why)
    printed = {"markdown": markdown(survey, papers), "html": html, "bibtex": bibtex(papers)}
    for kind, text in printed.items():
        (fresh / _PRINTED[kind]).write_text(text, encoding="utf-8")
    for name, drawing in drawn(survey).items():
        (fresh / PICTURES_FOLDER / f"{name}.svg").write_text(drawing, encoding="utf-8")
    shutil.rmtree(target, ignore_errors=True)
    fresh.rename(target)


def _needed(value, stage: str, desk: Desk):
    if value is None:
        raise NotFound(
            f"the edition has no {stage} yet", which=f"{desk.edition.topic.key}@{desk.edition.id}",
            advice=f"Materialize {stage} first, or run `lithouse survey`.",
        )  # fmt: skip
    return value
