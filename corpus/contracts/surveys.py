"""Contracts of a survey's stages: outline, digests, sections, sentences, editions."""

import dataframely as dy

from corpus.contracts.contract import UTC, Contract


class OutlineNode(dy.Schema):
    topic = dy.String(primary_key=True, description="Topic key.")
    edition = dy.String(primary_key=True, description="Edition id.")
    number = dy.String(primary_key=True, description='Place in the tree: "2", "2.1".')
    position = dy.Int32(description="Order of the node in the outline.", metadata={"unit": "from 1"})
    level = dy.Int16(description="1 for sections, 2 for subsections.")
    title = dy.String(description="Heading.")
    description = dy.String(description="What the node is about.")
    role = dy.String(description="introduction, body, open_problems or conclusion.")
    queries = dy.List(dy.String(), description="Sub-queries of the node.")
    memory = dy.List(dy.String(), description="Papers the sub-queries were made from (memory for sub-queries).")
    patterns = dy.List(dy.String(), description="Human outlines that shaped the node.")
    heading_origin = dy.String(
        description="Where the heading came from: a human outline, key phrases, the method, or the person who edited it."
    )
    author = dy.String(
        nullable=True,
        description="Who gave the outline: method, or person where it was edited; null in outlines of before this was kept.",
    )
    notes = dy.List(
        dy.Struct({"item": dy.String(), "reason": dy.String()}),
        nullable=True,
        description="What of the outline could not be made as it was planned; on its first node.",
    )


class DigestEntry(dy.Schema):
    topic = dy.String(primary_key=True, description="Topic key.")
    edition = dy.String(primary_key=True, description="Edition id.")
    number = dy.String(primary_key=True, description="Node of the outline.")
    paper_id = dy.String(primary_key=True, description="Paper retrieved for the node.")
    rank = dy.Int32(description="Rank in the node after reranking.", metadata={"unit": "from 1"})
    query = dy.String(description="Query that ranked it best.")
    similarity = dy.Float64(description="Cosine similarity to that query.")
    time_window = dy.String(description="Time window of the temporal-aware reranking, or unknown.")
    citation_count = dy.Int64(
        description="Citing papers the topic may see, of edges that sources give.", metadata={"unit": "papers"}
    )
    is_home = dy.Bool(description="The node is the paper's best place: it is written there first.")


class SurveySection(dy.Schema):
    topic = dy.String(primary_key=True, description="Topic key.")
    edition = dy.String(primary_key=True, description="Edition id.")
    number = dy.String(primary_key=True, description='Number as printed: "2", "2.1".')
    position = dy.Int32(description="Order in the survey.", metadata={"unit": "from 1"})
    level = dy.Int16(description="1 for sections, 2 for subsections.")
    title = dy.String(description="Heading.")
    words = dy.Int64(
        description="Words of the section's own text, without its subsections.", metadata={"unit": "words"}
    )
    paper_ids = dy.List(dy.String(), description="Papers cited in the section's own text.")


SPAN = dy.Struct(
    {
        "paper_id": dy.String(),
        "source": dy.String(),
        "passage_id": dy.String(nullable=True),
        "start": dy.Int64(),
        "end": dy.Int64(),
        "page": dy.Int32(nullable=True),
    }
)


class SurveySentence(dy.Schema):
    topic = dy.String(primary_key=True, description="Topic key.")
    edition = dy.String(primary_key=True, description="Edition id.")
    number = dy.Int32(primary_key=True, description="Number in the survey.", metadata={"unit": "from 1"})
    section = dy.String(description='Section as printed: "2.1".')
    paragraph = dy.Int32(description="Paragraph in the section.", metadata={"unit": "from 1"})
    place = dy.String(description="prose, list, table or caption.")
    kind = dy.String(description="quoted, adapted, composed or written.")
    text = dy.String(description="The sentence without citation tokens.")
    cited_ids = dy.List(dy.String(), description="Papers cited by the sentence.")
    spans = dy.List(
        SPAN,
        description="Where the words stand in the source (characters, end exclusive); of a written sentence, what in the cited papers bears it best.",
        metadata={"unit": "characters from 0"},
    )
    edits = dy.List(
        dy.Struct({"name": dy.String(), "start": dy.Int64(), "before": dy.String(), "after": dy.String()}),
        description="Named, reversible edits that make the sentence from its span; start counts in the span.",
    )
    template = dy.String(nullable=True, description="Template of a composed sentence.")
    rows = dy.List(
        dy.Struct({"name": dy.String(), "value": dy.String(), "query": dy.String(nullable=True)}),
        description="What a composed sentence states: name in the template, value, and the query that gives it.",
    )
    calls = dy.List(
        dy.String(),
        nullable=True,
        description="Of a written sentence: keys in language_model_calls of the calls that wrote it, the last one last; "
        "null in editions of before this was kept.",
    )
    checks = dy.List(
        dy.Struct(
            {
                "paper_id": dy.String(),
                "verdict": dy.String(),
                "similarity": dy.Float64(),
                "reason": dy.String(),
                "action": dy.String(),
                "judge": dy.String(),
            }
        ),
        nullable=True,
        description="Of a written sentence: each citation held against what its paper says. Verdict grounded, weak or "
        "ungrounded; similarity is the cosine to the nearest sentence of the paper that was shown; action kept, revised "
        "(written again), removed (the citation is gone) or refused (the paper was not shown, or none is cited where one is needed: paper_id is empty); judge rules, or a model. "
        "Null in editions of before this was kept.",
    )


class SurveyEdition(dy.Schema):
    topic = dy.String(primary_key=True, description="Topic key.")
    edition = dy.String(
        primary_key=True, description="Edition id: hash of definition, method, writer, parameters and inputs."
    )
    title = dy.String(description="Topic title.")
    method = dy.String(description="Method.")
    writer = dy.String(description="Writer.")
    parameters = dy.String(description="Parameters of method and writer, JSON.")
    cutoff = dy.Date(description="Inclusive UTC day used.")
    admitted_count = dy.Int64(description="Papers within the cutoff the topic may see.", metadata={"unit": "papers"})
    pool_count = dy.Int64(description="Papers in the pool.", metadata={"unit": "papers"})
    consulted_count = dy.Int64(description="Papers given to a writer operation.", metadata={"unit": "papers"})
    cited_count = dy.Int64(description="Papers cited.", metadata={"unit": "papers"})
    section_count = dy.Int32(description="Sections of level 1.", metadata={"unit": "sections"})
    sentence_count = dy.Int32(description="Sentences.", metadata={"unit": "sentences"})
    reference_ids = dy.List(dy.String(), description="Cited papers in order of first citation.")
    manifest = dy.List(
        dy.Struct({"table": dy.String(), "version": dy.Int64()}),
        description="Versions of the tables that were read and written.",
    )
    corpus_hash = dy.String(description="Content hash of the corpus snapshot whose index was read.")
    pool_hash = dy.String(description="Content hash of the pool.")
    cards_hash = dy.String(
        nullable=True,
        description="Content hash of the pool's cards, and so of the texts that were read; null in editions made before there were cards.",
    )
    full_text_count = dy.Int64(
        nullable=True, description="Papers of the pool that were read in full.", metadata={"unit": "papers"}
    )
    status = dy.String(description="complete or partial.")
    have_count = dy.Int32(
        nullable=True,
        description="Sections and subsections that were written; null in editions of before this was kept.",
        metadata={"unit": "sections"},
    )
    expected_count = dy.Int32(
        nullable=True,
        description="Sections and subsections of the outline that were to be written; null in editions of before this was kept.",
        metadata={"unit": "sections"},
    )
    is_resumable = dy.Bool(
        nullable=True,
        description="The same command may write what is missing; null in editions of before this was kept.",
    )
    grounding = dy.Struct(
        {"cited": dy.Int32(), "kept": dy.Int32(), "removed": dy.Int32(), "refused": dy.Int32()},
        nullable=True,
        description="What became of the citations of written sentences: given to papers that were shown, kept, removed "
        "since the paper does not bear the sentence, refused since the paper was not shown; null where no model wrote.",
        metadata={"unit": "citations"},
    )
    failures = dy.List(
        dy.Struct({"item": dy.String(), "reason": dy.String()}), description="Items that failed, with the reason."
    )
    notes = dy.List(
        dy.Struct({"item": dy.String(), "reason": dy.String()}),
        description="What was left out on purpose, with the reason.",
    )
    paths = dy.Struct(
        {"markdown": dy.String(), "html": dy.String(), "bibtex": dy.String()},
        description="Files, relative to LITHOUSE_HOME.",
    )
    input_tokens = dy.Int64(
        description="Tokens sent to a model for the edition; cards, which serve all editions, are apart.",
        metadata={"unit": "tokens"},
    )
    output_tokens = dy.Int64(description="Tokens that a model wrote for the edition.", metadata={"unit": "tokens"})
    cached_tokens = dy.Int64(
        description="Tokens of answers that were read from the ledger.", metadata={"unit": "tokens"}
    )
    cost = dy.Float64(nullable=True, description="Cost; null where no price is known.", metadata={"unit": "US dollars"})
    seconds = dy.Float64(description="Wall time of the stages.", metadata={"unit": "seconds"})
    run_id = dy.String(nullable=True, description="Dagster run that wrote it.")
    created_at = dy.Datetime(**UTC, description="When the edition was finished.")


OUTLINES = Contract("outlines", OutlineNode, "node of an edition's outline", ("topic",))
DIGESTS = Contract("digests", DigestEntry, "paper retrieved for a node of an edition's outline", ("topic",))
SURVEY_SECTIONS = Contract("survey_sections", SurveySection, "section of an edition", ("topic",))
SURVEY_SENTENCES = Contract("survey_sentences", SurveySentence, "sentence of an edition", ("topic",))
SURVEYS = Contract("surveys", SurveyEdition, "edition of a survey; written last", ("topic",))
