"""From a source sentence to a sentence of the survey: quoted as it stands, or adapted by named, reversible edits.

Every edit replaces `before` by `after` at a place in the span's text, so that text and span rebuild each other
(`rebuild`, `reverse`). Whoever speaks is named, and openings that point at other sentences go; the rest stays. Which
results can stand in a survey is told elsewhere (`standing`).
"""

import re
from collections.abc import Sequence

from generation.extractive.marks import plain_marks
from generation.extractive.openings import opening_end
from generation.extractive.sentences import SourceSentence, own_name
from generation.extractive.standing import stands_alone
from generation.naming import short_authors
from generation.values import Edit, Paper, Sentence

_KIND = r"(?:paper|work|article|study|survey|review|thesis|report|manuscript)"
_THIS_PAPER = re.compile(
    rf"^(?:this|the present|the current|our) (?P<noun>(?:survey |review |position )?{_KIND})\b(?! (?:of|on|in|by)\b)",
    re.IGNORECASE,
)
_THING = (
    r"(?:methods?|approach(?:es)?|models?|framework|system|results|experiments|findings|analysis|analyses|evaluations?|"
    r"algorithms?|techniques?|retriever|benchmark|dataset|architecture|pipeline|solution|strategy|agents?|survey|"
    r"review|study|work|design|training|objective|experimental results|empirical results|model|taxonomy|corpus|metric|"
    r"procedure|scheme)"
)
_OWN_THING = re.compile(
    rf"\b(?:our|the (?:proposed|presented|introduced|resulting)) (?P<rest>(?:[\w-]+ ){{0,3}}?{_THING})\b(?! (?:of|"
    rf"for|that|which|to)\b)",
    re.IGNORECASE,
)
_WE = re.compile(r"\b(?:We|we)\b")
_OWN = re.compile(r"\b(?:we|our|us|ours|ourselves)\b", re.IGNORECASE)
_INNER = {"we": "they", "our": "their", "us": "them", "ours": "theirs", "ourselves": "themselves"}
_INNER_WORD = re.compile(r"\b(?:we|our|us|ours|ourselves)\b")
_FIRST_PERSON = re.compile(r"\b(?:I|my|me|mine|myself|we|We|our|Our|us|Us)\b")
_THE_AUTHORS = re.compile(r"\b[Tt]he authors\b(?! of\b)")
_THE_SURVEY = re.compile(
    r"\b(?P<the>[Tt]he) (?P<noun>survey|review|paper|article)\b(?! (?:of|on|by|in|for|from|that|which)\b)"
)
_ADVERB = re.compile(
    r"\s+(?:also|further|furthermore|additionally|then|thus|therefore|hence|finally|subsequently)(?=\s[a-z])"
)
_PRONOUN = "They"


def adapt(source: SourceSentence, paper: Paper) -> Sentence | None:
    """The sentence as it can stand in the survey, or None where it cannot without inventing something."""
    edits: list[Edit] = []
    text = source.text
    start = opening_end(text)
    if start:
        edits.append(Edit("drop opening", 0, text[:start], ""))
    if not _name_speaker(text, start, paper, edits):
        return None
    if source.span.source == "passage":  # only such come with marks, where they can be dropped (`marks`)
        edits += [Edit("drop citation mark", a, text[a:b], "") for a, b in plain_marks(text) if a >= start]
    _replace_inner(text, start, edits)
    _drop_also(text, start, edits)
    _capitalise(text, start, edits)
    edits.sort(key=lambda e: (e.start, e.start + len(e.before)))
    result = rebuild(text, edits)
    if _FIRST_PERSON.search(result) or not stands_alone(result):
        return None
    return Sentence("adapted" if edits else "quoted", result, (paper.paper_id,), (source.span,), tuple(edits))


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


def with_pronoun(sentence: Sentence) -> Sentence:
    """The sentence with "They" for the authors it begins with, to stand behind one that names them.

    One author or a group would need another pronoun and another verb: such a sentence stays as it is.
    """
    for i, edit in enumerate(sentence.edits):
        is_plural = edit.name == "name the authors" and edit.before in ("We", "we", "The authors", "the authors")
        if is_plural and sentence.text.startswith(edit.after) and edit.after[:1].isupper():
            source = reverse(sentence.text, sentence.edits)
            edits = (*sentence.edits[:i], Edit(edit.name, edit.start, edit.before, _PRONOUN), *sentence.edits[i + 1 :])
            return Sentence(sentence.kind, rebuild(source, edits), sentence.cited_ids, sentence.spans, edits)
    return sentence


def _name_speaker(text: str, start: int, paper: Paper, edits: list[Edit]) -> bool:
    """Name whoever speaks, once. False where the sentence speaks in the first person and nobody can be named."""
    body = text[start:]
    known = short_authors(paper)
    own = own_name(paper)
    if own and own.lower() in text.lower():  # "the authors of RECAP present RECAP" says it twice
        own = None
    name, is_plural = known or (f"the authors of {own}" if own else "the authors", True)
    if match := _THIS_PAPER.match(body):
        noun = match.group("noun").lower()
        named = f"The {noun} by {name}" if known else f"The {own} {noun}" if own else f"One {noun}"
        edits.append(Edit("name the paper", start, match.group(0), named))
        return True
    speaker, thing = _WE.search(body), _OWN_THING.search(body)
    if thing and (not speaker or thing.start() < speaker.start()):
        if not known:
            return False
        if _OWN.search(body[: thing.start()]):
            return False  # "our" before the one it belongs to is named
        the = "The" if thing.start() == 0 else "the"
        # "our method" owned by somebody else than the one who says "we" there is not.
        edits.append(
            Edit("name the owner", start + thing.start(), thing.group(0), f"{the} {thing.group('rest')} of {name}")
        )
        return True
    if speaker:
        return _name_we(text, start + speaker.start(), start, (name, is_plural), edits)
    if _OWN.search(body):
        return False
    _name_the_authors(text, start, known, own, edits)
    return True


def _name_we(text: str, at: int, start: int, name: tuple[str, bool], edits: list[Edit]) -> bool:
    if re.search(r"\b(?:our|us|ours)\b", text[start:at], re.IGNORECASE):
        return False
    subject = name[0][0].upper() + name[0][1:] if at == start and name[0].startswith("the ") else name[0]
    adverb = _ADVERB.match(text, at + 2)
    if name[1]:
        edits.append(Edit("name the authors", at, text[at : at + 2], subject))
        if adverb:
            edits.append(Edit("drop adverb", adverb.start(), adverb.group(0), ""))
        return True
    # One author or a group: the verb that follows must agree, and "we" and "our" must not come again.
    verb = re.compile(r"\s+([a-z]+)").match(text, adverb.end() if adverb else at + 2)
    third = _third_person(verb.group(1)) if verb else None
    if third is None or _OWN.search(text[at + 2 :]):
        return False
    edits.append(Edit("name the author", at, text[at : verb.end()], f"{subject} {third}"))
    return True


def _name_the_authors(
    text: str, start: int, known: tuple[str, bool] | None, own: str | None, edits: list[Edit]
) -> None:
    """ "The authors" and "the survey" are somebody's where the sentence stands alone.

    One author would need another verb, so that "the authors" stays then.
    """
    match = _THE_AUTHORS.search(text, start)
    if match and (known is None or known[1]) and (known or own):
        name = known[0] if known else f"{match.group(0)} of {own}"
        edits.append(Edit("name the authors", match.start(), match.group(0), name))
    elif known and (match := _THE_SURVEY.search(text, start)):
        named = f"{match.group('the')} {match.group('noun')} by {known[0]}"
        edits.append(Edit("name the paper", match.start(), match.group(0), named))


_IRREGULAR = {"have": "has", "are": "is", "do": "does", "were": "was"}
_VERBS = frozenset(
    """
    address analyse analyze apply argue build combine compare conduct consider construct create
    demonstrate derive describe design develop discuss establish evaluate examine explore extend find
    focus formulate identify introduce investigate observe offer present propose prove provide release
    report review show study suggest survey train use
    """.split()  # noqa: SIM905 - a list of words is read and sorted as text
)


def _third_person(verb: str) -> str | None:
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    if verb not in _VERBS:
        return None
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ies"
    return verb + ("es" if verb.endswith(("s", "sh", "ch", "x", "z")) else "s")


def _replace_inner(text: str, start: int, edits: list[Edit]) -> None:
    taken = [(e.start, e.start + len(e.before)) for e in edits]
    for match in _INNER_WORD.finditer(text, start):
        if not any(a <= match.start() < b for a, b in taken):
            edits.append(Edit("third person", match.start(), match.group(0), _INNER[match.group(0)]))


def _drop_also(text: str, start: int, edits: list[Edit]) -> None:
    """ "Also" adds to a sentence that is not there."""
    taken = [(e.start, e.start + len(e.before)) for e in edits]
    match = re.compile(r"(?<!but)(?<!and) also(?= [a-z])").search(text, start)
    if match and not any(a < match.end() and match.start() < b for a, b in taken):
        edits.append(Edit("drop adverb", match.start(), match.group(0), ""))


def _capitalise(text: str, start: int, edits: list[Edit]) -> None:
    """After a dropped opening the next word begins the sentence."""
    if start == 0 or start >= len(text):
        return
    for i, edit in enumerate(edits):
        if edit.start == start and edit.before and edit.name != "drop opening":
            edits[i] = Edit(edit.name, edit.start, edit.before, edit.after[:1].upper() + edit.after[1:])
            return
    if text[start].islower():
        edits.append(Edit("capital", start, text[start], text[start].upper()))
