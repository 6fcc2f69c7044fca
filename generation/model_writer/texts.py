"""What a model wrote as sentences of a draft: citations out of the text, nothing in it that prints as anything else.

From the structured form, where each sentence names its papers, and from Markdown with pandoc tokens. Tokens and ids
of papers that were not shown are refused, never guessed; ids that a model wrote into its prose are citations of it, and
no words; anything else in brackets stays text. Links, pictures, HTML
and addresses never come out. Not here: whether a paper bears its sentence (`generation.grounding`).
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache

from generation.citations import paper_of_key
from generation.language_models.calls import Unfit
from generation.language_models.replies import Reading, guarded, plain_text, read, told_of
from generation.mathtext import outside_math
from generation.model_writer.schemas import DraftReply
from generation.outline_plans import heading_key
from generation.prompting.fencing import cleaned
from generation.prompting.instructions import WITHHELD
from generation.tidying import blocks, tidied
from generation.values import Check, Paragraph, SectionDraft, Sentence
from ingestion.identity import UnreadableId, parse_paper_id
from ingestion.sentences import split

NOT_SHOWN = "the paper was not shown to the writer"

_KEY = r"-?@(?:\{[^{}\]\s]+\}|[^\s\[\];,{}]+)"
_TOKEN = re.compile(rf"[ \t]*\[\s*({_KEY}(?:\s*[;,]\s*{_KEY})*)\s*\]")
_MONTH = r"(?:0[1-9]|1[0-2])"
_ARXIV = rf"(?:(?:0[7-9]|1[0-4]){_MONTH}\.\d{{4}}|(?:1[5-9]|[2-9]\d){_MONTH}\.\d{{5}}|[a-z]+-[a-z]+/\d{{7}})(?:v\d+)?"
_ONE_KEY = re.compile(r"@(?:\{([^{}\]\s]+)\}|([^\s\[\];,{}]+))")
_ADDRESS = re.compile(
    r"\b[a-z][a-z0-9+.-]*://?(?=[^\s/])(?<=//)[^\s<>\"'”)\]]*|(?:https?|ftp|file|javascript):/[^\s<>\"'”)\]]*|"
    r"(?:javascript|mailto):[^\s<>\"'”)\]]+|data:[a-z]+/[^\s<>\"'”)\]]+|"
    r"(?<![\w:/.\\$])//\w[^\s<>\"'”)\]]*|"
    r"\bwww\.[^\s<>\"'”)\]]+|"
    # A host with a path or a query, whatever it ends in; but names of software ("Node.js/React") are words.
    r"\b(?:[\w-]+\.)+(?!(?:js|ts|py|cpp|txt|json|csv)\b)[^\W\d_]{2,}(?::\d{2,5})?(?:/|\?[\w-]+=)[^\s<>\"'”)\]]*|"
    r"\b(?:\d{1,3}\.){3}\d{1,3}(?::\d{2,5})?/[^\s<>\"'”)\]]*|"
    r"[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}\b",
    re.IGNORECASE,
)
_FINAL_STOPS = re.compile(r"[.,;:!?]*$")
_EMPTY_BRACKETS = re.compile(r"\s+(?:\(\s*[,;]?\s*\)|\[\s*[,;]?\s*\])")
_POINTS_NOWHERE = re.compile(r"\b(?:at|via|from|see|on|in|under|here|is|are)\W*$", re.IGNORECASE)
_BEFORE_MARK = re.compile(r"\s+([.,;:!?])(?=\s|$)")
_LIST_MARK = re.compile(r"^(?:\s*(?:\\?[-*+•‣▪·]|\d{1,2}\\?[.)]|\\?#{1,6}|\\?>|[:~`]{3,}|(?:\\?[-*_]){3,})(?:\s+|$))+")
_MARK_WITHIN = re.compile(
    r"([.!?][”\")\]]?(?:\s*[\ue000-\uf8ff])*)\s+(?:\\?[-*+•‣▪]|[:~`]{3,}|(?:\\?[-*_]){3,}|\\?#{1,6})\s+(?=[^\W\d_a-z])"
)
"""Marks of lists, headings and blocks at the head of a sentence; and between two sentences."""

_FENCES = re.compile(
    r"<?/?\b(?:paper|draft|outline)-text\b(?:\s+[0-9a-f]{16}\b)?>?|(?<![\w.])[0-9a-f]{16}(?![\w.]*\w)>?", re.IGNORECASE
)
"""Fences of prompts, and their ids alone; no prose has a word of sixteen hexadecimal digits."""

_LABEL = re.compile(r"^(?:(?:paragraph|heading|title|abstract|submitted|survey|text|sentence|passage \d+)\s*:\s*)+")
"""Names of a prompt's fields that a model copied before a sentence."""

_WHOLE = re.compile(r"[.!?…。！？](?:[\s)\]”\"\u2019'»]|\[\d+\])*$|[”\")]$")
_LONGEST_SAID, _LONGEST_BLOCK, _LONGEST_MARKDOWN = 4000, 20_000, 30_000
"""Characters of one text that should be a sentence, of a paragraph of Markdown and of a draft in it; the rest is not
read. Reading Markdown takes time with the square of brackets that nobody closes: a second for these."""

_MOST_PARAGRAPHS, _MOST_SENTENCES = 12, 24
"""Of a draft in Markdown, for which no schema says how many there may be."""

_IDEOGRAPHS = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_LEAST_WORDS, _LEAST_IDEOGRAPHS = 2, 6
_CITATION_PLACES = (0xE000, 0xF8FF)
_TAGS = (
    "a|abbr|article|audio|b|base|big|blockquote|body|br|button|canvas|center|code|div|em|embed|font|footer|form|frame|h[1-6]|"
    "head|header|hr|html|i|iframe|img|input|li|link|meta|nav|object|ol|p|picture|pre|script|section|small|source|span|strike|"
    "strong|style|sub|sup|svg|table|tbody|td|textarea|th|thead|title|tr|u|ul|video"
)
# Only what is HTML goes: <MASK> or <think> are words of some papers, and printed as such.
_HTML = re.compile(
    rf"<(script|style)\b.*?</\1\s*>|</?(?:{_TAGS})(?:[\s/][^<>]*)?>|<!--.*?-->", re.DOTALL | re.IGNORECASE
)
_MARKS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"!\[[^\[\]]*\]\([^()]*(?:\([^()]*\)[^()]*)*\)"), ""),
    (re.compile(r"\[([^\[\]]*)\]\([^()]*(?:\([^()]*\)[^()]*)*\)"), r"\1"),
    (re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)"), r"\2"),
    (re.compile(r"(\*\*|__)(?=\S)(.+?)(?<=\S)\1"), r"\2"),
    (re.compile(r"(?<![\w*])\*(?=[^\s*])([^*]*?[^\s*])\*(?![\w*])"), r"\1"),
    (re.compile(r"(?<![\w_])_(?=[^\s_])([^_]*?[^\s_])_(?![\w_])"), r"\1"),
)
"""Pictures, links, code, strong and slanted text, and what stays of each; a lone mark (“A* search”) is text."""


@dataclass(frozen=True)
class Line:
    """A sentence as written: its text without citations, papers it cites, and ids it names that were not shown."""

    text: str
    papers: tuple[str, ...]
    refused: tuple[str, ...] = ()


@guarded
def read_draft(
    text: str, shown: Collection[str], *, is_markdown: bool, schema: Mapping | None = None
) -> Reading[tuple[Paragraph, ...]]:
    """Paragraphs of a reply; problems are ids it names that were not shown, lists longer than asked for, and sentences
    that break off, which are left out unless there is nothing else.

    Raises:
        Unfit: it holds no sentence; says why.
        EmptyReply, Refused, Truncated: as `replies.read`.
    """
    problems: list[str] = []
    if is_markdown:
        written = plain_text(text)
        if len(written) > _LONGEST_MARKDOWN:
            problems.append(f"the text has {len(written):,} characters, of which {_LONGEST_MARKDOWN:,} can be taken")
        paragraphs = _held_to_most(list(_markdown_lines(written[:_LONGEST_MARKDOWN], shown)), problems)
    else:
        reading = read(text, DraftReply, schema)
        problems += reading.problems
        paragraphs = [
            [line for s in p.sentences for line in lines_of(s.text, s.papers, shown)] for p in reading.value.paragraphs
        ]
    said = _whole_sentences([p for p in _without_repeats(paragraphs) if p], problems)
    if not said:
        raise Unfit("the reply holds no sentence", which=told_of(problems), text=text)
    unknown = dict.fromkeys(i for p in said for line in p for i in line.refused)
    told = (f"these ids are not among those that may be cited: {', '.join(unknown)}",) if unknown else ()
    return Reading(tuple(tuple(sentence_of(line) for line in p) for p in said), (*problems, *told))


def is_whole(text: str) -> bool:
    """Whether a sentence comes to its end: a constrained decoder stops at the longest length, wherever that is."""
    return bool(_WHOLE.search(text))


def _held_to_most(paragraphs: list[list[Line]], problems: list[str]) -> list[list[Line]]:
    if len(paragraphs) > _MOST_PARAGRAPHS:
        problems.append(f"there are {len(paragraphs)} paragraphs, at most {_MOST_PARAGRAPHS} can be taken")
    if any(len(p) > _MOST_SENTENCES for p in paragraphs):
        problems.append(f"a paragraph has more than {_MOST_SENTENCES} sentences")
    return [p[:_MOST_SENTENCES] for p in paragraphs[:_MOST_PARAGRAPHS]]


def _whole_sentences(paragraphs: list[list[Line]], problems: list[str]) -> list[list[Line]]:
    """The paragraphs without sentences that break off; all of them where none comes to its end."""
    cut = [line for p in paragraphs for line in p if not is_whole(line.text)]
    problems += [f"a sentence breaks off before its end: “… {line.text[-60:]}”" for line in cut]
    whole = [kept for p in paragraphs if (kept := [line for line in p if is_whole(line.text)])]
    return whole or paragraphs


def sentence_of(line: Line) -> Sentence:
    """A written sentence; what it cited in vain is told in its checks."""
    refused = tuple(Check(p, "ungrounded", 0.0, NOT_SHOWN, "refused") for p in line.refused)
    return Sentence("written", line.text, line.papers, checks=refused)


def draft_of(number: str, title: str, paragraphs: Sequence[Paragraph], keys: tuple[str, ...]) -> SectionDraft:
    """The draft of a node, each sentence with the calls that wrote it."""
    written = tuple(tuple(replace(s, calls=keys) for s in paragraph) for paragraph in paragraphs)
    return SectionDraft(number, title, written)


def lines_of(text: str, papers: Sequence[str], shown: Collection[str]) -> list[Line]:
    """One text that should be a sentence: its sentences, each with the papers of its tokens.

    Papers listed beside the text belong to all of them, so that none goes unchecked; to the last one where tokens in the
    text tell the others' papers.
    """
    # Whatever the text has of Markdown goes; a sentence has no structure.
    lines = (_LIST_MARK.sub("", line) for line in text[:_LONGEST_SAID].splitlines())
    found = list(_sentences(" ".join(" ".join(lines).split()), shown))
    listed, refused = _known(papers, shown)
    if not found:
        return []
    named = {p for line in found for p in line.papers}
    if not named:
        found = [Line(line.text, listed, line.refused) for line in found]
    last = found[-1]
    more = (p for p in listed if p not in named)
    found[-1] = Line(
        last.text, tuple(dict.fromkeys([*last.papers, *more])), tuple(dict.fromkeys([*last.refused, *refused]))
    )
    return found


def plain(text: str) -> str:
    """Text as one line of prose: no Markdown marks, no HTML, no links, pictures or addresses; math stays."""
    text = _FENCES.sub("", _HTML.sub("", text))
    text = outside_math(cleaned(text), _without_marks)
    text = _ADDRESS.sub(lambda m: _FINAL_STOPS.search(m.group(0)).group(0), text)
    text = _EMPTY_BRACKETS.sub("", text.replace(WITHHELD, ""))
    return _BEFORE_MARK.sub(r"\1", " ".join(text.split())).strip()


def without_mark(text: str) -> str:
    """Text without marks of a list, a heading or a block at its head."""
    return _LIST_MARK.sub("", text)


def is_prose(text: str) -> bool:
    """Whether a text has words enough to say something: an id, a date or a lone term has not."""
    words = sum(bool(re.search(r"[^\W\d_]{2,}", word)) for word in text.split())
    return words >= _LEAST_WORDS or len(_IDEOGRAPHS.findall(text)) >= _LEAST_IDEOGRAPHS


def _without_repeats(paragraphs: Sequence[Sequence[Line]]) -> Iterator[list[Line]]:
    """The paragraphs without sentences that stand before, word for word, and without what is no sentence."""
    seen: set[str] = set()
    for paragraph in paragraphs:
        kept = []
        for line in paragraph:
            key = heading_key(line.text)
            if key not in seen and is_prose(line.text):
                seen.add(key)
                kept.append(line)
        yield kept


def _without_marks(text: str) -> str:
    for pattern, kept in _MARKS:
        text = pattern.sub(kept, text)
    return text


def _markdown_lines(text: str, shown: Collection[str]) -> Iterator[list[Line]]:
    """Paragraphs of Markdown; headings, code, tables, quotations and references of its own are no prose of a node."""
    for block in blocks(tidied(text, 3)):
        if block.level or block.is_code or block.text.lstrip().startswith(("|", "<", "---", "***")):
            continue
        if re.match(r"\[\d+\]:?\s", block.text) or heading_key(block.text) in ("references", "bibliography"):
            continue
        lines = [_LIST_MARK.sub("", line) for line in block.text[:_LONGEST_BLOCK].splitlines()]
        if found := list(_sentences(" ".join(lines), shown)):
            yield found


@lru_cache(maxsize=64)
def _ids(shown: frozenset[str]) -> tuple[re.Pattern[str], ...]:
    """Ids as models write them into prose: in brackets, behind a sentence, before it, in it, and each alone."""
    named = "|".join(sorted(map(re.escape, shown), key=len, reverse=True)) or "(?!)"
    own = rf"(?:{named})(?:v\d+)?(?![\w/]|\.\d)"
    one = rf"(?:(?:arxiv|paper|id)[:\s]\s*)?(?:{own}|{_ARXIV})"
    several = r"(?:\s*[;,]\s*(?:and\s+)?|\s+and\s+)"
    last = rf"(?:(?:arxiv|paper|id)[:\s]\s*)?(?<![\w./]){own}"
    return (
        re.compile(rf"[ \t]*[\[(]\s*(?:(?:see|cf\.|cites?|citing|papers?|ids?)[:\s]\s*)*{one}(?:{several}{one})*\s*[\])]", re.I),
        re.compile(rf"(?<!\bin)(?<!\bby)(?<!\bof)(?<!\bto)(?<!\band)(?<!\bfrom)(?<!\bwith)(?<!\bsee)(?<!\bthan)(?<!\bpaper)"
                   rf"[\s,;:–—]+{last}(?:{several}{last})*(?=\s*[.!?]*\s*$)", re.I),
        re.compile(rf"^[ \t]*{last}[ \t]*[:–—][ \t]*", re.I),
        re.compile(rf"(?:\b(?:the |this )?(?:papers?|works?|study|article|arxiv)[:\s]\s*)?(?<![\w./]){own}", re.I),
        re.compile(rf"(?<![\w./])(?:{own}|{_ARXIV})", re.I),
    )  # fmt: skip


def _sentences(text: str, shown: Collection[str]) -> Iterator[Line]:
    """Sentences of a text with tokens; a token behind a full stop belongs to the sentence before it.

    Ids in brackets, before or behind a sentence are tokens; a lone one within it is cited, and reads "the paper".
    """
    in_brackets, behind, before, within, alone = _ids(frozenset(shown))
    tokens: list[tuple[tuple[str, ...], tuple[str, ...]]] = []

    def held(match: re.Match) -> str:
        keys = [paper_of_key(a or b) for a, b in _ONE_KEY.findall(match.group(1))]
        tokens.append(_known(keys, shown))
        return chr(_CITATION_PLACES[0] + len(tokens) - 1)

    def bare(match: re.Match) -> str:
        tokens.append(_known(alone.findall(match.group(0)), shown))
        return chr(_CITATION_PLACES[0] + len(tokens) - 1)

    # Characters of the private use area mark the places; text that brings its own loses them.
    text = _LABEL.sub("", _LIST_MARK.sub("", _FENCES.sub("", re.sub("[\ue000-\uf8ff]", "", text)).lstrip()))
    text = in_brackets.sub(bare, _TOKEN.sub(held, text))
    text = _MARK_WITHIN.sub(r"\1 ", text)
    marked = re.sub(r"([.!?])((?:\s*[\ue000-\uf8ff])+)", r"\2\1", text)
    for start, end in split(marked) or [(0, len(marked))]:
        own = _LABEL.sub("", _LIST_MARK.sub("", marked[start : min(end, start + _LONGEST_SAID)].lstrip()))
        own = before.sub(bare, behind.sub(bare, own))
        own = re.sub("([.!?])([\ue000-\uf8ff]+)[.]$", r"\2\1", own)
        if not re.search(r"[^\W\d_]{2,}", within.sub("", own)):
            own = within.sub(bare, own)
        elif len(found := list(within.finditer(own))) == 1:
            words = "the paper" if re.search(r"\w", own[: found[0].start()]) else "The paper"
            own = within.sub(lambda m, words=words: words + bare(m), own)
        elif found:
            own = within.sub(lambda m: m.group(0) + bare(m), own)
        cited = [
            tokens[ord(c) - _CITATION_PLACES[0]] for c in own if _CITATION_PLACES[0] <= ord(c) <= _CITATION_PLACES[1]
        ]
        said = plain(re.sub("[\ue000-\uf8ff]", "", own))
        papers = tuple(dict.fromkeys(p for known, _ in cited for p in known))
        refused = tuple(dict.fromkeys(p for _, unknown in cited for p in unknown))
        # Without its address, "Code is at …" says nothing.
        is_stub = _ADDRESS.search(own) and _POINTS_NOWHERE.search(said)
        if re.search(r"\w", said) and not is_stub:
            yield Line(said, papers, refused)


def _known(keys: Sequence[str], shown: Collection[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Ids that were shown, and ids that were not; versions and forms that people write name the same paper."""
    known, unknown = [], []
    for key in keys:
        key = key.strip().strip("[]@").strip()
        with suppress(UnreadableId):
            key = key if key in shown else parse_paper_id(key).value
        if key in shown:
            known.append(key)
        elif key:
            unknown.append(cleaned(key)[:80])
    return tuple(dict.fromkeys(known)), tuple(dict.fromkeys(unknown))
