"""Where the sources of one paper disagree. Which of them is believed is decided in `corpus.precedence`."""

from collections.abc import Callable, Mapping, Sequence

from ingestion.cleanup import clean_abstract, clean_authors, clean_categories, clean_title


def _stripped(text: str | None) -> str | None:
    return (text or "").strip() or None


_COMPARED: dict[str, Callable[[str | None], object]] = {
    "title": clean_title,
    "abstract": clean_abstract,
    "authors": lambda text: ", ".join(clean_authors(text).names) or None,
    "categories": lambda text: " ".join(clean_categories(text)) or None,
    "doi": lambda text: (_stripped(text) or "").lower() or None,
    "journal_ref": clean_title,
    "license": _stripped,
}


def disagreements(records: Sequence[Mapping]) -> list[dict]:
    """Fields of a paper of which its sources give different clean values; a gap disagrees with nothing.

    Args:
        records: rows of `arxiv_records` of one paper.

    Returns:
        `{field, values: [{source, value}]}` in the order of the fields, sources in order of their names.
    """
    found = []
    for field, clean in _COMPARED.items():
        said = [(record["source"], clean(record[field])) for record in sorted(records, key=lambda r: r["source"])]
        values = [{"source": source, "value": value} for source, value in said if value]
        if len({v["value"] for v in values}) > 1:
            found.append({"field": field, "values": values})
    return found
