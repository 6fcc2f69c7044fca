"""What is composed around a model's prose: figures of the corpus come from the lake, never from a model.

The sentences are the extractive writer's where they are true of both (`extractive.composing`); what a text was written
from and by whom is told here.
"""

from generation.extractive import composing
from generation.extractive.composing import compose, turn
from generation.model_writer.showing import role_of
from generation.naming import listed
from generation.values import Paragraph, Sentence, StatedRow
from generation.writing import DraftRequest

WRITTEN = (
    "The prose was written by the language model {model}; each cited sentence was held against what its papers say, "
    "and the lineage of a sentence names the call that wrote it."
)
# Which of the three holds is known when all sections are written; the others are dropped then.
OWN_WORDS = "Of all {own_words_count} cited papers the model was shown the authors' abstracts."
SUMMARIES = (
    "All {summaries_only_count} cited papers were represented to it by summaries that the project wrote, not by the "
    "authors' abstracts."
)
MIXED = (
    "It was shown the authors' abstracts of {own_count} of the cited papers, and of {summary_count} summaries by the "
    "project, whose words are not the authors'."
)
FULL_TEXT = (
    "For {full_text_count} of the cited papers what bears a sentence also lies in the PDF that is held, and the "
    "lineage of such a sentence names its page."
)


def composed_for(request: DraftRequest, model: str) -> Paragraph:
    """The paragraph composed behind a model's prose, () where the role has none."""
    facts = {fact.name: fact for fact in request.facts}
    most = facts.pop("most_cited_id", None)
    role = role_of(request)
    if not facts:
        return ()
    if role == "lead":
        stated = [compose(turn(composing.LEADS, request.number), facts)]
        return (*stated, *_most_cited(turn(composing.MOST_CITED, request.number), facts, most))
    if role == "introduction":
        facts["model"] = StatedRow("model", model)
        said = (composing.SCOPE, WRITTEN, OWN_WORDS, SUMMARIES, MIXED, FULL_TEXT)
        plan = [
            f"{title} (Section {number})"
            for number, title, of in request.outline
            if of == "body" and "." not in number
        ]  # fmt: skip
        stated = [compose(template, facts) for template in said]
        if plan:
            stated.append(compose(composing.PLAN, {"plan": StatedRow("plan", listed(plan))}))
        return tuple(stated)
    if role == "conclusion":
        stated = [compose(composing.FIGURES, facts)]
        return (*stated, *_most_cited(composing.MOST_CITED_OF_ALL, facts, most))
    return ()


def _most_cited(template: str, facts: dict[str, StatedRow], most: StatedRow | None) -> list[Sentence]:
    return [compose(template, facts, [most.value])] if most and "most_citations" in facts else []
