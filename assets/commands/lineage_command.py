"""`lithouse lineage`."""

import re

import click

from assets.commands.options import Command, json_flag, print_json
from assets.home import lithouse_home


@click.command("lineage", cls=Command)
@click.argument("topic")
@click.option("--sentence", type=int, metavar="N", help="A sentence, counted from 1.")
@click.option("--section", metavar="NUMBER", help='A section as printed, e.g. "2.1".')
@json_flag
def command(topic: str, sentence: int | None, section: str | None, as_json: bool) -> None:
    """Where a survey, a section or a sentence came from, down to characters, records, files and the run.

    TOPIC is a title, a key, KEY/METHOD or KEY/METHOD@EDITION.
    """
    if sentence is not None and section is not None:
        raise click.UsageError("Give --sentence or --section, not both.")
    from corpus.tables import Lake
    from generation import lineage

    lake = Lake(lithouse_home())
    row = lineage.find_edition(lake, topic)
    if sentence is not None:
        tree = lineage.of_sentence(lake, row, sentence)
    elif section is not None:
        tree = lineage.of_section(lake, row, section)
    else:
        from assets.making import assets_of

        tree = lineage.of_survey(lake, row)
        tree.children[-1].children += assets_of(lake.home, row)  # of the run
    if as_json:
        print_json(tree.as_json())
    else:
        _show(tree)


def _show(node, prefix: str = "", branch: str = "") -> None:
    """A line a node; what the label already says is not said again."""
    told = [(k, v) for k, v in node.detail.items() if v not in (None, "", []) and f"{k} {v}" not in node.label]
    detail = ", ".join(f"{k} {_short(v)}" for k, v in told)
    click.echo(f"{prefix}{branch}{node.kind} {node.id}: {node.label}{f'  ({detail})' if detail else ''}")
    below = prefix + {"": "", "├─ ": "│  ", "└─ ": "   "}[branch]
    for i, child in enumerate(node.children):
        _show(child, below, "└─ " if i == len(node.children) - 1 else "├─ ")


def _short(value: object) -> str:
    """Hashes and ids as far as a person compares them; --json has them whole."""
    text = str(value)
    return f"{text[:12]}…" if re.fullmatch(r"[0-9a-f-]{32,}", text) else text
