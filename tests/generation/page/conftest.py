"""A survey with everything a page prints, written by hand, and the page of it."""

from dataclasses import dataclass, replace
from datetime import date

import pytest

from generation.captions import COMPARISON, FLOW, TAXONOMY, TIMELINE
from generation.page import ModelFacts, PageFacts, WhyRow, page
from generation.values import Check, Edit, Paper, SectionDraft, Sentence, Span, StatedRow, Survey

DENSE, SPARSE, OLD, SUMMARY = "2005.11401", "1911.00001", "hep-th/9901001", "2312.10997"
PASSAGE = f"{SPARSE}:p3"


EVIL = (
    '<script>alert(1)</script><img src=x onerror="alert(2)"> [click](javascript:alert(3)) ![x](https://evil.example/x.png) '
    "<https://evil.example> https://evil.example/ </span></p><svg onload=alert(4)> [@2312.10997] {#main .x onclick=alert(5)} "
    "`code`{=html} ]]> --> \u2028 \"quote' </script><!-- ::: {.x} $\\href{javascript:alert(6)}{x}$ \x00"
)
"""What a title, a name or an abstract must not be able to do."""


@dataclass(frozen=True)
class Sample:
    """Arguments of `page`."""

    survey: Survey
    papers: list[Paper]
    facts: PageFacts
    passage_texts: dict[str, str]
    why: tuple[WhyRow, ...]

    def page(self) -> str:
        return page(self.survey, self.papers, self.facts, passage_texts=self.passage_texts, why=self.why)


def paper_of(paper_id: str, title: str, abstract: str, **fields) -> Paper:
    day = fields.pop("day", date(2020, 5, 22))
    known = {"abstract_origin": "source", "authors": None, "collaborations": None, "submitted_on": day,
             "submitted_latest": day, "submitted_precision": "day", "content_hash": "h"}  # fmt: skip
    return Paper(paper_id, title, abstract, **{**known, **fields})


def quoted(paper: Paper, words: str, **fields) -> Sentence:
    start = paper.abstract.index(words)
    return Sentence("quoted", words, (paper.paper_id,), (Span(paper.paper_id, start, start + len(words)),), **fields)


def caption(template: str, *rows: tuple[str, str]) -> Sentence:
    stated = tuple(StatedRow(name, value, f"SELECT '{name}' AS \"$edition\"") for name, value in rows)
    return Sentence("composed", template, template=template, rows=stated, place="caption")


def sample_survey() -> Sample:
    dense = paper_of(
        DENSE,
        "Dense Passages & $k$-Nearest Neighbours",
        "Retrieval by vectors finds paraphrases. We train two encoders. Training takes $O(n \\log n)$ steps.",
        authors=("Ada Lovelace", "Grace Hopper"),
        journal_ref="Journal of Retrieval 12 (2021) 3-14",
        doi="10.1000/abc<d>.1",
        license="http://creativecommons.org/licenses/by/4.0/",
    )
    sparse = paper_of(SPARSE, "Counting Words", "Terms are counted.", day=date(2019, 11, 1))
    old = paper_of(OLD, "Strings in Bags", "Bags of words forget order.", collaborations=("The Bag Collaboration",))
    told = paper_of(SUMMARY, "A Told Paper", "It tells what was found.", abstract_origin="summary by the project")
    passage = "In the appendix, counting beats vectors on rare names. The rest is noise."
    rare = "counting beats vectors on rare names."
    start = passage.index(rare)
    adapted = Sentence(
        "adapted", "Lovelace and Hopper train two encoders.", (DENSE,),
        (Span(DENSE, dense.abstract.index("We train"), dense.abstract.index("We train") + len("We train two encoders.")),),
        (Edit("name the authors", 0, "We", "Lovelace and Hopper"),),
    )  # fmt: skip
    from_text = Sentence(
        "adapted", "Counting beats vectors on rare names.", (SPARSE,),
        (Span(SPARSE, start, start + len(rare), "passage", PASSAGE, 7),), (Edit("capital", 0, "c", "C"),),
    )  # fmt: skip
    count = Sentence(
        "composed", "Four papers are cited.", template="{count} papers are cited.",
        rows=(StatedRow("cited_count", "Four", "SELECT count(*) FROM edition_papers WHERE edition = '$edition'"),),
    )  # fmt: skip
    flow = caption(FLOW, ("identified", "12,345"), ("admitted", "11,222"), ("pool", "600"), ("consulted", "77"), ("cited", "4"))  # fmt: skip
    years = caption(TIMELINE, ("pool 2019", "130"), ("cited 2019", "1"), ("pool 2021", "90"), ("cited 2021", "2"))
    tree = caption(TAXONOMY, ("1 Introduction", "1"), ("2 Dense Retrieval", "3"), ("2.1 Rare Names", "2"))
    table = Sentence(
        "composed", COMPARISON.format(section="2"), template=COMPARISON, place="caption",
        rows=(StatedRow("section", "2"), StatedRow("column", "Work"), StatedRow("column", "Finding")),
    )  # fmt: skip
    row = Sentence(
        "quoted", "Bags of words forget order.", (OLD,), (Span(OLD, 0, 27),), rows=(StatedRow("work", "Bags"),),
        place="table",
    )  # fmt: skip
    both = Sentence(
        "composed",
        "Both are counted.",
        (DENSE, SPARSE, OLD),
        template="Both are counted.",
        rows=(StatedRow("count", "3", "SELECT 3"),),
    )
    filler = tuple((quoted(sparse, "Terms are counted."),) for _ in range(30))
    sections = (
        SectionDraft("1", "Introduction", ((quoted(dense, "Retrieval by vectors finds paraphrases."), adapted), (count,), (flow,), (years,))),
        SectionDraft("2", "Dense Retrieval & <Others>", ((tree,), (table, row))),
        SectionDraft("2.1", "Rare Names", ((from_text, both), (quoted(dense, "Training takes $O(n \\log n)$ steps."),))),
        SectionDraft("3", "What Is Told", (*filler, (quoted(told, "It tells what was found."),))),
    )  # fmt: skip
    survey = Survey("Retrieval “in” <Practice> & Theory", sections)
    papers = {p.paper_id: p for p in (dense, sparse, old, told)}
    facts = PageFacts(
        "retrieval", "e1f2", "surveyforge", "extractive", "2024-03-31", 11222, 600, 4, True,
        (("4 Open Problems", "too few papers state one"),), 77, (("papers", 3),),
    )  # fmt: skip
    why = (
        WhyRow(DENSE, "1", 1, 0.81, 42, "full text", ("outline", "draft")),
        WhyRow(SPARSE, "2.1", None, None, 0, "asked for", ("draft",)),
    )
    return Sample(survey, [papers[p] for p in survey.references], facts, {PASSAGE: passage}, why)


@pytest.fixture(scope="session")
def sample() -> Sample:
    return sample_survey()


@pytest.fixture(scope="session")
def sample_page(sample: Sample) -> str:
    return sample.page()


def evil_sample() -> Sample:
    """The sample with hostile text wherever a source gives text."""
    sample = sample_survey()
    papers = [
        replace(p, title=EVIL, authors=(EVIL,), journal_ref=EVIL, license=EVIL, abstract=EVIL + p.abstract, doi=EVIL)
        for p in sample.papers
    ]

    def shifted(sentence):
        spans = tuple(replace(s, start=s.start + len(EVIL), end=s.end + len(EVIL)) if s.source == "abstract" else s for s in sentence.spans)  # fmt: skip
        evil = sentence.place != "caption"
        return replace(sentence, spans=spans, text=EVIL if evil else sentence.text)

    sections = tuple(
        SectionDraft(d.number, EVIL, tuple(tuple(shifted(s) for s in p) for p in d.paragraphs))
        for d in sample.survey.sections
    )
    notes = ((EVIL, EVIL),)
    why = tuple(replace(row, reason=EVIL, operations=(EVIL,)) for row in sample.why)
    return Sample(Survey(EVIL, sections), papers, replace(sample.facts, notes=notes), sample.passage_texts, why)


@pytest.fixture(scope="session")
def evil_page() -> str:
    return evil_sample().page()


def written_sample() -> Sample:
    """A survey that a model wrote in part, with citations that held, that hold weakly, and that were taken out."""
    base = sample_survey()
    dense = next(p for p in base.papers if p.paper_id == DENSE)
    where = dense.abstract.index("We train")
    near = Span(DENSE, where, where + len("We train two encoders."))
    passage = Span(SPARSE, 17, 54, "passage", PASSAGE, 7)
    both = Sentence(
        "written", "Vectors need two encoders to be trained, while counting holds on rare names.", (DENSE, SPARSE),
        (near, passage), calls=("k1", "k2"),
        checks=(
            Check(DENSE, "grounded", 0.714, action="revised"),
            Check(SPARSE, "weak", 0.412, "not in what was shown of the cited papers: CountBERT"),
        ),
    )  # fmt: skip
    lost = Sentence(
        "written", "Both reach 99.1% on any question & any $k$.", calls=("k1",),
        checks=(
            Check(OLD, "ungrounded", 0.31, "not in what was shown of the cited papers: 99.1%", "removed"),
            Check("2401.00009", "ungrounded", 0.0, "the paper was not shown to the writer", "refused"),
        ),
    )  # fmt: skip
    kept = Sentence(
        "written", "Bags forget the order of words.", (OLD,), (Span(OLD, 0, 27),), calls=("k1",),
        checks=(Check(DENSE, "ungrounded", 0.08, "nothing that was shown of the paper is near", "removed"), Check(OLD, "grounded", 0.83, judge="test:judge")),
    )  # fmt: skip
    plain = Sentence("written", "What follows asks how the two differ.", calls=("k1",))
    listed = replace(both, text="Two encoders are trained at once.", cited_ids=(DENSE,), spans=(near,), checks=both.checks[:1], place="list")  # fmt: skip
    lost_item = replace(lost, text="Nothing is as good.", place="list")
    sections = (
        SectionDraft("1", "Introduction", ((plain, both, lost, kept), (listed, lost_item))),
        SectionDraft("2", "Words as Vectors", ((kept, both), (lost,))),
    )
    survey = Survey("Retrieval by Vectors", sections)
    model = ModelFacts(123456, 7890, 4321, None, 14, 9, 5, 3)
    facts = replace(
        base.facts, writer="test:a-model", cited=3, has_summaries=False, have=2, expected=4, is_resumable=True, is_partial=True,
        model=model, notes=(("3 Open Problems", "the reply ended at its token limit"),),
    )  # fmt: skip
    papers = {p.paper_id: p for p in base.papers}
    return Sample(survey, [papers[p] for p in survey.references], facts, base.passage_texts, ())


@pytest.fixture(scope="session")
def written() -> Sample:
    return written_sample()


@pytest.fixture(scope="session")
def written_page(written: Sample) -> str:
    return written.page()
