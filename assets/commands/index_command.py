"""`lithouse index`."""

import sys
import time

import click

from assets.commands.options import Command, json_flag, note, print_json, progress_bars
from assets.home import lithouse_home


@click.command("index", cls=Command)
@click.option("--all", "everything", is_flag=True, help="Embed every paper that has no vector of its present text.")
@click.option(
    "--embedder",
    metavar="NAME",
    help="minilm-int8, or PROVIDER:MODEL of LanceDB's registry, e.g. openai:text-embedding-3-small or ollama:MODEL; "
    "key and address come from the environment.  [default: the one in use, else minilm-int8]",
)
@json_flag
def command(everything: bool, embedder: str | None, as_json: bool) -> None:
    """Embed all papers, so that every search finds by meaning too.

    Surveys embed what they need by themselves; this embeds the rest. It can be stopped at any time and run again: it
    goes on where it was, and nothing is embedded twice. Other commands may run beside it.
    """
    if not everything:
        raise click.UsageError(
            "Say --all to embed every paper: about 40 papers a second with the packaged model on two cores. The full "
            "text index is kept by `lithouse refresh`, and surveys embed the papers they need."
        )
    from corpus.snapshots import take_snapshot
    from corpus.tables import Lake
    from indexes.paper_index import PaperIndex
    from indexes.registry_embedder import embedder_named

    started = time.monotonic()
    home = lithouse_home()
    index = PaperIndex.open(home / "index", embedder=embedder_named(embedder) if embedder else None)
    index.require(take_snapshot(Lake(home)).content_hash)
    with progress_bars() as told:
        report = index.embed_all(progress=lambda done, total: told("embedding papers", done, total))
    record = index.vector_index
    result = {
        "embedded": report.embedded,
        "reused": report.reused,
        "skipped": [{"id": paper_id, "reason": reason} for paper_id, reason in report.skipped],
        "rows": index.vector_count,
        "embedder": index.embedder.identity.name,
        "index": {
            "kind": record.kind if record else "exact",
            "recall": record.recall if record else {"100%": 1.0},
        },
        "seconds": round(time.monotonic() - started, 3),
    }
    if as_json:
        print_json(result)
    else:
        _show(result)
    for item in result["skipped"]:
        note(f"Not embedded: {item['id']}: {item['reason']}")
    sys.exit(3 if result["skipped"] else 0)


def _show(result: dict) -> None:
    index = result["index"]
    found = ", ".join(f"{recall:.3f} with {share} admitted" for share, recall in index["recall"].items())
    click.echo(
        f"{result['embedded']} papers embedded, {result['reused']} had their vector, {result['rows']} vectors by "
        f"{result['embedder']} ({result['seconds']:.1f} s)"
    )
    click.echo(
        "Search compares every vector." if index["kind"] == "exact" else f"Index {index['kind']}, recall {found}."
    )
