"""Versions of a model's texts and cards follow all code that decides them."""

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import generation
from generation.model_writer import versions

ROOT = Path(generation.__file__).parents[1]
VALUES = "values, protocols and errors, which decide nothing"
BOTH: Mapping[str, str] = {
    "corpus/hashing.py": "hashes what is named, and the templates",
    "generation/cards.py": VALUES,
    "generation/language_models/calls.py": VALUES,
    "generation/values.py": VALUES,
    "generation/writing.py": VALUES,
    "ingestion/errors.py": VALUES,
}
OF_TEXTS = BOTH | {
    "generation/model_writer/cards.py": "cards have a version of their own",
    "generation/model_writer/telling.py": "orders notes; no text rests on it",
    "generation/model_writer/versions.py": "names the others",
    "generation/support.py": "locates quotations of cards, which have a version of their own",
    "generation/zones.py": "passages come with their zone, as the lake has them",
}
OF_CARDS = BOTH | {
    "generation/citations.py": "a card has no citations",
    "generation/extractive/sentences.py": "orders the papers of the section on open problems",
    "generation/outline_plans.py": "a card has no headings",
    "generation/tidying.py": "a card is no Markdown",
}


def imported(module: str) -> Iterator[str]:
    """First-party modules that a module imports, also within its functions."""
    for node in ast.walk(ast.parse((ROOT / module).read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        for path in (name.replace(".", "/") + ".py" for name in names):
            if (ROOT / path).is_file():
                yield path


def closure(roots: tuple[str, ...], stops: Mapping[str, str]) -> set[str]:
    """All modules reached, not beyond those that are left out."""
    seen: set[str] = set()
    todo = list(roots)
    while todo:
        module = todo.pop()
        if module not in seen:
            seen.add(module)
            todo += imported(module) if module not in stops else ()
    return seen


CASES = pytest.mark.parametrize(
    ("roots", "named", "left_out"),
    [(versions.FROM, versions.CODE, OF_TEXTS), (versions.CARDS_FROM, versions.CARD_CODE, OF_CARDS)],
    ids=["texts", "cards"],
)


@CASES
def test_every_module_that_is_imported_is_hashed_or_left_out_for_a_reason(roots, named, left_out) -> None:
    reached = closure(roots, {})
    assert sorted(reached - set(named) - left_out.keys()) == []


@CASES
def test_nothing_is_named_in_vain(roots, named, left_out) -> None:
    reached = closure(roots, {}) | {"generation/language_models/tokens.py"}  # the gateway counts with it
    assert sorted((set(named) | left_out.keys()) - reached) == []
    assert not set(named) & left_out.keys()
    assert len(set(named)) == len(named)


@pytest.mark.parametrize("module", ["generation/mathtext.py", "generation/language_models/tokens.py", "ingestion/sentences.py"])  # fmt: skip
def test_both_versions_follow_what_decides_both(module) -> None:
    assert module in versions.CODE
    assert module in versions.CARD_CODE
