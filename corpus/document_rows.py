"""Rows of a read file: its document, sections, passages, and the entries of its reference list, not yet resolved.

Belongs here: what follows from one file alone. Not here: reading files (`ingestion.documents`), what entries resolve
to (`corpus.referencing`), and writing (`corpus.documents`).
"""

import json
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from corpus.document_choice import NO_FILE, Fileless, Task
from corpus.hashing import text_hash
from corpus.passages import passage_ids, passages_of
from ingestion.documents.statuses import MEANINGS
from ingestion.documents.values import Document, Part
from ingestion.references.fields import ReferenceFields, parse_entry
from ingestion.references.marks import contexts, find_marks


@dataclass(frozen=True)
class Read:
    """A file that was read.

    Attributes:
        sha256: of the file.
        status, is_retryable, advice, notes: as in `documents`.
        parser, tier: as in `documents`.
        page_count: None where unknown.
        document: None unless the status is `parsed`.
    """

    task: Task
    sha256: str
    status: str
    is_retryable: bool
    advice: str
    notes: tuple[str, ...]
    parser: str
    tier: str
    page_count: int | None
    seconds: float
    document: Document | None


@dataclass(frozen=True)
class Rows:
    """Rows of one paper's file by table."""

    paper_id: str
    document: dict
    sections: tuple[dict, ...] = ()
    passages: tuple[dict, ...] = ()
    entries: tuple[dict, ...] = ()


def rows_without_file(paper: Fileless, derivation: str, now: datetime) -> Rows:
    """The row of a paper of which nothing is read, with the reason."""
    document = {
        "paper_id": paper.paper_id,
        "sha256": NO_FILE,
        "id_month": paper.id_month,
        "status": paper.status,
        "is_retryable": False,
        "advice": MEANINGS[paper.status].advice,
        "notes": [],
        "derivation": derivation,
        "section_count": 0,
        "passage_count": 0,
        "content_hash": text_hash(paper.status),
        "seconds": 0.0,
        "parsed_at": now,
    }
    return Rows(paper.paper_id, document)


def rows_of(read: Read, count_tokens: Callable[[str], int], derivation: str, now: datetime) -> Rows:
    """Rows of a read file.

    Args:
        count_tokens: word pieces of a text, of the embedder that passages are sized for.
        derivation: version of the code that made them.
        now: UTC.
    """
    task, document = read.task, read.document
    key = {"paper_id": task.paper_id, "sha256": read.sha256, "id_month": task.id_month}
    sections = _sections(document, key) if document else []
    passages = _passages(document, key, count_tokens) if document else []
    entries = _entries(document, key) if document else []
    content = [read.status, document.markdown, [asdict(s) for s in document.sections]] if document else [read.status]
    row = {
        **key,
        "version": task.held.version,
        "version_on": task.version_on,
        "source": task.held.source,
        "file": task.held.file,
        "size_bytes": task.held.size_bytes,
        "modified_at": task.held.modified_at,
        "status": read.status,
        "is_retryable": read.is_retryable,
        "advice": read.advice,
        "notes": list(read.notes),
        "parser": read.parser,
        "tier": read.tier or None,
        "derivation": derivation,
        "title": document.title if document else None,
        "markdown": document.markdown if document else None,
        "page_count": read.page_count,
        "section_count": len(sections),
        "passage_count": len(passages),
        "references_status": document.references_status if document else None,
        "reference_count": len(entries) if document and document.references_status == "parsed" else None,
        "content_hash": text_hash(
            json.dumps([*content, [e["text"] for e in entries], [p["passage_id"] for p in passages]])
        ),
        "seconds": read.seconds,
        "parsed_at": now,
    }
    return Rows(task.paper_id, row, tuple(sections), tuple(passages), tuple(entries))


def _sections(document: Document, key: dict) -> list[dict]:
    rows, open_titles = [], []
    for position, section in enumerate(document.sections, start=1):
        open_titles = [(level, title) for level, title in open_titles if level < section.level]
        open_titles.append((section.level, section.title))
        rows.append(
            {
                **key,
                "position": position,
                "number": section.number,
                "title": section.title,
                "level": section.level,
                "path": [title for _, title in open_titles],
                "page": section.page,
                "start_char": section.start,
                "end_char": section.end,
                "text": document.markdown[section.start : section.end],
            }
        )
    return rows


def _passages(document: Document, key: dict, count_tokens: Callable[[str], int]) -> list[dict]:
    passages = passages_of(document, count_tokens)
    names = passage_ids(key["paper_id"], key["sha256"], passages)
    labels = {(part.start, part.end): part.label for part in document.parts if part.label}
    return [
        {
            **key,
            "passage_id": name,
            "position": p.position,
            "section": 0 if p.section is None else p.section + 1,
            "section_number": p.section_number,
            "section_path": list(p.section_path),
            "kind": p.kind,
            "label": labels.get((p.start, p.end), ""),
            "page": p.page,
            "start_char": p.start,
            "end_char": p.end,
            "text": p.text,
        }
        for name, p in zip(names, passages, strict=True)
    ]


def _entries(document: Document, key: dict) -> list[dict]:
    fields = [parse_entry(reference) for reference in document.references]
    said = _contexts(document, fields)
    return [
        {
            **key,
            "position": position,
            "label": reference.label,
            "text": reference.text,
            "authors": [name.printed for name in found.authors],
            "title": found.title,
            "year": found.year,
            "venue": found.venue,
            "arxiv_id": next(iter(found.arxiv_ids), None),
            "doi": next(iter(found.dois), None),
            "urls": list(dict.fromkeys([*reference.urls, *found.urls])),
            "page": reference.page,
            "cited_id": None,
            "method": "unresolved",
            "certainty": 0.0,
            "detail": "",
            "corpus_hash": None,
            "contexts": said.get(position - 1, []),
        }
        for position, (reference, found) in enumerate(zip(document.references, fields, strict=True), start=1)
    ]


def _contexts(document: Document, fields: Sequence[ReferenceFields]) -> dict[int, list[dict]]:
    """Entry, from 0 → the sentences of the running text that cite it."""
    parts = [part for part in document.parts if part.kind != "reference"]
    starts = [part.start for part in parts]
    found: dict[int, list[dict]] = {}
    own = [(part.start, part.end) for part in document.parts if part.kind == "reference"]
    marks = find_marks(document.markdown, fields, own)
    for context in contexts(document.markdown, marks):
        part = _part_at(parts, starts, context.start)
        for entry in context.entries:
            found.setdefault(entry, []).append(
                {"text": context.text, "page": part and part.page, "start": context.start, "end": context.end}
            )
    return found


def _part_at(parts: Sequence[Part], starts: Sequence[int], place: int) -> Part | None:
    """The part that holds a character; None between parts, in headings and in the reference list."""
    at = bisect_right(starts, place) - 1
    return parts[at] if at >= 0 and place < parts[at].end else None
