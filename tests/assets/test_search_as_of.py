"""`lithouse search --as-of`: papers and index as a survey's manifest names them."""

import pytest

pytestmark = pytest.mark.run


def test_search_as_of_an_edition_does_not_see_what_came_later(surveyed, run, tools, record, tmp_path, demo):
    query = ("search", "xylophone resonators", "--json")
    slug = demo.result["slug"]
    now = run("search", "retrieval", "--json").json
    then = run("search", "retrieval", "--json", "--as-of", slug)
    assert then.code == 0, then.err
    assert {row["paper_id"] for row in then.json} == {row["paper_id"] for row in now}
    new = record("2401.77777", "2024-01-03", title="Xylophone resonators", abstract="On xylophone resonators.")
    mirror = tools.write_mirror(tmp_path / "mirror", [new])
    assert run("refresh", "--source", f"mirror:{mirror}", "--cutoff", "2024-12-31").code == 0
    assert run(*query).json[0]["paper_id"] == "2401.77777"
    told = run(*query, "--as-of", slug)
    assert told.code == 0, told.err
    assert "2401.77777" not in [row["paper_id"] for row in told.json]
    assert run("search", "retrieval", "--as-of", "never-made").code == 1
