"""What a leaf names beside the works it discusses: further systems by their names, a sentence or two.

Belongs here: the sentence that names them. Not here: which papers are discussed (`prose`).
"""

from collections.abc import Collection, Sequence

from generation.extractive.sentences import own_name
from generation.naming import listed, quoted
from generation.values import Paper, Paragraph, Sentence, StatedRow
from generation.writing import Evidence

FURTHER = (
    "Further work on the subject includes {works}.",
    "{works} also belong here.",
    "Beside these stand {works}.",
    "The pool also holds {works}.",
    "Related systems are {works}.",
    "Other names in this line of work are {works}.",
)
_LEAST, _MOST_IN_ONE = 2, 6


def further(evidence: Sequence[Evidence], cited: Collection[str], number: str, most: int) -> Paragraph:
    """Sentences that name the best of the papers at home that the text does not cite; () where fewer than two have names.

    A paper's name is what stands before the colon of its title, so that every name is a row of `papers`.

    Args:
        evidence: of the leaf.
        cited: papers that the leaf cites.
        number: of the leaf; templates take turns by it.
        most: papers to name.
    """
    left = [e for e in evidence if e.is_home and e.paper.paper_id not in cited and own_name(e.paper)]
    chosen = sorted(left, key=lambda e: (-e.standing, e.paper.paper_id))[:most]
    papers = sorted((e.paper for e in chosen), key=lambda p: (p.submitted_latest, p.paper_id))
    if len(papers) < _LEAST:
        return ()
    count = -(-len(papers) // _MOST_IN_ONE)
    parts = [papers[i * len(papers) // count : (i + 1) * len(papers) // count] for i in range(count)]
    first = sum(int(n) for n in number.split("."))
    return tuple(_named(part, FURTHER[(first + i) % len(FURTHER)]) for i, part in enumerate(parts))


def _named(papers: Sequence[Paper], template: str) -> Sentence:
    names = [own_name(p) or "" for p in papers]
    title = "SELECT split_part(title, ':', 1) FROM papers WHERE paper_id ="
    rows = tuple(
        StatedRow(f"work {i}", name, f"{title} {quoted(p.paper_id)}")
        for i, (name, p) in enumerate(zip(names, papers, strict=True), start=1)
    )
    text = template.format(works=listed(names))
    return Sentence("composed", text, tuple(p.paper_id for p in papers), template=template, rows=rows)
