"""How authors and lists are put in running text. Nobody is invented: a paper without authors has no name."""

from collections.abc import Sequence

from generation.values import Paper

_PARTICLES = frozenset(
    [
        "van",
        "von",
        "de",
        "der",
        "den",
        "del",
        "della",
        "di",
        "da",
        "dos",
        "du",
        "la",
        "le",
        "el",
        "al",
        "bin",
        "ter",
        "ten",
    ]
)
_SUFFIXES = {"jr", "jr.", "sr", "sr.", "ii", "iii", "iv"}


def surname(name: str) -> str:
    """The surname of a name written in reading order, with its particles: "Laurens van der Maaten" → "van der Maaten"."""
    if "," in name:
        return name.split(",", 1)[0].strip()
    return name_parts(name)[1]


def name_parts(name: str) -> tuple[str, str, str]:
    """(given names, surname with its particles, suffix) of a name in reading order; "" where it has none."""
    parts = name.split()
    suffix = parts.pop() if len(parts) > 1 and parts[-1].lower() in _SUFFIXES else ""
    parts = [p for p in parts if p.lower() not in _SUFFIXES] or parts
    start = len(parts) - 1
    while start > 1 and parts[start - 1].lower() in _PARTICLES:
        start -= 1
    return " ".join(parts[:start]), " ".join(parts[start:]), suffix


def short_authors(paper: Paper) -> tuple[str, bool] | None:
    """(how the authors are named, whether that is plural); None where no source names any.

    One author: "Reiter"; two: "Kim and Lee"; more: "Lewis et al."; a group alone: its name.
    """
    persons, groups = paper.authors or (), paper.collaborations or ()
    if not persons:
        return (f"the {groups[0].removeprefix('The ').removeprefix('the ')}", False) if groups else None
    names = [surname(p) for p in persons]
    if len(names) == 1:
        return names[0], False
    if len(names) == 2:
        return f"{names[0]} and {names[1]}", True
    return f"{names[0]} et al.", True


def listed(items: Sequence[str]) -> str:
    """ "a", "a and b", "a, b, and c"."""
    if len(items) < 3:
        return " and ".join(items)
    return ", ".join(items[:-1]) + ", and " + items[-1]


def quoted(text: str) -> str:
    """A text as SQL has it, in single quotes."""
    return "'" + text.replace("'", "''") + "'"
