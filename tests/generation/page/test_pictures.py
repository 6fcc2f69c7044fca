"""Pictures are well-formed, say every number, carry no markup of a heading, and stay within their frame."""

import re

import pytest
from defusedxml.ElementTree import fromstring
from hypothesis import given
from hypothesis import strategies as st

from generation.captions import FLOW, PICTURES, TAXONOMY, TIMELINE
from generation.pictures import BadPicture, picture
from generation.values import Sentence, StatedRow

SVG = "{http://www.w3.org/2000/svg}"
ROWS = {
    FLOW: [("identified", "79,204"), ("admitted", "75,161"), ("pool", "1,500"), ("consulted", "702"), ("cited", "352")],
    TIMELINE: [("pool 2018", "41"), ("cited 2018", "11"), ("pool 2021", "230"), ("cited 2021", "60")],
    TAXONOMY: [("2 Dense Retrieval", "68"), ("2.1 Distillation", "30"), ("2.1.1 Margins", "13"), ("10 Open Problems", "9")],
}  # fmt: skip


def caption(template, rows):
    return Sentence("composed", template, template=template, rows=tuple(StatedRow(*r) for r in rows), place="caption")


def texts(svg: str) -> list[str]:
    return [e.text or "" for e in fromstring(svg).iter(f"{SVG}text")]


@pytest.mark.parametrize("template", ROWS, ids=PICTURES.values())
@pytest.mark.parametrize("inline", [True, False], ids=["inline", "file"])
def test_every_number_is_printed_and_told_to_who_cannot_see(template, inline):
    svg = picture(caption(template, ROWS[template]), inline=inline)
    root = fromstring(svg)
    described = root.find(f"{SVG}desc").text
    printed = re.findall(r"[\d,]+", " ".join(texts(svg)))
    for _, value in ROWS[template]:
        assert value in printed
        assert re.search(rf"(?<![\d,]){value}(?![\d,])", described)
    ids = [root.find(f"{SVG}title").get("id"), root.find(f"{SVG}desc").get("id")]
    assert root.get("aria-labelledby").split() == ids


@pytest.mark.parametrize("template", ROWS, ids=PICTURES.values())
def test_the_same_rows_give_the_same_bytes(template):
    assert picture(caption(template, ROWS[template])) == picture(caption(template, ROWS[template]))


@pytest.mark.parametrize("template", ROWS, ids=PICTURES.values())
def test_a_file_has_colours_and_size_of_its_own_and_a_page_gives_them(template):
    file, inline = picture(caption(template, ROWS[template])), picture(caption(template, ROWS[template]), inline=True)
    assert "prefers-color-scheme: dark" in file
    assert fromstring(file).get("width") == "420"
    assert "<style" not in inline
    assert "style=" not in inline
    assert fromstring(inline).get("width") is None
    for svg in (file, inline):
        assert not re.search(r"<script|href|url\(|on\w+=", svg)
        assert all(e.get("fill") for e in fromstring(svg).iter(f"{SVG}text"))


def test_a_bar_is_as_long_as_its_count():
    root = fromstring(picture(caption(TIMELINE, ROWS[TIMELINE]), inline=True))
    bars = [float(e.get("width")) for e in root.iter(f"{SVG}rect")][2:]  # behind the legend's two
    counts = [41, 11, 230, 60]
    assert bars == pytest.approx([268 * c / 230 for c in counts], abs=0.06)


def test_a_year_without_papers_keeps_its_row():
    said = texts(picture(caption(TIMELINE, ROWS[TIMELINE])))
    assert [t for t in said if t.isdecimal() and len(t) == 4] == ["2018", "2019", "2020", "2021"]


def test_a_long_heading_is_wrapped_and_then_shortened_with_its_full_text_behind():
    long = "2 " + "Retrieval of very many things from very large places " * 4
    root = fromstring(picture(caption(TAXONOMY, [(long, "5")])))
    lines = [e.text for e in root.iter(f"{SVG}text")]
    assert len(lines) == 5  # number, three lines, count
    assert lines[3].endswith("…")
    assert root.find(f"{SVG}g/{SVG}title").text == " ".join(long.split())


@given(st.text(st.characters(codec="utf-8"), max_size=120), st.sampled_from(["1", "1.1", "3.2.1.4"]))
def test_a_hostile_heading_stays_text_inside_the_frame(heading, number):
    row = (f"{number} {heading}", "1,234")
    root = fromstring(picture(caption(TAXONOMY, [row, ("2 Next", "7")])))
    assert {e.tag.removeprefix(SVG) for e in root.iter()} <= {
        "svg",
        "title",
        "desc",
        "style",
        "rect",
        "g",
        "path",
        "text",
    }
    assert "1,234" in [e.text for e in root.iter(f"{SVG}text")]
    height = float(root.get("viewBox").split()[3])
    assert all(float(e.get("y")) <= height for e in root.iter(f"{SVG}text"))


@given(st.text(st.characters(codec="utf-8"), max_size=60))
def test_a_step_we_have_no_words_for_is_shown_as_it_is_called(name):
    root = fromstring(picture(caption(FLOW, [(name, "9")])))
    assert "9" in [e.text for e in root.iter(f"{SVG}text")]


@pytest.mark.parametrize(
    ("template", "rows"),
    [
        ("A sentence.", [("cited", "1")]),
        (FLOW, []),
        (FLOW, [("cited", "many")]),
        (FLOW, [("cited", "²")]),
        (TIMELINE, [("pool", "3")]),
        (TIMELINE, [("seen 2020", "3")]),
        (TIMELINE, [("pool 1", "3"), ("pool 2020", "4")]),
    ],
    ids=["no-picture", "no-rows", "no-number", "no-digit", "no-year", "other-series", "too-many-years"],
)
def test_what_cannot_be_drawn_is_refused(template, rows):
    with pytest.raises(BadPicture):
        picture(caption(template, rows))
