"""Whole surveys, of the sample corpus and of real papers: every sentence from its source, every number from its query.

A survey over a small lake is asked the same, fast, in `tests/generation/test_faithfulness.py`.
"""

import re
from pathlib import Path

import pytest

from generation.captions import columns, picture_name
from generation.pictures import drawn
from tests.generation import faithfulness

pytestmark = pytest.mark.run

TOPIC = "Retrieval-Augmented Generation for Large Language Models"


@pytest.fixture(scope="module")
def real(shared_data, tools, tmp_path_factory):
    """A survey of 300 real papers, of those that a mirror holds up to a day."""
    home = tmp_path_factory.mktemp("real") / "home"
    for command in (
        ("refresh", "--source", f"mirror:{shared_data / 'mirror'}", "--cutoff", "2024-03-31"),
        ("survey", TOPIC, "--pool", "300"),
    ):
        done = tools.lithouse(home, *command)
        assert done.code == 0, done.err
    return faithfulness.printed_of(home)


@pytest.fixture(scope="module")
def sample(demo):
    return faithfulness.printed_of(demo.home)


@pytest.fixture(scope="module", params=["sample", "real"])
def printed(request):
    return request.getfixturevalue(request.param)


@pytest.mark.parametrize("check", faithfulness.CHECKS, ids=lambda c: c.__name__)
def test_nothing_is_wrong_with_what_is(check, printed):
    assert check(printed) == []


def test_there_is_something_to_check(printed):
    """Both surveys have what the checks are about; nearly all of their papers are cited in prose."""
    sentences = [s for _, s in faithfulness.sentences_of(printed.survey)]
    places = {s.place for s in sentences}
    assert places >= {"prose", "table", "caption"}
    assert {s.kind for s in sentences} >= {"adapted", "composed"}
    assert sum(row.query is not None for s in sentences for row in s.rows) >= 30
    assert len(printed.survey.references) >= 30
    in_prose = {p for s in sentences if s.place == "prose" for p in s.cited_ids}
    assert in_prose == set(printed.survey.references)


def test_what_a_caption_announces_is_printed_with_it(printed):
    """Pictures are files beside the Markdown that hold the rows' values, tables have their heading and rows."""
    path = printed.lake.home / printed.row["paths"]["markdown"]
    text = path.read_text(encoding="utf-8")
    pictures, tables = 0, 0
    for section in printed.survey.sections:
        for paragraph in section.paragraphs:
            if name := picture_name(paragraph):
                pictures += 1
                assert f"![{paragraph[0].text}](pictures/{name}.svg)" in text
                svg = (path.parent / "pictures" / f"{name}.svg").read_text(encoding="utf-8")
                assert svg == drawn(printed.survey)[name]
                shown = set(re.findall(r"[\d,]+", svg))
                counts = {r.value for r in paragraph[0].rows if r.query and r.name != "since" and r.value != "0"}
                assert counts <= shown
            elif head := columns(paragraph[0]):
                tables += 1
                assert f"| {' | '.join(head)} |" in text
                assert f": {paragraph[0].text}" in text
                for row in paragraph[1:]:
                    assert re.search(rf"^\| .*\[@{re.escape(row.cited_ids[0])}\] \|", text, re.MULTILINE)
    assert pictures == 3
    assert tables >= 1


def test_the_page_has_each_sentence_once(printed):
    """A picture's caption and a table's rows are sentences with a number of their own on the page too."""
    page = Path(printed.lake.home / printed.row["paths"]["html"]).read_text(encoding="utf-8")
    anchors = re.findall(r'id="s(\d+)"', page)
    assert len(anchors) == len(set(anchors))
    assert sorted(map(int, anchors)) == list(range(1, printed.row["sentence_count"] + 1))


def test_papers_have_one_home_and_the_largest_part_of_them_is_discussed_there(printed):
    digests = printed.rows("digests")
    homes = digests.filter("is_home")
    assert homes["paper_id"].is_unique().all()
    sizes = homes.group_by("number").len()["len"].to_list()
    assert min(sizes) >= 3
    by_leaf = {}
    for section in printed.survey.sections:
        for paper in section.cited_ids:
            by_leaf.setdefault(paper, set()).add(section.number)
    cited = homes.filter(homes["paper_id"].is_in(list(by_leaf)))
    assert len(cited) >= 0.5 * len(homes)
