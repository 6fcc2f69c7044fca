"""Markdown that another tool made → blocks.

Here: reading CommonMark with pipe tables. Not here: any repair (see `document`).
"""

import re

from markdown_it import MarkdownIt
from markdown_it.token import Token

from ingestion.documents.structure.heading_candidates import is_title
from ingestion.documents.structure.numbering import numberings
from ingestion.documents.structure.tables import markdown_table, pipe_table
from ingestion.documents.structure.usual_titles import is_usual_title
from ingestion.documents.values import Block, RawDocument, Run

_HTML_TABLE = re.compile(r"<table\b.*?</table>", re.DOTALL | re.IGNORECASE)
_HTML_FOLDED = re.compile(r"<details\b.*?</details>", re.DOTALL | re.IGNORECASE)
_HTML_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_HTML_IMAGE = re.compile(r"<img\b[^<>]*>", re.IGNORECASE)
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_STYLES = {"strong": "bold", "em": "italic", "s": "strikethrough"}


def read_markdown(text: str) -> RawDocument:
    """The blocks of `text`, without pages and places. The first heading is the title if it bears no number and no other
    is as high, or the abstract or the first numbered section follows it."""
    parser = MarkdownIt("commonmark").enable("table")
    blocks: list[Block] = []
    levels: list[int] = []
    cut = text
    for pattern, closing in ((_HTML_FOLDED, "</details>"), (_HTML_COMMENT, "-->")):
        end = _after_last(closing, cut)
        cut = pattern.sub("", cut[:end]) + cut[end:]
    cut = _HTML_IMAGE.sub("", cut)
    at = 0
    for table in _HTML_TABLE.finditer(cut, 0, _after_last("</table>", cut)):
        _read(parser, cut[at : table.start()], blocks, levels)
        if cells := markdown_table(table[0]):
            blocks.append(Block("table", (), table=cells))
            levels.append(0)
        at = table.end()
    _read(parser, cut[at:], blocks, levels)
    return RawDocument(0, tuple(_with_title(blocks, levels)))


def _after_last(closing: str, text: str) -> int:
    """Beyond it no element is closed: every opening tag there would be followed to the end of the text."""
    return max((match.end() for match in re.finditer(closing, text, re.IGNORECASE)), default=0)


def _with_title(blocks: list[Block], levels: list[int]) -> list[Block]:
    first = next((i for i, block in enumerate(blocks) if block.kind == "heading"), None)
    if first is None or first > 2:
        return blocks
    text = blocks[first].text
    others = [block.text for block in blocks[first + 1 :] if block.kind == "heading" and block.text != text]
    again = sum(block.kind == "heading" and block.text == text for block in blocks)
    alone = sum(level == levels[first] for level in levels) == again
    # Tools that know one level only: what stands before the abstract or the first number is the title.
    leads = bool(others) and (is_usual_title(others[0]) or _is_numbered(others[0]))
    if (alone or again >= 3 or leads) and is_title(text) and not _is_numbered(text) and not is_usual_title(text):
        blocks[first] = Block("title", blocks[first].runs)
    return blocks


def _is_numbered(text: str) -> bool:
    return any(number.style == "arabic" for number, _ in numberings(text))


def _read(parser: MarkdownIt, text: str, blocks: list[Block], levels: list[int]) -> None:
    tokens = parser.parse(text)
    rows: list[list[str]] = []
    in_list = 0
    item_starts = False
    heading = 0
    in_table = False
    for token in tokens:
        match token.type:
            case "heading_open":
                heading = int(token.tag[1])
            case "heading_close":
                heading = 0
            case "bullet_list_open" | "ordered_list_open":
                in_list += 1
            case "bullet_list_close" | "ordered_list_close":
                in_list -= 1
            case "list_item_open":
                item_starts = True
                marker = f"{token.info}{token.markup} " if token.info else ""
            case "table_open":
                in_table, rows = True, []
            case "tr_open":
                rows.append([])
            case "table_close":
                in_table = False
                blocks.append(Block("table", (), table=pipe_table(rows)))
                levels.append(0)
            case "fence" | "code_block":
                blocks.append(Block("code", (Run(token.content),)))
                levels.append(0)
            case "html_block":
                if words := " ".join(_TAG.sub(" ", token.content).split()):
                    blocks.append(Block("text", (Run(words),)))
                    levels.append(0)
            case "inline":
                runs = _runs(token)
                if in_table:
                    rows[-1].append("".join(run.text for run in runs))
                    continue
                if not "".join(run.text for run in runs).strip():
                    continue
                if in_list and item_starts:
                    runs = (Run(marker), *runs) if marker else runs
                item_starts = False
                kind = "heading" if heading else "list" if in_list else "text"
                blocks.append(Block(kind, runs))
                levels.append(heading)


def _runs(token: Token) -> tuple[Run, ...]:
    runs: list[Run] = []
    styles: list[str] = []
    url: str | None = None
    for child in token.children or ():
        if child.type == "link_open":
            url = str(child.attrs.get("href") or "") or None
        elif child.type == "link_close":
            url = None
        elif child.type.endswith("_open") and child.tag in _STYLES:
            styles.append(_STYLES[child.tag])
        elif child.type.endswith("_close") and child.tag in _STYLES:
            styles.remove(_STYLES[child.tag])
        elif child.type in ("softbreak", "hardbreak"):
            runs.append(Run(" "))
        elif child.type == "html_inline":
            tag = child.content.lower()
            if tag in ("<sup>", "<sub>"):
                styles.append("superscript" if tag == "<sup>" else "subscript")
            elif tag in ("</sup>", "</sub>") and styles and styles[-1] in ("superscript", "subscript"):
                styles.pop()
            elif tag.startswith("<br"):
                runs.append(Run(" "))
        elif child.type in ("text", "code_inline", "text_special") and child.content:
            runs.append(Run(child.content, tuple(styles), url))
    return tuple(runs)
