"""Foundations first: what is older and widely spoken of; what is measured, attacked or applied comes last."""

import asyncio
from datetime import date

from generation.extractive.writer import ExtractiveWriter
from generation.writing import Evidence, MergeRequest, SectionPlan, SubsectionsRequest
from tests.generation.extractive.conftest import embed, make_paper

THINGS = ("Cities", "Films", "Genes", "Ships", "Songs", "Towns")


def works(theme, first, also="", count=6):
    """Papers whose titles name the theme, one a year from the first."""
    return [
        make_paper(
            f"{(first + i) % 100:02d}01.0{abs(hash_of(theme)) % 90:02d}{i:02d}", f"{theme} of {THINGS[i]}",
            f"{theme} of {THINGS[i].lower()} are studied. {also}", submitted_latest=date(first + i, 1, 1),
        )
        for i in range(count)
    ]  # fmt: skip


def hash_of(text):
    return sum(ord(c) * (i + 1) for i, c in enumerate(text))


def merged(papers, count=4):
    vectors = embed([f"{p.title}\n{p.abstract}" for p in papers])
    evidence = {p.paper_id: Evidence(p, v) for p, v in zip(papers, vectors, strict=True)}
    rough = ((SectionPlan("", "", (), tuple(evidence)),),)
    request = MergeRequest("Reading Machines", rough, evidence, (), count)
    return [p.title for p in asyncio.run(ExtractiveWriter(embed).merge(request))]


def test_an_older_concept_that_others_speak_of_comes_before_a_recent_one():
    recent = works("Soft Prompts", 2018, also="It reads through Word Embeddings.")
    old = works("Word Embeddings", 2008)
    assert merged([*recent, *old]) == ["Word Embeddings", "Soft Prompts"]
    assert merged([*old, *recent]) == ["Word Embeddings", "Soft Prompts"]


def test_of_equally_old_concepts_the_one_that_others_speak_of_comes_first():
    one = works("Soft Prompts", 2010, also="It reads through Word Embeddings.")
    other = works("Word Embeddings", 2010)
    assert merged([*one, *other]) == ["Word Embeddings", "Soft Prompts"]


def test_what_is_evaluated_comes_last_however_old_it_is():
    papers = [*works("Question Benchmarks", 2001), *works("Soft Prompts", 2018), *works("Word Embeddings", 2008)]
    titles = merged(papers)
    assert set(titles[:-1]) == {"Word Embeddings", "Soft Prompts"}
    assert "Benchmarks" in titles[-1]


def test_what_the_topics_own_words_name_comes_first_however_recent():
    assert merged([*works("Word Embeddings", 2008), *works("Attentive Reading", 2018)])[0] == "Attentive Reading"


def test_a_side_matter_comes_after_what_much_is_written_about():
    large = [p for theme, year in (("Soft Prompts", 2018), ("Sparse Experts", 2017), ("Word Embeddings", 2016))
             for k in range(3) for p in works(theme, year, also=f"Case {k}.")]  # fmt: skip
    large = [make_paper(f"22{i // 50 + 1:02d}.{i:05d}", p.title, p.abstract, submitted_latest=p.submitted_latest)
             for i, p in enumerate(large)]  # fmt: skip
    small = works("Chess Engines", 1990, count=3)
    titles = merged([*large, *small])
    assert titles[-1] == "Chess Engines"
    assert len(titles) == 4


def test_parts_of_a_section_stand_in_order_of_time():
    papers = [*works("Soft Prompts", 2018, count=6), *works("Word Embeddings", 2008), *works("Sparse Experts", 2013)]
    vectors = embed([f"{p.title}\n{p.abstract}" for p in papers])
    memory = tuple(Evidence(p, v) for p, v in zip(papers, vectors, strict=True))
    section = SectionPlan("Reading", "", ("reading",), tuple(p.paper_id for p in papers))
    request = SubsectionsRequest("Machines", section, memory, (), 5, ())
    parts = asyncio.run(ExtractiveWriter(embed).subsections(request))
    years = [min(int(p[:2]) for p in part.paper_ids) for part in parts]
    assert len(parts) == 2  # seven papers for each part
    assert years == sorted(years)
