"""Blocks → paragraphs: what a column or page break divides is joined, figures and notes in between stand after.

Here: the text of runs, joining, hyphens at breaks. Not here: headings, references.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ingestion.documents.structure.captions import caption_label, is_caption
from ingestion.documents.structure.headings import Element, Heading
from ingestion.documents.values import Block, PartKind, Run

_FLOATS = ("figure", "table", "footnote", "code")
_LEAST_WORDS = 8
_LONGEST_WORD = 100
_CODE = re.compile(
    r"(?:\d{1,3}\s+)?(?:>>>\s|(?:from|import)\s+\w+(?:\s*\.\s*\w+)*\s+import\s|def\s+\w+\s*\(|import\s+\w+\s*$)"
)
_MATH = re.compile(r"[=∑∏∫√≤≥≈∈←→∇∂×·◦^∞\U0001D400-\U0001D7FF]")
_BULLET = re.compile(r"\s*[•●▪◦‣∙·■□–]\s+")
_FOOTNOTE_MARK = re.compile(r"^(\d{1,2}|[∗*†‡§¶‖])(?=[^\W\d_]|[(“\"])")
_ITEM = re.compile(r"\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})[.)]\s")
_MARK = re.compile(r"[\d,∗*†‡§¶‖\s]{1,6}|[a-z]")
_ENDS = re.compile(r"[.?!:;…][\"”’')\]]*\s*$")


@dataclass(frozen=True)
class Paragraph:
    """A piece of the text, ready to be written.

    Attributes:
        text: on one line, except for tables and code.
        block: where it comes from, for those that need its place.
    """

    kind: PartKind
    text: str
    page: int | None
    label: str = ""
    block: Block | None = None


def paragraphs(elements: Sequence[Element], words: frozenset[str]) -> list[Heading | Paragraph]:
    """`words` are the document's own, lower case: they tell whether a word at a break keeps its hyphen."""
    done: list[Heading | Paragraph] = []
    open_at: int | None = None
    floats_since = False
    for element in elements:
        if isinstance(element, Heading):
            done.append(element)
            open_at = None
            continue
        block = element
        text = plain(block.runs)
        label = caption_label(text)
        if block.kind in _FLOATS or (block.kind == "text" and label and is_caption(text, _begins_bold(block))):
            note = _open_note(done) if block.kind == "footnote" else None
            if note is not None and text[:1].islower():
                done[note] = replace(done[note], text=joined(done[note].text, text, words))  # type: ignore[union-attr]
            else:
                done += _float(block, text, label)
            floats_since = True
            continue
        if block.kind == "equation" or (block.kind == "text" and _is_formula(text)):
            done.append(Paragraph("equation", text, block.page, block=block))
            open_at = None
            continue
        if block.kind == "text" and _CODE.match(text):
            done.append(Paragraph("code", text, block.page, block=block))
            floats_since = True
            continue
        if not text:
            continue
        if block.kind == "reference":
            done.append(Paragraph("reference", text, block.page, block=block))
            open_at = None
            continue
        before = done[open_at] if open_at is not None else None
        if isinstance(before, Paragraph) and _goes_on(before, block, text, floats_since):
            done[open_at] = replace(before, text=joined(before.text, text, words), block=block)  # type: ignore[index]
            floats_since = False
            continue
        bullet = _BULLET.match(text)
        kind: PartKind = "paragraph"
        if bullet or block.kind == "list":
            kind, text = "list", text[bullet.end() :] if bullet else text
        floats_since = False
        items = _numbered_items(text)
        done += [Paragraph(kind, item, block.page, block=block) for item in items]
        open_at = len(done) - 1
    return done


def _numbered_items(text: str) -> list[str]:
    """Items "3. … 4. … 5. …" in one block of text."""
    first = re.match(r"(\d{1,2})[.)]\s", text)
    items = [text]
    while first:
        after = re.search(rf"(?<=[.;?!\])])\s+(?={int(first[1]) + len(items)}[.)]\s+[A-Z])", items[-1])
        if not after:
            break
        items[-1:] = [items[-1][: after.start()], items[-1][after.end() :]]
    return items


def _open_note(done: Sequence[Heading | Paragraph]) -> int | None:
    """The last footnote, if it breaks off: its rest stands at the foot of the next page."""
    for index in range(len(done) - 1, -1, -1):
        element = done[index]
        if isinstance(element, Paragraph) and element.kind == "footnote":
            return None if _ENDS.search(element.text) else index
    return None


def _float(block: Block, text: str, label: str) -> list[Paragraph]:
    caption = plain(block.caption)
    made = []
    if caption:
        made.append(Paragraph("caption", caption, block.page, caption_label(caption), block))
    if block.kind == "table" and block.table:
        made.append(Paragraph("table", block.table, block.page, block=block))
    elif block.kind == "code" and text:
        made.append(Paragraph("code", "".join(run.text for run in block.runs).strip("\n"), block.page, block=block))
    elif block.kind == "footnote" and text:
        made.append(Paragraph("footnote", _FOOTNOTE_MARK.sub(r"\1 ", text), block.page, block=block))
    elif block.kind == "text":
        made.append(Paragraph("caption", text, block.page, label, block))
    return made


def _is_formula(text: str) -> bool:
    """Signs and variables without a word of plain letters."""
    return not re.search(r"[A-Za-zÀ-ɏ]{4}", text) and bool(_MATH.search(text))


def _begins_bold(block: Block) -> bool:
    return bool(block.runs) and "bold" in block.runs[0].styles


def _goes_on(before: Paragraph, block: Block, text: str, floats_since: bool) -> bool:
    if _BULLET.match(text) or block.kind not in ("text", "list") or (block.kind == "list" and not block.continues):
        return False
    last = before.block
    breaks = floats_since or last is None or last.page != block.page or _is_other_column(last, block)
    end = before.text[-_LONGEST_WORD:]
    if _ENDS.search(end):
        # A whole sentence: only the parser's word, and only at a break, joins another to it.
        return block.continues and breaks and not _ITEM.match(text)
    if block.continues or (last is not None and _is_next_line(last, block)):
        return True
    if re.search(r"[^\W\d_]-$", end) and text[:1].isalpha():
        return True
    is_sentence = len(before.text.split(maxsplit=_LEAST_WORDS)) >= _LEAST_WORDS
    if text[:1].islower():
        return breaks or is_sentence
    # A sentence broken off at a column's end may go on with a name.
    return breaks and (is_sentence or text[:1].isdigit() or text[:1] in '([“"‘') and not _begins_bold(block)


def _is_next_line(last: Block, block: Block) -> bool:
    """The parser gave each line of a paragraph for itself: `block` is the line below, `last` fills its own."""
    if last.box is None or block.box is None or last.page != block.page:
        return False
    gap, height = block.box[1] - last.box[3], block.box[3] - block.box[1]
    return (
        abs(gap) < 0.006
        and height < 0.025
        and abs(last.box[0] - block.box[0]) < 0.02
        and last.box[2] >= block.box[2] - 0.03
    )


def _is_other_column(last: Block, block: Block) -> bool:
    return last.box is None or block.box is None or block.box[1] < last.box[1]


def joined(before: str, after: str, words: frozenset[str]) -> str:
    """Two pieces of one paragraph. A hyphen at the break goes, unless the document writes the word with it."""
    match = re.search(r"([^\W\d_]+(?:-[^\W\d_]+)*)-$", before[-_LONGEST_WORD:])
    rest = re.match(r"[^\W\d_]+(?:-[^\W\d_]+)*", after)
    if not match or not rest:
        return f"{before} {after}" if before else after
    whole, hyphenated = (match[1] + rest[0]).lower(), f"{match[1]}-{rest[0]}".lower()
    keeps = whole not in words and (rest[0][0].isupper() or hyphenated in words)
    return before + after if keeps else before[:-1] + after


def plain(runs: Sequence[Run]) -> str:
    """Text without markup, on one line. Footnote marks go; exponents keep a "^" where digits would run together."""
    pieces: list[str] = []
    run_in = _run_in_title(runs)
    for index, run in enumerate(runs):
        text = run.text
        if run.url and " " in text and "".join(text.split()) in run.url:
            text = "".join(text.split())
        if index == run_in:
            text = f"{text.rstrip()}. "
        before = pieces[-1] if pieces else ""
        if "superscript" in run.styles and text.strip():
            if _is_footnote_mark(text.strip(), "".join(pieces[-3:])):
                pieces.append(" " if text.endswith(" ") else "")
                continue
            if before[-1:].isalnum() and text.strip() not in ("th", "st", "nd", "rd"):
                text = f"^{text}"
        pieces.append(text)
    return re.sub(r" ([,.;:)])", r"\1", " ".join("".join(pieces).split()))


def _run_in_title(runs: Sequence[Run]) -> int | None:
    """The run that ends a bold title at a paragraph's start which nothing but its type parts from the sentence."""
    end = 0
    while end < len(runs) and ("bold" in runs[end].styles or not runs[end].text.strip()):
        end += 1
    title = "".join(run.text for run in runs[:end]).strip()
    rest = "".join(run.text for run in runs[end:])
    if not title or title[-1] in ".:?!,;—–-" or not title[0].isupper() or not 2 <= len(title.split()) <= 8:
        return None
    last = max(i for i in range(end) if runs[i].text.strip())
    return last if re.match(r"\s*[A-Z][\w’']*\s+[a-z]", rest) or re.match(r"\s*[A-Z][a-z]+ ", rest) else None


def _is_footnote_mark(mark: str, before: str) -> bool:
    if not _MARK.fullmatch(mark):
        return False
    if not before.strip():
        return False
    if not mark[0].isdigit():
        return mark[0] in "∗*†‡§¶‖" and len(before) > 1
    # After a word or a stop; after a single letter or a digit it is an exponent.
    return before[-1].isspace() or bool(re.search(r"[^\W\d_]{3}\Z|[.,;:)\]”’\"?!]\Z", before[-3:]))
