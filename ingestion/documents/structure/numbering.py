"""Numbers of headings: "3.1.2", "A.2", "IV", "Appendix B".

Here: reading a number off a line, and which number may follow which. Not here: which lines are headings (see
`headings`).
"""

import re
from dataclasses import dataclass
from typing import Literal

Style = Literal["arabic", "roman", "letter"]

_ROMAN = {"I": 1, "V": 5, "X": 10}
_LEAD = r"(?P<word>(?:appendix|section|chapter|part|§)\s*)?"
_FORMS: tuple[tuple[Style, re.Pattern], ...] = tuple(
    (style, re.compile(_LEAD + rf"(?P<number>{number})(?P<rest>.*)", re.IGNORECASE | re.DOTALL))
    for style, number in (
        ("arabic", r"\d{1,2}(?:\s?\.\s?\d{1,2}){0,4}(?!\d)"),
        ("roman", r"(?-i:[IVX]{1,5})(?![A-Za-z])"),
        ("letter", r"(?-i:[A-Z])(?:\s?\.\s?\d{1,2}){0,4}(?![A-Za-z\d])"),
    )
)
# What stands between number and title. Nothing at all only before a capitalised word: "1Introduction".
_GAP = re.compile(r"\s*[.:|—–-]?\s+|[.:]?(?=[A-Z][a-z]{2})|\s*$")


@dataclass(frozen=True)
class Numbering:
    """A heading's number.

    Attributes:
        text: as printed without a final stop: "3.1", "A.2", "IV".
        style: of its first component.
        components: as numbers: (3, 1), (1, 2), (4,).
        named: the line says what it numbers: "Appendix B".
    """

    text: str
    style: Style
    components: tuple[int, ...]
    named: bool = False

    @property
    def level(self) -> int:
        return len(self.components)

    @property
    def key(self) -> tuple[int, ...]:
        """Sorts numbers as they follow in a document: appendices after sections."""
        return (1 if self.style == "letter" else 0, *self.components)


def numberings(line: str) -> list[tuple[Numbering, str]]:
    """Every way to read `line` as number and title; the title may be "".

    "V. Results" is a roman five and a letter; whether it is either is for its neighbours to say.
    """
    found = []
    for style, form in _FORMS:
        match = form.match(line.strip())
        gap = match and _GAP.match(match["rest"])
        if not match or not gap:
            continue
        text = re.sub(r"\s", "", match["number"])
        components = _components(style, text)
        if components and 0 not in components[:1]:
            title = match["rest"][gap.end() :].strip()
            found.append((Numbering(text, style, components, bool(match["word"])), title))
    return found


def missing_between(before: tuple[int, ...], after: tuple[int, ...]) -> int | None:
    """Headings that a document lacks when `after` comes next after `before`; None when it cannot come next.

    Both are keys; () stands for the document's start. 0 for (3, 1) → (3, 2), (3, 1, 1) or (4,).
    """
    if after <= before:
        return None
    shared = next(
        (i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), min(len(before), len(after))
    )
    # Every number between at the level where they part, and every parent that would have to stand before.
    last_seen = before[shared] if len(before) > shared else 0
    jump = after[shared] - last_seen - 1 if shared else after[1] - 1
    deeper = after[shared + 1 :] if shared else after[2:]
    return max(jump, 0) + sum(max(number, 1) for number in deeper)


def _components(style: Style, text: str) -> tuple[int, ...]:
    first, *others = text.split(".")
    match style:
        case "roman":
            value = _roman(first)
        case "letter":
            value = ord(first) - ord("A") + 1
        case _:
            value = int(first)
    return (value, *map(int, others)) if value is not None else ()


def _roman(text: str) -> int | None:
    values = [_ROMAN[letter] for letter in text]
    value = sum(-v if v < after else v for v, after in zip(values, [*values[1:], 0], strict=True))
    return value if _as_roman(value) == text else None


def _as_roman(value: int) -> str:
    tens, ones = divmod(value, 10)
    return "X" * tens + ("", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX")[ones]
