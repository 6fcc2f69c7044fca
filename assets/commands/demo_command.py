"""`lithouse demo`: nothing but `refresh --source mirror:<sample>` and `survey`."""

from pathlib import Path

import click

from assets.commands.options import Command, json_flag, note, progress_bars
from assets.home import lithouse_home

TOPIC = "Retrieval-Augmented Generation"
CUTOFF = "2024-12-31"
SAMPLE = Path(__file__).resolve().parents[2] / "ingestion" / "sample"


@click.command("demo", cls=Command)
@json_flag
def command(as_json: bool) -> None:
    """Forty real papers, indexed and surveyed, offline and without a key.

    The papers' texts are summaries written by this project, and are marked so.
    """
    from assets import refreshing
    from assets.commands import refresh_command, survey_command
    from assets.results import refresh_result
    from assets.runs import Request
    from generation.topics import define_topic
    from ingestion.dates import parse_cutoff
    from ingestion.mirror import open_mirror

    home, source = lithouse_home(), open_mirror(SAMPLE)
    note(f'lithouse refresh --source "mirror:{SAMPLE}" --cutoff {CUTOFF}')
    with progress_bars() as told:
        outcome = refreshing.refresh(home, source, parse_cutoff(CUTOFF), told)
    if not as_json:
        refresh_command.show(refresh_result(outcome, source))
    note(f'lithouse survey "{TOPIC}"')
    survey_command.write(home, define_topic(TOPIC), Request("surveyforge", "extractive"), as_json=as_json)
