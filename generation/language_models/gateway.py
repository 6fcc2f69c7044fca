"""The gateway to language models: the one module that knows pydantic-ai and the providers' SDKs.

Belongs here: clients, one request, and what its reply or error means. Not here: ledger, budget, limits, repetition
(`exchange`), names and environment (`names`, `providers`). The SDKs are imported when a request is really sent.
"""

import asyncio
import re
import warnings
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from generation.language_models.calls import Call, NoSuchModel, WrongKey
from generation.language_models.exchange import Exchange
from generation.language_models.providers import PROVIDERS, key_of, key_variable, split_name
from generation.language_models.records import Outcome, plain
from generation.language_models.responses import NoReply, SentOn, chain, inspect
from generation.language_models.tokens import schema_in_words

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models import Model, ModelRequestParameters

_NO_KEY = "not-needed"
"""SDKs insist on a key, servers on this machine do not."""
_CONNECT_SECONDS = 5.0
"""A host that does not take a connection by then is not there; the time-out of a reply is much longer."""
_ASKS_FOR_JSON = re.compile(
    r"response_?format|json_?schema|structured|output_config|grammar|guided|schema|\btools?\b|tool_choice|function",
    re.I,
)
_WINDOW = re.compile(r"context.{0,12}(size|length|window)|maximum context|prompt is too long|too many tokens", re.I)
_MOST_TOKENS = 10**8
"""More than any request can use: a server that says so counts wrongly."""
_MODEL_REASONS = re.compile(r"(o\d|gpt-5)")


@dataclass(frozen=True)
class _Line:
    """A client and its model, in one event loop.

    Attributes:
        errors: what a request raises where it failed; anything else is a fault of a program.
    """

    model: "Model[Any]"
    close: Callable[[], Awaitable[object]]
    errors: tuple[type[Exception], ...]


class Gateway(Exchange):
    """A way to one model: `await ask(call)`, from any event loop; `await aclose()` in each loop that asked.

    Args:
        settings: of the model (`names.model_settings`).
        ledger: open ledger of the lake.
        budget: shared by the stages of a run; None for no limit.
        purpose: what calls are made for; may be replaced between calls.
        replay: answer only from the ledger: no key, no SDK, no network.
        progress: called with each reply and its call; also as `on_answer`.
        environment: keys, addresses, secrets.
        patience: with servers that fail for a passing reason.

    Raises:
        BadInput: a budget in money for a model whose price is not known; an address that is none.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._lines: WeakKeyDictionary[asyncio.AbstractEventLoop, _Line] = WeakKeyDictionary()

    async def aclose(self) -> None:
        """Wait a little for replies that are paid for, and close the client of this event loop; the next call opens one."""
        loop = asyncio.get_running_loop()
        waiting = [joint.task for (number, _), joint in list(self._ledger.pending.items()) if number == id(loop)]
        waiting = [task for task in waiting if task is not asyncio.current_task()]
        if waiting:
            await asyncio.wait(waiting, timeout=self._patience.closing)
        for task in waiting:
            task.cancel()
        if waiting:
            await asyncio.gather(*waiting, return_exceptions=True)
        if line := self._lines.pop(loop, None):
            await line.close()

    async def _send(self, call: Call, form: str) -> Outcome:
        line = self._line()
        from pydantic_ai.direct import model_request
        from pydantic_ai.exceptions import UserError

        form = form if call.schema is not None else "text"
        settings = self.settings
        sent = {"temperature": settings.temperature, "seed": settings.seed, "max_tokens": call.most_tokens}
        while True:
            try:
                response = await model_request(
                    line.model,
                    _messages(call, form),
                    model_settings={**sent, "timeout": settings.timeout, "request_timeout": settings.timeout},
                    model_request_parameters=_parameters(call, form),
                )
            except UserError as error:
                # The library knows that this model has no JSON of that kind, and has sent nothing.
                following = {"native": "tool", "tool": "prompted"}.get(form)
                if following is None:
                    raise NoSuchModel("the model cannot be asked", which=f"{settings.name}: {error}") from None
                form = following
            except (SentOn, NoReply, *line.errors) as error:
                return _failed(error, {**sent, "output": form}, call)
            else:
                return _outcome(response, {**sent, "output": form})

    def _line(self) -> _Line:
        loop = asyncio.get_running_loop()
        if loop not in self._lines:
            self._lines[loop] = self._open()
        return self._lines[loop]

    def _open(self) -> _Line:
        provider, name = split_name(self.settings.name)
        known, server = PROVIDERS[provider], self._server
        key = key_of(provider, self._environment)
        if key is None and known.needs_key and not server.is_private:
            raise WrongKey(
                f"there is no key for {server.host}",
                which=self.settings.name,
                advice=f"Set {' or '.join(known.keys)}."
                + (f" A server without keys is named in {known.address_variable}." if known.address_variable else ""),
            )
        if key is not None and not (key.isascii() and key.isprintable()):
            raise WrongKey(
                f"{key_variable(provider, self._environment)} holds a line break or another character that no key has",
                which=self.settings.name,
                advice="Set it again, to the key alone.",
            )
        _quieten()
        from httpx2 import HTTPError, Timeout
        from pydantic_ai.exceptions import AgentRunError
        from pydantic_ai.models import create_async_httpx2_client

        # One kind of client for all SDKs: it keeps its own time to connect, whatever a request's time-out is.
        http = create_async_httpx2_client(timeout=Timeout(self.settings.timeout, connect=_CONNECT_SECONDS))
        # Before an SDK sees a response: they follow redirects by themselves, with prompt and key.
        http.follow_redirects = False
        http.event_hooks = {**http.event_hooks, "response": [partial(inspect, provider)]}
        errors = (AgentRunError, HTTPError, OSError)
        headers = {"Authorization": server.authorization} if server.authorization else {}
        options = {"api_key": key or _NO_KEY, "base_url": server.address, "max_retries": 0, "http_client": http}
        if provider == "anthropic":
            from anthropic import AnthropicError, AsyncAnthropic
            from pydantic_ai.models.anthropic import AnthropicModel
            from pydantic_ai.providers.anthropic import AnthropicProvider

            client = AsyncAnthropic(**options, default_headers=headers)
            model = AnthropicModel(name, provider=AnthropicProvider(anthropic_client=client))
            return _Line(model, http.aclose, (*errors, AnthropicError))
        if provider == "google":
            from google.genai import Client, types
            from google.genai.errors import APIError
            from pydantic_ai.models.google import GoogleModel
            from pydantic_ai.providers.google import GoogleProvider

            # Without retry_options the client sends once.
            reached = types.HttpOptions(base_url=server.address, headers=headers, httpx_async_client=http)
            client = Client(api_key=key or _NO_KEY, vertexai=False, http_options=reached)
            return _Line(GoogleModel(name, provider=GoogleProvider(client=client)), http.aclose, (*errors, APIError))
        from openai import AsyncOpenAI, OpenAIError

        client = AsyncOpenAI(**options, default_headers=headers)
        return _Line(self._openai_model(provider, name, client), http.aclose, (*errors, OpenAIError))

    def _openai_model(self, provider: str, name: str, client: Any) -> "Model[Any]":
        from pydantic_ai.models import infer_model
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.profiles.openai import OpenAIModelProfile
        from pydantic_ai.providers import infer_provider_class

        if provider != "openai":
            return infer_model(
                f"{provider}:{name}", provider_factory=lambda kind: infer_provider_class(kind)(openai_client=client)
            )
        speaks = infer_provider_class("openai")(openai_client=client)
        if not self._server.is_other or _MODEL_REASONS.match(name):
            return OpenAIChatModel(name, provider=speaks)
        # `max_tokens` is what all servers that speak this protocol know; one that ignored the newer name would not end.
        profile = OpenAIModelProfile(openai_chat_supports_max_completion_tokens=False)
        return OpenAIChatModel(name, provider=speaks, profile=profile)


def _quieten() -> None:
    """What is told elsewhere is not told by a warning for each call.

    A model that takes no temperature or seed is named in the settings' notes, and who counted tokens in each row.
    """
    from pydantic_ai.exceptions import UnsupportedSettingWarning
    from pydantic_ai.usage import UsageExtractionFailedWarning

    warnings.filterwarnings("ignore", category=UnsupportedSettingWarning)
    warnings.filterwarnings("ignore", category=UsageExtractionFailedWarning)
    warnings.filterwarnings("ignore", message="Sampling parameters .* are not supported")


def _messages(call: Call, form: str) -> "list[ModelMessage]":
    from pydantic_ai.messages import ModelRequest, ModelResponse, SystemPromptPart, TextPart, UserPromptPart

    found: list[ModelMessage] = []
    parts: list[Any] = []
    for message in call.messages:
        if message.role == "assistant":
            found += [ModelRequest(parts=parts)] if parts else []
            found.append(ModelResponse(parts=[TextPart(plain(message.text))]))
            parts = []
        else:
            kind = SystemPromptPart if message.role == "system" else UserPromptPart
            parts.append(kind(plain(message.text)))
    if form == "prompted":
        # Last, where models heed it most, and not among what is quoted from papers.
        parts.append(UserPromptPart(schema_in_words(call.schema)))
    return [*found, ModelRequest(parts=parts)]


def _parameters(call: Call, form: str) -> "ModelRequestParameters":
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.output import OutputObjectDefinition
    from pydantic_ai.tools import ToolDefinition

    if form in ("text", "prompted"):
        return ModelRequestParameters()
    schema = dict(call.schema)
    name = str(schema.get("title") or call.operation)
    strict = True if _is_strict(schema) else None
    if form == "native":
        shape = OutputObjectDefinition(json_schema=schema, name=name, strict=strict)
        return ModelRequestParameters(output_mode="native", output_object=shape)
    tool = ToolDefinition(
        name=name, description="Give the reply.", parameters_json_schema=schema, kind="output", strict=strict
    )
    return ModelRequestParameters(output_mode="tool", output_tools=[tool], allow_text_output=False)


def _is_strict(schema: Any) -> bool:
    """Whether each object of a schema requires all it has and nothing else, as strict JSON does."""
    if isinstance(schema, dict):
        if schema.get("type") == "object" and (
            schema.get("additionalProperties") is not False
            or set(schema.get("required", ())) != set(schema.get("properties", ()))
        ):
            return False
        return all(map(_is_strict, schema.values()))
    return all(map(_is_strict, schema)) if isinstance(schema, list | tuple) else True


def _outcome(response: "ModelResponse", parameters: dict[str, object]) -> Outcome:
    from pydantic_ai.messages import TextPart, ToolCallPart

    tools = [part.args_as_json_str() for part in response.parts if isinstance(part, ToolCallPart)]
    texts = [part.content for part in response.parts if isinstance(part, TextPart)]
    text = plain(tools[0] if tools else "".join(texts))
    details, usage = response.provider_details or {}, response.usage
    refusal = details.get("refusal")
    if response.finish_reason == "content_filter" or refusal:
        status, text = "refused", plain(text or str(refusal or ""))
    elif response.finish_reason == "length":
        status = "truncated"
    else:
        status = "answered" if text.strip() else "empty"
    counts = (usage.input_tokens, usage.output_tokens, usage.cache_read_tokens or 0)
    is_counted = usage.has_values() and all(isinstance(n, int) and 0 <= n <= _MOST_TOKENS for n in counts)
    return Outcome(
        status,
        text,
        finish_reason=response.finish_reason or None,
        input_tokens=usage.input_tokens if is_counted else None,
        output_tokens=usage.output_tokens if is_counted else None,
        prompt_cached_tokens=usage.cache_read_tokens if is_counted else None,
        usage_source="server" if is_counted else None,
        parameters=parameters,
    )


def _failed(error: Exception, parameters: dict[str, object], call: Call) -> Outcome:
    """What an error of a request means."""
    from pydantic import ValidationError
    from pydantic_ai import exceptions as e

    for cause in chain(error):
        if isinstance(cause, SentOn):
            return Outcome(
                "rejected", error=str(cause), cause="redirect", sent_on_to=cause.address, parameters=parameters
            )
        if isinstance(cause, NoReply):
            error = cause
        elif isinstance(cause, ValidationError) and isinstance(error, e.UnexpectedModelBehavior):
            fields = cause.errors(include_url=False, include_input=False)[:3]
            error = NoReply("; ".join(f"{'.'.join(map(str, field['loc']))}: {field['msg']}" for field in fields))
    told = _told(error)
    code = getattr(error, "status_code", None)

    def outcome(status: str, cause: str = "", **more: Any) -> Outcome:
        return Outcome(status, error=told, cause=cause, parameters=parameters, **more)

    retry_after = getattr(error, "retry_after", None)
    match error:
        case e.ContentFilterError():
            return outcome("refused", finish_reason="content_filter")
        case e.ModelQuotaExceededError():
            return outcome("rejected", "quota")
        case e.ModelContextWindowExceededError():
            return outcome("too_long")
        case e.ModelAuthenticationError():
            return outcome("rejected", "key")
        case e.ModelNotFoundError():
            return outcome("rejected", "model")
        case e.ModelRateLimitError():
            return outcome("rate_limited", retry_after=retry_after)
        case e.ModelTimeoutError() | e.ModelRequestTimeout() if getattr(error, "phase", None) != "connect":
            return outcome("timed_out", is_billed_unknown=True)
        case e.ModelConnectionError() if error.phase in ("connect", "pool"):
            return outcome("unavailable", "unreachable", was_sent=False)
        case e.ModelConnectionError():
            return outcome("unavailable", is_billed_unknown=True)
        case e.ModelServerError() | e.ModelUnavailableError():
            return outcome("unavailable", retry_after=retry_after)
        case NoReply() | e.UnexpectedModelBehavior():
            return outcome("unavailable", "no_reply", is_billed_unknown=True)
        case e.ModelHTTPError() if code in (408, 409, 425):
            return outcome("timed_out" if code == 408 else "unavailable", retry_after=retry_after)
        case _ if code in (400, 413, 422) and _WINDOW.search(told):
            return outcome("too_long")
        case _ if code in (400, 404, 405, 422, 501) and call.schema is not None and _ASKS_FOR_JSON.search(told):
            return outcome("rejected", "form")
    # Without a status: a reply that is no JSON, for instance, which may be paid for.
    if code == 405:
        return outcome("rejected", "no_reply")
    return outcome("rejected") if code else outcome("unavailable", "no_reply", is_billed_unknown=True)


def _told(error: Exception) -> str:
    """What the server said, in one line."""
    body = getattr(error, "body", None)
    if isinstance(body, dict):
        inner = body.get("error", body)
        said = inner.get("message") if isinstance(inner, dict) else inner
    else:
        said = body
    cause = error.__cause__.__cause__ if error.__cause__ and error.__cause__.__cause__ else error.__cause__
    text = str(said or (cause if cause and str(cause) else error))
    code = getattr(error, "status_code", None)
    line = plain(" ".join(text.split()))[:1000]
    return f"HTTP {code}: {line}" if code else line
