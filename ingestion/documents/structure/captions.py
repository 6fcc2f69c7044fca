"""Captions of figures, tables and algorithms.

Here: recognising them and their labels. Not here: where they stand in the text.
"""

import re

_KINDS = {"fig": "Figure", "tab": "Table", "alg": "Algorithm", "lis": "Listing", "sch": "Scheme", "box": "Box"}
_LABEL = re.compile(
    r"\s*(?:(?:Extended Data|Supplementary)\s+)?"
    r"(?P<kind>Fig(?:ure|\.)?|Tab(?:le|\.)?|Algorithm|Listing|Scheme|Box)\s*"
    r"(?P<number>[A-Z]?\.?\d+(?:\.\d+)*|[IVX]+|[A-Z])(?P<after>\s*[.:|—–-]|\s*\n|\s+|$)",
    re.IGNORECASE,
)


def caption_label(text: str) -> str:
    """Label of a caption: "Figure 2" for "Fig. 2: …"; "" for what bears none."""
    match = _LABEL.match(text)
    if not match:
        return ""
    return f"{_KINDS[match['kind'][:3].lower()]} {match['number']}"


def is_caption(text: str, is_bold: bool) -> bool:
    """A block that begins as captions do: "Figure 2: …", "Table 1 | …"; "Figure 2 shows …" is a sentence."""
    match = _LABEL.match(text)
    return bool(match and (match["after"].strip() or "\n" in match["after"] or is_bold))
