"""The survey's Markdown as sanitized HTML for the page: pandoc renders, lxml arranges, nh3 sanitizes last.

Text of papers can bring no element, no link and no style: what is kept are the tags of prose, tables and formulas, and
links inside the page. Pictures are ours and take their place behind the sanitizer. Not here: the bibliography
(`page_references`), what the cards show (`page_cards`), and the frame around it all (`page`).
"""

import re
from collections.abc import Mapping, Sequence

import lxml.html
import nh3

from generation.citations import escape, paper_of_key
from generation.rendering import RenderingFailed, pandoc
from generation.values import Survey

_TAGS = {
    "a", "b", "blockquote", "br", "caption", "code", "div", "em", "figcaption", "figure", "h2", "h3", "h4", "i", "li",
    "ol", "p", "section", "span", "strong", "sub", "sup", "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
_MATHML = {
    "math", "menclose", "mfrac", "mi", "mmultiscripts", "mn", "mo", "mover", "mpadded", "mphantom", "mprescripts",
    "mroot", "mrow", "ms", "mspace", "msqrt", "mstyle", "msub", "msubsup", "msup", "mtable", "mtd", "mtext", "mtr",
    "munder", "munderover", "none", "semantics",
}  # fmt: skip
_ATTRIBUTES = {
    "*": {"id", "class", "role", "aria-label", "aria-labelledby"},
    "a": {"href"},
    "div": {"tabindex"},
    "span": {"data-picture"},
    "th": {"scope"},
    "math": {"display"},
    "mo": {"stretchy", "form", "fence", "separator", "accent", "lspace", "rspace"},
    "mi": {"mathvariant"},
    "mover": {"accent"},
    "munder": {"accentunder"},
    "mtable": {"columnalign"},
}
_SOURCELESS = {"script", "style", "annotation", "annotation-xml", "template", "iframe", "svg"}
"""Elements that go with all they hold; `annotation` is TeX beside the MathML."""
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_PICTURE_FILE = re.compile(r"^pictures/([a-z]+)\.svg$")


def body_html(text: str, survey: Survey, pictures: Mapping[str, str]) -> str:
    """The sections as HTML that is safe to print as it is.

    Args:
        text: the survey's Markdown, with anchors.
        survey: of which the Markdown is; its references give the citations their numbers.
        pictures: name → SVG of ours, put where the Markdown shows `pictures/NAME.svg`.

    Raises:
        RenderingFailed: pandoc failed, a citation has no entry, a picture is not given.
    """
    root = _rendered(text)
    _without_references(root)
    numbers = {paper_id: i for i, paper_id in enumerate(survey.references, start=1)}
    for span in root.xpath('.//span[contains(concat(" ", @class, " "), " citation ")]'):
        _cite(span, numbers)
    for figure in root.iter("figure"):
        _place_picture(figure, pictures)
    for i, table in enumerate(list(root.iter("table")), start=1):
        _arrange_table(table, i)
    _mark_numbers(root, survey)
    clean = _sanitized(root)
    return re.sub(r'<span data-picture="([a-z]+)"></span>', lambda m: pictures[m.group(1)], clean)


def inline_html(texts: Sequence[str]) -> list[str]:
    """Texts of papers (titles) as safe HTML of one line each; formulas become MathML."""
    if not texts:
        return []
    paragraphs = [f"[{escape(' '.join(text.split()))}]{{#t{i}}}" for i, text in enumerate(texts)]
    root = _rendered("\n\n".join(paragraphs))
    found = []
    for i, text in enumerate(texts):
        spans = root.xpath(".//span[@id=$name]", name=f"t{i}")
        if len(spans) != 1:
            raise RenderingFailed("a title could not be rendered", which=text)
        spans[0].tail = None
        del spans[0].attrib["id"]
        found.append(_sanitized(spans[0]))
    return found


def _rendered(text: str) -> lxml.html.HtmlElement:
    """Markdown as a tree of HTML5, formulas as MathML. Citations stay tokens: their numbers are the survey's."""
    html = pandoc(_NOT_XML.sub("", text), "html5", options=["--mathml"])
    return lxml.html.fragment_fromstring(html, create_parent="div")


def _without_references(root: lxml.html.HtmlElement) -> None:
    """The Markdown's place for a bibliography goes with its heading; the page has one of its own."""
    for place in root.xpath('.//*[@id="refs"]'):
        heading = place.getprevious()
        if heading is not None and heading.tag == "h2":
            heading.drop_tree()
        place.drop_tree()


def _cite(span: lxml.html.HtmlElement, numbers: Mapping[str, int]) -> None:
    """`[@a; @b]` becomes `[1, 2]`, each number a link to its entry."""
    keys = [paper_of_key(key) for key in (span.get("data-cites") or "").split()]
    if missing := [key for key in keys if key not in numbers]:
        raise RenderingFailed("a citation has no entry in the bibliography", which=", ".join(missing))
    keys.sort(key=numbers.__getitem__)
    tail = span.tail
    span.clear()
    span.tail, span.text = tail, "["
    span.set("class", "citation")
    for i, key in enumerate(keys):
        link = lxml.html.Element("a", {"class": "cite", "href": f"#ref-{key}", "role": "doc-biblioref"})
        link.text = str(numbers[key])
        link.tail = ", " if i < len(keys) - 1 else "]"
        span.append(link)


def _place_picture(figure: lxml.html.HtmlElement, pictures: Mapping[str, str]) -> None:
    """A place for our own picture instead of the image; its caption is read out like any text."""
    for image in figure.xpath(".//img"):
        match = _PICTURE_FILE.match(image.get("src") or "")
        name = match.group(1) if match else None
        if name is None or name not in pictures:
            raise RenderingFailed("an image is no picture of ours", which=image.get("src") or "")
        image.getparent().replace(image, lxml.html.Element("span", {"data-picture": name}))
        if len(figure.xpath("./p")) == 1:  # pandoc wraps some images
            figure.xpath("./p")[0].drop_tag()


def _arrange_table(table: lxml.html.HtmlElement, number: int) -> None:
    """A table scrolls inside a frame that the keyboard reaches; its caption stands above and outside."""
    frame = lxml.html.Element("figure", {"class": "table"})
    table.getparent().replace(table, frame)
    frame.tail, table.tail = table.tail, None
    if table.get("id"):
        frame.set("id", table.attrib.pop("id"))
    scroll = lxml.html.Element("div", {"class": "scroll", "role": "region", "tabindex": "0"})
    for caption in table.findall("caption"):
        name = f"table-{number}"
        caption.tag = "figcaption"
        caption.set("id", name)
        table.set("aria-labelledby", name)
        scroll.set("aria-labelledby", name)
        frame.append(caption)
    if not scroll.get("aria-labelledby"):
        scroll.set("aria-label", f"Table {number}")
    for cell in table.iter("th"):
        cell.set("scope", "col")
    for group in table.findall("colgroup"):
        group.drop_tree()
    scroll.append(table)
    frame.append(scroll)


def _mark_numbers(root: lxml.html.HtmlElement, survey: Survey) -> None:
    """The numbers of headings in elements of their own, so that they can hang in the margin."""
    for section in survey.sections:
        for heading in root.xpath(".//*[@id=$name]", name=f"sec-{section.number.replace('.', '-')}"):
            written = re.match(rf"{re.escape(section.number)}\.? ", heading.text or "")
            if written:
                mark = lxml.html.Element("span", {"class": "number"})
                mark.text, mark.tail = section.number, " " + heading.text[written.end() :]
                heading.text = None
                heading.insert(0, mark)


def _sanitized(element: lxml.html.HtmlElement) -> str:
    html = lxml.html.tostring(element, encoding="unicode")
    inner = nh3.clean(
        html, tags=_TAGS | _MATHML, clean_content_tags=_SOURCELESS, attributes=_ATTRIBUTES, link_rel=None,
        attribute_filter=lambda tag, name, value: None if name == "href" and not value.startswith("#") else value,
    )  # fmt: skip
    return re.sub(r"^<(div|span)>|</(div|span)>$", "", inner)
