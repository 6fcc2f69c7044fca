"""Asset checks of the contracts: every row as it is stored, at any size of the lake.

Writing checks what is written; this checks what is there, whoever wrote it. Delta's files never change: a file that
passed is not read again while contract and code are the same, so a check after a refresh costs what the refresh
changed. Rows are looked at a few partitions at a time, keys over the whole table. What the rows must fit is said in
`corpus.contracts`.
"""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import dagster as dg
import polars as pl

from assets.corpus_assets import arxiv_records, citations, human_outlines, papers
from assets.resources import House
from assets.survey_assets import digests, outline, survey, topic_pool
from assets.text_assets import paper_cards, topic_documents
from corpus.contracts.registry import CONTRACTS
from corpus.hashing import sources_hash, text_hash
from corpus.tables import Lake
from corpus.tables import check as check_frame
from ingestion.errors import LithouseError

TABLES = {
    "arxiv_records": arxiv_records,
    "papers": papers,
    "citations": citations,
    "human_outlines": human_outlines,
    "topic_pool": topic_pool,
    "documents": topic_documents,
    "sections": topic_documents,
    "passages": topic_documents,
    "bibliography": topic_documents,
    "paper_cards": paper_cards,
    "outlines": outline,
    "digests": digests,
    "surveys": survey,
}
_PART_BYTES = 16 * 2**20
"""Of the files, compressed, that one part of a table comes from: some 100 MB of rows."""


@dataclass(frozen=True)
class Checked:
    """What a check looked at.

    Attributes:
        rows: looked at now.
        doubled: rows that are stored twice: to a writer equal rows are one, stored twice they are a fault.
        message: the first breach, "" for none.
    """

    rows: int
    doubled: int = 0
    message: str = ""


def check_table(lake: Lake, table: str, memory: Path) -> Checked:
    """Check the rows of a table whose files have not passed yet, and the keys of all its rows.

    Args:
        memory: file that keeps the names of the files that passed.
    """
    version, contract = lake.version(table), CONTRACTS[table]
    files = lake.file_uris(table, version)
    rules = text_hash(f"{contract.version} {contract.arrow_schema} {sources_hash(('corpus/contracts',))}")
    passed = _passed(memory, rules)
    rows = 0
    try:
        for part in _parts(lake, table, version, [f for f in files if Path(f).name not in passed]):
            rows += len(part)
            check_frame(part, contract)
        doubled = _doubled(lake.scan(table, version), table)
    except LithouseError as error:
        return Checked(rows, message=error.message)
    if not doubled:
        _keep(memory, rules, files)
    return Checked(rows, doubled)


def _parts(lake: Lake, table: str, version: int | None, files: list[str]) -> Iterator[pl.DataFrame]:
    """The rows of these files, with others of their partitions; of a table without partitions all its rows."""
    if not files:
        return
    contract, scan = CONTRACTS[table], lake.scan(table, version)
    count = lake.row_count(table, version)
    size = sum(os.path.getsize(f) for f in lake.file_uris(table, version))
    most = max(1, round(_PART_BYTES * count / max(size, 1)))
    if not contract.partition_by:
        yield from (scan.slice(start, most).collect() for start in range(0, count, most))
        return
    [column] = contract.partition_by
    named = [p.partition("=")[2] for f in files for p in Path(f).parts if p.startswith(f"{column}=")]
    values = pl.Series(column, sorted(set(named)), dtype=pl.String)
    if contract.polars_schema[column] == pl.Date:
        values = values.str.to_date()
    scan = scan.filter(pl.col(column).is_in(values.implode()))
    part: list = []
    held = 0
    for value, rows in scan.group_by(column).len().sort(column).collect().iter_rows():
        if part and held + rows > most:
            yield scan.filter(pl.col(column).is_in(part)).collect()
            part, held = [], 0
        part.append(value)
        held += rows
    if part:
        yield scan.filter(pl.col(column).is_in(part)).collect()


def _doubled(scan: pl.LazyFrame, table: str) -> int:
    """Rows too many by their keys.

    Raises:
        ContractBreach: rows of one key differ.
    """
    keys = pl.struct(CONTRACTS[table].keys).hash().alias("hash")
    hashes = scan.select(keys).collect(engine="streaming").to_series()
    if hashes.n_unique() == len(hashes):
        return 0
    twice = hashes.filter(hashes.is_duplicated()).unique()
    rows = scan.filter(keys.is_in(twice.implode())).collect()
    return len(rows) - len(check_frame(rows, CONTRACTS[table]))


def _passed(memory: Path, rules: str) -> set[str]:
    try:
        held = json.loads(memory.read_text(encoding="utf-8"))
        return set(held["files"]) if held["rules"] == rules else set()
    except (OSError, ValueError, KeyError, TypeError):
        return set()


def _keep(memory: Path, rules: str, files: list[str]) -> None:
    memory.parent.mkdir(parents=True, exist_ok=True)
    draft = memory.with_suffix(f".{os.getpid()}.tmp")
    draft.write_text(json.dumps({"rules": rules, "files": sorted(Path(f).name for f in files)}), encoding="utf-8")
    draft.replace(memory)


def _contract_check(table: str, asset: dg.AssetsDefinition) -> dg.AssetChecksDefinition:
    name = "contract" if table in (asset.key.path[-1], f"{asset.key.path[-1]}s") else f"{table}_contract"

    @dg.asset_check(asset=asset, name=name, description=f"{table} has its contract's columns, types and rules.")
    def contract(house: dg.ResourceParam[House]) -> dg.AssetCheckResult:
        found = check_table(house.lake, table, house.path / "dagster" / "checked" / f"{table}.json")
        if found.message:
            return dg.AssetCheckResult(passed=False, metadata={"message": found.message})
        facts = {"rows_checked": found.rows, "rows": house.lake.row_count(table), "doubled": found.doubled}
        return dg.AssetCheckResult(passed=not found.doubled, metadata=facts)

    return contract


contract_checks = [_contract_check(table, asset) for table, asset in TABLES.items()]
