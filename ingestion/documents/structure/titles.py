"""The title of a document.

Here: which block is it. Not here: headings.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from ingestion.comparison import title_key
from ingestion.documents.structure.numbering import numberings
from ingestion.documents.values import Block

_FILE_NAME = re.compile(r"microsoft word|untitled|\.(?:docx?|pdf|tex|dvi|indd|rtf)\b|^\S*$", re.IGNORECASE)


def document_title(blocks: Sequence[Block], metadata_title: str) -> tuple[str, list[Block]]:
    """The printed title, and the blocks without it; other blocks that claim to be titles become headings.

    Without a printed title the file's own is taken, unless it is a file's name; else "".
    """
    first = next(
        (i for i, b in enumerate(blocks) if b.kind == "title" and b.page in (1, None) and b.text.strip()), None
    )
    if first is None and metadata_title:
        wanted = title_key(metadata_title)
        first = next((i for i, b in enumerate(blocks) if b.page in (1, None) and title_key(b.text) == wanted), None)
    rest = [
        replace(block, kind="heading" if numberings(block.text) or block.page != 1 else "text")
        if block.kind == "title"
        else block
        for index, block in enumerate(blocks)
        if index != first
    ]
    if first is not None:
        return " ".join(blocks[first].text.split()), rest
    printed = " ".join(metadata_title.split())
    return ("" if _FILE_NAME.search(printed) else printed), rest
