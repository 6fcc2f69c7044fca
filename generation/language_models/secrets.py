"""Secrets taken out of text: what goes into a row, an error or a log passes through `scrub` first.

A secret is a value of the environment whose variable is named like one, a password in an address, an Authorization
header, or what has the form of a provider's key, wherever it comes from.
"""

import base64
import json
import os
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from urllib.parse import quote, unquote, urlsplit, urlunsplit

MARK = "[secret]"
_SHORTEST = 8
"""Shorter values are words like `true`: taking them out would damage texts."""
_NAMED_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL", re.IGNORECASE)
_OWN = re.compile(r"^LITHOUSE_(MODEL|HOME|SHARED)")
"""Our own settings, some of which count tokens; none is a secret."""
_KEY_FORM = re.compile(
    # OpenAI, Anthropic, OpenRouter, with * as servers print them; a digit tells it from sk-learn-like words
    r"\b(?:sk|pk|rk)-(?=[\w*-]*[\d*])[A-Za-z0-9_*-]{16,}"
    r"|\bAIza[0-9A-Za-z_-]{30,}"  # Google
    r"|\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_\w{20,}"
    r"|\bhf_[A-Za-z0-9]{20,}|\bgsk_[A-Za-z0-9]{20,}|\bxai-[A-Za-z0-9]{20,}|\bAKIA[0-9A-Z]{16}\b"
)
_KEY_PIECES = (
    "sk-",
    "pk-",
    "rk-",
    "AIza",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "hf_",
    "gsk_",
    "xai-",
    "AKIA",
)
_USER_INFO = re.compile(r"(?P<scheme>[a-zA-Z][a-zA-Z0-9+.-]*://)[^\s/?#@\"'<>]+@")
_HEADER = re.compile(
    r"(?P<name>(?:proxy-)?authorization|x-api-key|x-goog-api-key|api-key)"
    r"(?P<between>[\"']?\s*[:=,]\s*b?[\"']?)"
    r"(?:(?:bearer|basic|token)\s+[^\s\"',;)}\]]+|(?=\S*\d)[A-Za-z0-9+/=._~-]{16,})",
    re.IGNORECASE,
)
_BEARER = re.compile(r"\b(bearer|basic)\s+(?=\S*\d)[A-Za-z0-9+/=._~-]{16,}", re.IGNORECASE)


def scrub(text: str, environment: Mapping[str, str] = os.environ, *, own_key: str | None = None) -> str:
    """The text with every secret replaced by `[secret]`; text without one comes back as it is.

    Args:
        own_key: taken out as a word however short it is; for what a server or a library says, not for prompts and
            replies, which a key such as `none` would damage.
    """
    if own_key:
        for value in sorted(set(_forms(own_key)), key=len, reverse=True):
            text = re.sub(rf"(?<!\w){re.escape(value)}(?!\w)", MARK, text)
    # Prompts are long and secrets rare: looking for plain pieces first takes a tenth of the time.
    for value in _known(tuple(environment.items())):
        if value in text:
            text = text.replace(value, MARK)
    if "://" in text and "@" in text:
        text = _USER_INFO.sub(rf"\g<scheme>{MARK}@", text)
    lower = text.lower()
    if "authorization" in lower or "api-key" in lower:
        text = _HEADER.sub(rf"\g<name>\g<between>{MARK}", text)
    if "bearer" in lower or "basic" in lower:
        text = _BEARER.sub(rf"\1 {MARK}", text)
    return _KEY_FORM.sub(MARK, text) if any(piece in text for piece in _KEY_PIECES) else text


def without_user(address: str) -> tuple[str, str | None]:
    """An address without its user info, and that user info as a Basic Authorization header; None where it has none."""
    parts = urlsplit(address)
    info, at, host = parts.netloc.rpartition("@")
    if not at:
        return address, None
    token = base64.b64encode(unquote(info).encode()).decode()
    return urlunsplit(parts._replace(netloc=host)), f"Basic {token}"


@lru_cache(maxsize=8)
def _known(environment: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    """Secrets of an environment, the longest first, so that one which begins like another goes as a whole."""
    return tuple(sorted(set(_values(dict(environment))), key=lambda value: (-len(value), value)))


def _values(environment: Mapping[str, str]) -> Iterator[str]:
    for name, value in environment.items():
        if "://" in value and "@" in value:
            yield from _of_address(value)
        if len(value) >= _SHORTEST and _NAMED_SECRET.search(name) and not _OWN.match(name):
            yield from _forms(value)
            yield from (line for line in value.splitlines() if len(line) >= _SHORTEST)
        else:
            yield from _KEY_FORM.findall(value)


def _of_address(address: str) -> Iterator[str]:
    try:
        parts = urlsplit(address)
        password = parts.password or ""
    except ValueError:
        return
    info = parts.netloc.rpartition("@")[0]
    if password and len(info) >= _SHORTEST:
        yield from (info, unquote(info), base64.b64encode(unquote(info).encode()).decode())
    if len(password) >= _SHORTEST:
        yield from _forms(unquote(password))
        yield password


def _forms(value: str) -> Iterator[str]:
    """The value as it is, and as it stands in addresses, in JSON and in what Python prints."""
    yield value
    yield quote(value, safe="", errors="surrogateescape")
    yield json.dumps(value)[1:-1]
    yield json.dumps(value, ensure_ascii=False)[1:-1]
    yield repr(value)[1:-1]
    yield repr(value.encode(errors="surrogateescape"))[2:-1]
