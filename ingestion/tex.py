r"""TeX in running text → Unicode; math stays as written.

Here: what TeX markup in titles, abstracts and names becomes. Not here: HTML, blanks and characters
(`ingestion.cleaning`); setting math.

Decisions: a macro we do not know is kept, never deleted. `--` and `---` become dashes, except before a word
as in `--option`. ``…'' and `…' become quotation marks, only in pairs. `~` is a tie (a blank), except where
people mean "about" (after a blank: "~3%"), a range ("5~10") or an address. `\href{u}{t}` becomes "t (u)" and
`\footnote{x}` "(x)".
Accents are read by pylatexenc, one macro at a time and cached: of the two decoders tried, latexcodec leaves
`\'{\i}`, `\'{w}` and braces in place, and both are too slow for whole texts.
"""

import re
from functools import lru_cache

_MATH = re.compile(
    r"\\\\"
    r"|\\begin\{(?P<env>equation|align|alignat|aligned|eqnarray|gather|multline|cases|array|displaymath|math"
    r"|split|[bpv]?matrix)(?P<star>\*?)\}.*?\\end\{(?P=env)(?P=star)\}"
    r"|\$\$.+?\$\$|\\\[.+?\\\]|\\\(.+?\\\)|\\."
    # Prices are not math: either no blank inside the dollars (pandoc's rule), or TeX between them.
    r"|\$(?=[^\s$])(?:[^$\\\n]|\\.)*(?<=\S)\$(?!\d)"
    r"|\$(?=[^$\n]*[\\^_{}=<>])(?:[^$\\\n]|\\.)+\$",
    re.S,
)
_PLACE = "\ufdd0"  # stands for a piece of math; a noncharacter, removed from all input
_MARK = r"\\(?:[\"'`^~=.](?![A-Za-z]{0,1}\\begin)|[uvHcdbkrt](?![A-Za-z]))"
_BASE = r"(?:\\[ij](?![A-Za-z])|[A-Za-zÀ-ž])"
_ACCENT = re.compile(
    rf"\{{\s*(?P<a>{_MARK})\s*(?:\{{\s*(?P<b>{_BASE})\s*\}}|(?P<c>{_BASE}))\s*\}}"
    rf"|(?P<d>{_MARK})\s*(?:\{{\s*(?P<e>{_BASE})\s*\}}|(?P<f>{_BASE}))(?:(?<=\\[ij])[ ]+)?"
)
_LETTERS = {
    "o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "ss": "ß", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "aa": "å",
    "AA": "Å", "i": "ı", "j": "ȷ", "dh": "ð", "DH": "Ð", "th": "þ", "TH": "Þ", "dj": "đ", "DJ": "Đ",
    "ng": "ŋ", "NG": "Ŋ", "S": "§", "P": "¶", "copyright": "©", "pounds": "£", "ldots": "…", "dots": "…",
    "textellipsis": "…", "textdegree": "°", "deg": "°", "textregistered": "®", "texttrademark": "™",
    "textendash": "–", "textemdash": "—", "textquoteright": "’", "textquoteleft": "‘",
    "textquotedblleft": "“", "textquotedblright": "”", "textasciitilde": "~", "textunderscore": "_",
    "xspace": "", "LaTeX": "LaTeX", "TeX": "TeX",
}  # fmt: skip
_LETTER = re.compile(
    rf"(?P<open>\{{)?\\(?P<name>{'|'.join(sorted(_LETTERS, key=len, reverse=True))})(?![A-Za-z])"
    r"(?:\{\}|(?(open)[ ]*\}|[ ]*))"
)
_ARGUMENT = r"\{((?:[^{}]|\{[^{}]*\})*)\}"  # one level of braces inside; deeper ones open from the inside out
_FONT = re.compile(
    r"\\(?:emph|text(?:bf|it|sc|tt|rm|sf|sl|up|md|normal|superscript|subscript|color\{[^{}]*\})?|mbox|hbox"
    rf"|u?line|underline|uline|ul|url|path|footnotesize|small)\s*{_ARGUMENT}"
)
_SWITCH = re.compile(
    r"\{\\(?:it|em|bf|sc|tt|rm|sl|sf|itshape|scshape|bfseries)(?![A-Za-z])\s*((?:[^{}]|\{[^{}]*\})*)\}"
)
_LINK = re.compile(rf"\\href\s*\{{([^{{}}]*)\}}\s*{_ARGUMENT}")
_FOOTNOTE = re.compile(rf"\s*\\footnote\s*{_ARGUMENT}")
_ESCAPE = re.compile(r"\\([%&_#${}])|\\([ ,;:]|\\(?!\w))|\\([-!/])|\\([~^])\{\}|\\([~^])(?=[\d\s])")
_ADDRESS = r"https?://[^\s{}]+"
_TIE = re.compile(rf"{_ADDRESS}|(?<=[^\s(\[{{/~=<>\\-])~+(?=[^\s~])|(?<=[^\s~])~+(?=$|\s)")
_DASH = re.compile(rf"{_ADDRESS}|(?<![-<!])(---?)(?![->])")
_QUOTES = re.compile(r"(?<!`)``(?![`\s])|(?<!')''(?!')")
_SINGLE = re.compile(r"(?<![\w`])`([^`'\s](?:[^`'\n]*[^`'\s])?)'(?![\w'])")


def tex_to_text(text: str) -> str:
    """One paragraph with its TeX turned into Unicode; `$…$`, `\\(…\\)` and environments kept as written."""
    kept: list[str] = []

    def keep(match: re.Match[str]) -> str:
        found = match[0]
        if len(found) == 2 and found[0] == "\\":
            return found
        kept.append(found)
        return _PLACE

    if "$" in text or "\\(" in text or "\\[" in text or "\\begin" in text:
        text = _MATH.sub(keep, text)
    if "\\" in text:
        text = _macros(text)
    if "~" in text:
        text = _TIE.sub(_tie, text)
    if "--" in text:
        text = _DASH.sub(_dash, text)
    if "`" in text:
        text = _quotes(text)
    if kept:
        pieces = iter(kept)
        text = re.sub(_PLACE, lambda _: next(pieces), text)
    return text


def _macros(text: str) -> str:
    text = _ACCENT.sub(_accent, text)
    text = _LETTER.sub(_letter, text)
    while True:  # from the inside out
        unwrapped = _SWITCH.sub(r"\1", _FONT.sub(r"\1", text))
        unwrapped = _FOOTNOTE.sub(r" (\1)", _LINK.sub(_link, unwrapped))
        if unwrapped == text:
            break
        text = unwrapped
    return _ESCAPE.sub(_escape, text)


def _accent(match: re.Match[str]) -> str:
    mark = match["a"] or match["d"]
    return _accented(mark, match["b"] or match["c"] or match["e"] or match["f"])


@lru_cache(maxsize=4096)
def _accented(mark: str, base: str) -> str:
    from pylatexenc.latex2text import LatexNodes2Text  # costs as much time as all else that --help imports

    return LatexNodes2Text().latex_to_text(f"{mark}{{{base}}}")


def _letter(match: re.Match[str]) -> str:
    # "{\o" without its closing brace right after: the brace opened something else.
    is_closed = not match["open"] or match[0].endswith("}")
    return ("" if is_closed else "{") + _LETTERS[match["name"]]


def _link(match: re.Match[str]) -> str:
    address, shown = match[1].strip(), match[2].strip()
    return address if not shown or shown.rstrip("/") in address else f"{shown} ({address})"


def _escape(match: re.Match[str]) -> str:
    literal, blank, _nothing, empty, loose = match.groups()
    return literal or empty or loose or (" " if blank else "")


def _tie(match: re.Match[str]) -> str:
    if match[0][0] != "~":
        return match[0]
    before, after = match.string[: match.start()][-2:], match.string[match.end() : match.end() + 1]
    is_amount = before[-1:].isdigit() or (before[-1:] in ("%", "°") and before[:1].isdigit())
    return match[0] if is_amount and after.isdigit() else " "


def _dash(match: re.Match[str]) -> str:
    dashes = match[1]
    if not dashes:
        return match[0]
    text, start, end = match.string, match.start(), match.end()
    is_open = start == 0 or text[start - 1] in " ([`\"'“‘/="
    if is_open and end < len(text) and not text[end].isspace() and text[end] not in ",.;:)":
        return dashes  # --option
    return "—" if len(dashes) == 3 else "–"


def _quotes(text: str) -> str:
    open_count = 0

    def turn(match: re.Match[str]) -> str:
        nonlocal open_count
        if match[0] == "``":
            open_count += 1
            return "“" if "''" in text[match.end() :] else match[0]
        if open_count:
            open_count -= 1
            return "”"
        return match[0]

    return _SINGLE.sub(r"‘\1’", _QUOTES.sub(turn, text))
