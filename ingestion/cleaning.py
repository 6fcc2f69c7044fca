"""Raw text → clean text: characters, markup, blanks, paragraphs.

Here: what every text field goes through. Not here: TeX macros (`ingestion.tex`); what the fields mean
(`ingestion.cleanup`, `ingestion.authors`).

Clean text is Unicode NFC, without control, zero-width and soft-hyphen characters, surrogates and ligatures,
without HTML and JATS tags and entities, with single blanks. Cleaning it again changes nothing. ftfy mends
text decoded with the wrong charset; nh3 was tried for tags and not taken: it reads `a<b` as a tag and drops
what follows.
"""

import html
import re
import unicodedata

from ingestion.tex import tex_to_text

_GAPS = frozenset(("", "None", "none", "NONE", "null", "NULL", "Null", "nan", "NaN"))
_REMOVED = (
    "\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff"
)
_LIGATURES = {
    "\ufb00": "ff", "\ufb01": "fi", "\ufb02": "fl", "\ufb03": "ffi", "\ufb04": "ffl", "\ufb05": "st",
    "\ufb06": "st",
}  # fmt: skip
# What the steps below and `ingestion.tex` react to, besides what `str.isprintable` refuses.
_SIGNS = ("\\", "~", "&", "<", "`", "--")
_WIDE_SIGNS = (*_LIGATURES, "Ã", "Â", "â€", "ı\u0300", "ı\u0301", "ı\u0302", "ı\u0308")
_TO_REMOVE = re.compile(f"[{_REMOVED}]+")
_LIGATURE = re.compile("[\ufb00-\ufb06]")
_DOTLESS = re.compile("ı(?=[\u0300\u0301\u0302\u0308])")  # "ı́" for "í", from TeX converters
_MOJIBAKE = re.compile("[ÃÂ][\u0080-\u00bf]|â€")
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_ATTRIBUTES = r"(?:\s+[\w:.-]+\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s\"'<>=]+))*\s*"
_HEADING = re.compile(r"<jats:title>\s*abstract\s*\.?\s*</jats:title>", re.I)
_NAME = r"(?:(?P<space>jats|mml):)?(?P<name>[A-Za-z][A-Za-z0-9-]*)"
_TAG = re.compile(rf"<(?P<close>/?){_NAME}{_ATTRIBUTES}(?P<empty>/?)>")
# Of HTML, what metadata really holds; `<s>`, `<image>`, `<think>` are what papers write about.
_HTML = frozenset(
    ("p", "br", "sub", "sup", "i", "b", "em", "strong", "u", "span", "div", "a", "li", "ul", "ol", "tt", "hr",
     "small", "big", "font", "inf", "italic", "bold", "sc")
)  # fmt: skip
_BLOCKS = frozenset(("p", "br", "div", "li", "ul", "ol", "title", "sec", "list", "list-item", "hr"))
_BREAK = re.compile(r"\n[^\S\n]*\n\s*|\n(?=[ \t]{2,}\S)")
_MAX_PASSES = 20


def is_gap(text: str | None) -> bool:
    """Whether a field says nothing: None, blanks, or the word that a program printed for None."""
    return text is None or text.strip() in _GAPS


def clean_line(text: str | None) -> str | None:
    """One line of clean text; None for a gap."""
    if is_gap(text):
        return None
    if _is_clean(text):
        return text
    line = " ".join(text.split())
    for _ in range(_MAX_PASSES):  # a step can uncover what another one cleans, as in `&amp;lt;`
        if _is_clean(line) or (cleaned := " ".join(_clean_once(line).split())) == line:
            break
        line = cleaned
    return None if is_gap(line) else line


def clean_paragraphs(text: str | None) -> str | None:
    """Clean text in paragraphs, separated by one blank line; None for a gap.

    A blank line begins a paragraph, and so does arXiv's line break with two blanks of indent; unless all of
    three or more lines are indented and some end in mid-sentence, for then the indent is layout. Other breaks
    are blanks.
    """
    if is_gap(text):
        return None
    if _is_clean(text):
        return text
    text = _paragraphs(text)
    for _ in range(_MAX_PASSES):
        whole = _markup(text) if "<" in text or "&" in text else text
        parts = _paragraphs(whole).split("\n\n")
        cleaned = _paragraphs("\n\n".join(part if _is_clean(part) else _clean_once(part) for part in parts))
        if cleaned == text:
            break
        text = cleaned
        if _is_clean(text):
            break
    return None if is_gap(text) else text


def _is_clean(line: str) -> bool:
    """Whether a line needs no step at all; True for most, so it is made of what CPython does fastest."""
    if not line.isprintable() or "  " in line or line[:1] == " " or line[-1:] == " ":
        return False  # isprintable refuses control, format, surrogate, unassigned characters and odd blanks
    if any(sign in line for sign in _SIGNS):
        return False
    if line.isascii():
        return True
    return unicodedata.is_normalized("NFC", line) and not any(sign in line for sign in _WIDE_SIGNS)


def _paragraphs(text: str) -> str:
    if "\n" not in text and "\r" not in text:
        return " ".join(text.split())
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip()
    lines = text.split("\n")
    rest = lines[1:]
    is_layout = (
        len(rest) > 1
        and all(line[:2].isspace() and len(line[:2]) == 2 for line in rest if line.strip())
        and not all(line.rstrip().endswith((".", "!", "?", ":", ")", "$")) for line in lines if line.strip())
    )
    breaks = re.compile(r"\n[^\S\n]*\n\s*") if is_layout else _BREAK
    parts = (" ".join(part.split()) for part in breaks.split(text))
    return "\n\n".join(part for part in parts if part)


def _clean_once(text: str) -> str:
    if not text.isascii():
        if _MOJIBAKE.search(text):
            import ftfy  # seldom needed

            text = ftfy.fix_encoding(text)
        text = _DOTLESS.sub("i", _LIGATURE.sub(lambda m: _LIGATURES[m[0]], text))
    text = _TO_REMOVE.sub("", text)
    if "<" in text or "&" in text:
        text = _markup(text)
    text = tex_to_text(text)
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def _markup(text: str) -> str:
    while "&" in text:  # entities may be escaped twice
        undone = _ENTITY.sub(lambda m: html.unescape(m[0]), text)
        if undone == text:
            break
        text = undone
    if "<" not in text:
        return text
    text = _HEADING.sub("", text)
    found = list(_TAG.finditer(text))
    names = {(m["name"].lower(), m["close"]) for m in found}

    def strip(match: re.Match[str]) -> str:
        name = match["name"].lower()
        if match["space"] is None:
            is_whole = match["empty"] or name in ("br", "hr") or {(name, ""), (name, "/")} <= names
            if name not in _HTML or not is_whole:
                return match[0]
        return "\n\n" if name in _BLOCKS else ""

    return _TAG.sub(strip, text) if found else text
