"""What stands in a model's reply: the text without its thinking, the JSON object in it, a value of a known shape.

Pure functions. Belongs here: what models wrap around an answer and how they break JSON. Not here: asking
(`gateway`), asking again (`model_writer.asking`), and what a reply is about.

A model's text is hostile data: whatever goes wrong in reading it, the reply is Unfit and can be asked for again.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Concatenate, Generic, ParamSpec, TypeVar

from json_repair import repair_json
from pydantic import BaseModel, ValidationError

from generation.language_models.calls import EmptyReply, Refused, Truncated, Unfit
from generation.mathtext import is_command
from ingestion.errors import LithouseError

Model = TypeVar("Model", bound=BaseModel)
Value = TypeVar("Value")
More = ParamSpec("More")


@dataclass(frozen=True)
class Reading(Generic[Value]):
    """What was read from a reply.

    Attributes:
        problems: why it is not what was asked for, in words that a model can act on; () where it is.
        value: what can be used of it all the same.
    """

    value: Value
    problems: tuple[str, ...] = ()


_NAMES = "think|thinking|thought|thoughts|reasoning|reflection|analysis|scratchpad|seed:think|antml:thinking"
_PAIRS: tuple[tuple[str, str], ...] = (
    (rf"<\s*(?:{_NAMES})\s*>", rf"<\s*/\s*(?:{_NAMES})\s*>"),
    (r"<\|begin_of_thought\|>", r"<\|end_of_thought\|>"),
    (r"◁think▷", r"◁/think▷"),
    (r"\[THINK\]", r"\[/THINK\]"),
    (r"<\|channel\|>\s*analysis\s*<\|message\|>", r"<\|end\|>"),
)
"""How models mark what is no part of the answer: opening, closing."""

_ANSWER_MARKS = re.compile(
    r"<\|(?:start|end|return|begin_of_solution|end_of_solution)\|>(?:assistant)?|<\|channel\|>\s*final\s*<\|message\|>|"
    r"</?(?:answer|final_answer|response)>",
)
_REFUSALS = re.compile(
    r"^\W*(?:(?:i['’]?m|i am)(?: very| so| truly)? (?:sorry|afraid)|i apologi[sz]e|sorry|unfortunately|"
    r"as an? (?:ai|(?:large )?language model))\b[^.!?\n]{0,120}?(?:\b(?:can(?:['’]t|not| not)|could(?:n['’]t| not)|won['’]t|unable|"
    r"not able|decline|must (?:refuse|decline))\b)|"
    r"^\W*(?:i['’]?m|i am) (?:unable|not able) to\b|"
    r"^\W*i (?:can(?:['’]t|not| not)|won['’]t|will not|must decline|decline|have to decline) (?:to )?(?:assist|help|comply|"
    r"fulfil?l?|provide|write|create|generate|continue|answer|engage|do that|be able|support|process|discuss|complete|with)\b|"
    r"^\W*(?:this|the|your) (?:request|content|prompt)\b[^.!?\n]{0,60}\b(?:violates|cannot be|can['’]t be|goes against)\b",
    re.IGNORECASE,
)
_SHORTEST_TEXT = 700
"""Characters from which a text that begins with an apology is a text all the same."""

_OPENS = re.compile(r"[{\[]")
_OBJECT = re.compile(r"\{\s*[\"'“}]|\[\s*[{\"'\]]")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|[a-zA-Z]+|.|$)", re.DOTALL)
_AMBIGUOUS = {"ni", "b", "r", "t", "f", "n", "u", "ra", "ru", "no", "to", "top", "nat"}
"""LaTeX commands that are as easily a line break and a word."""

_END = "⌁end"
_MOST_STARTS = 40
"""Brackets tried as the beginning of the answer."""

LONGEST_REPLY, CHARACTERS_PER_TOKEN = 2_000_000, 40
"""Characters of a reply that is read at all, and of it for each token that was asked for: some tokens are long words."""

_MOST_PROBLEMS = 12
"""Problems of a reply that are told in a failure."""

_SURROGATES = re.compile("[\ud800-\udfff]+")


def guarded(
    reader: Callable[Concatenate[str, More], Value], most_tokens: int | None = None
) -> Callable[Concatenate[str, More], Value]:
    """A reader of replies which raises only what the project's errors are.

    Args:
        most_tokens: that the reply could have; one far beyond it is not read.

    Raises:
        Unfit: the text is far too long, or reading it failed in a way of its own (nested too deeply, a number too long).
        LithouseError: as the reader.
    """
    longest = LONGEST_REPLY if most_tokens is None else min(LONGEST_REPLY, CHARACTERS_PER_TOKEN * most_tokens)

    @wraps(reader)
    def guarded_reader(text: str, *args: More.args, **more: More.kwargs) -> Value:
        if len(text) > longest:
            told = f"{len(text):,} characters, at most {longest:,} can be read"
            raise Unfit("the reply is far longer than asked for", which=told, text=text[:LONGEST_REPLY])
        try:
            return reader(text, *args, **more)
        except LithouseError:
            raise
        except RecursionError:
            raise Unfit("the reply is nested too deeply to be read", text=text) from None
        except Exception as error:
            raise Unfit("the reply cannot be read", which=type(error).__name__, text=text) from error

    return guarded_reader


def without_thinking(text: str) -> str:
    """The answer alone: what stands between thinking tags is gone, behind an opening that never closes all is.

    A tag counts where a model sets it: at the start, at the start of a line, or closing without having opened.
    Inside JSON it is a word like others.
    """
    for opening, closing in _PAIRS:
        while match := re.match(rf"\s*{opening}", text, re.IGNORECASE):
            end = re.compile(closing, re.IGNORECASE).search(text, match.end())
            if end is None:
                return ""
            text = text[end.end() :]
        if _OBJECT.match(text.lstrip()):
            continue
        orphan = re.compile(closing, re.IGNORECASE).search(text)
        opened = re.compile(opening, re.IGNORECASE).search(text)
        if orphan and (opened is None or orphan.start() < opened.start()):
            text = text[orphan.end() :]
        text = re.sub(rf"^[ \t]*{opening}.*?{closing}", "", text, flags=re.IGNORECASE | re.DOTALL | re.MULTILINE)
        text = re.sub(rf"^[ \t]*{opening}.*\Z", "", text, flags=re.IGNORECASE | re.DOTALL | re.MULTILINE)
    return (text if _OBJECT.match(text.lstrip()) else _ANSWER_MARKS.sub("", text)).strip()


def is_refusal(text: str) -> bool:
    """Whether a text declines to answer; a long text that only begins with regrets does not."""
    return len(text) < _SHORTEST_TEXT and bool(_REFUSALS.search(text.strip()))


@guarded
def plain_text(text: str) -> str:
    """The text of a reply.

    Raises:
        EmptyReply: nothing but blanks or thinking.
        Refused: it declines.
    """
    text = without_surrogates(without_thinking(text))
    _require_answer(text)
    return text


def without_surrogates(text: str) -> str:
    """Text in which a pair of surrogates is its character, and a lone one, which no file can hold, is gone."""
    return _SURROGATES.sub(lambda m: m.group(0).encode("utf-16", "surrogatepass").decode("utf-16", "ignore"), text)


@guarded
def as_json(text: str) -> dict | list:
    """The object, or the list of objects, of a reply: without fences and chatter, with lone backslashes kept.

    An unescaped quote or a trailing comma is mended. What is cut off is not: a part of a list is no list.

    Raises:
        EmptyReply: nothing but blanks or thinking.
        Refused: it declines.
        Truncated: the JSON does not come to its end.
        Unfit: there is no JSON in it.
    """
    text = without_thinking(text)
    if not _OBJECT.search(text):
        _require_answer(text)
        raise Unfit("the reply holds no JSON object", text=text)
    return _decoded(_whole(_escaped(text)))


@guarded
def read(text: str, model: type[Model], schema: Mapping | None = None) -> Reading[Model]:
    """A reply as a value; items of its lists that do not fit are left out and told.

    Args:
        schema: that was asked for: of a list that is longer the beginning is kept, and it is told.

    Raises:
        EmptyReply, Refused, Truncated: as `as_json`.
        Unfit: nothing of it can be used; says why.
    """
    found = _fields_of(as_json(text), model)
    problems: list[str] = []
    if schema:
        _cut(found, schema, "", problems)
    while True:
        try:
            return Reading(model.model_validate(found), tuple(problems))
        except ValidationError as error:
            told = [(e["loc"], f"{_place(e['loc'])}: {e['msg']}") for e in error.errors(include_url=False)]
            problems += [reason for _, reason in told]
            items = {_item(loc) for loc, _ in told}
            if None in items:
                raise Unfit("the reply does not have the shape asked for", which=told_of(problems), text=text) from None
            for loc in sorted((loc for loc in items if loc), key=_by_place, reverse=True):
                _drop(found, loc)


def told_of(problems: Sequence[str]) -> str:
    """The first problems of a reply, as a failure tells them."""
    return "; ".join(problems[:_MOST_PROBLEMS])


def _require_answer(text: str) -> None:
    if not text.strip():
        raise EmptyReply("the model answered nothing")
    if is_refusal(text):
        raise Refused("the model declined", which=" ".join(text.split())[:160], text=text)


def _whole(text: str) -> dict | list:
    """The first JSON in the text that is whole; mended only where none is."""
    decoder = json.JSONDecoder(strict=False)
    starts = [m.start() for m in _OPENS.finditer(text)][:_MOST_STARTS]
    for start in starts:
        try:
            found, _ = decoder.raw_decode(text, start)
        except json.JSONDecodeError:
            if _OBJECT.match(text, start):
                break  # what lies inside an object that is broken is not the answer
            continue
        if isinstance(found, dict) or (isinstance(found, list) and found and all(isinstance(i, dict) for i in found)):
            return found
    begin = _OBJECT.search(text)
    start = begin.start() if begin else 0
    last = max(text.rfind("}"), text.rfind("]"))
    body = text[start : last + 1] if last > start else text[start:]
    # A repair closes whatever is open, also what was cut off. Followed by a mark, only what is whole stands beside it.
    marked = repair_json(f'[{body},"{_END}"]', return_objects=True, skip_json_loads=True)
    if not (isinstance(marked, list) and len(marked) == 2 and marked[1] == _END):
        raise Truncated("the reply's JSON does not come to its end", which=text[-80:], text=text)
    if not isinstance(marked[0], dict | list):
        raise Unfit("the reply holds no JSON object", text=text)
    return marked[0]


def _decoded(found: object) -> object:
    """JSON with its strings cleaned of lone surrogates."""
    if isinstance(found, str):
        return without_surrogates(found)
    if isinstance(found, list):
        return [_decoded(item) for item in found]
    return {_decoded(k): _decoded(v) for k, v in found.items()} if isinstance(found, dict) else found


def _cut(found: object, schema: Mapping, place: str, problems: list[str]) -> None:
    """Cut the lists of a reply to what the schema allows."""
    if isinstance(found, dict):
        for name, part in schema.get("properties", {}).items():
            _cut(found.get(name), part, f"{place}.{name}".lstrip("."), problems)
    elif isinstance(found, list):
        if len(found) > (most := schema.get("maxItems", len(found))):
            problems.append(f"{place} has {len(found)} items, at most {most} were asked for")
            del found[most:]
        for i, item in enumerate(found):
            _cut(item, schema.get("items", {}), f"{place}[{i}]", problems)


def _escaped(text: str) -> str:
    r"""JSON with lone backslashes doubled: what is no escape, and escapes that begin a LaTeX command (`\beta`, `\nu`)."""

    def kept(match: re.Match) -> str:
        own = match.group(1)
        if own in ('"', "\\", "/") or re.fullmatch(r"u[0-9a-fA-F]{4}", own):
            return match.group(0)
        if own[:1] and own[0] in "bfnrt" and not (is_command(own) and own not in _AMBIGUOUS):
            return match.group(0)
        return "\\" + match.group(0)

    return _ESCAPE.sub(kept, text)


def _fields_of(found: dict | list, model: type[BaseModel]) -> dict:
    """The object with the model's fields, also where it lies in a wrapper or is only the list of its one field."""
    names = list(model.model_fields)
    if isinstance(found, list):
        found = found[0] if len(found) == 1 and isinstance(found[0], dict) and set(names) & set(found[0]) else found
        if isinstance(found, list):
            return {names[0]: found} if len(names) == 1 else {}
    if not set(names) & set(found):
        for inner in found.values():
            if isinstance(inner, dict) and set(names) & set(inner):
                return inner
        if len(found) == 1 and len(names) == 1 and isinstance(inner := next(iter(found.values())), list):
            return {names[0]: inner}
    return found


def _place(loc: Sequence[str | int]) -> str:
    """`paragraphs[1].sentences[0].text`"""
    return "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in loc).lstrip(".") or "reply"


def _item(loc: Sequence[str | int]) -> tuple[str | int, ...] | None:
    """The innermost list item that a place lies in, None where it lies in none."""
    at = max((i for i, part in enumerate(loc) if isinstance(part, int)), default=-1)
    return tuple(loc[: at + 1]) if at >= 0 else None


def _by_place(loc: Sequence[str | int]) -> list[tuple[int, str]]:
    return [(part, "") if isinstance(part, int) else (-1, part) for part in loc]


def _drop(found: dict, loc: Sequence[str | int]) -> None:
    inner: object = found
    for step in loc[:-1]:
        inner = inner[step]  # type: ignore[index]
    del inner[loc[-1]]  # type: ignore[attr-defined]
