"""`lithouse import`."""

import sys
from pathlib import Path

import click

from assets.commands.options import Command, json_flag, note, print_json, progress_bars
from assets.home import lithouse_home


@click.command("import", cls=Command)
@click.argument("kind", type=click.Choice(["outlines", "citations", "papers"]))
@click.argument("path", type=click.Path(path_type=Path))
@json_flag
def command(kind: str, path: Path, as_json: bool) -> None:
    """Bring in side data from a JSONL file (.gz too; Parquet for papers).

    outlines: a title or id, and an outline as a tree of {title, children} or numbered lines.
    citations: citing_id and cited_id. papers: fields of the arXiv snapshot or of Semantic Scholar.
    """
    result = _papers(path) if kind == "papers" else _side(kind, path)
    if as_json:
        print_json(result)
    else:
        counts = ", ".join(f"{result[k]} {k}" for k in ("added", "changed", "removed"))
        click.echo(f"{kind} from {result['source']}: {counts}, {len(result['rejected'])} rejected ({result['status']})")
        for refused in result["rejected"][:10]:
            click.echo(f"  rejected line {refused['line']}: {refused['reason']}")
    if result["unread_fields"]:
        note(f"Fields not read: {', '.join(result['unread_fields'])}")
    for failure in result["failures"]:
        note(f"Not read: {failure['item']}: {failure['reason']}")
    sys.exit(3 if result["status"] == "partial" else 0)


def _side(kind: str, path: Path) -> dict:
    from assets.locks import changing_corpus
    from corpus.sideimport import import_citations, import_outlines
    from corpus.tables import Lake

    home = lithouse_home()
    with changing_corpus(home):
        done = (import_outlines if kind == "outlines" else import_citations)(Lake(home), path)
    return {
        "source": done.report.source,
        "added": done.change.added,
        "changed": done.change.changed,
        "removed": done.change.removed,
        "self_loops": done.side.self_loops,
        "rejected": [{"id": r.raw_id, "reason": r.reason, "line": r.source_line} for r in done.report.refusals],
        "failures": [{"item": f.item, "reason": f.reason} for f in done.report.failures],
        "unread_fields": sorted(done.side.unread_fields),
        "status": done.report.status,
    }


def _papers(path: Path) -> dict:
    from assets import refreshing
    from assets.results import refresh_result
    from corpus.importing import ImportedPapers

    source = ImportedPapers(path)
    with progress_bars() as told:
        outcome = refreshing.refresh(lithouse_home(), source, None, told)
    result = refresh_result(outcome, source)
    return {
        "source": result["source"],
        "added": result["rows_added"],
        "changed": result["rows_changed"],
        "removed": result["rows_removed"],
        "rejected": result["rejected"],
        "failures": result["failures"],
        "unread_fields": sorted(source.unread_fields),
        "status": result["status"],
    }
