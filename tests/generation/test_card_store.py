"""Which card a paper should have, and cards that come back from the lake as they were written."""

from datetime import UTC, date, datetime

import polars as pl
import pytest

from corpus.contracts.registry import CONTRACTS
from corpus.visibility import View
from generation.card_store import card_keys, load_cards, missing_cards, store_cards
from generation.cards import CardFailure, CardItem, PaperCard
from generation.values import Span
from generation.workshop import view_of
from ingestion.errors import NotFound

NOW = datetime(2024, 5, 1, tzinfo=UTC)
A, B = "2301.00001", "2301.00002"


@pytest.fixture
def view(library_of) -> View:
    rows = [{"paper_id": p, "title": f"Title {p}", "abstract": "We read."} for p in (A, B)]
    return library_of(rows)[0]


@pytest.fixture
def papers(make_paper):
    return [make_paper(A), make_paper(B)]


def add_document(view: View, paper_id: str, sha256: str = "s1", **values) -> View:
    """The view after a document of the paper was stored."""
    row = {
        "paper_id": paper_id, "sha256": sha256, "id_month": date(2023, 1, 1), "version": 1,
        "version_on": date(2023, 1, 15), "file": "pdf/x.pdf", "status": "parsed", "is_retryable": False, "advice": "",
        "notes": [], "derivation": "d", "section_count": 1, "passage_count": 1, "content_hash": "c1", "seconds": 1.0,
        "parsed_at": NOW, **values,
    }  # fmt: skip
    schema = {k: v for k, v in CONTRACTS["documents"].polars_schema.items() if k in row}
    view.lake.replace("documents", pl.DataFrame([row], schema=schema), {"paper_id": paper_id})
    return View(view.lake, view.cutoff)


def card(paper_id: str) -> PaperCard:
    span = Span(paper_id, 0, 8, "passage", f"{paper_id}/ab", 3)
    item = CardItem("We read.", (span,))
    return PaperCard(paper_id, "extractive", "1", (item,), (), (item, item), ())


def test_a_card_follows_record_text_writer_and_rules(view, papers, make_paper) -> None:
    def key(view=view, papers=papers, writer="extractive", version="1") -> str:
        return card_keys(view, papers, writer, version)[A].card_id

    first = key()
    assert key() == first
    read = add_document(view, A)
    others = [
        key(papers=[make_paper(A, content_hash="other"), papers[1]]),
        key(writer="other"),
        key(version="2"),
        key(view=read),
        key(view=add_document(view, A, content_hash="c2")),
        key(view=add_document(view, A, sha256="s2")),
    ]
    assert len({first, *others}) == 7


def test_cards_come_back_as_they_were_and_are_written_once(view, papers) -> None:
    view = add_document(view, A)
    keys = card_keys(view, papers, "extractive", "1")
    assert missing_cards(view, keys) == [A, B]
    assert store_cards(view.lake, [(keys[p], card(p)) for p in (A, B)], NOW) == 2
    version = view.lake.version("paper_cards")
    assert store_cards(view.lake, [(keys[p], card(p)) for p in (A, B)], NOW) == 0
    assert view.lake.version("paper_cards") == version
    fresh = View(view.lake, view.cutoff)
    assert missing_cards(fresh, keys) == []
    assert load_cards(fresh, keys) == {A: card(A), B: card(B)}
    rows = {r["paper_id"]: (r["made_from"], r["sha256"]) for r in view.lake.read("paper_cards").to_dicts()}
    assert rows == {A: ("full text", "s1"), B: ("abstract", "")}


def test_the_library_gives_cards_of_papers_read_in_full_and_says_when_one_is_missing(library_of, papers) -> None:
    from generation.library import open_library
    from generation.topics import define_topic

    rows = [{"paper_id": p, "title": f"Title {p}", "abstract": "We read."} for p in (A, B)]
    view, index = library_of(rows)
    view = add_document(view, A)
    topic = define_topic("Reading")
    pool = pl.DataFrame({"paper_id": [A, B], "rank": [1, 2], "citation_count": [0, 0], "similarity": [0.5, 0.4]})
    library = open_library(view, index, topic, pool)
    library.card_keys = card_keys(view, library.papers(library.pool), "extractive", "1")
    assert library.card(B) is None
    with pytest.raises(NotFound, match="Materialize paper_cards first"):
        library.card(A)
    store_cards(view.lake, [(library.card_keys[A], card(A))], NOW)
    library = open_library(View(view.lake, view.cutoff), index, topic, pool)
    library.card_keys = card_keys(view, library.papers(library.pool), "extractive", "1")
    assert library.card(A) == card(A)


def test_a_topic_without_a_cutoff_sees_the_day_of_the_last_refresh(library_of) -> None:
    from generation.topics import define_topic

    view, _ = library_of([{"paper_id": A, "title": "T", "abstract": "We read."}])
    with pytest.raises(NotFound, match="never refreshed completely"):
        view_of(view.lake, define_topic("Reading"))


def test_what_a_model_wrote_comes_back_with_its_calls_flags_and_supports(view, papers) -> None:
    keys = card_keys(view, papers, "openai:x", "1")
    span = Span(A, 0, 8)
    fields = (
        (CardItem("We read.", (span,)), CardItem("Nobody says so.", (), "unsupported", 0.0)),
        (),
        (CardItem("We reads.", (span,), "fuzzy", 0.94),),
        (),
    )
    made = PaperCard(A, "openai:x", "1", *fields, calls=("k1", "k2"), flags=("abstract: marks of a chat",))
    store_cards(view.lake, [(keys[A], made)], NOW)
    assert load_cards(View(view.lake, view.cutoff), keys) == {A: made}


def failed(paper_id: str, *, is_retryable: bool) -> PaperCard:
    return PaperCard(paper_id, "openai:x", "1", (), (), (), (), ("k1",), (), CardFailure("no answer", is_retryable))


def test_a_failure_that_may_pass_is_asked_again_and_replaced(view, papers) -> None:
    keys = card_keys(view, papers, "openai:x", "1")
    first = [failed(A, is_retryable=True), failed(B, is_retryable=False)]
    assert store_cards(view.lake, [(keys[c.paper_id], c) for c in first], NOW) == 2
    view = View(view.lake, view.cutoff)
    assert missing_cards(view, keys) == [A]
    assert load_cards(view, keys) == {c.paper_id: c for c in first}
    written = PaperCard(A, "openai:x", "1", (CardItem("We read.", (Span(A, 0, 8),)),), (), (), ())
    assert store_cards(view.lake, [(keys[A], written), (keys[B], first[1])], NOW) == 1
    view = View(view.lake, view.cutoff)
    assert missing_cards(view, keys) == []
    assert load_cards(view, keys) == {A: written, B: first[1]}
    assert len(view.lake.read("paper_cards")) == 2


def test_a_card_of_before_the_new_columns_is_a_written_one(view, papers) -> None:
    keys = card_keys(view, papers, "extractive", "1")
    store_cards(view.lake, [(keys[A], card(A))], NOW)
    before = view.lake.read("paper_cards")
    nothing = [
        pl.lit(None, t).alias(n)
        for n, t in before.schema.items()
        if n in ("status", "failure", "is_retryable", "calls", "flags", "supports")
    ]
    view.lake.replace("paper_cards", before.with_columns(nothing), None)
    view = View(view.lake, view.cutoff)
    assert load_cards(view, keys) == {A: card(A)}
    assert missing_cards(view, {A: keys[A]}) == []
