"""Whether a sentence can stand in a survey: it points at nothing that is not there.

Belongs here: the refusal of dangling sentences, judged on the sentence as it would be printed. Not here: repairing
them (`openings`, `adaptation`).
"""

import re

# Small capitals matter in the look-aheads ("the method of Lewis"), so that case is ignored only where it says so.
_NAMED = r"(?! (?:paper )?(?:of|by) (?:the )?[A-Z])"
_DANGLING = re.compile(
    r"^(?i:this|these|those|that|it|its|they|their|them|such|he|she|his|her|both|each|either|neither|ones?|another|"
    r"others?|all|some|many of (?:these|them)|most of (?:these|them)|none|and|but|or|so|which|where|when|while|whereas|"
    r"because|first|second|third|instead|similarly|otherwise|rather than|same|thereby|here|there are (?:two|three|four|"
    r"several))\b(?!-)"
    r"|^(?i:the) (?i:former|latter|same|above|resulting|proposed|other|two|three|four|five|key|core|main|whole|idea|"
    r"approach|methods?|models?|system|framework|algorithms?|technique|codes?|data|datasets?|results?|experiments?|"
    r"experimental|new|novel|first|second|third|last|final|benchmark|architecture|approaches|network|pipeline|source|"
    r"findings|study|work|competition|project|toolkit|learned|introduced|developed|presented|best|procedure|tool|"
    r"library|package|strategy|components?|modules?|retriever|generator|reader|paper|survey|review|article|extensive|"
    r"empirical|code|corpus|contributions?|motivation|intuition|insights?|authors|previous|remaining|corresponding|"
    r"invented|generated|retrieved|learnt)\b" + _NAMED
)
# "The goal" is somebody's unless it is the goal of something.
_UNRELATED = re.compile(
    r"^The (?:problem|tasks?|goal|aim|reason|solution|challenges?|evaluation|improvements?|gains|gap|need|success|"
    r"effectiveness|process|analysis|questions?|issues?|answer|training|performance|difference|advantage)\b"
    r"(?! (?:of|for|to|in|between|behind|by)\b)"
)
_NAMED_START = re.compile(
    r"^(?:The authors (?:of [A-Z]|[a-z])|One (?:paper|work|article|study|survey|review|thesis|report) )"
)
# A short subject with "the" and no word on which one: it was introduced in a sentence that is not here.
_BARE_SUBJECT = re.compile(
    r"^The (?:(?!of |in |for |from |to |by |on |with |that |which |between |behind |and |or )[a-z][a-z-]+ ){1,2}"
    r"(?:is|are|was|were|has|have|had|can|could|may|might|will|would|should|do|does|consists?|comprises?|achieves?|"
    r"outperforms?|shows?|uses?|requires?|provides?|enables?|allows?|contains?|includes?|covers?|supports?|leverages?|"
    r"employs?|demonstrates?|indicates?|reveals?|suggests?|highlights?|aims?|exhibits?|yields?|improves?|reduces?|"
    r"combines?|takes?|makes?|offers?|serves?|focus(?:es)?|relies|rely|leads?|involves?|remains?|integrates?|"
    r"generates?|operates?|works?|(?:re-)?[a-z]+s (?:a|an|the|that|its|their|each|all|both|whether|how|retrieved))\b"
)
_EARLY_POINTER = re.compile(
    r"^(?:[^\s.]+\s+){0,6}(?:(?:this|these|those|such|the (?:proposed|resulting|aforementioned|same|above)) "
    r"(?!as\b|that\b|is\b|an?\b|[a-z]+ing\b)[a-z]|next steps|one of them|two of them|many of them|to do so|doing so)",
    re.IGNORECASE,
)
_REFERS_ELSEWHERE = re.compile(
    r"https?:|www\.|\bwebsites?\b|code (?:repositor\w+|repertory)|github|huggingface|\barxiv\b|project page|"
    r"\bcodes? (?:is|are|"
    r"and|will|can)\b|\bavailable (?:at|on|from|here|via|under)\b|(?:publicly|freely|openly) (?:available|release\w*|"
    r"accessible)|\bopen-?sourc(?:e|ed|ing)\b (?:the|our|their|all)|\breleas(?:e|es|ed|ing) (?:the|our|their|all|code)|"
    r"\bmade (?:public|available)|\bto facilitate (?:further|future)|\b(?:above|below|see|fig(?:ure)?\.?|table|section|"
    r"appendix|supplement\w*|chapter|theorem|lemma|eq)\b \d|\b(?:aforementioned|as follows|the following|the former|"
    r"the latter|mentioned above|described above|in this setting|in this way|this end|of this paper|this talk|"
    r"this chapter|this thesis|discussed in|in this (?:paper|work|study)|the (?:study|competition|proposed|"
    r"present work|paper's|paper|above|shared task|organi[sz]ers|challenge track)|(?:this|these) (?:datasets?|tasks?|"
    r"benchmarks?|problems?|models?|methods?|approach(?:es)?|frameworks?|settings?|corpus|techniques?|strateg(?:y|ies)|"
    r"architectures?|systems?|issues?|challenges?|stud(?:y|ies)|works?|papers?|gaps?|questions?|goals?|limitations?|"
    r"difficult(?:y|ies)|shortcomings?|drawbacks?|phenomen(?:on|a)|needs?|requirements?|findings?|observations?|"
    r"insights?|dilemma|tension|direction|purpose|regard|survey|review|article|paradigm|components?|modules?|aspects?|"
    r"factors?|concerns?|obstacles?|abilit(?:y|ies)|two|three|four|area|field))\b" + _NAMED,
    re.IGNORECASE,
)
# A pronoun near the start, before anybody is named, stands for something said before.
_EARLY_PRONOUN = re.compile(r"^(?:(?!et al\.)[\w’'-]+,? ){0,6}(?:their|its|them|they|it)\b(?! is (?:un)?clear)")
_PRIOR = re.compile(
    r"\b(?:this|these)\b|\bet al\. [a-z]+ (?:its|it|them|so)\b|\bsuch (?:new|an? approach|methods?|approaches)\b|"
    r"\bthose (?!of\b|that\b|who\b|with\b|in\b|from\b|without\b|using\b|which\b)|\b(?:both|the two|all three|"
    r"the three) (?:aspects|issues|problems|tasks|settings|scenarios|stages|steps|factors|sources|worlds|cases)\b|"
    r"\bthe (?:scenario|resulting|previous \w+|latter|former)\b|\bas mentioned\b"
)


def stands_alone(text: str) -> bool:
    """Whether a reader who sees only this sentence knows what it speaks of."""
    if _REFERS_ELSEWHERE.search(text.removeprefix("The authors")) or _PRIOR.search(text):
        return False
    if _NAMED_START.match(text):
        return True
    return not (
        _DANGLING.match(text)
        or _UNRELATED.match(text)
        or _BARE_SUBJECT.match(text)
        or _EARLY_POINTER.match(text)
        or _EARLY_PRONOUN.match(text)
    )
