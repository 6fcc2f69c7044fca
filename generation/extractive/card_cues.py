"""What a sentence of a paper tells of its own work: contribution, method, finding or limitation, and how surely.

Belongs here: the words that give it away. Not here: which sentences are asked (`cards`) and where they stand (`zones`).
The weights order the sentences of one paper; they were set by reading the cards of some 25 papers.
"""

import re
from dataclasses import dataclass

from generation.zones import Zone


def _words(text: str, before: str = r"\b", after: str = r"\b") -> re.Pattern[str]:
    """A pattern for any of the parts, which bars and line ends separate, in any case."""
    parts = re.sub(r"\n\s*", "|", text)
    return re.compile(f"{before}(?:{parts}){after}", re.IGNORECASE)


_WORK = r"(?:paper|work|article|study|survey|review|report|research|thesis)"
_WE = rf"\b(?:we|the authors|(?:this|our|the present|the current) {_WORK})\b"
SELF = _words(rf"we|our|ours|us|the authors|(?:this|the present|the current) {_WORK}|the (?:proposed|presented)")
_OTHERS = _words(
    r"""methods?|approaches|models?|works?|systems?|techniques?|studies|efforts|solutions|frameworks?|algorithms?
    research|literature|benchmarks?|datasets?|retrievers?|lms|llms|surveys?|implementations?|architectures?""",
    r"\b(?:existing|previous|prior|current|earlier|traditional|conventional|recent|most|many|other|these|standard|"
    r"popular|typical|classical|state-of-the-art) (?:[\w-]+ ){0,3}?",
)

# "We (also) propose", "we improve … by proposing", "in this paper, … is proposed".
_BETWEEN = r"(?: (?:also|further|then|first|thus|hence|therefore|are|have|next|instead|jointly|and|\w+ly))*"
_GIVES = _words(
    r"""propos|introduc|present(?!ly)|develop|releas|contribut|devis|formulat|creat|design|establish|describ
    advocat|offer|construct|build|open-sourc|curat|collect|survey|review|summari[sz]|categori[sz]|unif|extend|provid""",
    rf"{_WE}(?:{_BETWEEN} |[^.;:]{{0,60}} by )",
    rf"\w*|\bin this {_WORK},[^;:]{{0,140}}\b(?:is|are) (?:proposed|introduced|presented|developed)\b",
)
_SMALL_GIFT = _words(r"describ|provid|construct|build|collect|design|creat|extend|offer", after=r"\w*")
_CLAIMS = _words(
    r"""(?:our|the|key|main|primary|first|second|third|another|additional|central) (?:\w+ )?contributions?
    to (?:the best of )?our knowledge|(?:is|are|was) the first|the first (?:to|work|system|model|method)"""
)
_NO_GIFT = _words(
    r"""experiments?|results?|evaluation|analys[ie]s|details?|example|discussion|appendix|background|definition
    notation|proof|brief(?:ly)?|hyper-?parameters?|baselines?|hope|plan|further|future|ablation"""
)
_ROADMAP = _words(
    r"""next section|before we conclude|(?:rest|remainder) of|in sections?
    we (?:start|begin|end|conclude) (?:by|with)|organi[sz]ed as|an overview of"""
)
_PLANS = _words(
    r"""we (?:plan|hope|intend|aim|will|believe|envision|encourage|(?:are )?excited)
    future (?:work|research|directions?|studies) (?:will|could|can|may|should|include|might)|it would be interesting
    promising|in (?:the )?future|looking forward|worth (?:exploring|investigating)"""
)

_DOES = _words(
    r"""use|used|train|trained|pre-?train(?:ed)?|encode|encoded|apply|applied|adopt|adopted|employ|employed|compute
    computed|learn|learned|build|built|construct|constructed|combine|combined|fine-?tune|fine-?tuned|optimi[sz]e
    feed|fed|predict|generate|retrieve|sample|split|represent|minimi[sz]e|maximi[sz]e|model|formulate|mask
    concatenate|add|replace|initiali[sz]e|leverage|exploit|store|divide|partition|decompose|score|rank|index|map
    project|treat|extract|distill|regulari[sz]e|cluster|factor|condition|view|cast|prompt|ask|collect|annotate
    recompute|augment""",
    before=r"\b(?:we|the authors)"
    r"(?: (?:then|first|also|thus|therefore|simply|jointly|further|instead|next|finally|only))* ",
)
_WORKS = _words(
    r"""consists? of|(?:is|are) (?:based on|(?:pre-?)?trained|composed|designed|defined)|relies on|rely on|works by
    takes|learns|combines|operates|computes|uses|maps|predicts|generates|encodes|retrieves|employs|builds|trains
    comprises|decomposes|partitions|follows|stores|replaces|attends|incorporates|leverages|adds|feeds|reads|writes
    joins|sums|masks|adopts|performs|eliminates|removes|represents|scores|splits|samples|applies|converts|selects
    summari[sz]es|teaches|models? (?:use|learn|take|combine|encode|predict)s?"""
)
_TRIVIA = _words(
    r"""adamw?|learning rate|batch size|epochs?|gpus?|tpus?|warm-?up|dropout|random seed|hyper-?parameters?
    ground truth|(?:dev|development|validation|val|test|train|training) (?:set|split|data|images)|early stopping
    beam|for brevity|for simplicity|for example|for instance|notation|denote|data ?sets?|annotators?|crowd\w*
    optimizer|checkpoints?"""
)
_POINTS = re.compile(
    r"\b(?:tables?|figs?\.|figures?|sections?|sec\.|appendix|eq(?:uation)?s?\.?) [\dA-Z(]|§", re.IGNORECASE
)

_FINDS = _words(
    r"""find|found|shows?|showed|shown|observ\w+|demonstrat\w+|reveal\w*|indicat\w+|suggest\w*|confirm\w*|see
    prove[sd]?|establish(?:es|ed)?""",
    r"\b(?:we|the authors|experiments?|results?|evaluations?|analys[ie]s|ablations?|study|it|figure \d+|table \d+|"
    r"comparisons?|findings?)\b[^.;:]{0,60}?\b",
    r"\b(?! (?:in|the results)\b)",
)
_BETTER = _words(
    r"""outperform\w*|achiev\w+|surpass\w*|exceed\w*|state-of-the-art|improv(?:es?|ed|ing|ements?)
    reduc(?:es?|ed|ing|tions?)|increas(?:es?|ed|ing)|decreas(?:es?|ed|ing)|better|worse|higher|lower|faster|slower
    gains?|comparable|competitive|match(?:es|ed)|on par|hurts?|degrad\w+|drops?|boosts?|superior|wins?|converges?
    generali[sz]es?|benefits?|yields?|crucial|critical|robust|sensitive|speed-?ups?|attains?|reach(?:es|ed)
    obtain(?:s|ed)?"""
)
_NUMBER = re.compile(
    r"\d+(?:\.\d+)?\s?(?:%|×|x\b|points?\b|times\b|percent)|\b\d+\.\d+\b|\b\d+(?:-|–|\s)fold\b|"
    r"\b\d{1,3}(?:,\d{3})+\b"
)
_NO_FINDING = (
    _words(r"future|plan to|hope|hypothesi[sz]e|intuit\w+|would|should|if"),
    _words(
        r"""expect|believe|conjecture|assume|aim|want|evaluate|compare|report|measure|follow|consider|test|set
        select|choose|tune|describe|discuss|analy[sz]e|investigate|study|explore|ask|used?|train(?:ed)?|add(?:ed)?
        adopt(?:ed)?|apply|applied|gain|perform(?:ed)?|conduct(?:ed)?|look|include|focus|address|provide|present
        introduce|propose|develop|limit""",
        before=r"\bwe (?:also |then )?",
    ),
    _ROADMAP,
)
_VACUOUS = _words(
    r"(?:potential|effectiveness|usefulness|promise|importance|efficacy|quality) of|include results|insights?|surpris\w+"
)

_ADMITS = (
    _words(
        r"limitations?|drawbacks?|disadvantages?|shortcomings?|weakness(?:es)?|caveats?|downsides?|bottlenecks?",
        before=r"\b(?:an?|one|another|main|major|key|other|several|some|the|its|our|first|second) (?:\w+ )?",
    ),
    _words(
        r"""limitations? (?:of|is|are|include)|(?:is|are|was|were) (?:still |also )*limited (?:to|by|in)
        leav(?:e|es|ing) [^.;]{0,80}\b(?:future|further|open)|left (?:for|to|as) future|beyond the scope|cannot
        can not|unable to|fails? to|failed to|struggl\w+ (?:to|with)|suffers? from|lacks?|at the (?:cost|expense) of
        computationally (?:expensive|costly)|room for improvement|prone to|premature
        requires? (?:more|a lot|significant|substantial|large|expensive|additional|writing|careful|extra)
        remains? (?:an? )?(?:open|challeng\w+|unclear|difficult|limited|to be)
        still (?:far|has|have|needs?|inherits?|exhibits?|makes?|struggl\w+|contains?)
        not (?:yet )?(?:optimal|ideal|perfect|clear|immune|possible|suitable|sufficient|well)"""
    ),
    _words(
        r"""consider|address|explor|evaluat|stud|test|cover|handl|support|investigat|account|guarantee|scale
        generali[sz]e|work|explicit|capture|model|able|compar|include|perform|examin|assess|explain|optimal|update""",
        before=r"\b(?:did|do|does|have|has|can|could|is|are|was|were) not (?:yet )?(?:been )?(?:\w+ )?",
        after=r"\w*",
    ),
    _words(
        r"consider|evaluat|support|focus|cover|appl|test|stud|handl|work|explor|experiment|us|report",
        before=r"\bonly ",
        after=r"\w*",
    ),
)
_HEDGES = _words(
    r"""limit(?:s|ed|ation|ations)|cannot|not|lacks?|fail\w*|unable|difficult\w*|challeng\w*|expensive|costly
    slow\w*|beyond|may|might|restrict\w*|drawbacks?|suffers?|repetitive|stuck|degrad\w*|overhead|out of scope
    no (?:explicit|guarantee)"""
)
_NAMED_LIMIT = _words(r"limitation|drawback|disadvantage|shortcoming|weakness|caveat|downside|future", after=r"\w*")
_TELLS_ABOUT = _words(
    r"discuss|describe|outline|review|list|examine|address|overcome",
    before=r"\b(?:we|this section|the authors) (?:\w+ )?",
)


@dataclass(frozen=True)
class Statement:
    """A sentence with what is known of its surroundings.

    Attributes:
        own: names of the paper's own systems and data.
        is_listed: an item of the list of contributions.
        share: how much of the section stands before it, 0 to 1.
    """

    text: str
    zone: Zone
    own: frozenset[str]
    is_listed: bool = False
    share: float = 0.0

    def has(self, *cues: re.Pattern[str]) -> bool:
        return any(cue.search(self.text) for cue in cues)

    @property
    def names_own(self) -> bool:
        return any(re.search(rf"(?<![\w-]){re.escape(name)}(?!\w)", self.text) for name in self.own)

    @property
    def gift(self) -> str | None:
        """Name of what it introduces."""
        match = _GIVES.search(self.text)
        after = self.text[match.end() : match.end() + 80] if match else ""
        return next((name for name in sorted(self.own) if name in after), None)

    @property
    def is_own(self) -> bool:
        """Whether it speaks of this paper's work."""
        return self.has(SELF) or self.names_own

    @property
    def is_of_others(self) -> bool:
        """Whether it begins with other people's work and says nothing of its own before."""
        match = _OTHERS.search(self.text)
        return bool(match) and match.start() < 25 and not SELF.search(self.text[: match.start()])


def contribution(s: Statement) -> float:
    """How surely it says what the paper gives; 0 where it does not."""
    base = {"abstract": 0.9, "introduction": 1.0, "conclusion": 0.5, "discussion": 0.2, "body": 0.2, "method": 0.25}
    if s.zone not in base or s.is_of_others or s.has(_PLANS, _ROADMAP):
        return 0.0
    gives, claims = _GIVES.search(s.text), s.has(_CLAIMS)
    if s.is_listed and (gives or claims or not finding(s)):
        return base[s.zone] + 0.8
    if not gives and not claims:
        return 0.0
    if gives and not claims and _NO_GIFT.search(s.text[gives.end() : gives.end() + 60]):
        return 0.0
    is_small = bool(gives) and not claims and bool(_SMALL_GIFT.search(gives.group(0)))
    return base[s.zone] + 0.3 * claims + 0.15 * s.names_own - 0.35 * is_small


def method(s: Statement) -> float:
    """How surely it says how the paper's system or study works; 0 where it does not."""
    base = {"abstract": 0.7, "method": 0.6, "body": 0.45, "introduction": 0.4, "setup": 0.05, "conclusion": 0.1}
    if s.zone not in base or s.is_of_others or s.has(_PLANS, _ROADMAP, *_ADMITS):
        return 0.0
    does, works = s.has(_DOES), s.is_own and s.has(_WORKS)
    if not does and not works:
        return 0.0
    gain = 0.25 * (works and s.names_own) + 0.15 * does
    loss = 0.25 * s.share + 0.4 * s.has(_NUMBER, _FINDS) + 0.5 * s.has(_TRIVIA) + 0.15 * s.has(_POINTS)
    return max(0.0, base[s.zone] + gain - loss)


def finding(s: Statement) -> float:
    """How surely it says what came out; 0 where it does not."""
    base = {
        "abstract": 0.7, "introduction": 0.45, "results": 0.5, "discussion": 0.4, "conclusion": 0.55, "body": 0.15,
        "method": 0.1,
    }  # fmt: skip
    if s.zone not in base or s.is_of_others or s.has(*_NO_FINDING):
        return 0.0
    finds, better, number = s.has(_FINDS), s.has(_BETTER), s.has(_NUMBER)
    if not finds and not (better and (s.is_own or number)):
        return 0.0
    if s.zone in ("introduction", "body", "method") and not s.is_own:
        return 0.0
    gain = 0.25 * finds + 0.3 * better + 0.3 * number + 0.15 * s.is_own
    return base[s.zone] + gain - 0.25 * s.has(_POINTS) - 0.3 * s.has(_VACUOUS)


def limitation(s: Statement) -> float:
    """How surely it says what the paper's work does not do; 0 where it does not."""
    if s.zone == "setup" or s.is_of_others or s.has(_TELLS_ABOUT):
        return 0.0
    admits = s.has(*_ADMITS)
    if s.zone == "limitations":
        if not admits and (not s.has(_HEDGES) or s.has(_FINDS)):
            return 0.0
        return 1.0 + 0.4 * admits + 0.2 * s.is_own - 0.4 * s.has(_PLANS) - 0.2 * s.share
    is_named = s.has(_NAMED_LIMIT)
    is_own = s.is_own or (is_named and s.zone in ("discussion", "conclusion"))
    if not admits or not is_own or s.has(_PLANS) or (s.has(_FINDS) and not is_named):
        return 0.0
    base = {"discussion": 0.8, "conclusion": 0.8, "results": 0.35, "abstract": 0.4, "introduction": 0.2}
    return base.get(s.zone, 0.2) + 0.5 * is_named
