"""What is not worth printing, or is broken, whatever paper it stands in.

Belongs here: sentences that say nothing of the matter, and such as the author or an edit left ungrammatical. Not here:
sentences that point elsewhere (`standing`), and words that the reading of a file joined (`generation.misprints`).
"""

import re

_VACUOUS = re.compile(
    r"\b(?:future (?:research |work )?(?:directions?|avenues?|work|research)|promising directions?|"
    r"comprehensive (?:overview|review|survey)|extensive (?:experiments|evaluations?|quantitative)[^.]{0,30}(?:conduct|"
    r"perform|carried)|(?:conduct|perform)\w* (?:extensive|comprehensive|thorough)|organi[sz]ed as|rest of|we hope|"
    r"serves? to facilitate|rapidly (?:changing|evolving)|(?:impressive|remarkable|"
    r"significant) (?:\w+ )?(?:performance|capabilit\w+|abilit\w+|success|promise|achievements?)|huge popularity|"
    r"insights into|shed\w* light|paves? the way|effectiveness of (?:the|their|its|our)|aims? to (?:conduct|provide)|"
    r"(?:conduct|provide)s? an? (?:\w+ )?survey|opens? up|in recent years|considerable attention|"
    r"significant attention)\b",
    re.IGNORECASE,
)

# What a paper did for itself: that it ran experiments, took part in a task, released code, ends with a discussion.
_EMPTY = re.compile(
    r"\b(?:(?:conduct|perform|carry|carried|run|ran)\w* (?:out )?(?:an? )?(?:[\w-]+ ){0,4}?(?:experiments?|evaluations?|analys[ie]s|"
    r"studies|study|ablations?|comparisons?|investigations?)\b(?![^.]*\b(?:show|find|found|reveal|demonstrat|observ|indicat|suggest|confirm))|"
    r"(?:we|the authors) (?:also |further |then )?(?:evaluate|test|validate|verify|compare|experiment with|benchmark) (?:our|the proposed|its|it)\b"
    r"(?![^.]*\b(?:show|find|found|reveal|demonstrat|observ|indicat|suggest|achiev|improv|outperform))|"
    r"shared tasks?|DSTC\s?-?\d*|SemEval|challenge track|(?:first|second|third|2nd|3rd|1st) (?:place|rank|prize)|ranked (?:first|second|third)|"
    r"our (?:submission|participation|team|entry)|competition|workshop|hackathon|KDD Cup|"
    r"(?:we|paper|authors|article|survey|chapter) (?:also |finally |then )?(?:conclude|summari[sz]e|discuss|outline|organi[sz]e|hope|believe|"
    r"call for|encourage|plan|call on|envision|highlight)s?\b|conclude[sd]? (?:by|with)|"
    r"as part of (?:a|the|our) (?:project|course)|aims? to (?:conduct|provide|give|present|offer|review|summari[sz]e|survey)|"
    r"intended (?:for|to (?:provide|be))|serves? as an? (?:introduction|tutorial|starting|guide|reference|valuable|useful)|"
    r"is (?:designed|intended|meant) as|tutorial introduction|we (?:hope|believe)|future (?:work|research|directions?|studies)|"
    r"(?:source )?codes? (?:and|is|are|will|for)|remainder of|open the door|as a (?:first )?step (?:towards?|to)|sheds? (?:some )?light|pav(?:e|es|ing) the way|"
    r"valuable insights|comprehensive (?:survey|review|overview)|of great (?:importance|significance)|rapid (?:advancement|development|progress|growth)|"
    r"\bours\b|both (?:methods|models|approaches|datasets|settings|tasks|domains|systems|cases|techniques|strategies|benchmarks|variants|of them)|"
    r"the (?:two|three|four|five) (?:proposed )?(?:methods|models|approaches|datasets|settings|tasks|domains|systems|techniques|strategies|"
    r"components|modules|stages|steps|variants)\b|on the other hand|on the contrary|results are (?:presented|discussed|reported)|"
    r"are (?:proposed|presented|discussed) respectively|"
    r"(?-i:\bTo (?:\w+ly )?[A-Z][a-z]+ (?:the|a|an)\b)|\(1\)(?![^.]*\(2\))|either approach|data ?scientist-in-a-box|(?:on|across|over) (?:\w+ )?(?:two|three|four|five|six|seven|several|multiple|various|many|different|diverse|\d+) "
    r"(?:\w+ ){0,3}?(?:datasets|benchmarks|tasks)(?: (?:to|for|in order to) (?:evaluate|verify|validate|demonstrate|test|show|assess)\b))",
    re.IGNORECASE,
)

_IDLE = re.compile(
    r"\b(?:insightful findings|important findings|intriguing (?:analys[ie]s|relationships?|findings)|(?:provide|offer)s? useful insights|"
    r"some hints|effective and usable|widely available|serves as a call|attempts? to summari[sz]e|an alternative approach is|"
    r"promising results|a wide range of interesting|several interesting)\b",
    re.IGNORECASE,
)
_LEFT_OPEN = re.compile(
    r"\babove (?:two|three|problems|issues|challenges)\b|\bas above\b|\bboth extremes\b|\b(?:re)?solves? (?:the|above|these) "
    r"(?:challenges?|problems?|issues?)\b(?! (?:of|in|that|with)\b)|\baddress(?:es|ing)? (?:the|this) (?:gap|dilemma|problem|issue)\b"
    r"(?! (?:of|in|that|between|with)\b)|\bto its knowledge\b|^(?:Last|Based on that),|: \d\.?$|[:;]\s?\(1\)(?!.*\(2\))|"
    r"\bspoken by less\b",
    re.IGNORECASE,
)
_BROKEN = re.compile(
    r"\bThereis\b|^Base on\b|\([A-Z]{3,}\) are an? |\b[Aa] (?:integrated|end-to-end|efficient|effective|open|adaptive|"
    r"automat\w+|extensi\w+|iterative|unsupervised|interactive|interpretable)\b|"
    r"\b(?:proposes|introduces|presents|develops|designs) and [a-z]+[^s\W](?:,| )|\b(?:paper|study|work) introduces .*, aims\b|"
    r"^(?:Existing|Current) .*\b(?:struggle|fail)\b.*\band how\b|\bcharacterize\b.*\bcharacterize\b"
)


def is_vacuous(text: str) -> bool:
    """Whether a sentence could stand in any abstract; it is printed where there is no other."""
    return bool(_VACUOUS.search(text))


def says_nothing(text: str) -> bool:
    """Whether a sentence tells what a paper did for itself, leaves open what it speaks of, or is no result at all."""
    return bool(_EMPTY.search(text) or _IDLE.search(text) or _LEFT_OPEN.search(text))


def is_broken(text: str) -> bool:
    """Whether a printed sentence is ungrammatical in a way that is known by its words."""
    return bool(_BROKEN.search(text))
