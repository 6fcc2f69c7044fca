"""Options that say which topic a command means and how its survey is made: `survey` and `outline` share them."""

from collections.abc import Callable
from datetime import date
from pathlib import Path

import click

from assets.commands.options import cutoff_option, note, paper_ids
from ingestion.documents.parsing.parsers import DEFAULT_PARSER

_OPTIONS = (
    click.argument("topic"),
    cutoff_option,
    click.option("--description", default="", help="More about the topic, searched with the title."),
    click.option("--method", default="surveyforge", show_default=True, help="How the survey is made."),
    click.option(
        "--model",
        default=None,
        metavar="extractive|PROVIDER:NAME",
        help="Who writes it: the embedded writer (the default), or a model; key and address come from the environment.",
    ),
    click.option("--pool", type=click.IntRange(min=1), help="Papers the pool may hold.  [default: 1500]"),
    click.option(
        "--include", metavar="IDS|FILE", help="Papers that must be in the pool: ids, or a file such as a .bib."
    ),
    click.option("--exclude", metavar="IDS|FILE", help="Papers hidden from the topic, by id and by title."),
    click.option("--withdrawn", is_flag=True, help="Withdrawn papers may be cited."),
    click.option(
        "--parser",
        default=DEFAULT_PARSER,
        show_default=True,
        help="Reads the papers' files: docvortex, mineru-kit[:TIER], magic-pdf.",
    ),
    click.option(
        "--read",
        type=click.IntRange(min=0),
        help="Files of papers to read now at most, the best papers' first; 0 for none.  [default: all]",
    ),
)


def topic_options(function: Callable) -> Callable:
    """Add the options; the command gets `topic, cutoff, description, method, model, pool, include, exclude,
    withdrawn, parser, read`."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def topic_asked(
    home: Path,
    topic: str,
    *,
    cutoff: date | None,
    description: str,
    pool: int | None,
    include: str | None,
    exclude: str | None,
    withdrawn: bool,
):
    """The topic that the options define; where only a key is given, the topic that was named before.

    Raises:
        BadTopic, UnreadableId: the definition cannot be used.
    """
    from corpus.tables import Lake
    from generation.topics import DEFAULT_POOL_SIZE, define_topic

    is_bare = not any([description, cutoff, include, exclude, pool, withdrawn])
    if is_bare and (known := known_topic(Lake(home), topic)):
        return known
    return define_topic(
        topic,
        description=description,
        cutoff=cutoff,
        inclusions=paper_ids(include),
        exclusions=paper_ids(exclude),
        pool_size=pool or DEFAULT_POOL_SIZE,
        has_withdrawn=withdrawn,
    )


def known_topic(lake, key: str):
    """The topic whose key was given; None where the text is no key, and so a title."""
    from generation.editions import load_topic
    from ingestion.errors import NotFound

    try:
        return load_topic(lake, key)
    except NotFound:
        return None


def check_names(method: str, model: str) -> None:
    """Refuse a method or a writer that there is none of.

    Raises:
        click.BadParameter: with those there are.
    """
    from generation.model_access import check_writer
    from generation.stages import METHODS
    from ingestion.errors import LithouseError

    if method not in METHODS:
        raise click.BadParameter(f"'{method}' is no method; methods: {', '.join(METHODS)}.", param_hint="'--method'")
    try:
        check_writer(model)
    except LithouseError as error:
        raise click.BadParameter(error.message, param_hint="'--model'") from error


_MODEL_OPTIONS = (
    click.option("--window", type=click.IntRange(min=512), help="Tokens of the model's window, where it is not known."),
    click.option("--concurrency", type=click.IntRange(min=1), help="Calls to the model at once.  [default: 8]"),
    click.option("--budget-tokens", type=click.IntRange(min=1), help="Tokens that this run may spend."),
    click.option("--budget-cost", type=click.FloatRange(min=0, min_open=True), help="US dollars that it may spend."),
    click.option("--verdicts", is_flag=True, help="Have the model judge each sentence too, beside the rules."),
    click.option("--replay", is_flag=True, help="Answer from the ledger only; asks no model and needs no key."),
)


def model_options(function: Callable) -> Callable:
    """Add the options on how a model is asked; the command gets `window, concurrency, budget_tokens, budget_cost,
    verdicts, replay`."""
    for option in reversed(_MODEL_OPTIONS):
        function = option(function)
    return function


def model_access(
    model: str,
    *,
    window: int | None,
    concurrency: int | None,
    budget_tokens: int | None,
    budget_cost: float | None,
    verdicts: bool,
    replay: bool,
):
    """How models may be asked, as the options say.

    Raises:
        click.UsageError: an option is of no use to this writer.
    """
    from generation.language_models.budgets import Budget
    from generation.model_access import EXTRACTIVE, ModelAccess

    given = {
        "--window": window, "--concurrency": concurrency, "--budget-tokens": budget_tokens,
        "--budget-cost": budget_cost, "--verdicts": verdicts, "--replay": replay,
    }  # fmt: skip
    if model == EXTRACTIVE and (useless := [name for name, value in given.items() if value]):
        raise click.UsageError(
            f"{', '.join(useless)}: only with --model PROVIDER:NAME; the embedded writer asks no model."
        )
    return ModelAccess(Budget(budget_tokens, budget_cost), replay, window, concurrency, verdicts)


def tell_assumptions(model: str, access) -> None:
    """Say what is assumed of a model: its window, where that is not known, and that its price is not."""
    from generation.language_models.names import model_settings
    from generation.model_access import EXTRACTIVE

    if model != EXTRACTIVE:
        for line in model_settings(model, window=access.window).notes:
            note(line)
