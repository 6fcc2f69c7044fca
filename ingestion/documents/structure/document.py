"""Blocks as they lie on pages → a document with headings, paragraphs, captions, tables and references.

Here: the order of the repairs. Not here: any single one.
"""

from dataclasses import replace

from ingestion.documents.structure.characters import cleaned, with_whole_words
from ingestion.documents.structure.furniture import without_furniture
from ingestion.documents.structure.grids import with_grids
from ingestion.documents.structure.headings import with_headings
from ingestion.documents.structure.markdown_reader import read_markdown
from ingestion.documents.structure.paragraphs import paragraphs, plain
from ingestion.documents.structure.reading_order import in_reading_order
from ingestion.documents.structure.reference_list import with_references
from ingestion.documents.structure.rendering import rendered
from ingestion.documents.structure.titles import document_title
from ingestion.documents.values import Document, RawDocument


def structured(raw: RawDocument) -> Document:
    """The document that `raw` shows. Every block of text is in it, except page furniture and the insides of figures.

    Link destinations, where the file has them, decide between readings; nothing needs them.
    """
    blocks, notes = cleaned(raw.blocks)
    title, blocks = document_title(blocks, raw.title)
    blocks = with_grids(in_reading_order(without_furniture(blocks, title)))
    blocks = with_whole_words(blocks)
    elements = with_headings(blocks, raw.destinations)
    words = frozenset(word.strip(".,;:()").lower() for block in blocks for word in plain(block.runs).split())
    found = with_references(elements, raw.destinations)
    markdown, sections, parts = rendered(title, paragraphs(found.elements, words))
    return Document(
        title=title,
        markdown=markdown,
        sections=sections,
        parts=parts,
        references=found.entries,
        references_status=found.status,
        page_count=raw.page_count,
        notes=tuple(notes),
    )


def from_markdown(text: str) -> Document:
    """The same for a tool that gives Markdown: pages are unknown, `page_count` is 0."""
    return structured(replace(read_markdown(text), page_count=0))
