"""Which file of a paper is read for a cutoff, and what is still to do for a set of papers.

The newest version known not to be after the cutoff is read; where none is known to be, the lowest one held, which
is then possibly later than the cutoff. A file that cannot be read gives way to the next one in that order, and keeps
its row. Not here: parsing (`ingestion.documents`) and storing (`corpus.documents`).
"""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import date

import polars as pl

from corpus.hashing import text_hash
from corpus.tables import Lake
from ingestion.documents.statuses import MEANINGS
from ingestion.held_files import HeldFile, Unreachable, held_files

NO_FILE = ""
"""`sha256` of the row of a paper without a file."""
_UNREAD = "unread:"


def unread_key(source: str, file: str) -> str:
    """`sha256` of the row of a file that could not be hashed: each such file of a paper has a row of its own."""
    return _UNREAD + text_hash(f"{source} {file}")[:16]


def is_hashed(sha256: str) -> bool:
    """Whether a row's `sha256` is one."""
    return sha256 != NO_FILE and not sha256.startswith(_UNREAD)


@dataclass(frozen=True)
class Task:
    """A file to be read.

    Attributes:
        version_on: day of the file's version; None where no source dates it.
        sha256: of the file where it was read before, by other code than now; "" where it was not.
        parser, tier: who read it then, if that gave its text; "" where not.
    """

    paper_id: str
    id_month: date
    held: HeldFile
    version_on: date | None
    sha256: str = ""
    parser: str = ""
    tier: str = ""


@dataclass(frozen=True)
class Fileless:
    """A paper that gets a row without a file: none is held (`abstract_only`), or it is `withdrawn`."""

    paper_id: str
    id_month: date
    status: str


@dataclass(frozen=True)
class ToDo:
    """What is missing for the texts of some papers.

    Attributes:
        tasks: files to read, in the order of the papers asked for.
        fileless: rows to write without reading anything.
        unreachable: sources whose files cannot be listed, with the reason.
    """

    tasks: tuple[Task, ...]
    fileless: tuple[Fileless, ...]
    unreachable: tuple[Unreachable, ...]

    @property
    def is_empty(self) -> bool:
        return not (self.tasks or self.fileless)


def to_do(
    lake: Lake,
    paper_ids: Collection[str],
    cutoff: date | None,
    derivation: str,
    parser: str,
    *,
    tier: str = "",
    with_withdrawn: bool = False,
    retry: bool = False,
    version: int | None = None,
) -> ToDo:
    """The files that must be read so that every paper has its text, or the reason why it has none.

    Args:
        paper_ids: papers of the lake; others are left out.
        cutoff: inclusive UTC day that chooses among versions; None for the newest.
        derivation: rows made by other code than this count as missing.
        parser, tier: who would read them; what another parser or tier could not read is tried again.
        with_withdrawn: read withdrawn papers too.
        retry: read files again whose last status may change with time or with other limits.
        version: only files of this version of a paper; None for all.
    """
    wanted = list(dict.fromkeys(paper_ids))
    columns = ["paper_id", "id_month", "versions", "submitted_on", "updated_on", "latest_version", "is_withdrawn"]
    papers = lake.scan("papers").filter(pl.col("paper_id").is_in(wanted)).select(columns).collect()
    known = {row["paper_id"]: row for row in papers.to_dicts()}
    rows = _rows(lake, wanted)
    files, unreachable = held_files(sources(lake), [p for p in wanted if p in known])
    tasks, fileless = [], []
    for paper_id in wanted:
        if paper_id not in known:
            continue
        paper, done = known[paper_id], rows.get(paper_id, [])
        if paper["is_withdrawn"] and not with_withdrawn:
            if not any(r["status"] == "withdrawn" for r in done):
                fileless.append(Fileless(paper_id, paper["id_month"], "withdrawn"))
            continue
        named = [f for f in files.get(paper_id, []) if version is None or f.version == version]
        held = in_order(named, paper, cutoff)
        if not held:
            if version is not None:
                continue
            # A source that cannot be listed may hold the file: nothing is said of the paper then.
            if not (unreachable or any(r["status"] == "abstract_only" or is_hashed(r["sha256"]) for r in done)):
                fileless.append(Fileless(paper_id, paper["id_month"], "abstract_only"))
            continue
        task = _next_file(
            held, done, paper, derivation, lambda row: _is_settled(row, derivation, (parser, tier), retry)
        )
        if task is not None:
            tasks.append(task)
    return ToDo(tuple(tasks), tuple(fileless), tuple(unreachable))


def in_order(files: Iterable[HeldFile], paper: dict, cutoff: date | None) -> list[HeldFile]:
    """Files in the order in which they would be read; equal versions by source.

    Args:
        paper: row of `papers` (versions, submitted_on, updated_on, latest_version).
    """

    def key(held: HeldFile) -> tuple:
        day = version_day(paper, held.version)
        number = held.version or 0
        if cutoff is None or (day is not None and day <= cutoff):
            return 0, -number, held.source, held.file
        return 1, number, held.source, held.file

    return sorted(files, key=key)


def version_day(paper: dict, version: int | None) -> date | None:
    """Day (UTC) on which a version was submitted; None where no source tells."""
    for known in paper["versions"] or []:
        if known["number"] == version and known["created_at"]:
            return known["created_at"].date()
    if version == 1:
        return paper["submitted_on"]
    if version is not None and version == paper["latest_version"]:
        return paper["updated_on"]
    return None


def is_possibly_later(version_on: date | None, cutoff: date) -> bool:
    """Whether a document's version cannot be shown to be within the cutoff."""
    return version_on is None or version_on > cutoff


def _next_file(
    held: list[HeldFile], done: list[dict], paper: dict, derivation: str, is_settled: Callable[[dict], bool]
) -> Task | None:
    """The first file in order that is not settled; None where one is parsed or all have failed for good."""
    for file in held:
        row = next((r for r in done if _is_of(r, file)), None)
        if row is None or not is_settled(row):
            known, parser, tier = "", "", ""
            if row and row["derivation"] != derivation and is_hashed(row["sha256"]):
                known = row["sha256"]
                if row["status"] == "parsed":  # what one parser could read, another may not
                    parser, tier = row["parser"], row["tier"] or ""
            day = version_day(paper, file.version)
            return Task(paper["paper_id"], paper["id_month"], file, day, known, parser, tier)
        if row["status"] == "parsed":
            return None
    return None


def _is_settled(row: dict, derivation: str, parser: tuple[str, str], retry: bool) -> bool:
    """Whether reading the file of a row once more would give nothing new."""
    policy = MEANINGS[row["status"]].retry
    is_made_by_us = row["status"] in ("parsed", "empty_text")
    if is_made_by_us and row["derivation"] != derivation:
        return False
    if policy == "other_parser" and (row["parser"], row["tier"] or "") != parser:
        return False
    return not (retry and (row["is_retryable"] or policy in ("later", "other_limits")))


def _is_of(row: dict, file: HeldFile) -> bool:
    """Whether a row was made from the file as it is now, or from its like: hashing all would cost as much as reading."""
    return any(
        made["source"] == file.source
        and made["file"] == file.file
        and made["size_bytes"] == file.size_bytes
        and made["modified_at"] == file.modified_at
        for made in (row, *(row["copies"] or ()))
    )


def _rows(lake: Lake, paper_ids: list[str]) -> dict[str, list[dict]]:
    columns = [
        "paper_id",
        "sha256",
        "source",
        "file",
        "size_bytes",
        "modified_at",
        "copies",
        "status",
        "is_retryable",
        "parser",
        "tier",
        "derivation",
    ]
    months = lake.scan("papers").filter(pl.col("paper_id").is_in(paper_ids)).select("id_month").unique().collect()
    scan = lake.scan("documents").filter(
        pl.col("id_month").is_in(months["id_month"].to_list()), pl.col("paper_id").is_in(paper_ids)
    )
    found: dict[str, list[dict]] = {}
    for row in scan.select(columns).collect().to_dicts():
        found.setdefault(row["paper_id"], []).append(row)
    return found


def sources(lake: Lake) -> list[str]:
    """Sources of which a harvest is on record."""
    return sorted(lake.scan("harvests").select("source").unique().collect().to_series())
