"""A response as it comes, before an SDK reads it: refused where it sends requests on, or is no reply of a model.

SDKs follow redirects by themselves, with prompt and key, and take many a web page for a reply without content. Not
here: what a reply or an error of the server means (`gateway`).
"""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

if TYPE_CHECKING:
    from httpx2 import Response

_SHOWN = 120
"""Characters of a page that an error shows."""


class SentOn(Exception):
    """The server names another address; what was asked is not sent there."""

    def __init__(self, status: int, address: str) -> None:
        super().__init__(f"HTTP {status}: sent on to {address}")
        self.address = address


class NoReply(Exception):
    """A response without an error, and no reply of a model."""


async def inspect(provider: str, response: "Response") -> None:
    """Refuse to be sent on, and what is no reply of the provider's protocol although its status says that all is well.

    Raises:
        SentOn, NoReply
    """
    if 300 <= response.status_code < 400:
        asked = urlsplit(str(response.request.url))
        try:
            to = urlsplit(urljoin(str(response.request.url), response.headers.get("location", "")))
        except ValueError:
            raise SentOn(response.status_code, "an address that is none") from None
        host = to.netloc.rpartition("@")[2]
        raise SentOn(response.status_code, f"{to.scheme}://{host}" + (to.path if to.netloc == asked.netloc else ""))
    if not 200 <= response.status_code < 300:
        return
    await response.aread()
    try:
        body = json.loads(response.content)
    except (ValueError, RecursionError):
        shown = " ".join(response.text.split())[:_SHOWN]
        kind = response.headers.get("content-type", "").partition(";")[0]
        raise NoReply(f"{kind or 'no JSON'}: {shown}" if shown else "an empty body") from None
    if not isinstance(body, dict):
        raise NoReply("JSON, but no object")
    if error := body.get("error"):
        if provider == "openrouter":  # its errors have a status of their own, which the library reads
            return
        raise NoReply(str(error.get("message") or error) if isinstance(error, dict) else str(error))
    if provider == "google":
        return  # candidates are missing where a prompt is declined
    name = "content" if provider == "anthropic" else "choices"
    parts = body.get(name)
    if not isinstance(parts, list) or (provider != "anthropic" and not parts):
        raise NoReply(f"JSON without {name}")
    if provider != "anthropic" and not (isinstance(parts[0], dict) and isinstance(parts[0].get("message"), dict)):
        raise NoReply("JSON without a message")


def chain(error: BaseException | None) -> Iterator[BaseException]:
    """An error, and what it was raised from, one after another."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
