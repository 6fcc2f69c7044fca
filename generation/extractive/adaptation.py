"""From a source sentence to a sentence of the survey: quoted as it stands, or adapted by named, reversible edits.

Every edit replaces `before` by `after` at a place in the span's text, so that text and span rebuild each other
(`rebuild`, `reverse`). Which edits there are is told elsewhere: who speaks (`speakers`), systems as subjects
(`introducing`), what can go (`shortening`, `openings`), and which results can stand (`standing`).
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from generation.extractive.cards import own_names
from generation.extractive.introducing import name_first
from generation.extractive.marks import plain_marks
from generation.extractive.openings import opening_end
from generation.extractive.refusals import is_broken
from generation.extractive.sentences import SourceSentence
from generation.extractive.shortening import (
    blanks_mended,
    brackets_dropped,
    drop_report,
    end_dropped,
    praise_dropped,
)
from generation.extractive.speakers import Manner, name_speaker
from generation.extractive.standing import stands_alone
from generation.misprints import is_misprinted
from generation.naming import short_authors
from generation.values import Edit, Paper, Sentence, StatedRow

_FIRST_PERSON = re.compile(r"\b(?:I|my|me|mine|myself|we|We|our|Our|us|Us)\b")
_PRONOUN = "They"
_PLAIN = Manner()
_LEAST_WORDS = 6
_SPEAKERS = ("name the authors", "name the author", "name the owner", "name the paper")


def adapt(source: SourceSentence, paper: Paper, manner: Manner = _PLAIN) -> Sentence | None:
    """The sentence as it can stand in the survey, or None where it cannot without inventing something.

    Args:
        manner: which of several wordings; whether there is one may hang on it, since a sentence that follows another
            of its paper may speak of "the authors" and "the method" where no source names anybody.
    """
    text = source.text
    edits: list[Edit] = []
    start = opening_end(text)
    if start:
        edits.append(Edit("drop opening", 0, text[:start], ""))
    begin = start
    own = _own(paper)
    named = name_first(text, start) if manner.by_name else None
    if named:
        edits += named
    else:
        report = drop_report(text, start, own, any_subject=short_authors(paper) is None)
        if report:
            edits.append(report)
            begin = start + len(report.before)
        end = next((e.start for e in end_dropped(text, begin)), len(text))
        if not name_speaker(text[:end], begin, paper, manner, edits):
            return None
    if source.span.source == "passage":  # only such come with marks, where they can be dropped (`marks`)
        edits += [Edit("drop citation mark", a, text[a:b], "") for a, b in plain_marks(text) if a >= start]
    for further in (blanks_mended, end_dropped, praise_dropped, brackets_dropped, _also_dropped):
        edits += [e for e in further(text, begin) if not _overlaps(e, edits)]
    _capitalise(text, begin, edits)
    edits.sort(key=lambda e: (e.start, e.start + len(e.before)))
    result = rebuild(text, edits)
    if (
        not (result[0].isalnum() or result[0] == "“")
        or _FIRST_PERSON.search(result)
        or is_broken(result)
        or is_misprinted(result)
        or len(result.split()) < _LEAST_WORDS
    ):
        return None
    if not stands_alone(_as_first(result, manner)):
        return None
    kind = "adapted" if edits else "quoted"
    return Sentence(kind, result, (paper.paper_id,), (source.span,), tuple(edits), rows=_rows(paper, edits))


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
            return Sentence(
                sentence.kind, rebuild(source, edits), sentence.cited_ids, sentence.spans, edits, rows=sentence.rows
            )
    return sentence


def names_speaker(sentence: Sentence) -> bool:
    """Whether the sentence says who did or says it."""
    return any(e.name in _SPEAKERS for e in sentence.edits)


@lru_cache(maxsize=8192)
def _own(paper: Paper) -> frozenset[str]:
    return own_names(paper)


def _rows(paper: Paper, edits: Sequence[Edit]) -> tuple[StatedRow, ...]:
    """What bears the year that a naming edit brought in."""
    year = str(paper.year)
    if not any(year in e.after and year not in e.before for e in edits if e.name in _SPEAKERS):
        return ()
    paper_id = paper.paper_id.replace("'", "''")
    return (StatedRow("year", year, f"SELECT year(submitted_latest) FROM papers WHERE paper_id = '{paper_id}'"),)  # noqa: S608


def _as_first(text: str, manner: Manner) -> str:
    """The text as if it stood first: what points at the sentence before it, which is of the same paper, may."""
    if not manner.follows:
        return text
    return _FOLLOWING.sub("SomeName", re.sub(r"^Its authors\b", "The authors", text), count=1)


_FOLLOWING = re.compile(
    r"^The (?:[\w-]+ ){0,3}?(?:methods?|approach|model|framework|system|results|experiments|analysis|evaluation|algorithm|"
    r"technique|retriever|benchmark|dataset|architecture|pipeline|paper|study|survey|work|findings|review)s?\b"
)


def _overlaps(edit: Edit, edits: Sequence[Edit]) -> bool:
    return any(edit.start < e.start + len(e.before) and e.start < edit.start + len(edit.before) for e in edits)


_ALSO = re.compile(r"(?<!but)(?<!and) also(?= [a-z])| here(?= that\b)")


def _also_dropped(text: str, start: int) -> list[Edit]:
    """ "Also" adds to a sentence that is not there."""
    match = _ALSO.search(text, start)
    return [Edit("drop adverb", match.start(), match.group(0), "")] if match else []


def _capitalise(text: str, begin: int, edits: list[Edit]) -> None:
    """After a dropped beginning the next word begins the sentence."""
    if begin == 0 or begin >= len(text):
        return
    for i, edit in enumerate(edits):
        if edit.start == begin and edit.before and edit.name not in ("drop opening", "drop report"):
            if edit.after:
                edits[i] = Edit(edit.name, edit.start, edit.before, edit.after[:1].upper() + edit.after[1:])
            return
    if text[begin].islower() and not re.match(r"[a-z]+[A-Z0-9]", text[begin:]):
        edits.append(Edit("capital", begin, text[begin], text[begin].upper()))
