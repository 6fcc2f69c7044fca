"""Tables by a model: rows of its reply as sentences, each cell held against its paper before it is printed.

Captions and columns are those of `generation.captions`. Not here: asking (`writer`).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from generation.captions import COMPARISON
from generation.grounding import Embed, check_draft, sources_of
from generation.language_models.replies import Reading, guarded, read
from generation.model_writer.schemas import ComparedRow, CompareReply
from generation.model_writer.texts import is_prose, is_whole, plain
from generation.outline_plans import heading_key
from generation.stated_works import work_and_year
from generation.values import Paper, Paragraph, SectionDraft, Sentence, StatedRow
from generation.writing import CompareRequest

COLUMNS = ("Work", "Year", "Approach", "Reported result")
LEAST_ROWS = 3
ABSENT = "–"
_WANTS_MORE = re.compile(
    r"\b(?:a|an|the|of|to|as|at|by|in|on|for|from|with|without|into|than|that|which|whose|such|and|or|but|can|may|is|are|"
    r"was|were|be|been|has|have|had|its|their|this|these|between|through|via|using|when|while|where|not)\s*$|[,;:(\-]\s*$",
    re.IGNORECASE,
)


@guarded
def read_rows(text: str, shown: Sequence[str], schema: Mapping | None = None) -> Reading[tuple[ComparedRow, ...]]:
    """Rows of a reply, one a paper; those of papers that were not shown are left out and told.

    An approach that breaks off is absent, and a row whose result does is left out; both are told.
    """
    reading = read(text, CompareReply, schema)
    longest = _longest(schema)
    rows: dict[str, ComparedRow] = {}
    unknown, problems = [], list(reading.problems)
    for row in reading.value.rows:
        if row.paper not in shown:
            unknown.append(row.paper[:80])
        elif _breaks_off(row.result, longest.get("result")):
            problems.append(f"a result breaks off before its end: “… {row.result[-60:]}”")
        elif row.paper not in rows:
            if _breaks_off(row.approach, longest.get("approach")):
                problems.append(f"an approach breaks off before its end: “… {row.approach[-60:]}”")
                row = row.model_copy(update={"approach": ABSENT})
            rows[row.paper] = row
    told = (f"these ids are not among those shown: {', '.join(dict.fromkeys(unknown))}",) if unknown else ()
    return Reading(tuple(rows.values()), (*problems, *told))


def _longest(schema: Mapping | None) -> Mapping[str, int]:
    """Field of a row → characters it may have."""
    row = schema["properties"]["rows"]["items"]["properties"] if schema else {}
    return {name: part["maxLength"] for name, part in row.items() if "maxLength" in part}


def _breaks_off(text: str, longest: int | None) -> bool:
    """Whether a decoder stopped in the midst of it: it is as long as it may be, or its last word wants another one."""
    is_full = longest is not None and len(text) >= longest - 1 and not is_whole(text)
    return is_full or bool(_WANTS_MORE.search(text))


def table_of(
    request: CompareRequest, rows: Sequence[ComparedRow], keys: tuple[str, ...], embed: Embed
) -> tuple[Paragraph, int]:
    """Caption and rows, older works first; a cell that its paper does not bear is left out, and a row without a result.

    The table is () where fewer than three rows stand.

    Returns:
        The table, and the citations that were taken out: rows whose result is not borne, and cells of the others.
    """
    papers: Mapping[str, Paper] = {e.paper.paper_id: e.paper for e in request.evidence}
    said = [(row, plain(row.approach).rstrip("."), plain(row.result)) for row in rows]
    # A result is a figure, and not its approach said twice.
    said = [
        (row, approach, result)
        for row, approach, result in said
        if re.search(r"\d", result) and is_prose(result) and heading_key(result) != heading_key(approach)
    ]
    cells = [
        Sentence("written", text or ABSENT, (row.paper,), place="table", calls=keys)
        for row, approach, result in said
        for text in (approach, result)
    ]
    draft = check_draft(
        SectionDraft(request.number, request.title, (tuple(cells),)), sources_of(request.evidence), embed,
        allowed_terms=(request.title,),
    )  # fmt: skip
    checked = list(draft.sentences())
    found: list[tuple[Paper, str, Sentence]] = []
    taken_out = 0
    for i, (row, _, _) in enumerate(said):
        approach, result = checked[2 * i], checked[2 * i + 1]
        if _is_borne(result):
            stated = approach.text if _is_borne(approach) else ABSENT
            found.append((papers[row.paper], stated, result))
        # An approach that was not told cannot be taken out.
        is_out = not _is_borne(result) or (not _is_borne(approach) and approach.text != ABSENT)
        taken_out += is_out
    if len(found) < LEAST_ROWS:
        return (), taken_out
    caption = Sentence(
        "composed", COMPARISON.format(section=request.number), template=COMPARISON, place="caption",
        rows=(StatedRow("section", request.number), *(StatedRow("column", c) for c in COLUMNS)),
    )  # fmt: skip
    found.sort(key=lambda f: (f[0].submitted_latest, f[0].paper_id))
    return (caption, *(_row(*f) for f in found)), taken_out


def _is_borne(cell: Sentence) -> bool:
    return all(check.verdict != "ungrounded" for check in cell.checks)


def _row(paper: Paper, approach: str, result: Sentence) -> Sentence:
    return replace(result, rows=(*work_and_year(paper), StatedRow("approach", approach)))
