"""Editions: what makes one, and how its stages are kept in the lake.

An edition's id is the hash of topic, method, writer, parameters and the content of its inputs; table versions are
recorded, not hashed. Stages pass their values through the tables, so that a run that died goes on after its last
finished stage. Not here: what the stages compute (`surveyforge`), and rendering.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import date

import polars as pl

from corpus.contracts.registry import CONTRACTS
from corpus.hashing import sources_hash, text_hash
from corpus.tables import Lake
from generation.library import Consultation
from generation.topics import Topic
from generation.values import (
    Check,
    DigestEntry,
    Digests,
    Edit,
    Failure,
    Outline,
    OutlineNode,
    Pattern,
    SectionDraft,
    Sentence,
    Span,
    StatedRow,
)
from ingestion.errors import NotFound

_DECIDING = (
    "surveyforge",
    "surveyforge_options",
    "memory_retrieval",
    "drafting",
    "reranking",
    "facts",
    "naming",
    "patterns",
    "library",
    "zones",
    "misprints",
    "outline_plans",
    "tidying",
    "homes",
    "standing",
    "captions",
    "illustrating",
)


@dataclass(frozen=True)
class Edition:
    """The identity of one edition.

    Attributes:
        parameters: JSON of the method's options and the writer's version.
        cutoff: inclusive UTC day used.
    """

    topic: Topic
    method: str
    writer: str
    parameters: str
    cutoff: date
    pool_hash: str
    cards_hash: str
    patterns_hash: str

    @property
    def id(self) -> str:
        # A followed topic's cutoff is no input: a refresh that leaves its pool alone leaves its editions valid.
        parts = [
            self.topic.key,
            self.topic.title,
            str(self.topic.cutoff),
            self.method,
            self.writer,
            self.parameters,
            self.pool_hash,
            self.cards_hash,
            self.patterns_hash,
        ]
        return text_hash("\x1f".join(parts))[:12]


def code_version() -> str:
    """Hash of the sources that decide what is written: changed code gives another edition, unchanged code the same."""
    return sources_hash(("generation/extractive", *(f"generation/{name}.py" for name in _DECIDING)))[:12]


def parameters_of(method, writer, outline_hash: str = "") -> str:
    """Everything but the inputs that decides what is written, as JSON with sorted keys.

    Args:
        outline_hash: of the outline that a person gave; "" where the method makes its own.
    """
    parameters = {
        "method": {"name": method.name, "version": method.version, **asdict(method.options)},
        "writer": {"name": writer.name, "version": writer.version, **getattr(writer, "options", {})},
        "code": code_version(),
    }
    return json.dumps(parameters | ({"outline": outline_hash} if outline_hash else {}), sort_keys=True)


def outline_hash_of(row: Mapping) -> str:
    """Hash of the outline that a person gave for a row of `surveys`; "" where the method made its own."""
    return json.loads(row["parameters"]).get("outline", "")


def patterns_hash(patterns: Iterable[Pattern]) -> str:
    """Hash of the human outlines a method would draw from, in order."""
    return text_hash(json.dumps([[p.outline_id, p.title, p.headings] for p in patterns]))


def store_topic(lake: Lake, topic: Topic, created_at) -> bool:
    """Write the topic's row if it has none; whether it was new."""
    if len(lake.read("topics", topic=topic.key)):
        return False
    row = {
        "topic": topic.key,
        "title": topic.title,
        "description": topic.description,
        "cutoff": topic.cutoff,
        "inclusions": list(topic.inclusions),
        "exclusions": list(topic.exclusions),
        "pool_size": topic.pool_size,
        "has_withdrawn": topic.has_withdrawn,
        "created_at": created_at,
    }
    lake.replace("topics", _frame("topics", [row]), {"topic": topic.key})
    return True


def load_topic(lake: Lake, key: str) -> Topic:
    """The topic of a key.

    Raises:
        NotFound: no topic has the key.
    """
    rows = lake.read("topics", topic=key).to_dicts()
    if not rows:
        raise NotFound("there is no topic", which=key, advice='Name one with `lithouse survey "TITLE"`.')
    row = rows[0]
    return Topic(
        row["topic"], row["title"], row["description"], row["cutoff"], tuple(row["inclusions"]),
        tuple(row["exclusions"]), row["pool_size"], row["has_withdrawn"],
    )  # fmt: skip


def store_outline(lake: Lake, edition: Edition, outline: Outline, author: str = "method") -> None:
    """Write the outline's nodes; the author is `method`, or `person` where the outline was edited."""
    rows = [
        {
            **_key(edition),
            "number": n.number,
            "position": position,
            "level": n.level,
            "title": n.title,
            "description": n.description,
            "role": n.role,
            "queries": list(n.queries),
            "memory": list(n.memory),
            "patterns": list(n.patterns),
            "heading_origin": n.heading_origin,
            "author": author,
            "notes": [{"item": f.item, "reason": f.reason} for f in outline.notes] if position == 1 else [],
        }
        for position, n in enumerate(outline.nodes, start=1)
    ]
    _replace(lake, edition, "outlines", rows)


def load_outline(lake: Lake, edition: Edition) -> Outline | None:
    """The stored outline of an edition; None where the stage has not finished."""
    return outline_of(lake, edition.topic.key, edition.id)


def outline_of(lake: Lake, topic: str, edition: str) -> Outline | None:
    """The stored outline of a topic's edition; None where there is none."""
    rows = lake.read("outlines", topic=topic, edition=edition).sort("position").to_dicts()
    if not rows:
        return None
    return Outline(
        tuple(
            OutlineNode(
                r["number"],
                r["title"],
                r["description"],
                r["role"],
                tuple(r["queries"]),
                tuple(r["memory"]),
                tuple(r["patterns"]),
                r["heading_origin"],
            )
            for r in rows
        ),
        tuple(Failure(n["item"], n["reason"]) for n in rows[0]["notes"] or ()),
    )


def newest_outline(lake: Lake, topic: str, method: str, edition: str = "") -> Outline | None:
    """The outline of `SLUG/METHOD@EDITION` where that is held, else of the topic's newest edition; None without any."""
    key, _, name = edition.partition("@")
    if name and (found := outline_of(lake, key.split("/")[0], name)):
        return found
    rows = lake.read("surveys", topic=topic, method=method).sort("created_at")["edition"]
    return outline_of(lake, topic, rows[-1]) if len(rows) else None


def store_digests(lake: Lake, edition: Edition, digests: Digests) -> None:
    _replace(lake, edition, "digests", [{**_key(edition), **asdict(e)} for e in digests.entries])


def load_digests(lake: Lake, edition: Edition) -> Digests | None:
    """The stored digests of an edition; None where the stage has not finished."""
    rows = lake.read("digests", **_key(edition)).sort("number", "rank").drop("topic", "edition").to_dicts()
    return Digests(tuple(DigestEntry(**r) for r in rows)) if rows else None


def load_consulted(lake: Lake, edition: Edition) -> dict[str, Consultation]:
    """What earlier stages of the edition consulted, and why."""
    rows = lake.read("edition_papers", **_key(edition), is_consulted=True).to_dicts()
    return {r["paper_id"]: Consultation(dict.fromkeys(r["operations"]), r["reason"]) for r in rows}


def store_consulted(
    lake: Lake, edition: Edition, consulted: Mapping[str, Consultation], pool: Iterable[str], cited: Iterable[str] = ()
) -> None:
    """Add a stage's consultations to the edition's papers; mark the cited ones."""
    held = {r["paper_id"]: r for r in lake.read("edition_papers", **_key(edition)).to_dicts()}
    cited, in_pool = set(cited), set(pool)
    rows = []
    for paper_id in sorted({*held, *in_pool, *consulted}):
        before = held.get(paper_id, {})
        now = consulted.get(paper_id)
        operations = list(dict.fromkeys([*before.get("operations", []), *(now.operations if now else ())]))
        reason = before.get("reason") if before.get("is_consulted") else None
        rows.append(
            {
                **_key(edition),
                "paper_id": paper_id,
                "origin": "pool" if paper_id in in_pool else "asked_for",
                "is_consulted": bool(operations),
                "is_cited": paper_id in cited,
                "operations": operations,
                "reason": reason or (now.reason if now else "in the pool, but shown to no operation"),
            }
        )
    _replace(lake, edition, "edition_papers", rows)


def store_text(lake: Lake, edition: Edition, sections: Iterable[SectionDraft]) -> None:
    """Sections and sentences, numbered as printed; `$edition` in stated queries becomes the edition's id."""
    section_rows, sentence_rows, number = [], [], 0
    for position, section in enumerate(sections, start=1):
        section_rows.append(
            {
                **_key(edition),
                "number": section.number,
                "position": position,
                "level": section.level,
                "title": section.title,
                "words": section.words,
                "paper_ids": list(section.cited_ids),
            }
        )
        for paragraph, sentences in enumerate(section.paragraphs, start=1):
            for sentence in sentences:
                number += 1
                sentence_rows.append(_sentence_row(edition, section.number, paragraph, number, sentence))
    _replace(lake, edition, "survey_sections", section_rows)
    _replace(lake, edition, "survey_sentences", sentence_rows)


def _sentence_row(edition: Edition, section: str, paragraph: int, number: int, sentence: Sentence) -> dict:
    return {
        **_key(edition),
        "number": number,
        "section": section,
        "paragraph": paragraph,
        "place": sentence.place,
        "kind": sentence.kind,
        "text": sentence.text,
        "cited_ids": list(sentence.cited_ids),
        "spans": [asdict(span) for span in sentence.spans],
        "edits": [asdict(edit) for edit in sentence.edits],
        "template": sentence.template,
        "rows": [
            {"name": r.name, "value": r.value, "query": r.query and r.query.replace("$edition", edition.id)}
            for r in sentence.rows
        ],
        "calls": list(sentence.calls),
        "checks": [asdict(check) for check in sentence.checks],
    }


def load_sections(
    lake: Lake, topic: str, edition: str, versions: Mapping[str, int] | None = None
) -> tuple[SectionDraft, ...]:
    """The stored text of an edition, as it was drafted; at these table versions, or the newest."""

    def rows(table: str, order: str) -> list[dict]:
        version = (versions or {}).get(table)
        return lake.read(table, version=version, topic=topic, edition=edition).sort(order).to_dicts()

    sections, sentences = rows("survey_sections", "position"), rows("survey_sentences", "number")
    drafts = []
    for section in sections:
        paragraphs: dict[int, list[Sentence]] = {}
        for row in sentences:
            if row["section"] == section["number"]:
                paragraphs.setdefault(row["paragraph"], []).append(_sentence(row))
        drafts.append(SectionDraft(section["number"], section["title"], tuple(tuple(p) for p in paragraphs.values())))
    return tuple(drafts)


def _sentence(row: dict) -> Sentence:
    return Sentence(
        row["kind"], row["text"], tuple(row["cited_ids"]), tuple(Span(**s) for s in row["spans"]),
        tuple(Edit(**e) for e in row["edits"]), row["template"], tuple(StatedRow(**r) for r in row["rows"]), row["place"],
        tuple(row["calls"] or ()), tuple(Check(**c) for c in row["checks"] or ()),  # null in editions of before
    )  # fmt: skip


def finished(lake: Lake, edition: Edition) -> dict | None:
    """The row of a finished edition, None where it has none."""
    rows = lake.read("surveys", **_key(edition)).to_dicts()
    return rows[0] if rows else None


def _key(edition: Edition) -> dict[str, str]:
    return {"topic": edition.topic.key, "edition": edition.id}


def _frame(table: str, rows: list[dict]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=CONTRACTS[table].polars_schema)


def _replace(lake: Lake, edition: Edition, table: str, rows: list[dict]) -> None:
    lake.replace(table, _frame(table, rows), _key(edition))
