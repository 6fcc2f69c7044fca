"""Headings name concepts: never a paper's title in need, never twice, never without papers that speak of them."""

import numpy as np
import pytest

from generation.extractive.concepts import concepts
from generation.extractive.grouping import alike, divide, support_needed
from generation.extractive.phrases import content_stems, headline, key_of, spoken_of
from generation.values import Pattern


def divided(papers, embedder, count=4, **more):
    matrix = embedder([f"{p.title}\n{p.abstract}" for p in papers])
    return divide(papers, matrix, count, "Retrieval", smallest=3, embed=embedder, **more)


def test_groups_are_the_themes_under_their_names(papers, embedder):
    groups = divided(papers, embedder)
    assert sorted(g.concept.text for g in groups) == [
        "Code Completion", "Image Captioning", "Knowledge Graphs", "Query Rewriting",
    ]  # fmt: skip
    for group in groups:
        own = sum(group.concept.stems <= content_stems(p.title) for p in group.papers)
        assert own >= support_needed(len(group.papers))


def test_no_heading_is_a_title_or_comes_twice(papers, embedder):
    headings = [g.concept.text for g in divided(papers, embedder, count=8)]
    assert len(set(headings)) == len(headings)
    assert not set(headings) & {headline(p.title) for p in papers}


def test_papers_without_a_common_concept_get_no_heading(paper_of, embedder):
    strangers = [
        paper_of(f"2101.0000{i}", title, f"{title}.")
        for i, title in enumerate(["GPT Understands, Too", "Repair is Nearly Generation", "Lost at Sea", "Why Not"])
    ]
    assert divided(strangers, embedder) == []


def test_a_heading_needs_support_from_its_group(papers, embedder, paper_of):
    lonely = [paper_of(f"2201.0000{i}", f"Odd Matter {i}", "Odd matters of many kinds.") for i in range(2)]
    headings = {g.concept.text for g in divided([*papers, *lonely], embedder, count=6)}
    assert not any("Odd" in h for h in headings)


def test_taken_headings_do_not_come_again(papers, embedder):
    headings = {g.concept.text for g in divided(papers, embedder, taken=("Knowledge Graphs",))}
    assert "Knowledge Graphs" not in headings


def test_a_subsection_may_narrow_its_section_but_not_repeat_it(papers, embedder, paper_of):
    more = [
        paper_of(f"2301.0000{i}", f"Temporal Knowledge Graphs of {w}", "Temporal knowledge graphs age as facts do.")
        for i, w in enumerate(["Cities", "Films", "Genes", "Laws"])
    ]
    own = [p for p in papers if "Knowledge Graphs" in p.title]
    headings = {g.concept.text for g in divided([*own, *more], embedder, count=2, above="Knowledge Graphs")}
    assert "Knowledge Graphs" not in headings


def test_the_same_papers_give_the_same_groups(papers, embedder):
    assert divided(papers, embedder) == divided(papers, embedder)


def test_relevant_papers_make_the_sections(papers, embedder):
    """With room for three headings, the theme that lies farthest from the topic goes without one."""
    from dataclasses import replace

    far = [replace(p, similarity=0.1 if "Captioning" in p.title else 0.7) for p in papers]
    headings = {g.concept.text for g in divided(far, embedder, count=3)}
    assert "Image Captioning" not in headings


def test_a_rare_phrase_with_a_modifier_before_it_is_a_concept(paper_of):
    two = [
        paper_of("1", "Soft Dense Retrieval", "Dense retrieval needs labels."),
        paper_of("2", "Zero-Shot Dense Retrieval", "Dense retrieval without labels."),
    ]
    assert "Dense Retrieval" in {c.text for c in concepts(two, "Augmented Generation")}


def test_a_part_of_a_phrase_is_none(paper_of):
    papers = [
        paper_of(str(i), f"Knowledge Base Completion for {w}", "Knowledge base completion.")
        for i, w in enumerate(["Law", "Art", "Wine"])
    ]
    texts = {c.text for c in concepts(papers, "Retrieval")}
    assert "Knowledge Base Completion" in texts
    assert "Base Completion" not in texts


def test_the_topic_and_its_acronym_are_no_concepts(paper_of):
    papers = [paper_of(str(i), "RAG Systems and Retrievers", "RAG systems and retrievers.") for i in range(3)]
    assert not concepts(papers, "Retrieval-Augmented Generation")


def test_kinds_of_things_stand_in_the_plural(paper_of):
    papers = [
        paper_of("1", "A Diffusion Model for Text", "Diffusion models denoise. Diffusion models are slow."),
        paper_of("2", "Fast Diffusion Model", "Diffusion models can be made fast."),
    ]
    assert "Diffusion Models" in {c.text for c in concepts(papers, "Retrieval")}


def test_a_heading_of_a_human_outline_keeps_its_origin(papers, embedder):
    pattern = Pattern("2001.00001", "A Survey", ((1, "Introduction"), (1, "KNOWLEDGE GRAPHS")), None, 0.5)
    groups = divided(papers, embedder, patterns=(pattern,))
    (graphs,) = [g for g in groups if g.concept.text == "Knowledge Graphs"]
    assert graphs.origin == "human outline 2001.00001"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("natural language", "Natural Language"),
        ("GPT-4 and HyDE", "GPT-4 and HyDE"),
        ("QUERY REWRITER", "Query Rewriter"),
        ("open-domain question answering", "Open-Domain Question Answering"),
        ("chain of thought", "Chain of Thought"),
    ],
)
def test_headline(text, shown):
    assert headline(text) == shown


def test_spellings_of_one_phrase_are_one():
    assert key_of("Open-Domain QA") == key_of("open domain question answering")
    assert spoken_of([key_of("dense retrieval")], {"a": "Dense retrievers are fast.", "b": "Retrieval is dense."}) == {
        key_of("dense retrieval"): {"a"}
    }


def test_alike_ignores_endings():
    assert alike(content_stems("Dense Retrieval"), content_stems("Dense Retrievers"))
    assert not alike(content_stems("Dense Retrieval"), content_stems("Passage Retrieval"))


def test_no_papers_no_groups(embedder):
    assert divide([], np.zeros((0, 4)), 3, "Retrieval", smallest=3, embed=embedder) == []


def many(paper_of, titles, said, count=66):
    """So many papers that titles must name what a heading says: each says `said`, titles go round."""
    return [
        paper_of(f"21{i // 28 + 1:02d}.{i:05d}", f"{titles[i % len(titles)]} of Kind {chr(65 + i % 26)}",
                 f"{said[i % len(said)]}")
        for i in range(count)
    ]  # fmt: skip


TITLES = ("Dense Retrieval", "Query Expansion", "Knowledge Graphs")
SAID = (
    "Dense retrieval serves low resource languages. Ground truth is scarce in resource languages.",
    "Query expansion serves low resource languages. Ground truth is scarce in resource languages.",
    "Knowledge graphs serve low resource languages. Ground truth is scarce in resource languages.",
)


def test_what_titles_hardly_name_heads_no_section_of_many_papers(paper_of, embedder):
    """Abstracts of any field speak of ground truth, and a torn phrase is in many of them too."""
    papers = many(paper_of, TITLES, SAID)
    papers[0] = paper_of(papers[0].paper_id, "Dense Retrieval for Resource Languages", papers[0].abstract)
    pattern = Pattern("2001.00001", "A Survey", ((1, "Resource Languages"), (1, "Ground Truth")), None, 0.5)
    headings = [g.concept.text for g in divided(papers, embedder, count=6, patterns=(pattern,))]
    assert sorted(headings) == ["Dense Retrieval", "Knowledge Graphs", "Query Expansion"]


def test_of_few_papers_abstracts_may_name_a_section(paper_of, embedder):
    papers = many(paper_of, ("A Study",), tuple(f"{title} are studied." for title in TITLES), count=12)
    assert {g.concept.text for g in divided(papers, embedder, count=3)} == set(TITLES)


@pytest.mark.parametrize(
    ("one", "other", "is_alike"),
    [
        ("Transformer Models", "Transformer Architecture", True),
        ("Transformer Models", "Vision Transformers", False),
        ("Graph Learning", "Graph Networks", True),
        ("Reading Comprehension", "Machine Reading Comprehension", True),
        ("Dense Retrieval", "Query Expansion", False),
        ("Knowledge Graphs", "Knowledge Distillation", False),
    ],
)
def test_headings_that_say_the_same_with_other_general_words_are_alike(one, other, is_alike):
    assert alike(content_stems(one), content_stems(other)) is is_alike
    assert alike(content_stems(other), content_stems(one)) is is_alike


def test_siblings_are_never_alike(paper_of, embedder):
    titles = ("Transformer Models", "Transformer Architecture", "Query Expansion")
    said = tuple(f"{t} are studied." for t in titles)
    headings = [g.concept.text for g in divided(many(paper_of, titles, said), embedder, count=3)]
    assert "Query Expansion" in headings
    assert len([h for h in headings if "Transformer" in h]) == 1


def test_what_many_outlines_have_as_a_heading_counts_for_a_concept(papers):
    known = {c.text: c for c in concepts(papers, "Retrieval", headings={"knowledge graph": 9})}
    unknown = {c.text: c for c in concepts(papers, "Retrieval")}
    assert (known["Knowledge Graphs"].human_count, unknown["Knowledge Graphs"].human_count) == (9, 0)
    assert known["Knowledge Graphs"].shape > unknown["Knowledge Graphs"].shape
    assert known["Code Completion"].shape == unknown["Code Completion"].shape
