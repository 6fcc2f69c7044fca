"""Replies that say nothing but what the evidence says: sentences of the papers, cited to the papers they are of.

A reply depends on the request alone, so the same call gets the same reply in whatever order calls come.
"""

import hashlib
import itertools
import json
import re
from collections import Counter
from collections.abc import Mapping

from tests.servers.asked import Asked, ShownPaper

_OPENERS = re.compile(
    r"^(?:In this (?:paper|work|article|study)|Here|Moreover|Furthermore|However|Additionally|Finally|Specifically|"
    r"In particular|To this end|As a result|Consequently|Thus|Therefore|Then),\s*"
)
_TOKEN = re.compile(r"\[-?@[^\]]*\]|!?\[[^\]]*\]\([^)]*\)|https?://\S+")
_PART = re.compile(
    r"^(?:(?:Write|Part:) (?P<number>[\d.]+) “(?P<title>[^”]*)”|(?:Section|Part of the survey): (?P<plain>.+))",
    re.MULTILINE,
)
_ROLES = {
    "This is the introduction": ("", 0),
    "This is the opening of a section": ("In short: ", 2),
    "This is the section on open problems": ("Still open: ", 1),
    "This is the conclusion": ("Settled: ", -1),
}
_WORDS = re.compile(r"about (\d+) words")
_WORDS_PER_PAPER, _MOST_WORDS = 30, 420
_WORD = re.compile(r"[A-Za-z][a-z]+(?:-[a-z]+)*|[A-Z]{2,}")
_STOP = frozenset(
    """
    a about above according across after all also although among an and another any are as at authors based be
    because been before being best better between billion billions both but by can could different do does each
    eight either evaluate example existing few find first five for former four from further general given good had
    has have how however hundred hundreds in instead into introduce introduces is it its itself large latter long
    made make makes many million millions more most much nearly new nine no nor not of often on once one only or
    other our over paper per present presents propose proposed proposes provide remarkably report reports results
    roughly second seven several show shows since six so some state still study such take taken takes ten than that
    the their them then there these they third this those thousand thousands three through thus to together too two
    under until up upon use used uses using various very via was we well were what when where whether which while
    who whose will with within without work works would yet
    """.split()  # noqa: SIM905
)


def reply(asked: Asked) -> dict | str:
    """The truthful reply: an object that fits the schema, or Markdown where text is asked for.

    Raises:
        ValueError: the operation is none of ours.
    """
    if asked.schema is None:
        return markdown(_written(asked, most=12))
    maker = _MAKERS.get(asked.operation)
    if maker is None:
        raise ValueError(f"this server knows no task {asked.operation!r}")
    return conform(maker(asked), asked.schema, asked.schema)


def markdown(paragraphs: list[list[dict]]) -> str:
    return "\n\n".join(
        " ".join(f"{s['text'].rstrip('.!?')} [{'; '.join('@' + p for p in s['papers'])}]." for s in sentences)
        for sentences in paragraphs
    )


def conform(value: object, schema: Mapping, root: Mapping) -> object:
    """The value cut to the schema's bounds; what an enumeration does not allow is left out."""
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rsplit("/", 1)[1]]
    if isinstance(value, dict):
        return {
            name: conform(value[name], part, root)
            for name, part in schema.get("properties", {}).items()
            if name in value
        }
    if isinstance(value, list):
        part = schema.get("items", {})
        part = root["$defs"][part["$ref"].rsplit("/", 1)[1]] if "$ref" in part else part
        kept = [v for v in value if "enum" not in part or v in part["enum"]]
        return [conform(v, part, root) for v in kept[: schema.get("maxItems", len(kept))]]
    if isinstance(value, str) and "enum" not in schema:
        return cut(value, schema.get("maxLength", len(value)))
    return value


def cut(text: str, most: int) -> str:
    """At most so many characters, ending at a word and with a full stop where the text had one."""
    if len(text) <= most:
        return text
    short = text[: most - 1].rsplit(" ", 1)[0].rstrip(",;:-(")
    return short + "." if text.endswith(".") else short


def shortened(sentence: str) -> str:
    """The sentence without an opener, in the third person, without anything that looks like a citation or a link."""
    plain = " ".join(_TOKEN.sub("", sentence).split())
    plain = _OPENERS.sub("", plain)
    plain = re.sub(r"^We\b", "The authors", plain)
    plain = re.sub(r"^Our\b", "Their", plain)
    return plain[:1].upper() + plain[1:]


def _stems(text: str) -> set[str]:
    return {w.lower()[:5] for w in _WORD.findall(text) if w.lower() not in _STOP}


def _part(asked: Asked) -> tuple[str, str]:
    """Number and title of the part of the survey that is asked about; "" where it has none."""
    found = _PART.search(asked.outside)
    return (found["number"] or "", found["title"] or found["plain"]) if found else ("", "")


def _role(asked: Asked) -> tuple[str, int | None]:
    """How sentences of a part begin, and which sentence of each paper it takes; None for the one nearest to its title.

    Parts that frame the survey speak of papers which others speak of too: each takes another sentence, so that none
    stands twice.
    """
    return next((role for cue, role in _ROLES.items() if cue in asked.outside), ("", None))


def _said_of(paper: ShownPaper, about: set[str], turn: int, taken: int | None) -> list[str]:
    """Sentences of the paper in the order in which this part would take them."""
    sentences = [shortened(s) for s in paper.sentences()]
    if taken is not None:
        return sentences[taken:] + sentences[:taken]
    framing = {0, 1, len(sentences) - 1} if len(sentences) > 3 else set()
    order = sorted(
        range(len(sentences)),
        key=lambda i: (i in framing, -len(about & _stems(sentences[i])), (i + turn) % len(sentences)),
    )
    return [sentences[i] for i in order]


def _written(asked: Asked, most: int) -> list[list[dict]]:
    """Paragraphs of sentences: as many papers as the words asked for hold, the first shown first, each in its own words."""
    number, title = _part(asked)
    opener, taken = _role(asked)
    about, turn = _stems(title), int(hashlib.sha256(f"{number} {title}".encode()).hexdigest()[:6], 16)
    words = _WORDS.search(asked.outside + asked.everything)
    count = max(3, round(int(words[1]) / _WORDS_PER_PAPER)) if words else most
    if count * _WORDS_PER_PAPER >= _MOST_WORDS:
        count = most  # a section of many papers: all that the form of the reply holds
    spoken = {p.paper_id: _said_of(p, about, turn, taken) for p in asked.papers[:count]}
    said = [(paper_id, texts[0]) for paper_id, texts in spoken.items()]
    for paper_id, texts in spoken.items():
        if len(said) < 3:
            said += [(paper_id, text) for text in texts[1:3]]
    written = [{"text": f"{opener}{text}", "papers": [paper_id]} for paper_id, text in said[:most]]
    return [written[i : i + 4] for i in range(0, len(written), 4)]


def _bounds(schema: Mapping, *path: str) -> tuple[int, int]:
    """minItems and maxItems of the array at the end of the path."""
    for name in path:
        schema = schema.get("properties", schema.get("items", {}).get("properties", {}))[name]
    return schema.get("minItems", 0), schema.get("maxItems", 12)


def _draft(asked: Asked) -> dict:
    _, paragraphs = _bounds(asked.schema, "paragraphs")
    _, sentences = _bounds(asked.schema, "paragraphs", "sentences")
    written = [s for part in _written(asked, paragraphs * sentences) for s in part]
    size = max(1, min(sentences, max(4, -(-len(written) // paragraphs))))
    return {"paragraphs": [{"sentences": written[i : i + size]} for i in range(0, len(written), size)]}


def _revise(asked: Asked) -> dict:
    """Each sentence anew: another one of the papers shown, taken in turn."""
    spoken = [(p.paper_id, text) for p in asked.papers for text in map(shortened, p.sentences())]
    numbers = _numbers(asked, "sentences")
    if not spoken:
        return {"sentences": [{"number": n, "text": "", "papers": []} for n in numbers]}
    chosen = [(n, *spoken[(n + asked.choice) % len(spoken)]) for n in numbers]
    return {"sentences": [{"number": n, "text": text, "papers": [paper]} for n, paper, text in chosen]}


def _numbers(asked: Asked, name: str) -> range:
    """Numbers that are asked about."""
    return range(1, asked.schema["properties"][name]["items"]["properties"]["number"]["maximum"] + 1)


def _verdict(asked: Asked) -> dict:
    return {"verdicts": [{"number": n, "verdict": "supported"} for n in _numbers(asked, "verdicts")]}


def _phrase(sentence: str) -> str:
    """The first words of a sentence, up to one that can end a phrase."""
    words = sentence.split()[:10]
    while len(words) > 3 and (len(words[-1].strip(",;:")) < 6 or words[-1].lower().strip(",;:") in _STOP):
        words.pop()
    return " ".join(words).strip(",;: ")


def _compare(asked: Asked) -> dict:
    """Papers that report a number: what they build, and the sentence with the number."""
    rows = []
    for paper in asked.papers:
        sentences = paper.sentences()
        result = next((s for s in sentences if re.search(r"\d", s) and len(s) <= 240), None)
        approach = next((s for s in sentences if _BUILDS.search(s)), sentences[0]).rstrip(".")
        if result:
            rows.append(
                {"paper": paper.paper_id, "approach": _phrase(shortened(approach)), "result": shortened(result)}
            )
    return {"rows": rows}


_BUILDS = re.compile(r"\b(?:propos|introduc|present|develop|describ|learn|train|applies|build)", re.IGNORECASE)
_CARD = {
    "contributions": re.compile(r"\b(?:propos|introduc|present|contribut|new|novel|first)", re.I),
    "methods": re.compile(r"\b(?:train|model|method|us(?:e|es|ing)|retriev|encod|learn|algorithm|approach)", re.I),
    "findings": re.compile(r"\b(?:show|find|found|improv|outperform|beat|result|report|\d+)", re.I),
    "limitations": re.compile(r"\b(?:limit|however|fail|cannot|only|costly|lack|whereas|although)", re.I),
}


def _card(asked: Asked) -> dict:
    sentences = [s for paper in asked.papers for s in paper.sentences()]
    quote = asked.schema["properties"]["findings"]["items"]["properties"]["quote"].get("maxLength", 400)
    card: dict[str, list] = {}
    taken: set[str] = set()
    for field, cue in _CARD.items():
        found = [s for s in sentences if cue.search(s) and s not in taken][:2]
        if not found and field != "limitations":
            found = [s for s in sentences if s not in taken][:1] or sentences[:1]
        taken.update(found)
        card[field] = [{"text": shortened(s), "quote": _quoted(s, quote)} for s in found]
    return card


def _quoted(sentence: str, most: int) -> str:
    """The sentence, or so much of it as may be quoted, letter for letter."""
    return sentence if len(sentence) <= most else sentence[:most].rsplit(" ", 1)[0]


def _is_word(word: str) -> bool:
    plain = word.isascii() and word[-1].isalpha() and len(word) > 2
    return plain and word.lower() not in _STOP and not word.endswith("ly")


def _phrases(papers: list[ShownPaper]) -> list[str]:
    """Pairs of neighbouring words as headings, by the number of papers that have them; those of titles count more."""
    counts: Counter[str] = Counter()
    for paper in papers:
        for text, weight in ((paper.title, 4), (" ".join(paper.texts), 1)):
            words = [w if w.isupper() else w.lower() for w in re.findall(r"[A-Za-z][\w-]*|[.,;:()]", text)]
            found = {f"{a} {b}" for a, b in itertools.pairwise(words) if _is_word(a) and _is_word(b)}
            counts.update(dict.fromkeys(sorted(found), weight))
    ranked = sorted(counts, key=lambda p: (-counts[p], p))
    return [" ".join(w if w.isupper() else w.capitalize() for w in p.split()) for p in ranked]


def _sections(asked: Asked, name: str) -> dict:
    least, most = _bounds(asked.schema, name)
    wanted = least or most
    papers = list(asked.papers) or [ShownPaper("", "", asked.others or (asked.outside,))]
    said = " ".join(re.findall(r"\w+", asked.outside)).lower()
    # The words of the topic and of headings that are taken stand outside the evidence: nothing is named so again.
    titles, used = [], Counter()
    every = _phrases(papers)
    for free in (True, False):
        for phrase in every:
            stems = _stems(phrase)
            if phrase in titles or any(used[s] >= (1 if free else 2) for s in stems):
                continue
            if free and phrase.lower().replace("-", " ") in said:
                continue
            titles.append(phrase)
            used.update(stems)
            if len(titles) == wanted:
                break
        if len(titles) == wanted:
            break
    titles += [f"{papers[i % len(papers)].title} and Related Work" for i in range(wanted - len(titles))]
    sections = []
    for number, title in enumerate(titles):
        near = sorted(papers, key=lambda p: -len(_stems(title) & _stems(p.title + " ".join(p.texts))))
        first = shortened(near[number % min(3, len(near))].sentences()[0])
        sections.append(
            {
                "title": title,
                "description": f"Work on {title.lower()}. {first}",
                "queries": _queries(title, [p.title for p in near]),
            }
        )
    return {name: sections}


def _queries(title: str, papers: list[str]) -> list[str]:
    """Three that differ."""
    return list(dict.fromkeys([title, *(cut(p, 90) for p in papers if p), f"{title} methods", f"{title} results"]))[:3]


def _merge(asked: Asked) -> dict:
    """Proposed sections, those of most proposals first; what is missing is made of the words of them all."""
    wanted, _ = _bounds(asked.schema, "sections")
    proposed: dict[str, tuple[int, int, str, str]] = {}
    for place, (title, about) in enumerate(m for text in asked.others for m in _PROPOSED.findall(text)):
        times, first, name, said = proposed.get(title.lower(), (0, place, title, about))
        proposed[title.lower()] = (times + 1, first, name, said)
    best = sorted(proposed.values(), key=lambda p: (-p[0], p[1]))[:wanted]
    sections = [
        {"title": title, "description": about, "queries": _queries(title, [about])} for _, _, title, about in best
    ]
    more = _sections(asked, "sections")["sections"]
    missing = [s for s in more if s["title"].lower() not in proposed][: wanted - len(sections)]
    return {"sections": sections + missing}


_PROPOSED = re.compile(r"^\d+\. ([^:\n]+)(?:: (.*))?$", re.MULTILINE)
_MAKERS = {
    "card": _card,
    "outline": lambda asked: _sections(asked, "sections"),
    "merge": _merge,
    "subsections": lambda asked: _sections(asked, "subsections"),
    "draft": _draft,
    "refine": _draft,
    "revise": _revise,
    "compare": _compare,
    "verdict": _verdict,
}


def as_text(value: dict | str) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
