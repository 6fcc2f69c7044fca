"""What parsers said of files, kept: a change of our own code reads it again instead of parsing again.

One file for each content and parser, named by the SHA-256 of the paper's file; written whole or not at all. Parsing a
paper takes seconds, making a document of what was said a fraction of one. Nothing here is authoritative: a file that
is absent or cannot be read only means that the paper's file is parsed again.
"""

import gzip
import os
import re
import zlib
from dataclasses import dataclass
from pathlib import Path

import orjson

from ingestion.documents.structure.document import from_markdown, structured
from ingestion.documents.structure.docvortex_blocks import raw_document
from ingestion.documents.values import Document


@dataclass(frozen=True)
class RawText:
    """What a parser said of one file.

    Attributes:
        payload: as `docvortex_blocks.raw_document` takes it, or `{"markdown": text}` of a program that gives Markdown.
        page_count: of the file; None where unknown.
        notes: of the parsing, not of what is made of it.
    """

    payload: dict
    page_count: int | None
    notes: tuple[str, ...]


def document_of(payload: dict, page_count: int | None) -> Document:
    """The document that a parser's words make.

    Raises:
        BadInput: the payload is none.
    """
    if "markdown" in payload:
        document = from_markdown(payload["markdown"])
        return document if page_count is None else Document(**{**vars(document), "page_count": page_count})
    return structured(raw_document(payload))


def packed(text: RawText) -> bytes:
    return gzip.compress(orjson.dumps([text.payload, text.page_count, text.notes]), compresslevel=6, mtime=0)


def unpacked(data: bytes) -> RawText:
    """Raises ValueError where the data is not whole."""
    try:
        payload, page_count, notes = orjson.loads(gzip.decompress(data))
    except (OSError, EOFError, TypeError, zlib.error) as error:
        raise ValueError(f"not a kept parser's result: {error}") from error
    if not isinstance(payload, dict) or not isinstance(notes, list):
        raise ValueError("not a kept parser's result: of another form")
    return RawText(payload, page_count, tuple(notes))


@dataclass(frozen=True)
class RawStore:
    """Kept results below one folder."""

    folder: Path

    def path(self, sha256: str, parser: str, tier: str) -> Path:
        """Where a result lies, e.g. `docvortex-0.6.4/ab/ab12….json.gz`."""
        return self._of(parser, tier) / sha256[:2] / f"{sha256}.json.gz"

    def holds(self, parser: str, tier: str) -> bool:
        """Whether anything of this parser may be kept."""
        return self._of(parser, tier).is_dir()

    def _of(self, parser: str, tier: str) -> Path:
        return self.folder / re.sub(r"[^A-Za-z0-9.]+", "-", f"{parser} {tier}".strip())

    def get(self, sha256: str, parser: str, tier: str) -> RawText | None:
        """What the parser said of a file; None where that is not kept, or not whole."""
        try:
            return unpacked(self.path(sha256, parser, tier).read_bytes())
        except (OSError, ValueError):
            return None

    def put(self, sha256: str, parser: str, tier: str, data: bytes) -> None:
        """Keep `packed` data.

        Raises:
            OSError: it cannot be written.
        """
        target = self.path(sha256, parser, tier)
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = target.with_name(f".{target.name}.{os.getpid()}")
        draft.write_bytes(data)
        draft.replace(target)
