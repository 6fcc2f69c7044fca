r"""A survey as LaTeX that researchers go on writing in: `\autocite` keys of the .bib beside it, sections numbered by TeX.

Citations stay commands, because the text is meant to be edited: a number set by us would be wrong after the first
change. biblatex with biber is asked for, since keys and names are Unicode and entries have `date`, `eprint` and `doi`,
of which BibTeX's styles know none. Compiled by lualatex and by pdflatex. Not here: where the Markdown comes from.
"""

import re

from generation.rendering import pandoc

_OPTIONS = (
    "--biblatex", "--standalone", "--shift-heading-level-by=-1", "--number-sections", "--top-level-division=section",
    "--metadata=lang:en", "--metadata=biblio-style:numeric-comp", "--metadata=biblatexoptions:sorting=none",
    "--metadata=biblatexoptions:maxbibnames=7", "--metadata=biblatexoptions:url=false", "--metadata=biblatexoptions:giveninits=true",
    "--variable=documentclass:article", "--variable=papersize:a4", "--variable=geometry:margin=2.5cm",
    "--variable=colorlinks:true",
)  # fmt: skip


def latex(text: str, references: str, bibliography: str, line: str) -> str:
    """A standalone document.

    Args:
        text: the survey's Markdown, plain: without numbers in headings and without a list of references.
        references: content of the .bib; its characters must be known to TeX too.
        bibliography: name of the .bib.
        line: what stands below the title.
    """
    options = [*_OPTIONS, f"--bibliography={bibliography}", f"--metadata=date:{line}"]
    document = pandoc(text, "latex", options=options)
    name = bibliography.removesuffix(".bib")
    how = f"% lualatex {name} && biber {name} && lualatex {name} && lualatex {name}   (or pdflatex)\n"
    known = _declared(document + references)
    return how + document.replace("\\begin{document}", known + "\\begin{document}", 1)


def _declared(text: str) -> str:
    """Signs and letters that TeX's fonts lack, as the commands that print them: `≥` as `\\geq`."""
    from pylatexenc.latexencode import get_builtin_uni2latex_dict

    commands = get_builtin_uni2latex_dict()
    found = sorted(c for c in set(re.findall(r"[^\x00-\u017f]", text)) if ord(c) in commands and c not in _SET)
    if not found:
        return ""
    lines = [rf"  \newunicodechar{{{c}}}{{{commands[ord(c)]}}}" for c in found]
    return "\n".join([r"\IfFileExists{newunicodechar.sty}{\usepackage{newunicodechar}", *lines, "}{}", ""])


_SET = frozenset("–—‘’“”„…•‐‑†‡€™")
"""Set by every TeX."""
