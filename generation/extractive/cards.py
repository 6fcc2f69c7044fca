"""Extractive paper cards: sentences of a paper that say what it contributes, how, what came out and where it ends."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from corpus.hashing import sources_hash
from generation.cards import CARD_FIELDS, CardField, CardItem, CardPassage, PaperCard
from generation.extractive import card_cues
from generation.extractive.card_cues import Statement
from generation.extractive.marks import MARKS, are_droppable, without_marks
from generation.extractive.openings import opening_end
from generation.extractive.phrases import content_stems
from generation.extractive.sentences import is_whole, own_name
from generation.extractive.standing import stands_alone
from generation.misprints import is_misprinted, is_unclear, unclear_words
from generation.values import Paper, Span
from generation.zones import Zone, zones_of
from ingestion.sentences import LIST_MARKER, split

WRITER = "extractive"
_DECIDING = (
    *(
        f"generation/extractive/{name}.py"
        for name in ("cards", "card_cues", "marks", "sentences", "openings", "standing")
    ),
    "generation/extractive/phrases.py",
    "generation/zones.py",
    "generation/misprints.py",
    "ingestion/sentences.py",
)


def version() -> str:
    """Hash of the rules' sources: a card written by other rules is written again."""
    return sources_hash(_DECIDING)[:12]


MOST: dict[CardField, int] = {"contributions": 5, "methods": 3, "findings": 5, "limitations": 3}
_LEAST: dict[CardField, float] = {"contributions": 0.5, "methods": 0.4, "findings": 0.7, "limitations": 0.8}
"""Below, a sentence is not sure enough to be taken for the field."""

_CUES: dict[CardField, Callable[[Statement], float]] = {
    "contributions": card_cues.contribution,
    "methods": card_cues.method,
    "findings": card_cues.finding,
    "limitations": card_cues.limitation,
}
_MOST_WORDS = 60
_MIDDLE = 0.5
"""How much of its section stands before a passage that is read without the others."""

_ALIKE, _SAME = 0.65, 0.8
"""Share of the shorter sentence's stems above which two sentences say the same, within a field and between two."""

# How a paper names what is its own: "we introduce SPECTER", "our model, called BERT", "we propose Late Search (LS)".
_SAYS = r"\b(?:[Ww]e|[Oo]ur|[Tt]he authors|[Tt]his (?:paper|work|article|study))\b[^.]{0,60}?"
_GIVES = r"\b(?:propose|introduce|present|release|develop|design|call)s?\b"
_NAME = r"[A-Z][\w+-]*[A-Z][\w+-]*"
_NAMINGS = (
    re.compile(
        rf"{_SAYS}(?:{_GIVES}(?: and \w+)?|\b(?:called|named|dubbed|termed|coined))(?: the| a| an)? (?P<name>{_NAME})"
    ),
    re.compile(rf"{_SAYS}{_GIVES}[^.]{{0,90}}?\((?P<name>{_NAME})\)"),
    re.compile(rf"{_SAYS}{_GIVES}[^.]{{0,60}}?, (?P<name>{_NAME}) for short"),
    re.compile(rf"{_SAYS}{_GIVES}[^.]{{0,90}}?\b(?:called|named|dubbed|termed) (?P<name>{_NAME})"),
    # A name without inner capitals: "a simple architecture, the Transformer, based on".
    re.compile(rf"{_SAYS}{_GIVES}(?: [\w-]+){{0,6}},? the (?P<name>[A-Z][a-z]{{3,}}),"),
)
_LIST_OPENS = re.compile(
    r"\bcontribut\w+\b[^.]*(?::|as follows\b[^.]*[.:]?)\s*$|\bcontributions? (?:are|is|include)\b", re.IGNORECASE
)
# Formulas, leftovers of the page, footnote marks ("SPECTER,2"), addresses.
_NOISE = re.compile(
    r"[=α-ωΑ-Ω√∆∑∏∈∀∃∥←→⊕⊙≈<>|]|"
    r"\b\w{1,3}\((?:[a-z]\b|[A-Z]\))|(?<!\d)× ?[A-Za-z]|[A-Za-z] ?×|\s×\s|"
    r"[a-z][,.]\d{1,2}(?:\s|$)|https?:|[a-z]- (?!and\b|or\b|to\b)[a-z]|[\U0001d400-\U0001d7ff]"
)
# What stands in a table, a figure or another section is not there.
_POINTS = re.compile(
    r"§|\b(?:tables?|tabs?\.|figures?|figs?\.?|sections?|secs?\.|appendi(?:x|ces)|eqs?\.|equations?|algorithms?|alg\.|"
    r"listings?|lines?|examples?|rows?|columns?|footnotes?) ?\(?(?:\d|(?-i:[A-Z])(?:\.?\d)?\b(?![\w-]))|"
    r"\b(?:supplement(?:ary)?|appendix|see (?:also )?(?:figure|table|section)|(?:shown|listed|given|reported|illustrated|described|"
    r"summari[sz]ed|presented|seen|depicted|detailed) (?:above|below)|(?:left|right|top|bottom|middle) (?:panel|row|column|figure)|"
    r"(?:next|previous|following|last) (?:tables?|figures?|(?:sub)?sections?|chapters?|appendix|paragraphs?))\b",
    re.IGNORECASE,
)
# Items of a list in the text, of which the first is not there.
_FIRST_ITEM, _LATER_ITEM = re.compile(r"\((?:1|i|a)\)"), re.compile(r"\((?:[2-9]|i[iv]+|[b-e])\)")
_SUCH = re.compile(
    r"\b(?:with|by|under|for|of|in|from|to|through|using|on) such (?!as\b|an?\b)|\b[Ww]e (?:can|could) (?:also )?see\b"
)
# A heading run into its paragraph: "Ablation Study We start by".
_HEADED = re.compile(r"[\w)?]\s(?:We|Our|The|This|These|In|To|For|It|As|If|A|An|While|Since|There) (?=[a-z])")
_OWN_THING = re.compile(
    r"^(?:The|One|Another)(?: (?:first|second|third|last|main|key|other))?"
    r" (?=(?:\w+ )?(?:results|experiments|findings|evaluations?|ablations?|analys[ie]s|contributions?|limitations?|"
    r"drawbacks?|disadvantages?|shortcomings?)\b)|\b[Tt]he (?:proposed|presented) "
)
_OWN_WORK = re.compile(
    r"\b(?:in |of |throughout )?(?:this|the present|the current|our|the(?= (?:paper|authors)\b)) (?:paper|authors|"
    r"work|article|study|survey|review|report|thesis)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class _Candidate:
    statement: Statement
    span: Span
    order: tuple[int, int]

    @property
    def field(self) -> tuple[CardField, float] | None:
        """The field it fits best and how well: an admission is one whatever else it says, so is a gift."""
        scores = {name: cue(self.statement) for name, cue in _CUES.items()}
        fitting = [name for name in CARD_FIELDS if scores[name] >= _LEAST[name]]
        for name in ("limitations", "contributions"):
            if name in fitting:
                return name, scores[name]
        best = max(fitting, key=lambda name: scores[name], default=None)
        return best and (best, scores[best])


def extractive_card(paper: Paper, passages: Sequence[CardPassage]) -> PaperCard:
    """The card of a paper, from its full text where there is one.

    The abstract is that of the full text; where none can be told there, or there is no full text, the one of the
    paper's record. A sentence stands in the field it fits best, and none says what another says.

    Args:
        passages: prose of the full text in reading order, () where there is none.
    """
    fields: dict[CardField, list[CardItem]] = {name: [] for name in CARD_FIELDS}
    taken: list[tuple[CardField, frozenset[str]]] = []
    gifts: set[str | None] = set()
    fitting = [(candidate.field, candidate) for candidate in _candidates(paper, passages)]
    offers = [(*field, candidate) for field, candidate in fitting if field]
    for name, _, candidate in sorted(offers, key=lambda o: (-o[1], o[2].order)):
        stems = content_stems(candidate.statement.text)
        gift = candidate.statement.gift if name == "contributions" else None
        is_said = gift in gifts or any(
            _likeness(stems, other) >= (_ALIKE if field == name else _SAME) for field, other in taken
        )
        if len(fields[name]) < MOST[name] and not is_said:
            gifts |= {gift} - {None}
            fields[name].append(CardItem(candidate.statement.text, (candidate.span,)))
            taken.append((name, stems))
    items = {name: tuple(found) for name, found in fields.items()}
    return PaperCard(paper.paper_id, WRITER, version(), **items)


def _candidates(paper: Paper, passages: Sequence[CardPassage]) -> Iterator[_Candidate]:
    """Whole sentences that stand alone, of every section that is the paper's own."""
    zones = zones_of(passages)
    opening = [p.text for p, zone in zip(passages, zones, strict=True) if zone in ("abstract", "introduction", "body")]
    own = own_names(paper, opening)
    unclear = unclear_words([p.text for p in passages], [paper.title, paper.abstract or ""])
    sizes = Counter(p.section_path for p in passages)
    before: Counter[tuple[str, ...]] = Counter()
    if "abstract" not in zones and paper.abstract:
        for start, end in _sentences(paper.abstract):
            statement = Statement(paper.abstract[start:end], "abstract", own)
            if _is_fit(statement.text, own):
                yield _Candidate(statement, Span(paper.paper_id, start, end), (0, start))
    is_listing = False
    for passage, zone in zip(passages, zones, strict=True):
        path = passage.section_path
        share = before[path] / sizes[path]
        before[path] += 1
        if zone == "others":
            continue
        for start, end in _sentences(passage.text):
            text = passage.text[start:end]
            if zone != "introduction":
                is_listing = False
            elif _LIST_OPENS.search(text):
                is_listing = True
                continue
            is_item = is_listing and _begins_item(passage.text, start)
            if _is_fit(text, own, unclear):
                span = span_of(passage, start, end)
                yield _Candidate(Statement(text, zone, own, is_item, share), span, (passage.position, start))


def statements(
    passage: CardPassage, zone: Zone, own: frozenset[str], unclear: frozenset[str]
) -> Iterator[tuple[CardField, Statement, Span]]:
    """What a single passage says of the paper's own work, by the rules of a card: field, sentence, place.

    The sentence is given without marks of citation where they can be dropped.

    Args:
        own, unclear: as `own_names` and `misprints.unclear_words` found them.
    """
    if zone == "others":
        return
    for start, end in _sentences(passage.text):
        text = passage.text[start:end]
        text = without_marks(text) if are_droppable(text, own) else text
        statement = Statement(text, zone, own, share=_MIDDLE)
        found = _Candidate(statement, span_of(passage, start, end), (passage.position, start))
        if _is_fit(statement.text, own, unclear) and (fitting := found.field):
            yield fitting[0], statement, found.span


def span_of(passage: CardPassage, start: int, end: int) -> Span:
    """Characters [start, end) of a passage."""
    paper_id = passage.passage_id.rpartition("/")[0]
    return Span(paper_id, start, end, "passage", passage.passage_id, passage.page)


def own_names(paper: Paper, texts: Sequence[str] = ()) -> frozenset[str]:
    """What the paper calls its systems and data: the title's head, and what abstract and texts say it proposes."""
    found: set[str | None] = {own_name(paper)}
    for pattern in _NAMINGS:
        found |= {match.group("name") for text in (paper.abstract or "", *texts) for match in pattern.finditer(text)}
    return frozenset(name for name in found if name)


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    """Sentence spans; an item of a list begins one, without its marker."""
    markers = [(m.start(), m.end()) for m in LIST_MARKER.finditer(text)]
    starts = [0, *(end for _, end in markers)]
    ends = [*(start for start, _ in markers), len(text)]
    for start, end in zip(starts, ends, strict=True):
        for a, b in split(text[start:end]):
            yield start + a, start + b


def _begins_item(text: str, start: int) -> bool:
    return any(marker.end() == start for marker in LIST_MARKER.finditer(text, text.rfind("\n", 0, start) + 1))


def _is_fit(text: str, own: frozenset[str], unclear: frozenset[str] = frozenset()) -> bool:
    """Whether it is a whole sentence as its authors wrote it, without formulas and citation marks, that points at
    nothing outside the paper."""
    if not is_whole(text, _MOST_WORDS) or any(p.search(text) for p in (_NOISE, MARKS, _HEADED, _POINTS)):
        return False
    if _LATER_ITEM.search(text) and not _FIRST_ITEM.search(text):
        return False
    if is_misprinted(text) or is_unclear(text, unclear - own):
        return False
    # In a card the paper speaks: "this paper", "the results" and "one limitation" are what the card is about.
    spoken = _OWN_WORK.sub("The authors", text[opening_end(text) :], count=1)
    spoken = _OWN_WORK.sub("", _OWN_THING.sub("Our ", spoken))
    if _SUCH.search(spoken):
        return False
    spoken = re.sub(r"\bthose (?=\w+ed\b)", "others ", spoken)
    # A pronoun behind the name of the paper's own system stands for that.
    named = re.search("|".join(rf"\b{re.escape(name)}\b" for name in sorted(own)), spoken) if own else None
    if named:
        spoken = spoken[: named.end()] + re.sub(r"\b(?:its|it|their|they|them)\b", "the", spoken[named.end() :])
    return stands_alone(spoken)


def _likeness(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / min(len(one), len(other)) if one and other else 0.0
