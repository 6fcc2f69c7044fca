"""What ties sentences of different papers: connectives that the data bears, and sentences on what papers share.

A connective is an edit that inserts text, and rows of the sentence say what bears it; a sentence on what papers share
states counts, each with the query that gives it. Not here: the order of sentences (`arranging`), what counts as shared
(`sharing`), and templates of the frame (`composing`).
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from generation.extractive.adaptation import rebuild, reverse
from generation.extractive.selection import Option, roots
from generation.extractive.sharing import WEAK_ROOTS, Shared
from generation.naming import listed
from generation.values import Edit, Paper, Sentence, StatedRow

_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")

_BETTER = re.compile(
    r"\b(?:improv\w+|outperform\w*|surpass\w*|exceed\w*|boosts?|benefi\w+|helps?|better|superior|gains?|enhanc\w+|effective(?:ly)?)\b",
    re.IGNORECASE,
)
_WORSE = re.compile(
    r"\b(?:hurts?|harms?|degrad\w+|fails?|failed|struggl\w+|worse\w*|declin\w+|drops?|cannot|do(?:es)? not|is not|are not|no better|"
    r"underperform\w*|lags?|vulnerable|unable|limited|poor(?:ly)?|misled|mislead\w*|suffers?)\b",
    re.IGNORECASE,
)
_SAME_TITLE = 2
_SAME_MATTER = 3
"""Roots of words that two findings must share to be on the same matter."""

_YEARS_BETWEEN = (
    "SELECT year(b.submitted_latest) - year(a.submitted_latest) FROM papers a, papers b "
    "WHERE a.paper_id = '{one}' AND b.paper_id = '{other}'"
)
_SAME_YEAR = (
    "SELECT DISTINCT year(a.submitted_latest) FROM papers a JOIN papers b "
    "ON year(a.submitted_latest) = year(b.submitted_latest) WHERE a.paper_id = '{one}' AND b.paper_id = '{other}'"
)
_LOWERED = ("A ", "An ", "The ", "Work ", "From ", "Its ", "They ")


def in_words(count: int) -> str:
    """A count as text: words up to nine."""
    return _WORDS[count] if count < len(_WORDS) else f"{count:,}"


def later(sentence: Sentence, before: Paper, paper: Paper, *, is_year_told: bool = False) -> Sentence | None:
    """The sentence with "Two years later," or "The same year," where the papers' dates say so; None elsewhere.

    Args:
        is_year_told: the sentence before names its paper's year, to which "the same" then points.

    Only what somebody does happens in time: a sentence whose subject is a system takes no such beginning.
    """
    years = paper.year - before.year
    says_year = any(row.name == "year" for row in sentence.rows)
    by_authors = any(e.name == "name the authors" and sentence.text.startswith(e.after) for e in sentence.edits)
    if years < 0 or says_year or not by_authors or not _on_one_matter(before, paper):
        return None
    if years == 0:
        if not is_year_told or before.paper_id == paper.paper_id:
            return None
        row = StatedRow(
            "same_year", str(paper.year), _SAME_YEAR.format(one=_quoted(before.paper_id), other=_quoted(paper.paper_id))
        )
        return prefixed(sentence, "The same year, ", "connect in time", (row,))
    told = "A year later, " if years == 1 else f"{in_words(years).capitalize()} years later, "
    query = _YEARS_BETWEEN.format(one=_quoted(before.paper_id), other=_quoted(paper.paper_id))
    return prefixed(sentence, told, "connect in time", (StatedRow("years_later", str(years), query),))


def _on_one_matter(one: Paper, other: Paper) -> bool:
    """Whether the titles share what they are about: time alone joins nothing."""
    return len((roots(one.title) & roots(other.title)) - WEAK_ROOTS) >= _SAME_TITLE


def by_contrast(one: Option, other: Option, sentence: Sentence, common: Collection[str]) -> Sentence | None:
    """The sentence with "By contrast," where one finding is good and the other bad and both speak of the same.

    Args:
        common: roots of words that any two sentences of the section share.
    """
    if one.move not in ("finding", "problem") or other.move not in ("finding", "problem"):
        return None
    texts = (one.sentence.text, other.sentence.text)
    signs = [(bool(_BETTER.search(t)), bool(_WORSE.search(t))) for t in texts]
    if sorted(signs) != [(False, True), (True, False)]:
        return None
    spoken = [roots(o.source.text) for o in (one, other)]  # without the authors' names
    shared = sorted((spoken[0] & spoken[1]) - set(common) - WEAK_ROOTS)
    if len(shared) < _SAME_MATTER:
        return None
    said = [(_BETTER.search(t) or _WORSE.search(t)).group(0) for t in texts]
    rows = (
        StatedRow("one_says", said[0]),
        StatedRow("other_says", said[1]),
        StatedRow("both_speak_of", listed(shared)),
    )
    return prefixed(sentence, "By contrast, ", "connect by contrast", rows)


def on_the_same(sentence: Sentence, before: Sentence, names: Collection[str]) -> Sentence | None:
    """The sentence with "also on NAME" where the one before, of another paper, names the same data."""
    for name in sorted(names):
        told = re.search(rf" (?=on (?:the )?{re.escape(name)}\b)", sentence.text)
        if told and re.search(rf"\b{re.escape(name)}\b", before.text) and " also " not in sentence.text[: told.end()]:
            source = reverse(sentence.text, sentence.edits)
            at = re.search(rf" (?=on (?:the )?{re.escape(name)}\b)", source)
            if at is None or any(e.start <= at.end() < e.start + len(e.before) for e in sentence.edits):
                continue
            edit = Edit("connect by shared data", at.end(), "", "also ")
            edits = tuple(sorted((*sentence.edits, edit), key=lambda e: (e.start, e.start + len(e.before))))
            rows = (*sentence.rows, StatedRow("both_name", name))
            return replace(sentence, kind="adapted", text=rebuild(source, edits), edits=edits, rows=rows)
    return None


def prefixed(sentence: Sentence, told: str, name: str, rows: Sequence[StatedRow]) -> Sentence | None:
    """The sentence behind an inserted beginning; None where its own first word cannot be made small for certain."""
    if sentence.kind != "adapted":
        return None
    source = reverse(sentence.text, sentence.edits)
    edits = list(sentence.edits)
    first = next((i for i, e in enumerate(edits) if e.after and sentence.text.startswith(e.after)), None)
    dropped = [e for e in edits if e.name in ("name first", "drop report", "drop opening") and not e.after]
    if first is not None and edits[first].name == "capital":
        edits.pop(first)
    elif first is not None and edits[first].after.startswith(_LOWERED):
        after = edits[first].after
        edits[first] = replace(edits[first], after=after[0].lower() + after[1:])
    elif first is None and not any(e.name == "name first" for e in dropped):
        return None
    # Else it begins with a name, which stays as it is.
    edits = [Edit(name, 0, "", told), *edits]
    return replace(sentence, text=rebuild(source, edits), edits=tuple(edits), rows=(*sentence.rows, *rows))


_PHRASE = (
    "{Count} papers take up {phrase}.",
    "{Phrase} {is_are} taken up by {count} papers.",
    "On {phrase} there are {count} papers.",
    "{Count} of the papers concern {phrase}.",
    "{Phrase} connect{s} {count} papers.",
    "{Count} papers speak of {phrase}.",
    "{Phrase} come{s} up in {count} papers.",
    "Common to {count} papers {is_are} {phrase}.",
    "{Count} abstracts turn on {phrase}.",
    "{Phrase} figure{s} in {count} abstracts.",
    "{Phrase} run{s} through {count} papers.",
    "{Count} papers address {phrase}.",
    "Next come {count} papers on {phrase}.",
    "{Count} papers deal with {phrase}.",
)
_NAMES = (
    ("in title or abstract, {count} of the {all} papers here name {name}", ", {count} {name}", ""),
    ("{name} is named by {count} of these {all} papers", ", {name} by {count}", ", in title or abstract"),
    ("of {all} papers, {count} name {name}", ", {count} {name}", " in their titles or abstracts"),
    ("{name} stands in title or abstract of {count} of {all} papers", ", {name} of {count}", ""),
    ("titles or abstracts of {count} papers, of {all} cited here, mention {name}", ", of {count} {name}", ""),
    (
        "among the {all} papers of the section, {name} is mentioned by {count}",
        ", {name} by {count}",
        " (title or abstract)",
    ),
    ("by title or abstract, {count} of {all} papers mention {name}", ", {count} {name}", ""),
    ("{count} papers out of {all} mention {name} when they sum up their work", ", {count} {name}", ""),
)
"""How the first name is told, each further one, and what ends the sentence."""


def topic_sentence(shared: Shared, turn: int) -> Sentence:
    """What a paragraph's papers share: a phrase that each has in title or abstract."""
    template = _PHRASE[turn % len(_PHRASE)]
    count = StatedRow("count", str(len(shared.paper_ids)), shared.query)
    words, phrase = in_words(len(shared.paper_ids)), shared.text
    is_plural = bool(re.search(r"[^s]s$", phrase)) and not phrase.endswith("sis")
    given = {
        "count": words, "Count": words[0].upper() + words[1:], "phrase": phrase,
        "Phrase": phrase[0].upper() + phrase[1:], "s": "" if is_plural else "s",
        "is_are": "are" if is_plural else "is",
    }  # fmt: skip
    return Sentence(
        "composed", template.format(**given), shared.paper_ids, template=template,
        rows=(count, StatedRow("phrase", phrase)),
    )  # fmt: skip


def names_sentence(shared: Sequence[Shared], papers: int, papers_query: str, turn: int) -> Sentence:
    """Which data and models the section's papers name, and how many of them do.

    Args:
        shared: the names, most frequent first.
        papers: how many papers the section has.
        papers_query: gives that number.
    """
    first, further, last = _NAMES[turn % len(_NAMES)]
    parts = []
    rows = [StatedRow("papers", str(papers), papers_query)]
    for i, item in enumerate(shared):
        form = further if i else first
        if i == len(shared) - 1 and i:
            form = " and" + form[1:]
        parts.append(form.format(count=in_words(len(item.paper_ids)), all=in_words(papers), name=item.text))
        rows += [
            StatedRow(f"name_{i + 1}", item.text),
            StatedRow(f"count_{i + 1}", str(len(item.paper_ids)), item.query),
        ]
    told = "".join(parts) + last
    cited = tuple(dict.fromkeys(p for item in shared for p in item.paper_ids))
    return Sentence("composed", f"{told[0].upper()}{told[1:]}.", cited, template=first, rows=tuple(rows))


def _quoted(text: str) -> str:
    return text.replace("'", "''")
