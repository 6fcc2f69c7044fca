"""Characters of a PDF's text layer → characters of text.

Here: control characters, ligatures, accents set apart from their letters, words that small capitals split, hyphens
that a line break took away. Not here: paragraphs.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from ingestion.documents.values import Block, Run

_LIGATURES = {code: unicodedata.normalize("NFKC", chr(code)) for code in range(0xFB00, 0xFB07)}
_BLANKS = dict.fromkeys([0x00A0, 0x2007, 0x202F, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006, 0x2008, 0x2009, 0x200A], " ")
_INVISIBLE = dict.fromkeys([0x00AD, 0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF])
_TRANSLATED = {**_LIGATURES, **_BLANKS, **_INVISIBLE}
_COMBINING = {
    "´": "\u0301", "`": "\u0300", "¨": "\u0308", "ˆ": "\u0302", "˜": "\u0303", "ˇ": "\u030c", "˚": "\u030a",
    "¸": "\u0327", "˘": "\u0306", "˝": "\u030b", "˙": "\u0307",
}  # fmt: skip
_DOTLESS = {"ı": "i", "ȷ": "j"}
# A letter before the accent: in a formula hats stand alone, in a name they stand within a word.
_SPACED_ACCENT = re.compile(r"(?<=[^\W\d_])( ?)([´¨ˇ˚˘˝]) ?([^\W\d_])|(?<=[^\W\d_]{2})([ˆ˜˙])([^\W\d_])(?=[^\W\d_])")
_ACCENT_AT_START = re.compile(r"(?<![^\W\d_])([´¨])([AEIOUYaeiouyı])(?=[^\W\d_])")
_CEDILLA = re.compile(r"([cCsStT]) ?¸ ?")
_LOST_ACCENT = re.compile(r" ?[´¨](?=\s|[.,;)]|$)")
_NOT_TEXT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
_HYPHENATED = re.compile(r"[^\W\d_]{2,}(?:-[^\W\d_]{2,})+")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_CAPITALS = re.compile(r"\b[A-Z]{1,8}(?: [A-Z]{1,8}){1,4}\b")


def cleaned(blocks: Sequence[Block]) -> tuple[list[Block], list[str]]:
    """Blocks with clean characters, and notes of what was removed."""
    removed = 0

    def clean(run: Run) -> Run:
        nonlocal removed
        text, count = clean_text(run.text)
        removed += count
        return run if text == run.text else replace(run, text=text)

    done = []
    for block in blocks:
        table, count = clean_text(block.table)
        removed += count
        runs = tuple(map(clean, block.runs))
        done.append(replace(block, runs=runs, caption=tuple(map(clean, block.caption)), table=table))
    return done, [f"{removed} control characters removed"] if removed else []


def clean_text(text: str) -> tuple[str, int]:
    """`text` without control characters and lone surrogates, ligatures and accents composed; and how many went.

    Line ends stay line ends.
    """
    if text.isascii() and text.isprintable():
        return text, 0
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\x0c", "\n")
    text, removed = _NOT_TEXT.subn("", text)
    text = text.translate(_TRANSLATED)
    if any(accent in text for accent in _COMBINING if accent != "`"):
        text = _SPACED_ACCENT.sub(_composed, text)
        text = _ACCENT_AT_START.sub(lambda m: _compose(m[2], m[1]) or m[0], text)
        text = _CEDILLA.sub(lambda m: _compose(m[1], "¸") or m[0], text)
        text = _LOST_ACCENT.sub("", text)
    return unicodedata.normalize("NFC", text), removed


def _composed(match: re.Match) -> str:
    # "Montr ´ eal" is one word; "de ´ etat" cannot be told from it, and the blank is lost.
    return _compose(match[3], match[2]) or match[0] if match[2] else _compose(match[5], match[4]) or match[0]


def _compose(letter: str, accent: str) -> str | None:
    whole = unicodedata.normalize("NFC", _DOTLESS.get(letter, letter) + _COMBINING[accent])
    # Beyond Latin Extended-A the letter is a formula's or the next word's: no name has "Ẍ".
    return whole if len(whole) == 1 and whole < "\u0180" else None


def with_whole_words(blocks: Sequence[Block]) -> list[Block]:
    """Words as the document itself writes them elsewhere: "taskspecific" and "S CI D OCS" where it has
    "task-specific" and "SCIDOCS"."""
    texts = [run.text for block in blocks for run in (*block.runs, *block.caption)]
    hyphens = _lost_hyphens(texts)
    capitals = {word for text in texts for word in re.findall(r"\b[A-Z]{5,}\b", text)}

    def mend(run: Run) -> Run:
        if run.url or "://" in run.text:
            return run
        text = _WORD.sub(lambda m: _respelled(m[0], hyphens), run.text) if hyphens else run.text
        text = _CAPITALS.sub(lambda m: _joined_capitals(m[0], capitals), text)
        return run if text == run.text else replace(run, text=text)

    # Headings are short lines: what they write, they mean.
    return [
        b if b.kind == "heading" else replace(b, runs=tuple(map(mend, b.runs)), caption=tuple(map(mend, b.caption)))
        for b in blocks
    ]


def _lost_hyphens(texts: Iterable[str]) -> dict[str, str]:
    """Spellings, in lower case, whose hyphen went at a line break, with the spelling the document has more often."""
    spellings: dict[str, Counter[str]] = {}
    spelled: set[str] = set()
    for text in texts:
        if "://" in text:
            continue
        for word in map(str.lower, _WORD.findall(text)):
            spellings.setdefault(word.replace("-", ""), Counter())[word] += 1
            spelled.add(word)
    lost = {}
    for variants in spellings.values():
        if len(variants) < 2:
            continue
        whole, count = max(variants.items(), key=lambda item: (item[0].count("-"), item[1]))
        joined, often = max(variants.items(), key=lambda item: (-item[0].count("-"), item[1]))
        if not _HYPHENATED.fullmatch(whole):
            continue
        if "-" not in joined and count == 1 and (often > 1 or not all(part in spelled for part in whole.split("-"))):
            # The other way round: a hyphen that the line break brought.
            lost[whole] = joined
            continue
        for other, times in variants.items():
            # Authors who write both mean both; words that broke at a line's end are the fewer. Nobody writes
            # "stateof-the-art".
            is_rare = times == 1 or times * 2 <= count or "-" in other
            if other.count("-") < whole.count("-") and is_rare:
                lost[other] = whole
    return lost


def _respelled(word: str, lost: dict[str, str]) -> str:
    """`word` with the hyphens of its known spelling and its own letters."""
    known = lost.get(word.lower())
    letters = word.replace("-", "")
    # Some letters have two in lower case.
    if known is None or len(letters) != len(known.replace("-", "")):
        return word
    spelled = iter(letters)
    return "".join("-" if c == "-" else next(spelled) for c in known)


def _joined_capitals(text: str, known: set[str]) -> str:
    parts = text.split(" ")
    for size in range(len(parts), 1, -1):
        for start in range(len(parts) - size + 1):
            whole = "".join(parts[start : start + size])
            if whole in known and any(len(part) <= 2 for part in parts[start : start + size]):
                return " ".join([*parts[:start], whole, *parts[start + size :]])
    return text
