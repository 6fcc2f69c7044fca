"""Systems and data by their names: "We introduce NAME, a …" becomes "NAME is a …", and a name needs its introduction.

Belongs here: putting a name first where the grammar allows, and telling whether a sentence introduces a name or only
uses it. Not here: what a paper calls its own (`cards.own_names`) and who says it (`speakers`).
"""

import re
from collections.abc import Collection

from generation.extractive.agreement import shared_verbs
from generation.extractive.shortening import without_praise
from generation.values import Edit

_GIVE = r"(?:propose|introduce|present|develop|design|build|create|construct|release|describe|devise|contribute)"
_WE_GIVE = (
    rf"(?:[Ww]e (?:(?:then|further|also|first|thus|hence|therefore|here) )?{_GIVE}|"
    rf"[Tt]his (?:paper|work|article|study|report) {_GIVE}s)"
)
_WORD = r"(?:\[?[A-Za-z0-9][\w+@/.'’*-]*\]?)"
_SHORT = r"(?:[A-Za-z]*[A-Z0-9][\w+@/-]*(?:\.\d+)?)"
"""A name of one word: with a capital or a digit in it."""
_CAPITAL = r"(?:[A-Z][\w+@/’'-]*|\d?[A-Z]+[\w-]*)"
_LONG = rf"(?:{_CAPITAL}(?: (?:{_CAPITAL}|of|for|with|and|via|in|on|to|the|from)){{0,7}}? ?(?<=[\w’']))"
_NAME = rf"(?P<name>{_SHORT}|{_LONG})"
_EXPLAINED = r"(?P<explained> \([^()]{2,80}\))?"
_NAMED = r"(?:,? (?:called|named|dubbed|termed|namely|coined|which (?:we|is) (?:call|called|named|term|dub))(?: as)?,?)"
_KINDS = (
    r"(?:framework|method|model|approach|benchmark|dataset|data set|corpus|system|architecture|algorithm|pipeline|"
    r"technique|paradigm|strategy|toolkit|library|metric|network|retriever|agent|module|mechanism|suite|resource|"
    r"collection|objective|scheme|pre-training|platform|testbed|protocol|task|family|encoder|transformer|decoder|"
    r"layer|operator|kernel|simulator|leaderboard|taxonomy)s?"
)
_APPOSITION = re.compile(
    rf"{_WE_GIVE}(?: the)? {_NAME}{_EXPLAINED}(?P<comma>,| --| —| -) (?=(?:an?|the first) (?!set of\b|kind of\b|i\.e))"
)
_CALLED = re.compile(
    rf"{_WE_GIVE} (?P<what>(?:an?|the) (?:[\w/-]+ ){{0,9}}?{_KINDS}(?: (?:for|of|to) [\w -]{{3,60}}?)?)"
    rf"{_NAMED} (?:the )?{_NAME}{_EXPLAINED}(?P<next>,? (?:that|which|to|for|with|based on|whose|where|in which|"
    rf"consisting|comprising|covering|containing|designed|built|using|by) )"
)
_WHICH = re.compile(
    rf"{_WE_GIVE}(?: the)? (?:(?P<short>{_SHORT})|(?P<long>{_LONG}) ?(?P<explained>\([^()]{{2,80}}\)))(?P<link>,? (?:which|that) )"
    rf"(?=(?:\w+ly )?(?P<verb>[a-z]{{2,}}s)\b)"
)
_BEHIND = re.compile(
    rf"{_WE_GIVE} (?P<what>an? (?:[\w/-]+ ){{1,9}}?{_KINDS}),? \((?:a\.k\.a\. |dubbed |called |named )?(?P<name>{_SHORT})\)"
    rf"(?P<next>,? (?:that|which|to|for|with|based on|whose|where|in which|using|by) )"
)
_TO = re.compile(r", (?=to [a-z])")
_BREAKS = re.compile(r"; |\bwe\b|\bour\b|\bwhich we\b|, (?:and|as well as) (?:the|an?|its) ")
_NO_NAMES = frozenset({"LLM", "LLMs", "RAG", "QA", "NLP", "AI", "GPT", "PLMs", "GNN", "GNNs", "The", "This", "A", "An"})


def name_first(text: str, start: int) -> list[Edit] | None:
    """The edits that make the system the subject of the sentence that begins at `start`; None where it has no such form.

    What is said of the system stays word for word; only "we propose", "called" and the place of the name change.
    """
    for pattern, form in _FORMS:
        match = pattern.match(text, start)
        if not match or match.groupdict().get("name") in _NO_NAMES:
            continue
        rest = text[match.end() :]
        if len(rest.split()) < 4 or _BREAKS.search(rest) or shared_verbs(text, match.end()) != []:
            return None
        edits = form(match, text, start)
        commas = list(_TO.finditer(text, match.end()))
        if len(commas) > 1 or edits is None:
            return None
        return [*edits, *(Edit("drop comma", m.start(), ",", "") for m in commas)]
    return None


def _is(match: re.Match[str]) -> str:
    """ "Networks (MFNs) are", "TwinSeek is"."""
    explained = match.group("explained") or ""
    is_plural = explained.endswith("s)") or (
        " " in match.group("name") and bool(re.search(r"[^s]s$", match.group("name")))
    )
    return "are" if is_plural else "is"


def _from_apposition(match: re.Match[str], text: str, start: int) -> list[Edit] | None:
    if match.group("name")[0].islower():
        return None
    edits = [Edit("name first", start, text[start : match.start("name")], "")]
    return [*edits, Edit("say is", match.start("comma"), text[match.start("comma") : match.end()], f" {_is(match)} ")]


def _from_call(match: re.Match[str], text: str, start: int) -> list[Edit]:
    what = without_praise(match.group("what"))
    head = f"{match.group('name')}{match.group('explained') or ''} {_is(match)} {what}"
    return [Edit("name first", start, text[start : match.start("next")], head)]


def _from_which(match: re.Match[str], text: str, start: int) -> list[Edit] | None:
    """ "We propose NAME, which does …": NAME does."""
    group = "short" if match.group("short") else "long"
    if (
        match.group("verb") in ("this", "its", "was")
        or match.group(group) in _NO_NAMES
        or match.group(group)[0].islower()
    ):
        return None
    return [
        Edit("name first", start, text[start : match.start(group)], ""),
        Edit("drop relative", match.start("link"), match.group("link"), " "),
    ]


def _from_behind(match: re.Match[str], text: str, start: int) -> list[Edit]:
    """ "We propose a … model (NAME) that …": NAME is a … model that."""
    head = f"{match.group('name')} is {without_praise(match.group('what'))}"
    return [Edit("name first", start, text[start : match.start("next")], head)]


_FORMS = (
    (_APPOSITION, _from_apposition), (_CALLED, _from_call), (_WHICH, _from_which),
    (_BEHIND, _from_behind),
)  # fmt: skip

GIVES = re.compile(
    rf"\b(?:{_GIVE}(?:s|d|ed|ing)?|call(?:ed)?|named|dubbed|termed|namely|coined|proposing|introducing|presented|built|"
    r"presents|constructed|created|released|developed)\b"
)


def named_in(text: str, own: Collection[str]) -> frozenset[str]:
    """Which of the paper's own names the sentence has."""
    return frozenset(name for name in own if re.search(rf"(?<![\w-]){re.escape(name)}(?!\w)", text))


def introduced_in(text: str, own: Collection[str]) -> frozenset[str]:
    """Which of the paper's own names the sentence introduces: says what it is, spells it out, or proposes it."""
    found = set()
    for name in named_in(text, own):
        word = re.escape(name)
        at = re.search(rf"(?<![\w-]){word}(?!\w)", text)
        says = re.search(
            rf"(?:^|\b(?:where|and) ){word}(?: \([^()]+\))? (?:is|are) (?:an?|the)\b|\({word}s?\)|{word} \([A-Z]|"
            rf"^{word}(?: \([^()]+\))? (?:consists?|comprises?|contains?|uses?|learns?|employs?|leverages?|combines?|"
            rf"trains?|builds?|integrates?|first|takes?|generates?|utilizes?|incorporates?|introduces?)\b",
            text,
        )
        before = GIVES.search(text[: at.start()])
        if says or (before and at.start() - before.end() < 90):
            found.add(name)
    return frozenset(found)
