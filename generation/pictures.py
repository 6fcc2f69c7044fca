"""Pictures as SVG, drawn from the rows of their captions (`captions`): the flow, the timeline, the taxonomy.

One drawing serves two places. In a file of its own (`picture(caption)`) it has fixed colours that every converter
reads, and a style for readers who prefer dark. In a page (`inline=True`) it has no style: the page's colours its
classes. All are narrow drawings, read from top to bottom, so that they stay legible on a phone and in a column of
print; a number is always printed beside its bar. Not here: where the rows come from, and where a picture stands.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence
from xml.sax.saxutils import escape, quoteattr

from generation.captions import PICTURES, picture_name
from generation.values import Sentence, Survey
from ingestion.errors import PermanentFailure

_WIDTH = 420
_SIZE = 13
"""Font size in the drawing's units; a phone of 400 pixels shows it at 11."""
_COLOURS = {"ink": "#1d2127", "soft": "#5c6570", "line": "#c3cad2", "front": "#0b5cad", "back": "#c5d7ea", "ground": "#ffffff"}  # fmt: skip
_DARK = {"ink": "#e4e7eb", "soft": "#9aa4b0", "line": "#4a535d", "front": "#7db7f0", "back": "#2f465d", "ground": "#16191d"}  # fmt: skip
_STEPS = {
    "identified": ("identified", "papers that the corpus holds"),
    "admitted": ("admitted", "within the cutoff, not excluded or withdrawn"),
    "pool": ("in the pool", "retrieved for the topic"),
    "consulted": ("consulted", "read for the outline or the text"),
    "cited": ("cited", "at least one sentence rests on each"),
}
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_Drawing = tuple[str, float, str, str]
"""Elements, height, title, description."""


class BadPicture(PermanentFailure):
    """A caption has no picture, or rows that cannot be drawn."""


def picture(caption: Sentence, *, inline: bool = False) -> str:
    """The SVG of a caption's picture; the same rows give the same bytes.

    Args:
        caption: its template names the picture, its rows are the data.
        inline: to stand in a page that colours the classes; else a file of its own.

    Raises:
        BadPicture: the caption is no picture's, or a row states no count.
    """
    name = PICTURES.get(caption.template or "")
    if name is None or not caption.rows:
        raise BadPicture("a caption has nothing to draw", which=caption.text)
    elements, height, title, description = _DRAW[name]([(_clean(row.name), row.value) for row in caption.rows])
    ids = f"{name}-title {name}-description"
    size = {} if inline else {"width": _WIDTH, "height": height}
    return _element(
        "svg",
        {"xmlns": "http://www.w3.org/2000/svg", "class": f"picture {name}", "viewBox": f"0 0 {_WIDTH} {height:g}", **size,
         "role": "img", "aria-labelledby": ids, "font-family": "Helvetica, Arial, 'DejaVu Sans', sans-serif",
         "font-size": _SIZE},
        _element("title", {"id": f"{name}-title"}, escape(title)),
        _element("desc", {"id": f"{name}-description"}, escape(description)),
        "" if inline else _style() + _rectangle("ground", 0, 0, _WIDTH, height),
        elements,
    )  # fmt: skip


def drawn(survey: Survey) -> dict[str, str]:
    """The pictures of a survey as SVG, by name.

    Raises:
        BadPicture: one cannot be drawn.
    """
    captions = [p[0] for section in survey.sections for p in section.paragraphs if picture_name(p)]
    return {PICTURES[c.template or ""]: picture(c) for c in captions}


def _flow(rows: Sequence[tuple[str, str]]) -> _Drawing:
    """Boxes from top to bottom with arrows between."""
    box, gap, parts = 46, 22, []
    for i, (name, value) in enumerate(rows):
        top = 1 + i * (box + gap)
        label, meaning = _STEPS.get(name, (name, ""))
        last = " front-edge" if i == len(rows) - 1 else ""
        frame = {"x": 1, "y": top, "width": _WIDTH - 2, "height": box, "rx": 5, "class": "box" + last, "fill": "none"}
        parts += [
            _element("rect", {**frame, "stroke": _COLOURS["front" if last else "line"]}),
            _text("ink", 112, top + 29, _clean(value), size=17, weight="bold", anchor="end"),
            _text("ink", 126, top + (20 if meaning else 28), _fitted(label, 280), weight="bold"),
            _text("soft", 126, top + 37, meaning, size=12) if meaning else "",
        ]
        if i:
            path = f"M210 {top - gap + 3}V{top - 4}M205 {top - 9}L210 {top - 3}L215 {top - 9}"
            parts.append(_element("path", {"class": "arrow", "d": path, "fill": "none", "stroke": _COLOURS["soft"]}))
        _count(name, value)
    height = len(rows) * (box + gap) - gap + 2
    said = "; ".join(f"{_STEPS.get(name, (name, ''))[0]}: {_clean(value)}" for name, value in rows)
    return "".join(parts), height, "How papers were chosen", f"Number of papers at each step. {said}."


def _timeline(rows: Sequence[tuple[str, str]]) -> _Drawing:
    """A row for each year: the pool's bar behind, the cited papers' before it; years without papers keep their row."""
    counts: dict[int, dict[str, str]] = {}
    rows = [row for row in rows if row[0] != "since"]  # where the years begin; the caption says so
    for name, value in rows:
        series, _, year = name.rpartition(" ")
        if series not in ("pool", "cited") or not year.isdecimal():
            raise BadPicture("a row of the timeline is no series and year", which=name)
        counts.setdefault(int(year), {})[series] = value
    most = max(_count(name, value) for name, value in rows) or 1
    parts, top, step, left, length = [_legend()], 30, 21, 48, 268
    years = range(min(counts), max(counts) + 1)
    if len(years) > 200:
        raise BadPicture("a timeline of more than 200 years", which=f"{years[0]} to {years[-1]}")
    for i, year in enumerate(years):
        y = top + i * step
        parts.append(_text("ink", 38, y + 12, str(year), anchor="end"))
        end, said = left, []
        for series, style, thickness in (("pool", "back", 14), ("cited", "front", 6)):
            if (value := counts.get(year, {}).get(series)) is not None:
                width = round(length * _count(series, value) / most, 1)
                parts.append(_rectangle(style, left, y + 8 - thickness / 2, width, thickness))
                end, said = max(end, left + width), [*said, value]
        if said:
            parts.append(_text("soft", end + 6, y + 12, " / ".join(map(_clean, said)), size=12))
    text = "; ".join(
        f"{year}: " + ", ".join(f"{_clean(v)} {_SERIES[s]}" for s, v in counts[year].items()) for year in sorted(counts)
    )
    return "".join(parts), top + len(years) * step, "Papers by year", f"Number of papers by year. {text}."


_SERIES = {"pool": "retrieved", "cited": "cited"}


def _legend() -> str:
    return (
        _rectangle("back", 48, 3, 22, 14)
        + _text("soft", 76, 14, "retrieved", size=12)
        + _rectangle("front", 146, 7, 22, 6)
        + _text("soft", 174, 14, "cited", size=12)
    )


def _taxonomy(rows: Sequence[tuple[str, str]]) -> _Drawing:
    """A row for each section, subsections indented below a line, with a bar as long as it has papers."""
    most = max(_count(name, value) for name, value in rows) or 1
    parts, y, said = [], 2.0, []
    for i, (name, value) in enumerate(rows):
        number, _, heading = name.partition(" ")
        depth = min(number.rstrip(".").count("."), 3)
        if i and not depth:
            y += 7
        left = 30 + 26 * depth if depth else 24
        lines, is_cut = _wrapped(heading or number, 292 - left, bold=not depth)
        height = 6 + 16 * len(lines)
        style, weight = ("ink", "bold") if not depth else ("ink", None)
        group = [_element("title", {}, escape(name))] if is_cut else []
        if depth:
            x = 7 + 26 * (depth - 1)
            group.append(_element("path", {"class": "arrow", "d": f"M{x} {y - 3:g}V{y + height - 2:g}", "fill": "none", "stroke": _COLOURS["line"]}))  # fmt: skip
        group.append(_text("soft", left - 6, y + 15, number.rstrip("."), size=12, anchor="end"))
        group += [_text(style, left, y + 15 + 16 * j, line, weight=weight) for j, line in enumerate(lines)]
        width = round(88 * _count(name, value) / most, 1)
        group.append(_rectangle("front" if depth else "back", 298, y + 5, width, 12))
        group.append(_text("soft", 298 + width + 5, y + 15, _clean(value), size=12))
        parts.append(_element("g", {}, *group))
        said.append(f"{name}: {_clean(value)}")
        y += height
    return "".join(parts), y + 2, "Sections of the survey", f"Papers cited in each section. {'; '.join(said)}."


_DRAW: dict[str, Callable[[Sequence[tuple[str, str]]], _Drawing]] = {
    "flow": _flow,
    "timeline": _timeline,
    "taxonomy": _taxonomy,
}


def _count(name: str, value: str) -> int:
    digits = value.replace(",", "")
    if not (digits.isascii() and digits.isdecimal()):
        raise BadPicture("a row of a picture states no count", which=f"{name}: {value}")
    return int(digits)


def _clean(text: str) -> str:
    """Without characters that XML has no place for, blanks made one."""
    return " ".join(_NOT_XML.sub("", text).split())


def _element(name: str, attributes: dict[str, object], *children: str) -> str:
    values = "".join(f" {key}={quoteattr(_written(value))}" for key, value in attributes.items())
    inner = "".join(children)
    return f"<{name}{values}>{inner}</{name}>" if inner else f"<{name}{values}/>"


def _written(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _rectangle(style: str, x: float, y: float, width: float, height: float) -> str:
    return _element("rect", {"class": style, "x": x, "y": y, "width": width, "height": height, "fill": _COLOURS[style]})


def _text(
    style: str, x: float, y: float, text: str, *, size: int | None = None, weight: str | None = None, anchor: str = ""
) -> str:
    more = {"font-size": size, "font-weight": weight, "text-anchor": anchor}
    attributes = {"class": style, "x": x, "y": y, "fill": _COLOURS[style], **{k: v for k, v in more.items() if v}}
    return _element("text", attributes, escape(text))


def _style() -> str:
    """Colours for readers who prefer dark; who knows no such preference keeps the fixed ones."""
    rules = "".join(f".{name}{{fill:{colour}}}" for name, colour in _DARK.items() if name != "line")
    edges = f".box,.arrow{{fill:none;stroke:{_DARK['line']}}}.front-edge{{stroke:{_DARK['front']}}}"
    return _element("style", {}, f"@media (prefers-color-scheme: dark){{{rules}{edges}}}")


def _measure(text: str, *, bold: bool = False) -> float:
    """Width of text, estimated on the wide side: fonts differ, and no font is read."""
    units = 0.0
    for c in text:
        if unicodedata.combining(c):
            continue
        wide = unicodedata.east_asian_width(c) in "WF"
        units += 1.05 if wide else 0.32 if c in "iljtfr.,:;'|!()[] " else 0.92 if c in "mwMW@%" else 0.7 if c.isupper() else 0.56  # fmt: skip
    return units * _SIZE * (1.07 if bold else 1)


def _fitted(text: str, room: float, *, bold: bool = False) -> str:
    if _measure(text, bold=bold) <= room:
        return text
    while text and _measure(text + "…", bold=bold) > room:
        text = text[:-1]
    return text.rstrip() + "…"


def _wrapped(text: str, room: float, *, bold: bool = False, most: int = 3) -> tuple[list[str], bool]:
    """Lines of text, at most so many, and whether something was cut off. Words too long for a line are broken."""
    lines, words = [], text.split()
    while words and len(lines) < most:
        taken = 1
        while taken < len(words) and _measure(" ".join(words[: taken + 1]), bold=bold) <= room:
            taken += 1
        line, words = " ".join(words[:taken]), words[taken:]
        kept = len(line)
        while kept > 1 and _measure(line[:kept], bold=bold) > room:
            kept -= 1
        lines.append(line[:kept])
        words = [line[kept:], *words] if kept < len(line) else words
    if words:
        lines[-1] += " " + " ".join(words)
    fitted = [_fitted(line, room, bold=bold) for line in lines]
    return fitted, fitted != lines
