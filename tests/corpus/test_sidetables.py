"""Edges and outlines in their tables: several sources, losses, imports that change nothing."""

import polars as pl
import pytest

from corpus.sideimport import import_citations, import_outlines
from corpus.sidetables import store_edges, store_outlines
from corpus.tables import Lake
from ingestion.errors import NotFound
from ingestion.sidedata import Edge, Heading, HumanOutlineRecord


def known(lake: Lake) -> dict[tuple[str, str], list[str]]:
    return {(r["citing_id"], r["cited_id"]): r["sources"] for r in lake.read("citations").to_dicts()}


def test_an_edge_known_to_two_sources_is_one_row_and_outlives_the_loss_of_one(lake: Lake) -> None:
    one, two, three = Edge("a", "b"), Edge("a", "c"), Edge("d", "e")
    assert store_edges(lake, "s1", [one, two]).added == 2
    change = store_edges(lake, "s2", [two, three])
    assert (change.added, change.changed, change.removed) == (1, 1, 0)
    assert known(lake) == {("a", "b"): ["s1"], ("a", "c"): ["s1", "s2"], ("d", "e"): ["s2"]}
    change = store_edges(lake, "s1", [])
    assert (change.added, change.removed, change.is_committed) == (0, 2, True)
    assert known(lake) == {("a", "c"): ["s2"], ("d", "e"): ["s2"]}
    assert store_edges(lake, "s2", []).is_committed
    assert known(lake) == {}


def test_the_same_edges_again_commit_nothing_and_new_ones_alone_are_appended(lake: Lake) -> None:
    assert not store_edges(lake, "s", []).is_committed
    assert lake.version("citations") is None
    store_edges(lake, "s", [Edge("a", "b")])
    before = set(lake.file_uris("citations"))
    assert not store_edges(lake, "s", [Edge("a", "b")]).is_committed
    store_edges(lake, "s", [Edge("a", "b"), Edge("c", "d")])
    assert before < set(lake.file_uris("citations"))


def test_contexts_survive_a_rewrite(lake: Lake, edges) -> None:
    frame = edges(("a", "b"), sources=("fulltext",)).with_columns(contexts=pl.Series([["as shown in [1]"]]))
    lake.append("citations", frame)
    store_edges(lake, "s", [Edge("a", "b")])
    assert lake.read("citations").select("sources", "contexts").rows() == [(["fulltext", "s"], ["as shown in [1]"])]


def outline(outline_id: str, *headings: str, title: str | None = "A survey") -> HumanOutlineRecord:
    return HumanOutlineRecord(outline_id, outline_id, title, tuple(Heading(1, h) for h in headings), 1)


def headings(lake: Lake) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for row in lake.read("human_outlines").sort("outline_id", "position").to_dicts():
        found.setdefault(row["outline_id"], []).append(row["heading"])
    return found


def test_outlines_are_added_changed_and_removed_for_their_source_alone(lake: Lake) -> None:
    store_outlines(lake, "s1", [outline("2001.00001", "Intro", "End"), outline("2001.00002", "Intro")])
    store_outlines(lake, "s2", [outline("2001.00003", "Other")])
    change = store_outlines(lake, "s1", [outline("2001.00001", "Intro", "Middle", "End")])
    assert (change.added, change.changed, change.removed) == (0, 1, 1)
    assert headings(lake) == {"2001.00001": ["Intro", "Middle", "End"], "2001.00003": ["Other"]}
    version = lake.version("human_outlines")
    assert not store_outlines(lake, "s2", [outline("2001.00003", "Other")]).is_committed
    assert lake.version("human_outlines") == version


def test_the_last_import_of_a_surveys_outline_stands(lake: Lake) -> None:
    store_outlines(lake, "s1", [outline("2001.00001", "One", "Two")])
    store_outlines(lake, "s2", [outline("2001.00001", "Eins")])
    assert headings(lake) == {"2001.00001": ["Eins"]}
    assert lake.read("human_outlines")["source"].to_list() == ["s2"]


def test_ct03_ct12_an_imported_file_drops_self_loops_and_doubles_and_tells_refusals(lake: Lake, tmp_path) -> None:
    path = tmp_path / "edges.jsonl"
    path.write_text(
        '{"citing_id": "2401.00001", "cited_id": "1706.03762"}\n'
        '{"citing_id": "arXiv:2401.00001v2", "cited_id": "https://arxiv.org/abs/1706.03762v7"}\n'
        '{"citing_id": "2401.00001v1", "cited_id": "2401.00001v2"}\n'
        '{"citing_id": "2401.00001", "cited_id": null}\n'
        '{"citing_id": "2401.00001", "cited_id": "12/2019"}\n'
        '{"citing_id": 2412.00010, "cited_id": "1706.03762"}\n'
        "{broken\n",
        encoding="utf-8",
    )
    done = import_citations(lake, path)
    assert known(lake) == {("2401.00001", "1706.03762"): [f"import:{path.as_posix()}"]}
    assert (done.side.self_loops, done.change.added, done.report.status) == (1, 1, "complete")
    assert lake.read("rejected_records").sort("source_line")["source_line"].to_list() == [4, 5, 6, 7]
    row = lake.read("harvests").to_dicts()[0]
    assert (row["have_count"], row["rejected_count"], row["commit_count"]) == (1, 4, 2)
    again = import_citations(lake, path)
    assert (again.change.is_committed, again.report.commits) == (False, 0)
    assert lake.row_count("harvests") == 2


def test_a_damaged_side_file_is_partial_and_takes_nothing_away(lake: Lake, tmp_path) -> None:
    import gzip

    path = tmp_path / "edges.jsonl.gz"
    lines = "".join(f'{{"citing_id": "2401.{n:05d}", "cited_id": "1706.03762"}}\n' for n in range(1, 3000))
    path.write_bytes(gzip.compress(lines.encode()))
    import_citations(lake, path)
    path.write_bytes(path.read_bytes()[:-2000])
    done = import_citations(lake, path)
    assert done.report.status == "partial"
    assert len(known(lake)) == 2999


def test_an_import_of_nothing_is_not_found(lake: Lake, tmp_path) -> None:
    with pytest.raises(NotFound, match=r"none\.jsonl"):
        import_outlines(lake, tmp_path / "none.jsonl")
    assert not lake.home.exists()


@pytest.mark.run
@pytest.mark.parametrize(
    ("name", "outlines", "refused"),
    [("surveyforge_arxiv_outlines", 17_072, 0), ("human_outline_trees", 40, 433)],
)
def test_real_outlines_are_imported_whole_and_a_second_time_change_nothing(
    lake: Lake, shared_data, name, outlines, refused
) -> None:
    path = shared_data / "survey_outlines" / f"{name}.jsonl.gz"
    done = import_outlines(lake, path)
    assert (done.change.added, len(done.report.refusals)) == (outlines, refused)
    # What is refused has neither title nor id: nothing says whose outline it is.
    assert {r.reason for r in done.report.refusals} <= {"an outline needs a title or an id"}
    assert lake.read("human_outlines")["outline_id"].n_unique() == outlines
    if outlines < 100:  # the large file costs two seconds each time
        assert not import_outlines(lake, path).change.is_committed


def test_real_edges_are_imported_and_only_those_without_a_possible_id_refused(lake: Lake, shared_data) -> None:
    done = import_citations(lake, shared_data / "citation_edges.jsonl.gz")
    no_id, impossible = "an edge needs citing_id and cited_id", "no paper can have this id"
    assert {r.reason for r in done.report.refusals if not r.reason.startswith(impossible)} == {no_id}
    assert all("2416.16411" in r.raw_id or "1306.05685" in r.raw_id for r in done.report.refusals if r.raw_id)
    assert done.report.side_count == done.change.added == lake.row_count("citations") > 12_000
    assert done.report.side_count + len(done.report.refusals) + done.side.self_loops <= 28_352
