"""`lithouse sql`."""

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from assets.commands.options import Command, json_flag
from assets.home import lithouse_home
from ingestion.errors import BadInput


class SqlCommand(Command):
    """SQL may begin with a comment: no option has blanks in its name, so `-- a comment …` is none."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if "--" not in args:
            queries = [a for a in args if a.startswith("-") and any(c.isspace() for c in a.partition("=")[0])]
            if queries:
                args = [*(a for a in args if a not in queries), "--", *queries]
        return super().parse_args(ctx, args)


@click.command("sql", cls=SqlCommand)
@click.argument("query", metavar="SELECT")
@click.option(
    "--as-of",
    metavar="EDITION",
    help="The lake as it was when a survey was made: SLUG, SLUG/METHOD or SLUG/METHOD@EDITION.",
)
@click.option("--format", "form", type=click.Choice(["table", "csv", "parquet"]), default="table", show_default=True)
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), help="Write there instead.")
@json_flag
def command(query: str, as_of: str | None, form: str, output: Path | None, as_json: bool) -> None:
    """Run exactly one SELECT over the lake; nothing else can be read, and nothing written.

    `lithouse tables` names tables and columns.
    """
    from corpus.query import open_query
    from corpus.tables import Lake

    if form == "parquet" and output is None:
        raise click.UsageError("--format parquet needs --output FILE.")
    if as_json and (output or form != "table"):
        raise click.UsageError("--json goes to standard output; leave out --format and --output.")
    lake = Lake(lithouse_home())
    versions = until = None
    if as_of:
        from corpus.contracts.registry import CONTRACTS
        from generation.lineage import find_edition

        edition = find_edition(lake, as_of)
        versions = {m["table"]: m["version"] for m in edition["manifest"] if m["table"] in CONTRACTS}
        until = edition["created_at"]
    with open_query(lake, query, as_of=versions, until=until) as running, _whole(output, lake.home) as target:
        if as_json:
            _json(running.reader)
        elif form == "parquet":
            _parquet(running.reader, target)
        elif form == "csv":
            _csv(running.reader, target)
        else:
            _table(running.reader, target)


@contextlib.contextmanager
def _whole(output: Path | None, home: Path) -> Iterator[Path | None]:
    """A draft beside the output, which takes its place once all rows are in it.

    Raises:
        BadInput: the output would lie in the lake, which SQL never changes.
    """
    if output is None:
        yield None
        return
    if output.resolve().is_relative_to(home):
        raise BadInput("a result cannot be written into the lake", which=str(output), advice="Name a file elsewhere.")
    draft = output.with_name(f".{output.name}.{os.getpid()}")
    try:
        yield draft
        draft.replace(output)
    finally:
        draft.unlink(missing_ok=True)


def _json(reader) -> None:
    """A list of row objects, written as it comes."""
    import orjson

    first = True
    sys.stdout.write("[")
    for batch in reader:
        for row in batch.to_pylist():
            sys.stdout.write(("\n" if first else ",\n") + orjson.dumps(row, default=str).decode())
            first = False
    sys.stdout.write("]\n")


def _csv(reader, output: Path | None) -> None:
    import pyarrow.csv as csv

    target = str(output) if output else sys.stdout.buffer
    with csv.CSVWriter(target, _flat(reader.schema)) as writer:
        for batch in reader:
            writer.write_batch(_flat_batch(batch))


def _flat(schema):
    import pyarrow as pa

    return pa.schema([pa.field(f.name, pa.string() if pa.types.is_nested(f.type) else f.type) for f in schema])


def _flat_batch(batch):
    """CSV has no lists: they become JSON text."""
    import orjson
    import pyarrow as pa

    columns = [
        pa.array(
            [None if v is None else orjson.dumps(v, default=str).decode() for v in column.to_pylist()], pa.string()
        )
        if pa.types.is_nested(column.type)
        else column
        for column in batch.columns
    ]
    return pa.RecordBatch.from_arrays(columns, schema=_flat(batch.schema))


def _parquet(reader, output: Path) -> None:
    import pyarrow.parquet as pq

    with pq.ParquetWriter(output, reader.schema, compression="zstd") as writer:
        for batch in reader:
            writer.write_batch(batch)


def _table(reader, output: Path | None) -> None:
    import polars as pl

    frame = pl.from_arrow(reader.read_all())
    layout = {
        "tbl_rows": 200,
        "tbl_cols": -1,
        "tbl_width_chars": max(160, 20 * frame.width),
        "tbl_formatting": "UTF8_FULL_CONDENSED",
        "tbl_hide_dataframe_shape": True,
        "tbl_hide_column_data_types": True,
        "fmt_str_lengths": 80,
        "fmt_table_cell_list_len": 8,
    }
    with pl.Config(**layout):
        text = str(frame)
    text += f"\n{len(frame):,} rows\n"
    if output:
        output.write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
