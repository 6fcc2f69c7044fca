"""Labels of a reference list: "[12]", "12.", "(12)", "12", "[Lew20]", "[Lewis et al., 2020]".

Here: finding them where they open entries, also in the middle of a paragraph. Not here: marks in running text (`marks`).
Numbers are labels only as a rising chain: "[3]" inside an entry, a year or a page is none.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ingestion.references.letters import LOWER, UPPER

_NUMBERED = {
    "brackets": re.compile(r"\[\s?(\d{1,4})\s?\]\.?"),
    "stop": re.compile(r"(?<![\w.,/:(–-])(\d{1,4})\.(?=\s*\D)"),
    "round": re.compile(r"(?<!\w)\((\d{1,4})\)(?=\s*\D)"),
    "closing": re.compile(r"(?<![\w(])(\d{1,4})\)(?=\s)"),
    "bare": re.compile(rf"(?<!\S)(\d{{1,4}})(?=\s+[{UPPER}])"),
}
_ALPHA = re.compile(
    rf"\[((?:[{UPPER}][{UPPER}{LOWER}+.'’\-]{{0,12}}\s?[+*]?\s?\d{{2}}(?:\d\d)?[a-z]?)"  # Lew20, DCLT19, BMR+20, Lewis2020a
    rf"|(?:[{UPPER}][\w.&'’, -]{{1,60}}?[ ,(]\s?(?:1[89]|20)\d\d[a-z]?\)?(?:[A-Z][^\]]{{0,80}})?)"  # Lewis et al., 2020
    rf"|(?:[{UPPER}]{{2,6}}\+?|[{UPPER}][{LOWER}]{{1,3}}))\]"  # ABC, Lew
)
_ENTRY_END = re.compile(r"(?:[.\])}>/”\"’;]|\d|\b[a-z]{2,})\s*\Z")
_GAP = 6  # longest step between neighbours: labels that a parser lost
_AT_START, _INSIDE, _LOST = 2.0, 1.0, 0.4


@dataclass(frozen=True)
class Label:
    """A label in paragraph `paragraph` at characters [start, end); `label` is without its brackets."""

    label: str
    paragraph: int
    start: int
    end: int


def find_labels(paragraphs: Sequence[str]) -> list[Label]:
    """The labels that open the entries of a list, in order; [] where it has none."""
    chains = [_chain(paragraphs, pattern, style) for style, pattern in _NUMBERED.items()]
    chains.append(_alphabetic(paragraphs))
    best = max(chains, key=len)
    if not best or best[0].paragraph > 2 + len(paragraphs) // 10:
        return []
    opened = len({label.paragraph for label in best})
    # A few numbers among many paragraphs are an enumeration, not the list's labels.
    is_list = len(best) >= 2 and (opened * 4 >= len(paragraphs) or len(best) * 2 >= len(paragraphs))
    is_single = len(best) == 1 and len(paragraphs) == 1 and best[0].start == 0
    return best if is_list or is_single else []


def _chain(paragraphs: Sequence[str], pattern: re.Pattern[str], style: str) -> list[Label]:
    """The chain of rising numbers that is worth most: labels that open paragraphs count more than those inside."""
    found = [
        Label(m[1], i, m.start(), m.end())
        for i, text in enumerate(paragraphs)
        for m in pattern.finditer(text)
        if m.start() == 0 or (style != "bare" and _can_open(text, m, is_firm=style == "brackets"))
    ]
    best: dict[int, tuple[float, int]] = {}  # number → worth of the best chain that ends with it, and its place
    before: list[int | None] = []
    for place, label in enumerate(found):
        number = int(label.label)
        worth, link = 0.0, None
        for step in range(1, _GAP + 1):
            if (head := best.get(number - step)) and head[0] - (step - 1) * _LOST > worth:
                worth, link = head[0] - (step - 1) * _LOST, head[1]
        worth += _AT_START if label.start == 0 else _INSIDE
        before.append(link)
        if number not in best or worth > best[number][0]:
            best[number] = (worth, place)
    place = max(best.values(), default=(0.0, None))[1]
    chain: list[Label] = []
    while place is not None:
        chain.append(found[place])
        place = before[place]
    chain.reverse()
    # Years and pages rise too, but they do not begin with the smallest numbers.
    return chain if chain and int(chain[0].label) <= 300 else []


def _can_open(text: str, match: re.Match[str], *, is_firm: bool) -> bool:
    """Whether an entry may open here, inside a paragraph; numbers in brackets are firm, others need an end before."""
    after = text[match.end() : match.end() + 20].lstrip()
    opens = after[:1].isupper() or after[:1] in "\"“‘«'`—_*[(" or after[:1].isdigit()
    opens = opens or bool(re.match(r"(?:van|von|de|d')\b", after))
    if not after or not opens:
        return False
    return is_firm or bool(_ENTRY_END.search(text, max(0, match.start() - 80), match.start()))


def _alphabetic(paragraphs: Sequence[str]) -> list[Label]:
    found = [
        Label(m[1].strip(), i, m.start(), m.end())
        for i, text in enumerate(paragraphs)
        for m in _ALPHA.finditer(text)
        if m.start() == 0 or _can_open(text, m, is_firm=False)
    ]
    # Inside a paragraph only what is written like the labels that open paragraphs.
    at_start = [label for label in found if label.start == 0]
    if not at_start:
        return []
    has_digits = any(re.search(r"\d\d", label.label) for label in at_start)
    return [x for x in found if x.start == 0 or bool(re.search(r"\d\d", x.label)) == has_digits]
