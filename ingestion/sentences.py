"""Where sentences begin and end in English prose. What a sentence says, or is good for, is not known here."""

import re
from collections.abc import Iterator
from functools import lru_cache

LIST_MARKER = re.compile(
    r"^[ \t]*(?:[-*+–]|\(?(?:\d{1,3}|[A-Za-z]|[ivx]{2,4})[.)])[ \t]+(?=\S)|[•▪◦‣●][ \t]*(?=\S)",
    re.MULTILINE,
)
"""What begins an item of a list: a dash or a number at the start of a line, a bullet anywhere."""

_PARAGRAPH = re.compile(r"[^\n]+(?:\n(?!\n)[^\n]+)*")
_NO_END = re.compile(
    r"(?:\b(?:et al|e\.g|i\.e|vs|cf|resp|approx|Fig|Eq|Sec|Dr|No|St|w\.r\.t|a\.k\.a)\.|"
    r"[^.!?…”\")])$"
)
_NO_START = re.compile(r"[a-z\d%,;]")
_LONGEST_ABBREVIATION = 10
_LONGEST_KEPT = 4000
"""Characters: abstracts and paragraphs are asked for again, whole documents would fill the memory."""
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def split(text: str) -> list[tuple[int, int]]:
    """Sentence spans [start, end) of a text; decimals, "et al." and "[1, 2]" do not end a sentence."""
    return list(_split_once(text) if len(text) <= _LONGEST_KEPT else _split(text))


def _split(text: str) -> tuple[tuple[int, int], ...]:
    import blingfire

    plain = _LONE_SURROGATE.sub("?", text)  # cannot be encoded for the library
    spans: list[tuple[int, int]] = []
    for paragraph in _PARAGRAPH.finditer(plain):
        _, offsets = blingfire.text_to_sentences_and_offsets(paragraph.group(0))
        for start, end in offsets:
            spans.append((paragraph.start() + start, paragraph.start() + end))
    return tuple(_join_broken(text, spans))


@lru_cache(maxsize=4096)
def _split_once(text: str) -> tuple[tuple[int, int], ...]:
    return _split(text)


def _join_broken(text: str, spans: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Join a sentence to the next where the stop was none: after an abbreviation, before a small letter or a digit."""
    pending: tuple[int, int] | None = None
    for start, end in spans:
        if pending is not None:
            cut = _NO_END.search(text, max(pending[0], pending[1] - _LONGEST_ABBREVIATION), pending[1])
            if "\n\n" not in text[pending[1] : start] and (cut or _NO_START.match(text, start, end)):
                pending = (pending[0], end)
                continue
            yield pending
        pending = (start, end)
    if pending is not None:
        yield pending
