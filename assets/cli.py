"""The command `lithouse`: one group, commands loaded when named, errors in one line, exit codes 0 to 3.

0 done · 1 failed, the message says what to do · 2 wrong usage · 3 done in part, what is missing is listed.
"""

import importlib
import json
import sys
from collections.abc import Sequence

import click

from ingestion.errors import LithouseError, PermanentFailure

COMMANDS = {
    "demo": "Sample corpus → index → survey, offline, no key.",
    "refresh": "Bring the corpus up to a day from a source.",
    "import": "Side data: outlines, citations, metadata of further papers.",
    "survey": "Materialize a topic's survey.",
    "outline": "The outline of a topic's survey, to edit and give back.",
    "export": "A survey as Markdown, page, LaTeX, PDF, Word, BibTeX, CSL-JSON, RIS.",
    "index": "Embed every paper, so that search finds by meaning too.",
    "search": "Search the corpus.",
    "paper": "What is held of a paper.",
    "sql": "One SELECT over the tables.",
    "tables": "Data dictionary.",
    "lineage": "Where a survey, a section or a sentence came from.",
    "status": "Tables, coverage by month, stale surveys and why.",
    "maintain": "Join small files, remove versions no survey was made from.",
    "ui": "Dagster's pages on 127.0.0.1.",
}


class LazyGroup(click.Group):
    """Commands are modules of `assets.commands`, imported only when asked for: `--help` must not wait for them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        return importlib.import_module(f"assets.commands.{name}_command").command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="lithouse", prog_name="lithouse")
def cli() -> None:
    """A literature lakehouse: papers, references and citations as versioned tables, and surveys in which every
    sentence leads back to its source.

    Everything lies under LITHOUSE_HOME (default: ./lake).
    """


def main(arguments: list[str] | None = None) -> None:
    """Run a command; never shows a traceback for an error that can be explained."""
    given = sys.argv[1:] if arguments is None else arguments
    try:
        sys.exit(cli.main(given, prog_name="lithouse", standalone_mode=False) or 0)
    except LithouseError as error:
        _fail(error, given)
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.UsageError as error:
        error.show()
        sys.exit(2)
    except click.ClickException as error:
        error.show()
        sys.exit(1)
    except (KeyboardInterrupt, click.Abort):
        click.echo("Stopped. What is finished stays; run the command again to go on.", err=True)
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except OSError as error:
        which = f"{error.filename}: {error.strerror}" if error.filename and error.strerror else str(error)
        _fail(PermanentFailure("a file or folder cannot be used", which=which), given)


def _fail(error: LithouseError, given: Sequence[str]) -> None:
    """Tell the error in one line, with --json as an object too, and exit."""
    if "--json" in given:
        told = {"kind": type(error).__name__, "what": error.what, "which": error.which, "advice": error.advice}
        click.echo(json.dumps({"error": {**told, "is_retryable": error.is_retryable}}, ensure_ascii=False))
    click.echo(f"Error: {' '.join(error.message.split())}", err=True)
    sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
