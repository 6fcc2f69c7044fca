"""What a sentence leans on: the introduction of a name it uses, or the sentence before it in its abstract.

Belongs here: telling which sentences need another of their paper before them. Not here: sentences that can never be
printed (`standing`) and putting them in order (`arranging`).
"""

import re
from dataclasses import dataclass

from generation.extractive.cards import own_names
from generation.extractive.introducing import GIVES, introduced_in, named_in
from generation.extractive.sentences import SourceSentence
from generation.values import Paper

_EARLY = 0.25
# Results of somebody's, and things that were told of before.
_RESULTS = re.compile(
    r"(?:(?:Extensive|Comprehensive|Experimental|Empirical|Our|Further|Human|Automatic|Numerical|Detailed|Thorough|Ablation|Additional|"
    r"Simulation|Evaluation|Qualitative|Quantitative|Theoretical) )*(?:results?|experiments?|evaluations?|analys[ie]s|findings|studies|ablations?|"
    r"According to|Results?|Experiments?|Evaluations?|Analys[ie]s|Findings|Ablations?)\b"
)
_OWNED = re.compile(
    r"\b(?:its|their) (?:[\w-]+ ){0,3}?(?:methods?|approach(?:es)?|models?|framework|system|technique|algorithm|architecture|dataset|benchmark|results|"
    r"strategy|predictor|metrics?|pipeline|agent|findings|evaluation|experiments|training|classifier|retriever|generator)\b"
)
# "A reranker is adopted …": by whom, in what?
_PASSIVE = re.compile(
    r"An? [^,;]{3,90}?\b(?:is|are) (?:\w+ )?(?:presented|proposed|introduced|adopted|designed|developed|used|employed|applied|built|"
    r"trained|constructed|utilized|performed|conducted|added|created)\b"
)
_SUBJECT = re.compile(r"(?P<name>[A-Za-z]*[A-Z0-9][\w+-]*[A-Z][\w+-]*|[A-Z][a-z]+[A-Z][\w+-]*)(?:'s)? (?=[a-z]+)")
# Models and data that every reader of the field knows; others need somebody who says what they are.
_KNOWN = re.compile(
    r"(?:LLM|LLMs|PLMs?|LMs?|RAG|GNNs?|GCNs?|KGs?|NLP|AI|QA|ICL|GPT[\w.-]*|ChatGPT|InstructGPT|BERT|RoBERTa|T5|BART|LLa[Mm][Aa][\w-]*|PaLM[\w-]*|"
    r"CLIP|DPR|BM25|REALM|HotpotQA|TriviaQA|SQuAD|BEIR|MMLU|GLUE|SuperGLUE|GAT|GraphSAGE|Transformers?|RNNs?|CNNs?|LSTMs?|MLPs?|RLHF|CoT|IR|KBs?|"
    r"[A-Z]{2,4}s)$"
)
_PROPOSED = re.compile(r"\b(?:its|their|the) (?:newly |recently )?(?:proposed|introduced|presented|developed)\b")
_SUCH = re.compile(r"\bsuch (?:an? )?[a-z-]+\b(?<!such as)(?! as\b)")
# "The embeddings are concatenated", "During training, the reader …": something said just before.
_DEFINITE = re.compile(
    r"(?:The|During|In (?:the|each|both|all)|With (?:the|an?)|At (?:the|each)|Through|By|After|Before|From|On the|Given|Using|"
    r"Then|Next|Once|For (?:the|each|both|all)|To|Each|Under|Across|When|While|Compared|Without|Among|Within)\b"
)
_OF_SOMETHING = re.compile(
    r"The (?:[\w-]+ ){0,3}?(?:of|for|in|to|between|that|behind)\b(?! (?:the|each|an?) (?:model|method|system|framework|"
    r"retriever|reader|generator|network|two|brainstorming))|"
    r"The (?:abilit|goal|rise|advent|emergence|success|rapid|recent|lack|use|need|quality|performance|problem|task)"
)


@dataclass(frozen=True)
class Leaning:
    """What must stand before a sentence.

    Attributes:
        introduces: names of the paper's own systems that it introduces.
        uses: those it uses without.
        on_paper: a sentence of its paper, because it says "the authors" or "the method".
        on_last: the sentence right before it in its source.
    """

    introduces: frozenset[str]
    uses: frozenset[str]
    on_paper: bool
    on_last: bool

    @property
    def is_free(self) -> bool:
        """Whether it may be the first that is said of its paper."""
        return not (self.uses or self.on_paper or self.on_last)


def leaning(
    source: SourceSentence,
    text: str,
    paper: Paper,
    *,
    names_speaker: bool,
    follows: bool,
    is_changed: bool,
    is_owner_named: bool,
) -> Leaning:
    """What the sentence leans on as it would be printed.

    Args:
        text: as printed.
        names_speaker: it says who did or says it.
        follows: only behind another of its paper it can be worded.
        is_owner_named: it speaks of somebody's method or results without saying what they are.
        is_changed: who shows it was taken from its beginning, so that it is told as a fact.
    """
    own = own_names(paper)
    subject = _SUBJECT.match(text)
    name = subject.group("name") if subject else ""
    if name and not _KNOWN.match(name) and (paper.abstract or "").count(name) > 1 and not own:
        own = frozenset([name])
    introduces = introduced_in(text, own)
    if source.move == "method" and name in own:
        introduces |= {name}  # what it does says what it is
    uses = set(named_in(text, own) - introduces)
    is_told = source.move == "finding" or source.span.source == "passage"
    if is_told and subject and subject.group("name") not in introduces and not _KNOWN.match(subject.group("name")):
        uses |= {subject.group("name")}
    is_late = source.position >= _EARLY or source.span.source == "passage"
    on_last = (
        is_late
        and not (source.move == "open" and source.span.source == "passage")  # chosen to stand by itself (`fulltext`)
        and not names_speaker
        and not introduces
        and bool(_DEFINITE.match(text) or _PASSIVE.match(text))
        and not (_OF_SOMETHING.match(text) and source.move in ("problem", "open"))
    )
    if source.move == "method" and not names_speaker and not introduces and not uses:
        # A mechanism, or what somebody else's system does.
        on_last |= is_late or bool(subject and own)
    is_owned = (
        names_speaker
        and source.move in ("finding", "method")
        and (is_owner_named or (bool(_OWNED.search(text)) and not GIVES.search(_PROPOSED.sub("", text))))
    )
    is_bare = (
        source.move == "finding" and is_late and not names_speaker and not introduces and not uses and not is_changed
    )
    on_paper = (
        follows
        or is_bare
        or (is_owned and not introduces)
        or (source.move == "finding" and bool(_RESULTS.match(text)) and not uses)
    )
    on_last = (on_last and not uses) or bool(_SUCH.search(text))
    return Leaning(introduces, frozenset(uses), on_paper, on_last)
