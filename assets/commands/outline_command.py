"""`lithouse outline`."""

import time

import click

from assets.commands.options import Command, json_flag, print_json, progress_bars
from assets.commands.topic_options import (
    check_names,
    known_topic,
    model_access,
    model_options,
    tell_assumptions,
    topic_asked,
    topic_options,
)
from assets.home import lithouse_home


@click.command("outline", cls=Command)
@topic_options
@model_options
@json_flag
def command(
    topic, cutoff, description, method, model, pool, include, exclude, withdrawn, parser, read, as_json, **asking
) -> None:
    """Print the outline of a topic's survey as Markdown, to edit and give back: `lithouse survey … --outline FILE`.

    TOPIC is a title, a key, KEY/METHOD or KEY/METHOD@EDITION. The newest edition's outline is printed; a topic that
    has none yet gets its outline made, and nothing more.
    """
    from corpus.tables import Lake
    from generation import editions
    from generation.outline_files import outline_markdown
    from generation.stages import METHODS

    writer = model or "extractive"
    check_names(method, writer)
    access = model_access(writer, **asking)
    started = time.monotonic()
    home = lithouse_home()
    lake = Lake(home)
    asked = {"cutoff": cutoff, "description": description, "pool": pool, "include": include, "exclude": exclude}
    slug, _, named = topic.partition("/")
    if named in METHODS and known_topic(lake, slug):
        topic, method = slug, named
    found = _newest(lake, home, topic, method, model, asked | {"withdrawn": withdrawn})
    if found is None:
        tell_assumptions(writer, access)
        from assets.runs import Request

        request = Request(method, writer, parser, read, access=access)
        found = _made(home, topic, asked | {"withdrawn": withdrawn}, request)
    key, title, edition = found
    outline = editions.outline_of(lake, key, edition)
    rows = lake.read("outlines", topic=key, edition=edition).sort("position").to_dicts()
    text = outline_markdown(outline, title, f"{key}/{method}@{edition}")
    if not as_json:
        click.echo(text, nl=False)
        return
    nodes = [
        {**{name: r[name] for name in ("number", "title", "description", "role", "queries", "heading_origin")},
         "papers": len(r["memory"])}
        for r in rows
    ]  # fmt: skip
    author = rows[0]["author"] or "method"
    told = {"topic": title, "slug": key, "method": method, "edition": edition, "author": author, "nodes": nodes}
    print_json(told | {"markdown": text, "seconds": round(time.monotonic() - started, 3)})


def _newest(lake, home, topic: str, method: str, model: str | None, asked: dict) -> tuple[str, str, str] | None:
    """(key, title, edition) of the newest finished edition that was asked for; None where there is none.

    Raises:
        NotFound: an edition was named that there is none of.
    """
    from generation.lineage import find_edition
    from ingestion.errors import NotFound

    is_bare = not any(asked.values())
    name = topic if is_bare else topic_asked(home, topic, **asked).key
    try:
        row = find_edition(lake, name if "/" in name or "@" in name else f"{name}/{method}", model)
    except NotFound:
        if "@" in name:
            raise
        if not is_bare:
            return None
        try:
            row = find_edition(lake, name, model)
        except NotFound:
            return None
    return (row["topic"], row["title"], row["edition"]) if row["method"] == method or "/" in name else None


def _made(home, topic: str, asked: dict, request) -> tuple[str, str, str]:
    from assets import runs

    with progress_bars() as told:
        edition = runs.outline(home, topic_asked(home, topic, **asked), request, told)
    return edition.topic.key, edition.topic.title, edition.id
