"""From a source sentence to a sentence of the survey: quoted as it stands, or adapted by named, reversible edits.

Every edit replaces `before` by `after` at a place in the span's text, so that text and span rebuild each other
(`rebuild`, `reverse`). "We" becomes the authors, openings that point at the abstract go, the rest stays.
"""

import re
from collections.abc import Sequence

from generation.extractive.sentences import SourceSentence
from generation.naming import short_authors
from generation.values import Edit, Paper, Sentence

_OPENING = re.compile(
    r"^(?:(?:however|moreover|furthermore|therefore|thus|hence|additionally|finally|besides|specifically|in particular|"
    r"in addition|subsequently|ultimately|empirically|recently|more importantly|specially|especially|meanwhile|to the best of our knowledge|to our knowledge|notably|importantly|consequently|nevertheless|nonetheless|overall|in summary|in short|here|lastly|"
    r"to this end|to that end|for this purpose|in response|accordingly|first|firstly|second|secondly|third|thirdly|"
    r"more specifically|concretely|remarkably|interestingly|surprisingly|crucially|as a result|"
    r"in (?:this|our|the present) (?:paper|work|article|study|survey|review|research|thesis|report|letter)|"
    r"(?:through|throughout) this (?:paper|work|article|study|survey|review))\s*,?\s+)+",
    re.IGNORECASE,
)
_THIS_PAPER = re.compile(
    r"^(?P<det>this|the present|our) (?P<noun>paper|work|article|study|survey|review|thesis|report)\b", re.IGNORECASE
)
_OUR_THING = re.compile(
    r"^our (?P<rest>(?:[\w-]+ ){0,3}?(?:method|methods|approach|approaches|model|models|framework|system|results|experiments|"
    r"findings|analysis|analyses|evaluation|evaluations|study|work|algorithm|technique|retriever|benchmark|dataset|"
    r"architecture|code|pipeline|solution|strategy|survey|review|agent|agents))\b",
    re.IGNORECASE,
)
_WE = re.compile(r"\b(?:We|we)\b")
_INNER = {"we": "they", "our": "their", "us": "them", "ours": "theirs", "ourselves": "themselves"}
_INNER_WORD = re.compile(r"\b(?:we|our|us|ours|ourselves)\b")
_FIRST_PERSON = re.compile(r"\b(?:I|my|me|mine|myself|We|Our|Us)\b")
_PLURAL_ONLY = re.compile(r"^(?:are|were|have|do|aim|hope)\b")
_IRREGULAR = {"have": "has", "are": "is", "do": "does", "were": "was"}


def adapt(source: SourceSentence, paper: Paper) -> Sentence | None:
    """The sentence as it can stand in the survey, or None where it cannot without inventing something."""
    edits: list[Edit] = []
    text = source.text
    start = _drop_opening(text, edits)
    named = _name_subject(text, start, paper, edits)
    if named is False:
        return None
    _replace_inner(text, edits)
    _capitalise(text, start, edits)
    edits.sort(key=lambda e: e.start)
    result = rebuild(text, edits)
    if _FIRST_PERSON.search(result) or re.search(r"\b(?:we|our|us)\b", result):
        return None
    kind = "adapted" if edits else "quoted"
    return Sentence(kind, result, (paper.paper_id,), (source.span,), tuple(edits))


def rebuild(span_text: str, edits: Sequence[Edit]) -> str:
    """The sentence from its span's text and its edits.

    Raises:
        ValueError: an edit's `before` does not stand where it says.
    """
    parts, last = [], 0
    for edit in edits:
        if span_text[edit.start : edit.start + len(edit.before)] != edit.before or edit.start < last:
            raise ValueError(f"edit {edit.name} does not fit at {edit.start}")
        parts += [span_text[last : edit.start], edit.after]
        last = edit.start + len(edit.before)
    return "".join([*parts, span_text[last:]])


def reverse(text: str, edits: Sequence[Edit]) -> str:
    """The span's text from the sentence and its edits.

    Raises:
        ValueError: an edit's `after` does not stand where it must.
    """
    parts, last, shift = [], 0, 0
    for edit in edits:
        at = edit.start + shift
        if text[at : at + len(edit.after)] != edit.after:
            raise ValueError(f"edit {edit.name} cannot be undone at {at}")
        parts += [text[last:at], edit.before]
        last = at + len(edit.after)
        shift += len(edit.after) - len(edit.before)
    return "".join([*parts, text[last:]])


def _drop_opening(text: str, edits: list[Edit]) -> int:
    match = _OPENING.match(text)
    if not match:
        return 0
    edits.append(Edit("drop opening", 0, match.group(0), ""))
    return match.end()


def _name_subject(text: str, start: int, paper: Paper, edits: list[Edit]) -> bool:
    """Name whoever speaks, once. False where the sentence speaks in the first person and cannot be named."""
    body = text[start:]
    name, is_plural = short_authors(paper) or ("the authors", True)
    sentence_name = name[0].upper() + name[1:] if name.startswith("the ") else name
    if match := _THIS_PAPER.match(body):
        noun = match.group("noun").lower()
        owned = f"The {noun} by {name}" if short_authors(paper) else f"One {noun}"
        edits.append(Edit("name the paper", start, match.group(0), owned))
        return True
    if (match := _OUR_THING.match(body)) and short_authors(paper):
        edits.append(Edit("name the owner", start, match.group(0), f"The {match.group('rest')} of {name}"))
        return True
    match = _WE.search(body)
    if not match:
        _name_the_authors(text, start, paper, edits)
        return not re.search(r"\b(?:our|us|ours)\b", body, re.IGNORECASE)
    at = start + match.start()
    if re.search(r"\b(?:our|us|ours)\b", text[start:at], re.IGNORECASE):
        return False  # "our" before the one it belongs to is named
    subject = sentence_name if at == start else name
    if is_plural:
        edits.append(Edit("name the authors", at, match.group(0), subject))
        return True
    # One author or a group: the verb that follows must agree.
    verb = re.match(
        r"(\s+(?:also |further |then |first |formally |empirically |systematically )?)([a-z]+)", text[at + 2 :]
    )
    if not verb or re.search(r"\b(?:we|our|us)\b", text[at + 2 :]):
        return False
    third = _third_person(verb.group(2))
    if third is None:
        return False
    edits.append(Edit("name the authors", at, match.group(0) + verb.group(0), subject + verb.group(1) + third))
    return True


def _name_the_authors(text: str, start: int, paper: Paper, edits: list[Edit]) -> None:
    """ "The authors" are somebody where the sentence stands alone; one author would need another verb, so stays."""
    name, is_plural = short_authors(paper) or ("", False)
    match = re.compile(r"\b[Tt]he authors\b").search(text, start)
    if match and is_plural:
        edits.append(Edit("name the authors", match.start(), match.group(0), name))


_VERBS = {
    "propose", "present", "introduce", "show", "study", "investigate", "explore", "develop", "describe", "demonstrate",
    "find", "argue", "provide", "design", "use", "build", "train", "evaluate", "analyze", "analyse", "examine", "review",
    "survey", "consider", "address", "formulate", "extend", "apply", "compare", "report", "observe", "conduct", "offer",
    "discuss", "establish", "construct", "prove", "suggest", "identify", "focus", "release", "create", "combine", "derive",
}  # fmt: skip


def _third_person(verb: str) -> str | None:
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    if verb not in _VERBS or _PLURAL_ONLY.match(verb):
        return None
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ies"
    return verb + ("es" if verb.endswith(("s", "sh", "ch", "x", "z")) else "s")


def _replace_inner(text: str, edits: list[Edit]) -> None:
    taken = [(e.start, e.start + len(e.before)) for e in edits]
    for match in _INNER_WORD.finditer(text):
        if not any(a <= match.start() < b for a, b in taken):
            edits.append(Edit("third person", match.start(), match.group(0), _INNER[match.group(0)]))


def _capitalise(text: str, start: int, edits: list[Edit]) -> None:
    """After a dropped opening the next word begins the sentence."""
    if start == 0 or start >= len(text) or not text[start].islower():
        return
    if any(e.start <= start < e.start + max(len(e.before), 1) for e in edits if e.name != "drop opening"):
        return
    edits.append(Edit("capital", start, text[start], text[start].upper()))
