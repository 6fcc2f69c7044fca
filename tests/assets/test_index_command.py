"""`lithouse index` as people use it, on a corpus of a few papers."""

import pytest

from corpus.snapshots import take_snapshot
from corpus.tables import Lake
from indexes.paper_index import PaperIndex

pytestmark = pytest.mark.run


def test_all_papers_are_embedded_once(small, run):
    first = run("index", "--all", "--json")
    assert first.code == 0, first.err
    told = first.json
    assert (told["embedded"], told["reused"], told["skipped"], told["rows"]) == (10, 0, [], 10)
    assert told["index"] == {"kind": "exact", "recall": {"100%": 1.0}}
    assert told["embedder"] == "minilm-int8"
    assert told["seconds"] > 0
    again = run("index", "--all")
    assert again.out.startswith("0 papers embedded, 10 had their vector, 10 vectors by minilm-int8")
    index = PaperIndex.open(small / "index")
    assert list(index.tags()) == [take_snapshot(Lake(small)).content_hash]
    assert index.tags()[take_snapshot(Lake(small)).content_hash] == index.versions()


def test_without_all_it_says_what_to_do(run):
    result = run("index")
    assert result.code == 2
    assert "--all" in result.err


@pytest.mark.parametrize(
    ("name", "message"),
    [("nobody:model", "no such embedder"), ("word2vec", "no such embedder: word2vec")],
)
def test_an_embedder_that_does_not_exist_is_refused_and_nothing_is_written(small, run, name, message):
    result = run("index", "--all", "--embedder", name)
    assert result.code == 1
    assert message in result.err
    assert "paper_vectors" not in PaperIndex.open(small / "index").versions()


def test_without_an_index_it_says_what_to_do(run):
    result = run("index", "--all")
    assert (result.code, "lithouse refresh" in result.err) == (1, True)


def test_an_index_of_another_snapshot_is_refused(small, run):
    index = PaperIndex.open(small / "index")
    index.tag("then")
    text = index._text.papers(sorted(index._text.keys()["paper_id"])[:1])
    index.update(text, snapshot="another")
    result = run("index", "--all")
    assert result.code == 1
    assert "another snapshot" in result.err
    assert index.versions().keys() == {"paper_text"}


def test_a_killed_run_goes_on_where_it_was(small, run, monkeypatch):
    import indexes.embedding_run

    monkeypatch.setattr(indexes.embedding_run, "_COMMIT_ROWS", 4)
    real = indexes.embedding_run.embed_each
    left = [1, 1]

    def stopping(embedder, texts):
        if not left:
            raise KeyboardInterrupt
        left.pop()
        return real(embedder, texts)

    monkeypatch.setattr(indexes.embedding_run, "embed_each", stopping)
    assert run("index", "--all").code == 130
    monkeypatch.setattr(indexes.embedding_run, "embed_each", real)
    told = run("index", "--all", "--json").json
    assert (told["embedded"], told["reused"]) == (2, 8)
