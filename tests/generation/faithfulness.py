"""What must hold of every sentence of a finished survey, as checks over the lake that return what they find wrong.

Tests of the small lake, of the sample corpus and of real papers ask the same; a check that finds nothing returns [].
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path

import polars as pl

from corpus.query import query
from corpus.tables import Lake
from generation import captions
from generation.extractive.adaptation import rebuild, reverse
from generation.extractive.connecting import in_words
from generation.grounding import counts
from generation.naming import short_authors
from generation.reprinting import load_survey, pinned
from generation.values import Paper, SectionDraft, Sentence, Span, Survey

NAMES = frozenset({"topic_title", "cutoff", "plan", "parts", "section", "column", "largest_section", "most_title",
                   "most_cited_id", "phrase"})  # fmt: skip
"""Rows that name something rather than count it: titles, headings with their numbers, the topic's own day."""

_WIDE = re.compile(r"SELECT \w+, \w+ FROM", re.IGNORECASE)
_AT_ONCE = 40
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_COUNT_WORDS = {in_words(n): str(n) for n in range(1, 10)}


@dataclass(frozen=True)
class Printed:
    """A finished survey with what stands behind it, all at the table versions of its manifest.

    Attributes:
        row: of `surveys`.
        versions: table → version.
    """

    survey: Survey
    row: dict
    abstracts: Mapping[str, str | None]
    passages: Mapping[str, str]
    lake: Lake
    versions: Mapping[str, int]

    def source(self, span: Span) -> str:
        whole = self.passages[span.passage_id] if span.source == "passage" else self.abstracts[span.paper_id]
        return whole[span.start : span.end]

    def rows(self, table: str) -> pl.DataFrame:
        frame = self.lake.read(table, version=self.versions[table], topic=self.row["topic"])
        return frame.filter(pl.col("edition") == self.row["edition"]) if "edition" in frame.columns else frame

    def answers(self, queries: Collection[str]) -> dict[str, tuple]:
        """What each query gives: its one row. A query with more rows than one fails; one without gives None."""
        wide = [q for q in queries if _WIDE.match(q)]
        found = {q: tuple(query(self.lake, q, as_of=self.versions).to_pylist()[0].values()) for q in wide}
        narrow = [q for q in dict.fromkeys(queries) if q not in found]
        for i in range(0, len(narrow), _AT_ONCE):  # many in one, since reading the tables is what takes time
            batch = narrow[i : i + _AT_ONCE]
            asked = ", ".join(f"({q}) AS a{n}" for n, q in enumerate(batch))
            [row] = query(self.lake, f"SELECT {asked}", as_of=self.versions).to_pylist()
            found |= {q: (value,) for q, value in zip(batch, row.values(), strict=True)}
        return found


def printed_of(home: Path) -> Printed:
    """The only survey of a home."""
    lake = Lake(home)
    [row] = lake.read("surveys").to_dicts()
    versions = {t: v for t, v in pinned(row).items() if not t.startswith("index/")}
    survey, _ = load_survey(lake, row)
    abstracts = dict(lake.read("papers", version=versions["papers"]).select("paper_id", "abstract").iter_rows())
    passages = {}
    if "passages" in versions:
        held = lake.read("passages", version=versions["passages"])
        passages = dict(held.select("passage_id", "text").iter_rows())

    return Printed(survey, row, abstracts, passages, lake, versions)


def sentences_of(survey: Survey) -> Iterator[tuple[SectionDraft, Sentence]]:
    return ((section, sentence) for section in survey.sections for sentence in section.sentences())


def unlike_their_spans(printed: Printed) -> list[str]:
    """Sentences of papers that are not their span, or not the span and the edits, forwards and backwards."""
    wrong = []
    for _, s in sentences_of(printed.survey):
        if s.kind == "written":
            continue  # `ungrounded` asks of these
        wrong += [f"{s.kind} by a model: {s.text}"] * bool(s.calls or s.checks)
        if s.kind == "composed":
            wrong += [f"composed with a source: {s.text}"] * bool(s.spans or s.edits or not s.template)
            continue
        if len(s.spans) != 1 or s.kind != ("adapted" if s.edits else "quoted") or s.cited_ids != (s.spans[0].paper_id,):
            wrong.append(f"{s.kind} of {len(s.spans)} spans and {len(s.edits)} edits: {s.text}")
            continue
        source = printed.source(s.spans[0])
        if s.kind == "quoted" and s.text != source:
            wrong.append(f"not its span: {s.text}")
        try:
            is_rebuilt = rebuild(source, s.edits) == s.text and reverse(s.text, s.edits) == source
        except ValueError:  # an edit that does not fit
            is_rebuilt = False
        wrong += [] if is_rebuilt else [f"not span and edits: {s.text}"]
    return wrong


def untrue(printed: Printed) -> list[str]:
    """Stated values that are not what their query gives, in prose, lists, tables and captions alike."""
    stated = [
        (f"{section.number} {s.place} {row.name}", row.value, row.query)
        for section, s in sentences_of(printed.survey)
        for row in s.rows
        if row.query
    ]
    answers = printed.answers([q for _, _, q in stated])
    return [f"{what}: {v!r}, but {answers[q]!r}" for what, v, q in stated if v not in _as_printed(answers[q])]


def _as_printed(answer: tuple) -> set[str]:
    if len(answer) == 2:  # authors, groups: printed as authors are named
        persons, groups = (tuple(a) if a else None for a in answer)
        day = date(2000, 1, 1)
        named = short_authors(Paper("", "", None, "", persons, groups, day, day, "day", ""))
        return {named[0]} if named else set()
    [value] = answer
    return {f"{value:,}", str(value)} if isinstance(value, int) else {str(value)}


def unborne(printed: Printed) -> list[str]:
    """Numbers in composed sentences, in figures or in words, that no row with a query gives."""
    wrong = []
    for _, s in sentences_of(printed.survey):
        if s.kind != "composed":
            continue
        text = s.text
        for row in s.rows:
            if row.query is None and (row.name in NAMES or re.fullmatch(r"name_\d+", row.name)):
                text = text.replace(row.value, " ")
        given = {row.value for row in s.rows if row.query}
        # What is a title or a name with a query of its own may hold figures too.
        for value in sorted((v for v in given if not _NUMBER.fullmatch(v)), key=len, reverse=True):
            text = text.replace(value, " ")
        fixed = re.sub(r"\{\w+\}", " ", s.template or "")
        numbers = set(_NUMBER.findall(text)) - given
        literal = Counter(re.findall(r"[a-z]+", fixed.lower()))
        words = Counter(re.findall(r"[a-z]+", text.lower())) - literal
        numbers |= {w for w, n in _COUNT_WORDS.items() if words[w] and n not in given}
        wrong += [f"{n}: {s.text}" for n in sorted(numbers)]
        is_told = all(
            row.value.lower() in s.text.lower() or (row.value.isdigit() and in_words(int(row.value)) in s.text.lower())
            for row in s.rows
            if s.place != "caption" or (row.query is None and row.name != "column")
        )
        wrong += [] if is_told else [f"a row that is not told: {s.text}"]
    return wrong


def repeated(printed: Printed) -> list[str]:
    """Headings, paragraphs and sentences that stand twice, and spans that are printed twice."""
    survey = printed.survey
    headings = [s.title for s in survey.sections]
    said = [" ".join(t.text for t in p) for s in survey.sections for p in s.paragraphs]
    texts = [t.text for _, t in sentences_of(survey)]
    # What bears a written sentence may bear another too.
    spans = [str(span) for _, t in sentences_of(survey) if t.kind != "written" for span in t.spans]
    folded = (
        Counter(" ".join(re.findall(r"\w+", text.lower())) for text in group) for group in (headings, said, texts)
    )
    return [text for counts in (*folded, Counter(spans)) for text, n in counts.items() if n > 1]


def unadmitted(printed: Printed) -> list[str]:
    """Papers cited that were not consulted, or consulted that the topic may not see; sources that are not cited."""
    papers = printed.rows("edition_papers")
    consulted = set(papers.filter("is_consulted")["paper_id"])
    marked = set(papers.filter("is_cited")["paper_id"])
    cited = set(printed.survey.references)
    topic = printed.lake.read("topics", topic=printed.row["topic"]).to_dicts()[0]
    held = printed.lake.read("papers", version=printed.versions["papers"])
    admitted = held.filter((pl.col("submitted_latest") <= printed.row["cutoff"]) & ~pl.col("is_withdrawn"))
    seen = set(admitted["paper_id"]) - set(topic["exclusions"])
    wrong = [f"cited, not consulted: {p}" for p in sorted(cited - consulted)]
    wrong += [f"consulted, not admitted: {p}" for p in sorted(consulted - seen)]
    wrong += [f"cited in text or table only: {p}" for p in sorted(cited ^ marked)]
    wrong += [f"cited in text or row only: {p}" for p in sorted(cited ^ set(printed.row["reference_ids"]))]
    return wrong


def unannounced(printed: Printed) -> list[str]:
    """Captions without what they announce, and rows of tables without a caption."""
    wrong = []
    for section in printed.survey.sections:
        for paragraph in section.paragraphs:
            first, *rest = paragraph
            is_table = first.place == "caption" and first.template == captions.COMPARISON
            places = {s.place for s in rest}
            if "caption" in places or ("table" in {s.place for s in paragraph}) != is_table:
                wrong.append(f"{section.number}: rows and captions apart: {first.text}")
            elif is_table:
                wrong += [f"{section.number}: {w}" for w in _table_faults(section, first, rest)]
            elif first.place == "caption":
                numbers = [row.value for row in first.rows if row.query]
                known = captions.picture_name(paragraph) is not None
                drawable = len(numbers) > 1 and all(n.replace(",", "").isdigit() for n in numbers)
                if rest or not known or not drawable:
                    wrong.append(f"{section.number}: no picture: {first.text}")
    return wrong


def _table_faults(section: SectionDraft, caption: Sentence, rows: list[Sentence]) -> list[str]:
    columns = captions.columns(caption)
    wrong = [] if {s.place for s in rows} == {"table"} and len(rows) >= 3 else [f"no rows: {caption.text}"]
    wrong += [f"cells {captions.cells(r)}" for r in rows if len(captions.cells(r)) != len(columns)]
    wrong += [f"empty cell: {captions.cells(r)}" for r in rows if not all(captions.cells(r))]
    if caption.rows[0].value != section.number:
        wrong.append(f"a table of {caption.rows[0].value}")
    return wrong


def misdirected(printed: Printed) -> list[str]:
    """Sections that the text names by a number or a heading that they do not have."""
    headings = {s.title: s.number for s in printed.survey.sections}
    wrong = []
    for section, s in sentences_of(printed.survey):
        for row in s.rows:
            if row.name == "plan":
                told = re.findall(r"(?:^|, (?:and )?| and )(.+?) \(Section (\d+)\)", row.value)
                body = {n for t, n in headings.items() if "." not in n} - {n for _, n in told}
                wrong += [f"{t} is not {n}" for t, n in told if headings.get(t) != n]
                framing = {headings.get(t) for t in ("Introduction", "Open Problems", "Conclusion")}
                wrong += [f"not in the plan: {n}" for n in sorted(body - framing)]
            if row.name == "parts":
                parts = [t for t, n in headings.items() if n.startswith(f"{section.number}.")]
                left = row.value
                for title in sorted(parts, key=len, reverse=True):
                    wrong += [] if title in left else [f"not told of {section.number}: {title}"]
                    left = left.replace(title, "", 1)
                wrong += [f"no such part of {section.number}: {left}"] if re.sub(r"[\s,]|and", "", left) else []
    return wrong


def ungrounded(printed: Printed) -> list[str]:
    """Written sentences that cite what no check let pass, or whose spans lead elsewhere than to what they cite."""
    pages = {}
    if "passages" in printed.versions:
        held = printed.lake.read("passages", version=printed.versions["passages"])
        pages = {p: (paper, page) for p, paper, page in held.select("passage_id", "paper_id", "page").iter_rows()}
    wrong = []
    for _, s in sentences_of(printed.survey):
        if s.kind != "written":
            continue
        last = {check.paper_id: check for check in s.checks}
        for paper_id in s.cited_ids:
            check = last.get(paper_id)
            if check is None:
                wrong.append(f"{paper_id} was never checked: {s.text}")
            elif check.verdict == "ungrounded" or check.action in ("removed", "refused"):
                wrong.append(f"{paper_id} is {check.verdict} and {check.action}, but cited: {s.text}")
            if not any(span.paper_id == paper_id for span in s.spans):
                wrong.append(f"nothing is shown of {paper_id}: {s.text}")
        for check in last.values():
            if check.paper_id not in s.cited_ids and check.action not in ("removed", "refused"):
                wrong.append(f"{check.paper_id} is {check.action}, but not cited: {s.text}")
        wrong += [f"a similarity of {c.similarity}: {s.text}" for c in s.checks if not -1.001 <= c.similarity <= 1.001]
        wrong += [f"{w}: {s.text}" for span in s.spans for w in _span_faults(printed, s, span, pages)]
        wrong += [f"a token in the text: {s.text}"] * ("[@" in s.text)
    return wrong


def _span_faults(printed: Printed, sentence: Sentence, span: Span, pages: Mapping[str, tuple]) -> Iterator[str]:
    if span.paper_id not in sentence.cited_ids:
        yield f"a span of {span.paper_id}, which is not cited"
    text = printed.passages.get(span.passage_id) if span.source == "passage" else printed.abstracts.get(span.paper_id)
    if text is None or not 0 <= span.start < span.end <= len(text) or not text[span.start : span.end].strip():
        yield f"a span of nothing, {span}"
    if span.source == "passage" and pages.get(span.passage_id) != (span.paper_id, span.page):
        yield f"a span of {pages.get(span.passage_id)} said to be of {span.paper_id}, page {span.page}"
    if span.source == "abstract" and (span.page, span.passage_id) != (None, None):
        yield "an abstract with a page"


def unrecorded(printed: Printed) -> list[str]:
    """Written sentences without the calls that wrote them, and what they cite without having been shown it.

    Where the lake has no ledger, only whether calls are named at all.
    """
    written = [s for _, s in sentences_of(printed.survey) if s.kind == "written"]
    wrong = [f"no call: {s.text}" for s in written if not s.calls]
    if not written or printed.lake.version("language_model_calls") is None:
        return wrong
    calls = printed.lake.scan("language_model_calls").select("key", "status", "evidence").collect()
    shown: dict[str, set[str]] = {}
    for key, status, evidence in calls.iter_rows():
        if status == "answered":
            shown.setdefault(key, set()).update(evidence)
    for s in written:
        wrong += [f"a call that no ledger has, {key}: {s.text}" for key in s.calls if key not in shown]
        seen = set().union(*(shown.get(key, set()) for key in s.calls))
        wrong += [f"{paper_id} was not shown: {s.text}" for paper_id in s.cited_ids if paper_id not in seen]
    return wrong


def miscounted(printed: Printed) -> list[str]:
    """What the survey's row says of citations that a model gave, where it is not what its sentences say."""
    told, found = printed.row["grounding"], asdict(counts(*printed.survey.sections))
    is_written = any(s.kind == "written" for _, s in sentences_of(printed.survey))
    if told is None:
        return ["written, but nothing is counted"] * is_written
    # Sentences and cells that were taken out whole took their citations with them; only the writer counted these.
    gone = told["removed"] - found["removed"]
    agrees = {**found, "cited": found["cited"] + gone, "removed": told["removed"]}
    return [] if gone >= 0 and told == agrees else [f"{told} told, {found} found"]


CHECKS = (
    unlike_their_spans, untrue, unborne, repeated, unadmitted, unannounced, misdirected, ungrounded, unrecorded, miscounted,
)  # fmt: skip
