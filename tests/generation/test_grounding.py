"""Whether papers bear the sentences that cite them, as far as rules can tell."""

from dataclasses import replace

import pytest

from generation.cards import CardItem, CardPassage, PaperCard
from generation.grounding import Counts, check_draft, counts, sources_of, without_unborne
from generation.values import Check, SectionDraft, Sentence, Span
from generation.writing import Evidence, EvidencePassage
from indexes.embedding import Embedder
from tests.generation.conftest import WordEmbedder

DENSE, SPARSE, MAPS = "2001.00001", "2002.00002", "2003.00003"
ABSTRACTS = {
    DENSE: "Dense retrieval embeds questions and passages into vectors. DenseNet trains two encoders on 1,200 questions. "
    "It reaches 85.2% accuracy on open questions.",
    SPARSE: "Counting words finds rare names. An inverted index holds the counts of three million pages.",
    MAPS: "Road maps are drawn by hand in small towns. Surveyors walk each street twice.",
}
PASSAGE = "Nothing here. Distillation halves the memory that the vectors of DenseNet need. The rest is told elsewhere."


@pytest.fixture
def evidence(make_paper):
    shown = [Evidence(make_paper(p, title=f"Title of {p}", abstract=text), None) for p, text in ABSTRACTS.items()]
    passage = CardPassage(f"{DENSE}:p4", ("Method",), "3", 6, PASSAGE, 4)
    return [replace(shown[0], passages=(EvidencePassage(passage, "body"),)), *shown[1:]]


@pytest.fixture
def sources(evidence):
    return sources_of(evidence)


def embed(texts):
    return WordEmbedder().embed(texts)


def draft_of(*sentences: Sentence) -> SectionDraft:
    return SectionDraft("2.1", "Retrieval", (sentences,))


def written(text: str, *cited: str, **fields) -> Sentence:
    return Sentence("written", text, cited, **fields)


def checked(sources, *sentences, **options) -> list[Sentence]:
    return list(check_draft(draft_of(*sentences), sources, embed, **options).sentences())


def source_text(span: Span) -> str:
    return (PASSAGE if span.source == "passage" else ABSTRACTS[span.paper_id])[span.start : span.end]


def test_what_was_shown_has_its_place(sources):
    for source in sources.values():
        assert all(source_text(s.span) == s.text for s in source.sentences)
    [deep] = [s for s in sources[DENSE].sentences if "Distillation" in s.text]
    assert (deep.span.passage_id, deep.span.page) == (f"{DENSE}:p4", 6)
    assert sources[DENSE].text.startswith("Title of")


def test_a_papers_own_words_on_its_card_count_and_a_models_do_not(evidence):
    span = Span(DENSE, 0, 30, "passage", f"{DENSE}:p9", 9)
    own = CardItem("Pruning removes the weak links", (span,))
    other = CardItem("A summary that HAL wrote of it.", (replace(span, end=90),))
    nowhere = CardItem("It sings.", (), "unsupported", 0.0)
    card = PaperCard(DENSE, "w", "1", (own, other, nowhere), (), (), ())
    [source] = sources_of([replace(evidence[0], card=card)]).values()
    assert own.text in source.text
    assert "HAL" not in source.text
    assert "sings" not in source.text
    assert own.text in [s.text for s in source.sentences]


def test_a_paper_shown_twice_has_all_that_was_shown(evidence):
    bare = replace(evidence[0], passages=())
    assert {s.text for s in sources_of([bare, evidence[0]])[DENSE].sentences} >= {
        s.text for s in sources_of([evidence[0]])[DENSE].sentences
    }


def test_what_a_paper_says_is_grounded_and_leads_to_the_place(sources):
    [s] = checked(sources, written("DenseNet trains two encoders on 1200 questions.", DENSE))
    [check] = s.checks
    assert (check.verdict, check.action, check.judge, check.reason) == ("grounded", "kept", "rules", "")
    assert [source_text(span) for span in s.spans] == ["DenseNet trains two encoders on 1,200 questions."]


def test_a_passage_bears_a_sentence_with_its_page(sources):
    [s] = checked(sources, written("Distillation halves the memory that vectors need.", DENSE))
    assert s.checks[0].verdict == "grounded"
    assert s.spans[0].page == 6
    assert source_text(s.spans[0]).startswith("Distillation")


def test_two_neighbours_are_shown_together_where_both_bear_it(sources):
    text = "Dense retrieval embeds questions and passages into vectors, and DenseNet trains two encoders on 1,200 questions."
    [s] = checked(sources, written(text, DENSE))
    assert source_text(s.spans[0]) == ABSTRACTS[DENSE].partition(" It reaches")[0]


@pytest.mark.parametrize(
    ("text", "paper", "verdict", "reason"),
    [
        ("DenseNet reaches 95.2% accuracy on open questions.", DENSE, "ungrounded", "95.2%"),
        ("Surveyors sing in operas about whales.", SPARSE, "ungrounded", "near"),
        ("XQZ7 beats GPT-9 at finding whales.", SPARSE, "ungrounded", "none of the names: XQZ7, GPT-9"),
        ("Counting words finds rare names for OldIndex.", SPARSE, "weak", "OldIndex"),
        ("Counting words finds rare names in four ways.", SPARSE, "weak", "four"),
    ],
)  # fmt: skip
def test_what_a_paper_does_not_say(sources, text, paper, verdict, reason):
    [s] = checked(sources, written(text, paper))
    assert s.checks[0].verdict == verdict
    assert reason in s.checks[0].reason


def test_numbers_and_names_need_one_of_the_papers_cited(sources):
    text = "DenseNet reaches 85.2% accuracy on open questions, and an inverted index holds counts of rare names."
    [s] = checked(sources, written(text, DENSE, SPARSE))
    assert [c.verdict for c in s.checks] == ["grounded", "grounded"]
    assert [span.paper_id for span in s.spans] == [DENSE, SPARSE]


def test_a_paper_that_bears_nothing_goes_while_others_stay(sources):
    [s] = checked(sources, written("DenseNet trains two encoders on 1,200 questions.", DENSE, MAPS))
    assert [c.verdict for c in s.checks] == ["grounded", "ungrounded"]
    [left] = without_unborne(draft_of(s)).sentences()
    assert left.cited_ids == (DENSE,)
    assert {span.paper_id for span in left.spans} == {DENSE}
    assert [c.action for c in left.checks] == ["kept", "removed"]
    assert not left.is_unborne


def test_a_name_of_the_topic_or_of_many_papers_is_no_reason(sources, evidence, make_paper):
    text = "Counting words finds rare names for QARAG."
    [s] = checked(sources, written(text, SPARSE), allowed_terms=("QARAG in practice",))
    assert s.checks[0].verdict == "grounded"
    others = [Evidence(make_paper(f"2104.0000{i}", abstract=f"QARAG is asked about {i}."), None) for i in range(3)]
    [s] = checked(sources_of([*evidence, *others]), written(text, SPARSE))
    assert s.checks[0].verdict == "grounded"


def test_years_of_the_paper_itself_are_its_own(sources):
    [s] = checked(sources, written("In 2020, counting words finds rare names.", SPARSE))
    assert s.checks[0].verdict == "grounded"


def test_a_paper_that_was_not_shown_or_has_no_text_bears_nothing(evidence, make_paper):
    empty = Evidence(make_paper("2009.00009", abstract=None), None)
    sentence = written("Counting words finds rare names.", "2009.00009", "2010.00010", SPARSE)
    [s] = checked(sources_of([*evidence, empty]), sentence)
    assert [c.verdict for c in s.checks] == ["ungrounded", "ungrounded", "grounded"]
    assert [c.similarity for c in s.checks[:2]] == [0, 0]
    assert len({c.reason for c in s.checks[:2]}) == 2
    assert [span.paper_id for span in s.spans] == [SPARSE]


def test_only_written_sentences_with_citations_are_checked(sources):
    span = Span(SPARSE, 0, 32)
    others = (
        written("What follows tells how."),
        Sentence("quoted", ABSTRACTS[SPARSE][:32], (SPARSE,), (span,)),
        Sentence("composed", "3 papers.", template="{n} papers."),
    )
    asked = []
    draft = check_draft(draft_of(*others), sources, lambda texts: asked.append(texts))
    assert tuple(draft.sentences()) == others
    assert asked == []
    assert without_unborne(draft) == draft


def test_texts_are_embedded_in_one_batch_and_each_once(sources):
    batches = []

    def counting(texts):
        batches.append(list(texts))
        return embed(texts)

    sentence = written("Counting words finds rare names.", SPARSE)
    check_draft(draft_of(sentence, sentence, written("DenseNet trains encoders.", DENSE, SPARSE)), sources, counting)
    [batch] = batches
    assert len(batch) == len(set(batch))
    assert not [text for text in batch if "Surveyors" in text]  # of no paper that is cited


def test_checks_of_what_is_cited_no_more_stay(sources):
    refused = Check("2099.00001", "ungrounded", 0.0, "not shown", "refused")
    old = Check(SPARSE, "ungrounded", 0.1, "before")
    [s] = checked(sources, written("Counting words finds rare names.", SPARSE, checks=(refused, old)))
    assert s.checks[0] == refused
    assert [c.verdict for c in s.checks[1:]] == ["grounded"]


def test_a_models_verdict_that_comes_later_decides(sources):
    [s] = checked(sources, written("Counting words finds rare names.", SPARSE, DENSE))
    judged = replace(s, checks=(*s.checks, Check(SPARSE, "ungrounded", 0.9, "it says the opposite", judge="m:x")))
    [left] = without_unborne(draft_of(judged)).sentences()
    assert left.cited_ids == (DENSE,)
    assert [(c.paper_id, c.judge, c.action) for c in left.checks] == [
        (SPARSE, "rules", "kept"), (DENSE, "rules", "kept"), (SPARSE, "m:x", "removed"),
    ]  # fmt: skip
    assert counts(draft_of(left)) == Counts(cited=2, kept=1, removed=1, refused=0)


def test_the_counts_add_up(sources):
    refused = Check("2099.00001", "ungrounded", 0.0, "not shown", "refused")
    before = draft_of(
        written("DenseNet trains two encoders on 1,200 questions.", DENSE, MAPS, checks=(refused,)),
        written("Whales sing 99.9% of operas.", MAPS),
        written("No citation here."),
        Sentence("quoted", "Counting words finds rare names.", (SPARSE,), (Span(SPARSE, 0, 32),)),
    )
    after = without_unborne(check_draft(before, sources, embed))
    assert counts(after) == Counts(cited=3, kept=1, removed=2, refused=1)
    assert counts(after, after) == Counts(6, 2, 4, 2)
    assert [s.is_unborne for s in after.sentences()] == [False, True, False, False]
    assert without_unborne(after) == after


def test_the_same_draft_gets_the_same_checks(sources):
    sentences = [written(text, DENSE, SPARSE) for text in (*ABSTRACTS.values(), "Rare names and vectors.")]
    assert checked(sources, *sentences) == checked(dict(reversed(sources.items())), *sentences)


def test_it_is_blind_to_contradiction(sources):
    """What the module says of itself: the opposite, in the paper's own words, counts as grounded.

    Whoever reads `grounded` as "true" is misled; a model's verdict is asked for that.
    """
    claim = "Dense retrieval does not embed questions and passages into vectors."
    draft = check_draft(draft_of(written(claim, DENSE)), sources, Embedder(threads=1).embed)
    [s] = draft.sentences()
    assert s.checks[0].verdict == "grounded"
    assert s.checks[0].similarity > 0.8


def test_it_is_blind_to_praise_in_the_words_of_the_title(make_paper):
    """As the module says of itself; the verdict of a model is asked for that."""
    paper = make_paper(DENSE, title="DenseNet: Dense Retrieval of Passages", abstract=ABSTRACTS[DENSE])
    praise = written("DenseNet is the finest work on dense retrieval of passages.", DENSE)
    [s] = check_draft(draft_of(praise), sources_of([Evidence(paper, None)]), Embedder(threads=1).embed).sentences()
    assert s.checks[0].verdict == "grounded"


def test_sentences_of_the_same_words_are_each_held_against_their_own_paper(sources):
    """Cells of a table, say: the first was held against nothing, and lost its citation."""
    text = "DenseNet trains two encoders on 1,200 questions."
    first, second = checked(sources, written(text, DENSE), written(text, MAPS))
    assert [c.verdict for c in (*first.checks, *second.checks)] == ["grounded", "ungrounded"]
    assert first.checks[0].similarity > 0.9
    assert [span.paper_id for span in first.spans] == [DENSE]


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("Retrieval lifts accuracy by 93.7 points.", "93.7"),
        ("XQZ7 is used by many.", "XQZ7"),
        ("Some 40% of all answers by QARAG are on HopSet.", "40%, HopSet"),
    ],
)
def test_a_sentence_that_states_something_and_cites_nothing_is_marked(sources, text, stated):
    [s] = checked(sources, written(text), allowed_terms=("QARAG in practice",))
    [check] = s.checks
    assert (check.paper_id, check.verdict, check.action) == ("", "ungrounded", "refused")
    assert check.reason == f"no paper is cited for what it states: {stated}"
    assert s.is_unborne
    assert counts(draft_of(s)) == Counts()
    assert checked(sources, s, allowed_terms=("QARAG in practice",)) == [s]


@pytest.mark.parametrize(
    "text",
    [
        "What follows tells how.",
        "Three questions part them.",
        "Since 2020 they have met QARAG.",
        "Section 3.2 goes on.",
    ],
)
def test_a_sentence_that_states_nothing_needs_no_paper(sources, text):
    [s] = checked(sources, written(text), allowed_terms=("QARAG in practice",))
    assert (s.checks, s.is_unborne) == ((), False)


def test_a_name_of_the_field_needs_no_paper(evidence, make_paper):
    others = [Evidence(make_paper(f"2104.0000{i}", abstract=f"QARAG is asked about {i}."), None) for i in range(3)]
    [s] = checked(sources_of([*evidence, *others]), written("QARAG has two sides."))
    assert s.checks == ()


def test_a_sentence_that_finds_its_paper_is_marked_no_more(sources):
    [lost] = checked(sources, written("DenseNet trains two encoders on 1,200 questions."))
    [found] = checked(sources, replace(lost, cited_ids=(DENSE,)))
    assert lost.is_unborne
    assert [(c.paper_id, c.verdict) for c in found.checks] == [(DENSE, "grounded")]


def test_a_sentence_that_cites_only_what_was_not_shown_is_unborne(sources):
    refused = Check("2099.00001", "ungrounded", 0.0, "not shown", "refused")
    [s] = checked(sources, written("Counting words finds rare names.", checks=(refused,)))
    assert (s.checks, s.is_unborne) == ((refused,), True)
    assert not replace(s, cited_ids=(SPARSE,)).is_unborne


def test_citations_that_went_with_their_sentence_are_counted(sources):
    draft = check_draft(draft_of(written("Counting words finds rare names.", SPARSE)), sources, embed)
    assert counts(draft, taken_out=2) == Counts(cited=3, kept=1, removed=2, refused=0)
