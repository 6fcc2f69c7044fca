"""What can go from a sentence without changing what it claims: reports, praise, examples in brackets, empty ends.

Belongs here: named edits that only take away, and the repair of a hyphen or blank that the source lost. Not here:
openings that point elsewhere (`openings`).
"""

import re

from generation.extractive.agreement import third_person
from generation.values import Edit

_ADJECTIVES = (
    r"(?:(?:extensive|comprehensive|experimental|empirical|thorough|numerous|detailed|the|our|further|both|evaluation|"
)
_ADJECTIVES += r"automatic|human|quantitative|qualitative|additional|rigorous|systematic|preliminary|initial|offline|online|all|and) )*"
_REPORT = re.compile(
    rf"(?:{_ADJECTIVES}(?:results?|experiments?|evaluations?|experimentation|analys[ie]s|findings|studies|ablations?) "
    rf"(?:also |further |clearly |consistently )?(?:show|shows|demonstrate|demonstrates|indicate|indicates|reveal|reveals|"
    rf"confirm|confirms|have shown|showed|demonstrated|suggest) that )",
    re.IGNORECASE,
)
_WE_REPORT = re.compile(
    r"(?:(?:through|with|by|in|via|from|using) (?:(?:extensive|comprehensive|empirical|thorough|detailed|careful|our|a|"
    r"series|of|set|systematic|human|automatic|various|rigorous|and|conducting|experimental) )*(?:experiments|evaluations?|"
    r"analys[ie]s|experimentation|studies|results), )?we (?:also |further |then |empirically |experimentally )?"
    r"(?:show|find|demonstrate|observe|found|observed|reveal|have shown|have found|discover) that ",
    re.IGNORECASE,
)
_WE_RAN = re.compile(
    r"we (?:also |further |then )?(?:conduct|conducted|perform|performed|run|ran) (?:[\w-]+ ){0,3}(?:experiments|evaluations?)"
    r"(?: on (?:[a-z-]+ ){0,4}(?:benchmarks|datasets|tasks))?,? and (?:the |our )?(?:experimental |empirical )?(?:results?|find|show|observe|demonstrate) "
    r"(?:(?:show|demonstrate|indicate|reveal|suggest)s? )?that ",
    re.IGNORECASE,
)
_THROUGH = re.compile(
    r"(?:through|with|by|in|via|based on|after|under) (?:(?:extensive|comprehensive|empirical|thorough|rigorous|the|our|careful|"
    r"detailed|a series of|conducting|systematic|quantitative|qualitative|automatic|human|and|performing|various|experimental|"
    r"numerical) )+(?:experiments|evaluations?|analys[ie]s|experimentation|studies|results|ablations?), ",
    re.IGNORECASE,
)
_PRAISE = re.compile(
    r"\b(?P<article>an?) (?:(?:novel|innovative|simple,? (?:yet|but|and) (?:effective|powerful|efficient)|groundbreaking|pioneering|"
    r"effective yet simple|conceptually simple|straightforward yet effective|new and novel|novel and \w+)"
    r"(?:, | and | but | yet | ))+(?P<next>[a-z])",
)
_PRAISE_INNER = re.compile(r"(?<=[a-z] )(?:novel|innovative|groundbreaking) (?=[a-z])")
_EXAMPLES = re.compile(r" \((?:e\.g\.|eg|such as|for example|like),? [^()]{3,160}\)")
_EMPTY_END = re.compile(
    r",? (?:thereby |thus |hence |clearly |further )?(?:demonstrating|highlighting|showcasing|underscoring|indicating|illustrating|"
    r"emphasi[sz]ing|paving|verifying|validating|confirming|revealing|showing|proving|which (?:demonstrates|highlights|shows|"
    r"verifies|indicates|validates)) (?:the |its |their |a |great |strong )?(?:effectiveness|potential|efficacy|superiority|"
    r"importance|need|promise|usefulness|feasibility|advantages?|way|significance|value|benefits?|robustness|"
    r"generality|versatility|strength)[^,;:()]*(?=\.$)",
    re.IGNORECASE,
)
_LOST_BLANK = re.compile(r"(?<![\w-])(?P<fore>[a-z]{2,})- (?P<hind>[a-z]{3,})(?![\w-])")
_LOST_BETWEEN = re.compile(r"(?<![\w-])(?P<fore>[a-z]{5,})(?=[A-Z][a-z]{3,})")
_AND_OR = ("and", "or", "to", "as", "but")
_VOWEL = re.compile(r"[aeio]|u(?!ni|se|su|ti|bi)", re.IGNORECASE)
_SILENT = re.compile(r"hour|honest|heir|one\b|once|eu", re.IGNORECASE)
_OWN_START = re.compile(r"(?:our|the (?:proposed|presented|introduced))\b", re.IGNORECASE)


def drop_report(text: str, start: int, own: frozenset[str], *, any_subject: bool) -> Edit | None:
    """The edit that leaves of "Experiments show that X works" what is shown, where X is named.

    Args:
        own: names of the paper's systems and data.
        any_subject: also a subject without a name may begin what is left, as where nobody can be named who shows it.
    """
    match = _REPORT.match(text, start) or _WE_REPORT.match(text, start) or _WE_RAN.match(text, start)
    if not match:
        match = _THROUGH.match(text, start)
        follows = match and re.match(r"(?:we|the authors)\b", text[match.end() :], re.IGNORECASE)
        named = match and _begins_with(text[match.end() :], own)
        return Edit("drop report", start, match.group(0), "") if match and (follows or named) else None
    rest = text[match.end() :]
    # "a) … b) …", "(1) …", "while", "the more …" do not stand as they are; a list of findings stays whole.
    if re.match(r"\W|\d|while|when|if|although|despite|there|it\b|this|these|such|they|even|only", rest, re.IGNORECASE):
        return None
    if len(rest.split()) < 6 or re.search(r"\band that\b|;", rest):
        return None
    is_own = _begins_with(rest, own) or _OWN_START.match(rest)
    return Edit("drop report", start, match.group(0), "") if is_own or any_subject else None


def _begins_with(text: str, own: frozenset[str]) -> bool:
    return any(re.match(rf"(?:the )?{re.escape(name)}\b", text) for name in own)


def praise_dropped(text: str, start: int) -> list[Edit]:
    """Edits for "a novel framework" → "a framework", with the article that fits."""
    edits = []
    for match in _PRAISE.finditer(text, start):
        begin = match.start()
        article = article_before(text[match.start("next") :])
        before = text[begin : match.start("next")]
        edits.append(Edit("drop praise", begin, before, ("A" if before[0] == "A" else "a") + article[1:] + " "))
    taken = [(e.start, e.start + len(e.before)) for e in edits]
    for match in _PRAISE_INNER.finditer(text, start):
        if not any(a <= match.start() < b for a, b in taken) and not re.search(r"\b[Aa]n? $", text[: match.start()]):
            edits.append(Edit("drop praise", match.start(), match.group(0), ""))
    return edits


def without_praise(text: str) -> str:
    """The text as `praise_dropped` leaves it."""
    for edit in sorted(praise_dropped(text, 0), key=lambda e: e.start, reverse=True):
        text = text[: edit.start] + edit.after + text[edit.start + len(edit.before) :]
    return text


def article_before(text: str) -> str:
    """ "a" or "an" before a word in small letters."""
    if _SILENT.match(text):
        return "an" if text.lower().startswith(("hour", "honest", "heir")) else "a"
    return "an" if _VOWEL.match(text) else "a"


def brackets_dropped(text: str, start: int) -> list[Edit]:
    """Edits that take examples in brackets away."""
    return [Edit("drop examples", m.start(), m.group(0), "") for m in _EXAMPLES.finditer(text, start)]


def end_dropped(text: str, start: int) -> list[Edit]:
    """The edit that takes an end away which only praises: ", demonstrating the effectiveness of …"."""
    match = _EMPTY_END.search(text, start)
    return [Edit("drop empty end", match.start(), match.group(0), "")] if match and match.start() - start > 40 else []


def blanks_mended(text: str, start: int) -> list[Edit]:
    """Edits for "open- domain" → "open-domain" and "proposeExtensible" → "propose Extensible"."""
    lost = [
        Edit("mend blank", m.end("fore"), "", " ")
        for m in _LOST_BETWEEN.finditer(text, start)
        if third_person(m.group("fore"))
    ]
    return lost + [
        Edit("mend blank", m.end("fore") + 1, " ", "")
        for m in _LOST_BLANK.finditer(text, start)
        if m.group("hind") not in _AND_OR
    ]
