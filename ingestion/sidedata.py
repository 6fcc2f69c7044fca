"""Side data: outlines of human surveys, citation edges, and metadata of further papers.

Belongs here: reading the files `lithouse import` takes and the `citations`/`outlines` files of a mirror. A
fixed list of fields is read; others are named once (`unread_fields`) and ignored. Not here: tables.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import orjson

from ingestion.dates import finest_date, parse_version_date
from ingestion.errors import NotFound
from ingestion.identity import UnreadableId, parse_paper_id
from ingestion.records import Failure, Refusal, lines

_CITING = ("citing_id", "citing_arxiv_id")
_CITED = ("cited_id", "cited_arxiv_id")
_OUTLINE_FIELDS = ("paper_id", "arxiv_id", "id", "title", "topic", "outline")
_PAPER_FIELDS = (
    "id", "arxiv_id", "paper_id", "externalIds", "title", "abstract", "authors", "categories", "comments",
    "journal-ref", "venue", "doi", "license", "published", "published_kind", "publicationDate", "year",
    "update_date", "versions", "_date_kind",
)  # fmt: skip
_V1_KINDS = ("arxiv-v1", "published")

# Letters count as numbers only with a point, bracket or colon ("A. Data", "IV) Methods") or after the word Section:
# "I have a dream" and "A survey of surveys" are headings without a number. So is "2020 in retrospect".
_NUMBERED = re.compile(
    r"(?:(?:[Ss]ection|[Cc]hapter|SECTION|CHAPTER)\s+(?P<named>\d+(?:\.\d+)*|[IVX]+|[A-Z])\s*[.):]?"
    r"|(?P<dotted>(?:\d{1,2}|[IVX]+|[A-Z])(?:\.(?:\d{1,3}|[A-Z]))+)\s*[.):]?"
    r"|(?P<digits>\d{1,2})\s*[.):]?"
    r"|(?P<letters>[IVX]+|[A-Z])\s*[.):])\s+(?P<title>\S.*)"
)
_ROMAN = re.compile(r"[IVX]+")
_SURELY_ROMAN = ("II", "III", "IV", "VI")


@dataclass(frozen=True)
class Edge:
    """citing → cited, and where it stood."""

    citing_id: str
    cited_id: str


@dataclass(frozen=True)
class Heading:
    level: int
    title: str


@dataclass(frozen=True)
class HumanOutlineRecord:
    """The outline of one human-written survey.

    Attributes:
        outline_id: the survey's paper id, else `outline:` and a hash of title and headings.
        headings: in order, levels from 1.
    """

    outline_id: str
    paper_id: str | None
    title: str | None
    headings: tuple[Heading, ...]
    source_line: int

    @property
    def content_hash(self) -> str:
        return _hash([self.title or "", *(f"{h.level} {h.title}" for h in self.headings)])


@dataclass
class SideData:
    """What a side file held: rows, refusals, failures and the names of fields nobody reads."""

    rows: list = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    unread_fields: set[str] = field(default_factory=set)
    self_loops: int = 0


def read_edges(path: Path, label: str | None = None) -> SideData:
    """Citation edges: JSONL with `citing_id`/`cited_id` (or `citing_arxiv_id`/`cited_arxiv_id`), ids in any form.

    Self-loops are dropped and counted; doubled edges collapse.
    """
    found = SideData()
    edges: dict[Edge, None] = {}
    for number, row, refuse in _objects(path, label, found):
        citing, cited = _first(row, _CITING), _first(row, _CITED)
        found.unread_fields |= row.keys() - {*_CITING, *_CITED}
        if not citing or not cited:
            refuse(number, None, "an edge needs citing_id and cited_id")
            continue
        try:
            edge = Edge(parse_paper_id(citing).value, parse_paper_id(cited).value)
        except UnreadableId as error:
            refuse(number, f"{citing} → {cited}", error.message)
            continue
        if edge.citing_id == edge.cited_id:
            found.self_loops += 1
        else:
            edges[edge] = None
    found.rows = list(edges)
    return found


def read_outlines(path: Path, label: str | None = None) -> SideData:
    """Outlines: JSONL with a title or id and `outline`, a tree of {title, level, children} or numbered lines.

    The same outline twice counts once; of several outlines of one survey the last stands.
    """
    found = SideData()
    outlines: dict[str, HumanOutlineRecord] = {}
    for number, row, refuse in _objects(path, label, found):
        found.unread_fields |= row.keys() - set(_OUTLINE_FIELDS)
        headings = _headings(row.get("outline"))
        if not headings:
            refuse(number, None, "an outline needs headings: a tree of {title, children} or numbered lines")
            continue
        raw_id = _first(row, ("paper_id", "arxiv_id", "id"))
        title = _first(row, ("title", "topic"))
        paper_id = None
        if raw_id:
            try:
                paper_id = parse_paper_id(raw_id).value
            except UnreadableId as error:
                refuse(number, str(raw_id), error.message)
                continue
        elif not title:
            refuse(number, None, "an outline needs a title or an id")
            continue
        title = " ".join(str(title).split()) if title else None
        own_id = paper_id or "outline:" + _hash([title or "", *(h.title for h in headings)])[:16]
        outlines[own_id] = HumanOutlineRecord(own_id, paper_id, title, tuple(headings), number)
    found.rows = list(outlines.values())
    return found


def to_snapshot_fields(row: dict) -> dict:
    """A record of another metadata file (Semantic Scholar, reference lists) in the snapshot's fields.

    Gaps stay gaps: a null abstract or date is null, a partial date (`2015-12`, year 2025) is no day. For works
    outside arXiv the finest date they have is kept as the publication date.
    """
    external = row["externalIds"] if isinstance(row.get("externalIds"), dict) else {}
    doi = row.get("doi") or external.get("DOI")
    raw_id = row.get("id") or row.get("arxiv_id") or row.get("paper_id") or external.get("ArXiv") or doi
    kind, created, day = row.get("_date_kind"), None, row.get("update_date")
    published = row.get("published") or row.get("publicationDate")
    if full := parse_version_date(str(published or "")):
        day = full.date().isoformat()
        if row.get("published_kind") in _V1_KINDS:
            kind, created = "published", day
        else:
            kind = "s2-publication"
    elif not day and not _is_arxiv(raw_id):
        part = finest_date([_parts(published), [row["year"]] if row.get("year") else None])
        if part:
            day, kind = part.latest_day.isoformat(), "s2-publication"
    versions = row.get("versions") or ([{"version": "v1", "created": created}] if created else [])
    return {
        "id": raw_id,
        "title": row.get("title"),
        "abstract": row.get("abstract"),
        "authors": _joined(row.get("authors"), ", "),
        "categories": _joined(row.get("categories"), " "),
        "comments": row.get("comments"),
        "journal-ref": row.get("journal-ref") or row.get("venue"),
        "doi": doi,
        "license": row.get("license"),
        "versions": versions,
        "update_date": day,
        "_date_kind": kind,
    }


def unread_paper_fields(rows: Iterable[dict]) -> set[str]:
    """Names of fields `to_snapshot_fields` does not read."""
    return {name for row in rows for name in row} - set(_PAPER_FIELDS)


def _is_arxiv(raw_id: object) -> bool:
    try:
        return parse_paper_id(str(raw_id)).scheme == "arxiv"
    except UnreadableId:
        return False


def _parts(text: object) -> list[int] | None:
    digits = re.findall(r"\d+", str(text)) if text else []
    return [int(d) for d in digits[:3]] or None


def _joined(value: object, separator: str) -> str | None:
    if not isinstance(value, list):
        return value  # type: ignore[return-value] - text, null, or refused later as a wrong type
    names = [v.get("name") if isinstance(v, dict) else v for v in value]
    return separator.join(str(n) for n in names if n) or None


def _objects(path: Path, label: str | None, found: SideData) -> Iterator[tuple]:
    """(line number, object, refuse) of each line; what is no object is refused here."""
    label = label or path.name
    if not path.is_file():
        raise NotFound("there is no file to import", which=str(path))
    for item in lines(path, label):
        if isinstance(item, Failure):
            found.failures.append(item)
            return
        number, line = item

        def refuse(number: int, raw_id: str | None, reason: str, line: bytes = line) -> None:
            raw = line[:2000].decode("utf-8", "replace").strip()
            found.refusals.append(Refusal(label, number, raw_id, reason, raw))

        try:
            row = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            refuse(number, None, f"not valid JSON: {error}")
            continue
        if not isinstance(row, dict):
            refuse(number, None, f"not a JSON object but {type(row).__name__}")
            continue
        yield number, row, refuse


def _headings(outline: object) -> list[Heading]:
    if isinstance(outline, list):
        return list(_tree(outline, 1))
    if isinstance(outline, str):
        return _numbered_lines(outline)
    return []


def _tree(nodes: list, level: int) -> Iterator[Heading]:
    for node in nodes:
        title = node.get("title") if isinstance(node, dict) else node
        if isinstance(title, str) and title.strip():
            yield Heading(level, _without_number(title))
        if isinstance(node, dict) and isinstance(node.get("children"), list):
            yield from _tree(node["children"], level + 1)


def _numbered_lines(text: str) -> list[Heading]:
    """Heading lines: the level is the number of components of the number.

    Where sections have Roman numerals, letters stand below them, and plain digits below letters.
    """
    lines = [t for line in text.splitlines() if (t := " ".join(line.lstrip("# ").split())) and t != "```"]
    read = [(line, _NUMBERED.fullmatch(line)) for line in lines]
    numbers = [m["letters"] or m["named"] or "" for _, m in read if m]
    has_romans = any(n in _SURELY_ROMAN for n in numbers) and bool(_ROMAN.fullmatch(numbers[0]))
    headings, above = [], 0
    for line, match in read:
        if not match:
            headings.append(Heading(1, line))
            continue
        number = match["named"] or match["dotted"] or match["digits"] or match["letters"]
        level = number.count(".") + 1
        if has_romans and level == 1:
            level = 1 if _ROMAN.fullmatch(number) else 2 if number.isalpha() else above + 1
            above = level if not number.isdigit() else above
        headings.append(Heading(level, match["title"]))
    return headings


def _without_number(title: str) -> str:
    text = " ".join(title.split())
    match = re.match(r"^\d+(?:\.\d+)*[.):]?\s+(\S.*)$", text)
    return match.group(1) if match else text


def _first(row: dict, names: tuple[str, ...]):
    return next((row[n] for n in names if row.get(n)), None)


def _hash(parts: list[str]) -> str:
    return hashlib.sha256("\x1f".join(parts).encode("utf-8", "replace")).hexdigest()[:32]
