"""Who says what a sentence says: "we" becomes the authors, or the paper where no source names any.

Belongs here: the edits that name a speaker or an owner. Not here: shorter wordings (`shortening`), systems as the
subject (`introducing`), and whether the result can stand (`standing`).
"""

import re
from dataclasses import dataclass

from generation.extractive.agreement import base_form, shared_verbs, third_person
from generation.naming import short_authors
from generation.values import Edit, Paper

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
    rf"for|that|which|to)\b)(?!(?-i: [A-Z]))(?!['’]s)",
    re.IGNORECASE,
)
_WE = re.compile(r"\b(?:We|we)\b")
_OWN = re.compile(r"\b(?:we|our|us|ours|ourselves)\b", re.IGNORECASE)
_INNER_WORD = re.compile(r"\b(?:we|our|us|ours|ourselves)\b")
_THEIRS = {"we": "they", "our": "their", "us": "them", "ours": "theirs", "ourselves": "themselves"}
_THE_AUTHORS = re.compile(r"\b[Tt]he authors\b(?! of\b)")
_THE_SURVEY = re.compile(
    r"\b(?P<the>[Tt]he) (?P<noun>survey|review|paper|article)\b(?! (?:of|on|by|in|for|from|that|which)\b)"
)
_ADVERB = re.compile(
    r"\s+(?:also|further|furthermore|additionally|then|thus|therefore|hence|finally|subsequently|first|firstly|here)"
    r"(?=\s[a-z])"
)
# "As we move to larger models": everybody's "we".
_EVERYBODY = re.compile(r"\b(?:as|when|if|since|because|where|before|until|unless|once|what|how) we\b", re.IGNORECASE)
_KINDS_TOLD = ("survey", "review", "survey paper", "review paper", "thesis", "report", "study")
_TITLE_WORDS = 8
_STUDIES = frozenset(["show", "find", "investigate", "examine", "analyze", "analyse", "evaluate", "compare", "explore"])

_GIFT = re.compile(
    r"We (?:(?:also|then|further|first|thus|hence|therefore|here) )?(?:propose|introduce|present|develop|describe|design) (?=an? )"
)


@dataclass(frozen=True)
class Manner:
    """How a sentence is worded where several wordings are as true.

    Attributes:
        follows: it stands right behind another sentence of its paper.
        turn: number of the wording; any number is good.
        by_name: the system is the subject where the grammar allows.
    """

    follows: bool = False
    turn: int = 0
    by_name: bool = False


@dataclass(frozen=True)
class Subject:
    """Whoever says "we".

    Attributes:
        own: how the paper's things are called: their or its.
    """

    text: str
    is_plural: bool

    @property
    def own(self) -> str:
        return "their" if self.is_plural else "its"


def subject_of(paper: Paper, manner: Manner, verb: str, *, must_be_plural: bool = False) -> Subject:
    """Who says it: the authors, or the paper by its title where no source names them, by its year if that is long."""
    if known := short_authors(paper):
        return Subject(*known)
    if manner.follows:
        return Subject(("the authors", "its authors")[manner.turn % 2], True)
    title = _short_title(paper)
    if must_be_plural:
        return (
            Subject(f"the authors of “{title}”", True)
            if title
            else Subject(f"the authors of a {paper.year} paper", True)
        )
    if title:
        return Subject(f"“{title}”", False)
    noun = "study" if verb in _STUDIES else "paper"
    wordings = (f"a {paper.year} {noun}", f"work from {paper.year}", f"a {noun} of {paper.year}")
    return Subject(wordings[manner.turn % 3], False)


def _short_title(paper: Paper) -> str:
    """The title, or what stands before its colon, where that is short enough to stand in a sentence; "" else."""
    for text in (paper.title, paper.title.partition(":")[0]):
        words = text.split()
        if 2 <= len(words) <= _TITLE_WORDS and not re.search(r"[“”\"?!$\\]", text):
            return " ".join(words)
    return ""


def name_speaker(text: str, start: int, paper: Paper, manner: Manner, edits: list[Edit]) -> bool:
    """Name whoever speaks, once. False where the sentence speaks in the first person and nobody can be named."""
    body = text[start:]
    if _EVERYBODY.search(body):
        return False
    known = short_authors(paper)
    if match := _THIS_PAPER.match(body):
        return _name_paper(text, start, match, paper, manner, edits)
    speaker, thing = _WE.search(body), _OWN_THING.search(body)
    if thing and (not speaker or thing.start() < speaker.start()):
        if (not known and not manner.follows) or _OWN.search(body[: thing.start()]):
            return False  # nobody to own it, or "our" before the one it belongs to is named
        the = "The" if thing.start() == 0 else "the"
        of = f" of {known[0]}" if known else ""
        if text.startswith(".", start + thing.end()):
            of = of.removesuffix(".")  # "et al." ends the sentence
        edits.append(Edit("name the owner", start + thing.start(), thing.group(0), f"{the} {thing.group('rest')}{of}"))
        _replace_inner(text, start, edits, "their")
        return True
    if speaker:
        return _name_we(text, start + speaker.start(), start, paper, manner, edits)
    if _OWN.search(body):
        return False
    _name_the_authors(text, start, known, edits)
    return True


def _name_paper(text: str, start: int, match: re.Match[str], paper: Paper, manner: Manner, edits: list[Edit]) -> bool:
    """ "This paper proposes": the authors propose, or a paper of a year does."""
    noun = match.group("noun").lower()
    after = re.compile(r" (?P<adverb>\w+ly )?(?P<verb>[a-z]+)\b").match(text, start + match.end())
    base = base_form(after.group("verb")) if after else None
    if _OWN_THING.match(text[start:]) and noun in ("study", "work"):
        return False  # "our study" is the thing then
    known = short_authors(paper)
    if known and known[1] and base and base != "are" and "survey" not in noun:
        verbs = _plural_verbs(text, after.end())
        if verbs is not None:
            before = text[start : after.end()]
            edits.append(Edit("name the authors", start, before, f"{known[0]} {after.group('adverb') or ''}{base}"))
            edits += [Edit("agree", at, verb, plural) for at, verb, plural in verbs]
            _replace_inner(text, start, edits, "their")
            return True
    noun = noun if noun in _KINDS_TOLD else "paper"
    by = f" by {known[0]}" if known else ""
    named = f"The {noun}{by}" if known and manner.turn % 2 else f"A {paper.year} {noun}{by}"
    if not known and manner.follows:
        named = f"The {noun}"
    edits.append(Edit("name the paper", start, match.group(0), named))
    _replace_inner(text, start, edits, "its" if not _WE.search(text, start + match.end()) else "their")
    return True


_SHARED_THIRD = re.compile(r"(?:,? and|,? but|,? then|,) (?:(?:also|then|further|[a-z]+ly) )?(?P<verb>[a-z]+s)(?= \S)")


def _plural_verbs(text: str, at: int) -> list[tuple[int, str, str]] | None:
    """Further third persons behind the first, as (start, as it is, plural); None where it is unclear whose they are."""
    found = []
    for match in _SHARED_THIRD.finditer(text, at):
        base = base_form(match.group("verb"))
        if base is None:
            continue
        if re.search(r"\b(?:that|which|who|where)\b", text[at : match.start()]):
            return None
        found.append((match.start("verb"), match.group("verb"), base))
    return found


def _name_we(text: str, at: int, start: int, paper: Paper, manner: Manner, edits: list[Edit]) -> bool:
    if re.search(r"\b(?:our|us|ours)\b", text[start:at], re.IGNORECASE):
        return False
    adverb = _ADVERB.match(text, at + 2)
    verb = re.compile(r"\s+(?:(?P<adverb>[a-z]+ly) )?(?P<verb>[a-z][a-z-]*)").match(
        text, adverb.end() if adverb else at + 2
    )
    third = third_person(verb.group("verb")) if verb else None
    subject = subject_of(paper, manner, verb.group("verb") if verb else "")
    further = shared_verbs(text, verb.end()) if verb and third else None
    if not subject.is_plural and (third is None or further is None or re.search(r"\b(?:we|us)\b", text[at + 2 :])):
        if short_authors(paper):
            return False  # one author or a group is no "they", and the verb cannot be made to agree
        subject = subject_of(paper, manner, "", must_be_plural=True)
    if not subject.is_plural and not short_authors(paper) and at == start and manner.turn % 4 == 3 and not further:
        gift = _GIFT.match(text, at)
        if gift and not _OWN.search(text[gift.end() :]):
            edits.append(Edit("name the paper", at, gift.group(0), f"From {paper.year} comes "))
            return True
    name = subject.text[0].upper() + subject.text[1:] if at == start else subject.text
    if subject.is_plural:
        edits.append(Edit("name the authors", at, text[at : at + 2], name))
        if adverb:
            edits.append(Edit("drop adverb", adverb.start(), adverb.group(0), ""))
    else:
        manner_word = f"{verb.group('adverb')} " if verb.group("adverb") else ""
        edits.append(Edit("name the author", at, text[at : verb.end()], f"{name} {manner_word}{third}"))
        edits += [Edit("agree", a, base_form(t) or t, t) for a, t in further]
        if short_authors(paper) and _OWN.search(text[at + 2 :]):
            return False  # one author's "our" is his or hers, which no source tells
    _replace_inner(text, start, edits, subject.own)
    return True


def _name_the_authors(text: str, start: int, known: tuple[str, bool] | None, edits: list[Edit]) -> None:
    """ "The authors" and "the survey" are somebody's where the sentence stands alone.

    One author would need another verb, so that "the authors" stays then.
    """
    match = _THE_AUTHORS.search(text, start)
    if match and known and known[1]:
        edits.append(Edit("name the authors", match.start(), match.group(0), known[0]))
    elif known and (match := _THE_SURVEY.search(text, start)):
        named = f"{match.group('the')} {match.group('noun')} by {known[0]}"
        edits.append(Edit("name the paper", match.start(), match.group(0), named))


def _replace_inner(text: str, start: int, edits: list[Edit], own: str) -> None:
    """The other first persons, which are the named one's."""
    taken = [(e.start, e.start + len(e.before)) for e in edits]
    words = _THEIRS if own == "their" else {**_THEIRS, "our": "its"}
    for match in _INNER_WORD.finditer(text, start):
        if not any(a <= match.start() < b for a, b in taken):
            edits.append(Edit("third person", match.start(), match.group(0), words[match.group(0)]))
