"""Facets: headings under which surveys gather papers whatever they are about.

A facet is known by words of titles alone, since every abstract speaks of a benchmark. Belongs here: which there are.
Not here: phrases that titles share (`concepts`), and which headings divide a set of papers (`grouping`).
"""

import re
from collections.abc import Mapping

_WHOLE: tuple[tuple[str, str], ...] = (
    ("Evaluation and Benchmarks", r"evaluat\w+|benchmark\w*|metrics?|diagnos(?:e|ing)"),
    (
        "Security and Privacy",
        r"attack\w*|poison\w*|backdoor\w*|privacy|private|adversarial|jailbreak\w*|vulnerabilit\w+|inject\w+",
    ),
    (
        "Domain-Specific Applications",
        r"medic\w+|clinic\w+|health\w*|biomedic\w+|legal|law|financ\w+|education\w*|agricultur\w+|chemi\w+|scientific|"
        r"customer|enterprise|industr\w+",
    ),
)
_OF_PARTS: tuple[tuple[str, str], ...] = (
    ("Efficiency", r"efficien\w+|fast\w*|accelerat\w+|compress\w+|prun\w+|quanti[sz]\w+|latency|lightweight|cheap\w*"),
    ("Robustness", r"robust\w*|noise|noisy|perturb\w+|distract\w+|irrelevant|conflict\w*"),
    ("Multilingual Settings", r"multi-?lingual|cross-?lingual|low-resource|chinese|arabic|japanese|languages"),
    ("Multimodal Settings", r"multi-?modal\w*|image\w*|vision|visual\w*|video\w*|speech|audio"),
    ("Interpretability", r"explain\w*|explanat\w+|interpret\w*|attribut\w+|probing"),
    ("Prompting", r"prompt\w*|in-context|few-shot|zero-shot|chain-of-thought|demonstrations?|instructions?"),
    ("Structured Knowledge", r"knowledge graphs?|knowledge bases?|tables?|tabular|structured|graphs?|ontolog\w+"),
    ("Reasoning", r"reason\w*|multi-?hop|logic\w*|commonsense|math\w*|planning"),
    ("Pre-Training", r"pre-?train\w*"),
    ("Datasets", r"datasets?|corpus|corpora|collections?|annotat\w+"),
    ("Human Judgement", r"humans?|annotators?|preferences?|crowd\w*|experts?|users?"),
    ("Conversation", r"dialog\w*|conversation\w*|chat\w*"),
    ("Code", r"code|programs?|programming|software|sql"),
    ("Long Contexts", r"long(?:-|er )?(?:context|form|document|text)s?|memory"),
    ("Learning with Few Labels", r"unsupervised|self-supervised|semi-supervised|contrastive|distill\w+|weak\w*"),
)
_WHOLE_FACETS, _PART_FACETS = (
    tuple((text, re.compile(rf"\b(?:{words})\b", re.IGNORECASE)) for text, words in group)
    for group in (_WHOLE, (*_WHOLE, *_OF_PARTS))
)
_LEAST_OF_PART = 3


def facets_named(titles: Mapping[str, str], topic: str, *, is_whole: bool) -> dict[str, frozenset[str]]:
    """Facet → the papers whose titles speak of it.

    A facet whose words the topic itself speaks of divides nothing: "Evaluation and Benchmarks" of an evaluation.

    Args:
        titles: paper id → title.
        topic: the topic, and the heading of the section whose parts are looked for.
        is_whole: the papers are those of a whole survey; the parts of a section have further facets.
    """
    least = 2 if is_whole else _LEAST_OF_PART
    found = {}
    for text, words in _WHOLE_FACETS if is_whole else _PART_FACETS:
        named = frozenset(p for p, title in titles.items() if words.search(title))
        if len(named) >= least and not words.search(topic):
            found[text] = named
    return found
