"""Composed sentences: templates of ours and the rows they state.

Every number comes as a fact with the query that gives it; a template never holds one itself.
"""

from collections.abc import Mapping, Sequence

from generation.values import Sentence, StatedRow


def compose(template: str, facts: Mapping[str, StatedRow], cited: Sequence[str] = ()) -> Sentence:
    """A sentence from a template and the facts it names.

    Raises:
        KeyError: the template names a fact that is not given.
    """
    names = [name for name in facts if "{" + name + "}" in template]
    text = template.format(**{name: facts[name].value for name in facts})
    return Sentence("composed", text, tuple(cited), template=template, rows=tuple(facts[name] for name in names))
