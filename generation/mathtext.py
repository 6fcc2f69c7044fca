"""Text that holds TeX math: `$…$` with no blank inside its ends is math, any other `$` is a dollar."""

import re
from collections.abc import Callable

_MATH = re.compile(r"(?<![\\$])\$(?![\s$])([^$\n]*[^$\s\\])\$(?![\d$])")


def outside_math(text: str, change: Callable[[str], str]) -> str:
    """The text with `change` applied to everything but its math, which stays as written."""
    parts, last = [], 0
    for match in _MATH.finditer(text):
        parts += [change(text[last : match.start()]), match.group(0)]
        last = match.end()
    return "".join([*parts, change(text[last:])])
