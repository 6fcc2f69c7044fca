"""What the lake holds, month by month, and which surveys are stale and why."""

from pathlib import Path

import polars as pl

from corpus.reading import reader_named
from corpus.tables import Lake
from generation import editions, stages, texts
from generation.pools import NoEvidence, build_pool
from generation.workshop import Workshop, view_of
from ingestion.documents.parsing.parsers import DEFAULT_PARSER
from ingestion.errors import LithouseError


def tables(lake: Lake) -> dict[str, dict[str, int]]:
    """Table → version and rows, of the tables that exist."""
    return {name: {"version": version, "rows": lake.row_count(name)} for name, version in lake.versions().items()}


def months(lake: Lake) -> list[dict]:
    """Papers by id month, oldest first."""
    counted = lake.scan("papers").group_by("id_month").agg(pl.len().alias("papers")).sort("id_month").collect()
    return [{"month": f"{month:%Y-%m}", "papers": count} for month, count in counted.iter_rows()]


def surveys(home: Path) -> list[dict]:
    """The newest edition of each topic and method: fresh or stale, and what changed."""
    lake = Lake(home)
    newest = (
        lake.scan("surveys").sort("created_at").unique(["topic", "method"], keep="last", maintain_order=True).collect()
    )
    workshop = Workshop(home)
    return [_state(workshop, row) for row in newest.sort("topic", "method").to_dicts()]


def _state(workshop: Workshop, row: dict) -> dict:
    told = {"topic": row["topic"], "method": row["method"], "edition": row["edition"], "status": row["status"]}
    try:
        topic = editions.load_topic(workshop.lake, row["topic"])
        pool = build_pool(view_of(workshop.lake, topic), workshop.index, topic)
        causes = _pool_causes(workshop.lake, topic.key, pool.rows)
        if not causes:
            desk = stages.open_desk(workshop, topic, row["method"], row["writer"])
            causes = [] if desk.edition.id == row["edition"] else _input_causes(row, desk.edition)
            if due := texts.files_due(workshop, topic, reader_named(DEFAULT_PARSER)):
                causes.append(f"{due} file{'s' if due > 1 else ''} of the pool's papers still to be read")
    except NoEvidence as error:
        causes = [error.message]
    except LithouseError as error:
        return {**told, "state": "unknown", "cause": error.message}
    return {**told, "state": "stale" if causes else "fresh", "cause": "; ".join(causes)}


def _input_causes(row: dict, edition: editions.Edition) -> list[str]:
    causes = []
    if row["parameters"] != edition.parameters:
        causes.append("method or writer changed")
    if row["pool_hash"] != edition.pool_hash:
        causes.append("the pool changed after the survey was written")
    if row["cards_hash"] != edition.cards_hash:
        causes.append("texts of the pool's papers were read or changed after the survey was written")
    return causes or ["the human outlines nearest to the topic changed"]


def _pool_causes(lake: Lake, key: str, fresh: pl.DataFrame) -> list[str]:
    """Which papers entered, left or changed since the pool was stored."""
    held = dict(lake.read("topic_pool", topic=key).select("paper_id", "content_hash").iter_rows())
    now = dict(fresh.select("paper_id", "content_hash").iter_rows())
    groups = {
        "entered": sorted(now.keys() - held.keys()),
        "left": sorted(held.keys() - now.keys()),
        "changed": sorted(p for p in now.keys() & held.keys() if now[p] != held[p]),
    }
    return [
        f"{len(ids)} {verb}: {', '.join(ids[:5])}{' …' if len(ids) > 5 else ''}" for verb, ids in groups.items() if ids
    ]
