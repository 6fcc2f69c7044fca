"""Contracts of the papers' texts: documents, sections, passages, bibliography, cards."""

import dataframely as dy

from corpus.contracts.contract import UTC, Contract
from corpus.contracts.surveys import SPAN

_ID_MONTH = "First day of the month in the id. Partition key, never a date."
_SHA256 = "SHA-256 of the file; empty where there is no file, unread:… where the file could not be hashed."


class DocumentRow(dy.Schema):
    paper_id = dy.String(primary_key=True, description="Canonical id without version.")
    sha256 = dy.String(primary_key=True, description=_SHA256)
    id_month = dy.Date(description=_ID_MONTH)
    version = dy.Int32(nullable=True, description="Version of the paper in the file's name; null where it names none.")
    version_on = dy.Date(nullable=True, description="Day of that version (UTC); null where no source dates it.")
    source = dy.String(nullable=True, description="Source that holds the file, e.g. mirror:PATH.")
    file = dy.String(nullable=True, description="File, relative to the source.")
    size_bytes = dy.Int64(nullable=True, description="Size of the file.", metadata={"unit": "bytes"})
    modified_at = dy.Datetime(**UTC, nullable=True, description="When the file was last changed on disk.")
    copies = dy.List(
        dy.Struct(
            {
                "source": dy.String(),
                "file": dy.String(),
                "size_bytes": dy.Int64(),
                "modified_at": dy.Datetime(**UTC),
                "version": dy.Int32(nullable=True),
                "version_on": dy.Date(nullable=True),
            }
        ),
        nullable=True,
        description="Other files of the paper with the same content; the row's own is that of the lowest version.",
    )
    status = dy.String(
        description="parsed, abstract_only, not_yet, withdrawn, encrypted, corrupt, not_pdf, empty_file, "
        "no_text_layer, empty_text, timeout or too_large."
    )
    is_retryable = dy.Bool(description="The same file may give another status when it is parsed again.")
    advice = dy.String(description="What can be done about the status; empty for parsed.")
    notes = dy.List(dy.String(), description="What was repaired, cut or left out, for people.")
    parser = dy.String(nullable=True, description="Parser asked, with its version; null where there is no file.")
    tier = dy.String(nullable=True, description="Tier of the parser; null for parsers without.")
    derivation = dy.String(description="Version of the code that made this row of what the parser said.")
    title = dy.String(nullable=True, description="Title as printed in the file.")
    markdown = dy.String(nullable=True, description="The whole text as Markdown; null unless parsed.")
    page_count = dy.Int32(nullable=True, description="Pages of the file.", metadata={"unit": "pages"})
    section_count = dy.Int32(description="Rows in sections.", metadata={"unit": "sections"})
    passage_count = dy.Int32(description="Rows in passages.", metadata={"unit": "passages"})
    references_status = dy.String(
        nullable=True,
        description="parsed, missing (no reference list) or unparsed (a list that could not be split); null unless parsed.",
    )
    reference_count = dy.Int32(
        nullable=True,
        description="Rows in bibliography; null unless references were parsed.",
        metadata={"unit": "entries"},
    )
    content_hash = dy.String(description="Hash of text, structure and entries.")
    seconds = dy.Float64(description="Wall time of parsing.", metadata={"unit": "seconds"})
    parsed_at = dy.Datetime(**UTC, description="When the row was made.")


class SectionRow(dy.Schema):
    paper_id = dy.String(primary_key=True, description="Canonical id without version.")
    sha256 = dy.String(primary_key=True, description="SHA-256 of the file.")
    position = dy.Int32(primary_key=True, description="Order in the document.", metadata={"unit": "from 1"})
    id_month = dy.Date(description=_ID_MONTH)
    number = dy.String(nullable=True, description='Number as printed: "3.1", "A.2"; null for unnumbered headings.')
    title = dy.String(description="Heading without its number; empty for what stands before the first one.")
    level = dy.Int16(description="1 for sections.")
    path = dy.List(dy.String(), description="Headings from the outermost to this one.")
    page = dy.Int32(nullable=True, description="Page of the heading; null where unknown.", metadata={"unit": "from 1"})
    start_char = dy.Int64(description="Where the text below the heading begins in documents.markdown.",
                     metadata={"unit": "characters from 0"})  # fmt: skip
    end_char = dy.Int64(description="Where it ends, exclusive.", metadata={"unit": "characters from 0"})
    text = dy.String(description="The section's own text, without that of its subsections.")


class PassageRow(dy.Schema):
    passage_id = dy.String(primary_key=True, description="Id of the passage: paper, file and place.")
    paper_id = dy.String(description="Canonical id without version.")
    sha256 = dy.String(description="SHA-256 of the file.")
    id_month = dy.Date(description=_ID_MONTH)
    position = dy.Int32(description="Order in the document.", metadata={"unit": "from 1"})
    section = dy.Int32(description="Position of its section.", metadata={"unit": "from 1"})
    section_number = dy.String(nullable=True, description="Number of its section as printed.")
    section_path = dy.List(dy.String(), description="Headings from the outermost section to its own.")
    kind = dy.String(description="prose, caption, table, or fragment (too little to be found or quoted).")
    label = dy.String(description='"Figure 2", "Table 1" for captions; empty elsewhere.')
    page = dy.Int32(nullable=True, description="Page on which it begins; null where unknown.",
                    metadata={"unit": "from 1"})  # fmt: skip
    start_char = dy.Int64(description="Where it begins in documents.markdown.", metadata={"unit": "characters from 0"})
    end_char = dy.Int64(description="Where it ends, exclusive.", metadata={"unit": "characters from 0"})
    text = dy.String(description="The passage, exactly as in documents.markdown.")


class BibliographyRow(dy.Schema):
    paper_id = dy.String(primary_key=True, description="Paper whose reference list it is.")
    sha256 = dy.String(primary_key=True, description="SHA-256 of the file.")
    position = dy.Int32(primary_key=True, description="Order in the list.", metadata={"unit": "from 1"})
    id_month = dy.Date(description=_ID_MONTH)
    label = dy.String(description='Label as printed, without brackets: "12", "Lew20"; empty for lists without labels.')
    text = dy.String(description="The entry as printed.")
    authors = dy.List(dy.String(), description="Authors as printed; empty where none were recognised.")
    title = dy.String(nullable=True, description="Title; null where none was recognised.")
    year = dy.Int32(nullable=True, description="Year; null where none was recognised.")
    venue = dy.String(nullable=True, description="Journal, book or conference; null where none was recognised.")
    arxiv_id = dy.String(nullable=True, description="arXiv id in the text.")
    doi = dy.String(nullable=True, description="DOI in the text.")
    urls = dy.List(dy.String(), description="Addresses in the text, and those its links lead to.")
    page = dy.Int32(nullable=True, description="Page on which it begins; null where unknown.",
                    metadata={"unit": "from 1"})  # fmt: skip
    cited_id = dy.String(nullable=True, description="Paper it was resolved to; null where it was not.")
    method = dy.String(description="How it was resolved, or why it was not.")
    certainty = dy.Float64(description="How surely, 0 to 1; 0 where it was not resolved.")
    detail = dy.String(
        description="What does not quite agree, or what stood against a match; empty where all is plain."
    )
    corpus_hash = dy.String(
        nullable=True, description="Hash of the papers it was compared with, and of the code; null before."
    )
    contexts = dy.List(
        dy.Struct({"text": dy.String(), "page": dy.Int32(nullable=True), "start": dy.Int64(), "end": dy.Int64()}),
        description="Sentences of the text that cite it, with their characters in documents.markdown.",
        metadata={"unit": "characters from 0"},
    )


CARD_ITEM = dy.Struct({"text": dy.String(), "spans": dy.List(SPAN)})
CARD_SUPPORT = dy.Struct({"field": dy.String(), "position": dy.Int32(), "support": dy.String(), "score": dy.Float64()})


class PaperCardRow(dy.Schema):
    card_id = dy.String(
        primary_key=True, description="Hash of writer, its version, and all that the card was made from."
    )
    paper_id = dy.String(description="Canonical id without version.")
    id_month = dy.Date(description=_ID_MONTH)
    writer = dy.String(description="Writer that made it.")
    writer_version = dy.String(description="Version of the writer's rules or templates.")
    made_from = dy.String(description="full text, or abstract.")
    sha256 = dy.String(description=_SHA256)
    contributions = dy.List(CARD_ITEM, description="What the paper says it contributes, with where it says so.")
    methods = dy.List(CARD_ITEM, description="How, with where it says so.")
    findings = dy.List(CARD_ITEM, description="What it found, with where it says so.")
    limitations = dy.List(CARD_ITEM, description="What it says it does not do, with where it says so.")
    status = dy.String(
        nullable=True,
        description="written, or failed: there is no card then; null in rows of before, which are written.",
    )
    failure = dy.String(nullable=True, description="Why there is no card; null where there is one.")
    is_retryable = dy.Bool(
        nullable=True, description="Whether the next run asks for it again; null where there is a card."
    )
    calls = dy.List(
        dy.String(), nullable=True, description="Keys in language_model_calls of the calls that wrote it, in order."
    )
    flags = dy.List(
        dy.String(),
        nullable=True,
        description="Places of the paper's text that try to instruct whoever reads it, which were withheld.",
    )
    supports = dy.List(
        CARD_SUPPORT,
        nullable=True,
        description="For each item how its spans say it: exact, fuzzy (nearly the same words, score from .9), or "
        "unsupported; null in rows of before, where all are exact.",
        metadata={"unit": "score: 0 to 1"},
    )
    created_at = dy.Datetime(**UTC, description="When it was made.")


_MONTH = ("id_month",)
DOCUMENTS = Contract(
    "documents", DocumentRow, "parsed file of a paper version, or the reason why there is none", _MONTH
)
SECTIONS = Contract("sections", SectionRow, "section of a document", _MONTH)
PASSAGES = Contract("passages", PassageRow, "retrievable passage of a document, with characters and page", _MONTH)
BIBLIOGRAPHY = Contract(
    "bibliography", BibliographyRow, "entry in a paper's reference list, and what it resolves to", _MONTH
)
PAPER_CARDS = Contract("paper_cards", PaperCardRow, "card of a paper by one writer", _MONTH)
