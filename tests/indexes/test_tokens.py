import pytest

from indexes.tokens import load_tokenizer
from ingestion.errors import NotFound

# Ids of the reference tokenizer (bert-base-uncased), as published in its documentation and vocabulary.
KNOWN = {
    "Hello, world!": [101, 7592, 1010, 2088, 999, 102],
    "the quick brown fox": [101, 1996, 4248, 2829, 4419, 102],
    "naïve café": [101, 15743, 7668, 102],
    "embeddings": [101, 7861, 8270, 4667, 2015, 102],
}


@pytest.fixture(scope="module")
def tokenize():
    return load_tokenizer()


@pytest.mark.parametrize("text", KNOWN)
def test_ids_equal_those_of_the_reference_tokenizer(tokenize, text):
    assert tokenize(text, 128) == KNOWN[text]


def test_long_texts_are_cut_and_keep_their_marks(tokenize):
    whole, cut = tokenize("word " * 300, 512), tokenize("word " * 300, 128)
    assert (len(whole), len(cut)) == (302, 128)
    assert cut == [*whole[:127], 102]


@pytest.mark.parametrize("text", ["", " ", "\u200b", "a\x00b", "\ud800 broken", "\n" * 50])
def test_odd_texts_give_marked_ids_without_padding(tokenize, text):
    ids = tokenize(text, 128)
    assert (ids[0], ids[-1]) == (101, 102)
    assert 0 not in ids


@pytest.mark.parametrize(
    "error", [OSError("wrong ELF class"), ImportError("no blingfire"), AttributeError("LoadModel")]
)
def test_a_platform_without_the_native_library_is_told_the_alternatives(error):
    def library():
        raise error

    with pytest.raises(NotFound) as caught:
        load_tokenizer(library)
    assert "full text search works without it" in caught.value.message.lower()
    assert "another embedder" in caught.value.message
    assert str(error) in caught.value.message


def test_a_package_without_its_vocabulary_is_named(tmp_path):
    class Library:
        __file__ = str(tmp_path / "__init__.py")

    with pytest.raises(NotFound, match=r"bert_base_tok\.bin"):
        load_tokenizer(Library)
