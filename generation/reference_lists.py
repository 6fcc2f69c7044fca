"""A bibliography in the formats of reference managers, CSL-JSON and RIS, both made from its BibTeX.

So what was escaped, decoded and split into names once is so in every format. Not here: BibTeX itself (`bibliography`).
"""

import json

from generation.rendering import RenderingFailed, pandoc


def csl_json(bibtex: str) -> str:
    """References as CSL-JSON, which reference managers and pandoc read.

    Raises:
        RenderingFailed: pandoc is missing or cannot read them.
    """
    items = json.loads(pandoc(bibtex, "csljson", source="biblatex"))
    return json.dumps([_typed(item) for item in items], ensure_ascii=False, indent=2) + "\n"


def _typed(item: dict) -> dict:
    """CSL has no empty type; a preprint is an article in no journal, and its number its arXiv id."""
    arxiv = item.get("URL", "").partition("//arxiv.org/abs/")[2]
    more = {"publisher": "arXiv", "number": f"arXiv:{arxiv}"} if arxiv and "container-title" not in item else {}
    return {**item, "type": item["type"] or ("article" if arxiv else "document"), **more}


def ris(bibtex: str) -> str:
    """References as RIS, which reference managers read.

    Raises:
        RenderingFailed: pandoc or rispy is missing.
    """
    try:
        import rispy
    except ImportError as error:
        raise RenderingFailed("rispy, which writes RIS, is not installed", advice="Install it with `pip install rispy`.") from error  # fmt: skip

    class Writer(rispy.RisWriter):
        """rispy numbers the entries, which no reader of RIS expects."""

        def set_header(self, count: int) -> str:
            return ""

    text = rispy.dumps([_ris_entry(item) for item in json.loads(csl_json(bibtex))], implementation=Writer)
    return text.strip() + "\n"


def _ris_entry(item: dict) -> dict:
    """An item of CSL-JSON with rispy's names for the tags of RIS."""
    parts = item["issued"]["date-parts"][0]
    entry = {
        "type_of_reference": "JOUR" if "container-title" in item else "UNPB",
        "id": item["id"],
        "title": item["title"],
        "authors": [_ris_name(name) for name in item.get("author", ())],
        "year": str(parts[0]),
        "date": "/".join([str(parts[0]), *(f"{p:02d}" for p in parts[1:])]),
        "journal_name": item.get("container-title"),
        "doi": item.get("DOI"),
        "urls": [item["URL"]] if "URL" in item else None,
        "publisher": item.get("publisher"),
        "number": item.get("number"),
        "notes": [item["note"]] if "note" in item else None,
    }
    return {name: value for name, value in entry.items() if value}


def _ris_name(name: dict) -> str:
    """`van der Maaten, Laurens` and `Daumé, Hal, III`; a group as it is called."""
    if "literal" in name:
        return name["literal"]
    particles = [name.get("dropping-particle"), name.get("non-dropping-particle"), name.get("family")]
    return ", ".join(filter(None, [" ".join(filter(None, particles)), name.get("given"), name.get("suffix")]))
