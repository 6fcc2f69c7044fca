"""Composed sentences: templates of ours and the rows they state.

Every number comes as a fact with the query that gives it; a template never holds one itself. A template is used once
in a survey where there are enough of its kind.
"""

from collections.abc import Mapping, Sequence

from generation.values import Sentence, StatedRow

SCOPE = (
    "This survey covers the literature on “{topic_title}” up to {cutoff}: {admitted_count} papers of the corpus are "
    "admitted by that day, {pool_count} of them were retrieved for the topic, and {cited_count} are cited."
)
# Which of the three holds is known when all sections are written; the others are dropped then, since their facts
# stay unknown (`generation.facts`).
OWN_WORDS = (
    "The text rests on the authors' abstracts of all {own_words_count} cited papers: a sentence in quotation marks "
    "stands in "
    "an abstract word for word, and others were changed only in naming who speaks and in dropping what points "
    "elsewhere."
)
SUMMARIES = (
    "All {summaries_only_count} cited papers are represented by summaries written by the project, so that no "
    "sentence is the "
    "authors' own; each stands in a summary word for word or was changed only in naming who speaks and in dropping "
    "what "
    "points elsewhere."
)
MIXED = (
    "For {own_count} of the cited papers the text rests on the authors' abstracts, for {summary_count} on summaries "
    "by the "
    "project, whose words are not the authors'; sentences were changed only in naming who speaks and in dropping what "
    "points elsewhere."
)
FULL_TEXT = (
    "For {full_text_count} of the cited papers sentences also come from the PDF that is held, and the lineage of such a "
    "sentence names its page."
)
PLAN = "The survey takes up {plan}."
LEADS = (
    "{section_papers} papers of the pool belong here, submitted between {first_year} and {last_year}; the "
    "subsections take "
    "up {parts}.",
    "The pool's {section_papers} papers on the subject date from {first_year} to {last_year} and are treated under "
    "{parts}.",
    "What follows goes through {parts}, on which {section_papers} papers were retrieved, from {first_year} to "
    "{last_year}.",
    "From {first_year} to {last_year} the pool counts {section_papers} papers here, divided into {parts}.",
)
# Edges that only the papers' own texts give are not counted: which texts have been read depends on earlier surveys.
MOST_CITED = (
    "By the sources' citation data the most cited of them is “{most_title}”, with {most_citations} citing papers.",
    "Most often cited in the sources' citation data is “{most_title}”, by {most_citations} papers.",
    "In the sources' citation data {most_citations} papers cite “{most_title}”, more than any other of the section.",
    "“{most_title}” has {most_citations} citing papers in the sources' citation data, the most of the section.",
)
FIGURES = (
    "Across {body_count} sections the survey cites {cited_count} papers submitted between {first_year} and "
    "{last_year}; the "
    "largest section is “{largest_section}”, with {largest_count} of them."
)
MOST_CITED_OF_ALL = (
    "In the sources' citation data the paper cited most often is “{most_title}”, by {most_citations} others."
)
NEWEST = "Among the newest papers cited are the following findings."


def compose(template: str, facts: Mapping[str, StatedRow], cited: Sequence[str] = ()) -> Sentence:
    """A sentence from a template and the facts it names.

    Raises:
        KeyError: the template names a fact that is not given.
    """
    names = [name for name in facts if "{" + name + "}" in template]
    text = template.format(**{name: facts[name].value for name in facts})
    return Sentence("composed", text, tuple(cited), template=template, rows=tuple(facts[name] for name in names))


def turn(templates: Sequence[str], number: str) -> str:
    """The template of a section, in turns by its number."""
    return templates[int(number.split(".")[0]) % len(templates)]
