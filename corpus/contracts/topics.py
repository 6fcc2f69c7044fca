"""Contracts of topics and of the papers retrieved for them."""

import dataframely as dy

from corpus.contracts.contract import UTC, Contract


class TopicRow(dy.Schema):
    topic = dy.String(
        primary_key=True,
        regex=r"^[a-z0-9-]+$",
        description="Key: slug, with cutoff or hash where the definition has them.",
    )
    title = dy.String(description="Title as given.")
    description = dy.String(description="Description, '' where none was given.")
    cutoff = dy.Date(
        nullable=True, description="Inclusive UTC day of a frozen topic; null: the topic follows the corpus."
    )
    inclusions = dy.List(dy.String(), description="Papers that must be in the pool.")
    exclusions = dy.List(dy.String(), description="Papers hidden from the topic.")
    pool_size = dy.Int32(description="Papers the pool may hold.", metadata={"unit": "papers"})
    has_withdrawn = dy.Bool(description="Withdrawn papers may be cited.")
    created_at = dy.Datetime(**UTC, description="When the topic was first named.")


class TopicPaper(dy.Schema):
    topic = dy.String(primary_key=True, description="Topic key.")
    paper_id = dy.String(primary_key=True, description="Paper in the pool.")
    rank = dy.Int32(description="Rank in the pool.", metadata={"unit": "from 1"})
    query = dy.String(description="Query that found it.")
    score = dy.Float64(description="Fused score (reciprocal ranks).")
    full_text_rank = dy.Int32(nullable=True, description="Rank by full text.", metadata={"unit": "from 1"})
    dense_rank = dy.Int32(nullable=True, description="Rank by similarity of embeddings.", metadata={"unit": "from 1"})
    similarity = dy.Float64(
        nullable=True, description="Cosine similarity to the topic; null where the paper has no text to embed."
    )
    citation_count = dy.Int64(
        description="Citing papers the topic may see, of edges that sources give.", metadata={"unit": "papers"}
    )
    reason = dy.String(
        description="full text, full text of key terms: …, citation neighbourhood, or asked for by the user."
    )
    content_hash = dy.String(description="Content of the paper when the pool was built.")


class EditionPaper(dy.Schema):
    topic = dy.String(primary_key=True, description="Topic key.")
    edition = dy.String(primary_key=True, description="Edition id.")
    paper_id = dy.String(primary_key=True, description="Paper.")
    origin = dy.String(description="pool, or asked_for by the method.")
    is_consulted = dy.Bool(description="Given to a writer operation.")
    is_cited = dy.Bool(description="Cited in the survey.")
    operations = dy.List(dy.String(), description="Writer operations that were shown the paper.")
    reason = dy.String(description="Why it was consulted, or why not.")


TOPICS = Contract("topics", TopicRow, "topic", ("topic",))
TOPIC_POOL = Contract("topic_pool", TopicPaper, "topic × paper of the pool builder's cut", ("topic",))
EDITION_PAPERS = Contract("edition_papers", EditionPaper, "edition × paper: consulted, cited, and why", ("topic",))
