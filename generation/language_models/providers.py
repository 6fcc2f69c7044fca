"""Who serves models: where each provider is reached, and by which key. No network, no SDK.

What a name and the environment make of it is in `names`; the clients are made in `gateway`.
"""

import ipaddress
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from generation.language_models.secrets import without_user
from ingestion.errors import BadInput


@dataclass(frozen=True)
class Provider:
    """A provider.

    Attributes:
        keys: variables that may hold the key, the first that is set counts.
        address: where it is asked.
        address_variable: names another server that speaks its protocol; None where there can be none.
        price_list: its name in genai-prices; None where that has no prices of it.
        needs_key: a key is needed even on a private address.
    """

    keys: tuple[str, ...]
    address: str
    address_variable: str | None = None
    price_list: str | None = None
    needs_key: bool = True


PROVIDERS: dict[str, Provider] = {
    "openai": Provider(("OPENAI_API_KEY",), "https://api.openai.com/v1", "OPENAI_BASE_URL", "openai"),
    "anthropic": Provider(("ANTHROPIC_API_KEY",), "https://api.anthropic.com", "ANTHROPIC_BASE_URL", "anthropic"),
    "google": Provider(
        ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
        "https://generativelanguage.googleapis.com",
        "GOOGLE_GEMINI_BASE_URL",
        "google",
    ),
    "ollama": Provider(("OLLAMA_API_KEY",), "http://127.0.0.1:11434/v1", "OLLAMA_BASE_URL", needs_key=False),
    "openrouter": Provider(("OPENROUTER_API_KEY",), "https://openrouter.ai/api/v1", None, "openrouter"),
    "deepseek": Provider(("DEEPSEEK_API_KEY",), "https://api.deepseek.com", None, "deepseek"),
    "together": Provider(("TOGETHER_API_KEY",), "https://api.together.xyz/v1", None, "together"),
    "fireworks": Provider(("FIREWORKS_API_KEY",), "https://api.fireworks.ai/inference/v1", None, "fireworks"),
    "cerebras": Provider(("CEREBRAS_API_KEY",), "https://api.cerebras.ai/v1", None, "cerebras"),
    "moonshotai": Provider(("MOONSHOTAI_API_KEY",), "https://api.moonshot.ai/v1", None, "moonshotai"),
}
"""Those that speak OpenAI's protocol without being named here are reached as `openai:` through OPENAI_BASE_URL."""


@dataclass(frozen=True)
class Endpoint:
    """A server to ask.

    Attributes:
        address: base URL without user info.
        authorization: Authorization header for user info that stood in the address.
        is_other: not the provider's own server, but one that speaks its protocol.
        is_private: on this machine or in a private network: no key is needed.
    """

    provider: str
    address: str
    authorization: str | None
    is_other: bool
    is_private: bool

    @property
    def host(self) -> str:
        """Host and port, as an error may name them."""
        return urlsplit(self.address).netloc


def split_name(name: str) -> tuple[str, str]:
    """Provider and model of `PROVIDER:NAME`; a name may hold further colons (`ollama:llama3.2:3b`)."""
    provider, _, model = name.partition(":")
    return provider, model


def endpoint(provider: str, environment: Mapping[str, str]) -> Endpoint:
    """Where a provider is asked.

    Raises:
        BadInput: the address in the environment is none.
    """
    known = PROVIDERS[provider]
    given = environment.get(known.address_variable, "").strip() if known.address_variable else ""
    try:
        address, authorization = without_user(given or known.address)
        parts = urlsplit(address)
        is_address = parts.scheme in ("http", "https") and _is_host(parts.hostname or "") and parts.port != 0
    except ValueError:  # brackets that do not close, a port that is no number or above 65,535
        is_address = False
    if not is_address:
        raise BadInput(
            "the server's address is no http address",
            # What is no address cannot be taken apart: whatever stands before an @ may be a password.
            which=f"{known.address_variable}={'…' if '@' in given else given}",
            advice="Give one such as http://127.0.0.1:8080/v1.",
        )
    return Endpoint(
        provider,
        address,
        authorization,
        is_other=parts.hostname != urlsplit(known.address).hostname,
        is_private=_is_private(parts.hostname),
    )


def key_of(provider: str, environment: Mapping[str, str]) -> str | None:
    """The provider's key; None where no variable holds one."""
    return next((value for _, value in _keys(provider, environment)), None)


def key_variable(provider: str, environment: Mapping[str, str]) -> str | None:
    """The variable that holds the provider's key; None where none does."""
    return next((name for name, _ in _keys(provider, environment)), None)


def _keys(provider: str, environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    return ((name, value) for name in PROVIDERS[provider].keys if (value := environment.get(name, "").strip()))


def _is_host(host: str) -> bool:
    """Raises ValueError where no name can be made of it."""
    return bool(host.encode("idna")) and host.isprintable() and not any(map(str.isspace, host))


def _is_private(host: str) -> bool:
    if host == "localhost" or host.endswith((".localhost", ".local", ".internal")):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return "." not in host  # a name of the local network, or of a container beside us
    return address.is_loopback or address.is_private or address.is_link_local
