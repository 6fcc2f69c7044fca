"""The parsers to choose from: docvortex, embedded, and programs of others.

Here: what a run needs to know of a parser. Not here: running it (`ingestion.documents.parsing.files`).
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version

from ingestion.documents.parsing.external import PROGRAMS, Program, found, matching, tier_of
from ingestion.documents.parsing.limits import Limits
from ingestion.errors import BadInput

DEFAULT_PARSER = "docvortex"


@dataclass(frozen=True)
class Parser:
    """A parser as a run uses it; made by `docvortex_parser` and `external_parser`.

    Attributes:
        name: with version where it is known ("docvortex 0.6.4").
        task: `module:function` that does a job.
        tier: "" where it has none.
        prepare: `module:function` that imports what the task needs.
        options: of the task, as JSON has them.
        environment: names of variables that it may see besides the common ones.
        limits: of one file, unless the run says otherwise.
    """

    name: str
    task: str
    tier: str = ""
    prepare: str = ""
    options: Mapping[str, object] = field(default_factory=dict)
    environment: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)


def docvortex_parser() -> Parser:
    """The embedded parser: no weights, no network, text layers only."""
    return Parser(
        name=f"docvortex {version('docvortex')}",
        task="ingestion.documents.parsing.worker:parse",
        prepare="ingestion.documents.parsing.worker:prepare",
    )


def external_parser(name: str, tier: str | None = None) -> Parser:
    """A parser that is a program of its own: `mineru-kit` (tiers basic, standard) or `magic-pdf`.

    Raises:
        BadInput: no such program or tier.
        PermanentFailure: the program is not installed.
    """
    if name not in PROGRAMS:
        raise BadInput("No such parser", which=name, advice=f"Known: docvortex, {', '.join(PROGRAMS)}.")
    return program_parser(PROGRAMS[name], tier)


def program_parser(program: Program, tier: str | None = None) -> Parser:
    """The same for any `ingestion.documents.parsing.external.Program`."""
    tier = tier_of(program, tier)
    return Parser(
        name=program.name,
        tier=tier,
        task="ingestion.documents.parsing.external:parse",
        prepare="ingestion.documents.parsing.external:prepare",
        options={
            "argv": [found(program), *program.command[1:]],
            "name": program.name,
            "tier": tier,
            "weights": program.weights,
            "absent_weights": program.absent_weights,
            "needs_text_layer": program.needs_text_layer,
        },
        environment=tuple(matching(program.environment, os.environ)),
        limits=program.limits,
    )
