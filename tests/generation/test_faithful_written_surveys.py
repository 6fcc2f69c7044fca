"""What must hold of sentences that a model wrote, and that each check refuses a survey in which it does not."""

from dataclasses import asdict, replace

import pytest

from generation.grounding import counts
from generation.values import Check, Span
from tests.generation import faithfulness
from tests.generation.ledger_rows import write_calls
from tests.generation.test_faithfulness import changed, printed  # noqa: F401 - a fixture

KEY = "ab" * 32
GONE = Check("2001.99999", "ungrounded", 0.1, "nothing that was shown of the paper is near", "removed")


def written_as(sentence):
    """What a model could have written of the same papers: the sentence, with a check for its citation."""
    if sentence.kind not in ("quoted", "adapted"):
        return sentence
    checks = tuple(Check(p, "grounded", 0.9) for p in sentence.cited_ids)
    return replace(sentence, kind="written", edits=(), calls=(KEY,), checks=(GONE, *checks))


@pytest.fixture(scope="module")
def written(printed):  # noqa: F811
    sections = tuple(
        replace(d, paragraphs=tuple(tuple(written_as(s) for s in p) for p in d.paragraphs))
        for d in printed.survey.sections
    )
    write_calls(printed.lake, {"key": KEY, "evidence": list(printed.survey.references)})
    row = {**printed.row, "grounding": asdict(counts(*sections))}
    return replace(printed, survey=replace(printed.survey, sections=sections), row=row)


OF_WRITTEN = ("unlike_their_spans", "unborne", "repeated", "unadmitted", "ungrounded", "unrecorded", "miscounted")


@pytest.mark.parametrize("check", OF_WRITTEN)
def test_a_written_survey_over_a_small_lake_has(written, check):
    assert getattr(faithfulness, check)(written) == []


def test_the_written_survey_has_what_the_checks_are_about(written):
    sentences = [s for _, s in faithfulness.sentences_of(written.survey) if s.kind == "written"]
    assert len(sentences) > 20
    assert all(s.cited_ids and s.spans and s.checks for s in sentences)
    assert written.row["grounding"]["removed"] == len(sentences)


def is_written(sentence):
    return sentence.kind == "written"


def elsewhere(sentence, **fields):
    return replace(sentence, spans=tuple(replace(s, **fields) for s in sentence.spans))


@pytest.mark.parametrize(
    ("check", "change"),
    [
        ("ungrounded", lambda s: replace(s, checks=s.checks[:1])),
        ("ungrounded", lambda s: replace(s, checks=(*s.checks, replace(s.checks[-1], verdict="ungrounded")))),
        ("ungrounded", lambda s: replace(s, checks=(*s.checks[:-1], replace(s.checks[-1], action="removed")))),
        ("ungrounded", lambda s: replace(s, checks=(*s.checks[:-1], replace(s.checks[-1], similarity=9.0)))),
        ("ungrounded", lambda s: replace(s, checks=(replace(GONE, action="kept"), *s.checks[1:]))),
        ("ungrounded", lambda s: replace(s, cited_ids=(*s.cited_ids, GONE.paper_id))),
        ("ungrounded", lambda s: replace(s, spans=())),
        ("ungrounded", lambda s: replace(s, spans=(*s.spans, Span(GONE.paper_id, 0, 5)))),
        ("ungrounded", lambda s: elsewhere(s, start=0, end=10**6)),
        ("ungrounded", lambda s: elsewhere(s, page=3)),
        ("ungrounded", lambda s: elsewhere(s, source="passage", passage_id="nowhere:1", page=3)),
        ("ungrounded", lambda s: replace(s, text="As told [@2005.11401].")),
        ("unrecorded", lambda s: replace(s, calls=())),
        ("unrecorded", lambda s: replace(s, calls=("00" * 32,))),
        ("unrecorded", lambda s: replace(s, cited_ids=(*s.cited_ids, GONE.paper_id))),
        ("miscounted", lambda s: replace(s, cited_ids=(), spans=())),
        ("miscounted", lambda s: replace(s, checks=(*s.checks, replace(GONE, paper_id="1901.00001")))),
        ("unlike_their_spans", lambda s: replace(s, kind="quoted")),
        ("unadmitted", lambda s: replace(s, cited_ids=("2501.00001",))),
        ("repeated", lambda s: (s, s)),
    ],
    ids=lambda v: v if isinstance(v, str) else "",
)
def test_a_check_finds_what_it_is_for(written, check, change):
    assert getattr(faithfulness, check)(changed(written, is_written, change)) != []


def test_counts_that_the_row_does_not_tell_are_found(written):
    assert faithfulness.miscounted(replace(written, row={**written.row, "grounding": None})) != []
