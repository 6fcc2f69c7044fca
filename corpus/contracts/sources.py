"""Contracts of what sources said: records, harvests, refusals, outlines and edges."""

import dataframely as dy

from corpus.contracts.contract import UTC, Contract


class ArxivRecord(dy.Schema):
    source = dy.String(primary_key=True, description="Source that said it, e.g. mirror:FOLDER.")
    paper_id = dy.String(primary_key=True, description="Canonical id without version.")
    id_month = dy.Date(
        description="First day of the month in the id; of the date for other ids. Partition key, never a date."
    )
    source_id = dy.String(description="The id as the source wrote it.")
    version = dy.Int32(nullable=True, description="Version named by the source's id, null where it names none.")
    title = dy.String(description="Title as the source wrote it.")
    abstract = dy.String(nullable=True, description="Abstract as the source wrote it.")
    authors = dy.String(nullable=True, description="Authors as the source wrote them.")
    categories = dy.String(nullable=True, description="Categories as the source wrote them.")
    comments = dy.String(nullable=True, description="Author comments.")
    journal_ref = dy.String(nullable=True, description="Journal reference.")
    doi = dy.String(nullable=True, description="DOI of the published version.")
    license = dy.String(nullable=True, description="Licence address.")
    versions = dy.List(
        dy.Struct({"version": dy.String(nullable=True), "created": dy.String(nullable=True)}, nullable=True),
        nullable=True,
        description="Versions as the source wrote them.",
    )
    update_date = dy.String(nullable=True, description="Date field of the source; date_kind says of what.")
    date_kind = dy.String(nullable=True, description="published, announced, s2-publication, updated, or null: unknown.")
    abstract_origin = dy.String(description="source, or summary by the project.")
    source_file = dy.String(description="File the record came from, relative to the source.")
    source_line = dy.Int64(description="Line (JSONL) or row (Parquet) when harvested.", metadata={"unit": "from 1"})
    content_hash = dy.String(description="Hash of everything the source said of the paper.")
    harvest_id = dy.String(description="Harvest in which file and line were noted.")
    harvested_at = dy.Datetime(**UTC, description="When this content was first harvested.")


class Harvest(dy.Schema):
    harvest_id = dy.String(primary_key=True, description="Id of the harvest.")
    source = dy.String(description="Source harvested.")
    cutoff = dy.Date(nullable=True, description="Inclusive UTC day asked for; null for side data.")
    started_at = dy.Datetime(**UTC, description="Start.")
    finished_at = dy.Datetime(**UTC, description="End.")
    months = dy.List(dy.Date(), description="Id months seen.")
    watermark = dy.Date(nullable=True, description="Newest id month seen.")
    have_count = dy.Int64(description="Records read and kept.", metadata={"unit": "records"})
    expected_count = dy.Int64(
        nullable=True,
        description="Records the source says it has; null where it does not say.",
        metadata={"unit": "records"},
    )
    added_count = dy.Int64(description="Papers new in papers.", metadata={"unit": "papers"})
    changed_count = dy.Int64(description="Papers whose content changed.", metadata={"unit": "papers"})
    unchanged_count = dy.Int64(description="Papers seen and unchanged.", metadata={"unit": "papers"})
    removed_count = dy.Int64(
        description="Papers this source no longer has and no other source holds.", metadata={"unit": "papers"}
    )
    rejected_count = dy.Int64(
        description="Records refused, with a row each in rejected_records.", metadata={"unit": "records"}
    )
    commit_count = dy.Int64(description="Commits to tables other than harvests.", metadata={"unit": "commits"})
    status = dy.String(description="complete, partial, or open: begun and not finished.")
    failures = dy.List(
        dy.Struct({"item": dy.String(), "reason": dy.String()}), description="What could not be read, with the reason."
    )
    files = dy.List(
        dy.Struct({"path": dy.String(), "sha256": dy.String(), "size_bytes": dy.Int64()}),
        description="Files read, relative to the source, with their SHA-256.",
    )
    run_id = dy.String(nullable=True, description="Dagster run.")
    as_of = dy.Date(
        nullable=True, description="Newest day that any record of the source names; it knows of nothing later."
    )
    records_version = dy.Int64(
        nullable=True, description="Version of arxiv_records that papers was up to date with; null where unknown."
    )
    papers_version = dy.Int64(nullable=True, description="Version of papers at that moment.")
    derivation = dy.String(nullable=True, description="Hash of the rules by which papers were derived then.")


class RejectedRecord(dy.Schema):
    source = dy.String(primary_key=True, description="Source of the record.")
    source_file = dy.String(primary_key=True, description="File, relative to the source.")
    source_line = dy.Int64(primary_key=True, description="Line or row in the file.", metadata={"unit": "from 1"})
    raw_id = dy.String(nullable=True, description="The id as written, null where there is none.")
    reason = dy.String(description="Why it was refused.")
    raw = dy.String(description="The record as written, at most 2,000 characters.")
    rejected_at = dy.Datetime(**UTC, description="When it was refused.")


class HumanOutline(dy.Schema):
    outline_id = dy.String(primary_key=True, description="Paper id of the survey, else a hash of title and headings.")
    position = dy.Int32(
        primary_key=True, description="Order of the heading in the outline.", metadata={"unit": "from 1"}
    )
    source = dy.String(description="File imported.")
    paper_id = dy.String(nullable=True, description="The survey's paper id.")
    title = dy.String(nullable=True, description="The survey's title.")
    level = dy.Int16(description="Depth of the heading, 1 for sections.")
    heading = dy.String(description="Heading without its number.")
    content_hash = dy.String(description="Hash of the whole outline.")


class Citation(dy.Schema):
    citing_id = dy.String(primary_key=True, description="Paper that cites.")
    cited_id = dy.String(primary_key=True, description="Paper cited.")
    sources = dy.List(dy.String(), description="Sources that know the edge, sorted.")
    contexts = dy.List(dy.String(), description="Sentences in which the citation stands.")


ARXIV_RECORDS = Contract("arxiv_records", ArxivRecord, "what one source said of one paper", ("id_month",))
HARVESTS = Contract("harvests", Harvest, "harvest of a source")
REJECTED_RECORDS = Contract("rejected_records", RejectedRecord, "record refused, with the reason")
HUMAN_OUTLINES = Contract("human_outlines", HumanOutline, "heading of a human-written survey's outline")
CITATIONS = Contract("citations", Citation, "edge citing → cited, with the sources that know it")
