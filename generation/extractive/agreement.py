"""Verbs that must agree with a subject of one: "we propose" becomes "a paper proposes".

Belongs here: third persons, and finding the verbs that share a subject. Not here: who the subject is (`speakers`).
"""

import re

_IRREGULAR = {"have": "has", "are": "is", "do": "does", "were": "was"}
_VERBS = frozenset(
    """
    achieve address adapt adopt advocate aim analyse analyze annotate apply argue ask assess augment benchmark build
    characterize collect combine compare conduct consider construct contribute create curate define demonstrate derive
    describe design develop devise discover discuss distill employ enhance establish estimate evaluate examine experiment
    explore extend extract find fine-tune focus formalize formulate generalize generate give exploit explain encode capture convert learn represent retrieve identify illustrate implement
    improve incorporate integrate introduce investigate leverage measure observe obtain offer optimize outline perform
    predict present probe propose prove provide quantify release report reveal review revisit rely seek select show study
    suggest summarize survey tackle take test train treat try transform unify uncover use utilize validate verify
    """.split()  # noqa: SIM905 - a list of words is read and sorted as text
)
_BASE = {}
_NOUNS_TOO = frozenset(
    """
    address aim benchmark design experiment focus measure offer release report review study survey test train treat try
    use augment probe ask
    """.split()  # noqa: SIM905
)
_REPORTS = frozenset(
    "show demonstrate find evaluate propose introduce conduct present argue observe report prove validate verify".split()  # noqa: SIM905
)
_SHARED = re.compile(
    r"(?:,? and|,? but|,? then|,) (?:(?:also|then|further|finally|thereby|thus|hence|therefore|[a-z]+ly) )?(?P<verb>[a-z][a-z-]+)(?= (?P<next>\S+))"
)
_BARE = re.compile(r"\b(?:to|can|could|may|might|will|would|should|let|lets|helps?|makes?)\b")
_RELATIVE = re.compile(r"\b(?:that|which|who|where|whose)\b")
_CERTAIN = frozenset("a an the its their it them how that whether".split())  # noqa: SIM905
_LIKE_VERB = re.compile(
    r"(?!in|on|for|as|with|by|at|of|to|from|both|under|over|than|not|when|if|into|across|all|even|via|without|while|after|then|the|a|only|is|are)[a-z-]{3,}(?<!s)(?<!ed)(?<!ing)(?<!ly)(?<!ion)"
)
_OBJECT = frozenset(
    "a an the its their our them that how whether several two three four five what why both extensive it them new".split()  # noqa: SIM905
)


def third_person(verb: str) -> str | None:
    """The verb for a subject of one; None for a word that is not known as a verb."""
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    if verb not in _VERBS:
        return None
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ies"
    return verb + ("es" if verb.endswith(("s", "sh", "ch", "x", "z")) else "s")


_BASE |= {third_person(verb): verb for verb in _VERBS} | {"has": "have", "is": "are", "does": "do"}


def base_form(verb: str) -> str | None:
    """ "proposes" → "propose"; None for a word that is no known third person."""
    return _BASE.get(verb)


def shared_verbs(text: str, at: int) -> list[tuple[int, str]] | None:
    """Further verbs of the subject whose verb ends at `at`, as (start, third person); None where that is unclear.

    "We propose X and show that …" has one more; "we propose X to retrieve and rank …" has none, since what follows
    "to" has no person.
    """
    found = []
    for match in _SHARED.finditer(text, at):
        verb = match.group("verb")
        third = third_person(verb)
        if third is None:
            if (
                _LIKE_VERB.fullmatch(verb)
                and match.group("next") in _CERTAIN
                and not _BARE.search(text, at, match.start())
            ):
                return None
            continue
        has_object = match.group("next").lower().strip(",.") in _OBJECT
        if verb in _NOUNS_TOO and not has_object:
            continue
        if _BARE.search(text, at, match.start()):
            if verb in _REPORTS:
                return None
            continue  # what follows "to" has no person
        if not has_object or _RELATIVE.search(text, at, match.start()):
            return None
        found.append((match.start("verb"), third))
    return found
