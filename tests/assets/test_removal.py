"""Papers that a source does not have are nowhere: three random lines taken out, everything made again."""

import random
from pathlib import Path

import pytest

pytestmark = pytest.mark.run


@pytest.mark.parametrize("seed", [1, 2, 3, 4, 5])
def test_papers_taken_out_of_the_mirror_appear_nowhere(home, run, tools, tmp_path, sample_records, seed):
    gone = random.Random(seed).sample(sample_records, 3)
    ids = [r["id"] for r in gone]
    titles = [" ".join(r["title"].lower().split()) for r in gone]
    print(f"seed {seed}: without {', '.join(ids)}")
    edges = tools.read_lines(tools.sample / "citations.jsonl")
    mirror = tools.write_mirror(tmp_path / "mirror", [r for r in sample_records if r not in gone], edges)
    refreshed = run("refresh", "--source", f"mirror:{mirror}", "--cutoff", "2024-12-31", "--json")
    assert refreshed.code == 0, refreshed.err
    assert refreshed.json["rows_added"] == 37
    told = run("survey", tools.topic, "--json")
    assert told.code == 0, told.err
    assert len(told.json["references"]) >= 20

    from corpus.contracts.registry import CONTRACTS

    # Edges are side data: they may name papers that nobody holds.
    for table in CONTRACTS.keys() - {"citations"}:
        text = " ".join(run("sql", f"SELECT * FROM {table}", "--json").out.lower().split())
        assert not [i for i in ids if i in text], table
        assert not [t for t in titles if t in text], table
    for path in told.json["paths"].values():
        text = " ".join(Path(path).read_text(encoding="utf-8").lower().split())
        assert not [i for i in ids if i in text], path
        assert not [t for t in titles if t in text], path
    for i in ids:
        assert run("paper", i).code == 1
        assert i not in [hit["paper_id"] for hit in run("search", "retrieval", "-k", "100", "--json").json]
    tree = run("lineage", tools.slug, "--json").out
    assert not [i for i in ids if i in tree]
