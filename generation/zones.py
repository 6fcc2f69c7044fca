"""What a section of a paper is for, by its headings."""

import re
from collections.abc import Sequence
from typing import Literal

from generation.cards import CardPassage

Zone = Literal[
    "abstract",
    "introduction",
    "method",
    "setup",
    "results",
    "discussion",
    "conclusion",
    "limitations",
    "body",
    "others",
]
"""`others` speaks of other people's work, or is no part of the argument (thanks, appendix, ethics, references)."""

_OTHERS = re.compile(
    r"related (?:\w+ )?(?:work|research|stud|literature)|(?:prior|previous) (?:work|art)|background|preliminar|"
    r"literature review|state of the art|acknowledg|reference|bibliograph|appendi|supplement|ethic|broader impact|"
    r"impact statement|author contribution|contribution statement|credit|funding|conflict|competing interest|checklist|"
    r"notation|prompt|data ?sheet|model card|keyword|ccs concept|reproducib|availability|societal|considerations for|"
    r"examples?$",
    re.IGNORECASE,
)
_LIMITATIONS = re.compile(
    r"limitation|threats to validity|shortcoming|weakness|failure (?:case|mode|analys)", re.IGNORECASE
)
_ZONES: tuple[tuple[Zone, re.Pattern[str]], ...] = tuple(
    (zone, re.compile(pattern, re.IGNORECASE))
    for zone, pattern in (
        ("abstract", r"^(?:abstract|summary)$"),
        ("introduction", r"introduction|^motivation|^overview and contributions|^(?:our |main )*contributions$"),
        ("conclusion", r"conclu|future (?:work|direction|research)|outlook|closing|final remarks|summary"),
        ("discussion", r"discuss|disadvantage|implication|lessons"),
        (
            "setup",
            r"set-?up|setting|data ?sets?\b|\bdata$|baseline|metric|hyper-?parameter|implementation|training details|"
            r"benchmarks?$|corpora|corpus|hardware|optimizer|participants|materials",
        ),
        (
            "results",
            r"result|experiment|evaluation|ablation|analys|performance|comparison|finding|empirical|case stud|"
            r"effect of|variations|scaling|how (?:well|much|many)|user study",
        ),
        (
            "method",
            r"method|approach|model|architecture|framework|system|algorithm|design|training|proposed|pipeline|overview|"
            r"formulation|objective|inference|construction|retriev|encoder|decoder|attention|network|learning|encoding",
        ),
    )
)  # fmt: skip


def zone_of(path: Sequence[str], number: str | None) -> Zone:
    """What a section is for; nothing redeems an appendix or a section on related work.

    Args:
        path: headings from the outermost section to its own.
        number: as printed; letters number appendices.
    """
    if any(_OTHERS.search(title) for title in path) or is_end(path, number):
        return "others"
    if any(_LIMITATIONS.search(title) for title in path):
        return "limitations"
    zones = [_own_zone(title) for title in path]
    named = [zone for zone in zones if zone != "body"]
    if not named:
        return "body"
    # "Experiments > Model size" is of the experiments, "Model > Evaluation data" of what it says itself.
    if named[0] in _WHOLE and named[-1] != "setup":
        return named[0]
    return named[-1]


def zones_of(passages: Sequence[CardPassage]) -> list[Zone]:
    """The zone of each passage of a paper, in reading order; behind the first appendix, headings without a number are
    of the appendix."""
    zones: list[Zone] = []
    is_behind = False
    for passage in passages:
        zone = zone_of(passage.section_path, passage.section_number)
        is_behind |= is_end(passage.section_path, passage.section_number)
        zones.append("others" if is_behind and passage.section_number is None else zone)
    return zones


def is_end(path: Sequence[str], number: str | None) -> bool:
    """Whether it is what follows a paper's argument: thanks, appendix."""
    return bool((path and _END.search(path[0])) or (number and re.match(r"[A-Z](?:\.|$)", number)))


_END = re.compile(r"acknowledg|appendi|supplementary", re.IGNORECASE)
_WHOLE: tuple[Zone, ...] = ("abstract", "introduction", "results", "discussion", "conclusion")


def _own_zone(title: str) -> Zone:
    return next((zone for zone, pattern in _ZONES if pattern.search(title)), "body")
