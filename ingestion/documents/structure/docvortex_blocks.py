"""The result of docvortex → `RawDocument`.

Here: docvortex's block types, content runs and table HTML in our own values. Not here: any repair of what it says
(see `document`), starting it, reading PDFs.

The payload is what the parsing process hands over as JSON:

    {"document": docvortex_result.to_dict(), "page_count": int, "title": str,
     "destinations": [[name, page from 1, x or null, y or null], …]}
"""

from collections.abc import Iterator

from ingestion.documents.structure.tables import markdown_table
from ingestion.documents.values import Block, BlockKind, Box, Destination, RawDocument, Run
from ingestion.errors import BadInput

_KINDS: dict[str, BlockKind] = {
    "doc_title": "title",
    "paragraph_title": "heading",
    "text": "text",
    "abstract": "text",
    "list": "list",
    "ref_text": "reference",
    "table": "table",
    "image": "figure",
    "chart": "figure",
    "equation": "equation",
    "code": "code",
    "page_footnote": "footnote",
    "header": "furniture",
    "footer": "furniture",
    "page_number": "furniture",
    "aside_text": "furniture",
    # A table of contents: its lines repeat the headings.
    "index": "furniture",
}
_CAPTIONS = ("table_caption", "image_caption", "chart_caption", "code_caption")
_NOTES = ("table_footnote", "image_footnote", "chart_footnote", "code_footnote")


def raw_document(payload: dict) -> RawDocument:
    """What docvortex says of a file. Block types that we do not know are read as text.

    Raises:
        BadInput: the payload is not of the form above.
    """
    try:
        pages = payload["document"]["pages"]
        blocks = tuple(block for page in pages for block in _blocks(page))
        destinations = tuple(Destination(*entry) for entry in payload["destinations"])
        return RawDocument(payload["page_count"], blocks, destinations, payload["title"] or "")
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise BadInput(
            "The parser's result does not have the expected form",
            which=f"{type(error).__name__}: {error}",
            advice="Check that the installed docvortex is the pinned one.",
        ) from error


def _blocks(page: dict) -> Iterator[Block]:
    number = page["page_idx"] + 1
    for block in page["blocks"]:
        kind = _KINDS.get(block["type"], "text")
        box = _box(block)
        parts = [p for p in block["content"] if isinstance(p, dict)] if isinstance(block["content"], list) else []
        caption = _joined(p["content"] for p in parts if p.get("type") in _CAPTIONS)
        continues = bool(block.get("continues_prev"))
        match kind:
            case "table":
                yield Block(kind, (), number, box, caption, table=_table(parts))
            case "figure":
                # The characters inside a figure are labels of axes and boxes, in no reading order.
                yield Block(kind, (), number, box, caption)
            case "code":
                yield Block(
                    kind, _joined(p["content"] for p in parts if p["type"] == "code_body"), number, box, caption
                )
            case "list":
                for item in parts:
                    if item.get("type") in ("text", "hyperlink") and not isinstance(item["content"], list):
                        yield Block(kind, tuple(_runs(block["content"])), number, box, continues=continues)
                        break
                    yield Block(kind, tuple(_runs(item["content"])), number, _box(item) or box)
            case _:
                yield Block(kind, tuple(_runs(block["content"])), number, box, continues=continues)
        for part in parts:
            if part.get("type") in _NOTES:
                yield Block("footnote", tuple(_runs(part["content"])), number, _box(part) or box)


def _box(block: dict) -> Box | None:
    box = block.get("bbox")
    return (float(box[0]), float(box[1]), float(box[2]), float(box[3])) if box else None


def _joined(contents: Iterator[list | str]) -> tuple[Run, ...]:
    runs: list[Run] = []
    for content in contents:
        runs += [Run("\n"), *_runs(content)] if runs else _runs(content)
    return tuple(runs)


def _runs(content: list | str, url: str | None = None) -> Iterator[Run]:
    if isinstance(content, str):
        if content:
            yield Run(content, (), url)
        return
    for piece in content:
        inner = piece["content"]
        link = piece.get("url") or url
        if isinstance(inner, list):
            yield from _runs(inner, link)
        elif inner:
            yield Run(inner, tuple(piece.get("styles", ())), link)


def _table(parts: list[dict]) -> str:
    return "\n\n".join(filter(None, (markdown_table(p["content"]) for p in parts if p.get("type") == "table_body")))
