"""What the lake holds, month by month, and which surveys are stale and why. Reads only: nothing is embedded here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from corpus.completeness import months_by_source
from corpus.tables import Lake
from ingestion.errors import LithouseError

if TYPE_CHECKING:
    from generation.editions import Edition
    from generation.topics import Topic
    from generation.workshop import Workshop


def tables(lake: Lake) -> dict[str, dict[str, int]]:
    """Table → version and rows, of the tables that exist."""
    return {name: {"version": version, "rows": lake.row_count(name)} for name, version in lake.versions().items()}


def months(lake: Lake) -> list[dict]:
    """Papers by id month, oldest first; `is_complete` where some source can no longer add to what it has of it."""
    counted = lake.scan("papers").group_by("id_month").agg(pl.len().alias("papers")).sort("id_month").collect()
    complete = set(months_by_source(lake).filter(pl.col("is_complete"))["id_month"])
    return [
        {"month": f"{month:%Y-%m}", "papers": count, "is_complete": month in complete}
        for month, count in counted.iter_rows()
    ]


def surveys(home: Path) -> Iterator[dict]:
    """The newest edition of each topic and method: fresh or stale, and what changed.

    `state` is `fresh`, `stale`, or `unknown` where it cannot be told now; `cause` says why. `entered`, `left` and
    `changed` are ids of papers. `newer` counts papers that would enter a frozen topic by the cutoff of the last
    complete refresh, null for other topics; `newer_unknown` further candidates of which nothing is known yet.
    """
    lake = Lake(home)
    if not (rows := newest_editions(lake)):
        return
    # Half of the time of `lithouse status` is loading LanceDB: a lake without surveys does without.
    from generation import editions, staleness
    from generation.workshop import Workshop

    workshop = Workshop(home)
    newer: dict[str, staleness.Newer | LithouseError | None] = {}
    for row in rows:
        told = {
            **{name: row[name] for name in ("topic", "method", "edition", "status")},
            "cutoff": row["cutoff"].isoformat(),
            "state": "unknown",
            "cause": "",
            "entered": [],
            "left": [],
            "changed": [],
            "newer": None,
            "newer_unknown": 0,
        }
        try:
            topic = editions.load_topic(lake, row["topic"])
            told |= _state(workshop, topic, row)
            if topic.key not in newer:
                newer[topic.key] = staleness.newer_papers(workshop, topic)
            if found := newer[topic.key]:
                told |= {"newer": len(found.papers), "newer_unknown": found.without_vector}
        except LithouseError as error:
            told["cause"] = told["cause"] or error.message
        yield told


def newest_editions(lake: Lake) -> list[dict]:
    """Rows of `surveys`: the newest edition of each topic and method."""
    rows = lake.scan("surveys").sort("created_at").unique(["topic", "method"], keep="last", maintain_order=True)
    return rows.sort("topic", "method").collect().to_dicts()


def pool_of(lake: Lake, row: dict) -> pl.DataFrame:
    """The pool that an edition was written from, as the table version that it pins still has it."""
    versions = {m["table"]: m["version"] for m in row["manifest"]}
    return lake.read("topic_pool", version=versions["topic_pool"], topic=row["topic"])


def _state(workshop: Workshop, topic: Topic, row: dict) -> dict:
    from corpus.reading import reader_named
    from generation import editions, stages, staleness, texts
    from generation.model_access import access_of
    from generation.pools import NoEvidence
    from ingestion.documents.parsing.parsers import DEFAULT_PARSER

    try:
        found = staleness.compare(workshop, topic, pool_of(workshop.lake, row))
    except NoEvidence as error:
        return {"state": "stale", "cause": error.message}
    causes = found.causes()
    if not causes and not found.unknown:
        hashed = editions.outline_hash_of(row)
        # As it was asked for then: another window would be another edition.
        asked = replace(workshop, access=access_of(row))
        desk = stages.open_desk(asked, topic, row["method"], row["writer"], outline_hash=hashed)
        causes = [] if desk.edition.id == row["edition"] else _input_causes(row, desk.edition)
        if due := texts.files_due(workshop, topic, reader_named(DEFAULT_PARSER)):
            causes.append(f"{due} file{'s' if due > 1 else ''} of the pool's papers still to be read")
    state = "stale" if causes else "unknown" if found.unknown else "fresh"
    papers = {name: list(getattr(found, name)) for name in ("entered", "left", "changed")}
    return {"state": state, "cause": "; ".join([*causes, *([found.unknown] if found.unknown else [])]), **papers}


def _input_causes(row: dict, edition: Edition) -> list[str]:
    causes = []
    if row["parameters"] != edition.parameters:
        causes.append("method or writer changed")
    if row["pool_hash"] != edition.pool_hash:
        causes.append("another pool was stored after the survey was written")
    if row["cards_hash"] != edition.cards_hash:
        causes.append("texts of the pool's papers were read or changed after the survey was written")
    return causes or ["the human outlines nearest to the topic changed"]
