"""How well bibliography entries are resolved by their titles when the ids are taken out of their text.

    python benchmarks/reference_resolution.py [--data DIR] [--lake HOME] [--failures]

Truth: the arXiv ids that unarXive gives its entries (from links, from the text, from OpenAlex), for the entries whose
paper is held. A second set, the reference lists of human surveys, takes the ids printed in the entries themselves; these
lists are also split here. Ids, DOIs and addresses are removed before an entry is parsed. An answer to an entry whose true paper is not
held counts as wrong.

The papers come from a mirror made by linking the four `papers_*` files of `arxiv_metadata`; `--lake` keeps the lake for
the next run (a few minutes otherwise). Targets: precision .98 and recall .90 on unarXive.
"""

import argparse
import gzip
import json
import os
import re
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from corpus.derivation import derive_papers
from corpus.harvest import commit_records, read_source
from corpus.resolution import Resolution, resolve_entries
from corpus.tables import Lake
from ingestion.documents.values import ReferenceText
from ingestion.identity import UnreadableId, find_paper_ids, id_month, parse_paper_id
from ingestion.mirror import open_mirror
from ingestion.references.fields import ReferenceFields, parse_entry
from ingestion.references.splitting import split_entries

PRECISION, RECALL = 0.98, 0.90
FILES = ("papers_until_2022", "papers_2023_2024", "papers_2025", "papers_2026")
_ADDRESS = re.compile(r"(?:https?://|www\.)\S+|(?:doi:?\s*)?10\.\d{4,9}/\S+", re.I)
_ID = re.compile(
    r"(?:arXiv:\s*|abs/)?(?:\b\d{4}\.\s?\d{4,5}(?:v\d+)?|\b[a-z-]+(?:\.[A-Z]{2})?/\d{7})(?:\s*\[[\w.-]+\])?", re.I
)
_HEADING = re.compile(r"^#+ *references *$", re.I | re.M)


@dataclass(frozen=True)
class Case:
    """An entry as printed, and the ids that name its paper by `evidence`."""

    document: str
    text: str
    true_ids: frozenset[str]
    evidence: str


@dataclass(frozen=True)
class Score:
    """Of the entries with a known id: answers that are right, wrong, and papers held but not found.

    Attributes:
        wrong: answers that name another paper than the truth, held or not.
    """

    held: int
    right: int
    wrong: int

    @property
    def precision(self) -> float:
        return self.right / (self.right + self.wrong) if self.right + self.wrong else 1.0

    @property
    def recall(self) -> float:
        return self.right / self.held if self.held else 1.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    default = os.environ.get("LITHOUSE_SHARED_DATA") or Path(__file__).parents[2] / "shared" / "data"
    parser.add_argument("--data", type=Path, default=default)
    parser.add_argument("--lake", type=Path, help="folder to keep the lake in")
    parser.add_argument("--failures", action="store_true", help="print every entry that failed")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="lithouse-benchmark-") as scratch:
        lake = Lake(given.lake or Path(scratch) / "home")
        if not lake.row_count("papers"):
            load(lake, given.data, Path(scratch))
        papers = lake.scan("papers")
        print(f"papers held: {lake.row_count('papers'):,}")
        good = _run("unarXive", list(unarxive_cases(given.data)), papers, given.failures)
        _run("human surveys", list(survey_cases(given.data)), papers, given.failures)
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")
    sys.exit(0 if good else 1)


def load(lake: Lake, data: Path, scratch: Path, files: Sequence[str] = FILES) -> None:
    """Metadata files as a mirror, harvested into an empty lake."""
    mirror = scratch / "mirror"
    mirror.mkdir()
    for number, name in enumerate(files, start=1):
        (mirror / f"metadata_{number}.parquet").symlink_to((data / "arxiv_metadata" / f"{name}.parquet").resolve())
    commit_records(lake, read_source(open_mirror(mirror), cutoff=None))
    derive_papers(lake)


def unarxive_cases(data: Path) -> Iterator[Case]:
    """Every entry with an arXiv id; the printed id goes before the one that OpenAlex matched."""
    with gzip.open(data / "fulltext" / "unarxive_2022_12.jsonl.gz", "rt") as lines:
        for paper in map(json.loads, lines):
            for entry in paper["bib_entries"].values():
                text = entry["bib_entry_raw"]
                printed = _canonical(i["id"] for i in entry["contained_arXiv_ids"]) | _printed(text)
                matched = _canonical([(entry.get("ids") or {}).get("arxiv_id") or ""])
                if printed or matched:
                    evidence = "printed" if printed else "OpenAlex"
                    yield Case(paper["paper_id"], text, printed or matched, evidence)


def survey_cases(data: Path) -> Iterator[Case]:
    """Entries with one printed arXiv id from the reference lists of human surveys."""
    for path in sorted((data / "human_surveys").glob("*.md")):
        text = path.read_text()
        body = text[list(_HEADING.finditer(text))[-1].end() :]
        body = re.split(r"^#+ ", body, maxsplit=1, flags=re.M)[0]
        for reference in split_entries(body).references:
            if len(ids := _printed(reference.text)) == 1:
                yield Case(path.stem, reference.text, ids, "printed")


def blanked(text: str) -> str:
    """The entry without arXiv ids, DOIs and addresses."""
    return _ID.sub("", _ADDRESS.sub("", text))


def score(cases: Iterable[Case], resolutions: Iterable[Resolution], held: set[str]) -> Score:
    known = right = wrong = 0
    for case, found in zip(cases, resolutions, strict=True):
        known += bool(case.true_ids & held)
        right += found.cited_id in case.true_ids
        wrong += found.cited_id is not None and found.cited_id not in case.true_ids
    return Score(known, right, wrong)


def held_ids(cases: Iterable[Case], papers: pl.LazyFrame) -> set[str]:
    wanted = sorted({i for case in cases for i in case.true_ids})
    return set(papers.filter(pl.col("paper_id").is_in(wanted)).select("paper_id").collect()["paper_id"])


def _run(name: str, cases: list[Case], papers: pl.LazyFrame, shows_failures: bool) -> bool:
    held = held_ids(cases, papers)
    started = time.monotonic()
    entries = [parse_entry(ReferenceText("", blanked(case.text))) for case in cases]
    parsed = time.monotonic()
    resolutions = resolve_entries(entries, papers)
    resolved = time.monotonic()
    found = score(cases, resolutions, held)
    print(f"\n{name}: {len(cases):,} entries with a known id, {found.held:,} of papers held")
    print(f"  precision {found.precision:.3f} (target {PRECISION})  recall {found.recall:.3f} (target {RECALL})")
    print(f"  right {found.right}, wrong {found.wrong}, not found {found.held - found.right}")
    print(f"  parsed in {parsed - started:.1f} s, resolved in {resolved - parsed:.1f} s")
    print(f"  methods {dict(Counter(r.method for r in resolutions if r.cited_id))}")
    _print_years(cases)
    reasons = Counter()
    for case, fields, result in zip(cases, entries, resolutions, strict=True):
        is_missed = bool(case.true_ids & held) and result.cited_id is None
        is_wrong = result.cited_id is not None and result.cited_id not in case.true_ids
        if not (is_missed or is_wrong):
            continue
        reasons[f"{'wrong' if is_wrong else 'missed'}: {result.method}"] += 1
        if shows_failures:
            _print_failure(case, fields, result, is_wrong)
    print(f"  failures {dict(reasons)}")
    return found.precision >= PRECISION and found.recall >= RECALL


def _print_years(cases: list[Case]) -> None:
    """Printed year minus the year of the id: what the resolver's window rests on."""
    gaps: Counter[int] = Counter()
    for case in cases:
        year = parse_entry(ReferenceText("", blanked(case.text))).year
        months = [id_month(i) for i in case.true_ids]
        if year is not None and len(months) == 1 and months[0] is not None:
            gaps[year - months[0].year] += 1
    total = sum(gaps.values()) or 1
    told = ", ".join(f"{gap:+d}: {n / total:.3f}" for gap, n in sorted(gaps.items()) if n / total >= 0.002)
    print(f"  printed year minus year of the id, {total} entries: {told}")


def _print_failure(case: Case, fields: ReferenceFields, result: Resolution, is_wrong: bool) -> None:
    print(
        f"  {'WRONG' if is_wrong else 'MISSED'} {case.document}: {sorted(case.true_ids)} by {case.evidence}, got {result.cited_id}"
    )
    print(f"      {case.text[:220]}")
    print(f"      title {fields.title!r}, year {fields.year}; {result.method}: {result.detail}")


def _printed(text: str) -> frozenset[str]:
    return frozenset(p.value for p in find_paper_ids(text) if p.scheme == "arxiv")


def _canonical(ids: Iterable[str]) -> frozenset[str]:
    found = set()
    for text in ids:
        try:
            found.add(parse_paper_id(text).value)
        except UnreadableId:
            continue
    return frozenset(found)


if __name__ == "__main__":
    main()
