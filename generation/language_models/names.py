"""A model by its name: `PROVIDER:NAME` and the environment give the settings it is asked with.

Variables (all but the keys and addresses of `providers`):

    LITHOUSE_MODEL_WINDOW               tokens of prompt and reply together
    LITHOUSE_MODEL_CONCURRENCY          calls at once (8)
    LITHOUSE_MODEL_REQUESTS_PER_MINUTE  no limit unless given
    LITHOUSE_MODEL_TOKENS_PER_MINUTE    no limit unless given
    LITHOUSE_MODEL_TIMEOUT              seconds for one reply (180)
    LITHOUSE_MODEL_OUTPUT               native, tool or prompted: how structured replies are asked for (native)
    LITHOUSE_MODEL_PRICE                INPUT/OUTPUT, US dollars a million tokens, instead of the published price
    LITHOUSE_MODEL_IS_FREE              1: the price is 0 (local models); 0: not free although it is local

Each holds one value for all models, or values for some, separated by commas:
`8,openai:gpt-5-mini=2,ollama:*=1` is 2 for that model, 1 for all of Ollama, 8 for the others.
"""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any, TypeVar

from generation.language_models.calls import ModelSettings, NoSuchModel
from generation.language_models.prices import cost, known_window, price_list
from generation.language_models.providers import PROVIDERS, Endpoint, endpoint, split_name
from generation.language_models.tokens import encoding_of
from ingestion.errors import BadInput

DEFAULT_WINDOW = 8192
"""Tokens, where neither the environment nor genai-prices names a window: what small local servers are started with."""
KNOWN_MARGIN, OTHER_MARGIN = 1.0, 1.3
"""Real tokens per counted one at most, with the model's own tokenizer and with another's (see `tokens`)."""
_PREFIX = "LITHOUSE_MODEL_"
_NAME = re.compile(r"[a-z][a-z0-9-]*:\S+")
_OUTPUTS = ("native", "tool", "prompted")
_REASONING = re.compile(r"o\d|gpt-5(?!.*chat)")
Read = TypeVar("Read")


def is_model_name(text: str) -> bool:
    """Whether the text has the form `PROVIDER:NAME`, of a provider we know or not."""
    return _NAME.fullmatch(text) is not None


def model_settings(
    name: str,
    *,
    environment: Mapping[str, str] = os.environ,
    window: int | None = None,
    concurrency: int | None = None,
) -> ModelSettings:
    """How a model is asked. Whether there is a key for it is looked at when a request is sent, not here.

    Args:
        name: `PROVIDER:NAME`.
        environment: variables of the module's head.
        window, concurrency: instead of the environment's.

    Raises:
        NoSuchModel: no such provider, or no name after it.
        BadInput: a variable or an argument that is not what it should be.
    """
    if not is_model_name(name):
        raise NoSuchModel("not a model's name", which=name, advice=f"Give PROVIDER:NAME, {_known()}.")
    provider, model = split_name(name)
    if provider not in PROVIDERS:
        raise NoSuchModel("no such provider of models", which=name, advice=f"Give PROVIDER:NAME, {_known()}.")
    server = endpoint(provider, environment)

    def of(variable: str, read: Callable[[str], Read], form: str, given: Any = None) -> Read | None:
        which = f"{_PREFIX}{variable}"
        text = str(given) if given is not None else _chosen(environment.get(which, ""), name, which)
        if text is None:
            return None
        try:
            return read(text)
        except ValueError:
            told = f"{variable.lower()}={text}" if given is not None else f"{which}={text}"
            raise BadInput(f"this must be {form}", which=told) from None

    notes = []
    prices_of = price_list(server)
    tokens = of("WINDOW", _count, "a whole number of tokens", window) or known_window(prices_of, model)
    if tokens is None:
        tokens = DEFAULT_WINDOW
        notes.append(f"no window is known for {name}: {DEFAULT_WINDOW} tokens are assumed (LITHOUSE_MODEL_WINDOW)")
    if provider == "openai" and not server.is_other and _REASONING.match(model):
        notes.append(f"{name} may take no temperature: asked again, it may answer otherwise")
    form = of("OUTPUT", _output, f"one of {', '.join(_OUTPUTS)}") or "native"
    is_free = of("IS_FREE", _flag, "1 or 0")
    settings = ModelSettings(
        name,
        tokens,
        output=form,
        token_margin=KNOWN_MARGIN if encoding_of(name).is_own else OTHER_MARGIN,
        concurrency=of("CONCURRENCY", _count, "a whole number from 1", concurrency) or 8,
        requests_per_minute=of("REQUESTS_PER_MINUTE", _count, "a whole number from 1"),
        tokens_per_minute=of("TOKENS_PER_MINUTE", _count, "a whole number from 1"),
        timeout=of("TIMEOUT", _seconds, "a number of seconds above 0") or 180.0,
        is_local=_runs_here(provider, model, server) if is_free is None else is_free,
        price=of("PRICE", _price, "INPUT/OUTPUT in US dollars a million tokens, e.g. 0.25/2"),
        price_list=prices_of,
    )
    if cost(settings, 1, 1) is None:
        notes.append(f"no price is known for {name}: costs are unknown (LITHOUSE_MODEL_PRICE, LITHOUSE_MODEL_IS_FREE)")
    deciding = {"temperature": settings.temperature, "seed": settings.seed, "output": settings.output}
    return replace(settings, notes=tuple(notes), deciding=deciding)


def _chosen(text: str, name: str, variable: str) -> str | None:
    """The part of a variable that holds for a model: under its own name, else under a pattern, else for all."""
    general, patterns = None, {}
    for part in filter(None, (p.strip() for p in text.split(","))):
        pattern, equals, value = part.rpartition("=")
        if not equals:
            if general is not None:
                raise BadInput(
                    "two values for all models", which=f"{variable}={text}", advice="Write PROVIDER:NAME=VALUE for one."
                )
            general = value
        else:
            patterns[pattern.strip()] = value.strip()
    if name in patterns:
        return patterns[name]
    # The longest pattern says most about the model.
    return next((patterns[p] for p in sorted(patterns, key=len, reverse=True) if fnmatchcase(name, p)), general)


def _runs_here(provider: str, model: str, server: Endpoint) -> bool:
    """Ollama runs models where it is, but for those it hands on; of another server on this machine we do not know."""
    return provider == "ollama" and server.is_private and not model.endswith(("-cloud", ":cloud"))


def _known() -> str:
    return f"PROVIDER one of {', '.join(PROVIDERS)}; a server that speaks OpenAI's protocol is openai: with OPENAI_BASE_URL"


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


def _seconds(text: str) -> float:
    number = float(text)
    if not 0 < number < float("inf"):
        raise ValueError(text)
    return number


def _output(text: str) -> str:
    if text not in _OUTPUTS:
        raise ValueError(text)
    return text


def _flag(text: str) -> bool:
    if text.lower() not in ("1", "true", "yes", "0", "false", "no"):
        raise ValueError(text)
    return text.lower() in ("1", "true", "yes")


def _price(text: str) -> tuple[float, float]:
    parts = tuple(float(part) for part in text.split("/"))
    if len(parts) != 2 or not all(0 <= part < float("inf") for part in parts):
        raise ValueError(text)
    return parts
