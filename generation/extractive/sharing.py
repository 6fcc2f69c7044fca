"""What several papers have in common by their titles and abstracts: names of data and models, and phrases.

Each common thing comes with the query that counts the papers, which finds them exactly as this module does: the text is
matched as a whole word, by RE2 and by `re` alike (ASCII word boundaries). Not here: what is said of it (`connecting`).
"""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache

from generation.extractive.agreement import third_person
from generation.extractive.cards import own_names
from generation.extractive.phrases import STOP_WORDS, WORD, content_stems, root, stem
from generation.naming import quoted
from generation.values import Paper

_NAME = re.compile(
    r"(?<![\w.-])(?:MS[ -]MARCO|Natural Questions|[A-Z]?[a-z]*[A-Z][\w+-]*[A-Z0-9][\w+-]*|[A-Z][a-z]+-?\d(?:\.\d)?|"
    r"[A-Z][a-z]*[A-Z]\w*)(?![\w-])"
)
# Names of fields, tasks and kinds of model, which any abstract has.
_KINDS = frozenset(
    """
    ChatGPT GPT-2 GPT-3 GPT-3.5 GPT-4 GPT3 GPT4 OpenAI LLaMA Llama LLM LLMs NLP AI ML RAG QA GNN GNNs GCN GCNs PLM PLMs LM LMs KG KGs KB KBs NLU NLG NLI IR IE NER MT GPU GPUs API APIs SQL
    COVID-19 SOTA F1 ODQA LSTM CNN RNN CNNs RNNs DNN DNNs MLP MLPs GAN GANs RL RLHF ICL CoT NMT ASR VQA GAT GATs LSTMs AMR OOD
    KGE KGC KGQA EM ROUGE-L SFT DPO PEFT LoRA SRL TOD IID SSL CL DR KGEs LVLM LVLMs MLLM MLLMs VLM VLMs GPTs ChatGPTs AGI GPT BERTs GPT-like
    """.split()  # noqa: SIM905 - a list of words is read and sorted as text
)
_LEAST = 3
_MOST_NAMES = 3
_MOST_SHARE = 0.2
_RARE = 0.12
"""Share of the evidence that may have a phrase which is in no title of the group."""

_MOST_CITED = 9
"""Papers that one sentence on names cites at most, unless the first name alone has more."""
# A phrase that stands without an article: a plural, or a word for what is not counted.
_STANDS = re.compile(
    r"(?:[^su]s|tion|sion|ing|ity|ment|ence|ance|ness|ism|cy|logy|retrieval|knowledge|search|data|memory|attention|"
    r"inference|supervision|\btext|\bcode|bias)$"
)
_PLAIN = re.compile(r"[a-z][a-z-]+")
_WEAK = frozenset(
    """
    paper work study method approach model framework result experiment performance task problem dataset data baseline
    benchmark state art novel new existing recent previous propose show introduce present demonstrate achieve improve
    outperform large language different various several multiple significant extensive empirical experimental high low
    better best effective efficient effectively efficiently wide range set code available publicly release proposed first two three number
    challenge issue question ability capability important key general specific real world current art the-art natural processing find insight valuable potential success limitation future direction research finding comparison solution improvement gap year community field domain area found reveal observe
    train training based evaluation evaluate system address provide research application use using used many human level order
    """.split()  # noqa: SIM905
)
WEAK_ROOTS = frozenset(root(stem(word)) for word in _WEAK)


@dataclass(frozen=True)
class Shared:
    """A name or phrase with the papers that have it in title or abstract, and the query that counts them."""

    text: str
    paper_ids: tuple[str, ...]
    query: str


def has_text(paper: Paper, text: str, *, any_case: bool) -> bool:
    """Whether title or abstract has the text as a whole word or words: what the query asks."""
    return bool(_pattern(text, any_case).search(_said(paper)))


def counted(text: str, papers: Sequence[Paper], *, any_case: bool) -> Shared:
    """The papers, of those given, that have the text; the query counts them among the same."""
    held = tuple(p.paper_id for p in papers if has_text(p, text, any_case=any_case))
    expression = _expression(text, any_case).replace("'", "''")
    query = f"{count_query(papers)} AND regexp_matches(title || ' ' || coalesce(abstract, ''), '{expression}')"
    return Shared(text, held, query)


def count_query(papers: Sequence[Paper]) -> str:
    """The query that counts these papers."""
    ids = ", ".join(quoted(p.paper_id) for p in papers)
    return f"SELECT count(*) FROM papers WHERE paper_id IN ({ids})"  # noqa: S608


def shared_names(papers: Sequence[Paper], taken: Collection[str] = (), least: int = _LEAST) -> list[Shared]:
    """Names of data and models that at least `least` of the papers give, the commonest first, three at most.

    No abbreviation that an abstract explains, since such a name is a word for a matter, and no paper's own system.

    Args:
        taken: words that the section's heading or topic has.
    """
    texts = [_said(p) for p in papers]
    counts = Counter(name for text in texts for name in set(_NAME.findall(text)))
    explained = {m for text in texts for m in re.findall(r"[a-z][\w-]* \(([A-Z][\w-]*?)s?\)", text)}
    own = {name for p in papers for name in own_names(p)}
    left = [
        name
        for name, count in counts.items()
        if count >= least and name not in _KINDS and name.removesuffix("s") not in explained | _KINDS
        and name not in own and name.lower() not in {t.lower() for t in taken} and len(name) > 2
        and not re.search(r"-[a-z]+$|^[A-Z][a-z]+(?:-[A-Z][a-z]+)+$", name)
    ]  # fmt: skip
    found = [counted(name, papers, any_case=False) for name in left]
    found = [s for s in found if least <= len(s.paper_ids) <= max(least, 0.5 * len(papers) + 1)]
    kept: list[Shared] = []
    for item in sorted(found, key=lambda s: (-len(s.paper_ids), s.text))[:_MOST_NAMES]:
        if not kept or len({p for s in (*kept, item) for p in s.paper_ids}) <= _MOST_CITED:
            kept.append(item)
    return kept


def shared_phrase(
    group: Sequence[Paper],
    around: Sequence[Paper],
    taken: Collection[str],
    headings: Sequence[frozenset[str]] = (),
    said: Collection[str] = (),
) -> Shared | None:
    """The most telling phrase of two or three words that at least three papers of the group have; None without one.

    One has it in its title, or few others of the evidence have it; words of heading and topic say nothing new.

    Args:
        around: the section's evidence: what many of it have tells nothing of the group.
        taken: roots of words of heading and topic.
        headings: roots of each heading of the survey: a phrase within one tells where something stands, not what.
        said: phrases that were used before.
    """
    if len(group) < _LEAST:
        return None
    titles = Counter(phrase for p in group for phrase in _phrases_of(p.title))
    held = Counter(phrase for p in group for phrase in _phrases_of(_said(p)))
    best: tuple[float, str] | None = None
    for phrase, count in held.items():
        stems = {root(s) for s in content_stems(phrase)}
        is_telling = (
            third_person(phrase.split()[0]) is None
            and phrase not in said
            and _STANDS.search(phrase)
            and not stems <= set(taken)
        )
        is_telling = is_telling and not any(stems <= heading for heading in headings)
        if count < _LEAST or not is_telling:
            continue
        share = sum(phrase in _phrases_of(_said(p)) for p in around) / max(len(around), 1)
        if share > (_MOST_SHARE if titles[phrase] else _RARE):
            continue
        score = (
            min(count, _LEAST + 1) + titles[phrase] + 0.5 * len(phrase.split()) - 3 * share - len(stems & set(taken))
        )
        if best is None or (score, phrase) > best:
            best = (score, phrase)
    return counted(best[1], group, any_case=True) if best else None


@lru_cache(maxsize=16384)
def _phrases_of(text: str) -> frozenset[str]:
    """Phrases of two or three plain words that neither begin nor end with a weak one."""
    found = set()
    for part in re.split(r"[^\w\s-]", text):
        words = [w.lower() for w in WORD.findall(part)]
        for size in (2, 3):
            for i in range(len(words) - size + 1):
                piece = words[i : i + size]
                if all(_PLAIN.fullmatch(w) and w not in STOP_WORDS for w in piece) and not any(
                    _is_weak(w) for w in piece
                ):
                    found.add(" ".join(piece))
    return frozenset(found)


def _is_weak(word: str) -> bool:
    return (
        word in _WEAK
        or word.removesuffix("s") in _WEAK
        or word.endswith("ly")
        or (word.endswith("ed") and len(word) > 4 and "-" not in word)
    )


def _said(paper: Paper) -> str:
    return f"{paper.title} {paper.abstract or ''}"


def _expression(text: str, any_case: bool) -> str:
    escaped = re.sub(r"([\\.^$*+?{}\[\]|()])", r"\\\1", text)
    return ("(?i)" if any_case else "") + rf"\b{escaped}\b"


@lru_cache(maxsize=4096)
def _pattern(text: str, any_case: bool) -> re.Pattern[str]:
    return re.compile(_expression(text, any_case), re.ASCII)
