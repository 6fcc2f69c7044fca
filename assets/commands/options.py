"""What commands share: parameter types, the --json flag, progress on standard error, flags that mean what they say."""

import contextlib
import json
import sys
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

import click

from ingestion.dates import parse_cutoff
from ingestion.errors import BadInput


class Cutoff(click.ParamType):
    """An inclusive UTC day: 2024-03-31; 2024-03 and 2403 are the month's last day, 2024 the year's."""

    name = "day"

    def convert(self, value, param, ctx) -> date:
        if isinstance(value, date):
            return value
        try:
            return parse_cutoff(value)
        except BadInput as error:
            self.fail(error.message, param, ctx)


class Command(click.Command):
    """A command whose flags also take a value: `--force=False` means false, not an error and not true."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        flags = {o for p in self.params if isinstance(p, click.Option) and p.is_flag for o in p.opts}
        kept, is_literal = [], False
        for argument in args:
            is_literal = is_literal or argument == "--"
            name, equals, value = argument.partition("=")
            if is_literal or not equals or name not in flags:
                kept.append(argument)
            elif click.BOOL.convert(value, None, ctx):
                kept.append(name)
        return super().parse_args(ctx, kept)


json_flag = click.option("--json", "as_json", is_flag=True, help="Machine-readable result on standard output.")
cutoff_option = click.option("--cutoff", type=Cutoff(), help="Inclusive UTC day, e.g. 2024-03-31.")


def print_json(value: object) -> None:
    click.echo(json.dumps(value, ensure_ascii=False, indent=2, default=str))


@contextlib.contextmanager
def progress_bars() -> Iterator[Callable[[str, int, int], None]]:
    """A bar on standard error for each thing that takes long; none where that is no terminal."""
    from tqdm import tqdm

    bars: dict[str, tqdm] = {}

    def told(what: str, done: int, total: int, detail: str = "") -> None:
        if what not in bars:
            bars[what] = tqdm(total=total, desc=what, file=sys.stderr, disable=None, leave=False)
        bars[what].total = total
        if detail:
            bars[what].set_postfix_str(detail, refresh=False)
        bars[what].update(done - bars[what].n)

    try:
        yield told
    finally:
        for bar in bars.values():
            bar.close()


def note(text: str) -> None:
    """A line for the reader of the terminal; results go to standard output."""
    click.echo(text, err=True)


_FILES = (".bib", ".txt", ".csv", ".json", ".jsonl", ".md", ".ris", ".tex")


def paper_ids(text: str | None) -> tuple[str, ...]:
    """Ids from a comma-separated list, or from a file such as a .bib, in which every id found counts.

    Raises:
        BadInput: nothing in it is an id, or there is no such file.
    """
    from ingestion.identity import find_paper_ids, parse_paper_id

    if not text:
        return ()
    path = Path(text)
    if path.is_file():
        found = [i.value for i in find_paper_ids(path.read_text(encoding="utf-8", errors="replace"))]
        if not found:
            raise BadInput("the file names no paper id", which=text)
        return tuple(dict.fromkeys(found))
    if path.suffix.lower() in _FILES:
        raise BadInput("there is no file", which=text, advice="Name a file, or paper ids with commas between them.")
    return tuple(parse_paper_id(part).value for part in text.split(",") if part.strip())
