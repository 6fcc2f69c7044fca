"""Which code decides what a model's text and cards are: its hash is a part of their versions.

A module that is not named here may change without a survey or a card being written anew. So that none is forgotten, a
test walks all imports from `FROM` and `CARDS_FROM` and knows each module that is left out, with the reason.
"""

from corpus.hashing import sources_hash

FROM = ("generation/model_writer/writer.py",)
CARDS_FROM = (
    "generation/model_writer/cards.py", "generation/model_writer/calls.py", "generation/model_writer/asking.py",
)  # fmt: skip
"""Where the code of texts and of cards begins."""

_BOTH = (
    "generation/language_models/replies.py",
    "generation/language_models/tokens.py",  # decides what fits
    "generation/mathtext.py",
    "generation/model_writer/asking.py",
    "generation/model_writer/calls.py",
    "generation/model_writer/fitting.py",
    "generation/model_writer/schemas.py",
    "generation/model_writer/showing.py",
    "generation/model_writer/texts.py",
    "generation/prompting/fencing.py",
    "generation/prompting/instructions.py",
    "generation/prompting/templates.py",
    "ingestion/identity.py",
    "ingestion/paper_key.py",
    "ingestion/sentences.py",
)
CODE = (
    *_BOTH,
    "generation/captions.py",
    "generation/citations.py",
    "generation/extractive/composing.py",
    "generation/extractive/concepts.py",  # this, facets, grouping and patterns: an outline that the model did not give
    "generation/extractive/facets.py",
    "generation/extractive/grouping.py",
    "generation/extractive/phrases.py",
    "generation/extractive/sentences.py",
    "generation/grounding.py",
    "generation/grounding_sources.py",
    "generation/grounding_terms.py",
    "generation/model_writer/fallback.py",
    "generation/model_writer/framing.py",
    "generation/model_writer/grounding_rounds.py",
    "generation/model_writer/merging.py",
    "generation/model_writer/section_plans.py",
    "generation/model_writer/tables.py",
    "generation/model_writer/writer.py",
    "generation/naming.py",
    "generation/outline_plans.py",
    "generation/patterns.py",
    "generation/stated_works.py",
    "generation/tidying.py",
)
"""Modules that decide what is asked for a text and what is made of the reply."""

CARD_CODE = (*_BOTH, "generation/model_writer/cards.py", "generation/support.py", "generation/zones.py")
"""Modules that decide what a card is."""


def code_hash(names: tuple[str, ...]) -> str:
    """Hash of the sources of modules."""
    return sources_hash(names)
