"""Merging rough outlines by levels: as many at once as fit, until one is left.

How many calls that takes depends on the number of rough outlines and on how long the schema lets them be, so that it
can be planned. Not here: asking (`writer`).
"""

import math
from collections.abc import Sequence

from generation.language_models.calls import ModelSettings
from generation.model_writer import schemas
from generation.model_writer.calls import FRAMING, Built, call_of, template_of, unfitting
from generation.model_writer.fitting import Count, Shown
from generation.model_writer.showing import (
    LONGEST_TITLE,
    is_brief,
    one_line,
    pattern_lines,
    patterns_room,
    proposal,
    topic_line,
)
from generation.prompting.fencing import fence_for, fenced
from generation.writing import MergeRequest, SectionPlan

_FRAME, _FRAME_BRIEF = 700, 560
"""Tokens of the merge template without outlines, and of its short form."""

_CHARACTERS_PER_TOKEN = 3.0
_LEAST_FAN = 5
"""Rough outlines that should be merged at once before less is shown of each."""


def merge_call(
    settings: ModelSettings, count: Count, request: MergeRequest, rough: Sequence[Sequence[SectionPlan]]
) -> Built:
    """One outline of some of the rough ones."""
    form = schemas.sections_form(settings, "merge", request.section_count)
    _, title, description = _shape(settings, request.section_count)
    examples = pattern_lines(settings, count, request.patterns)
    template = template_of("merge")
    taken = [one_line(t, LONGEST_TITLE) for t in request.taken if t]
    # What fits least is left out first: examples, then what the headings are about.
    for patterns, longest in ((examples, description), ((), description), ((), description // 2), ((), 0)):
        proposals = [proposal(plans, title, longest) for plans in rough]
        fence = fence_for([line for lines in (*proposals, *patterns) for line in lines])
        messages = template.messages(
            topic=topic_line(request.topic),
            section_count=request.section_count,
            outlines="\n\n".join(fenced("outline-text", lines, fence) for lines in proposals),
            outline_count=len(proposals),
            patterns="\n\n".join(fenced("outline-text", lines, fence) for lines in patterns),
            taken=", ".join(dict.fromkeys([*taken, *FRAMING])),
            is_brief=is_brief(settings),
        )
        if count(messages, form.schema) + form.most_tokens <= settings.window:
            return Built(call_of(template, messages, form, topic_line(request.topic), Shown(())))
    empty = template.messages(
        topic="", section_count=request.section_count, outlines="", outline_count=len(rough), patterns="", taken="",
        is_brief=is_brief(settings),
    )  # fmt: skip
    raise unfitting(settings, count, template, empty, form, request.topic)


def merge_fan(settings: ModelSettings, section_count: int) -> int:
    """Rough outlines that one merge takes: as many as fit the window when each is as long as it may be shown."""
    return _shape(settings, section_count)[0]


def _shape(settings: ModelSettings, section_count: int) -> tuple[int, int, int]:
    """Rough outlines at once, and characters of a title and of a description they are shown with.

    Descriptions are shortened before fewer than a few outlines are merged at once.
    """
    form = schemas.sections_form(settings, "merge", section_count)
    title, description = schemas.longest_heading(settings, "outline", section_count)
    frame = _FRAME_BRIEF if is_brief(settings) else _FRAME
    room = (settings.window - form.most_tokens - patterns_room(settings)) / settings.token_margin - frame
    for longest in (description, *(d for d in (180, 120, 80, 50, 0) if d < description)):
        each = 40 + section_count * (6 + math.ceil((title + longest) / _CHARACTERS_PER_TOKEN))
        if room // each >= _LEAST_FAN:
            return int(room // each), title, longest
    return max(2, int(room // each)), title, 0


def merge_calls(settings: ModelSettings, rough_count: int, section_count: int) -> int:
    """Calls to merge so many rough outlines; none for one, which is the outline."""
    return sum(len([g for g in groups if g > 1]) for groups in _rounds(rough_count, merge_fan(settings, section_count)))


def groups_of(count: int, fan: int) -> list[int]:
    """Sizes of the groups that `count` outlines are merged in, as equal as can be."""
    groups = math.ceil(count / fan)
    return [count * (i + 1) // groups - count * i // groups for i in range(groups)]


def _rounds(count: int, fan: int) -> list[list[int]]:
    rounds = []
    while count > 1:
        rounds.append(groups_of(count, fan))
        count = len(rounds[-1])
    return rounds
