"""What SurveyForge hands to the writer: the best papers, as many as a leaf discusses, what each section cites."""

import asyncio

from generation.captions import COMPARISON
from generation.extractive.writer import ExtractiveWriter
from generation.surveyforge import SurveyForge
from generation.surveyforge_options import SurveyForgeOptions
from generation.values import Outline, OutlineNode, SectionDraft, Sentence, Span
from tests.generation.extractive.conftest import SmallLibrary, make_paper
from tests.generation.extractive.test_whole_survey import ScriptedWriter, surveyed

THEMES = ("Query Rewriting", "Knowledge Graphs", "Code Completion", "Image Captioning")


class Recorder(ScriptedWriter):
    """The scripted writer, which also keeps what it was shown for outline, merge and tables."""

    def __init__(self, themes):
        super().__init__(themes)
        self.outlined, self.compared = [], []

    async def outline(self, request):
        self.outlined.append({e.paper.paper_id for e in request.evidence})
        return await super().outline(request)

    async def draft(self, request):
        draft = await super().draft(request)
        [[said]] = draft.paragraphs
        if not request.evidence:
            said = Sentence("written", said.text)
        elif request.role == "body":
            span = Span(said.cited_ids[0], 0, int(request.number.replace(".", "")))
            said = Sentence("quoted", said.text, said.cited_ids, (span,))
        return SectionDraft(draft.number, draft.title, ((said,),))

    async def compare(self, request):
        if not request.evidence:
            return ()
        self.compared.append(request)
        cited = request.evidence[0].paper.paper_id
        caption = Sentence("composed", f"Table {request.number}.", template=COMPARISON, place="caption")
        return (caption, Sentence("written", f"Row of {request.number}.", (cited,), place="table"))


def themed(papers):
    return {t: [p.paper_id for p in papers if t in p.title] for t in THEMES}


def test_the_outline_is_made_from_the_best_papers_and_sub_queries_search_in_them(papers):
    """The rest of the pool is not about the topic itself."""
    ahead = ("Knowledge Graphs", "Query Rewriting")
    library = SmallLibrary(sorted(papers, key=lambda p: not any(t in p.title for t in ahead)))
    writer = Recorder({t: ids if t in ahead else themed(papers)[ahead[0]] for t, ids in themed(papers).items()})
    _, digests, _ = surveyed(library, writer, SurveyForgeOptions(outline_papers=10))
    assert set.union(*writer.outlined) == set(library.best(10))
    assert {e.paper_id for e in digests.entries} <= set(library.best(10))


def test_of_a_small_pool_every_paper_is_discussed(library, papers):
    writer = Recorder(themed(papers))
    surveyed(library, writer)
    bodies = [r for r in writer.requests.values() if r.role == "body" and "." in r.number]
    assert [(r.most_papers, r.most_named) for r in bodies] == [(5, 5)] * 4


def leaf_of(home):
    """(papers to discuss, papers to name) of a leaf that is home to so many papers of a large pool."""
    papers = [
        make_paper(f"21{k + 1:02d}.{i:05d}", f"{theme} of Kind {i}", f"{theme} {theme} {theme} are studied.")
        for k, (theme, count) in enumerate(zip(THEMES, (home, 40, 40, 40), strict=True))
        for i in range(count)
    ]
    writer = Recorder(themed(papers))
    _, digests, _ = surveyed(SmallLibrary(papers), writer)
    assert sum(e.is_home for e in digests.of("2.1")) == home
    return writer.requests["2.1"].most_papers, writer.requests["2.1"].most_named


def test_of_a_large_pool_a_leaf_discusses_most_of_its_papers_up_to_what_a_reader_follows():
    """So leaves are as unlike in size as what they are about, and no paper is both discussed and named."""
    few, some, many, very_many = (leaf_of(home) for home in (4, 12, 30, 120))
    assert few[0] >= 4
    assert 6 < some[0] <= 12
    assert some[0] < many[0] <= 30
    assert many[0] < very_many[0] < 60
    assert few[1] == 0
    assert 0 < many[1] <= 30 - many[0]
    assert 0 < very_many[1] < 60 - very_many[0]


def test_a_table_ends_its_section_and_is_made_of_what_the_section_cites(library, papers):
    writer = Recorder(themed(papers))
    _, _, survey = surveyed(library, writer)
    assert [r.number for r in writer.compared] == ["2", "3"]
    printed = {span for s in survey.sections for t in s.sentences() for span in t.spans}
    for request in writer.compared:
        cited = {p for s in survey.sections if s.number.split(".")[0] == request.number for p in s.cited_ids}
        assert {e.paper.paper_id for e in request.evidence} == cited
        assert request.avoid == printed
        [section] = [s for s in survey.sections if s.number == request.number]
        assert [s.text for s in section.paragraphs[-1]] == [f"Table {request.number}.", f"Row of {request.number}."]


def test_what_a_persons_heading_found_behind_the_best_is_evidence_too(library, papers, embedder):
    behind = library.pool[-4:]
    nodes = (OutlineNode("1", "Introduction", role="introduction"),
             OutlineNode("2", "A Side Matter", queries=("side",), memory=behind))  # fmt: skip
    method = SurveyForge(SurveyForgeOptions(outline_papers=5))
    made = asyncio.run(method.digests(library.topic, Outline(nodes), library, ExtractiveWriter(embedder)))
    assert set(behind) <= {e.paper_id for e in made.of("2") if e.is_home}


def test_a_leaf_that_is_no_papers_home_is_left_out_and_told(library, papers):
    themes = themed(papers)
    writer = Recorder({**themes, "Image Captioning": themes["Code Completion"][:1]})
    _, digests, survey = surveyed(library, writer, SurveyForgeOptions(outline_papers=15))
    assert not any(e.is_home for e in digests.of("3.2"))
    assert "3.2" not in writer.requests
    told = [(n.item, n.reason) for n in survey.notes if n.item == "3.2 Image Captioning"]
    assert told == [("3.2 Image Captioning", "no paper has its best place here")], "one reason, told once"
