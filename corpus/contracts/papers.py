"""Contract of the papers, derived from the records by field precedence."""

import dataframely as dy

from corpus.contracts.contract import UTC, Contract


class Paper(dy.Schema):
    paper_id = dy.String(primary_key=True, description="Canonical id without version.")
    id_month = dy.Date(description="First day of the month in the id. Partition key, never a date.")
    title = dy.String(description="Title, cleaned.")
    abstract = dy.String(nullable=True, description="Abstract, cleaned; null where no source has one.")
    abstract_origin = dy.String(description="source, or summary by the project.")
    authors = dy.List(
        dy.String(), nullable=True, description="Persons in order; null where no source names any author."
    )
    collaborations = dy.List(
        dy.String(), nullable=True, description="Groups among the authors; null where no source names any author."
    )
    categories = dy.List(dy.String(), nullable=True, description="arXiv categories, primary first; null where unknown.")
    primary_category = dy.String(nullable=True, description="First category.")
    submitted_on = dy.Date(nullable=True, description="Day of the first version (UTC); null unless known.")
    submitted_latest = dy.Date(
        description="Latest day on which the first version can have been submitted; compared with cutoffs."
    )
    submitted_precision = dy.String(description="day, announced or month: what submitted_latest rests on.")
    updated_on = dy.Date(nullable=True, description="Day of the newest version known (UTC).")
    latest_version = dy.Int32(nullable=True, description="Newest version known; null where no source numbers versions.")
    versions = dy.List(
        dy.Struct({"number": dy.Int32(), "created_at": dy.Datetime(**UTC, nullable=True)}),
        nullable=True,
        description="Known versions with their times.",
    )
    is_withdrawn = dy.Bool(description="Withdrawn as of the newest version known.")
    withdrawn_evidence = dy.String(nullable=True, description="The sentence that says so.")
    doi = dy.String(nullable=True, description="DOI of the published version.")
    journal_ref = dy.String(nullable=True, description="Journal reference of the published version.")
    license = dy.String(nullable=True, description="Licence address.")
    comments = dy.String(nullable=True, description="Author comments.")
    field_sources = dy.List(
        dy.Struct({"field": dy.String(), "source": dy.String()}),
        description="Which source each known field came from.",
    )
    content_hash = dy.String(description="Hash of all cleaned values.")
    records_hash = dy.String(description="Hash of the records and the derivation this row was made from.")


PAPERS = Contract("papers", Paper, "paper, derived from the records by field precedence", ("id_month",))
