"""Asset checks: what must hold of the lake whenever an asset was made."""

import dagster as dg
import polars as pl

from assets.contract_checks import contract_checks
from assets.corpus_assets import paper_index, papers
from assets.resources import House
from assets.survey_assets import survey
from assets.text_assets import topic_documents
from assets.topic_evidence import compare_topics
from corpus.snapshots import take_snapshot
from indexes.paper_index import PaperIndex

_DOCUMENTS = 100
"""Newest documents whose texts, sections, passages and entries are compared; a text is some 60 kB."""


def _result(culprits: list, what: str) -> dg.AssetCheckResult:
    return dg.AssetCheckResult(passed=not culprits, metadata={what: culprits[:20], "count": len(culprits)})


@dg.asset_check(asset=papers, description="Every paper has a record, every record a paper.")
def papers_match_records(house: dg.ResourceParam[House]) -> dg.AssetCheckResult:
    ids = house.lake.scan("papers").select("paper_id")
    recorded = house.lake.scan("arxiv_records").select("paper_id").unique()
    lost = pl.concat([ids.join(recorded, on="paper_id", how="anti"), recorded.join(ids, on="paper_id", how="anti")])
    return _result(lost.collect().to_series().to_list(), "without_counterpart")


@dg.asset_check(asset=paper_index, description="The index was built from the corpus as it is.")
def index_matches_snapshot(house: dg.ResourceParam[House]) -> dg.AssetCheckResult:
    snapshot = take_snapshot(house.lake)
    built = PaperIndex.open(house.path / "index").built_from
    passed = built is not None and built.snapshot == snapshot.content_hash
    return dg.AssetCheckResult(
        passed=passed, metadata={"corpus": snapshot.content_hash, "index": built.snapshot if built else "none"}
    )


_EMBEDDED_AT_REFRESH = 256
"""Papers embedded to compare topics, some 20 s of work: a refresh is no place for the minutes that a survey takes."""


@dg.asset_check(asset=paper_index, description="No topic's pool has changed since its survey was written.")
def surveys_are_current(context: dg.AssetCheckExecutionContext, house: dg.ResourceParam[House]) -> dg.AssetCheckResult:
    found = compare_topics(context.instance, house, _EMBEDDED_AT_REFRESH)
    odd = {c.topic: f"{c.state}: {c.cause}" for c in found if c.state != "fresh"}
    return dg.AssetCheckResult(
        passed=not odd, severity=dg.AssetCheckSeverity.WARN, metadata={"topics": len(found), "not_fresh": odd}
    )


def _cited(house: House) -> pl.LazyFrame:
    editions = house.lake.scan("surveys").select("topic", "edition", "cutoff")
    sentences = house.lake.scan("survey_sentences").select("topic", "edition", "number", "cited_ids")
    return sentences.join(editions, on=["topic", "edition"]).explode("cited_ids").drop_nulls("cited_ids")


_DOCUMENT = ["id_month", "paper_id", "sha256"]


def _of_newest(house: House, table: str, *columns: str) -> pl.DataFrame:
    """Rows of the newest parsed documents; only these are read, whatever the size of the lake."""
    parsed = house.lake.scan("documents").filter(pl.col("status") == "parsed")
    newest = parsed.select(*_DOCUMENT, "parsed_at").collect().sort("parsed_at").tail(_DOCUMENTS)
    scan = house.lake.scan(table).select(*_DOCUMENT, *columns)
    for column in ("id_month", "paper_id"):  # a join is not pushed down to the files
        scan = scan.filter(pl.col(column).is_in(newest[column].unique().to_list()))
    return scan.join(newest.lazy().select(_DOCUMENT), on=_DOCUMENT, how="semi").collect()


@dg.asset_check(asset=topic_documents, description="A parsed document has text, sections and passages.")
def parsed_documents_have_text(house: dg.ResourceParam[House]) -> dg.AssetCheckResult:
    rows = house.lake.scan("documents").filter(pl.col("status") == "parsed")
    bare = rows.filter((pl.col("section_count") == 0) | (pl.col("passage_count") == 0)).select("paper_id").collect()
    newest = _of_newest(house, "documents", "markdown")
    empty = newest.filter(pl.col("markdown").fill_null("").str.len_chars() == 0)
    return _result(sorted({*bare["paper_id"], *empty["paper_id"]}), "without_text")


@dg.asset_check(asset=topic_documents, description="A parsed document has as many rows in each table as it says.")
def documents_are_whole(house: dg.ResourceParam[House]) -> dg.AssetCheckResult:
    said = {"sections": "section_count", "passages": "passage_count", "bibliography": "reference_count"}
    documents = _of_newest(house, "documents", *said.values())
    culprits = []
    for table, column in said.items():
        there = _of_newest(house, table).group_by(_DOCUMENT).len()
        both = documents.drop_nulls(column).join(there, on=_DOCUMENT, how="left")
        wrong = both.filter(pl.col(column) != pl.col("len").fill_null(0))
        culprits += [f"{r['paper_id']}: {r['len'] or 0} of {r[column]} {table}" for r in wrong.to_dicts()]
    return _result(sorted(culprits), "not_whole")


@dg.asset_check(asset=topic_documents, description="Every passage stands in its document, character by character.")
def passages_stand_in_documents(house: dg.ResourceParam[House]) -> dg.AssetCheckResult:
    texts = {(r["paper_id"], r["sha256"]): r["markdown"] for r in _of_newest(house, "documents", "markdown").to_dicts()}
    rows = _of_newest(house, "passages", "passage_id", "start_char", "end_char", "text").to_dicts()
    moved = [
        r["passage_id"]
        for r in rows
        if (texts[r["paper_id"], r["sha256"]] or "")[r["start_char"] : r["end_char"]] != r["text"]
    ]
    return _result(moved, "elsewhere")


@dg.asset_check(asset=survey, description="Every citation names a paper of the lake.")
def citations_have_rows(house: dg.ResourceParam[House]) -> dg.AssetCheckResult:
    lost = _cited(house).join(house.lake.scan("papers"), left_on="cited_ids", right_on="paper_id", how="anti")
    return _result(lost.select("cited_ids").unique().collect().to_series().to_list(), "unknown")


@dg.asset_check(asset=survey, description="No citation is later than its edition's cutoff.")
def none_after_the_cutoff(house: dg.ResourceParam[House]) -> dg.AssetCheckResult:
    dated = house.lake.scan("papers").select("paper_id", "submitted_latest")
    late = (
        _cited(house)
        .join(dated, left_on="cited_ids", right_on="paper_id")
        .filter(pl.col("submitted_latest") > pl.col("cutoff"))
    )
    return _result(late.select("cited_ids").unique().collect().to_series().to_list(), "late")


@dg.asset_check(asset=survey, description="Every reference is cited, and every cited paper is a reference.")
def no_uncited_reference(house: dg.ResourceParam[House]) -> dg.AssetCheckResult:
    listed = (
        house.lake.scan("surveys")
        .select("topic", "edition", "reference_ids")
        .explode("reference_ids")
        .drop_nulls("reference_ids")
    )
    cited = _cited(house).select("topic", "edition", pl.col("cited_ids").alias("reference_ids")).unique()
    keys = ["topic", "edition", "reference_ids"]
    odd = pl.concat(
        [listed.join(cited, on=keys, how="anti").select(keys), cited.join(listed, on=keys, how="anti").select(keys)]
    )
    return _result(odd.select("reference_ids").collect().to_series().to_list(), "uncited_or_unlisted")


@dg.asset_check(asset=survey, description="No section is empty: it has sentences, or subsections that have.")
def no_empty_section(house: dg.ResourceParam[House]) -> dg.AssetCheckResult:
    sections = (
        house.lake.scan("survey_sections")
        .join(house.lake.scan("surveys"), on=["topic", "edition"], how="semi")
        .collect()
    )
    rows = list(sections.select("topic", "edition", "number", "words").iter_rows())
    parents = {(t, e, n.rpartition(".")[0]) for t, e, n, _ in rows}
    empty = [f"{t}@{e} {n}" for t, e, n, words in rows if not words and (t, e, n) not in parents]
    return _result(empty, "empty")


all_checks = [
    *contract_checks,
    papers_match_records,
    index_matches_snapshot,
    surveys_are_current,
    parsed_documents_have_text,
    documents_are_whole,
    passages_stand_in_documents,
    citations_have_rows,
    none_after_the_cutoff,
    no_uncited_reference,
    no_empty_section,
]
