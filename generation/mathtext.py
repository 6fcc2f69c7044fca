"""Text that holds TeX math: `$…$` with no blank inside its ends is math, any other `$` is a dollar.

Authors write math in abstracts for one reader, the site's own; what is printed here goes through pandoc, typst and
TeX, which know neither authors' macros nor half of TeX's older commands, and must not follow links. So math is printed
as math only where it is made of known commands and balanced braces: older commands are put as today's, anything else
stands as the text it is. Not here: what a format escapes (`citations`, `bibliography`).
"""

import re
from collections.abc import Callable
from functools import cache

_MATH = re.compile(r"(?<![\\$])\$(?![\s$])([^$\n]*[^$\s\\])\$(?![\d$])")

_FONTS = {
    "rm": "mathrm", "bf": "mathbf", "it": "mathit", "tt": "mathtt", "sf": "mathsf", "cal": "mathcal", "sc": "mathrm",
    "em": "mathit", "Bbb": "mathbb",
}  # fmt: skip
_SWITCH = re.compile(r"\\(rm|bf|it|tt|sf|cal|sc|em|Bbb)(?![a-zA-Z])\s*")
_SIZES = re.compile(r"\\(?:tiny|scriptsize|footnotesize|small|normalsize|large|Large|LARGE|huge|Huge)(?![a-zA-Z])\s*")
_CODE_POINT = re.compile(r"\\unicode\s*\{\s*(?:x([0-9a-fA-F]+)|(\d+))\s*\}")
_MACRO = re.compile(r"\\([a-zA-Z]+)")
_LINK = re.compile(r"^\\href\s*\{[^{}]*\}\s*\{(.*)\}\.?$")
_NAMES = (
    "frac tfrac dfrac binom sqrt text textit textbf textrm texttt textsf textsc textnormal mathrm mathbf mathit mathtt "
    "mathsf mathcal mathbb mathfrak mathscr boldsymbol pmb operatorname left right middle big Big bigg Bigg bigl bigr "
    "Bigl Bigr biggl biggr hat widehat tilde widetilde bar overline underline vec dot ddot acute grave breve check "
    "overbrace underbrace overset underset stackrel substack limits nolimits quad qquad dots ldots cdots vdots ddots "
    "colon mid log ln exp sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh min max sup inf lim limsup liminf "
    "arg det dim ker gcd deg hom Pr mod bmod pmod emph ensuremath xrightarrow xleftarrow displaystyle textstyle "
    "scriptstyle le ge ne to gets iff implies land lor lnot neg ll gg vert Vert lVert rVert lvert rvert langle rangle "
    "lfloor rfloor lceil rceil prime star ast circ bullet infty cdot times rightarrow leftarrow Rightarrow "
    "Leftarrow leftrightarrow Leftrightarrow longrightarrow mapsto uparrow downarrow triangle square neq setminus "
    "emptyset models mbox overrightarrow overleftarrow"
)
_STRUCTURE = frozenset(_NAMES.split())
"""Commands that are no single character; those of characters come from pylatexenc."""


def outside_math(text: str, change: Callable[[str], str]) -> str:
    """The text with `change` applied to everything but its math; of that, what no reader would know is text too."""
    parts, last = [], 0
    for match in _MATH.finditer(text):
        parts.append(change(text[last : match.start()]))
        is_math, inner = printable(match.group(1))
        parts.append(f"${inner}$" if is_math else change(inner))
        last = match.end()
    return "".join([*parts, change(text[last:])])


def printable(inner: str) -> tuple[bool, str]:
    r"""(whether it can be printed as math, the math or the plain text) of what stands between two dollars.

    `{\rm P}` becomes `\mathrm{P}`, `\unicode{x2013}` the dash it is, a link its text; math of unknown commands is the
    text with its dollars, as the source has it.
    """
    if "\\" not in inner and _is_balanced(inner) and not re.search(r"[`\"#%&]", inner):
        return True, inner
    if link := _LINK.match(inner):
        return False, re.sub(r"\\[a-zA-Z]+\s*|[{}]", "", link.group(1)).replace("\\,", " ")
    modern = _CODE_POINT.sub(lambda m: chr(int(m[1], 16) if m[1] else int(m[2])), _SIZES.sub("", inner))
    if re.fullmatch(r"[\w‐-―‰ .,-]*[‐-―‰][\w‐-―‰ .,-]*", modern):
        return False, modern  # a dash written as math
    modern = _with_fonts(re.sub(r"(\\[a-zA-Z]+)(?=[^\x00-\x7f])", r"\1 ", modern))
    known = all(name in _STRUCTURE or name in _characters() for name in _MACRO.findall(modern))
    if known and _is_balanced(modern) and not re.search(r"[`\"]|(?<!\\)[#%&]|\\\\|[_^]\s*$", modern):
        return True, modern
    return False, f"${inner}$"


def is_command(name: str) -> bool:
    """Whether a LaTeX command that readers know has this name, without its backslash."""
    return name in _STRUCTURE or name in _FONTS or name in _characters() or name in ("begin", "ref", "newline")


def _with_fonts(math: str) -> str:
    r"""`\rm X` up to the end of its group, and `\rm{X}`, with today's commands."""
    while match := _SWITCH.search(math):
        font, rest = _FONTS[match.group(1)], math[match.end() :]
        end = _group_end(rest)
        own = rest[1:end] if rest.startswith("{") and end < len(rest) else ""
        if own:
            math = f"{math[: match.start()]}\\{font}{{{own}}}{rest[end + 1 :]}"
        elif (stop := _close(rest)) and rest[:stop].strip():
            math = f"{math[: match.start()]}\\{font}{{{rest[:stop]}}}{rest[stop:]}"
        else:
            math = math[: match.start()] + rest
    return math


def _group_end(text: str) -> int:
    """Index of the brace that closes the group opening at 0, len(text) where none does."""
    depth = 0
    for i, character in enumerate(text):
        if character in "{}" and (i == 0 or text[i - 1] != "\\"):
            depth += 1 if character == "{" else -1
            if depth == 0:
                return i
    return len(text)


def _close(text: str) -> int:
    """Index of the brace that closes the group the text stands in, len(text) where it stands in none."""
    depth = 0
    for i, character in enumerate(text):
        if character in "{}" and (i == 0 or text[i - 1] != "\\"):
            depth += 1 if character == "{" else -1
            if depth < 0:
                return i
    return len(text)


def _is_balanced(math: str) -> bool:
    depth = 0
    for brace in re.findall(r"(?<!\\)[{}]", math):
        depth += 1 if brace == "{" else -1
        if depth < 0:
            return False
    return depth == 0 and math.count("\\left") == math.count("\\right") + _arrows(math)


def _arrows(math: str) -> int:
    r"""`\leftarrow` opens nothing, `\rightarrow` closes nothing."""
    return len(re.findall(r"\\left[a-z]", math)) - len(re.findall(r"\\right[a-z]", math))


@cache
def _characters() -> frozenset[str]:
    """Commands that stand for one character, Greek letters and signs, as pylatexenc lists them."""
    from pylatexenc.latexencode import get_builtin_uni2latex_dict

    return frozenset(name for tex in get_builtin_uni2latex_dict().values() for name in _MACRO.findall(tex))
