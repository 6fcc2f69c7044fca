import numpy as np
import pytest

from indexes.embedding import Embedder, TextRefused, embed_each, paper_text
from indexes.tokens import load_tokenizer
from ingestion.errors import BadInput, NotFound


@pytest.fixture(scope="module")
def real() -> Embedder:
    return Embedder()


def test_the_text_of_a_paper_is_title_newline_abstract():
    assert paper_text(" A title ", " An abstract. ") == "A title\nAn abstract."
    assert paper_text("A title", None) == paper_text("A title", " ") == "A title"
    assert paper_text(" ", None) == ""


@pytest.mark.parametrize("faulty", ["nan_for", "error_for"])
def test_vx01_one_faulty_text_of_64_costs_only_itself(fake, faulty):
    setattr(fake, faulty, "number 17 ")
    result = embed_each(fake, [f"text number {n} is here" for n in range(64)])
    assert len(result.positions) == len(result.vectors) == 63
    assert [position for position, _ in result.skipped] == [17]
    assert "NaN" in result.skipped[0][1] or "not a number" in result.skipped[0][1]
    assert np.isfinite(result.vectors).all()
    assert len(fake.history) <= 2 * 7 + 1  # halved, not one by one


def test_vx01_an_embedder_that_always_fails_is_an_error_and_not_64_skips(fake):
    fake.error_for = "text"
    with pytest.raises(RuntimeError, match="NaN"):
        embed_each(fake, [f"text {n}" for n in range(64)])


def test_vx01_a_missing_library_is_not_taken_for_a_fault_of_the_text():
    def library():
        raise OSError("no such library")

    embedder = Embedder(tokenizer=lambda: load_tokenizer(library))
    with pytest.raises(NotFound):
        embed_each(embedder, ["text"])


@pytest.mark.parametrize("text", ["", " ", "\n\t", None])
def test_vx09_blank_and_missing_texts_are_skipped_without_a_call(fake, text):
    result = embed_each(fake, ["first", text, "last"])
    assert result.positions == [0, 2]
    assert [position for position, _ in result.skipped] == [1]
    assert fake.asked == ["first", "last"]
    alone = embed_each(fake, [text])
    assert alone.vectors.shape == (0, 32)
    assert len(fake.history) == 1


@pytest.mark.parametrize("text", ["", "  ", None, "\u200b"])
def test_vx09_the_model_refuses_a_text_with_nothing_in_it(real, text):
    with pytest.raises(TextRefused):
        real.embed(["good", text])


def test_an_answer_of_another_shape_is_an_error(fake, make_fake):
    other = make_fake(size=8)
    fake.embed = other.embed
    with pytest.raises(BadInput, match="shape"):
        embed_each(fake, ["a", "b"])


@pytest.mark.parametrize("options", [{"max_tokens": 2}, {"max_tokens": 257}, {"threads": 0}])
def test_settings_out_of_range_are_refused(options):
    with pytest.raises(BadInput):
        Embedder(**options)


def test_identity_names_model_file_cut_and_size_and_loads_nothing():
    def never():
        raise AssertionError("the tokenizer was loaded")

    identity = Embedder(max_tokens=64, tokenizer=never).identity
    assert (identity.name, identity.max_tokens, identity.dimensions) == ("minilm-int8", 64, 384)
    assert identity.sha256 == "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"


def test_vectors_have_length_one_keep_the_order_and_do_not_depend_on_their_neighbours(real):
    texts = ["A much longer text about the retrieval of passages for generation " * 3, "short", "Medium length text"]
    together = real.embed(texts)
    assert together.shape == (3, 384)
    assert together.dtype == np.float32
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    alone = np.stack([real.embed([text])[0] for text in texts])
    assert np.allclose(together, alone, atol=1e-5)
    assert real.embed([]).shape == (0, 384)


def test_titles_of_one_topic_are_nearer_than_unrelated_ones(real):
    rag, retrieval, cell = real.embed(
        [
            "Retrieval-Augmented Generation for Knowledge-Intensive NLP Tasks",
            "Dense Passage Retrieval for Open-Domain Question Answering",
            "Membrane potential dynamics of cortical neurons in the mouse",
        ]
    )
    assert rag @ retrieval > 0.35
    assert rag @ retrieval > 4 * abs(rag @ cell)


def test_the_cut_does_something():
    text = "alpha beta gamma delta " * 20
    assert not np.allclose(Embedder(max_tokens=8).embed([text]), Embedder(max_tokens=64).embed([text]), atol=1e-3)
