"""Author fields → persons and groups.

Here: splitting the one line that arXiv gives, affiliations out, collaborations apart. Not here: who is who
(`ingestion.comparison` has the forms that are compared), and surnames, which the line does not mark.
"""

import re
from dataclasses import dataclass, field

from ingestion.cleaning import clean_line, is_gap

_GROUP = re.compile(
    r"\b(?:collaborations?|consorti(?:um|a)|team|group|project|initiative|task force|network|committee"
    r"|community|contributors|organi[sz]ers|institut(?:e|ion)|university|laborator(?:y|ies)|labs?|foundation|corporation"
    r"|department|cent(?:er|re))\b|(?<=[a-z])[Tt]eam\b|(?<=[A-Za-z])group\b|\bInc\b",
    re.I,
)
_COMPANY = re.compile(r"(?:\b|[a-z])AI\b(?!-)")
# One of these is in every name that `_GROUP` or `_COMPANY` finds; looking for them is ten times faster.
_GROUP_STEMS = (
    "collab", "consort", "team", "group", "project", "initiative", "task force", "network", "committee",
    "community", "contributor", "organi", "institut", "universit", "lab", "foundation", "corporation",
    "department", "cent", "inc", "ai",
)  # fmt: skip
_INSTITUTION = re.compile(r"\bof\b|\bUniversit|\bInstitut|\bCollaborations\b")
_SUFFIX = re.compile(r"(?:Jr|Sr)\.?|I{2,3}|IV", re.I)
_DEGREE = re.compile(r"(?:Ph\.?\s?D|M\.?\s?D|M\.?\s?Sc|B\.?\s?Sc)\.?")
_AND = re.compile(r"(?:^|(?<=\s))(?:and|&)(?=\s|$)")
_ET_AL = re.compile(r"(?:^|\s)(?:et\s+al\.?|and\s+others|others)$|^(?:\.\.\.|…)$", re.I)
_FOR_GROUP = re.compile(r"(?P<person>.+?)\s+(?:on behalf of|for)\s+(?P<group>(?:the\s)?.+)", re.I)
_MARKS = re.compile(r"\s*(?:\$\s*\^[^$]*\$|[*†‡§¶]+)")
_MARK = re.compile("[$*†‡§¶]")
_CODE = re.compile(r"\\u([0-9a-fA-F]{4})|\\x([0-9A-F]{2})")
_AROUND = '"“”/\\ '
# Particles that open a family name: not capitalised where the given name is missing.
_PARTICLES = frozenset(
    ("van", "von", "der", "den", "de", "del", "della", "di", "da", "dos", "du", "la", "le", "el", "al", "bin",
     "ibn", "ten", "ter", "zu", "af", "av")
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Authors:
    """Who wrote a paper.

    persons, groups: people, and collaborations or teams, each in the order given.
    names: both in the order given, for citing.
    """

    persons: tuple[str, ...]
    groups: tuple[str, ...]
    names: tuple[str, ...] = field(default=(), compare=False)


def clean_authors(text: str | None) -> Authors:
    """Reads an author field ("A. One, B. Two and C. Three"); empty tuples for a gap, nobody is invented.

    Affiliations in parentheses, degrees and "et al." are dropped, "Jr." and "III" stay with their name, TeX
    accents become Unicode. A collaboration, a team, and what stands before a colon is a group, no person. In
    lists printed as "[ashish Vaswani, noam Shazeer]" the brackets go and given names get their capital; in
    others only where a capitalised name follows and the first word is no particle ("van", "de").
    """
    if is_gap(text):
        return Authors((), ())
    text = text.strip()
    if is_printed := text.startswith("[") and text.endswith("]"):
        text = text[1:-1]
    if "\\" in text:  # escapes that a program left behind, not TeX
        text = _CODE.sub(lambda m: chr(int(m[1] or m[2], 16)), text)
    if "{" in text:  # BibTeX's braces around one letter, once its accent was resolved
        text = re.sub(r"\{([^\W\d_])\}", r"\1", text)
    line = clean_line(text)
    if line is None:
        return Authors((), ())
    line, groups_inside = _without_affiliations(_MARKS.sub("", line) if _MARK.search(line) else line)
    named: list[tuple[str, bool]] = []
    for piece in _pieces(line):
        if piece == ":":  # "NVIDIA, :, A. One": what stands before it is a group
            start = 0 if len(named) <= 3 else len(named) - 1
            named[start:] = [(name, True) for name, _ in named[start:]]
        elif _SUFFIX.fullmatch(piece) and named:
            named[-1] = (f"{named[-1][0]} {piece}", named[-1][1])
        elif piece.endswith(":"):
            named.append((piece[:-1].rstrip(), True))
        elif (match := _FOR_GROUP.fullmatch(piece)) and _GROUP.search(match["group"]):
            named += [(match["person"], False), (match["group"], True)]
        else:
            named.append((piece, _is_group(piece)))
    named += [(group, True) for group in groups_inside]
    named = [(name if is_group else _capitalised(name, is_printed), is_group) for name, is_group in named]
    return Authors(
        tuple(name for name, is_group in named if not is_group),
        tuple(name for name, is_group in named if is_group),
        tuple(name for name, _ in named),
    )


def _is_group(name: str) -> bool:
    lowered = name.lower()
    if not any(stem in lowered for stem in _GROUP_STEMS):
        return False
    return bool(_GROUP.search(name) or _COMPANY.search(name))


def _pieces(line: str) -> list[str]:
    separator = ";" if ";" in line else ","
    line = line.replace(":", f":{separator}")
    pieces = []
    for piece in line.split(separator):
        piece = piece.strip(_AROUND)
        is_plain = len(piece) > 5 and piece.replace(" ", "").isalpha()
        if is_plain and " and" not in piece and not piece.startswith("and") and not _ET_AL.search(piece):
            pieces.append(piece)  # as most names are
            continue
        is_one = _INSTITUTION.search(piece) and " and the " not in piece.lower()
        for part in [piece] if is_one else _AND.split(piece):
            part = _ET_AL.sub("", part.strip()).strip(_AROUND)
            if _DEGREE.fullmatch(part):
                continue
            if part == ":" or any(c.isalpha() for c in part):
                pieces.append(part)
    return pieces


def _without_affiliations(line: str) -> tuple[str, list[str]]:
    """The line without its parentheses, and the groups named in them ("(for the X Collaboration)")."""
    if "(" not in line:
        return line, []
    kept, groups, depth, start = [], [], 0, 0
    for position, character in enumerate(line):
        if character == "(":
            if depth == 0:
                kept.append(line[start:position])
                start = position
            depth += 1
        elif character == ")" and depth:
            depth -= 1
            if depth == 0:
                inside = line[start + 1 : position]
                if _is_nickname(inside, line[position + 1 :]):
                    kept.append(f"({inside})")
                elif found := re.search(r"(?:for|on behalf of)\s+(.*collaboration.*)", inside, re.I):
                    groups.append(found[1].strip())
                start = position + 1
    if depth:  # never closed: the affiliation ends with the field or the next comma
        rest = line[start:]
        kept.append(rest[rest.index(",") :] if "," in rest else "")
    else:
        kept.append(line[start:])
    return " ".join("".join(kept).split()), groups


def _is_nickname(inside: str, after: str) -> bool:
    """ "Shubhra (Santu) Karmaker": one word inside, and the name goes on."""
    after = after.lstrip()
    goes_on = after[:1].isalpha() and not after.lower().startswith("and ")
    return goes_on and inside.isalpha() and not inside.isupper()


def _capitalised(name: str, is_printed: bool) -> str:
    first, _, rest = name.partition(" ")
    is_lost = rest[:1].isupper() and first not in _PARTICLES and first.isalpha()
    if name[:1].islower() and (is_printed or is_lost):
        return name[0].upper() + name[1:]
    return name
