"""What calls cost: the one module that knows genai-prices, whose data come with the package.

A price that is not known is None: never guessed from a similar name, never an error.
"""

import re

from generation.language_models.calls import ModelSettings
from generation.language_models.providers import PROVIDERS, Endpoint, split_name

_MILLION = 1_000_000


def cost(
    settings: ModelSettings,
    input_tokens: int,
    output_tokens: int,
    *,
    prompt_cached_tokens: int = 0,
) -> float | None:
    """US dollars for tokens of this model; None where its price is not known.

    Args:
        settings: of the model.
        input_tokens: all that were sent.
        output_tokens: all that were written.
        prompt_cached_tokens: of those sent, what the server had in a cache of its own.
    """
    if settings.is_local:
        return 0.0
    if settings.price is not None:
        return (input_tokens * settings.price[0] + output_tokens * settings.price[1]) / _MILLION
    if settings.price_list is None:
        return None
    from genai_prices import Usage, calc_price

    usage = Usage(input_tokens=input_tokens, output_tokens=output_tokens, cache_read_tokens=prompt_cached_tokens)
    try:
        found = calc_price(usage, split_name(settings.name)[1], provider_id=settings.price_list)
    except (LookupError, ValueError):
        return None
    return float(found.total_price)


def known_window(price_list: str | None, model: str) -> int | None:
    """Tokens that a model's context holds, where genai-prices says."""
    if price_list is None:
        return None
    from genai_prices.data_snapshot import get_snapshot

    try:
        return get_snapshot().find_provider_model(model, None, price_list, None)[1].context_window
    except LookupError:
        return None


def price_list(endpoint: Endpoint) -> str | None:
    """The provider whose prices hold for a server; None for one of no known provider, whatever its models are called."""
    if not endpoint.is_other:
        return PROVIDERS[endpoint.provider].price_list
    if endpoint.is_private:
        return None
    from genai_prices.data_snapshot import get_snapshot

    known = get_snapshot().providers
    return next((p.id for p in known if p.api_pattern and re.match(p.api_pattern, endpoint.address)), None)
