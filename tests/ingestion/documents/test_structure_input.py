"""What parsers give → blocks: docvortex results, tables, link destinations, Markdown of other tools."""

import io

import pypdfium2
import pytest
from pypdf import PdfWriter
from pypdf.generic import ArrayObject, DictionaryObject, FloatObject, NameObject, NullObject, TextStringObject

from ingestion.documents.structure.destinations import MOST_DESTINATIONS, read_destinations
from ingestion.documents.structure.document import from_markdown, structured
from ingestion.documents.structure.docvortex_blocks import raw_document
from ingestion.documents.structure.markdown_reader import read_markdown
from ingestion.documents.structure.tables import markdown_table
from ingestion.errors import BadInput


def piece(text: str, **more: object) -> dict:
    return {"type": "text", "content": text, **more}


def payload(*blocks: dict, destinations: list | None = None) -> dict:
    document = {"pages": [{"page_idx": 0, "blocks": list(blocks)}]}
    return {"document": document, "page_count": 1, "title": "", "destinations": destinations or []}


def test_docvortex_blocks_become_ours():
    link = {"type": "hyperlink", "url": "https://mill.example", "content": [piece("mills")]}
    table = {
        "type": "table_body",
        "content": "<table><tr><td>Wheel</td><td>Speed</td></tr><tr><td>old</td><td>3</td></tr></table>",
    }
    raw = raw_document(
        payload(
            {"type": "doc_title", "bbox": [0.1, 0.1, 0.9, 0.15], "content": [piece("Water mills")]},
            {"type": "text", "bbox": [0.1, 0.2, 0.9, 0.3], "content": [piece("About ", styles=["bold"]), link], "continues_prev": True},
            {"type": "table", "bbox": [0.1, 0.4, 0.9, 0.5], "content": [{"type": "table_caption", "content": [piece("Table 1: Wheels.")]}, table]},
            {"type": "image", "bbox": [0.1, 0.6, 0.9, 0.7], "content": [{"type": "image_body", "content": "axis 1 2 3"}]},
            {"type": "page_number", "bbox": [0.5, 0.95, 0.52, 0.97], "content": [piece("1")]},
            destinations=[["section.1", 1, None, 0.2]],
        )
    )  # fmt: skip
    title, text, cells, figure, number = raw.blocks
    assert (title.kind, text.kind, cells.kind, figure.kind, number.kind) == (
        "title",
        "text",
        "table",
        "figure",
        "furniture",
    )
    assert text.runs[1].url == "https://mill.example"
    assert text.continues
    assert cells.table.splitlines()[0] == "| Wheel | Speed |"
    assert figure.text == ""
    assert raw.destinations[0].y == 0.2
    found = structured(raw)
    assert [(p.kind, p.label) for p in found.parts] == [("paragraph", ""), ("caption", "Table 1"), ("table", "")]
    assert "axis" not in found.markdown


@pytest.mark.parametrize(
    "broken",
    [{}, {"document": {}}, payload({"type": "text"}), payload("text")],
    ids=["empty", "no pages", "no content", "no block"],
)
def test_another_form_of_result_is_an_error_that_says_so(broken):
    with pytest.raises(BadInput, match="expected form"):
        raw_document(broken)


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        ("<table><tr><td colspan='2'>a</td><td>b</td></tr><tr><td>1</td><td>2</td><td>3</td></tr></table>", ["| a |  | b |", "|---|---|---|", "| 1 | 2 | 3 |"]),
        ("<table><tr><td rowspan=2>a</td><td>b</td></tr><tr><td>c</td></tr></table>", ["| a | b |", "|---|---|", "|  | c |"]),
        ("<table><tr><td>a|b &lt;i&gt;</td><td>78.463.457.5</td></tr></table>", ["| a\\|b &lt;i> | 78.4 63.4 57.5 |", "|---|---|"]),
        ("wheel   speed\nold     3", ["| wheel | speed |", "|---|---|", "| old | 3 |"]),
        ("wheel   speed\nold", ["```text", "wheel   speed", "old", "```"]),
        ("<table><tr><td> </td></tr></table>", []),
    ],
    ids=["colspan", "rowspan", "characters", "plain columns", "ragged", "empty"],
)  # fmt: skip
def test_tables(content, lines):
    assert markdown_table(content).splitlines() == lines


def _pdf(names: dict[str, tuple[float | None, float | None]]) -> pypdfium2.PdfDocument:
    writer = PdfWriter()
    page = writer.add_blank_page(200, 400)
    entries = ArrayObject()
    for name in sorted(names):
        place = [NullObject() if value is None else FloatObject(value) for value in names[name]]
        entries += [
            TextStringObject(name),
            ArrayObject([page.indirect_reference, NameObject("/XYZ"), *place, NullObject()]),
        ]
    tree = DictionaryObject({NameObject("/Dests"): DictionaryObject({NameObject("/Names"): entries})})
    writer.root_object[NameObject("/Names")] = tree
    stream = io.BytesIO()
    writer.write(stream)
    return pypdfium2.PdfDocument(stream.getvalue())


def test_destinations_are_fractions_from_the_upper_left_corner():
    with _pdf({"cite.dam2001": (50, 300), "section.1": (None, None)}) as pdf:
        cite, section = read_destinations(pdf)
    assert (cite.name, cite.page, cite.x, cite.y) == ("cite.dam2001", 1, 0.25, 0.25)
    assert (section.name, section.page) == ("section.1", 1)
    assert section.y is None


def test_a_file_without_destinations_has_none():
    with _pdf({}) as pdf:
        assert read_destinations(pdf) == []
    assert MOST_DESTINATIONS > 1_000


def test_markdown_of_other_tools():
    text = (
        "# Water mills\n\n<details>axis 1 2</details>\n\n## 1 Wheels\n\nA **wheel**[^x] *turns* at [the dam](https://dam.example).\n\n"
        "- first\n- second\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n<table><tr><td>c</td><td>d</td></tr></table>\n\n```\nturn()\n```\n"
    )
    found = from_markdown(text)
    assert found.title == "Water mills"
    assert [p.kind for p in found.parts] == ["paragraph", "list", "list", "table", "table", "code"]
    assert "A wheel[^x] turns at the dam." in found.markdown
    assert "axis" not in found.markdown
    assert found.page_count == 0
    assert all(block.page is None for block in read_markdown(text).blocks)


@pytest.mark.parametrize(
    ("headings", "title"),
    [
        (["Water mills", "Abstract", "1 Wheels"], "Water mills"),
        (["Water mills", "1 Wheels"], "Water mills"),
        (["Abstract", "1 Wheels"], ""),
        (["1 Wheels", "2 Water"], ""),
    ],
)
def test_the_title_of_markdown_with_headings_of_one_level(headings, title):
    found = from_markdown("\n\n".join(f"## {heading}\n\nThe wheels turn." for heading in headings))
    assert found.title == title
    assert len([s for s in found.sections if s.title]) == len(headings) - bool(title)
