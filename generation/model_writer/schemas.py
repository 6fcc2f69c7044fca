"""What a reply may look like: bounded JSON schemas for servers, and pydantic models to read replies with.

Every text has a longest length and every list a largest size, so that no reply runs into its token limit; lengths
shrink with the model's window. All properties are required and none may be added, as OpenAI's strict mode wants.
Not here: reading JSON (`language_models.replies`), and what replies become (`texts`, `cards`).
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from generation.language_models.calls import ModelSettings

REPLY_SHARE = 0.4
"""Share of the window that a reply may have."""

QUERIES = 3
MOST_ITEMS = 3
_SCALES = (1.0, 0.85, 0.7, 0.55, 0.45, 0.35, 0.27, 0.2)
_CHARACTERS_PER_TOKEN = 3.0
"""Of English prose fewer, by a margin, than any tokenizer in use needs."""

_SMALL_WINDOW, _CHARACTERS_PER_TOKEN_SMALL = 6000, 1.7
"""Models with small windows are small: held to a schema they fill its texts, also with digits, each a token."""

_PROSE_SHARE_SMALL = 0.2
_LONGEST_WORD = 16
"""Characters of a word in the sentences of small models, but for its first."""

_CHARACTERS_PER_WORD = 7

_LEAST_SENTENCE = 24
"""Characters; keeps small models from answering with an id or a date."""

_LEAST_TOKENS = 4096
"""Tokens a reply gets where the window bears it, since some models think before they answer."""


class _Reply(BaseModel):
    model_config = ConfigDict(extra="ignore", str_strip_whitespace=True, strict=True)


class CardLine(_Reply):
    text: str = Field(min_length=3)
    quote: str = ""


class CardReply(_Reply):
    contributions: list[CardLine]
    methods: list[CardLine]
    findings: list[CardLine]
    limitations: list[CardLine]


class Heading(_Reply):
    title: str = Field(min_length=2)
    description: str = ""
    queries: list[str] = Field(default_factory=list)


class SectionsReply(_Reply):
    sections: list[Heading]


class SubsectionsReply(_Reply):
    subsections: list[Heading]


class Said(_Reply):
    text: str = Field(min_length=2)
    papers: list[str]


class SaidParagraph(_Reply):
    sentences: list[Said]


class DraftReply(_Reply):
    paragraphs: list[SaidParagraph]


class Revised(_Reply):
    number: int
    text: str
    papers: list[str]


class ReviseReply(_Reply):
    sentences: list[Revised]


class ComparedRow(_Reply):
    paper: str = Field(min_length=1)
    approach: str = Field(min_length=2)
    result: str = Field(min_length=2)


class CompareReply(_Reply):
    rows: list[ComparedRow]


class Judged(_Reply):
    number: int
    verdict: Literal["supported", "partly", "unsupported"]


class VerdictReply(_Reply):
    verdicts: list[Judged]


@dataclass(frozen=True)
class Form:
    """The form of a reply.

    Attributes:
        schema: what it may look like; None for a text.
        most_tokens: that it may have.
    """

    schema: Mapping | None
    most_tokens: int


def card_form(settings: ModelSettings) -> Form:
    """Up to three items a field, each with the words it rests on."""

    def schema(scale: float) -> Mapping:
        item = _object(text=_text(260, scale), quote=_text(400, scale))
        fields = ("contributions", "methods", "findings", "limitations")
        return _titled("card", **{name: _list(item, 0, _count(MOST_ITEMS, scale)) for name in fields})

    return _fitting(schema, settings)


def sections_form(settings: ModelSettings, operation: str, count: int) -> Form:
    """Exactly `count` sections with three queries each."""
    return _fitting(lambda s: _titled(operation, sections=_list(_heading(s), count, count)), settings)


def subsections_form(settings: ModelSettings, count: int) -> Form:
    """Exactly `count` subsections with three queries each."""
    return _fitting(lambda s: _titled("subsections", subsections=_list(_heading(s), count, count)), settings)


def draft_form(settings: ModelSettings, operation: str, ids: Sequence[str], words: int) -> Form:
    """Paragraphs of sentences, each with the ids of its papers; a text where the server takes no schema."""
    if settings.output == "prompted":
        return Form(None, _tokens(settings, round(words * 2.5) + 200))
    paragraphs = max(1, min(6, round(words / 90)))

    def schema(scale: float) -> Mapping:
        text = _sentence(settings, max(scale, 0.4))
        sentence = _object(text=text, papers=_list(_one_of(ids), 0, _count(6, scale)))
        said = _list(sentence, 1, _count(8, scale))
        return _titled(operation, paragraphs=_list(_object(sentences=said), 1, _count(paragraphs, scale)))

    return _fitting(schema, settings, is_prose=True)


def revise_form(settings: ModelSettings, ids: Sequence[str], count: int) -> Form:
    """Each of `count` numbered sentences anew."""

    def schema(scale: float) -> Mapping:
        papers = _list(_one_of(ids), 0, _count(6, scale))
        sentence = _object(number=_number(count), text=_text(420, max(scale, 0.4)), papers=papers)
        return _titled("revise", sentences=_list(sentence, 1, count))

    return _fitting(schema, settings)


def compare_form(settings: ModelSettings, ids: Sequence[str], rows: int) -> Form:
    """At most `rows` rows, one a paper."""

    def schema(scale: float) -> Mapping:
        row = _object(paper=_one_of(ids), approach=_text(110, scale), result=_text(240, scale, least=_LEAST_SENTENCE))
        return _titled("compare", rows=_list(row, 0, _count(rows, max(scale, 0.5))))

    return _fitting(schema, settings)


def verdict_form(settings: ModelSettings, count: int) -> Form:
    """A verdict for each of `count` sentences."""
    verdict = _object(number=_number(count), verdict=_one_of(("supported", "partly", "unsupported")))
    return _fitting(lambda _: _titled("verdict", verdicts=_list(verdict, count, count)), settings)


def reply_room(settings: ModelSettings) -> int:
    """Tokens a reply may have at most."""
    return int(settings.window * REPLY_SHARE)


def prose_room(settings: ModelSettings) -> int:
    """Tokens that a reply of prose may have at most."""
    is_small = settings.window < _SMALL_WINDOW
    return int(settings.window * _PROSE_SHARE_SMALL) if is_small else reply_room(settings)


def worst_tokens(schema: Mapping, settings: ModelSettings) -> int:
    """Tokens of the longest reply a schema allows, by a margin."""
    is_small = settings.window < _SMALL_WINDOW
    return math.ceil(_worst(schema, _CHARACTERS_PER_TOKEN_SMALL if is_small else _CHARACTERS_PER_TOKEN))


def most_items(form: Form) -> int:
    """Items a card may have in each field."""
    return form.schema["properties"]["findings"]["maxItems"] if form.schema else MOST_ITEMS


def longest_heading(settings: ModelSettings, operation: str, count: int) -> tuple[int, int]:
    """Characters of a section's title and description in a reply of so many sections."""
    form = sections_form(settings, operation, count)
    heading = form.schema["properties"]["sections"]["items"]["properties"]  # type: ignore[index]
    return heading["title"]["maxLength"], heading["description"]["maxLength"]


def _heading(scale: float) -> dict:
    queries = _list(_text(90, max(scale, 0.3)), QUERIES, QUERIES)
    return _object(title=_text(80, max(scale, 0.4)), description=_text(320, scale), queries=queries)


def _fitting(schema: Callable[[float], Mapping], settings: ModelSettings, *, is_prose: bool = False) -> Form:
    """The largest form of a schema whose longest reply fits the window, else the smallest there is.

    Args:
        is_prose: in a small window it leaves more room for what it is written from.
    """
    room = prose_room(settings) if is_prose else reply_room(settings)
    made: Mapping = {}
    for scale in _SCALES:
        made = schema(scale)
        if worst_tokens(made, settings) <= room:
            break
    return Form(made, _tokens(settings, worst_tokens(made, settings)))


def _tokens(settings: ModelSettings, needed: int) -> int:
    return min(reply_room(settings), max(needed, min(_LEAST_TOKENS, settings.window // 8)))


def _worst(schema: Mapping, characters: float) -> float:
    kind = schema.get("type")
    if kind == "object":
        names = schema["properties"].items()
        return 2 + sum(4 + len(name) / _CHARACTERS_PER_TOKEN + _worst(part, characters) for name, part in names)
    if kind == "array":
        return 2 + schema["maxItems"] * (1 + _worst(schema["items"], characters))
    if kind == "integer":
        return 3
    if "enum" in schema:
        # Ids are digits, of which tokenizers join few.
        return 2 + max((len(json.dumps(v)) for v in schema["enum"]), default=0) / 1.5
    return 2 + schema["maxLength"] / characters


def _titled(operation: str, **properties: Mapping) -> Mapping:
    return {"title": operation, **_object(**properties)}


def _object(**properties: Mapping) -> dict:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _list(items: Mapping, least: int, most: int) -> dict:
    return {"type": "array", "items": items, "minItems": least, "maxItems": most}


def _text(most: int, scale: float, least: int = 0) -> dict:
    longest = max(20, least + 20, round(most * scale))
    return {"type": "string", **({"minLength": least} if least else {}), "maxLength": longest}


def _sentence(settings: ModelSettings, scale: float) -> dict:
    """A sentence; of small models, which else fill it with ids and names of fields, words with blanks between."""
    text = _text(420, scale, least=_LEAST_SENTENCE)
    if settings.window >= _SMALL_WINDOW:
        return text
    words = text["maxLength"] // _CHARACTERS_PER_WORD
    return {
        **text,
        "pattern": rf"^[A-Z][A-Za-z-]{{0,{_LONGEST_WORD}}}( [A-Za-z0-9,.%-]{{1,{_LONGEST_WORD}}}){{4,{words}}}[.]$",
    }


def _one_of(values: Sequence[str]) -> dict:
    return {"type": "string", "enum": list(values)}


def _number(most: int) -> dict:
    return {"type": "integer", "minimum": 1, "maximum": most}


def _count(most: int, scale: float) -> int:
    return max(1, round(most * math.sqrt(scale)))
