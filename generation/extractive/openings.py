"""Openings that tie a sentence to the one before it and can go without taking anything from what it says.

Belongs here: connectives, "in this paper", and purposes that only point back ("To address these limitations, we …").
"""

import re

_CONNECTIVE = (
    r"however|moreover|furthermore|therefore|thus|hence|additionally|finally|besides|specifically|in particular|"
    r"in addition|subsequently|ultimately|empirically|more importantly|most importantly|specially|especially|meanwhile|"
    r"to the best of our knowledge|to our knowledge|notably|importantly|consequently|nevertheless|nonetheless|overall|"
    r"in summary|in short|here|lastly|to this end|to that end|toward this end|for this purpose|in response|accordingly|"
    r"first|firstly|second|secondly|third|thirdly|next|then|more specifically|concretely|remarkably|interestingly|"
    r"surprisingly|crucially|as a result|as such|in contrast|by contrast|on the other hand|on the contrary|conversely|"
    r"alternatively|indeed|in fact|further|similarly|likewise|also|as a consequence|in this way|in doing so|"
    r"by doing so|in this regard|in this context|in light of this|in this direction|with this in mind|"
    r"motivated by this|inspired by this|based on this|despite this|instead|still|yet|in conclusion|to summarize|"
    r"to conclude|in general|generally|in practice|in other words|that is|at the same time|at present|now|briefly|"
    r"experimentally|particularly|as an alternative|as a remedy|as a solution|as a first step|in detail|for example|"
    r"for instance|"
    r"even more surprising|even more surprisingly|more surprisingly|even more importantly|on top of this|"
    r"initially|simultaneously|in constrast|in turn|eventually|meantime|in the meantime|"
    r"beyond this|beyond that|unfortunately|fortunately|hopefully"
)
_PAPER = (
    r"paper|work|article|study|survey|review|research|thesis|report|letter|manuscript|technical report|project|talk"
)
_SIMPLE = re.compile(
    rf"^(?:(?:(?:most|more|very|quite) )?(?:{_CONNECTIVE})\s*,\s+"
    r"|(?:here|recently|therefore|thus|hence|then|finally|further|furthermore|moreover|additionally),?\s+(?=we\b)"
    rf"|(?:in|through|throughout|with) (?:this|our|the present|the current) (?:{_PAPER})\s*(?:,\s*|\s+(?=we\b))"
    r"|(?:and|but|so|yet|meanwhile)\s+(?=[a-z])"
    r"|(?:note|recall|observe) that\s+"
    r"|recently\s*,\s+)",
    re.IGNORECASE,
)
# A purpose or a ground that points back says nothing where it points at nothing; only before a subject of its own.
_POINTING = re.compile(
    r"^(?:(?:in order )?to|towards?|motivated by|inspired by|based on|building (?:up)?on|in light of|given|with|by|"
    r"following|for|from|through|under|using|as part of|in view of|driven by|guided by|unlike|aiming to|aimed at)\s"
    r"(?:[^,;.:()]{0,80}\s)?(?:this|these|those|such|(?:the )?above|(?:the )?aforementioned|it|them|the (?:issues?|problems?|"
    r"challenges?|limitations?|gap|shortcomings?|drawbacks?|question|needs?|goals?))\b"
    r"[^,;.:()]{0,60},\s+(?=(?:we|our|this (?:paper|work|study|article)|the authors)\b|[A-Z][A-Za-z]*[A-Z0-9])",
    re.IGNORECASE,
)


def opening_end(text: str) -> int:
    """Where the sentence proper begins."""
    end = 0
    while match := _SIMPLE.match(text[end:]) or _pointing(text[end:]):
        end += match.end()
    return end


def _pointing(text: str) -> re.Match[str] | None:
    match = _POINTING.match(text)
    # The look-ahead ignores case like the rest; a subject in small letters that is no "we" is no subject of its own.
    follows = text[match.end() :] if match else ""
    return match if re.match(r"(?:[Ww]e|[Oo]ur|[Tt]his|[Tt]he authors)\b|[A-Z]", follows) else None
