"""Prompt templates: one Markdown file each, with the fields it needs at its head, checked when it is read.

A file has a YAML head (`operation`, `fields`), a part `# System` and a part `# Request`. Both parts are Jinja
templates. Not here: what the fields hold (`model_writer.calls`), and text of papers (`fencing`).
"""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import jinja2
import yaml
from jinja2 import Environment, StrictUndefined, TemplateError, meta

from corpus.hashing import text_hash
from generation.language_models.calls import Message
from ingestion.errors import PermanentFailure

FOLDER = Path(__file__).parents[1] / "prompts"

_FORM = re.compile(r"\A---\n(?P<head>.*?)\n---\n+# System\n(?P<system>.*?)\n# Request\n(?P<request>.*)\Z", re.DOTALL)
_ENVIRONMENT = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False)  # noqa: S701 - prompts are no HTML


class BadTemplate(PermanentFailure):
    """A template that cannot be used: its form, or fields that it and the code do not share."""


@dataclass(frozen=True)
class Template:
    """A prompt with its version.

    Attributes:
        hash: of the file's text.
        fields: that its parts use, all of which must be given.
    """

    operation: str
    hash: str
    fields: frozenset[str]
    system: str
    request: str

    def messages(self, **fields: object) -> tuple[Message, Message]:
        """System and user message.

        Raises:
            BadTemplate: a field is missing or unknown.
        """
        _require_same(self.operation, "given", fields, self.fields)
        parts = (_compiled(part).render(fields) for part in (self.system, self.request))
        system, request = (re.sub(r"\n{3,}", "\n\n", part).strip() for part in parts)
        return Message("system", system), Message("user", request)


def load(operation: str, declared: Collection[str], folder: Path = FOLDER) -> Template:
    """The template of an operation.

    Args:
        declared: fields that the code gives to it.
        folder: with `<operation>.md`.

    Raises:
        BadTemplate: there is no such file, it lacks a part, or its fields are not those that its head and the code
            name.
    """
    path = folder / f"{operation}.md"
    if not path.is_file():
        raise BadTemplate("there is no template", which=path.name, advice=f"Templates stand in {folder.name}.")
    text = path.read_text(encoding="utf-8")
    form = _FORM.match(text)
    if form is None:
        raise BadTemplate("a template needs a head, “# System” and “# Request”", which=path.name)
    try:
        head = yaml.safe_load(form["head"])
        used = set().union(
            *(meta.find_undeclared_variables(_ENVIRONMENT.parse(form[p])) for p in ("system", "request"))
        )
    except (yaml.YAMLError, TemplateError) as error:
        raise BadTemplate("a template cannot be read", which=f"{path.name}: {error}") from error
    if not isinstance(head, dict) or head.get("operation") != operation:
        raise BadTemplate(f"the head must name the operation {operation}", which=path.name)
    fields = head.get("fields") or []
    _require_same(operation, "named in its head", fields, used)
    _require_same(operation, "declared in the code", declared, used)
    return Template(operation, text_hash(text), frozenset(fields), form["system"], form["request"])


@cache
def _compiled(part: str) -> jinja2.Template:
    return _ENVIRONMENT.from_string(part)


@cache
def loaded(operation: str, declared: frozenset[str]) -> Template:
    """The package's own template, read once."""
    return load(operation, declared)


def _require_same(operation: str, how: str, names: Iterable[str], used: Collection[str]) -> None:
    names, used = set(names), set(used)
    if missing := sorted(used - names):
        raise BadTemplate(f"the template “{operation}” uses fields that are not {how}", which=", ".join(missing))
    if unknown := sorted(names - used):
        raise BadTemplate(f"the template “{operation}” does not use fields that are {how}", which=", ".join(unknown))
