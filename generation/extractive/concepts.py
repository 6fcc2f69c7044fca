"""Concepts: phrases that can head a section, with the papers that speak of them.

Belongs here: which phrases of titles and which headings of human outlines are concepts of the field at all. Not here:
choosing among them (`grouping`).
"""

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from generation.extractive.facets import facets_named
from generation.extractive.phrases import (
    STOP_WORDS,
    Key,
    Phrase,
    content_stems,
    headline,
    in_plural,
    key_of,
    phrases,
    plural_forms,
    root,
    spoken_of,
)
from generation.patterns import plain_heading
from generation.values import Paper, Pattern

GENERIC = frozenset(
    """
    analysis analyse analyze analyzing approach application method model modeling system framework study survey
    review paper novel new efficient effective simple better improve improved improving improvement enhance
    enhanced enhancing towards case task data dataset technique learning language large neural deep problem
    challenge opportunity performance result experimental general universal unified high low fast scalable
    robust powerful comprehensive overview introduction tutorial perspective position report technical open good
    great best first second two three multiple different various via exploring exploration understanding
    investigating investigation rethinking revisiting leveraging building boosting empirical automatic automated
    advancing advance recent end needs attention you know work way llm ai generation generative text information
    content tool strategy process design development state art level real world time don really help matter
    network natural training pretrained pre trained pretraining train scale source capability sequence token
    foundation domain user human example feature answer question ability word document corpus context evidence
    use era version part need nlp lm lms agent based aware free step machine output input response quality
    extensive set insight advanced toolkit library sample sentence prediction processing representation
    algorithm architecture inference cost search effectiveness wide range size show face score knowledge
    external factual implementation limitation direction suggestion mitigation evaluation instruction adaptation
    generalization impact potential experience assistance integration selection interaction role relation
    relationship behavior mechanism semantic benchmark scenario zero shot generator generative
    """.split()  # noqa: SIM905 - a list of words is read and sorted as text
)
_COMMON_HEADING = re.compile(
    r"\b(?:introduction|introducing|conclusions?|concluding|related|background|preliminar\w+|discussions?|references|"
    r"overview|summary|appendix|acknowledg\w+|future|outlook|abstract|motivation|contributions?|notation|definitions?|"
    r"others?|results?|experiments?|methods?|methodolog\w+|datasets?|perspectives?|challenges|limitations|taxonomy|"
    r"scope|task|organi[sz]ation|survey|review|open problems?|remarks|setup|formulation|miscellaneous|applications?|"
    r"approaches|history|development|what|how|why|goals?|format)\b",
    re.IGNORECASE,
)
_ENDS_BADLY = re.compile(
    r"(?:ed|ly|ful|ous|ive|able|ible|ical|ary|ic|less|based|aware|driven|centric|specific|free|wide|multi|cross|non|"
    r"shot|hop|step|scale|term|end|level|source|modal|domain|needs|meets|makes|helps|matters?|means|learners?|world|"
    r"gap|thoughts?|questions?|answers?|tasks?|directions?|systems?|language|passages?|documents?|tune|range|size|"
    r"prompt|gaps|stud(?:y|ies)|works?|parameters?|sets?|costs?|layers?|operations?|descriptions?|samples?|examples?|"
    r"results?|settings?|scenarios?|information|suites?|strings?|inputs?|outputs?|^abilit(?:y|ies)|^capabilit(?:y|ies))$",
    re.IGNORECASE,
)
_BEGINS_BADLY = re.compile(
    r"^(?:new|previous|prior|proposed|hidden|ablation|experimental|existing|single|textual|pure|vanilla|llms?|real-world|improv|enhanc|leverag|explor|toward|bridg|revisit|rethink|unlock|unleash|empower|enabl|boost|advanc|mitigat|"
    r"address|understand|investigat|assess|evaluat|build|mak|us|do|is|are|can|how|what|when|why|does|benchmark|scal|"
    r"teach|counter|relevant|remain|author|time|retrieved|existing|augment|predict|measur|reduc|detect|align|adapt|"
    r"combin|integrat|incorporat|optimi[sz]|generat|retriev|learn|train|answer|improved|better|complex|divers|dynamic|"
    r"effective|efficient|strong|simpl|novel|adaptiv|interactiv|iterativ|domain|world|large-scale|counter|relevant|"
    r"remain|author|time|retrieved|existing|meet|meets|beyond|free|via|based|specific|base)(?:e|es|ed|ing|s)?$",
    re.IGNORECASE,
)
# One word is a concept where its form says that it names an activity or a quality, and most others are not.
_ONE_WORD = re.compile(
    r"(?:i[sz]ation|ution|ession|nation|dation|icity|ability|ness|anking|tions?|bots)$", re.IGNORECASE
)
_MAX_WORDS = 5
_FEW_TITLES = 120
_KNOWN_HEADING = 2
_MANY_PAPERS, _CORE_TITLES = 200, 5
_FACET_SHAPE = 0.85


@dataclass(frozen=True)
class Concept:
    """A possible heading.

    Attributes:
        named, spoken: papers whose titles, and whose titles or abstracts, hold it.
        pattern: the human outline whose heading it is.
        shape: how much its form alone speaks for it, about 1.
        human_count: human outlines that have it as a heading.
        is_facet: a heading of any survey (`facets`), which may come again under another section.
    """

    text: str
    stems: frozenset[str]
    named: frozenset[str]
    spoken: frozenset[str]
    pattern: str | None = None
    shape: float = 1.0
    human_count: int = 0
    is_facet: bool = False


def topic_words(topic: str) -> frozenset[str]:
    """Stems of the topic's title and the acronyms of its words: "RAG" says no more than what it stands for."""
    stems = [s for s in key_of(topic) if s not in STOP_WORDS]
    acronyms = {"".join(s[0] for s in stems[i:j]) for i in range(len(stems)) for j in range(i + 2, len(stems) + 1)}
    return frozenset(stems) | {a for a in acronyms if len(a) > 2}


def special_roots(topic: str) -> frozenset[str]:
    """Roots of the topic's words that are its own, not any field's: of "Retrieval for Large Language Models" the first.

    Where all are any field's, the first word says most.
    """
    stems = [s for s in key_of(topic) if s not in STOP_WORDS]
    return frozenset(root(s) for s in stems if s not in GENERIC) or frozenset(root(s) for s in stems[:1])


def is_telling(stems: Sequence[str] | frozenset[str], topic: frozenset[str]) -> bool:
    """Whether a phrase says something of its own: a word that is neither generic nor the topic's in another form."""
    return any(
        part not in GENERIC and part not in STOP_WORDS and len(part) > 1 and not part.isdigit()
        and not any(root(part) == root(t) for t in topic)
        for part in stems
    )  # fmt: skip


def concepts(
    papers: Sequence[Paper],
    topic: str,
    patterns: Sequence[Pattern] = (),
    headings: Mapping[str, int] = MappingProxyType({}),
    *,
    above: str = "",
) -> list[Concept]:
    """Concepts that at least two of the papers speak of, by text.

    Args:
        headings: in how many human outlines each heading stands (`patterns.heading_counts`).
        above: the heading of the section whose parts are looked for, "" for a whole survey. Few papers share few
            titles, so that abstracts are read too.
    """
    own = topic_words(topic)
    titles = {p.paper_id: p.title for p in papers}
    texts = {p.paper_id: f"{p.title} . {p.abstract or ''}" for p in papers}
    found = {p.key: p for p in phrases(titles) if is_telling(p.key, own) and _is_concept(p)}
    if not above and len(papers) < _FEW_TITLES:
        found = _often_in(texts, own) | found
    elif above:
        # The titles of one section share few phrases; what humans have headed a section with is one wherever it stands.
        found = {k: p for k, p in _often_in(texts, own).items() if _is_known(p.text, headings)} | found
    if not above and len(papers) >= _MANY_PAPERS and (core := _core(titles, topic, own)):
        found[core.key] = core
    human = _human_headings(patterns, own)
    spoken = spoken_of([*found, *human], texts)
    in_titles = spoken_of([*found, *human], titles)
    plurals = plural_forms([key for key in (*found, *human) if len(spoken[key]) > 1], texts.values())
    made: dict[frozenset[str], Concept] = {}  # by roots: "dense retrieval" and "dense retrievers" are one
    for key in sorted({*found, *human}, key=lambda k: (-len(in_titles[k]), -len(spoken[k]), k)):
        if len(spoken[key]) < 2:
            continue
        text, pattern = human.get(key) or (found[key].text, None)
        named = frozenset(in_titles[key])
        # Every abstract speaks of robustness; a single word names only what has it in the title.
        spoken_in = frozenset(spoken[key]) if len(key) > 1 else named
        text = headline(_display(text, plurals.get(key)))
        count = headings.get(plain_heading(text), 0)
        concept = Concept(text, content_stems(text), named, spoken_in, pattern, _shape(key, pattern, count), count)
        made.setdefault(frozenset(root(s) for s in concept.stems), concept)
    facets = [
        Concept(text, content_stems(text), named, named, shape=_FACET_SHAPE, is_facet=True)
        for text, named in facets_named(titles, f"{topic} {above}", is_whole=not above).items()
    ]
    return sorted([*made.values(), *facets], key=lambda c: c.text)


def key_queries(
    group: Collection[str], known: Sequence[Concept], count: int, others: Collection[str] = ()
) -> list[str]:
    """Concepts that a group speaks of and others do not, best first: what to search for under its heading.

    Args:
        group, others: paper ids.
        known: concepts of all of them.
    """

    def weight(concept: Concept) -> float:
        inside = len(concept.named & ids) + len(concept.spoken & ids)
        outside = len(concept.named & beside) + len(concept.spoken & beside)
        return concept.shape * inside / max(len(ids), 1) - 0.7 * outside / max(len(beside), 1)

    ids, beside = frozenset(group), frozenset(others)
    chosen: list[Concept] = []
    own = [c for c in known if len(c.spoken & ids) > 1 and c.named & ids]
    for concept in sorted(own, key=lambda c: (-weight(c), c.text)):
        if len(chosen) < count and not any(concept.stems <= c.stems or c.stems <= concept.stems for c in chosen):
            chosen.append(concept)
    return [c.text for c in chosen]


def _display(text: str, plural: str | None) -> str:
    """The phrase as a heading has it: kinds of things in the plural, activities and qualities as they are."""
    text = re.sub(r"\bQA\b", "Question Answering", text)
    is_thing = plural and not re.search(r"(?:ions|ings|ness|ities|als)$", plural) and len(text.split()) > 1
    return in_plural(text, plural) if is_thing else text


def _shape(key: Key, pattern: str | None, human_count: int) -> float:
    """Two or three words make the usual heading; one that humans wrote is better, and much used ones a little more."""
    human = 0.05 * min(math.log2(1 + human_count), 4.0)
    return {1: 0.8, 2: 1.0, 3: 1.0, 4: 0.95}.get(len(key), 0.8) + (0.05 if pattern else 0.0) + human


def _is_concept(phrase: Phrase) -> bool:
    """A noun phrase, as far as its words tell: no participle at the end, no gerund of doing at the start."""
    words = phrase.text.split()
    rare = len(phrase.paper_ids) < 2
    if (phrase.closed < 0.5) or (phrase.led > 0.6 and not rare):
        return False
    if any(w.lower() in STOP_WORDS and w.lower() != "of" for w in words) or any(c.isdigit() for c in phrase.text):
        return False
    if _BEGINS_BADLY.match(words[0]) or (_ENDS_BADLY.search(words[-1]) and not words[-1].isupper()):
        return False
    if len(words) == 1 and "-" not in phrase.text:
        return bool(_ONE_WORD.search(phrase.text)) and len(phrase.text) > 6
    # A name of a system ("BERT", "ChatGPT") heads no section.
    return any(w.islower() or w.istitle() or "-" in w for w in words)


def _human_headings(patterns: Sequence[Pattern], own: frozenset[str]) -> dict[Key, tuple[str, str]]:
    """Headings of the first two levels that name a concept: key → (heading, outline)."""
    found: dict[Key, tuple[str, str]] = {}
    for pattern in patterns:
        for level, heading in pattern.headings:
            words = heading.split()
            key = key_of(heading)
            if level > 2 or not 2 <= len(words) <= _MAX_WORDS or _COMMON_HEADING.search(heading) or key in found:
                continue
            if not re.fullmatch(r"[\w\s&+'’-]+", heading) or _BEGINS_BADLY.match(words[0]) or not is_telling(key, own):
                continue
            if any(w.lower() in STOP_WORDS and w.lower() not in ("of", "and") for w in words):
                continue
            if not _ENDS_BADLY.search(words[-1]):
                found[key] = (heading, pattern.outline_id)
    return found


def _often_in(texts: Mapping[str, str], own: frozenset[str]) -> dict[Key, Phrase]:
    """Few titles share few phrases, so that what several abstracts speak of counts too."""
    return {
        p.key: p for p in phrases(texts)
        if len(p.paper_ids) >= 3 and len(p.key) > 1 and is_telling(p.key, own) and _is_concept(p)
    }  # fmt: skip


def _core(titles: Mapping[str, str], topic: str, own: frozenset[str]) -> Phrase | None:
    """What most titles call the topic's own matter in other words: "Retrieval-Augmented Language Models".

    Papers on the matter itself, not on a use or a part of it, have no other heading.
    """
    whole = {root(s) for s in key_of(topic) if s not in STOP_WORDS}
    special = special_roots(topic)
    named = [
        p for p in phrases(titles)
        if len(p.key) > 2 and not is_telling(p.key, own) and _is_concept(p) and p.closed > 0.5
        and any(root(s) in special for s in p.key) and not whole <= {root(s) for s in p.key}
    ]  # fmt: skip
    best = max(named, key=lambda p: (len(p.paper_ids), len(p.key), p.text), default=None)
    return best if best and len(best.paper_ids) >= _CORE_TITLES else None


def _is_known(text: str, headings: Mapping[str, int]) -> bool:
    return headings.get(plain_heading(text), 0) >= _KNOWN_HEADING and not _COMMON_HEADING.search(text)
