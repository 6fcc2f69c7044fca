"""From blocks as they lie on pages to a document: headings, paragraphs, captions, tables, the reference list."""
