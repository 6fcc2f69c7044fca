"""SurveyForge with the extractive writer and with a scripted one: evidence by node, facts, determinism."""

import asyncio

from generation.cards import CardPassage
from generation.extractive.adaptation import rebuild, reverse
from generation.extractive.cards import own_names
from generation.extractive.writer import ExtractiveWriter
from generation.surveyforge import SurveyForge
from generation.surveyforge_options import SurveyForgeOptions
from generation.values import SectionDraft, Sentence
from generation.writing import EvidencePassage, SectionPlan
from tests.generation.extractive.conftest import embed
from tests.generation.extractive.test_connecting import lake_of


class ScriptedWriter:
    """Gives two sections of two subsections each, and keeps each request under the node it was for."""

    name, version, card_version, asks_a_model = "scripted", "1", "1", False

    def told(self):
        return ()

    def portions(self, evidence, most):
        return [list(evidence)]

    async def ground(self, request):
        return request.draft

    def __init__(self, themes):
        self._themes = themes
        self.requests = {}

    async def outline(self, request):
        return (SectionPlan("All", "", ("all",), tuple(e.paper.paper_id for e in request.evidence)),)

    async def merge(self, request):
        return tuple(
            SectionPlan(f"Part {i}", "", tuple(pair), tuple(p for t in pair for p in self._themes[t]))
            for i, pair in enumerate((list(self._themes)[:2], list(self._themes)[2:]))
        )

    async def subsections(self, request):
        return tuple(SectionPlan(q, "", (q,), tuple(self._themes[q])) for q in request.section.queries)

    async def draft(self, request):
        self.requests[request.number] = request
        cited = request.evidence[0].paper.paper_id if request.evidence else None
        text = f"Text of {request.number}."
        return SectionDraft(request.number, request.title, ((Sentence("written", text, (cited,)),),))

    async def refine(self, request):
        return request.draft

    async def compare(self, request):
        return ()


def surveyed(library, writer, options=None):
    method = SurveyForge(options or SurveyForgeOptions())

    async def run():
        outline = await method.outline(library.topic, library, writer)
        digests = await method.digests(library.topic, outline, library, writer)
        return outline, digests, await method.survey(library.topic, outline, digests, library, writer)

    return asyncio.run(run())


def test_each_subsection_is_written_from_its_own_evidence(library, papers):
    """The public code wrote subsection j of every section from the papers of the whole survey's j-th subsection."""
    words = ("Query Rewriting", "Knowledge Graphs", "Code Completion", "Image Captioning")
    themes = {w: [p.paper_id for p in papers if w in p.title] for w in words}
    writer = ScriptedWriter(themes)
    outline, digests, _ = surveyed(library, writer, SurveyForgeOptions(retrieved_per_query=5, kept_per_query=5))
    leaves = [n for n in outline.leaves() if n.role == "body"]
    assert [n.title for n in leaves] == list(words)
    for node in leaves:
        shown = {e.paper.paper_id for e in writer.requests[node.number].evidence}
        assert shown == {e.paper_id for e in digests.of(node.number)} == set(themes[node.title])


def test_a_paper_has_one_home(library, papers):
    themes = {w: [p.paper_id for p in papers if w in p.title]
              for w in ("Query Rewriting", "Knowledge Graphs", "Code Completion", "Image Captioning")}  # fmt: skip
    outline, digests, _ = surveyed(library, ScriptedWriter(themes))
    homes = [(e.paper_id, outline.node(e.number).title) for e in digests.entries if e.is_home]
    assert sorted(homes) == sorted((p, theme) for theme, ids in themes.items() for p in ids)


def test_the_same_input_gives_the_same_survey(library, embedder):
    assert surveyed(library, ExtractiveWriter(embedder)) == surveyed(library, ExtractiveWriter(embedder))


def test_an_extractive_survey_keeps_its_promises(library, papers, embedder):
    outline, digests, survey = surveyed(library, ExtractiveWriter(embedder))
    headings = [s.title for s in survey.sections]
    assert len(set(headings)) == len(headings)
    assert {"Knowledge Graphs", "Query Rewriting"} <= set(headings)
    assert set(survey.references) == {p.paper_id for p in papers}
    abstracts = {p.paper_id: p.abstract for p in papers}
    seen = set()
    for section in survey.sections:
        for sentence in section.sentences():
            assert sentence.text not in seen
            seen.add(sentence.text)
            assert len(sentence.cited_ids) <= (1 if sentence.spans else 12)
            for span in sentence.spans:
                source = abstracts[span.paper_id][span.start : span.end]
                assert sentence.kind == ("adapted" if sentence.edits else "quoted")
                assert reverse(sentence.text, sentence.edits) == source
                assert rebuild(source, sentence.edits) == sentence.text
                assert sentence.kind == "adapted" or sentence.text == source
    bodies = {n.number for n in outline.leaves() if n.role == "body"}
    for section in survey.sections:
        if section.outline_number in bodies:
            shown = {e.paper_id for e in digests.of(section.outline_number)}
            assert set(section.cited_ids) <= shown


CONNECTIVES = {
    "connect in time": {"years_later", "same_year"},
    "connect by contrast": {"one_says", "other_says", "both_speak_of"},
    "connect by shared data": {"both_name"},
}


def test_connectives_are_borne_by_rows_and_counts_by_queries(library, papers, embedder):
    _, _, survey = surveyed(library, ExtractiveWriter(embedder))
    lake = lake_of(papers)
    connected, asked = 0, 0
    for section in survey.sections:
        for sentence in section.sentences():
            if sentence.place != "prose":
                continue  # pictures and tables have tests of their own
            names = {row.name for row in sentence.rows}
            for edit in sentence.edits:
                if edit.name.startswith("connect"):
                    connected += 1
                    assert edit.before == ""
                    assert names & CONNECTIVES[edit.name]
            for row in sentence.rows:
                if (
                    row.query
                    and "FROM papers" in row.query
                    and ("paper_id IN" in row.query or "paper_id =" in row.query)
                ):
                    asked += 1
                    assert str(lake.execute(row.query).fetchone()[0]) == row.value
            if sentence.kind == "composed" and sentence.cited_ids and any(c.isdigit() for c in sentence.text):
                numbers = {"".join(c for c in word if c.isdigit()) for word in sentence.text.split()} - {""}
                values = {"".join(c for c in row.value if c.isdigit()) for row in sentence.rows}
                assert numbers <= values | {
                    "".join(c for c in r.value.split()[0] if c.isdigit()) for r in sentence.rows
                }
    assert connected >= 3
    assert asked >= 3


def test_what_a_paper_made_is_introduced_before_it_is_praised(library, papers, embedder):
    _, _, survey = surveyed(library, ExtractiveWriter(embedder))
    own = {p.paper_id: own_names(p) for p in papers}
    for section in survey.sections[1:-2]:
        told = ""
        for sentence in section.sentences():
            if sentence.place == "prose" and sentence.spans and "%" in sentence.text:
                used = [n for n in own[sentence.cited_ids[0]] if n in sentence.text]
                assert all(name in told for name in used), sentence.text
            told += sentence.text


def test_the_introduction_tells_whose_words_are_printed(library, papers, embedder):
    from dataclasses import replace

    def introduction(origins):
        changed = [replace(p, abstract_origin=o) for p, o in zip(papers, origins, strict=True)]
        _, _, survey = surveyed(type(library)(changed), ExtractiveWriter(embedder))
        return " ".join(s.text for s in survey.sections[0].sentences() if s.kind == "composed")

    count = len(papers)
    own = introduction(["source"] * count)
    none = introduction(["summary by the project"] * count)
    mixed = introduction(["source", "summary by the project"] * (count // 2))
    assert f"all {count} cited papers" in own
    assert "summaries" not in own
    assert f"All {count} cited papers are represented by summaries" in none
    assert "no sentence is the authors' own" in none
    assert f"For {count // 2} of the cited papers" in mixed
    assert "?" not in own + none + mixed


def test_passages_of_papers_at_home_are_shown_consulted_and_printed(library, papers):
    """Each paper's passages go to the one node that is its home, and the text names passage and page."""
    read = next(p for p in papers if "Knowledge Graphs" in p.title)
    text = (
        "We find that KnowKN0 loses 3.1 points where a knowledge graph lacks edges between its entities and relations."
    )
    shown = EvidencePassage(CardPassage(f"{read.paper_id}/1", ("Results",), "4", 7, text, 1), "results")
    asked, consulted = [], []

    def search_passages(queries, within):
        asked.append((queries, within))
        return {read.paper_id: (shown,)} if read.paper_id in within else {}

    library.search_passages = search_passages
    library.consult = lambda operation, paper_ids, reason: consulted.append((operation, tuple(paper_ids), reason))
    outline, digests, survey = surveyed(library, ExtractiveWriter(embed))
    homes = [e.number for e in digests.entries if e.paper_id == read.paper_id and e.is_home]
    assert [within for _, within in asked if read.paper_id in within] == [
        [e.paper_id for e in digests.of(number) if e.is_home] for number in homes
    ]
    title = outline.node(homes[0]).title
    assert ("passages", (read.paper_id,), f"passages nearest to “{title}”") in consulted
    (printed,) = [s for section in survey.sections for s in section.sentences() if s.spans and s.spans[0].page]
    assert (printed.spans[0].passage_id, printed.spans[0].page, printed.cited_ids) == (
        f"{read.paper_id}/1", 7, (read.paper_id,),
    )  # fmt: skip
    assert reverse(printed.text, printed.edits) == text
