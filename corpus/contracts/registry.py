"""All tables of the lake, by name."""

from corpus.contracts import documents, language_models, papers, sources, surveys, topics
from corpus.contracts.contract import Contract

CONTRACTS: dict[str, Contract] = {
    contract.name: contract
    for contract in (
        sources.ARXIV_RECORDS,
        sources.HARVESTS,
        sources.REJECTED_RECORDS,
        papers.PAPERS,
        sources.HUMAN_OUTLINES,
        sources.CITATIONS,
        documents.DOCUMENTS,
        documents.SECTIONS,
        documents.PASSAGES,
        documents.BIBLIOGRAPHY,
        documents.PAPER_CARDS,
        topics.TOPICS,
        topics.TOPIC_POOL,
        topics.EDITION_PAPERS,
        surveys.OUTLINES,
        surveys.DIGESTS,
        surveys.SURVEY_SECTIONS,
        surveys.SURVEY_SENTENCES,
        surveys.SURVEYS,
        language_models.LANGUAGE_MODEL_CALLS,
    )
}
